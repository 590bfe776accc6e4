package dev.kakehashi.engine.expr;

import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.TypeOid;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An expression, fully typed: every implicit cast is a [Call]. Immutable.
///
/// Three-valued logic is SQL's: a boolean expression is true, false or null.
public sealed interface Expr {
  /// PostgreSQL's type OID of the value.
  int typeOid();

  /// Column `index` of the input batch.
  record Column(int index, int typeOid) implements Expr {}

  /// A constant.
  ///
  /// @param word value; 0 when null
  /// @param owner keeps the native memory of a by-reference word alive as long as the expression; null otherwise
  record Constant(int typeOid, boolean isNull, long word, @Nullable Object owner) implements Expr {
    /// A constant of a type that is passed by value.
    public static Constant of(int typeOid, long word) {
      return new Constant(typeOid, false, word, null);
    }

    /// The same value by another word.
    Constant withWord(long other) {
      return new Constant(typeOid, isNull, other, owner);
    }

    /// The null of a type.
    public static Constant nullOf(int typeOid) {
      return new Constant(typeOid, true, 0, null);
    }

    public static Constant of(boolean value) {
      return of(TypeOid.BOOL, value ? 1 : 0);
    }
  }

  /// Statement parameter `$(index + 1)`.
  record Parameter(int index, int typeOid) implements Expr {}

  /// A function or operator; the arguments have exactly its declared types.
  record Call(ScalarFunction function, List<Expr> arguments) implements Expr {
    @Override
    public int typeOid() {
      return function.resultOid();
    }
  }

  /// Conjunction of one or more terms.
  record And(List<Expr> terms) implements Expr {
    @Override
    public int typeOid() {
      return TypeOid.BOOL;
    }
  }

  /// Disjunction of one or more terms.
  record Or(List<Expr> terms) implements Expr {
    @Override
    public int typeOid() {
      return TypeOid.BOOL;
    }
  }

  /// Negation; null stays null.
  record Not(Expr argument) implements Expr {
    @Override
    public int typeOid() {
      return TypeOid.BOOL;
    }
  }

  /// `argument IS NULL`.
  record IsNull(Expr argument) implements Expr {
    @Override
    public int typeOid() {
      return TypeOid.BOOL;
    }
  }

  /// `argument IS TRUE` or `IS FALSE`: never null.
  record IsBoolean(Expr argument, boolean value) implements Expr {
    @Override
    public int typeOid() {
      return TypeOid.BOOL;
    }
  }

  /// `left IS DISTINCT FROM right`; both of the same type.
  record IsDistinct(Expr left, Expr right) implements Expr {
    @Override
    public int typeOid() {
      return TypeOid.BOOL;
    }
  }

  /// `CASE WHEN condition THEN value ... ELSE otherwise END`. Values that are not chosen are not evaluated.
  ///
  /// @param conditions boolean, one per value
  /// @param values all of `typeOid`
  /// @param otherwise of `typeOid`
  record Case(int typeOid, List<Expr> conditions, List<Expr> values, Expr otherwise)
      implements Expr {}

  /// First argument that is not null; all of `typeOid`. Arguments after it are not evaluated.
  record Coalesce(int typeOid, List<Expr> arguments) implements Expr {}

  /// `argument IN (list)` for constants and parameters of the argument's type (nulls included); [Not] of it for NOT IN.
  record InList(Expr argument, List<Expr> list) implements Expr {
    @Override
    public int typeOid() {
      return TypeOid.BOOL;
    }
  }

  /// `argument = ANY (array)`; [Not] of it for `<> ALL`.
  ///
  /// @param array of an array type, in its text form
  /// @param elementOid type of the array's elements
  /// @param cast from that to the argument's type; null: they have the same form
  record InArray(Expr argument, Expr array, int elementOid, @Nullable ScalarFunction cast)
      implements Expr {
    @Override
    public int typeOid() {
      return TypeOid.BOOL;
    }
  }

  /// GREATEST or LEAST of the arguments that are not null; all of `typeOid`.
  record Extreme(int typeOid, boolean greatest, List<Expr> arguments) implements Expr {
    public Extreme {
      Types.requireOrder(typeOid);
    }
  }
}

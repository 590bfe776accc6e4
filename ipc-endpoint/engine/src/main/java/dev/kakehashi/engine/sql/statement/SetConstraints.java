package dev.kakehashi.engine.sql.statement;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.ForeignKey;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// SET CONSTRAINTS, for the transaction that it is executed in.
///
/// @param names empty: ALL
public record SetConstraints(List<QualifiedName> names, boolean deferred) implements Prepared {
  /// The statement, if it is one.
  public static @Nullable SetConstraints parse(String sql, List<Token> tokens) {
    TokenReader in = new TokenReader(sql, tokens, 0);
    if (!in.acceptWords("set", "constraints")) {
      return null;
    }
    List<QualifiedName> names = new ArrayList<>();
    if (!in.acceptWords("all")) {
      do {
        names.add(in.name());
      } while (in.acceptOperator(","));
    }
    boolean deferred = in.acceptWords("deferred");
    if (!deferred) {
      in.expectWord("immediate");
    }
    in.expectEnd();
    return new SetConstraints(List.copyOf(names), deferred);
  }

  /// The constraints that it names, by number; null: all.
  ///
  /// @throws EngineException UNDEFINED_OBJECT, or WRONG_OBJECT_TYPE if one is not deferrable
  public @Nullable Set<Long> constraints(CatalogSnapshot catalog) {
    if (names.isEmpty()) {
      return null;
    }
    Set<Long> all = new HashSet<>();
    for (QualifiedName name : names) {
      String schema = name.schema() == null ? CatalogSnapshot.DEFAULT_SCHEMA : name.schema();
      boolean found = false;
      boolean deferrable = true;
      for (Table table : catalog.tables()) {
        if (!table.schema().equals(schema) || !table.hasConstraint(name.name())) {
          continue;
        }
        found = true;
        boolean isKey = false;
        for (ForeignKey key : table.foreignKeys()) {
          if (key.name().equals(name.name())) {
            isKey = key.timing() != ForeignKey.Timing.NOT_DEFERRABLE;
            all.add(key.constraintId());
          }
        }
        for (Index index : table.indexes()) {
          if (index.constraint() && index.name().equals(name.name())) {
            isKey = index.deferrable();
            all.add(index.indexId());
          }
        }
        deferrable &= isKey;
      }
      if (!found) {
        throw new EngineException(
            ErrorCode.UNDEFINED_OBJECT, "constraint \"" + name.name() + "\" does not exist");
      }
      if (deferred && !deferrable) {
        throw new EngineException(
            ErrorCode.WRONG_OBJECT_TYPE, "constraint \"" + name.name() + "\" is not deferrable");
      }
    }
    return all;
  }

  @Override
  public Statement.Kind kind() {
    return Statement.Kind.DML;
  }

  @Override
  public Place place() {
    return Place.IN_BLOCK;
  }

  /// PostgreSQL warns. Here are no warnings, and nobody is to believe that it has an effect.
  @Override
  public EngineException misplaced() {
    return new EngineException(
            ErrorCode.NO_SUCH_TRANSACTION, "SET CONSTRAINTS can only be used in transaction blocks")
        .withHint("It holds until its transaction ends, which would be at once.");
  }

  /// It has the turn, because what it changes belongs to the transaction.
  @Override
  public boolean changesRows(boolean readOnly) {
    return !readOnly;
  }
}

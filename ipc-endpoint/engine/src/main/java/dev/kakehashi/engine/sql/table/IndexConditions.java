package dev.kakehashi.engine.sql.table;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.ExprRewriter;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.algebra.Collations;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.IndexCondition;
import dev.kakehashi.engine.store.api.IndexCondition.Operator;
import dev.kakehashi.engine.store.index.Implication;
import dev.kakehashi.engine.store.index.ValueCodec;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.apache.calcite.rex.RexNode;
import org.jspecify.annotations.Nullable;

/// Conditions of partial indexes: the form in which the store can evaluate them, and which of them a query fulfils. Stateless and
/// thread-safe.
public final class IndexConditions {
  private IndexConditions() {}

  /// Looks at COLLATE of an index: all that there are order by bytes, as the index does.
  ///
  /// @param collation null: none is said
  /// @throws EngineException UNDEFINED_OBJECT, or DATATYPE_MISMATCH for a type that has no collations
  public static void requireCollation(@Nullable String collation, SqlType type) {
    if (collation == null) {
      return;
    }
    if (!Collations.isOfBytes(collation)) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT,
          "collation \"" + collation + "\" for encoding \"UTF8\" does not exist");
    }
    Collations.require(type);
  }

  /// Conditions in WHERE of CREATE INDEX.
  ///
  /// @param constants the value of an expression without columns as the store keeps it; null: null
  /// @throws EngineException FEATURE_NOT_SUPPORTED if the store cannot evaluate it, or whatever PostgreSQL would refuse
  public static List<IndexCondition> of(
      String text,
      Table table,
      CatalogSnapshot catalog,
      Function<Expr, @Nullable ByteBuffer> constants) {
    Expr condition = TableExpressions.indexPredicate(text, table, catalog);
    List<IndexCondition> conditions = new ArrayList<>();
    for (Expr term : terms(condition)) {
      IndexCondition found =
          of(
              term,
              column -> column,
              expr -> ExprRewriter.hasColumns(expr) ? null : constants.apply(expr));
      if (found == null) {
        throw new EngineException(
                ErrorCode.FEATURE_NOT_SUPPORTED,
                "this condition of a partial index is not supported")
            .withHint(
                "Supported are IS NULL, IS NOT NULL, boolean columns, and comparisons of a column with a constant, joined by AND.");
      }
      conditions.add(found);
    }
    return List.copyOf(conditions);
  }

  /// Whether every row that fulfils the conjuncts is in the index.
  ///
  /// @param columns of the table over which the conjuncts are
  public static boolean isImplied(
      Index index, Table table, int[] columns, List<RexNode> conjuncts) {
    if (index.predicate().isEmpty()) {
      return true;
    }
    List<IndexCondition> given = new ArrayList<>();
    for (RexNode conjunct : conjuncts) {
      IndexCondition condition =
          of(ExprTranslator.translate(conjunct), i -> columns[i], IndexConditions::literal);
      if (condition != null) {
        given.add(condition);
      }
    }
    return isImplied(index, table, given);
  }

  private static boolean isImplied(Index index, Table table, List<IndexCondition> given) {
    return index.predicate().stream().allMatch(each -> isImplied(each, table, given));
  }

  private static boolean isImplied(IndexCondition wanted, Table table, List<IndexCondition> given) {
    ColumnKind kind = Types.kind(table.columns().get(wanted.column()).type().oid());
    return given.stream().anyMatch(each -> Implication.implies(each, wanted, kind));
  }

  /// Whether every row that fulfils a condition over the columns of the table is in the index.
  ///
  /// @param condition null: none
  public static boolean isImplied(Index index, Table table, @Nullable Expr condition) {
    List<IndexCondition> given = new ArrayList<>();
    for (Expr term : terms(condition)) {
      IndexCondition found = of(term, column -> column, IndexConditions::literal);
      if (found != null) {
        given.add(found);
      }
    }
    return isImplied(index, table, given);
  }

  private static List<Expr> terms(@Nullable Expr condition) {
    if (condition == null) {
      return List.of();
    }
    return condition instanceof Expr.And and ? and.terms() : List.of(condition);
  }

  private static @Nullable ByteBuffer literal(Expr expr) {
    return expr instanceof Expr.Constant constant && !constant.isNull()
        ? ValueCodec.value(Types.kind(constant.typeOid()), constant.word())
        : null;
  }

  /// @param position in the table of a column of the expression
  /// @param constants the value of an operand; null if it has none
  private static @Nullable IndexCondition of(
      Expr term, IntUnaryOperator position, Function<Expr, @Nullable ByteBuffer> constants) {
    return switch (term) {
      case Expr.Column column -> truth(column, true, position);
      case Expr.Not not when not.argument() instanceof Expr.IsNull isNull ->
          condition(isNull.argument(), Operator.IS_NOT_NULL, null, position);
      case Expr.Not not -> truth(not.argument(), false, position);
      case Expr.IsBoolean is -> truth(is.argument(), is.value(), position);
      case Expr.IsNull isNull -> condition(isNull.argument(), Operator.IS_NULL, null, position);
      case Expr.Call call -> comparison(call, position, constants);
      default -> null;
    };
  }

  private static @Nullable IndexCondition truth(
      Expr expr, boolean value, IntUnaryOperator position) {
    return expr.typeOid() == TypeOid.BOOL
        ? condition(
            expr,
            Operator.EQUAL,
            ValueCodec.value(Types.kind(TypeOid.BOOL), value ? 1 : 0),
            position)
        : null;
  }

  private static @Nullable IndexCondition comparison(
      Expr.Call call, IntUnaryOperator position, Function<Expr, @Nullable ByteBuffer> constants) {
    Operator operator =
        switch (call.function().name()) {
          case "=" -> Operator.EQUAL;
          case "<>" -> Operator.NOT_EQUAL;
          case "<" -> Operator.LESS;
          case "<=" -> Operator.LESS_OR_EQUAL;
          case ">" -> Operator.GREATER;
          case ">=" -> Operator.GREATER_OR_EQUAL;
          default -> null;
        };
    if (operator == null || call.arguments().size() != 2) {
      return null;
    }
    Expr left = call.arguments().get(0);
    Expr right = call.arguments().get(1);
    boolean ordered = operator != Operator.EQUAL && operator != Operator.NOT_EQUAL;
    if (!comparable(left.typeOid(), right.typeOid())
        || (ordered && !Types.hasOrder(left.typeOid()))) {
      return null;
    }
    ByteBuffer value = constants.apply(right);
    if (value != null) {
      return condition(left, operator, value, position);
    }
    value = constants.apply(left);
    return value == null ? null : condition(right, operator.mirrored(), value, position);
  }

  private static @Nullable IndexCondition condition(
      Expr expr, Operator operator, @Nullable ByteBuffer value, IntUnaryOperator position) {
    if (!(expr instanceof Expr.Column column)) {
      return null;
    }
    int at = position.applyAsInt(column.index());
    return at == PlanNode.ROW_ID ? null : new IndexCondition(at, operator, value);
  }

  /// Whether values of two types are compared as keys of indexes are.
  private static boolean comparable(int left, int right) {
    boolean same =
        left == right || (isInteger(left) && isInteger(right)) || (isText(left) && isText(right));
    return same && Types.hasEquality(left) && !Types.kind(left).isDocument();
  }

  private static boolean isInteger(int oid) {
    return IntStream.of(TypeOid.INT2, TypeOid.INT4, TypeOid.INT8).anyMatch(each -> each == oid);
  }

  private static boolean isText(int oid) {
    return oid == TypeOid.TEXT || oid == TypeOid.VARCHAR;
  }
}

package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.sql.algebra.Comparison;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexDynamicParam;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.jspecify.annotations.Nullable;

/// Comparisons and tests of rows, `(a, b)` or `ROW(a, b)`, entry by entry. Null is what PostgreSQL's are: the first entries that differ or
/// have a null decide.
public final class RowComparisons {
  private final BindContext context;
  private final ExpressionBinder expressions;

  RowComparisons(BindContext context, ExpressionBinder expressions) {
    this.context = context;
    this.expressions = expressions;
  }

  /// Entries of a row; null for what is none.
  static @Nullable List<SqlNode> entries(SqlNode node) {
    return node.getKind() == SqlKind.ROW
            || (node instanceof SqlCall call && call.getOperator().getName().equals(Marks.ROW_CALL))
        ? ((SqlCall) node).getOperandList()
        : null;
  }

  /// The beginnings and ends of `(a, b) OVERLAPS (c, d)`.
  static List<SqlNode> periods(List<SqlNode> operands) {
    List<SqlNode> ends = new ArrayList<>();
    for (SqlNode operand : operands) {
      List<SqlNode> entries = entries(operand);
      ends.addAll(entries == null ? List.of(operand) : entries);
    }
    return ends;
  }

  /// A comparison of two rows; null if neither side is one.
  ///
  /// @param right a row, or a query with as many columns and at most one row
  @Nullable RexNode compare(SqlKind kind, SqlNode left, SqlNode right, Scope scope, SqlNode at) {
    List<RexNode> first = bind(left, null, scope);
    List<RexNode> second = bind(right, first, scope);
    if (first == null && second == null) {
      return null;
    }
    if (first == null || second == null) {
      throw context.error(
          ErrorCode.UNDEFINED_FUNCTION,
          "operator does not exist between a row and a value: "
              + Comparison.operator(kind).getName(),
          at);
    }
    requireSameSize(first, second, at);
    if (!left.isA(SqlKind.QUERY)
        && !right.isA(SqlKind.QUERY)
        && (entries(left) == null || entries(right) == null)) {
      return compareTables(kind, first, second, at);
    }
    return compare(
        kind,
        first.size(),
        (each, entry) ->
            expressions.calls.comparison(each, first.get(entry), second.get(entry), at),
        context.rex);
  }

  /// Rows of tables, whose nulls are equal to each other.
  private RexNode compareTables(
      SqlKind kind, List<RexNode> first, List<RexNode> second, SqlNode at) {
    if (kind != SqlKind.EQUALS && kind != SqlKind.NOT_EQUALS) {
      throw expressions.unsupported(at, "the order of rows of tables");
    }
    return distinct(first, second, kind == SqlKind.NOT_EQUALS, at);
  }

  private RexNode distinct(
      List<RexNode> first, List<RexNode> second, boolean distinct, SqlNode at) {
    List<RexNode> terms = new ArrayList<>();
    for (int i = 0; i < first.size(); i++) {
      terms.add(expressions.calls.distinct(first.get(i), second.get(i), distinct, at));
    }
    return combine(distinct ? SqlStdOperatorTable.OR : SqlStdOperatorTable.AND, terms, context.rex);
  }

  /// Compares an entry of one row with that of another.
  public interface EntryComparison {
    RexNode compare(SqlKind kind, int entry);
  }

  /// A comparison of rows from that of their entries.
  public static RexNode compare(SqlKind kind, int size, EntryComparison entries, RexBuilder rex) {
    if (kind == SqlKind.EQUALS || kind == SqlKind.NOT_EQUALS) {
      List<RexNode> terms = new ArrayList<>();
      for (int i = 0; i < size; i++) {
        terms.add(entries.compare(kind, i));
      }
      return combine(
          kind == SqlKind.EQUALS ? SqlStdOperatorTable.AND : SqlStdOperatorTable.OR, terms, rex);
    }
    return order(kind, size, entries, rex);
  }

  /// IS [NOT] DISTINCT FROM; null if neither side is a row.
  @Nullable RexNode distinct(SqlCall call, boolean distinct, Scope scope) {
    List<RexNode> first = bind(call.operand(0), null, scope);
    List<RexNode> second = bind(call.operand(1), null, scope);
    if (first == null || second == null) {
      return null;
    }
    requireSameSize(first, second, call);
    return distinct(first, second, distinct, call);
  }

  /// IS NULL: all entries of a row are; IS NOT NULL: none is.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException 42P18 for a parameter of which nothing says what it is
  RexNode isNull(SqlNode node, SqlOperator operator, Scope scope) {
    List<RexNode> entries = bind(node, null, scope);
    if (entries == null) {
      RexNode value = expressions.bind(node, scope);
      if (value instanceof RexDynamicParam parameter && PgType.oidOf(value) == Types.UNKNOWN) {
        throw context.error(
            ErrorCode.INDETERMINATE_DATATYPE,
            "could not determine data type of parameter $" + (parameter.getIndex() + 1),
            node);
      }
      return context.rex.makeCall(operator, expressions.coercion.resolveUnknown(value));
    }
    return combine(
        SqlStdOperatorTable.AND,
        entries.stream()
            .map(
                entry -> context.rex.makeCall(operator, expressions.coercion.resolveUnknown(entry)))
            .toList(),
        context.rex);
  }

  /// @param counterpart of a query; null: it may not be one
  private @Nullable List<RexNode> bind(
      SqlNode node, @Nullable List<RexNode> counterpart, Scope scope) {
    List<SqlNode> entries = entries(node);
    if (entries == null) {
      RecordBinder.Row row = expressions.records.row(node, scope);
      if (row != null) {
        return row.entries();
      }
    } else {
      List<RexNode> bound = new ArrayList<>();
      for (SqlNode entry : entries) {
        if (entries(entry) != null) {
          throw expressions.unsupported(entry, "a row within a row that is compared");
        }
        bound.add(expressions.bind(entry, scope));
      }
      return bound;
    }
    return counterpart != null && node.isA(SqlKind.QUERY) ? expressions.columns(node, scope) : null;
  }

  private void requireSameSize(List<RexNode> first, List<RexNode> second, SqlNode at) {
    if (first.size() != second.size()) {
      throw context.error(
          ErrorCode.SYNTAX_ERROR, "unequal number of entries in row expressions", at);
    }
  }

  /// `(a, b) < (c, d)` is `a <= c AND (a < c OR (a = c AND b < d))`; the first term is for indexes.
  private static RexNode order(SqlKind kind, int size, EntryComparison entries, RexBuilder rex) {
    boolean less = kind == SqlKind.LESS_THAN || kind == SqlKind.LESS_THAN_OR_EQUAL;
    SqlKind strict = less ? SqlKind.LESS_THAN : SqlKind.GREATER_THAN;
    RexNode result = entries.compare(kind, size - 1);
    for (int i = size - 2; i >= 0; i--) {
      RexNode same = entries.compare(SqlKind.EQUALS, i);
      RexNode before = entries.compare(strict, i);
      result =
          combine(
              SqlStdOperatorTable.OR,
              List.of(before, combine(SqlStdOperatorTable.AND, List.of(same, result), rex)),
              rex);
    }
    if (size == 1) {
      return result;
    }
    SqlKind loose = less ? SqlKind.LESS_THAN_OR_EQUAL : SqlKind.GREATER_THAN_OR_EQUAL;
    return combine(SqlStdOperatorTable.AND, List.of(entries.compare(loose, 0), result), rex);
  }

  private static RexNode combine(SqlOperator operator, List<RexNode> terms, RexBuilder rex) {
    return terms.size() == 1
        ? terms.getFirst()
        : RexUtil.flatten(rex, rex.makeCall(operator, terms));
  }
}

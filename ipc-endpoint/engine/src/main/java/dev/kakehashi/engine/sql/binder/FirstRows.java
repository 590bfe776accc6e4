package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.SortOrder;
import dev.kakehashi.engine.sql.algebra.WindowFrame;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.jspecify.annotations.Nullable;

/// DISTINCT ON and FETCH FIRST ... WITH TIES, which choose rows by their number or rank in an order.
final class FirstRows {
  /// Whether the row of a number is of those that OFFSET and LIMIT leave.
  private static final ScalarFunction WITHIN =
      new ScalarFunction(
          "within limit",
          new int[] {TypeOid.INT8, TypeOid.INT8, TypeOid.INT8},
          TypeOid.BOOL,
          false,
          false,
          (a, nulls, _) ->
              isWithin(
                  a[0], (nulls & 2) == 0 ? a[1] : 0, (nulls & 4) == 0 ? a[2] : Long.MAX_VALUE));

  private final BindContext context;
  private final QueryBinder queries;

  FirstRows(QueryBinder queries) {
    this.context = queries.context;
    this.queries = queries;
  }

  /// A call that the translator has put in front of a select list; null if there is none of that name.
  static @Nullable SqlCall marker(SqlSelect select, String name) {
    for (SqlNode node : select.getSelectList()) {
      if (!isMarker(node)) {
        return null;
      }
      if (((SqlCall) node).getOperator().getName().equals(name)) {
        return (SqlCall) node;
      }
    }
    return null;
  }

  static boolean isMarker(SqlNode node) {
    return node instanceof SqlCall call
        && Marks.SELECT_MARKERS.contains(call.getOperator().getName());
  }

  /// The first row of each group of equal values in `on`, by the order of `keys`.
  RelNode distinctOn(RelNode input, List<Integer> on, List<SortOrder> keys) {
    for (int i = 0; i < Math.min(keys.size(), on.size()); i++) {
      if (!on.contains(keys.get(i).column())) {
        throw new EngineException(
            ErrorCode.INVALID_COLUMN_REFERENCE,
            "SELECT DISTINCT ON expressions must match initial ORDER BY expressions");
      }
    }
    Windowing windowing = new Windowing();
    windowing.add(call("row_number", refs(input, on), order(input, keys)));
    int[] places = new int[1];
    RelNode numbered = windowing.apply(input, Set.of(), context, queries, places);
    return firstColumns(
        LogicalFilter.create(numbered, atMost(numbered, places[0], number(1))), input);
  }

  /// Rows `offset .. offset + fetch` of the order, and those that are equal to the last of them.
  RelNode withTies(
      RelNode input,
      List<SortOrder> keys,
      @Nullable RexNode offset,
      @Nullable RexNode fetch,
      SqlNode at) {
    if (fetch == null) {
      throw new EngineException(
          ErrorCode.INVALID_ROW_COUNT_IN_LIMIT,
          "row count cannot be null in FETCH FIRST ... WITH TIES clause");
    }
    if (keys.isEmpty()) {
      throw new EngineException(
          ErrorCode.SYNTAX_ERROR, "WITH TIES cannot be specified without ORDER BY clause");
    }
    Windowing windowing = new Windowing();
    windowing.add(call("rank", List.of(), order(input, keys)));
    windowing.add(call("row_number", List.of(), order(input, keys)));
    int[] places = new int[2];
    RelNode ranked = windowing.apply(input, Set.of(), context, queries, places);
    RexNode skipped = offset == null ? number(0) : offset;
    RexNode last =
        offset == null
            ? fetch
            : queries.expressions.calls.function(at, "+", List.of(offset, fetch));
    RexNode condition =
        context.rex.makeCall(
            SqlStdOperatorTable.AND,
            atMost(ranked, places[0], last),
            context.rex.makeCall(
                context.types.of(TypeOid.BOOL, true),
                SqlStdOperatorTable.GREATER_THAN,
                List.of(context.rex.makeInputRef(ranked, places[1]), skipped)),
            context.rex.makeCall(
                context.types.of(TypeOid.BOOL, true),
                SqlStdOperatorTable.GREATER_THAN,
                List.of(fetch, number(0))));
    return firstColumns(LogicalFilter.create(ranked, condition), input);
  }

  /// Rows `offset .. offset + fetch` of the order.
  RelNode limited(
      RelNode input, List<SortOrder> keys, @Nullable RexNode offset, @Nullable RexNode fetch) {
    if (!isQuery(offset) && !isQuery(fetch)) {
      return SortOrder.apply(input, keys, offset, fetch);
    }
    // The executor's counts are known before it begins: those of subqueries become conditions on
    // the rows' numbers.
    Windowing windowing = new Windowing();
    windowing.add(call("row_number", List.of(), order(input, keys)));
    int[] places = new int[1];
    RelNode numbered = windowing.apply(input, Set.of(), context, queries, places);
    RexNode none = queries.expressions.coercion.constant(Constant.ofNull(SqlType.of(TypeOid.INT8)));
    RexNode within =
        queries.expressions.coercion.call(
            WITHIN,
            List.of(
                context.rex.makeInputRef(numbered, places[0]),
                offset == null ? none : offset,
                fetch == null ? none : fetch),
            SqlType.of(TypeOid.BOOL),
            "");
    RelNode rows = firstColumns(LogicalFilter.create(numbered, within), input);
    return SortOrder.apply(rows, keys, null, null);
  }

  static boolean isQuery(@Nullable RexNode count) {
    return count != null && RexUtil.SubQueryFinder.find(count) != null;
  }

  private static long isWithin(long row, long offset, long fetch) {
    long skipped = QueryBinder.requireCount(offset, "OFFSET");
    long kept = QueryBinder.requireCount(fetch, "LIMIT");
    return row > skipped && row - skipped <= kept ? 1 : 0;
  }

  private Windowing.Call call(String name, List<RexNode> partition, List<Windowing.Key> order) {
    RelDataType type = context.types.of(TypeOid.INT8, false);
    return new Windowing.Call(
        name,
        List.of(),
        new int[0],
        false,
        false,
        null,
        partition,
        order,
        WindowFrame.DEFAULT,
        type,
        null);
  }

  private List<RexNode> refs(RelNode input, List<Integer> columns) {
    return columns.stream()
        .<RexNode>map(column -> context.rex.makeInputRef(input, column))
        .toList();
  }

  private List<Windowing.Key> order(RelNode input, List<SortOrder> keys) {
    return keys.stream()
        .map(key ->
            new Windowing.Key(
                context.rex.makeInputRef(input, key.column()), key.descending(), key.nullsFirst()))
        .toList();
  }

  private RexNode number(long value) {
    return context.rex.makeExactLiteral(
        BigDecimal.valueOf(value), context.types.of(SqlType.of(TypeOid.INT8), false));
  }

  private RexNode atMost(RelNode input, int column, RexNode limit) {
    return context.rex.makeCall(
        context.types.of(TypeOid.BOOL, true),
        SqlStdOperatorTable.LESS_THAN_OR_EQUAL,
        List.of(context.rex.makeInputRef(input, column), limit));
  }

  private RelNode firstColumns(RelNode rel, RelNode original) {
    List<RexNode> columns = new ArrayList<>();
    int count = original.getRowType().getFieldCount();
    for (int i = 0; i < count; i++) {
      columns.add(context.rex.makeInputRef(rel, i));
    }
    return queries.project(rel, columns, original.getRowType().getFieldNames(), Set.of());
  }
}

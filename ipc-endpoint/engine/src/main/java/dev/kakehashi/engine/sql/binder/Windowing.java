package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.sql.algebra.SortOrder;
import dev.kakehashi.engine.sql.algebra.WindowFrame;
import dev.kakehashi.engine.sql.algebra.WindowedRows;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.type.AggregateFunction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlWindow;
import org.jspecify.annotations.Nullable;

/// Window functions of one SELECT, collected while its expressions are bound; computed after grouping.
final class Windowing {
  /// An item of a window's ORDER BY.
  record Key(RexNode expression, boolean descending, boolean nullsFirst) {}

  /// One window function over the SELECT's input.
  ///
  /// @param aggregate whether `name` is an aggregate
  /// @param ignoresNulls whether it leaves out rows whose first argument is null
  /// @param own the aggregate of a native application; null: the name finds it
  record Call(
      String name,
      List<RexNode> arguments,
      int[] argumentOids,
      boolean aggregate,
      boolean ignoresNulls,
      @Nullable RexNode filter,
      List<RexNode> partition,
      List<Key> order,
      WindowFrame frame,
      RelDataType type,
      @Nullable AggregateFunction own) {
    private Call map(UnaryOperator<RexNode> change) {
      return new Call(
          name,
          arguments.stream().map(change).toList(),
          argumentOids,
          aggregate,
          ignoresNulls,
          filter == null ? null : change.apply(filter),
          partition.stream().map(change).toList(),
          order.stream()
              .map(k -> new Key(change.apply(k.expression), k.descending, k.nullsFirst))
              .toList(),
          frame.map(change),
          type,
          own);
    }

    List<RexNode> expressions() {
      List<RexNode> all = new ArrayList<>(arguments);
      if (filter != null) {
        all.add(filter);
      }
      all.addAll(partition);
      order.forEach(key -> all.add(key.expression));
      for (WindowFrame.Bound bound : List.of(frame.start(), frame.end())) {
        if (bound.key() != null && bound.limit() != null) {
          all.add(bound.key());
          all.add(bound.limit());
        }
      }
      return all;
    }
  }

  final List<Call> calls = new ArrayList<>();

  /// Definitions of the WINDOW clause by name.
  final Map<String, SqlWindow> named = new HashMap<>();

  /// True while the arguments of a window function are bound.
  boolean inside;

  int add(Call call) {
    calls.add(call);
    return calls.size() - 1;
  }

  /// Puts the functions over other input columns.
  void rewrite(UnaryOperator<RexNode> change) {
    calls.replaceAll(call -> call.map(change));
  }

  /// The input with one more column per function, one after another per window. Its own columns stay where they are.
  ///
  /// @param correlations how subqueries in the arguments name the input's rows
  /// @param places receives the column of each function
  RelNode apply(
      RelNode input,
      Set<CorrelationId> correlations,
      BindContext context,
      QueryBinder queries,
      int[] places) {
    RelNode rel = input;
    boolean[] done = new boolean[calls.size()];
    for (int i = 0; i < done.length; i++) {
      if (done[i]) {
        continue;
      }
      List<Integer> same = new ArrayList<>();
      for (int j = i; j < done.length; j++) {
        if (!done[j]
            && calls.get(j).partition.equals(calls.get(i).partition)
            && calls.get(j).order.equals(calls.get(i).order)) {
          same.add(j);
          done[j] = true;
        }
      }
      rel = window(rel, same, correlations, context, queries, places);
    }
    return rel;
  }

  private RelNode window(
      RelNode input,
      List<Integer> numbers,
      Set<CorrelationId> correlations,
      BindContext context,
      QueryBinder queries,
      int[] places) {
    List<RexNode> columns = new ArrayList<>();
    List<String> names = new ArrayList<>();
    int width = input.getRowType().getFieldCount();
    for (int i = 0; i < width; i++) {
      columns.add(context.rex.makeInputRef(input, i));
    }
    Call first = calls.get(numbers.getFirst());
    List<Integer> partition = new ArrayList<>();
    first.partition.forEach(node -> partition.add(column(columns, node)));
    List<SortOrder> order = new ArrayList<>();
    for (Key key : first.order) {
      order.add(new SortOrder(column(columns, key.expression), key.descending, key.nullsFirst));
    }
    List<WindowedRows.Call> planned = new ArrayList<>();
    for (int number : numbers) {
      Call call = calls.get(number);
      planned.add(
          new WindowedRows.Call(
              call.name,
              call.arguments.stream().map(node -> column(columns, node)).toList(),
              call.argumentOids,
              call.aggregate,
              call.ignoresNulls,
              call.filter == null ? -1 : column(columns, call.filter),
              call.frame,
              keys(columns, call.frame.start()),
              keys(columns, call.frame.end()),
              call.type,
              call.own));
    }
    for (int i = 0; i < columns.size(); i++) {
      names.add("w" + i);
    }
    RelNode project = queries.project(input, columns, names, correlations);
    for (int i = 0; i < numbers.size(); i++) {
      places[numbers.get(i)] = columns.size() + i;
    }
    return WindowedRows.of(project, partition, order, planned);
  }

  private static WindowedRows.BoundColumns keys(List<RexNode> columns, WindowFrame.Bound bound) {
    RexNode key = bound.key();
    RexNode limit = bound.limit();
    return key == null || limit == null
        ? WindowedRows.BoundColumns.NONE
        : new WindowedRows.BoundColumns(column(columns, key), column(columns, limit));
  }

  private static int column(List<RexNode> columns, RexNode node) {
    int known = columns.indexOf(node);
    if (known >= 0) {
      return known;
    }
    columns.add(node);
    return columns.size() - 1;
  }
}

package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.FunctionRows;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.logical.LogicalCorrelate;
import org.apache.calcite.rel.logical.LogicalJoin;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;

/// Functions of a select list that return rows: each row of the query is repeated for their rows, side by side, those of the shorter ones
/// filled up with nulls.
final class RowCalls {
  /// A call.
  ///
  /// @param arguments over the query's columns
  record Call(RowFunction function, List<RexNode> arguments) {
    /// Polymorphic functions are made anew for each call.
    boolean isSame(Call other) {
      return function.name().equals(other.function.name())
          && Arrays.equals(function.argumentOids(), other.function.argumentOids())
          && arguments.equals(other.arguments);
    }
  }

  private static final String VALUE = "value";
  private static final String NUMBER = "number";

  private final List<Call> calls = new ArrayList<>();
  private final BindContext context;

  /// Column of the first call.
  private int first;

  RowCalls(BindContext context) {
    this.context = context;
  }

  boolean isEmpty() {
    return calls.isEmpty();
  }

  /// Placeholder for the value of a call until [#apply(RelNode, QueryBinder, List)].
  RexNode place(Call call) {
    int number = 0;
    while (number < calls.size() && !calls.get(number).isSame(call)) {
      number++;
    }
    if (number == calls.size()) {
      calls.add(call);
    }
    return context.rex.makeCall(type(call), new PgOperators.RowPlace(number), List.of());
  }

  private RelDataType type(Call call) {
    return context.types.of(SqlType.of(call.function.columns().getFirst().oid()), true);
  }

  /// The arguments of all calls.
  List<RexNode> expressions() {
    return calls.stream().flatMap(call -> call.arguments.stream()).toList();
  }

  /// Puts the arguments over other input columns.
  void rewrite(UnaryOperator<RexNode> change) {
    calls.replaceAll(call -> new Call(call.function, call.arguments.stream().map(change).toList()));
  }

  /// The input with one more column per call, behind its own columns; afterwards [#placed(RexNode, RelNode)] knows them.
  ///
  /// @param correlations how subqueries in the arguments name the input's rows
  RelNode apply(RelNode input, Set<CorrelationId> correlations, QueryBinder queries) {
    List<RexNode> columns = new ArrayList<>(context.rex.identityProjects(input.getRowType()));
    columns.addAll(expressions());
    List<String> names = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      names.add("r" + i);
    }
    boolean constant = expressions().stream().allMatch(node -> Constant.of(node) != null);
    RelNode left = constant ? input : queries.project(input, columns, names, correlations);
    CorrelationId id = context.newCorrelation();
    RexNode outer = context.rex.makeCorrel(left.getRowType(), id);
    int argument = input.getRowType().getFieldCount();
    RelNode right = null;
    for (Call call : calls) {
      List<RexNode> arguments = new ArrayList<>();
      for (RexNode given : call.arguments) {
        arguments.add(constant ? given : context.rex.makeFieldAccess(outer, argument));
        argument++;
      }
      RelNode rows = rows(call, arguments, calls.size() > 1);
      right = right == null ? rows : NumberedSides.join(right, rows, queries);
    }
    RelNode rows = java.util.Objects.requireNonNull(right);
    RelNode all =
        constant
            ? LogicalJoin.create(
                left, rows, List.of(), context.rex.makeLiteral(true), Set.of(), JoinRelType.INNER)
            : LogicalCorrelate.create(
                left,
                rows,
                List.of(),
                id,
                RelOptUtil.correlationColumns(id, rows),
                JoinRelType.INNER);
    first = left.getRowType().getFieldCount();
    return all;
  }

  /// The expression with the columns in the calls' places.
  ///
  /// @param all what [#apply(RelNode, QueryBinder)] has given
  RexNode placed(RexNode node, RelNode all) {
    return PgOperators.Place.replace(
        node, PgOperators.RowPlace.class, number -> context.rex.makeInputRef(all, first + number));
  }

  private RelNode rows(Call call, List<RexNode> arguments, boolean numbered) {
    var rowType = context.types.builder().add(VALUE, type(call));
    if (numbered) {
      rowType.add(NUMBER, context.types.of(TypeOid.INT8, false));
    }
    return new FunctionRows(context.cluster, rowType.build(), call.function, arguments, numbered);
  }
}

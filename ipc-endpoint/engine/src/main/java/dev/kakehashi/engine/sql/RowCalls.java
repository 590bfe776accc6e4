package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
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
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/// Functions of a select list that return rows: each row of the query is repeated for their rows, side by side, those of the shorter ones filled up with nulls.
final class RowCalls {
  /// A call.
  ///
  /// @param arguments over the query's columns
  record Call(RowFunction function, List<RexNode> arguments) {}

  private static final String VALUE = "value";
  private static final String NUMBER = "number";

  private final List<Call> calls = new ArrayList<>();
  private final BindContext context;

  RowCalls(BindContext context) {
    this.context = context;
  }

  boolean isEmpty() {
    return calls.isEmpty();
  }

  /// What stands for the value of a call until [#apply(RelNode, QueryBinder, List)].
  RexNode place(Call call) {
    int number = calls.indexOf(call);
    if (number < 0) {
      number = calls.size();
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

  /// The input with one more column per call, behind its own columns.
  ///
  /// @param output expressions in which the columns take the calls' places
  RelNode apply(RelNode input, QueryBinder queries, List<RexNode> output) {
    List<RexNode> columns = new ArrayList<>(context.rex.identityProjects(input.getRowType()));
    columns.addAll(expressions());
    List<String> names = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      names.add("r" + i);
    }
    boolean constant = expressions().stream().allMatch(node -> Coercion.constantOf(node) != null);
    RelNode left = constant ? input : queries.project(input, columns, names, Set.of());
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
      right = right == null ? rows : sideBySide(right, rows, queries);
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
    int first = left.getRowType().getFieldCount();
    output.replaceAll(node ->
        PgOperators.Place.replace(
            node,
            PgOperators.RowPlace.class,
            number -> context.rex.makeInputRef(all, first + number)));
    return all;
  }

  private RelNode rows(Call call, List<RexNode> arguments, boolean numbered) {
    var rowType = context.types.builder().add(VALUE, type(call));
    if (numbered) {
      rowType.add(NUMBER, context.types.of(TypeOid.INT8, false));
    }
    return new FunctionRows(context.cluster, rowType.build(), call.function, arguments, numbered);
  }

  /// Rows of the same number as one; the number is the last column.
  private RelNode sideBySide(RelNode left, RelNode right, QueryBinder queries) {
    int count = left.getRowType().getFieldCount();
    RelDataType joined = context.types.createJoinType(left.getRowType(), right.getRowType());
    RexNode same =
        context.rex.makeCall(
            SqlStdOperatorTable.EQUALS,
            context.rex.makeInputRef(joined.getFieldList().get(count - 1).getType(), count - 1),
            context.rex.makeInputRef(joined.getFieldList().get(count + 1).getType(), count + 1));
    RelNode join = LogicalJoin.create(left, right, List.of(), same, Set.of(), JoinRelType.FULL);
    List<RexNode> columns = new ArrayList<>();
    for (int i = 0; i < count + 1; i++) {
      if (i != count - 1) {
        columns.add(context.rex.makeInputRef(join, i));
      }
    }
    columns.add(
        context.rex.makeCall(
            context.types.of(TypeOid.INT8, false),
            PgOperators.COALESCE,
            List.of(
                context.rex.makeInputRef(join, count - 1),
                context.rex.makeInputRef(join, count + 1))));
    List<String> names = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      names.add("v" + i);
    }
    return queries.project(join, columns, names, Set.of());
  }
}

package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.algebra.PgOperators.AggregateOperator;
import dev.kakehashi.engine.sql.algebra.PgOperators.AggregateOrder;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.registry.Aggregates;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.RelCollations;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.logical.LogicalAggregate;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.util.ImmutableBitSet;

/// The rows of a query as one array.
final class CollectedRows {
  private final BindContext context;
  private final QueryBinder queries;

  CollectedRows(QueryBinder queries) {
    this.context = queries.context;
    this.queries = queries;
  }

  /// @param rows of one column
  RexNode array(RelNode rows, SqlNode at) {
    RelNode input = rows;
    int column = 0;
    if (rows instanceof Project project
        && project.getInput() instanceof Sort sort
        && project.getProjects().getFirst() instanceof RexInputRef reference) {
      // Keys of ORDER BY that are no columns.
      input = sort;
      column = reference.getIndex();
    }
    List<Integer> arguments = new ArrayList<>(List.of(column));
    List<AggregateOrder> order = new ArrayList<>();
    if (input instanceof Sort sort) {
      for (RelFieldCollation key : sort.getCollation().getFieldCollations()) {
        arguments.add(key.getFieldIndex());
        order.add(
            new AggregateOrder(
                key.direction.isDescending(),
                key.nullDirection == RelFieldCollation.NullDirection.FIRST));
      }
      if (sort.fetch == null && sort.offset == null) {
        input = sort.getInput();
      }
    }
    int oid = PgType.oidOf(context.rex.makeInputRef(input, column));
    AggregateFunction function = Aggregates.resolve("array_agg", new int[] {oid});
    if (function == null) {
      throw context.error(
          ErrorCode.UNDEFINED_OBJECT,
          "could not find array type for data type " + Types.name(oid),
          at);
    }
    SqlType array = SqlType.of(function.resultOid());
    RelDataType type = context.types.of(array, true);
    AggregateOperator operator = new AggregateOperator(function, type);
    RelNode collected =
        LogicalAggregate.create(
            input,
            List.of(),
            ImmutableBitSet.of(),
            null,
            List.of(
                AggregateCall.create(
                    order.isEmpty() ? operator : operator.ordered(order),
                    false,
                    false,
                    false,
                    List.of(),
                    arguments,
                    -1,
                    null,
                    RelCollations.EMPTY,
                    type,
                    null)));
    return context.rex.makeCall(
        context.types.of(array, false),
        PgOperators.COALESCE,
        List.of(
            RexSubQuery.scalar(collected),
            queries.expressions.coercion.constant(Constant.ofText(array.oid(), "{}"))));
  }
}

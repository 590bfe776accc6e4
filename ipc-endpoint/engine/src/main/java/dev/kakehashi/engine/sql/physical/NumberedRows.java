package dev.kakehashi.engine.sql.physical;

import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexFieldCollation;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.sql.SqlKind;

/// ROW_NUMBER in a projection: what Calcite makes of a correlated subquery with LIMIT.
final class NumberedRows {
  private final int inputColumns;

  /// Keys that are no columns of the input, once each: they become columns behind those.
  private final List<RexNode> computed = new ArrayList<>();

  private NumberedRows(int inputColumns) {
    this.inputColumns = inputColumns;
  }

  static PlanNode project(Project project, PlanNode input) {
    RexBuilder rex = project.getCluster().getRexBuilder();
    List<RexNode> inputs = new ArrayList<>(rex.identityProjects(project.getInput().getRowType()));
    NumberedRows numbered = new NumberedRows(inputs.size());
    project.getProjects().forEach(numbered::collectKeys);
    inputs.addAll(numbered.computed);
    PlanNode[] windows = {
      numbered.computed.isEmpty()
          ? input
          : new PlanNode.Project(input, ExprTranslator.translate(inputs))
    };
    List<RexNode> columns = new ArrayList<>();
    for (RexNode node : project.getProjects()) {
      columns.add(
          node.accept(
              new RexShuttle() {
                @Override
                public RexNode visitOver(RexOver over) {
                  windows[0] = numbered.window(over, windows[0]);
                  return rex.makeInputRef(over.getType(), windows[0].typeOids().length - 1);
                }
              }));
    }
    return new PlanNode.Project(windows[0], ExprTranslator.translate(columns));
  }

  private void collectKeys(RexNode column) {
    column.accept(
        new RexShuttle() {
          @Override
          public RexNode visitOver(RexOver over) {
            over.getWindow().partitionKeys.forEach(NumberedRows.this::collect);
            over.getWindow().orderKeys.forEach(key -> collect(key.left));
            return over;
          }
        });
  }

  private void collect(RexNode key) {
    if (!(key instanceof RexInputRef) && !computed.contains(key)) {
      computed.add(key);
    }
  }

  private PlanNode window(RexOver over, PlanNode input) {
    if (over.getAggOperator().getKind() != SqlKind.ROW_NUMBER) {
      throw ExprTranslator.unsupported("window function " + over.getAggOperator().getName());
    }
    int[] partition = over.getWindow().partitionKeys.stream().mapToInt(this::column).toArray();
    List<PlanNode.SortKey> order = new ArrayList<>();
    for (RexFieldCollation key : over.getWindow().orderKeys) {
      order.add(
          new PlanNode.SortKey(
              column(key.left),
              key.getDirection() == RelFieldCollation.Direction.DESCENDING,
              key.getNullDirection() == RelFieldCollation.NullDirection.FIRST));
    }
    int[] inputOids = input.typeOids();
    int[] oids = Arrays.copyOf(inputOids, inputOids.length + 1);
    oids[inputOids.length] = TypeOid.INT8;
    PlanNode.Frame frame =
        new PlanNode.Frame(
            PlanNode.FrameMode.RANGE,
            PlanNode.FrameBound.of(PlanNode.FrameBoundKind.UNBOUNDED_PRECEDING),
            PlanNode.FrameBound.of(PlanNode.FrameBoundKind.CURRENT_ROW),
            PlanNode.FrameExclusion.NO_OTHERS);
    PlanNode.WindowCall call =
        new PlanNode.WindowCall(
            "row_number", new int[0], new int[0], false, false, -1, frame, TypeOid.INT8, null);
    return new PlanNode.Window(input, partition, order, List.of(call), oids);
  }

  private int column(RexNode key) {
    return key instanceof RexInputRef reference
        ? reference.getIndex()
        : inputColumns + computed.indexOf(key);
  }
}

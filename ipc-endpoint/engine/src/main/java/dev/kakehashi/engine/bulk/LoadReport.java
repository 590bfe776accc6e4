package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.protocol.TypeOid;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The row that a load answers.
///
/// @param read rows of the files: the sum of the next three
/// @param loaded into the table
/// @param rejected because a value cannot be converted, or a constraint refuses the row
/// @param filtered by the condition
/// @param rejectFile where the rejected rows are, as a location; null: there are none
/// @param loadId by which the load goes on; null: it has none
public record LoadReport(
    long read,
    long loaded,
    long rejected,
    long filtered,
    @Nullable String rejectFile,
    @Nullable String loadId) {
  /// A query that gives the row.
  PhysicalPlan plan() {
    List<Expr> row =
        List.of(
            number(read),
            number(loaded),
            number(rejected),
            number(filtered),
            text(rejectFile),
            text(loadId));
    int[] oids = Prepared.Load.COLUMNS.stream().mapToInt(Statement.Column::typeOid).toArray();
    return new PhysicalPlan.Query(new PlanNode.Values(List.of(row), oids));
  }

  private static Expr number(long value) {
    return Expr.Constant.of(TypeOid.INT8, value);
  }

  private static Expr text(@Nullable String value) {
    if (value == null) {
      return Expr.Constant.nullOf(TypeOid.TEXT);
    }
    Constant text = Constant.ofText(TypeOid.TEXT, value);
    return new Expr.Constant(TypeOid.TEXT, false, text.word(), text.memory());
  }
}

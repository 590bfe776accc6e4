package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.logical.LogicalJoin;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/// Rows of functions side by side: those of the same number are one, and the shorter ones are filled up with nulls.
final class NumberedSides {
  private NumberedSides() {}

  /// @param left whose last column is the number, an int8 that is never null
  /// @param right the same
  /// @return the columns of both, then the number
  static RelNode join(RelNode left, RelNode right, QueryBinder queries) {
    RexBuilder rex = queries.context.rex;
    int leftNumber = left.getRowType().getFieldCount() - 1;
    int rightNumber = leftNumber + right.getRowType().getFieldCount();
    RelDataType both = queries.context.types.createJoinType(left.getRowType(), right.getRowType());
    RexNode same =
        rex.makeCall(
            SqlStdOperatorTable.EQUALS,
            rex.makeInputRef(both.getFieldList().get(leftNumber).getType(), leftNumber),
            rex.makeInputRef(both.getFieldList().get(rightNumber).getType(), rightNumber));
    RelNode join = LogicalJoin.create(left, right, List.of(), same, Set.of(), JoinRelType.FULL);
    List<RexNode> columns = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (int i = 0; i < rightNumber; i++) {
      if (i != leftNumber) {
        columns.add(rex.makeInputRef(join, i));
        names.add(join.getRowType().getFieldNames().get(i));
      }
    }
    columns.add(
        rex.makeCall(
            queries.context.types.of(TypeOid.INT8, false),
            PgOperators.COALESCE,
            List.of(rex.makeInputRef(join, leftNumber), rex.makeInputRef(join, rightNumber))));
    names.add("number");
    return queries.project(join, columns, names, Set.of());
  }
}

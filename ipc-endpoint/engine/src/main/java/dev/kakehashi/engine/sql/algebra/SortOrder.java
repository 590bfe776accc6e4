package dev.kakehashi.engine.sql.algebra;

import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.RelCollation;
import org.apache.calcite.rel.RelCollations;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.logical.LogicalSort;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// A sort key: nulls count as greater than everything unless the statement says otherwise.
public record SortOrder(int column, boolean descending, boolean nullsFirst) {
  /// An item of ORDER BY before its expression is bound.
  public record Item(SqlNode expression, boolean descending, boolean nullsFirst) {}

  public static Item item(SqlNode order) {
    SqlNode node = order;
    boolean descending = false;
    Boolean nullsFirst = null;
    while (node.getKind() == SqlKind.DESCENDING
        || node.getKind() == SqlKind.NULLS_FIRST
        || node.getKind() == SqlKind.NULLS_LAST) {
      if (node.getKind() == SqlKind.DESCENDING) {
        descending = true;
      } else {
        nullsFirst = node.getKind() == SqlKind.NULLS_FIRST;
      }
      node = ((SqlCall) node).operand(0);
    }
    return new Item(node, descending, nullsFirst == null ? descending : nullsFirst);
  }

  public RelFieldCollation collation() {
    return new RelFieldCollation(
        column,
        descending ? RelFieldCollation.Direction.DESCENDING : RelFieldCollation.Direction.ASCENDING,
        nullsFirst ? RelFieldCollation.NullDirection.FIRST : RelFieldCollation.NullDirection.LAST);
  }

  public static RelNode apply(
      RelNode input, List<SortOrder> keys, @Nullable RexNode offset, @Nullable RexNode fetch) {
    if (keys.isEmpty() && offset == null && fetch == null) {
      return input;
    }
    List<RelFieldCollation> fields = new ArrayList<>();
    for (SortOrder key : keys) {
      if (fields.stream().anyMatch(f -> f.getFieldIndex() == key.column)) {
        continue;
      }
      fields.add(key.collation());
    }
    RelCollation collation = RelCollations.of(fields);
    return LogicalSort.create(
        input, collation, CountExpression.of(offset), CountExpression.of(fetch));
  }
}

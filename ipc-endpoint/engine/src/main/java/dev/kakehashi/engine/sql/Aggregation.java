package dev.kakehashi.engine.sql;

import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlAggFunction;
import org.jspecify.annotations.Nullable;

/// Aggregates of one SELECT, collected while its expressions are bound.
final class Aggregation {
  /// Aggregate i stands in expressions as the input reference `MARKER + i` until grouping is known.
  static final int MARKER = 1_000_000;

  /// One aggregate call over the SELECT's input.
  record Call(
      SqlAggFunction function,
      List<RexNode> arguments,
      boolean distinct,
      @Nullable RexNode filter,
      List<Windowing.Key> order,
      RelDataType type) {}

  final List<Call> calls = new ArrayList<>();

  /// True while the arguments of an aggregate are bound.
  boolean inside;

  /// Number of an equal call, added if new.
  int add(Call call) {
    int known = calls.indexOf(call);
    if (known >= 0) {
      return known;
    }
    calls.add(call);
    return calls.size() - 1;
  }
}

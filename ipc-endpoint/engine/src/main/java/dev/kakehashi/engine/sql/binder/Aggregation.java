package dev.kakehashi.engine.sql.binder;

import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexLocalRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlAggFunction;
import org.jspecify.annotations.Nullable;

/// Aggregates of one SELECT, collected while its expressions are bound. Aggregate i stands in them as the local reference i until grouping
/// is known: columns of the input are input references, and nothing else is a local one.
final class Aggregation {
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

  /// The place of an equal call, added if new.
  RexLocalRef add(Call call) {
    int known = calls.indexOf(call);
    if (known < 0) {
      known = calls.size();
      calls.add(call);
    }
    return new RexLocalRef(known, call.type());
  }
}

package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.plan.PlanNode.FrameBoundKind;
import dev.kakehashi.engine.plan.PlanNode.FrameExclusion;
import dev.kakehashi.engine.plan.PlanNode.FrameMode;
import java.util.function.UnaryOperator;
import org.apache.calcite.rex.RexNode;
import org.jspecify.annotations.Nullable;

/// The rows around the current one that a window function sees.
public record WindowFrame(FrameMode mode, Bound start, Bound end, FrameExclusion exclusion) {
  /// Up to the last peer of the current row.
  public static final WindowFrame DEFAULT =
      new WindowFrame(
          FrameMode.RANGE,
          Bound.of(FrameBoundKind.UNBOUNDED_PRECEDING),
          Bound.of(FrameBoundKind.CURRENT_ROW),
          FrameExclusion.NO_OTHERS);

  /// One end of a frame; see [dev.kakehashi.engine.plan.PlanNode.FrameBound].
  public record Bound(
      FrameBoundKind kind,
      @Nullable RexNode offset,
      @Nullable RexNode negative,
      @Nullable RexNode key,
      @Nullable RexNode limit) {
    public static Bound of(FrameBoundKind kind) {
      return new Bound(kind, null, null, null, null);
    }

    private Bound map(UnaryOperator<RexNode> change) {
      return new Bound(
          kind,
          offset,
          negative,
          key == null ? null : change.apply(key),
          limit == null ? null : change.apply(limit));
    }
  }

  /// The same over other input columns.
  public WindowFrame map(UnaryOperator<RexNode> change) {
    return new WindowFrame(mode, start.map(change), end.map(change), exclusion);
  }
}

package dev.kakehashi.engine.sql.explain;

import dev.kakehashi.engine.plan.PlanNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A node of a plan as EXPLAIN shows it.
///
/// @param heading of its line of text
/// @param type without what it is about
/// @param node null for the node that changes rows
/// @param details by name: String, Number or List of String
/// @param inputs the left one first
public record ExplainedNode(
    String heading,
    String type,
    @Nullable PlanNode node,
    Map<String, Object> details,
    List<ExplainedNode> inputs) {
  ExplainedNode(String heading, String type, @Nullable PlanNode node) {
    this(heading, type, node, new LinkedHashMap<>(), new ArrayList<>());
  }

  /// Adds a detail, unless there is none.
  ExplainedNode with(String name, @Nullable Object value) {
    if (value != null) {
      details.put(name, value);
    }
    return this;
  }
}

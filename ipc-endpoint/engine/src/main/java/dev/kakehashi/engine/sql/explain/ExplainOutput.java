package dev.kakehashi.engine.sql.explain;

import dev.kakehashi.engine.exec.rows.PlanProfile;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PlanEstimates;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.parser.Explain;
import dev.kakehashi.engine.type.application.FunctionMeter;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The rows of EXPLAIN: lines of text, or one JSON value with PostgreSQL's names.
public final class ExplainOutput {
  /// Details that only VERBOSE shows.
  private static final Set<String> VERBOSE_DETAILS = Set.of("Output");

  /// Details that are in the line of the node.
  private static final Set<String> IN_HEADING = Set.of("Relation", "Index", "Join Type");

  private static final double NANOS_PER_MILLI = 1e6;
  private static final String PEAK_MEMORY = "Peak Memory Usage";

  /// Key of the space that temporary files take, in kB.
  private static final String DISK = "Disk Usage";

  private static final String FILES = "Temporary Files";

  private final Explain options;
  private final PlanEstimates estimates;
  private final long planningNanos;
  private final @Nullable PlanProfile profile;

  /// Rows changed by the statement's top node, or sent.
  private final long rows;

  private final long executionNanos;

  public ExplainOutput(
      Explain options,
      PlanEstimates estimates,
      long planningNanos,
      @Nullable PlanProfile profile,
      long rows,
      long executionNanos) {
    this.options = options;
    this.estimates = estimates;
    this.planningNanos = planningNanos;
    this.profile = profile;
    this.rows = rows;
    this.executionNanos = executionNanos;
  }

  public static int typeOid(Explain options) {
    return options.json() ? TypeOid.JSON : TypeOid.TEXT;
  }

  /// The rows as a plan that gives them.
  public PlanNode.Values rows(ExplainedNode root) {
    int oid = typeOid(options);
    List<List<Expr>> values = new ArrayList<>();
    for (String line : options.json() ? List.of(json(root)) : lines(root)) {
      Constant text = Constant.ofText(TypeOid.TEXT, line);
      values.add(List.of(new Expr.Constant(oid, false, text.word(), text.memory())));
    }
    return new PlanNode.Values(values, new int[] {oid});
  }

  // ---- text ----

  private List<String> lines(ExplainedNode root) {
    List<String> lines = new ArrayList<>();
    addLines(root, 0, lines);
    functions()
        .forEach((name, meter) ->
            lines.add(
                "Function "
                    + name
                    + ": "
                    + (options.timing() ? "time=" + millis(meter.nanos()) + " " : "")
                    + "calls="
                    + meter.calls()));
    if (options.summary()) {
      lines.add("Planning Time: " + millis(planningNanos) + " ms");
      if (profile != null) {
        lines.add("Execution Time: " + millis(executionNanos) + " ms");
      }
    }
    return lines;
  }

  /// Calls of functions of applications, by their names.
  private Map<String, FunctionMeter> functions() {
    return profile == null ? Map.of() : profile.functions();
  }

  private void addFunctions(StringBuilder out) {
    if (functions().isEmpty()) {
      return;
    }
    out.append(",\n    \"Functions\": [");
    String separator = "\n";
    for (Map.Entry<String, FunctionMeter> function : functions().entrySet()) {
      out.append(separator).append("      {\"Function Name\": ");
      quote(function.getKey(), out);
      if (options.timing()) {
        out.append(", \"Time\": ").append(millis(function.getValue().nanos()));
      }
      out.append(", \"Calls\": ").append(function.getValue().calls()).append('}');
      separator = ",\n";
    }
    out.append("\n    ]");
  }

  private void addLines(ExplainedNode node, int depth, List<String> lines) {
    StringBuilder line = new StringBuilder();
    line.append(depth == 0 ? "" : "  ".repeat(depth * 3 - 2) + "->  ").append(node.heading());
    Map<String, Object> facts = facts(node);
    Object expected = facts.get("Plan Rows");
    if (expected != null) {
      line.append("  (rows=").append(expected).append(')');
    }
    if (facts.get("Actual Rows") != null) {
      Object time = facts.get("Actual Total Time");
      line.append(" (actual ")
          .append(time == null ? "" : "time=" + time + " ")
          .append("rows=")
          .append(facts.get("Actual Rows"))
          .append(" loops=")
          .append(facts.get("Actual Loops"))
          .append(')');
    }
    lines.add(line.toString());
    String indent = "  ".repeat(depth * 3 + 1);
    node.details()
        .forEach((name, value) -> {
          if (isShown(name) && !IN_HEADING.contains(name)) {
            lines.add(indent + name + ": " + value);
          }
        });
    Object memory = facts.get(PEAK_MEMORY);
    Object disk = facts.get(DISK);
    if (memory != null || disk != null) {
      String spilled = disk == null ? "" : "  Disk: " + disk + "kB  Files: " + facts.get(FILES);
      lines.add(indent + "Memory: " + (memory == null ? 0 : memory) + "kB" + spilled);
    }
    node.inputs().forEach(input -> addLines(input, depth + 1, lines));
  }

  private boolean isShown(String detail) {
    return options.verbose() || !VERBOSE_DETAILS.contains(detail);
  }

  /// Expected and actual facts of a node, by PostgreSQL's names.
  private Map<String, Object> facts(ExplainedNode node) {
    Map<String, Object> facts = new LinkedHashMap<>();
    PlanNode planned = node.node();
    Double expected = planned == null ? null : estimates.rows(planned);
    if (options.costs() && expected != null) {
      facts.put("Plan Rows", Math.round(expected));
    }
    PlanProfile measured = profile;
    if (measured == null) {
      return facts;
    }
    if (planned == null) {
      addActual(facts, executionNanos, rows, 1);
      return facts;
    }
    PlanProfile.Node actual = measured.of(planned);
    addActual(facts, measured.nanos(planned), actual.rows(), actual.loops());
    if (actual.memoryBytes() > 0) {
      facts.put(PEAK_MEMORY, kilobytes(actual.memoryBytes()));
    }
    if (actual.spilledBytes() > 0) {
      facts.put(DISK, kilobytes(actual.spilledBytes()));
      facts.put(FILES, actual.spillFiles());
    }
    return facts;
  }

  private static long kilobytes(long bytes) {
    return (bytes + 1023) / 1024;
  }

  private void addActual(Map<String, Object> facts, long nanos, long actualRows, long loops) {
    if (options.timing()) {
      facts.put("Actual Total Time", millis(nanos));
    }
    facts.put("Actual Rows", actualRows);
    facts.put("Actual Loops", loops);
  }

  private static Millis millis(long nanos) {
    return new Millis(String.format(Locale.ROOT, "%.3f", nanos / NANOS_PER_MILLI));
  }

  /// A number that is written with three digits after its point.
  private record Millis(String text) {
    @Override
    public String toString() {
      return text;
    }
  }

  // ---- JSON ----

  private String json(ExplainedNode root) {
    StringBuilder out = new StringBuilder("[\n  {\n    \"Plan\": ");
    addJson(root, 4, out);
    addFunctions(out);
    if (options.summary()) {
      out.append(",\n    \"Planning Time\": ").append(millis(planningNanos));
      if (profile != null) {
        out.append(",\n    \"Execution Time\": ").append(millis(executionNanos));
      }
    }
    return out.append("\n  }\n]").toString();
  }

  private void addJson(ExplainedNode node, int indent, StringBuilder out) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("Node Type", node.type());
    node.details()
        .forEach((name, value) -> {
          if (isShown(name)) {
            members.put(name, value);
          }
        });
    members.putAll(facts(node));
    String inner = " ".repeat(indent + 2);
    out.append("{");
    String separator = "\n";
    for (Map.Entry<String, Object> member : members.entrySet()) {
      out.append(separator).append(inner);
      quote(member.getKey(), out);
      out.append(": ");
      if (member.getValue() instanceof String text) {
        quote(text, out);
      } else {
        out.append(member.getValue());
      }
      separator = ",\n";
    }
    if (!node.inputs().isEmpty()) {
      out.append(separator).append(inner).append("\"Plans\": [");
      String between = "\n" + inner + "  ";
      for (ExplainedNode input : node.inputs()) {
        out.append(between);
        addJson(input, indent + 4, out);
        between = ",\n" + inner + "  ";
      }
      out.append("\n").append(inner).append(']');
    }
    out.append("\n").append(" ".repeat(indent)).append('}');
  }

  private static void quote(String text, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\t' -> out.append("\\t");
        default -> {
          if (c < ' ') {
            out.append(String.format("\\u%04x", (int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
  }
}

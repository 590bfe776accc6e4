package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanEstimates;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.type.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The text of EXPLAIN.
final class PlanPrinter {
  private final List<String> lines = new ArrayList<>();

  private final PlanEstimates estimates;

  private PlanPrinter(PlanEstimates estimates) {
    this.estimates = estimates;
  }

  static List<String> lines(PhysicalPlan plan, PlanEstimates estimates) {
    PlanPrinter printer = new PlanPrinter(estimates);
    switch (plan) {
      case PhysicalPlan.Query query -> printer.node(query.root(), 0);
      case PhysicalPlan.Change change -> {
        printer.line(0, change.getClass().getSimpleName() + " on " + name(change.target()));
        printer.node(change.source(), 1);
      }
    }
    return printer.lines;
  }

  private static String name(PhysicalPlan.Target target) {
    return target.schema() + "." + target.table();
  }

  private void line(int depth, String text) {
    lines.add((depth == 0 ? "" : "  ".repeat(depth * 3 - 2) + "->  ") + text);
  }

  private void detail(int depth, String name, @Nullable Object value) {
    if (value != null) {
      lines.add("  ".repeat(depth * 3 + 1) + name + ": " + value);
    }
  }

  private void node(PlanNode node, int depth) {
    int heading = lines.size();
    describe(node, depth);
    Double rows = estimates.rows(node);
    if (rows != null) {
      lines.set(heading, lines.get(heading) + "  (rows=" + Math.round(rows) + ")");
    }
  }

  private void describe(PlanNode node, int depth) {
    switch (node) {
      case PlanNode.TableScan scan -> {
        line(depth, "Table Scan on " + scan.tableId() + " " + Arrays.toString(scan.columns()));
        detail(depth, "Filter", text(scan.filter()));
      }
      case PlanNode.IndexScan scan -> indexScan(scan, depth);
      case PlanNode.SampleScan scan -> {
        line(depth, "Sample Scan on " + scan.tableId());
        detail(depth, "Sampling", 100 * scan.fraction() + "%");
      }
      case PlanNode.SystemScan scan -> line(depth, "System Scan on " + scan.table());
      case PlanNode.Values values -> line(depth, "Values (" + values.rows().size() + " rows)");
      case PlanNode.ParameterRows rows -> line(depth, "Parameter Rows");
      case PlanNode.Filter filter -> {
        line(depth, "Filter");
        detail(depth, "Filter", text(filter.predicate()));
        node(filter.input(), depth + 1);
      }
      case PlanNode.Project project -> {
        line(depth, "Project");
        detail(depth, "Output", texts(project.expressions()));
        node(project.input(), depth + 1);
      }
      case PlanNode.Aggregate aggregate -> {
        line(depth, aggregate.calls().isEmpty() ? "Distinct" : "Aggregate");
        detail(depth, "Keys", Arrays.toString(aggregate.keys()));
        aggregate
            .calls()
            .forEach(c -> detail(depth, "Call", c.name() + Arrays.toString(c.arguments())));
        node(aggregate.input(), depth + 1);
      }
      case PlanNode.Sort sort -> {
        line(depth, sort.limit() == null ? "Sort" : "Top-N Sort");
        detail(depth, "Keys", sort.keys());
        node(sort.input(), depth + 1);
      }
      case PlanNode.Limit limit -> {
        line(depth, "Limit");
        detail(depth, "Offset", text(limit.offset()));
        detail(depth, "Limit", text(limit.limit()));
        node(limit.input(), depth + 1);
      }
      case PlanNode.Window window -> {
        line(depth, "Window");
        detail(depth, "Partition", Arrays.toString(window.partition()));
        detail(depth, "Keys", window.order());
        window
            .calls()
            .forEach(c -> detail(depth, "Call", c.name() + Arrays.toString(c.arguments())));
        node(window.input(), depth + 1);
      }
      case PlanNode.Expand expand -> {
        line(depth, "Grouping Sets");
        detail(depth, "Keys", Arrays.toString(expand.keys()));
        detail(depth, "Sets", expand.sets().length);
        node(expand.input(), depth + 1);
      }
      case PlanNode.Correlate correlate -> {
        line(depth, "Correlated Join " + correlate.kind());
        detail(depth, "Outer Columns", Arrays.toString(correlate.leftColumns()));
        node(correlate.left(), depth + 1);
        node(correlate.right(), depth + 1);
      }
      case PlanNode.Recursion recursion -> {
        line(depth, "Recursive Union" + (recursion.all() ? " All" : ""));
        node(recursion.anchor(), depth + 1);
        node(recursion.step(), depth + 1);
      }
      case PlanNode.WorkTable table -> line(depth, "Work Table " + table.number());
      case PlanNode.LockRows lock -> {
        line(depth, "Lock Rows");
        node(lock.input(), depth + 1);
      }
      case PlanNode.HashJoin join -> {
        line(depth, "Hash Join " + join.kind());
        detail(
            depth,
            "Keys",
            Arrays.toString(join.leftKeys()) + " = " + Arrays.toString(join.rightKeys()));
        detail(depth, "Condition", text(join.condition()));
        node(join.left(), depth + 1);
        node(join.right(), depth + 1);
      }
      case PlanNode.NestedLoopJoin join -> {
        line(depth, "Nested Loop Join " + join.kind());
        detail(depth, "Condition", text(join.condition()));
        node(join.left(), depth + 1);
        node(join.right(), depth + 1);
      }
      case PlanNode.UnionAll union -> {
        line(depth, "Append");
        union.inputs().forEach(input -> node(input, depth + 1));
      }
      case PlanNode.SetOperation set -> {
        line(depth, (set.intersect() ? "Intersect" : "Except") + (set.all() ? " All" : ""));
        node(set.left(), depth + 1);
        node(set.right(), depth + 1);
      }
    }
  }

  private void indexScan(PlanNode.IndexScan scan, int depth) {
    line(
        depth,
        "Index Scan"
            + (scan.reverse() ? " Backward" : "")
            + " using "
            + scan.index()
            + " on "
            + scan.tableId());
    detail(depth, "Equal", scan.equals().isEmpty() ? null : texts(scan.equals()));
    PlanNode.Bound lower = scan.lower();
    PlanNode.Bound upper = scan.upper();
    detail(depth, "From", lower == null ? null : text(lower.value()));
    detail(depth, "To", upper == null ? null : text(upper.value()));
    detail(depth, "Filter", text(scan.filter()));
  }

  private static String texts(List<Expr> expressions) {
    return expressions.stream().map(e -> String.valueOf(text(e))).collect(Collectors.joining(", "));
  }

  private static @Nullable String text(@Nullable Expr expression) {
    return switch (expression) {
      case null -> null;
      case Expr.Column column -> "#" + column.index();
      case Expr.Constant constant -> constant(constant);
      case Expr.Parameter parameter -> "$" + (parameter.index() + 1);
      case Expr.Call call ->
          call.arguments().size() == 2 && !Character.isLetter(call.function().name().charAt(0))
              ? "("
                  + text(call.arguments().get(0))
                  + " "
                  + call.function().name()
                  + " "
                  + text(call.arguments().get(1))
                  + ")"
              : call.function().name() + "(" + texts(call.arguments()) + ")";
      case Expr.And and -> joined(and.terms(), " AND ");
      case Expr.Or or -> joined(or.terms(), " OR ");
      case Expr.Not not -> "NOT " + text(not.argument());
      case Expr.IsNull isNull -> "(" + text(isNull.argument()) + " IS NULL)";
      case Expr.IsBoolean is -> "(" + text(is.argument()) + " IS " + is.value() + ")";
      case Expr.IsDistinct is ->
          "(" + text(is.left()) + " IS DISTINCT FROM " + text(is.right()) + ")";
      case Expr.Case c -> "CASE ... END";
      case Expr.Coalesce c -> "COALESCE(" + texts(c.arguments()) + ")";
      case Expr.InList in -> "(" + text(in.argument()) + " IN (" + texts(in.list()) + "))";
      case Expr.Extreme e -> (e.greatest() ? "GREATEST(" : "LEAST(") + texts(e.arguments()) + ")";
    };
  }

  private static String joined(List<Expr> terms, String word) {
    return "("
        + terms.stream().map(t -> String.valueOf(text(t))).collect(Collectors.joining(word))
        + ")";
  }

  private static String constant(Expr.Constant constant) {
    return constant.isNull()
        ? "NULL"
        : "'"
            + dev.kakehashi.engine.type.Values.toText(constant.typeOid(), constant.word())
            + "'::"
            + Types.name(constant.typeOid());
  }
}

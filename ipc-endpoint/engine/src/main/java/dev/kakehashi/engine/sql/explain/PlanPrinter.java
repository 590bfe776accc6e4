package dev.kakehashi.engine.sql.explain;

import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Text of EXPLAIN about each node of a plan.
public final class PlanPrinter {
  private final CatalogSnapshot catalog;

  public PlanPrinter(CatalogSnapshot catalog) {
    this.catalog = catalog;
  }

  public ExplainedNode explain(PhysicalPlan plan) {
    return switch (plan) {
      case PhysicalPlan.Query query -> node(query.source());
      case PhysicalPlan.Change change -> change("", change, null);
      case PhysicalPlan.WithChanges with -> {
        ExplainedNode top = explain(with.body());
        List<ExplainedNode> inputs = new ArrayList<>();
        for (PhysicalPlan.Part part : with.parts()) {
          inputs.add(change("CTE " + part.name() + ": ", part.change(), part.change().source()));
        }
        top.inputs().addAll(0, inputs);
        yield top;
      }
    };
  }

  /// @param counted the node whose rows are shown; null: the statement's
  private ExplainedNode change(
      String prefix, PhysicalPlan.Change change, @Nullable PlanNode counted) {
    String type = change.getClass().getSimpleName();
    String relation = change.target().schema() + "." + change.target().table();
    ExplainedNode top =
        new ExplainedNode(prefix + type + " on " + relation, type, counted)
            .with("Relation", relation);
    top.inputs().add(node(change.source()));
    return top;
  }

  private ExplainedNode node(PlanNode node) {
    ExplainedNode explained = describe(node);
    if (!(node instanceof PlanNode.With)) {
      node.inputs().forEach(input -> explained.inputs().add(node(input)));
    }
    return explained;
  }

  /// The body, which has the query of WITH as its first input.
  private ExplainedNode with(PlanNode.With with) {
    ExplainedNode common = node(with.common());
    ExplainedNode body = node(with.body());
    body.inputs()
        .addFirst(
            new ExplainedNode(
                "CTE " + with.name() + ": " + common.heading(),
                common.type(),
                common.node(),
                common.details(),
                common.inputs()));
    return body;
  }

  private static ExplainedNode simple(PlanNode node, String type) {
    return new ExplainedNode(type, type, node);
  }

  private ExplainedNode describe(PlanNode node) {
    return switch (node) {
      case PlanNode.TableScan scan ->
          scan(scan, "Table Scan", scan.tableId(), scan.columns())
              .with("Filter", text(scan.filter()));
      case PlanNode.IndexScan scan -> indexScan(scan);
      case PlanNode.SampleScan scan ->
          scan(scan, "Sample Scan", scan.tableId(), scan.columns())
              .with("Sampling", 100 * scan.fraction() + "%");
      case PlanNode.IdentityScan scan ->
          scan(scan, "Identity Scan", scan.tableId(), scan.columns())
              .with("Identity", text(scan.identity()))
              .with("Filter", text(scan.filter()));
      case PlanNode.SystemScan scan ->
          new ExplainedNode("System Scan on " + scan.table(), "System Scan", scan)
              .with("Relation", scan.table())
              .with("Schema", text(scan.schema()))
              .with("Name", text(scan.name()));
      case PlanNode.FunctionScan scan ->
          new ExplainedNode("Function Scan on " + scan.function().name(), "Function Scan", scan);
      case PlanNode.Values values ->
          new ExplainedNode("Values (" + values.rows().size() + " rows)", "Values", values);
      case PlanNode.ParameterRows rows -> simple(rows, "Parameter Rows");
      case PlanNode.Filter filter ->
          simple(filter, "Filter").with("Filter", text(filter.predicate()));
      case PlanNode.Project project ->
          simple(project, "Project").with("Output", ExpressionText.texts(project.expressions()));
      case PlanNode.Aggregate aggregate ->
          simple(aggregate, aggregate.calls().isEmpty() ? "Distinct" : "Aggregate")
              .with("Keys", Arrays.toString(aggregate.keys()))
              .with(
                  "Calls",
                  calls(
                      aggregate.calls().stream()
                          .map(c -> c.name() + Arrays.toString(c.arguments()))
                          .toList()));
      case PlanNode.Sort sort ->
          simple(sort, sort.limit() == null ? "Sort" : "Top-N Sort")
              .with("Keys", keys(sort.keys()));
      case PlanNode.Limit limit ->
          simple(limit, "Limit")
              .with("Offset", text(limit.offset()))
              .with("Limit", text(limit.limit()));
      case PlanNode.Window window ->
          simple(window, "Window")
              .with("Partition", Arrays.toString(window.partition()))
              .with("Keys", keys(window.order()))
              .with(
                  "Calls",
                  calls(
                      window.calls().stream()
                          .map(c -> c.name() + Arrays.toString(c.arguments()))
                          .toList()));
      case PlanNode.Expand expand ->
          simple(expand, "Grouping Sets")
              .with("Keys", Arrays.toString(expand.keys()))
              .with("Sets", expand.sets().length);
      case PlanNode.Correlate correlate ->
          new ExplainedNode("Correlated Join " + correlate.kind(), "Correlated Join", correlate)
              .with("Join Type", correlate.kind().name())
              .with("Outer Columns", Arrays.toString(correlate.leftColumns()))
              .with("Guard", correlate.guard() < 0 ? null : "#" + correlate.guard());
      case PlanNode.Recursion recursion ->
          simple(recursion, "Recursive Union" + (recursion.all() ? " All" : ""));
      case PlanNode.WorkTable table ->
          new ExplainedNode("Work Table " + table.number(), "Work Table", table);
      case PlanNode.With with -> with(with);
      case PlanNode.LockRows lock -> simple(lock, "Lock Rows");
      case PlanNode.HashJoin join ->
          new ExplainedNode("Hash Join " + join.kind(), "Hash Join", join)
              .with("Join Type", join.kind().name())
              .with(
                  "Keys",
                  Arrays.toString(join.leftKeys()) + " = " + Arrays.toString(join.rightKeys()))
              .with("Condition", text(join.condition()));
      case PlanNode.NestedLoopJoin join ->
          new ExplainedNode("Nested Loop Join " + join.kind(), "Nested Loop Join", join)
              .with("Join Type", join.kind().name())
              .with("Condition", text(join.condition()));
      case PlanNode.UnionAll union -> simple(union, "Append");
      case PlanNode.SetOperation set ->
          simple(set, (set.intersect() ? "Intersect" : "Except") + (set.all() ? " All" : ""));
    };
  }

  private ExplainedNode scan(PlanNode node, String type, long tableId, int[] columns) {
    Table table = table(tableId);
    String name = table == null ? String.valueOf(tableId) : table.schema() + "." + table.name();
    return new ExplainedNode(type + " on " + name, type, node)
        .with("Relation", name)
        .with("Columns", columns(table, columns));
  }

  private ExplainedNode indexScan(PlanNode.IndexScan scan) {
    Table table = table(scan.tableId());
    String index =
        table == null || scan.index() >= table.indexes().size()
            ? String.valueOf(scan.index())
            : table.indexes().get(scan.index()).name();
    ExplainedNode named =
        scan(
            scan,
            "Index Scan" + (scan.reverse() ? " Backward" : "") + " using " + index,
            scan.tableId(),
            scan.columns());
    PlanNode.Bound lower = scan.lower();
    PlanNode.Bound upper = scan.upper();
    return new ExplainedNode(named.heading(), "Index Scan", scan, named.details(), named.inputs())
        .with("Index", index)
        .with("Equal", scan.equals().isEmpty() ? null : ExpressionText.equals(scan))
        .with("From", lower == null ? null : text(lower.value()))
        .with("To", upper == null ? null : text(upper.value()))
        .with("Filter", text(scan.filter()));
  }

  private @Nullable Table table(long tableId) {
    return catalog.tables().stream()
        .filter(table -> table.tableId() == tableId)
        .findFirst()
        .orElse(null);
  }

  private static String columns(@Nullable Table table, int[] columns) {
    List<String> names = new ArrayList<>();
    for (int column : columns) {
      names.add(
          column == PlanNode.ROW_ID
              ? "row id"
              : table == null ? "#" + column : table.columns().get(column).shownName());
    }
    return String.join(", ", names);
  }

  private static @Nullable String keys(List<PlanNode.SortKey> keys) {
    if (keys.isEmpty()) {
      return null;
    }
    List<String> texts = new ArrayList<>();
    for (PlanNode.SortKey key : keys) {
      texts.add(
          "#"
              + key.column()
              + (key.descending() ? " DESC" : "")
              + (key.nullsFirst() == key.descending()
                  ? ""
                  : key.nullsFirst() ? " NULLS FIRST" : " NULLS LAST"));
    }
    return String.join(", ", texts);
  }

  private static @Nullable String calls(List<String> calls) {
    return calls.isEmpty() ? null : String.join(", ", calls);
  }

  private static @Nullable String text(@Nullable Expr expression) {
    return ExpressionText.text(expression);
  }
}

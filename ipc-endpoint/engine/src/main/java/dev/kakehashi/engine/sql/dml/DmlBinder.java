package dev.kakehashi.engine.sql.dml;

import com.google.common.collect.ImmutableSet;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.sql.algebra.Inspection;
import dev.kakehashi.engine.sql.algebra.RowShift;
import dev.kakehashi.engine.sql.algebra.ScanShape;
import dev.kakehashi.engine.sql.binder.ExpressionBinder;
import dev.kakehashi.engine.sql.binder.QueryBinder;
import dev.kakehashi.engine.sql.binder.RowIdentityColumn;
import dev.kakehashi.engine.sql.binder.Scope;
import dev.kakehashi.engine.sql.cost.AccessPath;
import dev.kakehashi.engine.sql.optimizer.IndexedExpressions;
import dev.kakehashi.engine.sql.optimizer.Optimizer;
import dev.kakehashi.engine.sql.parser.ParsedStatement;
import dev.kakehashi.engine.sql.physical.PlanTranslator;
import dev.kakehashi.engine.sql.spelling.CalciteParser;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.table.AssignmentBinder;
import dev.kakehashi.engine.sql.table.ReturningBinder;
import dev.kakehashi.engine.sql.table.TargetRows;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.RelationUse;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.logical.LogicalTableScan;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlSelect;
import org.jspecify.annotations.Nullable;

/// Binds INSERT, UPDATE, DELETE and MERGE with RETURNING, down to the physical plan.
///
/// UPDATE and DELETE of one table without subqueries read it by one scan; others are queries that give the row identifiers of the rows to
/// change.
public final class DmlBinder {
  /// A planned change.
  ///
  /// @param returning what becomes of the rows that `plan` gives
  public record Planned(PhysicalPlan.Change plan, ReturningBinder.Returning returning) {}

  private final BindContext context;
  private final QueryBinder queries;
  private final ExpressionBinder expressions;
  private final AssignmentBinder assignments;
  private final InsertBinder inserts;
  private final TargetRows targets;

  public DmlBinder(QueryBinder queries) {
    this.context = queries.context;
    this.queries = queries;
    this.expressions = queries.expressions;
    this.assignments = new AssignmentBinder(queries);
    this.inserts = new InsertBinder(queries, assignments);
    this.targets = new TargetRows(queries);
  }

  /// @param parent scope with the queries of WITH, or null
  public Planned bind(ParsedStatement.Change change, @Nullable Scope parent) {
    return switch (change) {
      case ParsedStatement.Insert insert -> inserts.insert(insert, parent);
      case ParsedStatement.Update update -> update(update, parent);
      case ParsedStatement.Delete delete -> delete(delete, parent);
      case ParsedStatement.Merge merge ->
          new MergeBinder(queries, assignments, targets).merge(merge, parent);
    };
  }

  private Planned update(ParsedStatement.Update update, @Nullable Scope parent) {
    Table table = assignments.table(update.target().table());
    RelationUse use = context.use(table.tableId()).require(Privilege.UPDATE);
    Rows rows =
        rows(table, update.target().visibleName(), update.from(), update.where(), parent, use);
    Scope scope = rows.scope;
    scope.begin("UPDATE");
    @Nullable RexNode[] set = assignments.assignments(update.assignments(), table, scope, use);
    List<RexNode> values = new ArrayList<>();
    for (int i = 0; i < set.length; i++) {
      RexNode value = set[i];
      values.add(value == null ? scope.fields.get(i).expression() : value);
    }
    PhysicalPlan.Target target = assignments.target(table);
    if (rows.single && values.stream().noneMatch(Inspection::hasSubquery)) {
      Scope changed = scope(rows, table, 0);
      ReturningBinder.Returning result =
          assignments.returning(
              update.returning(), changed, updated(changed, values.size(), values.size()));
      return new Planned(
          new PhysicalPlan.Update(
              target,
              scan(table, rows),
              -1,
              ExprTranslator.translate(values),
              result.expressions()),
          result);
    }
    int count = values.size();
    List<RexNode> output = new ArrayList<>(values);
    output.add(rows.rowId());
    boolean returns = update.returning() != null;
    boolean returnsBefore = update.returnsVersions();
    PlanNode source = source(rows, output, count + 1, returns, returnsBefore);
    Scope changed = scope(rows, table, count + count + 1);
    int before = count + source.typeOids().length - (returnsBefore ? count : 0);
    ReturningBinder.Returning result =
        assignments.returning(update.returning(), changed, updated(changed, count, before));
    List<Expr> columns = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      columns.add(new Expr.Column(i, target.typeOids()[i]));
    }
    return new Planned(
        new PhysicalPlan.Update(target, source, count, columns, result.expressions()), result);
  }

  private Planned delete(ParsedStatement.Delete delete, @Nullable Scope parent) {
    Table table = assignments.table(delete.target().table());
    RelationUse use = context.use(table.tableId()).require(Privilege.DELETE);
    Rows rows =
        rows(table, delete.target().visibleName(), delete.using(), delete.where(), parent, use);
    PhysicalPlan.Target target = assignments.target(table);
    if (rows.single) {
      Scope changed = scope(rows, table, 0);
      ReturningBinder.Returning result =
          assignments.returning(delete.returning(), changed, deleted(changed, table));
      return new Planned(
          new PhysicalPlan.Delete(target, scan(table, rows), -1, result.expressions()), result);
    }
    int count = table.columns().size();
    List<RexNode> output = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      output.add(rows.scope.fields.get(i).expression());
    }
    output.add(rows.rowId());
    rows.scope.begin("DELETE");
    PlanNode source = source(rows, output, count + 1, delete.returning() != null, false);
    Scope changed = scope(rows, table, count + count + 1);
    ReturningBinder.Returning result =
        assignments.returning(delete.returning(), changed, deleted(changed, table));
    return new Planned(
        new PhysicalPlan.Delete(target, source, count, result.expressions()), result);
  }

  /// The rows that a statement changes, joined with its other tables: `rel` has the table's columns, its row identifier, then the columns
  /// of the other tables; `scope` the same without the row identifier. `single`: it is a filter over one table without subqueries.
  private final class Rows {
    final RelNode rel;
    final Scope scope;
    final int columns;
    final boolean single;
    final @Nullable RexNode condition;

    Rows(RelNode rel, Scope scope, int columns, boolean single, @Nullable RexNode condition) {
      this.rel = rel;
      this.scope = scope;
      this.columns = columns;
      this.single = single;
      this.condition = condition;
    }

    RexNode rowId() {
      return context.rex.makeInputRef(rel, columns);
    }
  }

  private Rows rows(
      Table table,
      String alias,
      @Nullable Source others,
      @Nullable Source where,
      @Nullable Scope parent,
      RelationUse use) {
    Scope scope = new Scope(parent);
    RelNode rel =
        others == null
            ? targets.changed(table, alias, null, scope, use)
            : context.within(
                others,
                () -> {
                  SqlSelect select = (SqlSelect) CalciteParser.parse(others);
                  SqlNode from = java.util.Objects.requireNonNull(select.getFrom());
                  return targets.changed(table, alias, from, scope, use);
                });
    int columns = table.columns().size();
    if (where == null) {
      return new Rows(rel, scope, columns, others == null, null);
    }
    return context.within(
        where,
        () -> {
          scope.begin("WHERE");
          RexNode condition =
              expressions.bindCondition(
                  CalciteParser.parseExpression(where), scope, "argument of WHERE");
          RelNode filtered =
              LogicalFilter.create(rel, condition, ImmutableSet.copyOf(scope.correlations()));
          boolean single = others == null && !Inspection.hasSubquery(condition);
          return new Rows(filtered, scope, columns, single, condition);
        });
  }

  /// The scan of the rows to change: all columns, in the table's order, and the row identifier behind them if the condition may name it.
  private PlanNode scan(Table table, Rows rows) {
    RelNode scan =
        LogicalTableScan.create(
            context.cluster,
            RowIdentityColumn.isNamed(table, context)
                ? context.catalogTableWithRowId(table)
                : context.catalogTable(table),
            List.of());
    RelNode filtered = rows.condition == null ? scan : LogicalFilter.create(scan, rows.condition);
    ScanShape shape =
        java.util.Objects.requireNonNull(
            ScanShape.of(IndexedExpressions.use(filtered), context.rex));
    return AccessPath.choose(shape.table(), shape.columns(), shape.conjuncts(), context.rex);
  }

  /// The versions of updated rows.
  ///
  /// @param before where the columns of the row as it was are in the input of RETURNING
  private ReturningBinder.Versions updated(Scope changed, int columns, int before) {
    return new ReturningBinder.Versions(
        ReturningBinder.version(changed, columns, before, context),
        ReturningBinder.version(changed, columns, 0, context));
  }

  private ReturningBinder.Versions deleted(Scope changed, Table table) {
    int columns = table.columns().size();
    return new ReturningBinder.Versions(
        ReturningBinder.version(changed, columns, 0, context),
        ReturningBinder.absent(changed, columns, queries));
  }

  /// The plan that gives `output`; where the statement returns rows the columns of the other tables after it, and then those of the row
  /// as it was.
  private PlanNode source(
      Rows rows, List<RexNode> output, int width, boolean returns, boolean returnsBefore) {
    List<RexNode> all = new ArrayList<>(output);
    int inputs = rows.rel.getRowType().getFieldCount();
    for (int i = rows.columns + 1; returns && i < inputs; i++) {
      all.add(context.rex.makeInputRef(rows.rel, i));
    }
    for (int i = 0; returnsBefore && i < rows.columns; i++) {
      all.add(context.rex.makeInputRef(rows.rel, i));
    }
    List<String> names = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      names.add((i < width ? "c" : "o") + i);
    }
    RelNode rel = queries.project(rows.rel, all, names, rows.scope.correlations());
    return new PlanTranslator(context).translate(Optimizer.optimize(rel));
  }

  /// The scope of RETURNING: the changed row's columns first, those of the other tables from `others` on.
  private Scope scope(Rows rows, Table table, int others) {
    Scope scope = new Scope(rows.scope.parent);
    for (Scope.Field field : rows.scope.fields) {
      if (RowIdentityColumn.rowIdOf(field.expression()) == rows.columns) {
        continue; // what is changed gives no row identifier
      }
      RexNode moved =
          RowShift.apply(
              field.expression(),
              context.rex,
              index -> index < rows.columns ? index : index - rows.columns - 1 + others);
      scope.fields.add(
          new Scope.Field(field.alias(), field.schema(), field.name(), moved, field.merged())
              .of(field.origin()));
    }
    scope.rowType = context.catalogTable(table).getRowType();
    return scope;
  }
}

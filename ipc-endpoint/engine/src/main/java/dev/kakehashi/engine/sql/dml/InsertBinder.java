package dev.kakehashi.engine.sql.dml;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.sql.binder.ExpressionBinder;
import dev.kakehashi.engine.sql.binder.QueryBinder;
import dev.kakehashi.engine.sql.binder.Scope;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.optimizer.Optimizer;
import dev.kakehashi.engine.sql.parser.ParsedStatement;
import dev.kakehashi.engine.sql.physical.PlanTranslator;
import dev.kakehashi.engine.sql.spelling.CalciteParser;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.table.AssignmentBinder;
import dev.kakehashi.engine.sql.table.ReturningBinder;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.BoundQuery;
import dev.kakehashi.engine.sql.typing.BoundQuery.Expectation;
import dev.kakehashi.engine.sql.typing.RelationUse;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// Binds INSERT with ON CONFLICT, down to the physical plan.
final class InsertBinder {
  private final BindContext context;
  private final QueryBinder queries;
  private final ExpressionBinder expressions;
  private final AssignmentBinder assignments;

  InsertBinder(QueryBinder queries, AssignmentBinder assignments) {
    this.context = queries.context;
    this.queries = queries;
    this.expressions = queries.expressions;
    this.assignments = assignments;
  }

  DmlBinder.Planned insert(ParsedStatement.Insert insert, @Nullable Scope parent) {
    Table table = assignments.table(insert.target().table());
    RelationUse use = context.use(table.tableId()).require(Privilege.INSERT);
    List<Integer> columns = targetColumns(table, insert.columns());
    boolean listed = !insert.columns().isEmpty();
    Source rows = insert.rows();
    RelNode source =
        rows == null
            ? queries.project(
                queries.oneRow(),
                assignments.completed(new @Nullable RexNode[table.columns().size()], table),
                AssignmentBinder.names(table),
                Set.of())
            : context.within(
                rows,
                () ->
                    source(
                        CalciteParser.parse(rows),
                        table,
                        columns,
                        listed,
                        insert.overriding(),
                        parent,
                        use));
    String alias = insert.target().visibleName();
    ConflictBinder.Bound bound =
        new ConflictBinder(queries, assignments)
            .bind(insert.conflict(), table, alias, source, parent, use);
    PlanNode plan = new PlanTranslator(context).translate(Optimizer.optimize(bound.source()));
    Scope changed = tableScope(table, alias, parent, use);
    int width = table.columns().size();
    PhysicalPlan.OnConflict conflict = bound.conflict();
    boolean hasExisting = conflict != null && conflict.takesExisting();
    ReturningBinder.Versions versions =
        new ReturningBinder.Versions(
            hasExisting
                ? ReturningBinder.version(changed, width, width + plan.typeOids().length, context)
                : ReturningBinder.absent(changed, width, queries),
            ReturningBinder.version(changed, width, 0, context));
    ReturningBinder.Returning result = assignments.returning(insert.returning(), changed, versions);
    return new DmlBinder.Planned(
        new PhysicalPlan.Insert(assignments.target(table), plan, result.expressions(), conflict),
        result);
  }

  private Scope tableScope(Table table, String alias, @Nullable Scope parent, RelationUse use) {
    Scope scope = new Scope(parent);
    for (int i = 0; i < table.columns().size(); i++) {
      scope.fields.add(assignments.field(table, alias, i, i).of(new Scope.Origin(use, i)));
    }
    scope.rowType = context.catalogTable(table).getRowType();
    return scope;
  }

  static List<Integer> targetColumns(Table table, List<QualifiedName> names) {
    List<Integer> columns = new ArrayList<>();
    if (names.isEmpty()) {
      for (int i = 0; i < table.columns().size(); i++) {
        if (!table.columns().get(i).hidden()) {
          columns.add(i);
        }
      }
      return columns;
    }
    Set<Integer> seen = new HashSet<>();
    for (QualifiedName name : names) {
      int column = AssignmentBinder.column(table, name);
      if (!seen.add(column)) {
        throw new EngineException(
                ErrorCode.DUPLICATE_COLUMN,
                "column \"" + name.name() + "\" specified more than once")
            .withPosition(name.position());
      }
      columns.add(column);
    }
    return columns;
  }

  private RelNode source(
      SqlNode source,
      Table table,
      List<Integer> columns,
      boolean listed,
      ParsedStatement.Overriding overriding,
      @Nullable Scope parent,
      RelationUse use) {
    if (source.getKind() == SqlKind.VALUES) {
      return values((SqlCall) source, table, columns, listed, overriding, parent, use);
    }
    List<SqlType> types = columns.stream().map(c -> table.columns().get(c).type()).toList();
    BoundQuery query = queries.bind(source, parent, Expectation.of(types));
    requireCount(query.names().size(), columns.size(), listed, source);
    @Nullable RexNode[] row = new @Nullable RexNode[table.columns().size()];
    for (int i = 0; i < query.names().size(); i++) {
      int column = columns.get(i);
      use.insert(column);
      row[column] =
          assignments.inserted(
              context.rex.makeInputRef(query.rel(), i), table, column, overriding, source);
    }
    return queries.project(
        query.rel(), assignments.completed(row, table), AssignmentBinder.names(table), Set.of());
  }

  /// @param listed whether the statement names the columns; without a list fewer values than columns are allowed
  private void requireCount(int expressionCount, int columnCount, boolean listed, SqlNode at) {
    if (expressionCount > columnCount) {
      throw context.error(
          ErrorCode.SYNTAX_ERROR, "INSERT has more expressions than target columns", at);
    }
    if (listed && expressionCount < columnCount) {
      throw context.error(
          ErrorCode.SYNTAX_ERROR, "INSERT has more target columns than expressions", at);
    }
  }

  private RelNode values(
      SqlCall values,
      Table table,
      List<Integer> columns,
      boolean listed,
      ParsedStatement.Overriding overriding,
      @Nullable Scope parent,
      RelationUse use) {
    Scope scope = new Scope(parent, "VALUES");
    scope.rowType = queries.oneRow().getRowType();
    List<List<RexNode>> rows = new ArrayList<>();
    int width = -1;
    for (SqlNode node : values.getOperandList()) {
      List<SqlNode> row = ((SqlCall) node).getOperandList();
      if (width >= 0 && row.size() != width) {
        throw context.error(
            ErrorCode.SYNTAX_ERROR, "VALUES lists must all be the same length", node);
      }
      width = row.size();
      requireCount(width, columns.size(), listed, node);
      @Nullable RexNode[] complete = new @Nullable RexNode[table.columns().size()];
      for (int i = 0; i < width; i++) {
        int column = columns.get(i);
        use.insert(column);
        RexNode value =
            assignments.inserted(
                expressions.bind(row.get(i), scope), table, column, overriding, row.get(i));
        complete[column] = value;
      }
      rows.add(assignments.completed(complete, table));
    }
    RelDataType rowType =
        context.types.createStructType(
            table.columns().stream().map(c -> context.types.of(c.type(), true)).toList(),
            AssignmentBinder.names(table));
    return queries.rows(rowType, rows, scope.correlations());
  }
}

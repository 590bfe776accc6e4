package dev.kakehashi.engine.sql.dml;

import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.LoadPlan;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.sql.binder.QueryBinder;
import dev.kakehashi.engine.sql.binder.Scope;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.parser.CopyStatement;
import dev.kakehashi.engine.sql.spelling.CalciteParser;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.table.AssignmentBinder;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.RelationUse;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexVisitorImpl;
import org.jspecify.annotations.Nullable;

/// Binds COPY ... FROM.
public final class LoadBinder {
  private final BindContext context;
  private final QueryBinder queries;
  private final AssignmentBinder assignments;

  public LoadBinder(QueryBinder queries) {
    this.context = queries.context;
    this.queries = queries;
    this.assignments = new AssignmentBinder(queries);
  }

  /// @throws EngineException WRONG_OBJECT_TYPE, INVALID_COLUMN_REFERENCE, ... for what PostgreSQL would refuse
  public LoadPlan bind(CopyStatement.From copy) {
    refuseView(copy.table());
    Table table = assignments.table(copy.table());
    RelationUse use = context.use(table.tableId()).require(Privilege.INSERT);
    boolean listed = !copy.columns().isEmpty();
    List<LoadColumn> columns = new ArrayList<>();
    List<Integer> positions = new ArrayList<>();
    for (int position : InsertBinder.targetColumns(table, copy.columns())) {
      Column column = table.columns().get(position);
      if (column.generation() != null) {
        if (listed) {
          throw generated(copy.columns().get(positions.size()));
        }
        continue;
      }
      use.insert(position);
      positions.add(position);
      columns.add(
          new LoadColumn(
              column.name(),
              column.type().oid(),
              column.type().typeModifier(),
              Types.format(column.type()),
              !column.notNull(),
              List.of()));
    }
    List<Expr> defaults =
        ExprTranslator.translate(
            assignments.completed(new @Nullable RexNode[table.columns().size()], table));
    PhysicalPlan.Target target = assignments.target(table);
    PlanNode none = new PlanNode.ParameterRows(target.typeOids());
    Source where = copy.where();
    return new LoadPlan(
        new PhysicalPlan.Insert(target, none, null),
        columns,
        positions.stream().mapToInt(Integer::intValue).toArray(),
        listed,
        defaults,
        where == null ? null : context.within(where, () -> condition(where, table, use)),
        table.indexes().stream().anyMatch(Index::unique) || referencesItself(table));
  }

  private static boolean referencesItself(Table table) {
    return table.foreignKeys().stream().anyMatch(key -> key.referencedId() == table.tableId());
  }

  private void refuseView(QualifiedName name) {
    String schema = name.schema() == null ? CatalogSnapshot.DEFAULT_SCHEMA : name.schema();
    if (context.catalog.view(schema, name.name()) != null) {
      context.useSchema(name.schema(), name.name(), name.position());
      throw new EngineException(
              ErrorCode.WRONG_OBJECT_TYPE, "cannot copy to view \"" + name.name() + "\"")
          .withHint("Copy to its tables.")
          .withPosition(name.position());
    }
  }

  private static EngineException generated(QualifiedName column) {
    return new EngineException(
            ErrorCode.INVALID_COLUMN_REFERENCE,
            "column \"" + column.name() + "\" is a generated column")
        .withDetail("Generated columns cannot be used in COPY.")
        .withPosition(column.position());
  }

  private Expr condition(Source where, Table table, RelationUse use) {
    Scope scope = new Scope(null, "COPY FROM WHERE conditions");
    for (int i = 0; i < table.columns().size(); i++) {
      scope.fields.add(assignments.field(table, table.name(), i, i).of(new Scope.Origin(use, i)));
    }
    scope.rowType = context.catalogTable(table).getRowType();
    RexNode bound =
        queries.expressions.bindCondition(
            CalciteParser.parseExpression(where), scope, "argument of WHERE");
    if (AssignmentBinder.hasSubquery(bound)) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED, "cannot use subquery in COPY FROM WHERE condition");
    }
    bound.accept(
        new RexVisitorImpl<Void>(true) {
          @Override
          public @Nullable Void visitInputRef(RexInputRef reference) {
            Column column = table.columns().get(reference.getIndex());
            if (column.generation() != null) {
              throw new EngineException(
                      ErrorCode.INVALID_COLUMN_REFERENCE,
                      "generated columns are not supported in COPY FROM WHERE conditions")
                  .withDetail("Column \"" + column.name() + "\" is a generated column.");
            }
            return null;
          }
        });
    return ExprTranslator.translate(bound);
  }
}

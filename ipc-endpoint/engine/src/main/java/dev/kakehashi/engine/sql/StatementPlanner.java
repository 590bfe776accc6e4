package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.algebra.WorkTableRows;
import dev.kakehashi.engine.sql.binder.PathColumns;
import dev.kakehashi.engine.sql.binder.QueryBinder;
import dev.kakehashi.engine.sql.binder.Scope;
import dev.kakehashi.engine.sql.binder.WithBinder;
import dev.kakehashi.engine.sql.dml.DmlBinder;
import dev.kakehashi.engine.sql.optimizer.Optimizer;
import dev.kakehashi.engine.sql.parser.ParsedStatement;
import dev.kakehashi.engine.sql.physical.PlanTranslator;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.sql.table.ReturningBinder;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.BoundQuery;
import dev.kakehashi.engine.sql.typing.BoundQuery.Expectation;
import dev.kakehashi.engine.type.SqlType;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.sql.validate.SqlValidatorUtil;
import org.jspecify.annotations.Nullable;

/// From a parsed statement to its plan: the queries of WITH, then the statement itself.
final class StatementPlanner {
  private final BindContext context;
  private final QueryBinder queries;
  private final WithBinder withs;

  /// Statements of WITH that change rows.
  private final List<PhysicalPlan.Part> parts = new ArrayList<>();

  StatementPlanner(BindContext context) {
    this.context = context;
    this.queries = new QueryBinder(context);
    this.withs = new WithBinder(queries, this::change);
  }

  Prepared.Planned plan(ParsedStatement statement) {
    if (isQuery(statement)) {
      context.commonTables.allow();
    }
    return plan(statement, null);
  }

  /// Whether no part of the statement changes rows.
  private static boolean isQuery(ParsedStatement statement) {
    return statement instanceof ParsedStatement.Query
        || (statement instanceof ParsedStatement.With with
            && isQuery(with.body())
            && with.tables().stream().allMatch(table -> isQuery(table.query())));
  }

  private Prepared.Planned plan(ParsedStatement statement, @Nullable Scope parent) {
    return switch (statement) {
      case ParsedStatement.With with -> plan(with.body(), withs.bind(with, parent));
      case ParsedStatement.Query query -> query(query.text(), parent);
      case ParsedStatement.Change change -> {
        DmlBinder.Planned planned = new DmlBinder(queries).bind(change, parent);
        ReturningBinder.SelectList list = planned.returning().list();
        yield list == null
            ? planned(Statement.Kind.DML, planned.plan(), planned.returning().columns())
            : returned(planned, list);
      }
    };
  }

  /// The change, and then the query of what it gives.
  private Prepared.Planned returned(DmlBinder.Planned change, ReturningBinder.SelectList list) {
    int number = context.newWorkTable();
    parts.add(new PhysicalPlan.Part(change.plan().target().table(), change.plan(), number));
    BoundQuery query = list.of(rows(change, list.rowType(), number), queries);
    PlanNode root = new PlanTranslator(context).translate(Optimizer.optimize(query.rel()));
    return planned(
        Statement.Kind.DML, new PhysicalPlan.Query(root, true), change.returning().columns());
  }

  private Prepared.Planned planned(
      Statement.Kind kind, PhysicalPlan plan, List<Statement.Column> columns) {
    return new Prepared.Planned(
        kind,
        parts.isEmpty() ? plan : new PhysicalPlan.WithChanges(List.copyOf(parts), plan),
        context.parameterOids(),
        columns,
        true,
        context.zoneUsed,
        context.estimates,
        context.usedTables(),
        context.needs());
  }

  /// A statement of WITH that changes rows becomes a part of the plan.
  private Scope.CommonChange change(
      ParsedStatement.CommonTable table, boolean recursive, Scope scope) {
    String name = table.name().name();
    QueryBinder.refuseKnown(scope, name, table.name().position());
    Scope visible = QueryBinder.visible(scope);
    if (recursive) {
      visible.commonTables.add(new Scope.CommonChange(name, List.of(), null, true));
    }
    ParsedStatement statement = table.query();
    // Queries of its own WITH change no rows: the parser has seen to that.
    Scope inner =
        statement instanceof ParsedStatement.With with ? withs.bind(with, visible) : visible;
    ParsedStatement body = statement instanceof ParsedStatement.With with ? with.body() : statement;
    DmlBinder.Planned planned = new DmlBinder(queries).bind((ParsedStatement.Change) body, inner);
    int number = context.newWorkTable();
    parts.add(new PhysicalPlan.Part(name, planned.plan(), number));
    return new Scope.CommonChange(name, table.columns(), returned(planned, number), false);
  }

  private @Nullable BoundQuery returned(DmlBinder.Planned planned, int number) {
    if (planned.plan().returning() == null) {
      return null;
    }
    ReturningBinder.SelectList list = planned.returning().list();
    if (list != null) {
      return list.of(rows(planned, list.rowType(), number), queries);
    }
    List<Statement.Column> columns = planned.returning().columns();
    List<String> names = columns.stream().map(Statement.Column::name).toList();
    RelDataType rowType =
        context.types.createStructType(
            columns.stream()
                .map(c -> context.types.of(new SqlType(c.typeOid(), c.typeModifier()), true))
                .toList(),
            SqlValidatorUtil.uniquify(names, true));
    return new BoundQuery(rows(planned, rowType, number), names);
  }

  /// The rows that a change gives.
  private RelNode rows(DmlBinder.Planned change, RelDataType rowType, int number) {
    Double rows = context.estimates.rows(change.plan().source());
    return new WorkTableRows(context.cluster, rowType, number, rows == null ? 1 : rows);
  }

  private Prepared.Planned query(Source text, @Nullable Scope parent) {
    BoundQuery query =
        PathColumns.asText(
            context.within(text, () -> queries.bind(withs.parse(text), parent, Expectation.NONE)),
            queries);
    // Algebra's rows have columns; those of a result may have none.
    boolean none = query.names().isEmpty();
    List<Statement.Column> columns = none ? List.of() : columns(query);
    RelNode optimized = Optimizer.optimize(query.rel());
    PlanTranslator translator = new PlanTranslator(context);
    PlanNode rows = translator.translate(optimized);
    PlanNode root =
        context.commonTables.around(
            none ? new PlanNode.Project(rows, List.of()) : rows,
            kept -> translator.translate(Optimizer.optimize(kept)));
    return planned(
        Statement.Kind.QUERY,
        new PhysicalPlan.Query(root, context.locksRows || context.changesQueues),
        columns);
  }

  private static List<Statement.Column> columns(BoundQuery query) {
    List<Statement.Column> columns = new ArrayList<>();
    List<RelDataTypeField> fields = query.rel().getRowType().getFieldList();
    for (int i = 0; i < fields.size(); i++) {
      SqlType type = PgType.of(fields.get(i).getType());
      columns.add(new Statement.Column(query.names().get(i), type.oid(), type.typeModifier()));
    }
    return columns;
  }
}

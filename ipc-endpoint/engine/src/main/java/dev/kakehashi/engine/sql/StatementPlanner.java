package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.BoundQuery.Expectation;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.validate.SqlValidatorUtil;
import org.jspecify.annotations.Nullable;

/// From a parsed statement to its plan: the queries of WITH, then the statement itself.
final class StatementPlanner {
  private final BindContext context;
  private final QueryBinder queries;

  /// Statements of WITH that change rows.
  private final List<PhysicalPlan.Part> parts = new ArrayList<>();

  private final IdentityHashMap<Source, SqlNode> parsed = new IdentityHashMap<>();

  StatementPlanner(BindContext context) {
    this.context = context;
    this.queries = new QueryBinder(context);
  }

  StatementPlanner(QueryBinder queries) {
    this.context = queries.context;
    this.queries = queries;
  }

  /// Binds a statement that has to be a query, as part of another.
  BoundQuery bindQuery(ParsedStatement statement) {
    Scope scope = null;
    ParsedStatement body = statement;
    while (body instanceof ParsedStatement.With with) {
      scope = with(with, scope);
      body = with.body();
    }
    if (!(body instanceof ParsedStatement.Query query)) {
      throw new EngineException(
          ErrorCode.SYNTAX_ERROR, "a view cannot be made of a statement that changes rows");
    }
    Scope parent = scope;
    return PathColumns.asText(
        withColumns(
            context.within(
                query.text(), () -> queries.bind(parse(query.text()), parent, Expectation.NONE))),
        queries);
  }

  private static BoundQuery withColumns(BoundQuery query) {
    if (query.names().isEmpty()) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED, "a relation without columns is not supported");
    }
    return query;
  }

  SqlFront.Planned plan(ParsedStatement statement) {
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

  private SqlFront.Planned plan(ParsedStatement statement, @Nullable Scope parent) {
    return switch (statement) {
      case ParsedStatement.With with -> plan(with.body(), with(with, parent));
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
  private SqlFront.Planned returned(DmlBinder.Planned change, ReturningBinder.SelectList list) {
    int number = context.newWorkTable();
    parts.add(new PhysicalPlan.Part(change.plan().target().table(), change.plan(), number));
    BoundQuery query = list.of(rows(change, list.rowType(), number), queries);
    PlanNode root = new PlanTranslator(context).translate(Optimizer.optimize(query.rel()));
    return planned(
        Statement.Kind.DML, new PhysicalPlan.Query(root, true), change.returning().columns());
  }

  private SqlFront.Planned planned(
      Statement.Kind kind, PhysicalPlan plan, List<Statement.Column> columns) {
    return new SqlFront.Planned(
        kind,
        parts.isEmpty() ? plan : new PhysicalPlan.WithChanges(List.copyOf(parts), plan),
        context.parameterOids(),
        columns,
        true,
        context.zoneUsed,
        context.estimates,
        context.usedTables());
  }

  /// A scope with the queries of WITH.
  private Scope with(ParsedStatement.With with, @Nullable Scope parent) {
    Scope scope = new Scope(parent);
    List<ParsedStatement.CommonTable> later = new ArrayList<>(with.tables());
    for (ParsedStatement.CommonTable table : with.tables()) {
      later.removeFirst();
      if (!(table.query() instanceof ParsedStatement.Query query)) {
        scope.commonTables.add(change(table, with.recursive(), scope));
        continue;
      }
      Source text = query.text();
      context.within(
          text,
          () -> {
            queries.addCommonTable(
                scope,
                table.name().name(),
                parse(text),
                text,
                table.columns(),
                with.recursive(),
                references(table, later, with.body(), parent),
                table.traversal());
            return scope;
          });
    }
    return scope;
  }

  /// A query as algebra's syntax; each is parsed once, though all after it are searched for the names of each query of WITH.
  private SqlNode parse(Source text) {
    return parsed.computeIfAbsent(text, SqlFront::parse);
  }

  /// Places that name a query of WITH, if its rows may be kept for all of them.
  private int references(
      ParsedStatement.CommonTable table,
      List<ParsedStatement.CommonTable> later,
      ParsedStatement body,
      @Nullable Scope parent) {
    boolean bound = Boolean.FALSE.equals(table.materialized()) || parent != null;
    if (bound || !context.commonTables.isAllowed()) {
      return 0;
    }
    List<SqlNode> queries = new ArrayList<>();
    later.forEach(each -> addQueries(each.query(), queries));
    addQueries(body, queries);
    return CommonTables.references(table.name().name(), queries);
  }

  private void addQueries(ParsedStatement statement, List<SqlNode> queries) {
    switch (statement) {
      case ParsedStatement.Query query -> queries.add(parse(query.text()));
      case ParsedStatement.With with -> {
        with.tables().forEach(table -> addQueries(table.query(), queries));
        addQueries(with.body(), queries);
      }
      case ParsedStatement.Change change -> {}
    }
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
    Scope inner = statement instanceof ParsedStatement.With with ? with(with, visible) : visible;
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

  private SqlFront.Planned query(Source text, @Nullable Scope parent) {
    BoundQuery query =
        PathColumns.asText(
            context.within(text, () -> queries.bind(parse(text), parent, Expectation.NONE)),
            queries);
    // Algebra's rows have columns; those of a result may have none.
    boolean none = query.names().isEmpty();
    List<Statement.Column> columns = none ? List.of() : columns(query);
    RelNode optimized = Optimizer.optimize(query.rel());
    PlanTranslator translator = new PlanTranslator(context);
    PlanNode rows = translator.translate(optimized);
    PlanNode root =
        context.commonTables.around(
            none ? new PlanNode.Project(rows, List.of()) : rows, translator);
    return planned(Statement.Kind.QUERY, new PhysicalPlan.Query(root, context.locksRows), columns);
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

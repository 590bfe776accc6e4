package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.BoundQuery.Expectation;
import dev.kakehashi.engine.type.SqlType;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.jspecify.annotations.Nullable;

/// From a parsed statement to its plan: the queries of WITH, then the statement itself.
final class StatementPlanner {
  private final BindContext context;
  private final QueryBinder queries;

  StatementPlanner(BindContext context) {
    this.context = context;
    this.queries = new QueryBinder(context);
  }

  SqlFront.Planned plan(ParsedStatement statement) {
    return plan(statement, null);
  }

  private SqlFront.Planned plan(ParsedStatement statement, @Nullable Scope parent) {
    return switch (statement) {
      case ParsedStatement.With with -> plan(with.body(), with(with, parent));
      case ParsedStatement.Query query -> query(query.text(), parent);
      case ParsedStatement.Change change -> {
        DmlBinder.Planned planned = new DmlBinder(queries).bind(change, parent);
        yield new SqlFront.Planned(
            Statement.Kind.DML,
            planned.plan(),
            context.parameterOids(),
            planned.columns(),
            true,
            context.estimates,
            context.usedTables());
      }
    };
  }

  /// A scope with the queries of WITH.
  private Scope with(ParsedStatement.With with, @Nullable Scope parent) {
    Scope scope = new Scope(parent);
    for (ParsedStatement.CommonTable table : with.tables()) {
      if (!(table.query() instanceof ParsedStatement.Query query)) {
        throw ExprTranslator.unsupported("a statement that changes rows, or WITH, in WITH");
      }
      Source text = query.text();
      context.within(
          text,
          () -> {
            queries.addCommonTable(
                scope,
                table.name().name(),
                SqlFront.parse(text),
                text,
                table.columns(),
                with.recursive());
            return scope;
          });
    }
    return scope;
  }

  private SqlFront.Planned query(Source text, @Nullable Scope parent) {
    BoundQuery query =
        context.within(text, () -> queries.bind(SqlFront.parse(text), parent, Expectation.NONE));
    List<Statement.Column> columns = columns(query);
    RelNode optimized = Optimizer.optimize(query.rel());
    PlanNode root = new PlanTranslator(context).translate(optimized);
    return new SqlFront.Planned(
        Statement.Kind.QUERY,
        new PhysicalPlan.Query(root, context.locksRows),
        context.parameterOids(),
        columns,
        true,
        context.estimates,
        context.usedTables());
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

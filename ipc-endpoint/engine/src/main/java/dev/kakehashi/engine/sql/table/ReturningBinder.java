package dev.kakehashi.engine.sql.table;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.sql.algebra.Inspection;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.binder.QueryBinder;
import dev.kakehashi.engine.sql.binder.Scope;
import dev.kakehashi.engine.sql.binder.SelectBinder;
import dev.kakehashi.engine.sql.parser.ParsedStatement;
import dev.kakehashi.engine.sql.spelling.CalciteParser;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.BoundQuery;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.sql.SqlSelect;
import org.jspecify.annotations.Nullable;

/// Binds RETURNING. A list with subqueries becomes a query of the rows that the change gives: it sees what was there before the statement,
/// as in PostgreSQL.
public final class ReturningBinder {
  /// Result of a change for each of its rows.
  ///
  /// @param expressions over the changed row, followed by the columns of the source; null: there is no RETURNING
  /// @param columns of the statement's result
  /// @param list null: `expressions` are the result
  public record Returning(
      @Nullable List<Expr> expressions, List<Statement.Column> columns, @Nullable SelectList list) {
    static final Returning NONE = new Returning(null, List.of(), null);
  }

  /// A list with subqueries.
  ///
  /// @param items over rows of what the change gives
  /// @param rowType of these rows
  public record SelectList(
      List<RexNode> items,
      List<String> names,
      Set<CorrelationId> correlations,
      RelDataType rowType) {
    public BoundQuery of(RelNode rows, QueryBinder queries) {
      return new BoundQuery(queries.project(rows, items, names, correlations), names);
    }
  }

  /// OLD and NEW: columns of the row before and after the change, in the order of the table's.
  public record Versions(List<RexNode> before, List<RexNode> after) {}

  private final BindContext context;
  private final QueryBinder queries;

  ReturningBinder(QueryBinder queries) {
    this.context = queries.context;
    this.queries = queries;
  }

  /// @param scope the columns of the changed row, then those of the other tables
  Returning bind(ParsedStatement.@Nullable ReturningClause clause, Scope scope, Versions versions) {
    if (clause == null) {
      return Returning.NONE;
    }
    if (clause.namesVersions() && clause.before().turn() <= clause.after().turn()) {
      name(clause.before(), versions.before(), scope);
      name(clause.after(), versions.after(), scope);
    } else if (clause.namesVersions()) {
      name(clause.after(), versions.after(), scope);
      name(clause.before(), versions.before(), scope);
    }
    return context.within(clause.list(), () -> list(clause.list(), scope));
  }

  /// Adds the columns of a version, which are reached by its name alone. A table of this name hides it, unless the statement gives the
  /// name.
  private static void name(
      ParsedStatement.VersionName version, List<RexNode> columns, Scope scope) {
    String alias = version.name();
    boolean isTaken = scope.fields.stream().anyMatch(field -> alias.equals(field.alias()));
    if (isTaken && version.position() > 0) {
      throw new EngineException(
              ErrorCode.DUPLICATE_ALIAS, "table name \"" + alias + "\" specified more than once")
          .withPosition(version.position());
    }
    for (int i = 0; i < columns.size() && !isTaken; i++) {
      Scope.Field field = scope.fields.get(i);
      scope.fields.add(
          new Scope.Field(alias, null, field.name(), columns.get(i), true).of(field.origin()));
    }
  }

  /// Columns of a version of the changed row, in the input of RETURNING from a position on.
  public static List<RexNode> version(Scope scope, int columns, int first, BindContext context) {
    List<RexNode> version = new ArrayList<>();
    for (int i = 0; i < columns; i++) {
      RelDataType type = scope.fields.get(i).expression().getType();
      version.add(
          context.rex.makeInputRef(context.types.createTypeWithNullability(type, true), first + i));
    }
    return version;
  }

  /// The columns of a row that is not there.
  public static List<RexNode> absent(Scope scope, int columns, QueryBinder queries) {
    List<RexNode> version = new ArrayList<>();
    for (int i = 0; i < columns; i++) {
      SqlType type = PgType.of(scope.fields.get(i).expression());
      version.add(queries.expressions.coercion.constant(Constant.ofNull(type)));
    }
    return version;
  }

  private Returning list(Source source, Scope scope) {
    List<RexNode> given = new ArrayList<>();
    scope.fields.forEach(field -> given.add(field.expression()));
    if (scope.mergeAction != null) {
      given.add(scope.mergeAction);
    }
    Scope rows = rows(scope, given);
    SqlSelect select = (SqlSelect) CalciteParser.parse(source);
    List<SelectBinder.Item> items = queries.selects.items(select.getSelectList(), rows);
    boolean subqueries = items.stream().anyMatch(item -> Inspection.hasSubquery(item.expression()));
    List<Statement.Column> columns = new ArrayList<>();
    List<Expr> result = new ArrayList<>();
    for (SelectBinder.Item item : items) {
      SqlType type = PgType.of(item.expression());
      columns.add(new Statement.Column(item.name(), type.oid(), type.typeModifier()));
      if (!subqueries) {
        result.add(ExprTranslator.translate(direct(item.expression(), given)));
      }
    }
    if (!subqueries) {
      return new Returning(result, columns, null);
    }
    given.forEach(each -> result.add(ExprTranslator.translate(each)));
    return new Returning(
        result,
        columns,
        new SelectList(
            items.stream().map(SelectBinder.Item::expression).toList(),
            items.stream().map(SelectBinder.Item::name).toList(),
            rows.correlations(),
            java.util.Objects.requireNonNull(rows.rowType)));
  }

  /// The scope with what the change gives as its columns, each of which may be null.
  private Scope rows(Scope scope, List<RexNode> given) {
    List<RelDataType> types = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (RexNode each : given) {
      names.add("r" + names.size());
      types.add(context.types.createTypeWithNullability(each.getType(), true));
    }
    Scope rows = new Scope(scope.parent, "RETURNING");
    rows.rowType = context.types.createStructType(types, names);
    for (int i = 0; i < scope.fields.size(); i++) {
      Scope.Field field = scope.fields.get(i);
      RexNode column = context.rex.makeInputRef(types.get(i), i);
      rows.fields.add(
          new Scope.Field(field.alias(), field.schema(), field.name(), column, field.merged())
              .of(field.origin()));
    }
    if (scope.mergeAction != null) {
      rows.mergeAction = context.rex.makeInputRef(types.getLast(), types.size() - 1);
    }
    return rows;
  }

  private static RexNode direct(RexNode item, List<RexNode> given) {
    return item.accept(
        new RexShuttle() {
          @Override
          public RexNode visitInputRef(RexInputRef reference) {
            return given.get(reference.getIndex());
          }
        });
  }
}

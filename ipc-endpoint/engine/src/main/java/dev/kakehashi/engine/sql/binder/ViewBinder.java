package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Needs;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.parser.ParsedStatement;
import dev.kakehashi.engine.sql.parser.StatementParser;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.BoundQuery;
import dev.kakehashi.engine.sql.typing.BoundQuery.Expectation;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexNode;

/// Binds the queries of views. A view is its text, bound anew wherever it is named, with the columns that it had when it was made.
public final class ViewBinder {
  private final QueryBinder queries;

  ViewBinder(QueryBinder queries) {
    this.queries = queries;
  }

  /// The form of a new view.
  ///
  /// @param names of the columns; may be shorter than their number
  /// @param named gets what the query names
  /// @throws EngineException for whatever PostgreSQL would refuse
  public static View define(
      String schema,
      String name,
      long viewId,
      String text,
      List<String> names,
      CatalogSnapshot catalog,
      Consumer<Needs> named) {
    BindContext context = new BindContext(catalog, table -> 0, new int[0]);
    BoundQuery query;
    try {
      ParsedStatement parsed = StatementParser.parse(text, Lexer.tokenize(text), 0);
      query = new ViewBinder(new QueryBinder(context)).query(parsed);
    } finally {
      named.accept(context.needs());
    }
    if (context.parameterCount() > 0) {
      throw new EngineException(
          ErrorCode.UNDEFINED_PARAMETER, "there is no parameter $1 in a view");
    }
    if (names.size() > query.names().size()) {
      throw new EngineException(
          ErrorCode.SYNTAX_ERROR, "CREATE VIEW specifies more column names than columns");
    }
    List<Column> columns = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    List<SqlType> types = query.types();
    for (int i = 0; i < types.size(); i++) {
      String column = i < names.size() ? names.get(i) : query.names().get(i);
      if (!seen.add(column)) {
        throw new EngineException(
            ErrorCode.DUPLICATE_COLUMN, "column \"" + column + "\" specified more than once");
      }
      columns.add(new Column(column, types.get(i), false, null));
    }
    return new View(
        schema,
        name,
        viewId,
        text,
        List.copyOf(query.names()),
        List.copyOf(columns),
        null,
        Rights.INITIAL);
  }

  /// @throws EngineException if the view cannot be read with this catalogue, or its columns would have other types
  public static void check(View view, CatalogSnapshot catalog) {
    new ViewBinder(new QueryBinder(new BindContext(catalog, table -> 0, new int[0]))).bind(view);
  }

  /// Numbers of what the view reads, directly or through other views.
  ///
  /// @throws EngineException if the view cannot be read with this catalogue
  public static Set<Long> sources(View view, CatalogSnapshot catalog) {
    BindContext context = new BindContext(catalog, table -> 0, new int[0]);
    new ViewBinder(new QueryBinder(context)).bind(view);
    Set<Long> used = new HashSet<>();
    for (long id : context.usedTables()) {
      used.add(id);
    }
    return used;
  }

  /// The rows of a view, with its columns.
  BoundQuery bind(View view) {
    queries.context.objects.add(view.viewId());
    BoundQuery query = query(view.text());
    List<RexNode> values = new ArrayList<>();
    List<String> names = new ArrayList<>();
    int from = 0;
    for (int i = 0; i < view.columns().size(); i++) {
      Column column = view.columns().get(i);
      int at = find(query.names(), view.sources().get(i), from);
      RexNode value = at < 0 ? null : queries.context.rex.makeInputRef(query.rel(), at);
      if (value == null || !PgType.of(value).equals(column.type())) {
        throw new EngineException(
            ErrorCode.FEATURE_NOT_SUPPORTED,
            "column \"%s\" of view \"%s\" has changed".formatted(column.name(), view.name()));
      }
      values.add(value);
      names.add(column.name());
      from = at + 1;
    }
    RelNode rel = queries.project(query.rel(), values, names, Set.of());
    return new BoundQuery(rel, names);
  }

  /// Columns keep their order, so each is looked for behind the one before.
  private static int find(List<String> names, String wanted, int from) {
    for (int i = from; i < names.size(); i++) {
      if (names.get(i).equals(wanted)) {
        return i;
      }
    }
    return -1;
  }

  private BoundQuery query(String text) {
    ParsedStatement parsed = StatementParser.parse(text, Lexer.tokenize(text), 0);
    return queries.context.withinStored(() -> query(parsed));
  }

  private BoundQuery query(ParsedStatement statement) {
    WithBinder withs = new WithBinder(queries, ViewBinder::refuseChange);
    Scope scope = null;
    ParsedStatement body = statement;
    while (body instanceof ParsedStatement.With with) {
      scope = withs.bind(with, scope);
      body = with.body();
    }
    if (!(body instanceof ParsedStatement.Query query)) {
      throw new EngineException(
          ErrorCode.SYNTAX_ERROR, "a view cannot be made of a statement that changes rows");
    }
    Scope parent = scope;
    return PathColumns.asText(
        withColumns(
            queries.context.within(
                query.text(),
                () -> queries.bind(withs.parse(query.text()), parent, Expectation.NONE))),
        queries);
  }

  private static BoundQuery withColumns(BoundQuery query) {
    if (query.names().isEmpty()) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED, "a relation without columns is not supported");
    }
    return query;
  }

  private static Scope.CommonChange refuseChange(
      ParsedStatement.CommonTable table, boolean recursive, Scope scope) {
    throw new EngineException(
        ErrorCode.FEATURE_NOT_SUPPORTED,
        "views must not contain data-modifying statements in WITH");
  }
}

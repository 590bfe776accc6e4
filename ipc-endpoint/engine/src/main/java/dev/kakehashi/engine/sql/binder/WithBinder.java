package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.sql.parser.ParsedStatement;
import dev.kakehashi.engine.sql.spelling.CalciteParser;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.CommonTables;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// Binds the queries of a statement's WITH.
public final class WithBinder {
  /// Takes statements of WITH that change rows.
  public interface Changes {
    /// @param recursive whether the statement may name itself
    /// @param scope with the queries before it
    Scope.CommonChange bind(ParsedStatement.CommonTable table, boolean recursive, Scope scope);
  }

  private final QueryBinder queries;
  private final BindContext context;
  private final Changes changes;
  private final IdentityHashMap<Source, SqlNode> parsed = new IdentityHashMap<>();

  public WithBinder(QueryBinder queries, Changes changes) {
    this.queries = queries;
    this.context = queries.context;
    this.changes = changes;
  }

  /// A scope with the queries of WITH.
  public Scope bind(ParsedStatement.With with, @Nullable Scope parent) {
    Scope scope = new Scope(parent);
    List<ParsedStatement.CommonTable> later = new ArrayList<>(with.tables());
    for (ParsedStatement.CommonTable table : with.tables()) {
      later.removeFirst();
      if (!(table.query() instanceof ParsedStatement.Query query)) {
        scope.commonTables.add(changes.bind(table, with.recursive(), scope));
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
  public SqlNode parse(Source text) {
    return parsed.computeIfAbsent(text, CalciteParser::parse);
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
}

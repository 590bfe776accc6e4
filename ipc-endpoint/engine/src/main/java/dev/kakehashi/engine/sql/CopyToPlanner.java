package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.bulk.BulkAccess;
import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.bulk.DumpRequest;
import dev.kakehashi.engine.api.bulk.DumpRequest.DumpControl;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.parser.CopyStatement;
import dev.kakehashi.engine.sql.parser.ParsedStatement;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.sql.table.TableExpressions;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.text.Quoting;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Plans COPY TO: the query that gives the rows, in the order that the files ask for.
final class CopyToPlanner {
  /// Pattern of an item of `order_by`: the name of its column, then what may follow it.
  private static final Pattern DIRECTION =
      Pattern.compile(
          "(.*?)((?:\\s+(?:asc|desc))?(?:\\s+nulls\\s+(?:first|last))?)",
          Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  private final CatalogSnapshot catalog;
  private final BulkAccess access;
  private final Function<String, Prepared> texts;
  private final Function<ParsedStatement, Prepared.Planned> queries;

  /// @param texts plans a text that was made here
  /// @param queries plans what the statement itself says
  CopyToPlanner(
      CatalogSnapshot catalog,
      BulkAccess access,
      Function<String, Prepared> texts,
      Function<ParsedStatement, Prepared.Planned> queries) {
    this.catalog = catalog;
    this.access = access;
    this.texts = texts;
    this.queries = queries;
  }

  Prepared.Dump plan(CopyStatement.TableTo copy) {
    DumpRequest request = access.dump(copy.request());
    QualifiedName name = copy.table();
    String schema = Objects.requireNonNullElse(name.schema(), CatalogSnapshot.DEFAULT_SCHEMA);
    Table table = catalog.table(schema, name.name());
    if (table == null) {
      refuseOthers(schema, name);
    }
    String shown =
        (name.schema() == null ? "" : Quoting.identifier(schema) + ".")
            + Quoting.identifier(name.name());
    List<Column> columns = table == null ? List.of() : columns(table, copy.columns());
    String list =
        columns.stream()
            .map(column -> Quoting.identifier(column.name()))
            .collect(Collectors.joining(", "));
    // Always in quotes: some words that need none as a column of a table are none without them in a
    // query.
    String selected =
        columns.stream()
            .map(column -> TableExpressions.quoted(column.name()))
            .collect(Collectors.joining(", "));
    String text = "SELECT " + (table == null ? "*" : selected) + " FROM " + shown;
    Prepared.Planned planned;
    try {
      planned = (Prepared.Planned) texts.apply(text + order(request, columns, copy.request()));
    } catch (EngineException refused) {
      throw refused.position() > 0 && !isOfOption(refused, copy.request())
          ? refused.withPosition(name.position())
          : refused;
    }
    // A name without a schema may be that of a table of the system.
    List<LoadColumn> loadColumns =
        table == null
            ? loadColumns(planned.columns())
            : columns.stream()
                .map(column -> column(column.name(), column.type(), !column.notNull()))
                .toList();
    String described = copy.columns().isEmpty() ? shown : shown + " (" + list + ")";
    return new Prepared.Dump(
        planned, request, loadColumns, described, copy.request().location().isEmpty());
  }

  private static boolean isOfOption(EngineException refused, CopyRequest request) {
    return request.options().stream().anyMatch(each -> each.position() == refused.position());
  }

  private void refuseOthers(String schema, QualifiedName name) {
    boolean view = catalog.view(schema, name.name()) != null;
    if (view || catalog.sequence(schema, name.name()) != null) {
      EngineException refused =
          new EngineException(
                  ErrorCode.WRONG_OBJECT_TYPE,
                  "cannot copy from %s \"%s\"".formatted(view ? "view" : "sequence", name.name()))
              .withPosition(name.position());
      throw view ? refused.withHint("Try the COPY (SELECT ...) TO variant.") : refused;
    }
  }

  /// Columns of the list; without one all that are not generated.
  private static List<Column> columns(Table table, List<QualifiedName> listed) {
    if (listed.isEmpty()) {
      return table.columns().stream()
          .filter(column -> column.generation() == null && !column.hidden())
          .toList();
    }
    List<Column> columns = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (QualifiedName each : listed) {
      int position = table.columnIndex(each.name());
      if (position < 0) {
        throw new EngineException(
                ErrorCode.UNDEFINED_COLUMN,
                "column \"%s\" of relation \"%s\" does not exist"
                    .formatted(each.name(), table.name()))
            .withPosition(each.position());
      }
      Column column = table.columns().get(position);
      if (column.generation() != null) {
        throw new EngineException(
                ErrorCode.INVALID_COLUMN_REFERENCE,
                "column \"" + each.name() + "\" is a generated column")
            .withDetail("Generated columns cannot be used in COPY.")
            .withPosition(each.position());
      }
      if (!names.add(each.name())) {
        throw new EngineException(
                ErrorCode.DUPLICATE_COLUMN,
                "column \"" + each.name() + "\" specified more than once")
            .withPosition(each.position());
      }
      columns.add(column);
    }
    return columns;
  }

  Prepared.Dump plan(CopyStatement.QueryTo copy) {
    DumpRequest request = access.dump(copy.request());
    Prepared.Planned planned = queries.apply(copy.query());
    if (planned.changesRows(false)) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "COPY of a query that changes or locks rows is not supported");
    }
    List<Statement.Column> columns = planned.columns();
    if (request.control().isOrdered()) {
      List<Column> named =
          columns.stream()
              .map(column ->
                  new Column(
                      column.name(),
                      new SqlType(column.typeOid(), column.typeModifier()),
                      false,
                      null))
              .toList();
      String order = order(request, named, copy.request());
      planned =
          (Prepared.Planned)
              texts.apply("SELECT * FROM (" + copy.text() + "\n) AS \"query of copy\"" + order);
    }
    return new Prepared.Dump(
        planned, request, loadColumns(columns), copy.text(), copy.request().location().isEmpty());
  }

  private static List<LoadColumn> loadColumns(List<Statement.Column> columns) {
    return columns.stream()
        .map(column ->
            column(column.name(), new SqlType(column.typeOid(), column.typeModifier()), true))
        .toList();
  }

  private static LoadColumn column(String name, SqlType type, boolean nullable) {
    return new LoadColumn(
        name, type.oid(), type.typeModifier(), Types.format(type), nullable, List.of());
  }

  // ---- order ----

  /// ORDER BY as the files need it, or nothing.
  private static String order(DumpRequest request, List<Column> columns, CopyRequest said) {
    DumpControl control = request.control();
    if (!control.isOrdered()) {
      return "";
    }
    List<String> keys = new ArrayList<>();
    for (String name : control.partitionBy()) {
      keys.add(key(name, "", columns, position(said, "partition_by")));
    }
    for (String item : control.orderBy()) {
      int position = position(said, "order_by");
      Matcher matcher = DIRECTION.matcher(item);
      boolean whole = columns.stream().anyMatch(column -> column.name().equals(item));
      keys.add(
          !whole && matcher.matches()
              ? key(matcher.group(1), matcher.group(2), columns, position)
              : key(item, "", columns, position));
    }
    return " ORDER BY " + String.join(", ", keys);
  }

  private static String key(String name, String direction, List<Column> columns, int position) {
    long found = columns.stream().filter(column -> column.name().equals(name)).count();
    if (found != 1) {
      throw new EngineException(
              found == 0 ? ErrorCode.UNDEFINED_COLUMN : ErrorCode.AMBIGUOUS_COLUMN,
              found == 0
                  ? "column \"" + name + "\" does not exist"
                  : "column reference \"" + name + "\" is ambiguous")
          .withPosition(position);
    }
    return TableExpressions.quoted(name) + direction;
  }

  private static int position(CopyRequest request, String option) {
    return request.options().stream()
        .filter(each -> each.name().equals(option))
        .mapToInt(CopyRequest.Option::position)
        .findFirst()
        .orElse(0);
  }
}

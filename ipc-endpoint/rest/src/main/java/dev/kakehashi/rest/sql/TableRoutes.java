package dev.kakehashi.rest.sql;

import dev.kakehashi.rest.header.TransactionHeader;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.Route;
import java.util.List;

/// `/v1/tables`: what there is, as the user may see it. Each is a query of the catalogue, in every format of rows. Thread-safe.
public final class TableRoutes {
  private static final String TABLES =
      """
      SELECT table_schema, table_name, table_type FROM information_schema.tables
      WHERE table_schema NOT IN ('kakehashi_catalog', 'information_schema')
        AND has_any_column_privilege(quote_ident(table_schema) || '.' || quote_ident(table_name),
          'SELECT, INSERT, UPDATE, REFERENCES')
      ORDER BY table_schema, table_name\
      """;

  private static final String COLUMNS =
      """
      SELECT column_name, data_type, is_nullable = 'YES' AS is_nullable, column_default, is_generated = 'ALWAYS' AS is_generated,
        (SELECT c.key_position FROM kakehashi_catalog.columns c WHERE c.table_schema = i.table_schema
          AND c.table_name = i.table_name AND c.column_name = i.column_name) AS key_position
      FROM information_schema.columns i WHERE table_schema = $1 AND table_name = $2
        AND has_column_privilege(quote_ident(table_schema) || '.' || quote_ident(table_name), column_name,
          'SELECT, INSERT, UPDATE, REFERENCES')
      ORDER BY ordinal_position\
      """;

  private final SqlService service;

  public TableRoutes(SqlService service) {
    this.service = service;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/tables").handleDirectly((exchange, body) -> list(exchange)),
        Route.get("/v1/tables/{table}").handleDirectly((exchange, body) -> describe(exchange)));
  }

  private void list(Exchange exchange) {
    SqlCall.start(service, exchange, SqlRequest.of(TABLES), TransactionHeader.NONE);
  }

  private void describe(Exchange exchange) {
    TableName name = TableName.parse(exchange.request().variable("table"));
    SqlCall.start(
        service,
        exchange,
        SqlRequest.of(COLUMNS, name.schema(), name.table()).requireRows(name.missing()),
        TransactionHeader.NONE);
  }
}

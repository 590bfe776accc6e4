package dev.kakehashi.engine.catalog;

import java.util.List;

/// System tables about native applications; their rows are made of the catalogue and the running engine's state.
public final class ApplicationTables {
  public static final int APPLICATIONS = -50;
  public static final int APPLICATION_VERSIONS = -51;
  public static final int FUNCTIONS = -52;
  public static final int FUNCTION_PARAMETERS = -53;
  public static final int APPLICATION_ROUTES = -54;
  public static final int APPLICATION_CALLS = -55;
  public static final int APPLICATION_ERRORS = -56;
  public static final int APPLICATION_LOG = -57;

  static final List<Table> TABLES =
      List.of(
          SystemTableForm.table(
              APPLICATIONS,
              SystemTables.CATALOG_SCHEMA,
              "applications",
              "application_schema text",
              "application_name text",
              "owner text",
              "version int4",
              "isolation text",
              "deployed_at timestamptz",
              "versions int4",
              "functions int4",
              "procedures int4",
              "routes int4",
              "handlers int4",
              "processes int4",
              "time_limit interval",
              "max_rows int8",
              "max_bytes int8",
              "max_calls int4",
              "max_waiting int4",
              "max_stack int8",
              "memory int8",
              "function_time_limit interval",
              "comment text"),
          // A row for each jar.
          SystemTableForm.table(
              APPLICATION_VERSIONS,
              SystemTables.CATALOG_SCHEMA,
              "application_versions",
              "application_schema text",
              "application_name text",
              "version int4",
              "is_current bool",
              "isolation text",
              "deployed_at timestamptz",
              "jar_name text",
              "jar_sha256 text",
              "jar_bytes int8"),
          // Functions and procedures; several of one name differ in their number.
          SystemTableForm.table(
              FUNCTIONS,
              SystemTables.CATALOG_SCHEMA,
              "functions",
              "function_schema text",
              "function_name text",
              "function_number int4",
              "application_name text",
              "kind text",
              "volatility text",
              "is_strict bool",
              "cost float8",
              "estimated_rows int8",
              "transaction text",
              "time_limit interval",
              "disabled_because text"),
          // Parameters (in) and columns of results (out).
          SystemTableForm.table(
              FUNCTION_PARAMETERS,
              SystemTables.CATALOG_SCHEMA,
              "function_parameters",
              "function_schema text",
              "function_name text",
              "function_number int4",
              "mode text",
              "ordinal_position int4",
              "parameter_name text",
              "type_oid int8",
              "data_type text",
              "is_nullable bool"),
          SystemTableForm.table(
              APPLICATION_ROUTES,
              SystemTables.CATALOG_SCHEMA,
              "application_routes",
              "application_schema text",
              "application_name text",
              "method text",
              "path text",
              "transaction text"),
          SystemTableForm.table(
              APPLICATION_CALLS,
              SystemTables.CATALOG_SCHEMA,
              "application_calls",
              "application_name text",
              "version int4",
              "member text",
              "running int4",
              "calls int8",
              "failures int8",
              "total_ms float8"),
          SystemTableForm.table(
              APPLICATION_ERRORS,
              SystemTables.CATALOG_SCHEMA,
              "application_errors",
              "failed_at timestamptz",
              "application_name text",
              "version int4",
              "member text",
              "call_id int8",
              "sqlstate text",
              "message text",
              "stack text"),
          SystemTableForm.table(
              APPLICATION_LOG,
              SystemTables.CATALOG_SCHEMA,
              "application_log",
              "logged_at timestamptz",
              "application_name text",
              "version int4",
              "call_id int8",
              "line text"));

  private ApplicationTables() {}

  static boolean isOf(long tableId) {
    return tableId <= APPLICATIONS && tableId >= APPLICATION_LOG;
  }
}

package dev.kakehashi.engine.catalog;

import java.util.List;

/// Tables of the information schema.
public final class InformationTables {
  public static final int SCHEMATA = -4;
  public static final int TABLE_NAMES = -5;
  public static final int COLUMNS = -6;
  public static final int TABLE_CONSTRAINTS = -23;
  public static final int KEY_COLUMN_USAGE = -24;
  public static final int REFERENTIAL_CONSTRAINTS = -25;

  static final List<Table> TABLES =
      List.of(
          SystemTableForm.table(
              SCHEMATA,
              SystemTables.INFORMATION_SCHEMA,
              "schemata",
              "catalog_name text",
              "schema_name text"),
          SystemTableForm.table(
              TABLE_NAMES,
              SystemTables.INFORMATION_SCHEMA,
              "tables",
              "table_catalog text",
              "table_schema text",
              "table_name text",
              "table_type text"),
          SystemTableForm.table(
              COLUMNS,
              SystemTables.INFORMATION_SCHEMA,
              "columns",
              "table_catalog text",
              "table_schema text",
              "table_name text",
              "column_name text",
              "ordinal_position int4",
              "column_default text",
              "is_nullable text",
              "data_type text",
              "is_generated text",
              "generation_expression text"),
          SystemTableForm.table(
              TABLE_CONSTRAINTS,
              SystemTables.INFORMATION_SCHEMA,
              "table_constraints",
              "constraint_catalog text",
              "constraint_schema text",
              "constraint_name text",
              "table_catalog text",
              "table_schema text",
              "table_name text",
              "constraint_type text",
              "is_deferrable text",
              "initially_deferred text",
              "enforced text",
              "nulls_distinct text"),
          SystemTableForm.table(
              KEY_COLUMN_USAGE,
              SystemTables.INFORMATION_SCHEMA,
              "key_column_usage",
              "constraint_catalog text",
              "constraint_schema text",
              "constraint_name text",
              "table_catalog text",
              "table_schema text",
              "table_name text",
              "column_name text",
              "ordinal_position int4",
              "position_in_unique_constraint int4"),
          SystemTableForm.table(
              REFERENTIAL_CONSTRAINTS,
              SystemTables.INFORMATION_SCHEMA,
              "referential_constraints",
              "constraint_catalog text",
              "constraint_schema text",
              "constraint_name text",
              "unique_constraint_catalog text",
              "unique_constraint_schema text",
              "unique_constraint_name text",
              "match_option text",
              "update_rule text",
              "delete_rule text"));

  private InformationTables() {}
}

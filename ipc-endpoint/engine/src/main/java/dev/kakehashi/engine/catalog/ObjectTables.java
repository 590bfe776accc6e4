package dev.kakehashi.engine.catalog;

import java.util.List;

/// System tables about the objects of the catalogue: tables and what belongs to them, views, sequences, roles and their rights.
public final class ObjectTables {
  public static final int TABLE_NAMES = -1;
  public static final int COLUMNS = -2;
  public static final int INDEXES = -3;
  public static final int CHECK_CONSTRAINTS = -11;
  public static final int SEQUENCES = -12;
  public static final int VIEWS = -13;
  public static final int COMMENTS = -14;
  public static final int FOREIGN_KEYS = -17;
  public static final int KEYS = -21;
  public static final int DEFINITIONS = -22;
  public static final int ROLES = -30;
  public static final int ROLE_MEMBERS = -31;
  public static final int PRIVILEGES = -32;

  static final List<Table> TABLES =
      List.of(
          SystemTableForm.table(
              ROLES,
              SystemTables.CATALOG_SCHEMA,
              "roles",
              "role_name text",
              "is_superuser bool",
              "inherits bool",
              "can_create_roles bool",
              "can_create_databases bool",
              "can_log_in bool",
              "has_password bool",
              "valid_until timestamptz",
              "comment text"),
          SystemTableForm.table(
              ROLE_MEMBERS,
              SystemTables.CATALOG_SCHEMA,
              "role_members",
              "role_name text",
              "member_name text",
              "grantor text",
              "admin_option bool"),
          SystemTableForm.table(
              PRIVILEGES,
              SystemTables.CATALOG_SCHEMA,
              "privileges",
              "object_type text",
              "object_schema text",
              "object_name text",
              "column_name text",
              "owner text",
              "grantor text",
              "grantee text",
              "privilege text",
              "is_grantable bool"),
          SystemTableForm.table(
              TABLE_NAMES,
              SystemTables.CATALOG_SCHEMA,
              "tables",
              "table_schema text",
              "table_name text",
              "row_count int8"),
          SystemTableForm.table(
              COLUMNS,
              SystemTables.CATALOG_SCHEMA,
              "columns",
              "table_schema text",
              "table_name text",
              "column_name text",
              "ordinal_position int4",
              "type_oid int8",
              "type_modifier int4",
              "not_null bool",
              "column_default text",
              "key_position int4",
              "generated text",
              "generation_expression text"),
          SystemTableForm.table(
              INDEXES,
              SystemTables.CATALOG_SCHEMA,
              "indexes",
              "table_schema text",
              "table_name text",
              "index_name text",
              "is_unique bool",
              "is_primary bool",
              "column_name text",
              "key_position int4",
              "is_descending bool",
              "is_partial bool",
              "nulls_first bool",
              "nulls_not_distinct bool"),
          SystemTableForm.table(
              CHECK_CONSTRAINTS,
              SystemTables.CATALOG_SCHEMA,
              "check_constraints",
              "table_schema text",
              "table_name text",
              "constraint_name text",
              "check_clause text"),
          SystemTableForm.table(
              SEQUENCES,
              SystemTables.CATALOG_SCHEMA,
              "sequences",
              "sequence_schema text",
              "sequence_name text",
              "type_oid int8",
              "start_value int8",
              "min_value int8",
              "max_value int8",
              "increment_by int8",
              "cycles bool",
              "last_value int8"),
          SystemTableForm.table(
              VIEWS,
              SystemTables.CATALOG_SCHEMA,
              "views",
              "table_schema text",
              "table_name text",
              "view_definition text"),
          SystemTableForm.table(
              COMMENTS,
              SystemTables.CATALOG_SCHEMA,
              "comments",
              "object_type text",
              "object_schema text",
              "object_name text",
              "column_name text",
              "comment text",
              "constraint_name text"),
          SystemTableForm.table(
              FOREIGN_KEYS,
              SystemTables.CATALOG_SCHEMA,
              "foreign_keys",
              "table_schema text",
              "table_name text",
              "constraint_name text",
              "column_name text",
              "key_position int4",
              "referenced_schema text",
              "referenced_table text",
              "referenced_column text",
              "update_rule text",
              "delete_rule text",
              "match_option text",
              "is_deferrable bool",
              "initially_deferred bool",
              "is_validated bool"),
          SystemTableForm.table(
              KEYS,
              SystemTables.CATALOG_SCHEMA,
              "keys",
              "table_schema text",
              "table_name text",
              "constraint_name text",
              "constraint_type text",
              "column_name text",
              "ordinal_position int4",
              "is_deferrable bool",
              "initially_deferred bool",
              "referenced_schema text",
              "referenced_table text",
              "referenced_column text",
              "referenced_constraint text",
              "match_option text",
              "update_rule text",
              "delete_rule text",
              "nulls_distinct bool"),
          SystemTableForm.table(
              DEFINITIONS,
              SystemTables.CATALOG_SCHEMA,
              "definitions",
              "ordinal_position int8",
              "object_type text",
              "object_schema text",
              "object_name text",
              "definition text"));

  private ObjectTables() {}
}

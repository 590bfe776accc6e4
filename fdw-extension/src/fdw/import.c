/*
 * IMPORT FOREIGN SCHEMA: definitions of foreign tables from the engine's catalogue.
 */
#include "kakehashi_fdw.h"

#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "foreign/fdwapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

typedef struct Import
{
	ImportForeignSchemaStmt *stmt;
	const char *server_name;
	bool collate;
	bool defaults;
	bool not_null;
	StringInfoData definition; /* of the table whose columns are arriving */
	char *table;               /* its name; NULL: none yet */
	List *result;
} Import;

static const char *const import_options[] = {"import_collate", "import_default", "import_not_null", NULL};

static void
take_options(Import *import, List *options)
{
	ListCell *cell;

	foreach (cell, options)
	{
		DefElem *def = (DefElem *) lfirst(cell);
		const char *closest;

		if (strcmp(def->defname, "import_default") == 0)
			import->defaults = defGetBoolean(def);
		else if (strcmp(def->defname, "import_collate") == 0)
			import->collate = defGetBoolean(def);
		else if (strcmp(def->defname, "import_not_null") == 0)
			import->not_null = defGetBoolean(def);
		else
		{
			closest = kakehashi_closest(def->defname, import_options);
			ereport(
				ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME), errmsg("invalid option \"%s\"", def->defname),
			     closest != NULL
			         ? errhint("Perhaps you meant the option \"%s\".", closest)
			         : errhint("Valid options in this context are: import_collate, import_default, import_not_null")));
		}
	}
}

static void
finish_table(Import *import)
{
	if (import->table == NULL)
		return;
	appendStringInfo(&import->definition, "\n) SERVER %s\nOPTIONS (schema_name %s, table_name %s)",
	                 quote_identifier(import->server_name), quote_literal_cstr(import->stmt->remote_schema),
	                 quote_literal_cstr(import->table));
	import->result = lappend(import->result, pstrdup(import->definition.data));
	import->table = NULL;
}

static void
begin_table(Import *import, char *table)
{
	import->table = table;
	resetStringInfo(&import->definition);
	/* IMPORT puts it into the local schema by itself. */
	appendStringInfo(&import->definition, "CREATE FOREIGN TABLE %s (", quote_identifier(table));
}

/* table_name, column_name, type_oid, type_modifier, not_null, column_default, key_position */
static void
take_column(const kh_batch *batch, uint32 row, void *arg)
{
	Import *import = (Import *) arg;
	char *table = kakehashi_batch_text(batch, row, 0);
	char *column = kakehashi_batch_text(batch, row, 1);
	Oid type = (Oid) kh_batch_word(batch, row, 2);
	int32 typmod = kh_batch_is_null(batch, row, 3) ? -1 : (int32) kh_batch_word(batch, row, 3);
	char *value = kakehashi_batch_text(batch, row, 5);

	if (table == NULL || column == NULL)
		elog(ERROR, "the engine's catalogue has a column without a name");
	if (!IsImportableForeignTable(table, import->stmt))
		return;
	if (import->table == NULL || strcmp(import->table, table) != 0)
	{
		finish_table(import);
		begin_table(import, table);
	}
	else
		appendStringInfoChar(&import->definition, ',');
	if (!OidIsValid(kakehashi_bridge_type(type, NULL)))
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
		                errmsg("column \"%s\" of remote table \"%s\" has a type that this version does not know: %u",
		                       column, table, type),
		                errhint("Use EXCEPT to leave the table out, or update kakehashi_fdw.")));
	/* column_name follows if the column is renamed here, so it is said now. */
	appendStringInfo(&import->definition, "\n  %s %s OPTIONS (column_name %s%s)", quote_identifier(column),
	                 format_type_with_typemod(type, typmod), quote_literal_cstr(column),
	                 kh_batch_is_null(batch, row, 6) ? "" : ", key 'true'");
	/* The engine compares bytes; said here, the order of text can be left to it. */
	if (import->collate && OidIsValid(get_typcollation(type)))
		appendStringInfoString(&import->definition, " COLLATE pg_catalog.\"C\"");
	if (import->defaults && value != NULL)
		appendStringInfo(&import->definition, " DEFAULT %s", value);
	if (import->not_null && !kh_batch_is_null(batch, row, 4) && kh_batch_word(batch, row, 4) != 0)
		appendStringInfoString(&import->definition, " NOT NULL");
}

static void
count_row(const kh_batch *batch, uint32 row, void *arg)
{
	(*(int *) arg)++;
}

/* A schema without tables is nothing special; one that does not exist is a mistake. */
static void
check_schema(KakehashiSession *session, const char *schema)
{
	static const Oid types[] = {TEXTOID};
	int count = 0;

	kakehashi_catalog_query(
		session,
		"SELECT CAST(\"schema_name\" AS text) FROM \"information_schema\".\"schemata\" WHERE \"schema_name\" = $1", 1,
		&schema, 1, types, count_row, &count);
	if (count == 0)
		ereport(ERROR, (errcode(ERRCODE_FDW_SCHEMA_NOT_FOUND),
		                errmsg("schema \"%s\" is not present on server \"%s\"", schema, session->server_name)));
}

List *
kakehashi_import_schema(ImportForeignSchemaStmt *stmt, Oid server_id)
{
	ForeignServer *server = GetForeignServer(server_id);
	KakehashiSession *session;
	Import import = {.stmt = stmt, .server_name = server->servername, .collate = true, .not_null = true};
	const char *schema = stmt->remote_schema;
	static const Oid types[] = {TEXTOID, TEXTOID, INT8OID, INT4OID, BOOLOID, TEXTOID, INT4OID};

	take_options(&import, stmt->options);
	session = kakehashi_session_get(GetUserMapping(GetUserId(), server_id));
	initStringInfo(&import.definition);
	kakehashi_catalog_query(session,
	                        "SELECT \"table_name\", \"column_name\", \"type_oid\", \"type_modifier\", \"not_null\","
	                        " \"column_default\", \"key_position\" FROM \"kakehashi_catalog\".\"columns\""
	                        " WHERE \"table_schema\" = $1 ORDER BY \"table_name\", \"ordinal_position\"",
	                        1, &schema, lengthof(types), types, take_column, &import);
	finish_table(&import);
	if (import.result == NIL)
		check_schema(session, schema);
	return import.result;
}

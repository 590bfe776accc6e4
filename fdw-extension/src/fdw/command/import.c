/*
 * IMPORT FOREIGN SCHEMA: definitions of foreign tables from the engine's catalogue.
 */
#include "fdw/command/command.h"
#include "fdw/row/row.h"
#include "fdw/transaction/transaction.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "foreign/fdwapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"

typedef enum Case
{
	CASE_KEEP,
	CASE_LOWER,
	CASE_SMART
} Case;

/* A table of the engine, as CREATE FOREIGN TABLE will have it. */
typedef struct ImportedTable
{
	char *remote;
	char *local;
	bool is_view;
	StringInfoData columns;
	List *names;    /* of its columns, local */
	List *comments; /* of ImportedComment */
} ImportedTable;

typedef struct ImportedComment
{
	char *column; /* local name; NULL: the table's */
	char *text;
} ImportedComment;

typedef struct Import
{
	const kh_engine *engine;
	ImportForeignSchemaStmt *stmt;
	const char *server_name;
	bool collate;
	bool defaults;
	bool not_null;
	bool generated;
	bool comments;
	Case fold;
	List *tables;
} Import;

static const char *const import_options[] = {
	"import_case", "import_collate", "import_comments", "import_default", "import_generated", "import_not_null", NULL};

static Case
case_option(DefElem *def)
{
	static const char *const names[] = {"keep", "lower", "smart", NULL};
	char *value = defGetString(def);
	const char *closest;

	for (int i = 0; names[i] != NULL; i++)
	{
		if (pg_strcasecmp(value, names[i]) == 0)
			return (Case) i;
	}
	closest = kakehashi_closest(value, names);
	ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
	                errmsg("invalid value for option \"%s\": \"%s\"", def->defname, value),
	                closest != NULL ? errhint("Perhaps you meant \"%s\".", closest)
	                                : errhint("Valid values are: keep, lower, smart")));
	return CASE_KEEP;
}

static void
report_unknown_option(const char *name)
{
	const char *closest = kakehashi_closest(name, import_options);

	ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_OPTION_NAME), errmsg("invalid option \"%s\"", name),
	                closest != NULL
	                    ? errhint("Perhaps you meant the option \"%s\".", closest)
	                    : errhint("Valid options in this context are: import_case, import_collate, import_comments, "
	                              "import_default, import_generated, import_not_null")));
}

static void
take_options(Import *import, List *options)
{
	ListCell *cell;

	foreach (cell, options)
	{
		DefElem *def = (DefElem *) lfirst(cell);

		if (strcmp(def->defname, "import_default") == 0)
			import->defaults = defGetBoolean(def);
		else if (strcmp(def->defname, "import_collate") == 0)
			import->collate = defGetBoolean(def);
		else if (strcmp(def->defname, "import_not_null") == 0)
			import->not_null = defGetBoolean(def);
		else if (strcmp(def->defname, "import_generated") == 0)
			import->generated = defGetBoolean(def);
		else if (strcmp(def->defname, "import_comments") == 0)
			import->comments = defGetBoolean(def);
		else if (strcmp(def->defname, "import_case") == 0)
			import->fold = case_option(def);
		else
			report_unknown_option(def->defname);
	}
}

static char *
local_name(const Import *import, char *remote)
{
	if (import->fold == CASE_KEEP)
		return remote;
	if (import->fold == CASE_SMART && strcmp(remote, str_toupper(remote, strlen(remote), DEFAULT_COLLATION_OID)) != 0)
		return remote;
	return str_tolower(remote, strlen(remote), DEFAULT_COLLATION_OID);
}

/* True if a default takes values of a sequence: the engine has it, and PostgreSQL has not. */
static bool
uses_sequence(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, FuncCall))
	{
		const char *name = strVal(llast(((FuncCall *) node)->funcname));

		if (strcmp(name, "nextval") == 0 || strcmp(name, "currval") == 0 || strcmp(name, "lastval") == 0 ||
		    strcmp(name, "setval") == 0)
			return true;
	}
	return raw_expression_tree_walker(node, uses_sequence, context);
}

static bool
is_local_default(char *value)
{
	RawStmt *parsed = linitial_node(RawStmt, raw_parser(value, RAW_PARSE_PLPGSQL_EXPR));

	return !uses_sequence(parsed->stmt, NULL);
}

static void
report_same_name(const char *kind, const char *name, const char *in)
{
	ereport(ERROR, (errcode(strcmp(kind, "tables") == 0 ? ERRCODE_DUPLICATE_TABLE : ERRCODE_DUPLICATE_COLUMN),
	                errmsg("two %s of \"%s\" would be called \"%s\" here", kind, in, name),
	                errhint("Import them with the option import_case 'keep'.")));
}

static ImportedTable *
find_table(const Import *import, const char *remote)
{
	ListCell *cell;

	foreach (cell, import->tables)
	{
		ImportedTable *table = (ImportedTable *) lfirst(cell);

		if (strcmp(table->remote, remote) == 0)
			return table;
	}
	return NULL;
}

static ImportedTable *
add_table(Import *import, char *remote, char *local, bool is_view)
{
	ImportedTable *table = (ImportedTable *) palloc0(sizeof(ImportedTable));
	ListCell *cell;

	foreach (cell, import->tables)
	{
		if (strcmp(((ImportedTable *) lfirst(cell))->local, local) == 0)
			report_same_name("tables", local, import->stmt->remote_schema);
	}
	table->remote = remote;
	table->local = local;
	table->is_view = is_view;
	initStringInfo(&table->columns);
	import->tables = lappend(import->tables, table);
	return table;
}

static void
add_column_name(ImportedTable *table, char *name)
{
	ListCell *cell;

	foreach (cell, table->names)
	{
		if (strcmp((char *) lfirst(cell), name) == 0)
			report_same_name("columns", name, table->remote);
	}
	if (table->names != NIL)
		appendStringInfoChar(&table->columns, ',');
	table->names = lappend(table->names, name);
}

/* table_name, column_name, type_oid, type_modifier, not_null, column_default, key_position, generated, of a view */
static void
take_column(const kh_batch *batch, uint32 row, void *arg)
{
	Import *import = (Import *) arg;
	char *remote = kakehashi_batch_text(batch, row, 0);
	char *column = kakehashi_batch_text(batch, row, 1);
	Oid type = (Oid) kh_batch_word(batch, row, 2);
	int32 typmod = kh_batch_is_null(batch, row, 3) ? -1 : (int32) kh_batch_word(batch, row, 3);
	bool not_null = !kh_batch_is_null(batch, row, 4) && kh_batch_word(batch, row, 4) != 0;
	char *value = kakehashi_batch_text(batch, row, 5);
	bool generated = !kh_batch_is_null(batch, row, 7);
	ImportedTable *table;
	char *local;

	if (remote == NULL || column == NULL)
		elog(ERROR, "the engine's catalogue has a column without a name");
	local = local_name(import, remote);
	if (!IsImportableForeignTable(local, import->stmt))
		return;
	/* Columns arrive table by table. */
	table = import->tables == NIL ? NULL : (ImportedTable *) llast(import->tables);
	if (table == NULL || strcmp(table->remote, remote) != 0)
		table = add_table(import, remote, local, !kh_batch_is_null(batch, row, 8));
	local = local_name(import, column);
	add_column_name(table, local);
	if (!OidIsValid(kakehashi_bridge_type(type, NULL)))
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
		                errmsg("column \"%s\" of remote table \"%s\" has a type that this version does not know: %u",
		                       column, remote, type),
		                errhint("Use EXCEPT to leave the table out, or update kakehashi_fdw.")));
	if (!kakehashi_keeps_type(import->engine, type))
		ereport(ERROR,
		        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
		         errmsg("engine \"%s\" does not keep values of type %s", import->engine->name, format_type_be(type)),
		         errdetail("Column \"%s\" of remote table \"%s\" has this type.", column, remote),
		         errhint("Use EXCEPT to leave the table out.")));
	/* column_name follows if the column is renamed here, so it is said now. */
	appendStringInfo(&table->columns, "\n  %s %s OPTIONS (column_name %s%s%s)", quote_identifier(local),
	                 format_type_with_typemod(type, typmod), quote_literal_cstr(column),
	                 kh_batch_is_null(batch, row, 6) ? "" : ", key 'true'",
	                 generated && import->generated ? ", generated 'true'" : "");
	/* The engine compares bytes; said here, the order of text can be left to it. */
	if (import->collate && OidIsValid(get_typcollation(type)))
		appendStringInfoString(&table->columns, " COLLATE pg_catalog.\"C\"");
	if (import->defaults && value != NULL && !generated && is_local_default(value))
		appendStringInfo(&table->columns, " DEFAULT %s", value);
	if (import->not_null && not_null)
		appendStringInfoString(&table->columns, " NOT NULL");
}

/* object_name, column_name, comment */
static void
take_comment(const kh_batch *batch, uint32 row, void *arg)
{
	Import *import = (Import *) arg;
	char *remote = kakehashi_batch_text(batch, row, 0);
	char *column = kakehashi_batch_text(batch, row, 1);
	ImportedTable *table = remote == NULL ? NULL : find_table(import, remote);
	ImportedComment *comment;

	if (table == NULL)
		return;
	comment = (ImportedComment *) palloc(sizeof(ImportedComment));
	comment->column = column == NULL ? NULL : local_name(import, column);
	comment->text = kakehashi_batch_text(batch, row, 2);
	table->comments = lappend(table->comments, comment);
}

static char *
table_definition(const Import *import, const ImportedTable *table, const char *local_schema)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE FOREIGN TABLE %s (%s\n) SERVER %s\nOPTIONS (schema_name %s, table_name %s%s)",
	                 quote_qualified_identifier(local_schema, table->local), table->columns.data,
	                 quote_identifier(import->server_name), quote_literal_cstr(import->stmt->remote_schema),
	                 quote_literal_cstr(table->remote), table->is_view ? ", updatable 'false'" : "");
	return sql.data;
}

static void
run(const char *sql)
{
	int status = SPI_execute(sql, false, 0);

	if (status != SPI_OK_UTILITY)
		elog(ERROR, "could not execute \"%s\": %s", sql, SPI_result_code_string(status));
}

/*
 * IMPORT FOREIGN SCHEMA takes nothing but CREATE FOREIGN TABLE from a wrapper. A table with comments is therefore made here, by
 * the same statement, and is not in the list that IMPORT goes on with.
 */
static void
make_with_comments(const Import *import, const ImportedTable *table)
{
	const char *schema = import->stmt->local_schema;
	char *name = pstrdup(quote_qualified_identifier(schema, table->local));
	ListCell *cell;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	run(table_definition(import, table, schema));
	foreach (cell, table->comments)
	{
		ImportedComment *comment = (ImportedComment *) lfirst(cell);
		char *text = quote_literal_cstr(comment->text);

		run(comment->column == NULL
		        ? psprintf("COMMENT ON FOREIGN TABLE %s IS %s", name, text)
		        : psprintf("COMMENT ON COLUMN %s.%s IS %s", name, quote_identifier(comment->column), text));
	}
	SPI_finish();
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

static List *
make_tables(const Import *import)
{
	List *result = NIL;
	ListCell *cell;

	foreach (cell, import->tables)
	{
		ImportedTable *table = (ImportedTable *) lfirst(cell);

		if (table->comments != NIL)
			make_with_comments(import, table);
		else
			/* IMPORT puts it into the local schema by itself. */
			result = lappend(result, table_definition(import, table, NULL));
	}
	return result;
}

#define COLUMNS_OF                                                                                                     \
	"SELECT c.\"table_name\", c.\"column_name\", c.\"type_oid\", c.\"type_modifier\","                                 \
	" c.\"not_null\", c.\"column_default\", c.\"key_position\", c.\"generated\", v.\"table_name\""                     \
	" FROM \"kakehashi_catalog\".\"columns\" c LEFT JOIN \"kakehashi_catalog\".\"views\" v"                            \
	" ON v.\"table_schema\" = c.\"table_schema\" AND v.\"table_name\" = c.\"table_name\""                              \
	" WHERE c.\"table_schema\" = $1"
#define IN_ORDER " ORDER BY c.\"table_name\", c.\"ordinal_position\""

/* Of the tables that are to come. Those that LIMIT TO names are asked for one by one, as far as their names here are those on the engine: there may be many others. */
static void
read_columns(Import *import, KakehashiSession *session)
{
	static const Oid types[] = {TEXTOID, TEXTOID, INT8OID, INT4OID, BOOLOID, TEXTOID, INT4OID, TEXTOID, TEXTOID};
	const char *names[] = {import->stmt->remote_schema, NULL};
	ListCell *cell;

	if (import->stmt->list_type != FDW_IMPORT_SCHEMA_LIMIT_TO || import->fold != CASE_KEEP)
	{
		kakehashi_catalog_query(session, COLUMNS_OF IN_ORDER, 1, names, lengthof(types), types, take_column, import);
		return;
	}
	foreach (cell, import->stmt->table_list)
	{
		names[1] = ((RangeVar *) lfirst(cell))->relname;
		if (find_table(import, names[1]) == NULL)
			kakehashi_catalog_query(session, COLUMNS_OF " AND c.\"table_name\" = $2" IN_ORDER, 2, names,
			                        lengthof(types), types, take_column, import);
	}
}

List *
kakehashi_import_schema(ImportForeignSchemaStmt *stmt, Oid server_id)
{
	ForeignServer *server = GetForeignServer(server_id);
	KakehashiSession *session;
	Import import = {.stmt = stmt,
	                 .server_name = server->servername,
	                 .collate = true,
	                 .not_null = true,
	                 .defaults = true,
	                 .generated = true,
	                 .comments = true};
	const char *schema = stmt->remote_schema;
	static const Oid comment_types[] = {TEXTOID, TEXTOID, TEXTOID};

	take_options(&import, stmt->options);
	session = kakehashi_session_get(GetUserMapping(GetUserId(), server_id));
	kakehashi_require(session, KH_CAN_CATALOGUE);
	import.engine = kh_session_engine(session->ipc);
	read_columns(&import, session);
	if (import.tables == NIL)
		check_schema(session, schema);
	else if (import.comments)
		kakehashi_catalog_query(
			session,
			"SELECT \"object_name\", \"column_name\", \"comment\" FROM \"kakehashi_catalog\".\"comments\""
			" WHERE \"object_schema\" = $1 AND \"object_type\" IN ('table', 'view', 'column')"
			" ORDER BY \"object_name\"",
			1, &schema, lengthof(comment_types), comment_types, take_comment, &import);
	return make_tables(&import);
}

/*
 * kakehashi_import_functions(): functions of the language kakehashi for those that applications have in a schema of the engine.
 */
#include "fdw/command/command.h"
#include "fdw/deparse/deparse.h"
#include "fdw/row/row.h"
#include "fdw/transaction/transaction.h"

#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/proclang.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(kakehashi_import_functions);

/* A call here is a request: what is called for many rows is to be called there. */
#define LEAST_COST 100

#define FUNCTIONS                                                                                                      \
	"SELECT \"function_name\", \"function_number\", \"kind\", \"volatility\", \"is_strict\", \"cost\","                \
	" \"estimated_rows\" FROM \"kakehashi_catalog\".\"functions\""                                                     \
	" WHERE \"function_schema\" = $1 AND \"kind\" <> 'procedure' ORDER BY \"function_name\", \"function_number\""
#define PARAMETERS                                                                                                     \
	"SELECT p.\"function_name\", p.\"function_number\", p.\"mode\", p.\"parameter_name\", p.\"type_oid\""              \
	" FROM \"kakehashi_catalog\".\"function_parameters\" p WHERE p.\"function_schema\" = $1"                           \
	" ORDER BY p.\"function_name\", p.\"function_number\", p.\"mode\", p.\"ordinal_position\""

/* A parameter, or a column of the result. */
typedef struct Field
{
	const char *name; /* NULL: it has none */
	Oid type;
} Field;

/* A function of the engine, as CREATE FUNCTION will have it. */
typedef struct Function
{
	const char *name;
	int number; /* among those of its name */
	const char *kind;
	const char *volatility;
	bool strict;
	double cost;
	int64 rows;
	List *parameters; /* of Field */
	List *result;
} Function;

typedef struct Import
{
	ForeignServer *server;
	const char *remote_schema;
	const char *local_schema;
	List *functions;
} Import;

static void
take_function(const kh_batch *batch, uint32 row, void *arg)
{
	Import *import = (Import *) arg;
	Function *function = (Function *) palloc0(sizeof(Function));
	uint64 bits = kh_batch_word(batch, row, 5);

	function->name = kakehashi_batch_text(batch, row, 0);
	function->number = (int) kh_batch_word(batch, row, 1);
	function->kind = kakehashi_batch_text(batch, row, 2);
	function->volatility = kakehashi_batch_text(batch, row, 3);
	function->strict = kh_batch_word(batch, row, 4) != 0;
	memcpy(&function->cost, &bits, sizeof(function->cost));
	function->rows = (int64) kh_batch_word(batch, row, 6);
	if (function->name == NULL || function->kind == NULL || function->volatility == NULL)
		elog(ERROR, "the engine's catalogue has a function without a name");
	import->functions = lappend(import->functions, function);
}

static void
take_parameter(const kh_batch *batch, uint32 row, void *arg)
{
	Import *import = (Import *) arg;
	char *name = kakehashi_batch_text(batch, row, 0);
	int number = (int) kh_batch_word(batch, row, 1);
	char *mode = kakehashi_batch_text(batch, row, 2);
	ListCell *cell;

	foreach (cell, import->functions)
	{
		Function *function = (Function *) lfirst(cell);
		Field *field;

		if (function->number != number || strcmp(function->name, name) != 0)
			continue;
		field = (Field *) palloc(sizeof(Field));
		field->name = kakehashi_batch_text(batch, row, 3);
		field->type = (Oid) kh_batch_word(batch, row, 4);
		if (strcmp(mode, "in") == 0)
			function->parameters = lappend(function->parameters, field);
		else
			function->result = lappend(function->result, field);
		return;
	}
}

/* Reports a type that this version does not know. */
static char *
type_name(const Function *function, Oid type)
{
	if (!OidIsValid(kakehashi_bridge_type(type, NULL)))
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
		                errmsg("function \"%s\" of the engine has a type that this version does not know: %u",
		                       function->name, type)));
	return format_type_be(type);
}

static void
append_fields(StringInfo sql, const Function *function, List *fields, bool named)
{
	ListCell *cell;
	const char *separator = "";

	foreach (cell, fields)
	{
		Field *field = (Field *) lfirst(cell);

		appendStringInfoString(sql, separator);
		separator = ", ";
		if (named && field->name != NULL)
			appendStringInfo(sql, "%s ", quote_identifier(field->name));
		appendStringInfoString(sql, type_name(function, field->type));
	}
}

/* What is called so here already has to be a stub, too, and is replaced. */
static void
check_name(const Import *import, const char *name, List *types)
{
	List *names = list_make2(makeString(pstrdup(import->local_schema)), makeString(pstrdup(name)));
	FuncCandidateList candidate;
	int nargs = list_length(types);
#if PG_VERSION_NUM >= 190000
	int found;

	candidate = FuncnameGetCandidates(names, nargs, NIL, false, false, false, true, &found);
#else

	candidate = FuncnameGetCandidates(names, nargs, NIL, false, false, false, true);
#endif
	for (; candidate != NULL; candidate = candidate->next)
	{
		bool same = candidate->nargs == nargs;
		KakehashiStub stub;

		for (int i = 0; same && i < nargs; i++)
			same = candidate->args[i] == list_nth_oid(types, i);
		if (same && !kakehashi_stub_read(candidate->oid, &stub) && !kakehashi_stub_of_aggregate(candidate->oid, &stub))
			ereport(ERROR, (errcode(ERRCODE_DUPLICATE_FUNCTION),
			                errmsg("function %s already exists, and is none of an engine",
			                       quote_qualified_identifier(import->local_schema, name)),
			                errhint("Import the functions into another schema.")));
	}
}

static List *
types_of(List *fields)
{
	List *types = NIL;
	ListCell *cell;

	foreach (cell, fields)
		types = lappend_oid(types, ((Field *) lfirst(cell))->type);
	return types;
}

static void
run(const char *sql)
{
	int status = SPI_execute(sql, false, 0);

	if (status != SPI_OK_UTILITY)
		elog(ERROR, "could not execute \"%s\": %s", sql, SPI_result_code_string(status));
}

/* The text of a stub: server.schema.function, and what it is. */
static char *
stub_text(const Import *import, const Function *function, const char *suffix)
{
	return quote_literal_cstr(psprintf("%s.%s.%s%s", quote_identifier(import->server->servername),
	                                   quote_identifier(import->remote_schema), quote_identifier(function->name),
	                                   suffix));
}

static void
append_traits(StringInfo sql, const Import *import, const Function *function)
{
	/* Whoever calls it asks another process, so that no parallel worker of a query may. */
	appendStringInfo(sql, " LANGUAGE %s %s%s PARALLEL UNSAFE COST %g", KAKEHASHI_LANGUAGE,
	                 pg_strcasecmp(function->volatility, "immutable") == 0 ? "IMMUTABLE"
	                 : pg_strcasecmp(function->volatility, "stable") == 0  ? "STABLE"
	                                                                       : "VOLATILE",
	                 function->strict ? " STRICT" : "", Max(function->cost, LEAST_COST));
	if (strcmp(function->kind, "table") == 0)
		appendStringInfo(sql, " ROWS " INT64_FORMAT, Max(function->rows, 1));
}

static char *
make_function(const Import *import, const Function *function)
{
	bool returns_set = strcmp(function->kind, "table") == 0;
	StringInfoData sql;
	StringInfoData signature;

	check_name(import, function->name, types_of(function->parameters));
	initStringInfo(&signature);
	appendStringInfo(&signature, "%s(", quote_qualified_identifier(import->local_schema, function->name));
	append_fields(&signature, function, function->parameters, true);
	appendStringInfoChar(&signature, ')');
	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE OR REPLACE FUNCTION %s RETURNS ", signature.data);
	if (!returns_set)
		append_fields(&sql, function, function->result, false);
	else if (list_length(function->result) == 1 && ((Field *) linitial(function->result))->name == NULL)
	{
		appendStringInfoString(&sql, "SETOF ");
		append_fields(&sql, function, function->result, false);
	}
	else
	{
		appendStringInfoString(&sql, "TABLE (");
		append_fields(&sql, function, function->result, true);
		appendStringInfoChar(&sql, ')');
	}
	append_traits(&sql, import, function);
	appendStringInfo(&sql, " AS %s", stub_text(import, function, ""));
	run(sql.data);
	return signature.data;
}

/* Arguments are gathered here, and one request has them all; NULL: it has not one argument, and there is no such form of it. */
static char *
make_aggregate(const Import *import, const Function *function)
{
	Field *field;
	Oid array;
	char *final;
	char *signature;
	StringInfoData sql;

	if (list_length(function->parameters) != 1)
	{
		ereport(NOTICE,
		        (errmsg("aggregate \"%s\" of the engine is left out: it does not have one argument", function->name)));
		return NULL;
	}
	field = (Field *) linitial(function->parameters);
	array = get_array_type(field->type);
	if (!OidIsValid(array) || OidIsValid(get_element_type(field->type)))
	{
		ereport(NOTICE, (errmsg("aggregate \"%s\" of the engine is left out: there are no arrays of type %s",
		                        function->name, type_name(function, field->type))));
		return NULL;
	}
	final = psprintf("%s_of", function->name);
	check_name(import, final, list_make1_oid(array));
	check_name(import, function->name, list_make1_oid(field->type));
	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE OR REPLACE FUNCTION %s(%s) RETURNS ",
	                 quote_qualified_identifier(import->local_schema, final), format_type_be(array));
	append_fields(&sql, function, function->result, false);
	appendStringInfo(&sql, " LANGUAGE %s %s PARALLEL UNSAFE COST %g AS %s", KAKEHASHI_LANGUAGE,
	                 pg_strcasecmp(function->volatility, "immutable") == 0 ? "IMMUTABLE" : "STABLE",
	                 Max(function->cost, LEAST_COST), stub_text(import, function, ".aggregate"));
	run(sql.data);
	signature = psprintf("%s(%s)", quote_qualified_identifier(import->local_schema, function->name),
	                     type_name(function, field->type));
	run(psprintf("CREATE OR REPLACE AGGREGATE %s (SFUNC = pg_catalog.array_append, STYPE = %s, FINALFUNC = %s)",
	             signature, format_type_be(array), quote_qualified_identifier(import->local_schema, final)));
	return signature;
}

static void
read_functions(Import *import)
{
	static const Oid function_types[] = {TEXTOID, INT4OID, TEXTOID, TEXTOID, BOOLOID, FLOAT8OID, INT8OID};
	static const Oid parameter_types[] = {TEXTOID, INT4OID, TEXTOID, TEXTOID, INT8OID};
	KakehashiSession *session = kakehashi_session_get(GetUserMapping(GetUserId(), import->server->serverid));

	kakehashi_require(session, KH_CAN_APPLICATIONS);
	kakehashi_catalog_query(session, FUNCTIONS, 1, &import->remote_schema, lengthof(function_types), function_types,
	                        take_function, import);
	kakehashi_catalog_query(session, PARAMETERS, 1, &import->remote_schema, lengthof(parameter_types), parameter_types,
	                        take_parameter, import);
}

/* kakehashi_import_functions(server, remote_schema, local_schema) */
Datum
kakehashi_import_functions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	Import import = {0};
	ListCell *cell;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("server and schema must not be null")));
	InitMaterializedSRF(fcinfo, 0);
	import.server = kakehashi_server_by_name(NameStr(*PG_GETARG_NAME(0)));
	import.remote_schema = text_to_cstring(PG_GETARG_TEXT_PP(1));
	if (PG_ARGISNULL(2))
	{
		List *path = fetch_search_path(false);

		if (path == NIL)
			ereport(ERROR, (errcode(ERRCODE_UNDEFINED_SCHEMA), errmsg("no schema has been selected to create in")));
		import.local_schema = get_namespace_name(linitial_oid(path));
	}
	else
	{
		import.local_schema = pstrdup(NameStr(*PG_GETARG_NAME(2)));
		(void) get_namespace_oid(import.local_schema, false);
	}
	read_functions(&import);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	foreach (cell, import.functions)
	{
		Function *function = (Function *) lfirst(cell);
		char *signature = strcmp(function->kind, "aggregate") == 0 ? make_aggregate(&import, function)
		                                                           : make_function(&import, function);
		Datum values[3];
		bool nulls[3] = {false};

		if (signature == NULL)
			continue;
		values[0] = CStringGetTextDatum(function->name);
		values[1] = CStringGetTextDatum(function->kind);
		values[2] = CStringGetTextDatum(signature);
		tuplestore_putvalues(info->setResult, info->setDesc, values, nulls);
	}
	SPI_finish();
	return (Datum) 0;
}

/*
 * Runs COPY on the engine, for SQL functions and for the hook of copy_hook.c. What the engine does meanwhile is seen in pg_stat_progress_copy.
 */
#include "fdw/command/command.h"
#include "fdw/deparse/deparse.h"
#include "fdw/modify/modify.h"
#include "fdw/transaction/transaction.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/progress.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/backend_progress.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/varlena.h"

PG_FUNCTION_INFO_V1(kakehashi_load);
PG_FUNCTION_INFO_V1(kakehashi_dump);
PG_FUNCTION_INFO_V1(kakehashi_inspect);

/* Longest wait without a look at the progress, and the shortest time between two looks. */
#define WAIT_NANOS INT64CONST(40000000)
#define PROGRESS_MILLIS 500

/* PostgreSQL has it from 17 on. */
#ifndef PROGRESS_COPY_TUPLES_SKIPPED
#define PROGRESS_COPY_TUPLES_SKIPPED 6
#endif

static bool
commits_by_itself(const KakehashiCopy *copy)
{
	const char *rows = copy->from ? kakehashi_copy_option(copy, "batch_rows") : NULL;

	return rows != NULL && strcmp(rows, "0") != 0;
}

/* Unless the option write_preserve says otherwise. */
static bool
preserves_table(const KakehashiCopy *copy)
{
	const char *text = copy->from ? kakehashi_copy_option(copy, "write_preserve") : NULL;
	bool preserves = true;

	if (text != NULL && !parse_bool(text, &preserves))
		preserves = true;
	return copy->from && copy->alone && !copy->query && preserves;
}

/* What has been written in the transaction would keep a load waiting that is none of its. */
static void
check_outside(const KakehashiSession *session)
{
	if (IsTransactionBlock() || IsSubTransaction() || session->wrote)
		ereport(ERROR, (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
		                errmsg("a load in batches cannot run inside a transaction block"),
		                errdetail("It commits batch by batch, in transactions of its own."),
		                errhint("Leave out the option \"batch_rows\", or end the transaction first.")));
}

/* ---- progress ---- */

static void
show_progress(const kh_batch *batch, bool from)
{
	const int of_load[] = {PROGRESS_COPY_BYTES_PROCESSED, PROGRESS_COPY_BYTES_TOTAL, PROGRESS_COPY_TUPLES_PROCESSED,
	                       PROGRESS_COPY_TUPLES_EXCLUDED, PROGRESS_COPY_TUPLES_SKIPPED};
	int64 values[5];
	int count = PG_VERSION_NUM >= 170000 && from ? 5 : 4;

	if (batch->row_count == 0 || batch->column_count < 5)
		return;
	for (int i = 0; i < count; i++)
		values[i] = kh_batch_is_null(batch, 0, (uint32) i) ? 0 : (int64) kh_batch_word(batch, 0, (uint32) i);
	pgstat_progress_update_multi_param(count, of_load, values);
}

/* Two sessions that run the same text at the same time may see each other's. */
static KakehashiCall *
ask_progress(KakehashiSession *session, const char *statement)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT \"bytes_processed\", \"bytes_total\", \"rows_processed\", \"rows_filtered\","
	                             " \"rows_rejected\" FROM \"kakehashi_catalog\".\"copies\" WHERE \"statement\" = ");
	kakehashi_deparse_text(&sql, statement);
	appendStringInfoString(&sql, " ORDER BY \"job_id\" DESC LIMIT 1");
	return kakehashi_execute_read(session, kakehashi_statement_get(session, sql.data, NULL, 0), NULL, 0);
}

/* Shows what has come; true when the answer is complete. A failure is no reason to end what it would have told of. */
static bool
take_progress(KakehashiCall *question, bool from)
{
	kh_error error;
	kh_batch batch;

	if (!kakehashi_call_is_ready(question, 0))
		return false;
	error.message[0] = '\0';
	if (question->ipc != NULL && kh_call_batch(question->ipc, &batch, &error))
		show_progress(&batch, from);
	kakehashi_call_end(question);
	pfree(question);
	return true;
}

static void
wait_with_progress(KakehashiCall *call, const KakehashiCopy *copy)
{
	KakehashiSession *session = call->session;
	const char *statement = pstrdup(call->sql);
	KakehashiCall *question = NULL;
	TimestampTz asked = GetCurrentTimestamp();

	while (!kakehashi_call_is_ready(call, WAIT_NANOS))
	{
		if (question != NULL)
		{
			if (take_progress(question, copy->from))
				question = NULL;
		}
		/* A transaction that has changed the catalogue answers one request after the other. */
		else if (!session->defined && TimestampDifferenceExceeds(asked, GetCurrentTimestamp(), PROGRESS_MILLIS) &&
		         kh_session_free_slots(session->ipc) > 1)
		{
			asked = GetCurrentTimestamp();
			question = ask_progress(session, statement);
		}
	}
	if (question != NULL)
	{
		kakehashi_call_end(question);
		pfree(question);
	}
}

/* ---- running ---- */

KakehashiStatement *
kakehashi_copy_prepare(const KakehashiCopy *copy, KakehashiSession *session)
{
	if (copy->from)
		PreventCommandIfReadOnly("COPY FROM");
	if (commits_by_itself(copy))
		check_outside(session);
	/* It sees all that was done before it. */
	kakehashi_gather_flush(InvalidCommandId);
	kakehashi_set_time_zone(session);
	return kakehashi_statement_get(session, kakehashi_copy_text(copy), NULL, 0);
}

KakehashiCall *
kakehashi_copy_run(const KakehashiCopy *copy, KakehashiSession *session, KakehashiStatement *statement)
{
	const int params[] = {PROGRESS_COPY_COMMAND, PROGRESS_COPY_TYPE};
	const int64 values[] = {copy->from ? PROGRESS_COPY_COMMAND_FROM : PROGRESS_COPY_COMMAND_TO,
	                        PROGRESS_COPY_TYPE_FILE};
	KakehashiCall *call;

	pgstat_progress_start_command(PROGRESS_COMMAND_COPY, copy->relid);
	pgstat_progress_update_multi_param(2, params, values);
	if (commits_by_itself(copy))
		call = kakehashi_execute_apart(session, statement, NULL, 0);
	else
	{
		/* Nobody else writes in the transaction: short ones of others give way to it. */
		session->preserves = preserves_table(copy) ? copy->target : NULL;
		PG_TRY();
		{
			call = kakehashi_execute_statement(session, statement, NULL, NULL, 0);
		}
		PG_FINALLY();
		{
			session->preserves = NULL;
		}
		PG_END_TRY();
		session->wrote |= copy->from;
	}
	wait_with_progress(call, copy);
	return call;
}

/* ---- SQL functions ---- */

/* Whether the statement that calls the function is all of its transaction, as far as that can be told. */
static bool
is_alone(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	EState *estate = info->econtext != NULL ? info->econtext->ecxt_estate : NULL;

	return !IsTransactionBlock() && !IsSubTransaction() && estate != NULL && estate->es_sourceText != NULL &&
	       debug_query_string != NULL && strcmp(estate->es_sourceText, debug_query_string) == 0;
}

static char *
scalar_text(const JsonbValue *value, const char *name)
{
	switch (value->type)
	{
		case jbvString:
			return pnstrdup(value->val.string.val, value->val.string.len);
		case jbvNumeric:
			return DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value->val.numeric)));
		case jbvBool:
			return pstrdup(value->val.boolean ? "true" : "false");
		default:
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid value for option \"%s\"", name),
			                errhint("Options are strings, numbers, booleans, or arrays of them.")));
	}
	return NULL; /* not reached */
}

/* An array has values of a list, an object those of columns, as in "column value". */
static List *
options_of(Jsonb *json)
{
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue value;
	List *options = NIL;
	KakehashiCopyOption *option = NULL;
	char *column = NULL;
	int depth = 0;

	if (!JB_ROOT_IS_OBJECT(json))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("options have to be a JSON object"),
		                errhint("For instance '{\"format\": \"csv\", \"header\": true}'.")));
	iterator = JsonbIteratorInit(&json->root);
	while ((token = JsonbIteratorNext(&iterator, &value, false)) != WJB_DONE)
	{
		switch (token)
		{
			case WJB_KEY:
				if (depth > 1)
				{
					column = pnstrdup(value.val.string.val, value.val.string.len);
					break;
				}
				option = (KakehashiCopyOption *) palloc0(sizeof(KakehashiCopyOption));
				option->name = asc_tolower(value.val.string.val, value.val.string.len);
				options = lappend(options, option);
				break;
			case WJB_VALUE:
			case WJB_ELEM:
			{
				char *text = scalar_text(&value, option->name);

				option->values = lappend(option->values, column == NULL ? text : psprintf("%s %s", column, text));
				column = NULL;
				break;
			}
			case WJB_BEGIN_ARRAY:
			case WJB_BEGIN_OBJECT:
				if (++depth > 2)
					(void) scalar_text(&value, option->name);
				if (depth == 2)
					option->listed = true;
				break;
			case WJB_END_ARRAY:
			case WJB_END_OBJECT:
				depth--;
				break;
			case WJB_DONE:
				break;
		}
	}
	return options;
}

static List *
names_of(ArrayType *array)
{
	List *result = NIL;
	Datum *names;
	bool *nulls;
	int count;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &names, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("name of a column must not be null")));
		result = lappend(result, makeString(TextDatumGetCString(names[i])));
	}
	return result;
}

/* Who may not send any text to the engine has the foreign tables of this database alone. */
static void
check_free_text(FunctionCallInfo fcinfo, const char *what, const char *hint)
{
	Oid schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	Oid types[] = {NAMEOID, TEXTOID};
	Oid function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum("kakehashi_query"),
	                               PointerGetDatum(buildoidvector(types, 2)), ObjectIdGetDatum(schema));
	AclResult result = ACLCHECK_NO_PRIV;

	if (OidIsValid(function))
	{
#if PG_VERSION_NUM >= 160000
		result = object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE);
#else
		result = pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE);
#endif
	}
	if (result != ACLCHECK_OK)
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for %s", what),
		                errdetail("It needs the privilege to execute kakehashi_query()."), errhint("%s", hint)));
}

/* The foreign table of the copy's server that has the name here; else InvalidOid. */
static Oid
foreign_table(const KakehashiCopy *copy, List *names)
{
	Oid relid = RangeVarGetRelid(makeRangeVarFromNameList(names), NoLock, true);

	if (OidIsValid(relid) && get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE &&
	    GetForeignTable(relid)->serverid == copy->server->serverid)
		return relid;
	return InvalidOid;
}

static void
append_list(StringInfo buf, List *names, const char *separator)
{
	ListCell *cell;

	foreach (cell, names)
	{
		if (cell != list_head(names))
			appendStringInfoString(buf, separator);
		kakehashi_deparse_identifier(buf, strVal(lfirst(cell)));
	}
}

/* A table: the foreign table of that name, or one that has it on the engine. */
static void
take_table(FunctionCallInfo fcinfo, KakehashiCopy *copy, text *table, List *columns)
{
	List *names = textToQualifiedNameList(table);
	StringInfoData buf;

	copy->relid = foreign_table(copy, names);
	kakehashi_copy_check(copy, columns);
	if (OidIsValid(copy->relid))
	{
		Relation rel = table_open(copy->relid, copy->from ? RowExclusiveLock : AccessShareLock);

		kakehashi_copy_table(copy, kakehashi_session_by_name(copy->server->servername), rel, columns);
		table_close(rel, NoLock);
		return;
	}
	check_free_text(fcinfo, psprintf("table \"%s\" of the engine", text_to_cstring(table)),
	                psprintf("Server \"%s\" has no foreign table of this name here: IMPORT FOREIGN SCHEMA makes one.",
	                         copy->server->servername));
	initStringInfo(&buf);
	append_list(&buf, names, ".");
	copy->target = buf.data;
	initStringInfo(&buf);
	if (columns != NIL)
	{
		appendStringInfoString(&buf, " (");
		append_list(&buf, columns, ", ");
		appendStringInfoChar(&buf, ')');
	}
	copy->columns = buf.data;
}

/* A table's name does not begin with such a word, unless it is quoted. */
static bool
is_query(const char *text)
{
	static const char *const words[] = {"select", "with", "values", "table"};

	text += strspn(text, " \t\r\n");
	if (*text == '(')
		return true;
	for (int i = 0; i < lengthof(words); i++)
	{
		size_t length = strlen(words[i]);

		if (pg_strncasecmp(text, words[i], length) == 0 && text[length] != '\0' &&
		    strchr(" \t\r\n(\"", text[length]) != NULL)
			return true;
	}
	return false;
}

static void
require_arguments(FunctionCallInfo fcinfo, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR,
			        (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("server, table and location must not be null")));
	}
}

static void
return_copy(FunctionCallInfo fcinfo, const KakehashiCopy *copy, const char *function)
{
	KakehashiSession *session = kakehashi_session_by_name(copy->server->servername);
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	KakehashiStatement *statement;

	InitMaterializedSRF(fcinfo, 0);
	statement = kakehashi_copy_prepare(copy, session);
	kakehashi_check_columns(statement, info->setDesc);
	kakehashi_return_rows(info, kakehashi_copy_run(copy, session, statement), function);
	pgstat_progress_end_command();
}

/* kakehashi_load(server, table, location, options, columns, condition) */
Datum
kakehashi_load(PG_FUNCTION_ARGS)
{
	KakehashiCopy copy = {.from = true};

	require_arguments(fcinfo, 3);
	copy.server = kakehashi_server_by_name(NameStr(*PG_GETARG_NAME(0)));
	copy.location = text_to_cstring(PG_GETARG_TEXT_PP(2));
	copy.options = PG_ARGISNULL(3) ? NIL : options_of(PG_GETARG_JSONB_P(3));
	copy.alone = is_alone(fcinfo);
	take_table(fcinfo, &copy, PG_GETARG_TEXT_PP(1), PG_ARGISNULL(4) ? NIL : names_of(PG_GETARG_ARRAYTYPE_P(4)));
	if (!PG_ARGISNULL(5))
	{
		check_free_text(fcinfo, "a condition", "Load all rows, or COPY with WHERE.");
		copy.condition = text_to_cstring(PG_GETARG_TEXT_PP(5));
	}
	return_copy(fcinfo, &copy, "kakehashi_load");
	return (Datum) 0;
}

/* kakehashi_dump(server, table or query, location, options, columns) */
Datum
kakehashi_dump(PG_FUNCTION_ARGS)
{
	KakehashiCopy copy = {.from = false, .columns = ""};
	char *what;

	require_arguments(fcinfo, 3);
	copy.server = kakehashi_server_by_name(NameStr(*PG_GETARG_NAME(0)));
	copy.location = text_to_cstring(PG_GETARG_TEXT_PP(2));
	copy.options = PG_ARGISNULL(3) ? NIL : options_of(PG_GETARG_JSONB_P(3));
	what = text_to_cstring(PG_GETARG_TEXT_PP(1));
	copy.query = is_query(what);
	if (copy.query)
	{
		if (!PG_ARGISNULL(4))
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a query has the columns that it names"),
			                errhint("Leave out \"columns\".")));
		kakehashi_copy_check(&copy, NIL);
		check_free_text(fcinfo, "a query on the engine", "Dump a foreign table.");
		copy.target = psprintf("(%s)", what);
	}
	else
		take_table(fcinfo, &copy, PG_GETARG_TEXT_PP(1), PG_ARGISNULL(4) ? NIL : names_of(PG_GETARG_ARRAYTYPE_P(4)));
	return_copy(fcinfo, &copy, "kakehashi_dump");
	return (Datum) 0;
}

/* kakehashi_inspect(server, location, options) */
Datum
kakehashi_inspect(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	KakehashiCopy copy = {.from = true};
	KakehashiStatement *statement;
	KakehashiSession *session;
	StringInfoData sql;

	require_arguments(fcinfo, 2);
	copy.server = kakehashi_server_by_name(NameStr(*PG_GETARG_NAME(0)));
	copy.location = text_to_cstring(PG_GETARG_TEXT_PP(1));
	copy.options = PG_ARGISNULL(2) ? NIL : options_of(PG_GETARG_JSONB_P(2));
	kakehashi_copy_check(&copy, NIL);
	session = kakehashi_session_by_name(copy.server->servername);
	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT \"file\", \"kind\", \"name\", \"value\" FROM kakehashi_inspect(");
	kakehashi_deparse_text(&sql, copy.location);
	appendStringInfoString(&sql, ", ");
	kakehashi_deparse_text(&sql, kakehashi_copy_options(&copy));
	appendStringInfoChar(&sql, ')');
	InitMaterializedSRF(fcinfo, 0);
	statement = kakehashi_statement_get(session, sql.data, NULL, 0);
	kakehashi_check_columns(statement, info->setDesc);
	kakehashi_return_rows(info, kakehashi_execute_read(session, statement, NULL, 0), "kakehashi_inspect");
	return (Datum) 0;
}

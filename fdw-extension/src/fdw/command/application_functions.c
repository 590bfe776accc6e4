/*
 * SQL functions that call procedures of applications, and deploy applications.
 */
#include "fdw/command/command.h"
#include "fdw/deparse/deparse.h"
#include "fdw/modify/modify.h"
#include "fdw/row/row.h"
#include "fdw/transaction/transaction.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/varlena.h"

PG_FUNCTION_INFO_V1(kakehashi_call);
PG_FUNCTION_INFO_V1(kakehashi_run);
PG_FUNCTION_INFO_V1(kakehashi_deploy);

#define FIXED_ARGUMENTS 2

/* Arguments behind server and procedure. */
typedef struct Arguments
{
	int count;
	Oid types[FUNC_MAX_ARGS]; /* InvalidOid: a constant whose type the procedure says */
	Datum values[FUNC_MAX_ARGS];
	bool nulls[FUNC_MAX_ARGS];
} Arguments;

/* The name as the engine's SQL writes it, each part quoted. */
static char *
procedure_name(const char *text)
{
	char *copy = pstrdup(text);
	StringInfoData name;
	List *parts;
	ListCell *cell;

	if (!SplitIdentifierString(copy, '.', &parts) || list_length(parts) < 1 || list_length(parts) > 2)
		ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("\"%s\" is no name of a procedure", text),
		                errhint("Write it as in CALL: schema.name, with double quotes where SQL needs them.")));
	initStringInfo(&name);
	foreach (cell, parts)
	{
		if (name.len > 0)
			appendStringInfoChar(&name, '.');
		kakehashi_deparse_identifier(&name, (char *) lfirst(cell));
	}
	return name.data;
}

static void
take_argument(Arguments *arguments, Oid type, Datum value, bool is_null)
{
	int i = arguments->count++;

	arguments->types[i] = type == UNKNOWNOID ? InvalidOid : type;
	arguments->values[i] = value;
	arguments->nulls[i] = is_null;
	if (OidIsValid(arguments->types[i]) && !OidIsValid(kakehashi_bridge_type(type, NULL)))
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
		                errmsg("argument %d has type %s, which the engine does not have", arguments->count,
		                       kakehashi_type_name(type))));
}

/* VARIADIC takes an array, whose elements are the arguments. */
static void
take_array(FunctionCallInfo fcinfo, Arguments *arguments)
{
	Oid element = get_element_type(get_fn_expr_argtype(fcinfo->flinfo, FIXED_ARGUMENTS));
	int16 length;
	bool by_value;
	char align;
	Datum *values;
	bool *nulls;
	int count;

	if (!OidIsValid(element))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("the argument behind VARIADIC must be an array")));
	if (PG_ARGISNULL(FIXED_ARGUMENTS))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("the array of arguments must not be null")));
	get_typlenbyvalalign(element, &length, &by_value, &align);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(FIXED_ARGUMENTS), element, length, by_value, align, &values, &nulls,
	                  &count);
	if (count > FUNC_MAX_ARGS)
		ereport(ERROR, (errcode(ERRCODE_TOO_MANY_ARGUMENTS),
		                errmsg("a procedure has at most %d arguments here, not %d", FUNC_MAX_ARGS, count)));
	for (int i = 0; i < count; i++)
		take_argument(arguments, element, values[i], nulls[i]);
}

static void
take_arguments(FunctionCallInfo fcinfo, Arguments *arguments)
{
	arguments->count = 0;
	for (int i = 0; i < FIXED_ARGUMENTS; i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("argument %d must not be null", i + 1)));
	}
	if (PG_NARGS() > FIXED_ARGUMENTS && get_fn_expr_variadic(fcinfo->flinfo))
	{
		take_array(fcinfo, arguments);
		return;
	}
	for (int i = FIXED_ARGUMENTS; i < PG_NARGS(); i++)
	{
		Oid type = get_fn_expr_argtype(fcinfo->flinfo, i);

		if (!OidIsValid(type))
			ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_DATATYPE),
			                errmsg("could not determine the type of argument %d", i + 1)));
		take_argument(arguments, type, PG_GETARG_DATUM(i), PG_ARGISNULL(i));
	}
}

/* Constants without a type become values of that of the procedure's parameter. */
static void
read_constants(Arguments *arguments, const KakehashiStatement *statement)
{
	for (int i = 0; i < arguments->count; i++)
	{
		Oid input;
		Oid io_param;

		if (OidIsValid(arguments->types[i]))
			continue;
		arguments->types[i] = statement->parameter_types[i];
		if (arguments->nulls[i])
			continue;
		getTypeInputInfo(arguments->types[i], &input, &io_param);
		arguments->values[i] = OidInputFunctionCall(input, DatumGetCString(arguments->values[i]), io_param, -1);
	}
}

/* Sends the call in the current transaction. *statement is valid until the next one is prepared. */
static KakehashiCall *
call_procedure(FunctionCallInfo fcinfo, KakehashiStatement **prepared)
{
	Arguments arguments;
	KakehashiSession *session;
	KakehashiStatement *statement;
	KakehashiRowWriter *writer;
	KakehashiCall *call;
	StringInfoData sql;
	Oid *types;
	const void *row = NULL;
	uint32 bytes = 0;

	take_arguments(fcinfo, &arguments);
	session = kakehashi_session_by_name(NameStr(*PG_GETARG_NAME(0)));
	initStringInfo(&sql);
	appendStringInfo(&sql, "CALL %s(", procedure_name(text_to_cstring(PG_GETARG_TEXT_PP(1))));
	types = (Oid *) palloc(Max(arguments.count, 1) * sizeof(Oid));
	for (int i = 0; i < arguments.count; i++)
	{
		appendStringInfo(&sql, i == 0 ? "$%d" : ", $%d", i + 1);
		types[i] = OidIsValid(arguments.types[i]) ? kakehashi_bridge_type(arguments.types[i], NULL) : InvalidOid;
	}
	appendStringInfoChar(&sql, ')');
	/* It sees all that was done before it. */
	kakehashi_gather_flush(InvalidCommandId);
	kakehashi_set_time_zone(session);
	statement = kakehashi_statement_get(session, sql.data, types, arguments.count);
	if (statement->kind != KH_QUERY)
		PreventCommandIfReadOnly("kakehashi_call()");
	if (arguments.count > 0)
	{
		read_constants(&arguments, statement);
		writer = kakehashi_row_writer_create(CurrentMemoryContext, arguments.count, arguments.types);
		kakehashi_row_writer_start(writer, session, 1);
		if (!kakehashi_row_writer_add(writer, arguments.values, arguments.nulls))
			ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			                errmsg("the arguments exceed the endpoint's limit of %u bytes",
			                       kh_session_limits(session->ipc)->max_batch_bytes)));
		row = kakehashi_row_writer_finish(writer, &bytes);
	}
	call = kakehashi_execute_statement(session, statement, NULL, row, bytes);
	/* Whatever it is to the engine, nobody here knows what its code has done. */
	session->wrote = true;
	*prepared = statement;
	return call;
}

/* kakehashi_call(server, procedure, ...): its rows */
Datum
kakehashi_call(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	KakehashiStatement *statement;
	KakehashiCall *call;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	call = call_procedure(fcinfo, &statement);
	kakehashi_check_columns(statement, info->setDesc);
	kakehashi_return_rows(info, call, "kakehashi_call");
	return (Datum) 0;
}

/* kakehashi_run(server, procedure, ...): how many rows it has given, which nobody wants */
Datum
kakehashi_run(PG_FUNCTION_ARGS)
{
	KakehashiStatement *statement;
	KakehashiCall *call = call_procedure(fcinfo, &statement);
	uint64 rows = 0;
	kh_batch batch;

	while (kakehashi_call_next_batch(call, &batch))
	{
		rows += batch.row_count;
		kh_call_release(call->ipc);
	}
	(void) kakehashi_call_complete(call);
	PG_RETURN_INT64((int64) rows);
}

static void
take_flag(const kh_batch *batch, uint32 row, void *arg)
{
	*(bool *) arg = true;
}

static bool
application_exists(KakehashiSession *session, List *parts)
{
	static const Oid types[] = {TEXTOID};
	const char *names[] = {list_length(parts) == 2 ? (char *) linitial(parts) : "public", (char *) llast(parts)};
	bool found = false;

	kakehashi_catalog_query(session,
	                        "SELECT CAST(\"application_name\" AS text) FROM \"kakehashi_catalog\".\"applications\""
	                        " WHERE \"application_schema\" = $1 AND \"application_name\" = $2",
	                        2, names, 1, types, take_flag, &found);
	return found;
}

/* kakehashi_deploy(server, application, jar, options): a new application, or a new version of one, in the current transaction */
Datum
kakehashi_deploy(PG_FUNCTION_ARGS)
{
	KakehashiSession *session;
	KakehashiStatement *statement;
	KakehashiRowWriter *writer;
	Oid type = BYTEAOID;
	char *name;
	char *copy;
	List *parts;
	StringInfoData sql;
	Datum jar;
	bool is_null = false;
	bool exists;
	const void *row;
	uint32 bytes;

	for (int i = 0; i < 3; i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("argument %d must not be null", i + 1)));
	}
	PreventCommandIfReadOnly("kakehashi_deploy()");
	name = text_to_cstring(PG_GETARG_TEXT_PP(1));
	copy = pstrdup(name);
	if (!SplitIdentifierString(copy, '.', &parts) || list_length(parts) < 1 || list_length(parts) > 2)
		ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("\"%s\" is no name of an application", name)));
	session = kakehashi_session_by_name(NameStr(*PG_GETARG_NAME(0)));
	jar = PG_GETARG_DATUM(2);
	exists = application_exists(session, parts);
	initStringInfo(&sql);
	appendStringInfo(&sql, "%s APPLICATION %s FROM $1", exists ? "ALTER" : "CREATE", procedure_name(name));
	if (!PG_ARGISNULL(3))
		appendStringInfo(&sql, " WITH (%s)", text_to_cstring(PG_GETARG_TEXT_PP(3)));
	kakehashi_gather_flush(InvalidCommandId);
	statement = kakehashi_statement_get(session, sql.data, &type, 1);
	writer = kakehashi_row_writer_create(CurrentMemoryContext, 1, &type);
	kakehashi_row_writer_start(writer, session, 1);
	if (!kakehashi_row_writer_add(writer, &jar, &is_null))
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
		                errmsg("a jar of %zu bytes exceeds the endpoint's limit of %u bytes",
		                       (size_t) VARSIZE_ANY_EXHDR(PG_DETOAST_DATUM(jar)),
		                       kh_session_limits(session->ipc)->max_batch_bytes),
		                errhint("Put it into a location of the endpoint, and use CREATE APPLICATION ... FROM.")));
	row = kakehashi_row_writer_finish(writer, &bytes);
	(void) kakehashi_call_complete(kakehashi_execute_statement(session, statement, NULL, row, bytes));
	session->wrote = true;
	session->defined = true;
	PG_RETURN_TEXT_P(cstring_to_text(exists ? "altered" : "created"));
}

/*
 * SQL functions of the engine's queues: enqueue and what ends a lease, in the current transaction.
 */
#include "fdw/command/command.h"
#include "fdw/row/row.h"
#include "fdw/transaction/transaction.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(kakehashi_enqueue);
PG_FUNCTION_INFO_V1(kakehashi_enqueue_text);
PG_FUNCTION_INFO_V1(kakehashi_enqueue_bytes);
PG_FUNCTION_INFO_V1(kakehashi_complete);
PG_FUNCTION_INFO_V1(kakehashi_complete_all);
PG_FUNCTION_INFO_V1(kakehashi_extend_lease);
PG_FUNCTION_INFO_V1(kakehashi_fail);
PG_FUNCTION_INFO_V1(kakehashi_release);
PG_FUNCTION_INFO_V1(kakehashi_cancel_task);

#define MAX_ARGUMENTS 8

KakehashiCall *
kakehashi_queue_send(KakehashiSession *session, const char *sql, int count, const Oid *types, const Datum *values,
                     const bool *nulls, KakehashiQueueMode mode, KakehashiStatement **statement)
{
	KakehashiRowWriter *writer = kakehashi_row_writer_create(CurrentMemoryContext, count, types);
	KakehashiStatement *prepared;
	KakehashiCall *call;
	const void *row;
	uint32 bytes;

	kakehashi_require(session, KH_CAN_QUEUES);
	prepared = kakehashi_statement_get(session, sql, writer->types, count);
	kakehashi_row_writer_start(writer, session, 1);
	if (!kakehashi_row_writer_add(writer, values, nulls))
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
		                errmsg("the arguments exceed the endpoint's limit of %u bytes",
		                       kh_session_limits(session->ipc)->max_batch_bytes)));
	row = kakehashi_row_writer_finish(writer, &bytes);
	if (mode == KAKEHASHI_QUEUE_APART)
		call = kakehashi_execute_apart(session, prepared, row, bytes);
	else
	{
		call = kakehashi_execute_statement(session, prepared, NULL, row, bytes);
		/* To the engine it is a query. */
		session->wrote = true;
		kakehashi_two_phase_announce(session);
	}
	if (statement != NULL)
		*statement = prepared;
	return call;
}

/* The one value of the one row; false: it is null. */
static bool
take_word(KakehashiCall *call, const KakehashiStatement *statement, Oid type, uint64 *word)
{
	bool found = false;
	kh_batch batch;

	if (statement->column_count != 1 || statement->columns[0].type_oid != type)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
		                errmsg("the engine's function returns another type than %s", kakehashi_type_name(type)),
		                kakehashi_sql_context(statement->sql)));
	while (kakehashi_call_next_batch(call, &batch))
	{
		if (batch.row_count > 0 && !kh_batch_is_null(&batch, 0, 0))
		{
			*word = kh_batch_word(&batch, 0, 0);
			found = true;
		}
		kh_call_release(call->ipc);
	}
	(void) kakehashi_call_complete(call);
	return found;
}

/* Calls a function of the engine with the arguments behind the server's name. */
static Datum
call_function(FunctionCallInfo fcinfo, const char *sql, int count, const Oid *types, const Datum *values,
              const bool *nulls, KakehashiQueueMode mode, Oid result)
{
	KakehashiSession *session = kakehashi_session_by_name(NameStr(*PG_GETARG_NAME(0)));
	KakehashiStatement *statement;
	KakehashiCall *call = kakehashi_queue_send(session, sql, count, types, values, nulls, mode, &statement);
	uint64 word = 0;

	if (!take_word(call, statement, result, &word))
		PG_RETURN_NULL();
	return result == BOOLOID ? BoolGetDatum(word != 0) : (Datum) word;
}

static void
take_arguments(FunctionCallInfo fcinfo, int count, int required, Datum *values, bool *nulls)
{
	for (int i = 0; i < count; i++)
	{
		nulls[i] = PG_ARGISNULL(i + 1);
		values[i] = nulls[i] ? (Datum) 0 : PG_GETARG_DATUM(i + 1);
		if (i < required && nulls[i])
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("argument %d must not be null", i + 2)));
	}
	if (PG_ARGISNULL(0))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("server must not be null")));
}

/* ---- enqueue ---- */

static Datum
enqueue(FunctionCallInfo fcinfo, Oid payload_type, bool is_text)
{
	const Oid types[] = {TEXTOID, payload_type, TEXTOID, TEXTOID, INT4OID, TIMESTAMPTZOID, TEXTOID, INTERVALOID};
	Datum values[MAX_ARGUMENTS];
	bool nulls[MAX_ARGUMENTS];

	PreventCommandIfReadOnly("kakehashi_enqueue()");
	take_arguments(fcinfo, MAX_ARGUMENTS, 2, values, nulls);
	if (is_text)
		values[1] = DirectFunctionCall1(jsonb_in, CStringGetDatum(TextDatumGetCString(values[1])));
	return call_function(fcinfo,
	                     "SELECT enqueue($1, $2, \"key\" => $3, fair => $4, priority => $5, run_at => $6,"
	                     " unique_key => $7, unique_for => $8)",
	                     MAX_ARGUMENTS, types, values, nulls, KAKEHASHI_QUEUE_WITHIN, INT8OID);
}

/* kakehashi_enqueue(server, queue, payload jsonb, key, fair, priority, run_at, unique_key, unique_for) */
Datum
kakehashi_enqueue(PG_FUNCTION_ARGS)
{
	return enqueue(fcinfo, JSONBOID, false);
}

/* The same with JSON as text. */
Datum
kakehashi_enqueue_text(PG_FUNCTION_ARGS)
{
	return enqueue(fcinfo, JSONBOID, true);
}

/* The same with any bytes. */
Datum
kakehashi_enqueue_bytes(PG_FUNCTION_ARGS)
{
	return enqueue(fcinfo, BYTEAOID, false);
}

/* ---- the end of a lease ---- */

static Datum
complete(FunctionCallInfo fcinfo, Oid type)
{
	Datum values[1];
	bool nulls[1];

	PreventCommandIfReadOnly("kakehashi_complete()");
	take_arguments(fcinfo, 1, 1, values, nulls);
	return call_function(fcinfo, "SELECT complete($1)", 1, &type, values, nulls, KAKEHASHI_QUEUE_WITHIN, INT4OID);
}

/* kakehashi_complete(server, token) */
Datum
kakehashi_complete(PG_FUNCTION_ARGS)
{
	return complete(fcinfo, TEXTOID);
}

/* kakehashi_complete(server, tokens[]) */
Datum
kakehashi_complete_all(PG_FUNCTION_ARGS)
{
	return complete(fcinfo, TEXTARRAYOID);
}

/* kakehashi_fail(server, token, error, retry_in) */
Datum
kakehashi_fail(PG_FUNCTION_ARGS)
{
	const Oid types[] = {TEXTOID, TEXTOID, INTERVALOID};
	Datum values[3];
	bool nulls[3];

	PreventCommandIfReadOnly("kakehashi_fail()");
	take_arguments(fcinfo, 3, 1, values, nulls);
	return call_function(fcinfo, "SELECT fail($1, error => $2, retry_in => $3)", 3, types, values, nulls,
	                     KAKEHASHI_QUEUE_WITHIN, BOOLOID);
}

/* kakehashi_release(server, token) */
Datum
kakehashi_release(PG_FUNCTION_ARGS)
{
	const Oid types[] = {TEXTOID};
	Datum values[1];
	bool nulls[1];

	PreventCommandIfReadOnly("kakehashi_release()");
	take_arguments(fcinfo, 1, 1, values, nulls);
	return call_function(fcinfo, "SELECT release($1)", 1, types, values, nulls, KAKEHASHI_QUEUE_WITHIN, BOOLOID);
}

/* kakehashi_cancel_task(server, queue, task_id) */
Datum
kakehashi_cancel_task(PG_FUNCTION_ARGS)
{
	const Oid types[] = {TEXTOID, INT8OID};
	Datum values[2];
	bool nulls[2];

	PreventCommandIfReadOnly("kakehashi_cancel_task()");
	take_arguments(fcinfo, 2, 2, values, nulls);
	return call_function(fcinfo, "SELECT cancel_task($1, $2)", 2, types, values, nulls, KAKEHASHI_QUEUE_WITHIN,
	                     BOOLOID);
}

/* kakehashi_extend_lease(server, token, lease): no transaction takes it back */
Datum
kakehashi_extend_lease(PG_FUNCTION_ARGS)
{
	const Oid types[] = {TEXTOID, INTERVALOID};
	Datum values[2];
	bool nulls[2];

	take_arguments(fcinfo, 2, 1, values, nulls);
	return call_function(fcinfo, "SELECT extend($1, lease => $2)", 2, types, values, nulls, KAKEHASHI_QUEUE_APART,
	                     TIMESTAMPTZOID);
}

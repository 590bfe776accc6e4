/*
 * The language kakehashi: a function of it asks the engine for the value of a function there.
 *
 * Functions of applications change nothing, so they are asked for outside of the current transaction, but for one that has changed the engine's
 * catalogue. One call is one request.
 */
#include "fdw/command/command.h"
#include "fdw/deparse/deparse.h"
#include "fdw/row/row.h"
#include "fdw/transaction/transaction.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(kakehashi_language_handler);
PG_FUNCTION_INFO_V1(kakehashi_language_validator);

/* What a call site keeps of its stub; in its fn_mcxt. */
typedef struct StubCall
{
	KakehashiStub stub;
	Oid server_id;
	char *sql;
	int count; /* arguments */
	bool returns_set;
	KakehashiRowWriter *writer;
	TupleDesc desc;          /* of the one value; NULL: it returns a set */
	KakehashiResultMap *map; /* likewise */
	int16 length;
	bool by_value;
} StubCall;

static void
check_type(Oid type, const char *what)
{
	if (!OidIsValid(kakehashi_bridge_type(type, NULL)))
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
		                errmsg("%s has type %s, which the engine does not have", what, kakehashi_type_name(type))));
}

/* The statement that asks for a value, or for rows; arguments are its parameters. */
static char *
statement_of(const KakehashiStub *stub, int count, bool returns_set)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, returns_set ? "SELECT * FROM " : "SELECT ");
	kakehashi_deparse_stub(&sql, stub);
	if (stub->is_aggregate)
		appendStringInfoString(&sql, "(v) FROM unnest($1) AS t(v)");
	else
	{
		appendStringInfoChar(&sql, '(');
		for (int i = 1; i <= count; i++)
			appendStringInfo(&sql, i == 1 ? "$%d" : ", $%d", i);
		appendStringInfoChar(&sql, ')');
	}
	return sql.data;
}

static StubCall *
make_call(FmgrInfo *info)
{
	MemoryContext old = MemoryContextSwitchTo(info->fn_mcxt);
	StubCall *call = (StubCall *) palloc0(sizeof(StubCall));
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(info->fn_oid));
	Form_pg_proc form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", info->fn_oid);
	form = (Form_pg_proc) GETSTRUCT(tuple);
	if (!kakehashi_stub_read(info->fn_oid, &call->stub))
		ereport(ERROR, (errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
		                errmsg("function \"%s\" does not name a function of an engine", NameStr(form->proname))));
	call->server_id = get_foreign_server_oid(call->stub.server, false);
	call->count = form->pronargs;
	call->returns_set = form->proretset;
	call->sql = statement_of(&call->stub, call->count, call->returns_set);
	call->writer = kakehashi_row_writer_create(info->fn_mcxt, call->count, form->proargtypes.values);
	if (!call->returns_set)
	{
		call->desc = CreateTemplateTupleDesc(1);
		TupleDescInitEntry(call->desc, 1, NameStr(form->proname), form->prorettype, -1, 0);
		TupleDescFinalize(call->desc);
		call->map = kakehashi_result_map(call->desc, list_make1_int(1), NameStr(form->proname));
		get_typlenbyval(form->prorettype, &call->length, &call->by_value);
	}
	ReleaseSysCache(tuple);
	MemoryContextSwitchTo(old);
	return call;
}

static KakehashiCall *
send(StubCall *stub, FunctionCallInfo fcinfo, KakehashiSession *session, KakehashiStatement *statement)
{
	Datum values[FUNC_MAX_ARGS];
	bool nulls[FUNC_MAX_ARGS];
	const void *row;
	uint32 bytes;

	for (int i = 0; i < stub->count; i++)
	{
		values[i] = fcinfo->args[i].value;
		nulls[i] = fcinfo->args[i].isnull;
	}
	kakehashi_row_writer_start(stub->writer, session, 1);
	if (!kakehashi_row_writer_add(stub->writer, values, nulls))
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
		                errmsg("the arguments exceed the endpoint's limit of %u bytes",
		                       kh_session_limits(session->ipc)->max_batch_bytes)));
	row = kakehashi_row_writer_finish(stub->writer, &bytes);
	return kakehashi_execute_read(session, statement, row, bytes);
}

static KakehashiStatement *
statement_for(StubCall *stub, KakehashiSession *session)
{
	return kakehashi_statement_get(session, stub->sql, stub->writer->types, stub->count);
}

/* The engine's function may return another type than the stub says. */
static KakehashiStatement *
check_result(StubCall *stub, KakehashiSession *session, KakehashiStatement *statement)
{
	Oid expected = kakehashi_bridge_type(TupleDescAttr(stub->desc, 0)->atttypid, NULL);

	if (statement->column_count != 1 || !kakehashi_same_form(expected, statement->columns[0].type_oid))
		statement = kakehashi_statement_renew(session, statement);
	if (statement->column_count != 1 || !kakehashi_same_form(expected, statement->columns[0].type_oid))
		ereport(ERROR,
		        (errcode(ERRCODE_DATATYPE_MISMATCH),
		         errmsg("function %s.%s of server \"%s\" does not return type %s", quote_identifier(stub->stub.schema),
		                quote_identifier(stub->stub.function), stub->stub.server, kakehashi_type_name(expected)),
		         errhint("Drop the function here, and call kakehashi_import_functions() again.")));
	return statement;
}

static Datum
one_value(StubCall *stub, FunctionCallInfo fcinfo, KakehashiSession *session)
{
	KakehashiCall *call = send(stub, fcinfo, session, check_result(stub, session, statement_for(stub, session)));
	Datum value = (Datum) 0;
	bool is_null = true;
	kh_batch batch;

	while (kakehashi_call_next_batch(call, &batch))
	{
		if (batch.row_count > 0)
		{
			kakehashi_result_values(stub->map, &batch, 0, &value, &is_null);
			/* It lies in memory that goes back with the batch. */
			if (!is_null)
				value = datumCopy(value, stub->by_value, stub->length);
		}
		kh_call_release(call->ipc);
	}
	(void) kakehashi_call_complete(call);
	fcinfo->isnull = is_null;
	return value;
}

Datum
kakehashi_language_handler(PG_FUNCTION_ARGS)
{
	StubCall *stub = (StubCall *) fcinfo->flinfo->fn_extra;
	KakehashiSession *session;

	if (CALLED_AS_TRIGGER(fcinfo) || CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
		        (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED), errmsg("functions of an engine are no triggers")));
	if (stub == NULL)
	{
		stub = make_call(fcinfo->flinfo);
		fcinfo->flinfo->fn_extra = stub;
	}
	session = kakehashi_session_get(GetUserMapping(GetUserId(), stub->server_id));
	kakehashi_require(session, KH_CAN_APPLICATIONS);
	if (stub->returns_set)
	{
		KakehashiStatement *statement;

		InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
		statement = statement_for(stub, session);
		kakehashi_check_columns(statement, ((ReturnSetInfo *) fcinfo->resultinfo)->setDesc);
		kakehashi_return_rows((ReturnSetInfo *) fcinfo->resultinfo, send(stub, fcinfo, session, statement),
		                      stub->stub.function);
		return (Datum) 0;
	}
	return one_value(stub, fcinfo, session);
}

static void
check_result_type(Form_pg_proc form, Oid function)
{
	TupleDesc desc;
	Oid type;

	switch (get_func_result_type(function, &type, &desc))
	{
		case TYPEFUNC_SCALAR:
			check_type(type, "the result");
			break;
		case TYPEFUNC_COMPOSITE:
			if (form->proretset)
			{
				for (int i = 0; i < desc->natts; i++)
					check_type(TupleDescAttr(desc, i)->atttypid, "a column of the result");
				break;
			}
			pg_fallthrough;
		default:
			ereport(ERROR,
			        (errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
			         errmsg("functions of language %s return a value, or rows with columns", KAKEHASHI_LANGUAGE)));
	}
}

Datum
kakehashi_language_validator(PG_FUNCTION_ARGS)
{
	Oid function = PG_GETARG_OID(0);
	HeapTuple tuple;
	Form_pg_proc form;
	KakehashiStub stub;

	if (!CheckFunctionValidatorAccess(fcinfo->flinfo->fn_oid, function))
		PG_RETURN_VOID();
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	form = (Form_pg_proc) GETSTRUCT(tuple);
	if (form->prokind != PROKIND_FUNCTION)
		ereport(ERROR, (errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
		                errmsg("language %s has functions alone", KAKEHASHI_LANGUAGE),
		                errhint("Call procedures of the engine by kakehashi_call().")));
	if (!kakehashi_stub_read(function, &stub))
		ereport(ERROR, (errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
		                errmsg("the text of a function of language %s is: server.schema.function", KAKEHASHI_LANGUAGE),
		                errhint("kakehashi_import_functions() makes such functions.")));
	for (int i = 0; i < form->pronargs; i++)
		check_type(form->proargtypes.values[i], "a parameter");
	if (stub.is_aggregate && (form->pronargs != 1 || !OidIsValid(get_element_type(form->proargtypes.values[0]))))
		ereport(ERROR, (errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
		                errmsg("a function that stands for an aggregate takes an array of its arguments")));
	check_result_type(form, function);
	ReleaseSysCache(tuple);
	/* A dump is restored before its servers are what they were; their existence is asked for by the first call then. */
	if (check_function_bodies)
		(void) kakehashi_server_by_name(stub.server);
	PG_RETURN_VOID();
}

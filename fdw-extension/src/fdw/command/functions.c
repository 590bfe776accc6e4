/*
 * SQL functions: statements on the engine, and the state of the sessions.
 */
#include "fdw/command/command.h"
#include "fdw/transaction/transaction.h"
#include "fdw/modify/modify.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"
#if PG_VERSION_NUM >= 160000
#include "catalog/pg_foreign_server.h"
#endif

PG_FUNCTION_INFO_V1(kakehashi_execute);
PG_FUNCTION_INFO_V1(kakehashi_query);
PG_FUNCTION_INFO_V1(kakehashi_disconnect);
PG_FUNCTION_INFO_V1(kakehashi_sessions);
PG_FUNCTION_INFO_V1(kakehashi_resolve);

void
kakehashi_check_usage(ForeignServer *server)
{
#if PG_VERSION_NUM >= 160000
	AclResult result = object_aclcheck(ForeignServerRelationId, server->serverid, GetUserId(), ACL_USAGE);
#else
	AclResult result = pg_foreign_server_aclcheck(server->serverid, GetUserId(), ACL_USAGE);
#endif

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FOREIGN_SERVER, server->servername);
}

bool
kakehashi_is_server(ForeignServer *server)
{
	Oid validator = GetForeignDataWrapper(server->fdwid)->fdwvalidator;
	const char *name = OidIsValid(validator) ? get_func_name(validator) : NULL;

	return name != NULL && strcmp(name, "kakehashi_fdw_validator") == 0;
}

/* Servers of other wrappers have options of their own. */
ForeignServer *
kakehashi_server_by_name(const char *name)
{
	ForeignServer *server = GetForeignServerByName(name, false);

	if (!kakehashi_is_server(server))
		ereport(ERROR,
		        (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("server \"%s\" is not a server of kakehashi_fdw", name),
		         errdetail("It belongs to the foreign-data wrapper \"%s\".",
		                   GetForeignDataWrapper(server->fdwid)->fdwname)));
	kakehashi_check_usage(server);
	return server;
}

KakehashiSession *
kakehashi_session_by_name(const char *name)
{
	return kakehashi_session_get(GetUserMapping(GetUserId(), kakehashi_server_by_name(name)->serverid));
}

/*
 * Statements of the user are executed in the time zone of PostgreSQL's session. Whatever is pushed down does not depend on one. SET is executed
 * outside of the transaction, so that no rollback undoes it, unless the transaction has changed the engine's catalogue.
 */
void
kakehashi_set_time_zone(KakehashiSession *session)
{
	const char *zone = pg_get_timezone_name(session_timezone);
	char *sql;

	if (strcmp(session->time_zone, zone) == 0)
		return;
	sql = psprintf("SET TIME ZONE %s", quote_literal_cstr(zone));
	(void) kakehashi_call_complete(
		kakehashi_execute_read(session, kakehashi_statement_get(session, sql, NULL, 0), NULL, 0));
	strlcpy(session->time_zone, zone, sizeof(session->time_zone));
}

Datum
kakehashi_execute(PG_FUNCTION_ARGS)
{
	KakehashiSession *session = kakehashi_session_by_name(NameStr(*PG_GETARG_NAME(0)));
	char *sql = text_to_cstring(PG_GETARG_TEXT_PP(1));
	KakehashiStatement *statement;
	bool is_ddl;
	uint64 rows;

	/* It sees all that was done before it. */
	kakehashi_gather_flush(InvalidCommandId);
	kakehashi_set_time_zone(session);
	statement = kakehashi_statement_get(session, sql, NULL, 0);
	is_ddl = statement->kind == KH_DDL;
	kakehashi_check_writable(session, statement, "kakehashi_execute()");
	/* Of the engine's SET ROLE nobody else is told. */
	session->asks_always |= statement->kind == KH_QUERY;
	rows = kakehashi_call_complete(kakehashi_execute_statement(session, statement, NULL, NULL, 0));

	/* Estimates of tables that have changed, or are new; again when the transaction has ended. */
	if (is_ddl)
	{
		session->defined = true;
		kakehashi_catalog_forget(session->server_id);
		kakehashi_statistics_forget(session->server_id);
	}
	PG_RETURN_INT64((int64) rows);
}

void
kakehashi_check_columns(KakehashiStatement *statement, TupleDesc desc)
{
	if (statement->column_count != desc->natts)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
		                errmsg("column definition list has %d columns, but the statement returns %d", desc->natts,
		                       statement->column_count)));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		const kh_column *column = &statement->columns[i];

		if (!kakehashi_same_form(kakehashi_bridge_type(att->atttypid, NULL), column->type_oid))
			ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
			                errmsg("column %d of the statement has type %s, but the column definition list says %s",
			                       i + 1, kakehashi_type_name(column->type_oid), kakehashi_type_name(att->atttypid)),
			                errhint("Write \"%s %s\" in the column definition list, or cast in the statement.",
			                        NameStr(att->attname), kakehashi_type_name(column->type_oid))));
	}
}

/* Puts the rows of a statement into the function's result, whose columns must be the statement's. */
void
kakehashi_return_rows(ReturnSetInfo *info, KakehashiCall *call, const char *function)
{
	List *attnums = NIL;
	KakehashiResultMap *map;
	TupleTableSlot *slot;
	kh_batch batch;

	for (int attnum = 1; attnum <= info->setDesc->natts; attnum++)
		attnums = lappend_int(attnums, attnum);
	map = kakehashi_result_map(info->setDesc, attnums, function);
	slot = MakeSingleTupleTableSlot(info->setDesc, &TTSOpsVirtual);
	while (kakehashi_call_next_batch(call, &batch))
	{
		for (uint32 row = 0; row < batch.row_count; row++)
		{
			kakehashi_result_store(map, &batch, row, slot);
			tuplestore_puttupleslot(info->setResult, slot);
		}
		ExecClearTuple(slot);
		kh_call_release(call->ipc);
	}
	(void) kakehashi_call_complete(call);
	ExecDropSingleTupleTableSlot(slot);
}

Datum
kakehashi_query(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	KakehashiSession *session = kakehashi_session_by_name(NameStr(*PG_GETARG_NAME(0)));
	char *sql = text_to_cstring(PG_GETARG_TEXT_PP(1));
	KakehashiStatement *statement;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	/* It sees all that was done before it. */
	kakehashi_gather_flush(InvalidCommandId);
	kakehashi_set_time_zone(session);
	statement = kakehashi_statement_get(session, sql, NULL, 0);
	kakehashi_check_columns(statement, info->setDesc);
	kakehashi_check_writable(session, statement, "kakehashi_query()");
	kakehashi_return_rows(info, kakehashi_execute_statement(session, statement, NULL, NULL, 0), "kakehashi_query");
	return (Datum) 0;
}

Datum
kakehashi_return_catalog(FunctionCallInfo fcinfo, kh_capability needed, const char *sql)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	KakehashiSession *session = kakehashi_session_by_name(NameStr(*PG_GETARG_NAME(0)));
	KakehashiStatement *statement;

	kakehashi_require(session, needed);
	InitMaterializedSRF(fcinfo, 0);
	statement = kakehashi_statement_get(session, sql, NULL, 0);
	kakehashi_check_columns(statement, info->setDesc);
	kakehashi_return_rows(info, kakehashi_execute_read(session, statement, NULL, 0), "kakehashi_catalog");
	return (Datum) 0;
}

/* Sessions that a transaction uses stay until its end. */
Datum
kakehashi_disconnect(PG_FUNCTION_ARGS)
{
	ForeignServer *server = kakehashi_server_by_name(NameStr(*PG_GETARG_NAME(0)));
	HASH_SEQ_STATUS scan;
	KakehashiSession *session;
	bool found = false;

	if (kakehashi_session_table() == NULL)
		PG_RETURN_BOOL(false);
	hash_seq_init(&scan, kakehashi_session_table());
	while ((session = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
	{
		if (session->ipc == NULL || session->server_id != server->serverid)
			continue;
		if (session->level > 0 || session->held != NULL || !dlist_is_empty(&session->calls))
		{
			hash_seq_term(&scan);
			ereport(ERROR,
			        (errcode(ERRCODE_OBJECT_IN_USE),
			         errmsg("session with server \"%s\" is in use by the current transaction", server->servername),
			         errhint("Disconnect after the end of the transaction.")));
		}
		kakehashi_session_detach(session);
		found = true;
	}
	PG_RETURN_BOOL(found);
}

Datum
kakehashi_sessions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	HASH_SEQ_STATUS scan;
	KakehashiSession *session;

	InitMaterializedSRF(fcinfo, 0);
	if (kakehashi_session_table() == NULL)
		return (Datum) 0;
	hash_seq_init(&scan, kakehashi_session_table());
	while ((session = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
	{
		NameData server_name;
		NameData user_name;
		const char *user;
		Datum values[9];
		bool nulls[9] = {false};

		if (session->ipc == NULL)
			continue;
		user = OidIsValid(session->user_id) ? GetUserNameFromId(session->user_id, true) : "public";
		namestrcpy(&server_name, session->server_name);
		namestrcpy(&user_name, user != NULL ? user : "");
		nulls[1] = user == NULL;
		values[0] = NameGetDatum(&server_name);
		values[1] = NameGetDatum(&user_name);
		values[2] = Int64GetDatum((int64) kh_session_id(session->ipc));
		values[3] = Int64GetDatum((int64) kh_session_incarnation(session->ipc));
		values[4] = BoolGetDatum(kh_session_alive(session->ipc));
		values[5] = BoolGetDatum(!session->invalidated);
		values[6] = BoolGetDatum(session->level > 0);
		values[7] = Int32GetDatum((int32) kh_session_calls(session->ipc));
		values[8] = Int32GetDatum(kakehashi_statements_count(session));
		tuplestore_putvalues(info->setResult, info->setDesc, values, nulls);
	}
	return (Datum) 0;
}

static void
put_resolved(const char *global_id, const char *outcome, void *arg)
{
	ReturnSetInfo *info = (ReturnSetInfo *) arg;
	Datum values[2] = {CStringGetTextDatum(global_id), CStringGetTextDatum(outcome)};
	bool nulls[2] = {false};

	tuplestore_putvalues(info->setResult, info->setDesc, values, nulls);
}

Datum
kakehashi_resolve(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	KakehashiSession *session = kakehashi_session_by_name(NameStr(*PG_GETARG_NAME(0)));

	InitMaterializedSRF(fcinfo, 0);
	(void) kakehashi_two_phase_resolve(session, put_resolved, info);
	return (Datum) 0;
}

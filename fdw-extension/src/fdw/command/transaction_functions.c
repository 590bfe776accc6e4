/*
 * SQL functions about transactions of the engine: their names outside of this backend, what became of them, and their end.
 */
#include "fdw/command/command.h"
#include "fdw/modify/modify.h"
#include "fdw/row/row.h"
#include "fdw/transaction/transaction.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(kakehashi_current_transaction);
PG_FUNCTION_INFO_V1(kakehashi_transaction_token);
PG_FUNCTION_INFO_V1(kakehashi_continue_transaction);
PG_FUNCTION_INFO_V1(kakehashi_cancel);
PG_FUNCTION_INFO_V1(kakehashi_terminate_transaction);
PG_FUNCTION_INFO_V1(kakehashi_transaction_status);

/* Nothing longer is sent to be told that it is no token. */
#define MAX_TOKEN_BYTES 100

/* The session of a transaction that is under way; NULL: there is none. */
static KakehashiSession *
session_in_transaction(const char *function)
{
	HASH_SEQ_STATUS scan;
	KakehashiSession *session;
	KakehashiSession *found = NULL;

	if (kakehashi_session_table() == NULL)
		return NULL;
	hash_seq_init(&scan, kakehashi_session_table());
	while ((session = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
	{
		if (session->level == 0 || session->leader != NULL || session->leaving)
			continue;
		if (found != NULL)
		{
			hash_seq_term(&scan);
			ereport(ERROR,
			        (errcode(ERRCODE_AMBIGUOUS_PARAMETER), errmsg("the current transaction uses more than one session"),
			         errhint("Name the server: %s('server').", function)));
		}
		found = session;
	}
	return found;
}

/* The session of the server that the function's argument names, or else of the only one in use; NULL: none is. */
static KakehashiSession *
session_of_argument(FunctionCallInfo fcinfo, const char *function)
{
	KakehashiSession *session;

	if (!PG_ARGISNULL(0))
		return kakehashi_session_by_name(NameStr(*PG_GETARG_NAME(0)));
	session = session_in_transaction(function);
	if (session != NULL)
		kakehashi_check_usage(GetForeignServer(session->server_id));
	return session;
}

Datum
kakehashi_current_transaction(PG_FUNCTION_ARGS)
{
	KakehashiSession *session = session_of_argument(fcinfo, "kakehashi_current_transaction");

	if (session == NULL)
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) kakehashi_xact_share(session));
}

Datum
kakehashi_transaction_token(PG_FUNCTION_ARGS)
{
	KakehashiSession *session = session_of_argument(fcinfo, "kakehashi_transaction_token");
	KakehashiCall *call;
	kh_error error;
	uint64 handle;
	text *token;

	if (session == NULL)
		PG_RETURN_NULL();
	/* Who continues it sees all that was done before. */
	kakehashi_gather_flush(InvalidCommandId);
	handle = kakehashi_xact_share(session);
	kakehashi_call_make_room(session);
	call = kakehashi_call_new(session, NULL);
	(void) kakehashi_call_sent(call, kh_send_export_transaction(session->ipc, handle, &error), &error);
	call->in_transaction = true;
	(void) kakehashi_call_finish(call);
	token = cstring_to_text(kh_call_token(call->ipc));
	kakehashi_call_end(call);
	pfree(call);
	PG_RETURN_TEXT_P(token);
}

/* Whatever is no token of a transaction that can be continued is the same to who asks. */
Datum
kakehashi_continue_transaction(PG_FUNCTION_ARGS)
{
	KakehashiSession *session = kakehashi_session_by_name(NameStr(*PG_GETARG_NAME(0)));
	char *token = text_to_cstring(PG_GETARG_TEXT_PP(1));

	/* A statement that gathers rows has not begun a transaction yet, and will. */
	kakehashi_gather_flush(InvalidCommandId);
	if (session->leaving)
		kakehashi_joined_leave(session);
	if (session->level > 0)
		ereport(ERROR,
		        (errcode(kakehashi_errcode(KH_E_ACTIVE_TRANSACTION)),
		         errmsg("the current transaction has one on server \"%s\" already", session->server_name),
		         errhint("Continue a transaction before anything else is done on the server, or after the end of the "
		                 "current transaction.")));
	if (strlen(token) > MAX_TOKEN_BYTES || !kakehashi_joined_continue(session, token))
		ereport(ERROR, (errcode(kakehashi_errcode(KH_E_NO_SUCH_TRANSACTION)),
		                errmsg("there is no such transaction on server \"%s\"", session->server_name),
		                errdetail("It has ended, or is another user's, or the text is not a token of a transaction.")));
	PG_RETURN_VOID();
}

/* The answer does not wait for the end of what is canceled: whoever sent that is told. */
Datum
kakehashi_cancel(PG_FUNCTION_ARGS)
{
	KakehashiSession *session = kakehashi_session_by_name(NameStr(*PG_GETARG_NAME(0)));
	KakehashiCall *call;
	kh_error error;
	bool found;

	kakehashi_call_make_room(session);
	call = kakehashi_call_new(session, NULL);
	(void) kakehashi_call_sent(call, kh_send_cancel_transaction(session->ipc, (uint64) PG_GETARG_INT64(1), &error),
	                           &error);
	found = kakehashi_call_finish(call)->transaction_state == KH_TX_ACTIVE;
	kakehashi_call_end(call);
	pfree(call);
	PG_RETURN_BOOL(found);
}

/* A statement apart from the current transaction, which may be the one to end, and whose end takes nothing back. */
Datum
kakehashi_terminate_transaction(PG_FUNCTION_ARGS)
{
	const Oid types[] = {INT8OID};
	const Datum values[] = {PG_GETARG_DATUM(1)};
	const bool nulls[] = {false};
	KakehashiSession *session = kakehashi_session_by_name(NameStr(*PG_GETARG_NAME(0)));
	KakehashiRowWriter *writer = kakehashi_row_writer_create(CurrentMemoryContext, 1, types);
	KakehashiStatement *statement;
	KakehashiCall *call;
	const void *row;
	uint32 bytes;
	kh_batch batch;
	bool found = false;

	statement = kakehashi_statement_get(session, "SELECT terminate_transaction($1)", writer->types, 1);
	kakehashi_row_writer_start(writer, session, 1);
	(void) kakehashi_row_writer_add(writer, values, nulls); /* eight bytes always fit */
	row = kakehashi_row_writer_finish(writer, &bytes);
	call = kakehashi_execute_apart(session, statement, row, bytes);
	while (kakehashi_call_next_batch(call, &batch))
	{
		if (batch.row_count > 0 && !kh_batch_is_null(&batch, 0, 0))
			found = kh_batch_word(&batch, 0, 0) != 0;
		kh_call_release(call->ipc);
	}
	(void) kakehashi_call_complete(call);
	PG_RETURN_BOOL(found);
}

/* In the terms of pg_xact_status(). */
static const char *
status_name(kh_transaction_state state)
{
	switch (state)
	{
		case KH_TX_ACTIVE:
			return "in progress";
		case KH_TX_COMMITTED:
			return "committed";
		case KH_TX_ABORTED:
			return "aborted";
		case KH_TX_PREPARED:
			return "prepared";
		default:
			return "unknown";
	}
}

Datum
kakehashi_transaction_status(PG_FUNCTION_ARGS)
{
	KakehashiSession *session = kakehashi_session_by_name(NameStr(*PG_GETARG_NAME(0)));
	uint64 handle = (uint64) PG_GETARG_INT64(1);
	KakehashiCall *call;
	kh_error error;
	kh_transaction_state state;

	/* To the engine 0 is the session's own transaction. */
	if (handle == 0)
		PG_RETURN_TEXT_P(cstring_to_text(status_name(KH_TX_UNKNOWN)));
	kakehashi_call_make_room(session);
	call = kakehashi_call_new(session, NULL);
	(void) kakehashi_call_sent(call, kh_send_query_outcome(session->ipc, handle, &error), &error);
	state = kakehashi_call_finish(call)->transaction_state;
	kakehashi_call_end(call);
	pfree(call);
	PG_RETURN_TEXT_P(cstring_to_text(status_name(state)));
}

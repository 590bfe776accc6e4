/*
 * Calls: requests whose response slot is ours until they end.
 *
 * A call is born by kh_send_*, and every path out of it ends in kakehashi_call_end: the normal one by its user, an error
 * or a cancel by the (sub)transaction callbacks, which end whatever the dying (sub)transaction has left. A user whose call
 * was ended in that way finds ipc NULL.
 *
 * Its memory is there before the request is sent: from there on until the call is in its session's list nothing can fail.
 */
#include "fdw/session/session.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/pmsignal.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

KakehashiCall *
kakehashi_call_new(KakehashiSession *session, const char *sql)
{
	KakehashiCall *call = (KakehashiCall *) MemoryContextAllocZero(TopTransactionContext, sizeof(KakehashiCall));

	call->session = session;
	call->sql = sql;
	return call;
}

KakehashiCall *
kakehashi_call_sent(KakehashiCall *call, kh_call *ipc, const kh_error *error)
{
	KakehashiSession *session = call->session;

	if (ipc == NULL)
	{
		/* Class 08 means that nothing more can be sent. */
		if (strncmp(error->sqlstate, "08", 2) == 0 || !kh_session_alive(session->ipc))
		{
			session->lost = true;
			kakehashi_report_lost(session, error, call->sql);
		}
		kakehashi_report_error(error, session, call->sql);
	}
	call->ipc = ipc;
	call->subid = GetCurrentSubTransactionId();
	dlist_push_head(&session->calls, &call->node);
	return call;
}

/* Takes note of what the final frame says about the transaction. */
static void
note_transaction(KakehashiCall *call, const kh_result *result)
{
	KakehashiSession *session = call->session->leader != NULL ? call->session->leader : call->session;

	if (!call->in_transaction || session->level == 0)
		return;
	switch (result->transaction_state)
	{
		case KH_TX_ACTIVE:
			session->handle = result->transaction_handle;
			/* What was read before a failure nobody has said. */
			session->undurable_reads |= result->undurable_reads || result->failed;
			break;
		case KH_TX_ABORTED:
			/* Behind a good answer the reason has not been said: the next request brings it. */
			session->aborted |= result->failed;
			break;
		case KH_TX_NONE:
			/* Failed before the transaction began. */
			if (result->failed && session->handle == 0)
				session->level = 0;
			break;
		case KH_TX_PREPARED:
			session->prepared |= call->statement != NULL;
			break;
		case KH_TX_COMMITTED:
		case KH_TX_UNKNOWN:
			break;
	}
}

/* Data exceptions of what was asked for on suspicion. The statement is undone, and the transaction goes on. */
static bool
is_forgiven(const KakehashiCall *call, const kh_result *result)
{
	return call->tentative && !call->session->aborted && strncmp(result->error.sqlstate, "22", 2) == 0;
}

bool
kakehashi_call_failed(const KakehashiCall *call)
{
	return call->ipc != NULL && call->finished && kh_call_result(call->ipc)->failed;
}

static void
tell_owner(KakehashiCall *call, KakehashiCallEvent event)
{
	if (call->on_end != NULL)
		call->on_end(call, event);
}

static void
note_finished(KakehashiCall *call)
{
	const kh_result *result;

	if (call->finished)
		return;
	result = kh_call_result(call->ipc);
	call->finished = true;
	call->session->committing = false;
	tell_owner(call, KAKEHASHI_CALL_FINISHED);
	note_transaction(call, result);
	if (call->in_transaction && call->statement != NULL && call->statement->kind == KH_DML && !result->failed)
		call->session->rows_written += result->rows_affected;
	if (!result->failed || is_forgiven(call, result))
		return;
	/* The engine has dropped it, or DDL has changed what it returns: the next use prepares it again. */
	if (strcmp(result->error.sqlstate, "26000") == 0 || strcmp(result->error.sqlstate, "0A000") == 0)
		tell_owner(call, KAKEHASHI_CALL_STALE);
	if (strncmp(result->error.sqlstate, "08", 2) == 0 || strcmp(result->error.sqlstate, "57P01") == 0)
		call->session->invalidated = true;
	kakehashi_report_error(&result->error, call->session, call->sql);
}

/* As pg_stat_activity shows it: by name from PostgreSQL 17 on. */
static uint32
wait_event(const KakehashiSession *session)
{
#if PG_VERSION_NUM >= 170000
	static uint32 result = 0;
	static uint32 commit = 0;

	if (result == 0)
	{
		result = WaitEventExtensionNew("KakehashiResult");
		commit = WaitEventExtensionNew("KakehashiCommit");
	}
	return session->committing ? commit : result;
#else
	return PG_WAIT_EXTENSION;
#endif
}

void
kakehashi_check_wait(void)
{
	CHECK_FOR_INTERRUPTS();
	if (!PostmasterIsAlive())
		ereport(FATAL,
		        (errcode(ERRCODE_ADMIN_SHUTDOWN), errmsg("terminating connection due to unexpected postmaster exit")));
}

static kh_wait
wait_interruptibly(KakehashiCall *call)
{
	kh_error error;
	kh_wait wait;

	error.message[0] = '\0';
	for (;;)
	{
		kakehashi_check_wait();
		if (call->ipc == NULL)
			ereport(ERROR, (errcode(ERRCODE_INVALID_CURSOR_STATE),
			                errmsg("result from server \"%s\" is gone: the subtransaction that read it was rolled back",
			                       call->session->server_name)));
		pgstat_report_wait_start(wait_event(call->session));
		wait = kh_call_wait(call->ipc, KAKEHASHI_WAIT_SLICE_NANOS, &error);
		pgstat_report_wait_end();
		if (wait == KH_WAIT_DISCONNECTED)
		{
			call->session->lost = true;
			if (call->session->committing && call->session->handle == 0)
				call->session->handle = kh_call_begun(call->ipc);
			kakehashi_report_lost(call->session, &error, call->sql);
		}
		if (wait != KH_WAIT_TIMEOUT)
			return wait;
		kakehashi_tell_long_wait(call);
	}
}

static bool
next_batch(KakehashiCall *call, kh_batch *batch)
{
	kh_error error;

	for (;;)
	{
		if (wait_interruptibly(call) == KH_WAIT_FINISHED)
		{
			note_finished(call);
			return false;
		}
		error.message[0] = '\0';
		if (kh_call_batch(call->ipc, batch, &error))
			return true;
		if (error.message[0] != '\0')
			kakehashi_report_error(&error, call->session, call->sql);
	}
}

void
kakehashi_call_measure(KakehashiCall *call, KakehashiCost *cost)
{
	call->cost = cost;
	if (cost != NULL)
		cost->requests++;
}

bool
kakehashi_call_next_batch(KakehashiCall *call, kh_batch *batch)
{
	KakehashiCost *cost = call->cost;
	bool was_finished = call->finished;
	instr_time start;
	instr_time end;
	bool found;

	if (cost == NULL)
		return next_batch(call, batch);
	if (cost->timed)
	{
		INSTR_TIME_SET_CURRENT(start);
		found = next_batch(call, batch);
		INSTR_TIME_SET_CURRENT(end);
		INSTR_TIME_ACCUM_DIFF(cost->waited, end, start);
	}
	else
		found = next_batch(call, batch);
	if (found)
	{
		cost->batches++;
		cost->rows += batch->row_count;
		cost->bytes += batch->bytes;
	}
	else if (!was_finished)
	{
		const kh_result *result = kh_call_result(call->ipc);

		cost->ended++;
		cost->execution_nanos += result->execution_nanos;
		if (call->statement != NULL && call->statement->kind == KH_DML)
			cost->changed += result->rows_affected;
	}
	return found;
}

bool
kakehashi_call_is_ready(KakehashiCall *call, int64 timeout_nanos)
{
	kh_error error;
	kh_wait wait;

	if (call->ipc == NULL || call->finished)
		return true;
	kakehashi_check_wait();
	pgstat_report_wait_start(wait_event(call->session));
	wait = kh_call_wait(call->ipc, timeout_nanos, &error);
	pgstat_report_wait_end();
	if (wait == KH_WAIT_TIMEOUT && timeout_nanos > 0)
		kakehashi_tell_long_wait(call);
	return wait != KH_WAIT_TIMEOUT;
}

const kh_result *
kakehashi_call_finish(KakehashiCall *call)
{
	kh_batch batch;

	while (kakehashi_call_next_batch(call, &batch))
		kh_call_release(call->ipc);
	return kh_call_result(call->ipc);
}

const kh_result *
kakehashi_call_answer(KakehashiCall *call)
{
	while (wait_interruptibly(call) == KH_WAIT_BATCH)
		kh_call_release(call->ipc);
	call->finished = true;
	return kh_call_result(call->ipc);
}

void
kakehashi_call_end(KakehashiCall *call)
{
	if (call->ipc == NULL)
		return;
	tell_owner(call, KAKEHASHI_CALL_ENDED);
	/* Nor what its rows depend on. */
	call->session->undurable_reads |= call->in_transaction && !call->finished;
	kh_call_end(call->ipc);
	call->ipc = NULL;
	dlist_delete(&call->node);
}

static void
settle(KakehashiCall *call)
{
	call->rows_affected = kakehashi_call_finish(call)->rows_affected;
	kakehashi_call_end(call);
	call->settled = true;
}

uint64
kakehashi_call_complete(KakehashiCall *call)
{
	uint64 rows;

	if (!call->settled)
		settle(call);
	rows = call->rows_affected;
	pfree(call);
	return rows;
}

/* The request that has been on its way for longest among those that deliver no rows. */
static KakehashiCall *
oldest_rowless(KakehashiSession *session)
{
	dlist_iter iter;
	KakehashiCall *result = NULL;

	dlist_foreach(iter, &session->calls)
	{
		KakehashiCall *call = dlist_container(KakehashiCall, node, iter.cur);

		if (call->rowless)
			result = call;
	}
	return result;
}

void
kakehashi_call_make_room(KakehashiSession *session)
{
	while (kh_session_free_slots(session->ipc) == 0)
	{
		KakehashiCall *rowless;
		kh_error error;
		kh_room room;

		kakehashi_check_wait();
		pgstat_report_wait_start(wait_event(session));
		room = kh_session_await_slot(session->ipc, KAKEHASHI_WAIT_SLICE_NANOS, &error);
		pgstat_report_wait_end();
		if (room == KH_ROOM_LOST)
		{
			session->lost = true;
			kakehashi_report_lost(session, NULL, NULL);
		}
		if (room != KH_ROOM_NONE)
			continue;
		rowless = oldest_rowless(session);
		if (rowless == NULL)
			return;
		settle(rowless);
	}
}

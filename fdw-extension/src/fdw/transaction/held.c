/*
 * Rows of an INSERT that is alone in its transaction: they are held back until that commits, and go in one request with the commit.
 *
 * So the client waits for the engine once. The engine commits only if it could insert all rows, and its one answer is that of both: an error of a row is
 * reported by the commit, as that of a deferred constraint is. Who may hold rows back is decided in modify_alone.c and kakehashi_may_hold().
 *
 * Rows are held back only while the engine has nothing of the transaction. Whatever else asks the engine in it comes after them: they are sent
 * before its request (before_request of KakehashiCallbacks). They are forgotten when the engine has them, and not before: if they are refused in
 * a subtransaction that goes on, the commit finds them again.
 */
#include "fdw/transaction/transaction.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/memutils.h"
#include "utils/snapshot.h"
#include "utils/timestamp.h"

struct KakehashiHeld
{
	Oid relid;
	const char *sql;
	const Oid *types;
	int type_count;
	uint32 command; /* see kh_execute_options */
	const void *rows;
	uint32 bytes;
	bool sending; /* they are on their way */
	KakehashiCost cost;
};

/* An engine that keeps its rows elsewhere may insert fewer than it is given (triggers), and the client is told how many: it is asked first. */
bool
kakehashi_may_hold(KakehashiSession *session)
{
	return session->level == 0 && session->leader == NULL && session->rows_level == 0 && session->held == NULL &&
	       GetCurrentTransactionNestLevel() == 1 && !TransactionIdIsValid(GetTopTransactionIdIfAny()) &&
	       kakehashi_begins_plainly(session) && kakehashi_can(session, KH_CAN_COMMANDS) &&
	       kakehashi_can(session, KH_CAN_BACKUP);
}

static void *
copied(const void *source, Size bytes)
{
	void *copy = MemoryContextAlloc(TopTransactionContext, Max(bytes, 1));

	if (bytes > 0)
		memcpy(copy, source, bytes);
	return copy;
}

void
kakehashi_hold(KakehashiSession *session, Oid relid, const KakehashiStatement *statement, const void *owner,
               const void *rows, uint32 bytes)
{
	KakehashiHeld *held = (KakehashiHeld *) MemoryContextAllocZero(TopTransactionContext, sizeof(KakehashiHeld));

	Assert(kakehashi_may_hold(session));
	/* The statement may have to make room for another one, and the rest goes with the executor's memory. */
	held->relid = relid;
	held->sql = MemoryContextStrdup(TopTransactionContext, statement->sql);
	held->types = (const Oid *) copied(statement->types, statement->type_count * sizeof(Oid));
	held->type_count = statement->type_count;
	held->command = owner != NULL ? ((Snapshot) owner)->curcid + 1 : 0;
	held->rows = rows != NULL ? copied(rows, bytes) : NULL;
	held->bytes = bytes;
	/* Nothing may fail once they are committed. */
	kakehashi_count_later(relid);
	session->held = held;
}

/* Milliseconds that are left of statement_timeout, which PostgreSQL has switched off by now; not positive: none. */
static int64
timeout_left(void)
{
	return StatementTimeout - (GetCurrentTimestamp() - GetCurrentStatementStartTimestamp()) / 1000;
}

/*
 * The engine ends the statement by statement_timeout, and never the commit behind it: who could not know what has become of that need not ask. One that does
 * not even begin is ended here.
 */
static void
await_begin(KakehashiCall *call)
{
	while (StatementTimeout > 0 && !kakehashi_call_is_ready(call, KAKEHASHI_WAIT_SLICE_NANOS) &&
	       kh_call_begun(call->ipc) == 0)
	{
		if (timeout_left() <= 0)
			ereport(ERROR, (errcode(ERRCODE_QUERY_CANCELED), errmsg("canceling statement due to statement timeout"),
			                errdetail("Server \"%s\" has not begun it.", call->session->server_name)));
	}
}

static KakehashiCall *
send_held(KakehashiSession *session, bool commits)
{
	KakehashiHeld *held = session->held;
	KakehashiStatement *statement = kakehashi_statement_get(session, held->sql, held->types, held->type_count);
	KakehashiCall *call = kakehashi_execute_held(session, statement, held->command, commits,
	                                             commits && StatementTimeout > 0 ? (uint32) Max(timeout_left(), 1) : 0,
	                                             held->rows, held->bytes);

	kakehashi_call_measure(call, &held->cost);
	return call;
}

void
kakehashi_held_send(KakehashiSession *session)
{
	KakehashiHeld *held = session->held;
	int level = session->rows_level;

	held->sending = true;
	/* Whoever comes after them may be in a subtransaction; the rows are not. */
	session->rows_level = 1;
	PG_TRY();
	{
		(void) kakehashi_call_complete(send_held(session, false));
		session->held = NULL;
	}
	PG_FINALLY();
	{
		session->rows_level = level;
		held->sending = false;
	}
	PG_END_TRY();
	kakehashi_count(held->relid, &held->cost);
}

void
kakehashi_held_commit(KakehashiSession *session)
{
	KakehashiHeld *held = session->held;
	KakehashiCall *call;

	/* An endpoint that is gone already has not committed. */
	if (!kh_session_alive(session->ipc))
	{
		session->lost = true;
		kakehashi_report_lost(session, NULL, held->sql);
	}
	held->sending = true;
	call = send_held(session, true);
	/* From here on it may have committed. */
	session->committing = true;
	await_begin(call);
	(void) kakehashi_call_complete(call);
	session->committing = false;
	session->level = 0;
	session->held = NULL;
	kakehashi_count(held->relid, &held->cost);
}

static void
on_request(KakehashiSession *session)
{
	if (session->held != NULL && !session->held->sending)
		kakehashi_held_send(session);
}

void
kakehashi_held_init(void)
{
	static KakehashiCallbacks callbacks = {.before_request = on_request};

	kakehashi_callbacks_register(&callbacks);
}

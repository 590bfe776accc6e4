/*
 * Savepoints of the engine, which stand for the nesting levels of PostgreSQL's transaction.
 */
#include "fdw/transaction/transaction.h"

#include "utils/timestamp.h"

void
kakehashi_savepoint_send(KakehashiSession *session, kh_savepoint_verb verb, int level)
{
	kh_error error;
	const char *sql = verb == KH_SAVEPOINT           ? "SAVEPOINT"
	                  : verb == KH_RELEASE_SAVEPOINT ? "RELEASE SAVEPOINT"
	                                                 : "ROLLBACK TO SAVEPOINT";
	KakehashiCall *call = kakehashi_call_new(session, sql);
	kh_call *ipc = kh_send_savepoint(session->ipc, verb, session->handle, (uint32) (level - 1), &error);

	/* Counted before the answer: a cancel that comes meanwhile does not undo it. What was not sent is not there. */
	if (ipc != NULL && verb == KH_SAVEPOINT)
		session->level = level;
	(void) kakehashi_call_sent(call, ipc, &error);
	call->in_transaction = true;
	(void) kakehashi_call_complete(call);
}

/* The other sessions of this backend with the session's endpoint: a list of them. */
static List *
others_of(KakehashiSession *session)
{
	HASH_SEQ_STATUS scan;
	KakehashiSession *other;
	List *others = NIL;

	hash_seq_init(&scan, kakehashi_session_table());
	while ((other = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
	{
		if (other != session && other->ipc != NULL && !other->lost && kh_session_alive(other->ipc) &&
		    kh_session_incarnation(other->ipc) == kh_session_incarnation(session->ipc))
			others = lappend(others, other);
	}
	return others;
}

/* How long the end of a subtransaction waits for the engine: less than a user notices, and enough unless somebody else's statement is in the way. */
#define ROLLBACK_WAIT_MILLIS 1000

/* Without serving interrupts. True: it has finished. */
static bool
wait_briefly(KakehashiSession *session, kh_call *call, TimestampTz began)
{
	kh_error error;
	kh_wait wait;

	do
		wait = kh_call_wait(call, INT64CONST(1000000) * ROLLBACK_WAIT_MILLIS, &error);
	while (wait == KH_WAIT_TIMEOUT && !TimestampDifferenceExceeds(began, GetCurrentTimestamp(), ROLLBACK_WAIT_MILLIS));
	session->lost |= wait == KH_WAIT_DISCONNECTED;
	return wait == KH_WAIT_FINISHED;
}

/*
 * What other sessions of this backend have sent in the transaction, and not waited for, must not come after a rollback: each has a queue of its own. Within one the order
 * holds. So an answer to what comes behind it says that the endpoint has taken it.
 */
static void
await_others(KakehashiSession *session, TimestampTz began)
{
	List *others = others_of(session);
	ListCell *cell;

	foreach (cell, others)
	{
		KakehashiSession *other = (KakehashiSession *) lfirst(cell);
		kh_error error;
		kh_call *ping = kh_session_calls(other->ipc) > 0 ? kh_send_ping(other->ipc, "", 0, &error) : NULL;

		if (ping == NULL)
			continue;
		(void) wait_briefly(other, ping, began);
		kh_call_end(ping);
	}
	list_free(others);
}

/*
 * In a transaction that is this backend's alone nobody waits: the next request repeats the rollback, and so finds out whether it was done. In a shared one that would undo
 * what others have done meanwhile, and they may commit before it: so it is sent once, and waited for.
 */
static void
roll_back_shared(KakehashiSession *session, int level)
{
	TimestampTz began = GetCurrentTimestamp();
	kh_error error;
	kh_call *call;

	kakehashi_savepoint_forget(session);
	await_others(session, began);
	call = kh_send_savepoint(session->ipc, KH_ROLLBACK_TO_SAVEPOINT, session->handle, (uint32) (level - 1), &error);
	if (call == NULL)
	{
		/* Calls that were canceled a moment ago still have all slots. What cannot be sent at all is sent again later. */
		session->rolled_back =
			kh_post_rollback_to_savepoint(session->ipc, session->handle, (uint32) (level - 1), &error);
		return;
	}
	if (wait_briefly(session, call, began))
		session->rolled_back = !kh_call_result(call)->failed;
	else if (!session->lost)
	{
		session->rollback_call = call;
		return;
	}
	kh_call_end(call);
}

void
kakehashi_savepoint_rolled_back(KakehashiSession *session, int level)
{
	kh_error error;

	session->rollback_level = level;
	/* Those above go with it. */
	if (session->release_level > level)
		session->release_level = 0;
	if (session->ipc == NULL || session->lost || session->aborted)
		return;
	if (session->shared)
		roll_back_shared(session, level);
	else
		(void) kh_post_rollback_to_savepoint(session->ipc, session->handle, (uint32) (level - 1), &error);
}

void
kakehashi_savepoint_forget(KakehashiSession *session)
{
	if (session->rollback_call != NULL)
		kh_call_end(session->rollback_call);
	session->rollback_call = NULL;
	session->rolled_back = false;
}

/* The answer that the end of the subtransaction has not waited for to the end. */
static void
await_rollback(KakehashiSession *session)
{
	kh_error error;
	kh_wait wait;

	do
	{
		kakehashi_check_wait();
		wait = kh_call_wait(session->rollback_call, INT64CONST(40000000), &error);
	} while (wait == KH_WAIT_TIMEOUT);
	if (wait == KH_WAIT_DISCONNECTED)
	{
		kakehashi_savepoint_forget(session);
		session->lost = true;
		kakehashi_report_lost(session, &error, "ROLLBACK TO SAVEPOINT");
	}
	session->rolled_back = !kh_call_result(session->rollback_call)->failed;
	kh_call_end(session->rollback_call);
	session->rollback_call = NULL;
}

bool
kakehashi_savepoint_is_rolled_back(KakehashiSession *session)
{
	if (session->rollback_call != NULL)
		await_rollback(session);
	return session->rolled_back;
}

void
kakehashi_savepoint_confirm(KakehashiSession *session)
{
	if (session->rollback_level == 0)
		return;
	if (!kakehashi_savepoint_is_rolled_back(session))
		kakehashi_savepoint_send(session, KH_ROLLBACK_TO_SAVEPOINT, session->rollback_level);
	session->rolled_back = true;
}

void
kakehashi_savepoint_release(KakehashiSession *session, int level)
{
	if (session->shared)
	{
		/* COMMIT releases all levels, and another's commit may have been before it. Nobody needs it before the next request. */
		session->release_level = session->release_level == 0 ? level : Min(session->release_level, level);
		session->level = level - 1;
		return;
	}
	kakehashi_savepoint_send(session, KH_RELEASE_SAVEPOINT, level);
	session->level = level - 1;
}

void
kakehashi_savepoint_settle(KakehashiSession *session)
{
	int level = session->rollback_level;

	if (level == 0)
		return;
	kakehashi_savepoint_confirm(session);
	session->rolled_back = false;
	session->rollback_level = 0;
	/* The savepoint is still there; a retry of the release alone would be right, too. */
	session->level = level;
	kakehashi_savepoint_release(session, level);
}

void
kakehashi_savepoint_flush(KakehashiSession *session)
{
	int level;

	kakehashi_savepoint_settle(session);
	level = session->release_level;
	session->release_level = 0;
	if (level > 0)
		kakehashi_savepoint_send(session, KH_RELEASE_SAVEPOINT, level);
}

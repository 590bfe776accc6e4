/*
 * Transactions of the engine that PostgreSQL's transaction has not begun but continues.
 *
 * What follows over the session runs in it, and PostgreSQL's COMMIT and ROLLBACK end it for everybody: so what this backend has changed in it is committed if, and only
 * if, what it has changed elsewhere is. Whoever commits first ends it, and the others find it committed.
 *
 * Two foreign servers of one endpoint may continue the same transaction in one backend. Then the session that was there first (its leader) keeps handle, savepoints and end
 * for both, because there is one nesting of subtransactions and one end. The other one only runs its statements in it.
 *
 * If a subtransaction that has continued a transaction is rolled back, PostgreSQL's transaction is outside of it again: what it has done in it is undone, the rest is left
 * as it is, for those who have begun it.
 */
#include "fdw/transaction/transaction.h"

#include "access/xact.h"

/* The session of this backend that is in the transaction already. */
static KakehashiSession *
find_leader(KakehashiSession *session, uint64 handle)
{
	HASH_SEQ_STATUS scan;
	KakehashiSession *other;
	KakehashiSession *found = NULL;

	hash_seq_init(&scan, kakehashi_session_table());
	while ((other = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
	{
		/* A handle is of one endpoint. The one that has begun the transaction has handed the token out, and knows it. */
		if (other != session && other->ipc != NULL && other->level > 0 && !other->leaving && other->leader == NULL &&
		    other->handle == handle && kh_session_incarnation(other->ipc) == kh_session_incarnation(session->ipc))
			found = other;
	}
	return found;
}

bool
kakehashi_joined_continue(KakehashiSession *session, const char *token)
{
	const kh_result *result;
	KakehashiCall *call;
	kh_error error;
	uint64 handle;

	kakehashi_call_make_room(session);
	call = kakehashi_call_new(session, NULL);
	(void) kakehashi_call_sent(call, kh_send_continue_transaction(session->ipc, token, &error), &error);
	result = kakehashi_call_answer(call);
	if (result->failed)
	{
		error = result->error;
		kakehashi_call_end(call);
		if (strcmp(error.sqlstate, kh_sqlstate(KH_E_NO_SUCH_TRANSACTION)) != 0)
			kakehashi_report_error(&error, session, NULL);
		return false;
	}
	handle = result->transaction_handle;
	kakehashi_call_end(call);
	pfree(call);

	session->leader = find_leader(session, handle);
	session->joined_level = GetCurrentTransactionNestLevel();
	session->handle = handle;
	session->level = 1;
	session->is_read_only = false;
	session->snapshot_owner = NULL;
	/* Nobody here knows what others have done in it: its end has to be waited for, and its definitions may be there for it alone. */
	session->shared = true;
	session->wrote = true;
	session->defined = true;
	if (session->leader != NULL)
		session->leader->shared = session->leader->wrote = session->leader->defined = true;
	return true;
}

void
kakehashi_transaction_forget(KakehashiSession *session)
{
	kakehashi_tell_transaction_ended(session);
	if (session->defined)
		session->time_zone[0] = '\0';
	session->rows_written = 0;
	session->defined = false;
	session->level = 0;
	session->rollback_level = 0;
	session->release_level = 0;
	kakehashi_savepoint_forget(session);
	session->handle = 0;
	session->wrote = false;
	session->locked = false;
	session->undurable_reads = false;
	session->aborted = false;
	session->shared = false;
	session->prepared = false;
	session->leader = NULL;
	session->joined_level = 0;
	session->leaving = false;
	session->snapshot_owner = NULL;
	session->held = NULL;
	if (!session->lost && !session->invalidated)
		kakehashi_inbound_settle(session);
	if (session->ipc != NULL && (session->lost || session->invalidated || !session->keep))
		kakehashi_session_detach(session);
	session->lost = false;
}

void
kakehashi_joined_abandon(KakehashiSession *session)
{
	/* All savepoints of the session are inside of what is rolled back. Those of a session with a leader are the leader's. */
	if (session->leader != NULL || session->level == 1 || session->lost || session->aborted)
	{
		kakehashi_transaction_forget(session);
		return;
	}
	kakehashi_savepoint_rolled_back(session, 2);
	session->leaving = true;
	session->wrote = false;
	session->locked = false;
	session->undurable_reads = false;
}

/* False: the transaction has ended on its own, and nothing is left to do. */
static bool
leave_by(KakehashiSession *session, kh_savepoint_verb verb)
{
	kh_error error;
	KakehashiCall *call = kakehashi_call_new(session, "ROLLBACK TO SAVEPOINT");
	const kh_result *result;
	bool failed;

	(void) kakehashi_call_sent(call, kh_send_savepoint(session->ipc, verb, session->handle, 1, &error), &error);
	result = kakehashi_call_answer(call);
	failed = result->failed;
	if (failed)
		error = result->error;
	kakehashi_call_end(call);
	pfree(call);
	if (failed && kakehashi_outcome(session) == KH_TX_ACTIVE)
	{
		/* It has not been undone: so PostgreSQL's transaction, which goes with this error, takes the engine's along. */
		session->leaving = false;
		kakehashi_report_error(&error, session, "ROLLBACK TO SAVEPOINT");
	}
	return !failed;
}

void
kakehashi_joined_leave(KakehashiSession *session)
{
	if (!session->lost)
	{
		kakehashi_call_make_room(session);
		if (kakehashi_savepoint_is_rolled_back(session) || leave_by(session, KH_ROLLBACK_TO_SAVEPOINT))
			(void) leave_by(session, KH_RELEASE_SAVEPOINT);
	}
	kakehashi_transaction_forget(session);
}

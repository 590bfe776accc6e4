/*
 * The ends of PostgreSQL's transactions on the engine; begin.c has their beginnings.
 *
 * An abort of a subtransaction posts the rollback, so that nobody waits for rows that it gives up, and does not wait for an answer; the next request (or a
 * commit) repeats it and sees that it was done. The end of a whole transaction that has changed or locked rows is waited for: what the client has been told
 * to be over is over for everybody.
 */
#include "fdw/transaction/transaction.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

static void
end_calls(KakehashiSession *session, SubTransactionId subid)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &session->calls)
	{
		KakehashiCall *call = dlist_container(KakehashiCall, node, iter.cur);

		if (subid == InvalidSubTransactionId || call->subid == subid)
			kakehashi_call_end(call);
	}
}

/* Sessions whose transactions have changed something. */
static int
changed_sessions(void)
{
	HASH_SEQ_STATUS scan;
	KakehashiSession *session;
	int count = 0;

	hash_seq_init(&scan, kakehashi_session_table());
	while ((session = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
		count += session->level > 0 && session->wrote && session->leader == NULL ? 1 : 0;
	return count;
}

/* How long the end of a transaction that can lose nothing waits for the engine, and after a cancel: less than a user notices. */
#define END_WAIT_MILLIS 1000
#define CANCEL_WAIT_MILLIS 50

/*
 * Ends the transaction on the engine where nothing may fail any more. Others find its rows free as soon as the client has PostgreSQL's answer, because the
 * engine's is waited for, unless that takes too long. False: the request could not be sent.
 * state: what the answer says; KH_TX_UNKNOWN: it has not come.
 */
static bool
end_on_engine(KakehashiSession *session, bool commit, int wait_millis, kh_transaction_state *state)
{
	TimestampTz began = GetCurrentTimestamp();
	kh_error error;
	kh_wait wait;
	kh_call *call = commit ? kh_send_commit(session->ipc, session->handle, KH_AVAILABLE, &error)
	                       : kh_send_rollback(session->ipc, session->handle, &error);

	*state = KH_TX_UNKNOWN;
	if (call == NULL)
	{
		/* Calls that were canceled a moment ago still have all slots. */
		return commit ? kh_post_commit(session->ipc, session->handle, &error)
		              : kh_post_rollback(session->ipc, session->handle, &error);
	}
	do
		wait = kh_call_wait(call, INT64CONST(1000000) * wait_millis, &error);
	while (wait == KH_WAIT_TIMEOUT && !TimestampDifferenceExceeds(began, GetCurrentTimestamp(), wait_millis));
	if (wait == KH_WAIT_FINISHED)
		*state = kh_call_result(call)->transaction_state;
	kh_call_end(call);
	return true;
}

/* Waits for the engine's answer if there is something to lose, something was read that could be lost, or rows were locked. */
static void
commit_session(KakehashiSession *session, bool two_phase)
{
	kh_commit_response response = (kh_commit_response) kakehashi_commit_response;
	kh_error error;
	kh_transaction_state state;
	KakehashiCall *call;
	kh_call *ipc;
	bool depends;

	end_calls(session, InvalidSubTransactionId);
	if (session->held != NULL)
	{
		kakehashi_held_commit(session);
		return;
	}
	if (session->level == 0)
		return;
	if (session->leaving)
	{
		kakehashi_joined_leave(session);
		return;
	}
	if (session->leader != NULL)
	{
		session->level = 0;
		return;
	}
	depends = session->wrote || (session->undurable_reads && response == KH_STORED);
	if (session->lost && depends)
		kakehashi_report_lost(session, NULL, NULL);
	if (session->aborted && depends)
		kakehashi_report_aborted(session);
	if (session->lost || session->aborted)
		return;
	if (!depends && XactIsoLevel < XACT_SERIALIZABLE)
	{
		/* What the locks have kept others from may be local: they are let go when that is committed, see commit_locks(). */
		if (session->locked)
			return;
		/* Nothing depends on the answer. If it cannot be sent, the end of the session ends the transaction. */
		if (!kh_post_commit(session->ipc, session->handle, &error))
			session->invalidated = true;
		session->level = 0;
		return;
	}
	kakehashi_call_make_room(session);
	/* Of a shared one nothing is asked that another's commit before this one would refuse. */
	if (session->shared)
		kakehashi_savepoint_confirm(session);
	else
		kakehashi_savepoint_settle(session);
	/* An endpoint that is gone already has not committed; one that goes from here on may have. */
	if (!kh_session_alive(session->ipc))
	{
		session->lost = true;
		kakehashi_report_lost(session, NULL, "COMMIT");
	}
	if (two_phase && session->wrote)
	{
		kakehashi_require(session, KH_CAN_TWO_PHASE);
		kakehashi_two_phase_prepare(session);
		session->level = 0;
		return;
	}
	/* If the answer does not come, the handle is what its outcome is asked for by. */
	if (session->wrote)
		kakehashi_learn_handle(session);
	call = kakehashi_call_new(session, "COMMIT");
	ipc = kh_send_commit(session->ipc, session->handle, response, &error);
	session->committing = session->wrote && ipc != NULL;
	(void) kakehashi_call_sent(call, ipc, &error);
	call->in_transaction = true;
	state = kakehashi_call_finish(call)->transaction_state;
	(void) kakehashi_call_complete(call);
	session->committing = false;
	/* A statement of another session has failed in it. */
	if (state == KH_TX_ABORTED && depends)
		kakehashi_report_aborted(session);
	/* Another one is about to commit it together with what is its own. */
	if (state == KH_TX_PREPARED && session->shared && !session->prepared && !kakehashi_outcome_committed(session))
		ereport(ERROR,
		        (errcode(ERRCODE_TRANSACTION_ROLLBACK),
		         errmsg("transaction on server \"%s\" has been rolled back by another session", session->server_name)));
	session->level = 0;
}

/* The transaction has committed in PostgreSQL, and on the engine it has only locked rows. */
static void
commit_locks(KakehashiSession *session)
{
	kh_transaction_state state;

	if (session->level > 0 && session->ipc != NULL && !session->lost && !session->aborted &&
	    !end_on_engine(session, true, END_WAIT_MILLIS, &state))
		session->invalidated = true;
}

/* Whether a request is not answered yet. */
static bool
is_interrupted(KakehashiSession *session)
{
	dlist_iter iter;

	dlist_foreach(iter, &session->calls)
	{
		if (!dlist_container(KakehashiCall, node, iter.cur)->finished)
			return true;
	}
	return false;
}

static void
warn_not_waited_for(const KakehashiSession *session)
{
	ereport(
		WARNING,
		(errmsg("commit on server \"%s\" was not waited for to the end", session->server_name),
	     errdetail("The engine's part of the transaction may be committed, although PostgreSQL's is rolled back.")));
}

/* After the rollback of a transaction that was perhaps committed. state: see end_on_engine(). canceled: the wait for its commit was given up. */
static void
warn_committed(const KakehashiSession *session, kh_transaction_state state, bool canceled)
{
	bool held = session->held != NULL; /* the commit was to follow rows */

	if (state == KH_TX_COMMITTED)
		ereport(WARNING, (errmsg("transaction on server \"%s\" was committed before it could be rolled back",
		                         session->server_name),
		                  held ? errdetail("Its commit had been requested together with its rows.")
		                       : errdetail("Another session has committed it.")));
	else if (held && canceled && state == KH_TX_UNKNOWN)
		warn_not_waited_for(session);
}

static void
abort_session(KakehashiSession *session)
{
	kh_error error;
	kh_transaction_state state = KH_TX_NONE;
	bool holds = session->wrote || session->locked;
	bool canceled = session->committing && !session->lost; /* a commit, while it was waited for */
	int wait_millis = is_interrupted(session) ? CANCEL_WAIT_MILLIS : END_WAIT_MILLIS;

	end_calls(session, InvalidSubTransactionId);
	/* A commit that goes with rows is mostly canceled with them: the rollback says whether it was. */
	if (canceled && session->held == NULL)
		warn_not_waited_for(session);
	session->committing = false;
	if (session->global_id[0] != '\0')
		kakehashi_two_phase_abort(session);
	else if (session->level > 0 && session->leader == NULL && !session->leaving && session->ipc != NULL &&
	         !session->lost && !session->aborted &&
	         !(holds ? end_on_engine(session, false, wait_millis, &state)
	                 : kh_post_rollback(session->ipc, session->handle, &error)))
		session->invalidated = true;
	warn_committed(session, state, canceled);
}

/* Those that have only read, first: they may fail without a trace, and none that has written has committed by then. */
static void
commit_readers(bool two_phase)
{
	HASH_SEQ_STATUS scan;
	KakehashiSession *session;

	hash_seq_init(&scan, kakehashi_session_table());
	while ((session = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
	{
		if (session->level > 0 && !session->wrote)
			commit_session(session, two_phase);
	}
}

/*
 * Rows that are held back go with the commit only if there is nothing else to commit. Otherwise they are sent now: what becomes of them has to be known before
 * anything else is prepared or committed.
 */
static void
settle_held(bool alone)
{
	HASH_SEQ_STATUS scan;
	KakehashiSession *session;

	hash_seq_init(&scan, kakehashi_session_table());
	while ((session = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
	{
		if (session->held != NULL && (!alone || session->level > 0))
			kakehashi_held_send(session);
	}
}

/* A prepared transaction keeps its row locks until it is decided, as it keeps what it has changed. */
static void
keep_locks(void)
{
	HASH_SEQ_STATUS scan;
	KakehashiSession *session;

	hash_seq_init(&scan, kakehashi_session_table());
	while ((session = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
		session->wrote |= session->level > 0 && session->locked;
}

static void
on_xact_event(XactEvent event, void *arg)
{
	HASH_SEQ_STATUS scan;
	KakehashiSession *session;
	bool two_phase;

	if (kakehashi_session_table() == NULL)
		return;
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE)
		settle_held(event == XACT_EVENT_PRE_COMMIT && changed_sessions() == 0 &&
		            !TransactionIdIsValid(GetTopTransactionIdIfAny()));
	two_phase = event == XACT_EVENT_PRE_COMMIT && kakehashi_two_phase_needed(changed_sessions());
	if (event == XACT_EVENT_PRE_PREPARE)
		keep_locks();
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE)
		commit_readers(two_phase);
	hash_seq_init(&scan, kakehashi_session_table());
	while ((session = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
	{
		if (session->ipc == NULL && session->level == 0)
			continue;
		switch (event)
		{
			case XACT_EVENT_PRE_COMMIT:
			case XACT_EVENT_PARALLEL_PRE_COMMIT:
				commit_session(session, two_phase);
				break;
			case XACT_EVENT_PRE_PREPARE:
				if (session->level > 0 && session->wrote)
				{
					kakehashi_require(session, KH_CAN_TWO_PHASE);
					kakehashi_prepared_check();
					kakehashi_prepared_mark(session);
				}
				commit_session(session, true);
				break;
			case XACT_EVENT_ABORT:
			case XACT_EVENT_PARALLEL_ABORT:
				abort_session(session);
				kakehashi_transaction_forget(session);
				break;
			case XACT_EVENT_COMMIT:
				kakehashi_two_phase_commit(session);
				commit_locks(session);
				kakehashi_transaction_forget(session);
				break;
			case XACT_EVENT_PREPARE:
				/* The part waits for COMMIT PREPARED or ROLLBACK PREPARED. */
				session->global_id[0] = '\0';
				commit_locks(session);
				kakehashi_transaction_forget(session);
				break;
			case XACT_EVENT_PARALLEL_COMMIT:
				commit_locks(session);
				kakehashi_transaction_forget(session);
				break;
		}
	}
}

static void
on_subxact_event(SubXactEvent event, SubTransactionId subid, SubTransactionId parent, void *arg)
{
	HASH_SEQ_STATUS scan;
	KakehashiSession *session;
	int nest_level = GetCurrentTransactionNestLevel();

	if (kakehashi_session_table() == NULL || event == SUBXACT_EVENT_START_SUB)
		return;
	if (event == SUBXACT_EVENT_ABORT_SUB)
	{
		/* Those of all sessions, before the first rollback: several may be in one transaction. */
		hash_seq_init(&scan, kakehashi_session_table());
		while ((session = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
			end_calls(session, subid);
	}
	hash_seq_init(&scan, kakehashi_session_table());
	while ((session = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
	{
		dlist_iter iter;

		switch (event)
		{
			case SUBXACT_EVENT_PRE_COMMIT_SUB:
				if (session->level < nest_level || session->lost || session->aborted || session->leaving)
					break;
				kakehashi_savepoint_settle(session);
				/* The rollback may have taken the savepoint with it. */
				if (session->level >= nest_level)
					kakehashi_savepoint_release(session, nest_level);
				break;
			case SUBXACT_EVENT_COMMIT_SUB:
				dlist_foreach(iter, &session->calls)
				{
					KakehashiCall *call = dlist_container(KakehashiCall, node, iter.cur);

					if (call->subid == subid)
						call->subid = parent;
				}
				session->joined_level = Min(session->joined_level, nest_level - 1);
				break;
			case SUBXACT_EVENT_ABORT_SUB:
				if (session->level > 0 && session->joined_level >= nest_level && !session->leaving)
					kakehashi_joined_abandon(session);
				else if (session->level >= nest_level && !session->leaving &&
				         (session->rollback_level == 0 || session->rollback_level > nest_level))
					kakehashi_savepoint_rolled_back(session, nest_level);
				break;
			case SUBXACT_EVENT_START_SUB:
				break;
		}
	}
}

void
kakehashi_xact_init(void)
{
	RegisterXactCallback(on_xact_event, NULL);
	RegisterSubXactCallback(on_subxact_event, NULL);
}

/*
 * PostgreSQL's transactions on the engine.
 *
 * A transaction begins on the engine with the first request, in the same message. It is then at PostgreSQL's nesting level:
 * level 1 is the transaction, level n + 1 the engine's savepoint n. Savepoints are made when a request needs them. An abort
 * of a subtransaction posts the rollback, so that nobody waits for rows that it gives up, and does not wait for an answer; the next request (or a
 * commit) repeats it and sees that it was done. The end of a whole transaction that has changed or locked rows is waited for: what the client has been told
 * to be over is over for everybody.
 */
#include "fdw/transaction/transaction.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/memutils.h"

static void
send_savepoint(KakehashiSession *session, kh_savepoint_verb verb, int level)
{
	kh_error error;
	const char *sql = verb == KH_SAVEPOINT           ? "SAVEPOINT"
	                  : verb == KH_RELEASE_SAVEPOINT ? "RELEASE SAVEPOINT"
	                                                 : "ROLLBACK TO SAVEPOINT";
	KakehashiCall *call = kakehashi_call_track(
		session, kh_send_savepoint(session->ipc, verb, session->handle, (uint32) (level - 1), &error), &error, sql);

	call->in_transaction = true;
	(void) kakehashi_call_complete(call);
}

/* Best effort: flush_rollback() finds out whether it was done. */
static void
post_rollback_to(KakehashiSession *session, int level)
{
	kh_error error;

	if (session->ipc != NULL && !session->lost && !session->aborted)
		(void) kh_post_rollback_to_savepoint(session->ipc, session->handle, (uint32) (level - 1), &error);
}

/* Tells the engine what PostgreSQL has rolled back. */
static void
flush_rollback(KakehashiSession *session)
{
	int level = session->rollback_level;

	if (level == 0)
		return;
	send_savepoint(session, KH_ROLLBACK_TO_SAVEPOINT, level);
	session->rollback_level = 0;
	/* The savepoint is still there; a retry of the release alone would be right, too. */
	session->level = level;
	send_savepoint(session, KH_RELEASE_SAVEPOINT, level);
	session->level = level - 1;
}

static void
report_aborted(KakehashiSession *session)
{
	ereport(ERROR, (errcode(ERRCODE_IN_FAILED_SQL_TRANSACTION),
	                errmsg("transaction on server \"%s\" has been aborted by the engine", session->server_name),
	                errdetail("It cannot be continued, not even from a savepoint."),
	                errhint("Roll back the whole transaction and try again.")));
}

static kh_isolation
engine_isolation(void)
{
	switch (XactIsoLevel)
	{
		case XACT_SERIALIZABLE:
			return KH_SERIALIZABLE;
		case XACT_REPEATABLE_READ:
			return KH_REPEATABLE_READ;
		default:
			return KH_READ_COMMITTED;
	}
}

/* How a transaction that begins now begins on the engine. */
static kh_begin_options
begin_options(KakehashiSession *session)
{
	/* Of a subtransaction that is read-only nobody knows whether the whole is; and a whole one that is stays so. */
	bool read_only = XactReadOnly && GetCurrentTransactionNestLevel() == 1;
	kh_begin_options options = {
		.isolation = engine_isolation(),
		.lease_nanos = (uint64) session->lease_millis * 1000000,
		.timeout_nanos = (uint64) kakehashi_transaction_timeout * 1000000,
		.priority = kakehashi_transaction_priority,
		.label = kakehashi_transaction_label,
		.write_preserve = kakehashi_write_preserve,
		.read_include = kakehashi_read_areas_include,
		.read_exclude = kakehashi_read_areas_exclude,
	};

	if (kakehashi_transaction_kind != KAKEHASHI_KIND_AUTO)
		options.kind = (kh_transaction_kind) kakehashi_transaction_kind;
	else if (read_only)
	{
		options.kind = KH_RTX;
		options.write_preserve = options.read_include = options.read_exclude = NULL;
	}
	else
		options.kind = *options.write_preserve || *options.read_include || *options.read_exclude ? KH_LTX : KH_OCC;
	/* As for PostgreSQL's own tables: without these two it has no effect. */
	options.deferrable = XactDeferrable && read_only && options.isolation == KH_SERIALIZABLE && options.kind == KH_RTX;
	return options;
}

bool
kakehashi_transaction_is_long(KakehashiSession *session)
{
	return session->level > 0 ? session->is_long : begin_options(session).kind == KH_LTX;
}

/* Whether the first request can carry what there is to say. */
static bool
is_plain(const kh_begin_options *options)
{
	return options->kind != KH_LTX && !options->deferrable && options->timeout_nanos == 0 && options->priority == 0 &&
	       *options->label == '\0' && (options->write_preserve == NULL || *options->write_preserve == '\0') &&
	       (options->read_include == NULL || *options->read_include == '\0') &&
	       (options->read_exclude == NULL || *options->read_exclude == '\0');
}

/* Brings the engine to PostgreSQL's nesting level. apart: a transaction begins with a request of its own. */
static void
enter(KakehashiSession *session, const void *owner, bool apart, kh_execute_options *options)
{
	int nest_level = session->rows_level > 0 ? session->rows_level : GetCurrentTransactionNestLevel();
	kh_error error;

	memset(options, 0, sizeof(*options));
	if (session->lost)
		kakehashi_report_lost(session, NULL, NULL);
	if (session->aborted)
		report_aborted(session);
	/* Enough for all of what follows, of which each waits for its answer, and for the request itself. */
	kakehashi_call_make_room(session);
	flush_rollback(session);

	if (session->level == 0)
	{
		kh_begin_options begin = begin_options(session);

		options->kind = begin.kind;
		options->isolation = begin.isolation;
		options->lease_nanos = begin.lease_nanos;
		options->action = KH_BEGIN;
		session->handle = 0;
		session->is_long = begin.kind == KH_LTX;
		session->wrote = false;
		session->locked = false;
		session->undurable_reads = false;
		session->level = 1;
		session->snapshot_owner = owner;
		if (nest_level == 1 && !apart && is_plain(&begin))
			return;
		/* Savepoints have to come between the beginning and the request. */
		{
			KakehashiCall *call =
				kakehashi_call_track(session, kh_send_begin(session->ipc, &begin, &error), &error, "BEGIN");

			call->in_transaction = true;
			(void) kakehashi_call_complete(call);
		}
	}
	else if (!IsolationUsesXactSnapshot() && (owner == NULL || owner != session->snapshot_owner))
	{
		options->new_snapshot = true;
		session->snapshot_owner = owner;
	}

	while (session->level < nest_level)
	{
		/* Counted before the answer: a cancel that comes meanwhile does not undo it. */
		session->level++;
		send_savepoint(session, KH_SAVEPOINT, session->level);
	}
	options->action = KH_CONTINUE;
	options->handle = session->handle;
}

void
kakehashi_xact_prepare(KakehashiSession *session, const void *owner, kh_execute_options *options)
{
	enter(session, owner, false, options);
	options->lock_timeout_millis = (uint32_t) LockTimeout;
	/* The engine's rows know the command that made them: a snapshot sees what was changed by commands before its own. */
	if (owner != NULL)
		options->command = ((Snapshot) owner)->curcid + 1;
}

/* The request that began the transaction may still be delivering rows; any other knows the handle, too. */
static void
learn_handle(KakehashiSession *session)
{
	kh_error error;
	KakehashiCall *call;

	if (session->handle != 0)
		return;
	call = kakehashi_call_track(session, kh_send_query_outcome(session->ipc, 0, &error), &error, NULL);
	call->in_transaction = true;
	(void) kakehashi_call_complete(call);
}

uint64
kakehashi_xact_share(KakehashiSession *session)
{
	kh_execute_options options;

	enter(session, session->snapshot_owner, true, &options);
	learn_handle(session);
	/* Others may change something in it from now on: its end has to be waited for. */
	session->wrote = true;
	return session->handle;
}

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
		count += session->level > 0 && session->wrote ? 1 : 0;
	return count;
}

/* How long the end of a transaction that can lose nothing waits for the engine, and after a cancel: less than a user notices. */
#define END_WAIT_MILLIS 1000
#define CANCEL_WAIT_MILLIS 50

/*
 * Ends the transaction on the engine where nothing may fail any more. Others find its rows free as soon as the client has PostgreSQL's answer, because the
 * engine's is waited for, unless that takes too long. False: the request could not be sent.
 */
static bool
end_on_engine(KakehashiSession *session, bool commit, int wait_millis)
{
	TimestampTz began = GetCurrentTimestamp();
	kh_error error;
	kh_wait wait;
	kh_call *call = commit ? kh_send_commit(session->ipc, session->handle, KH_AVAILABLE, &error)
	                       : kh_send_rollback(session->ipc, session->handle, &error);

	if (call == NULL)
	{
		/* Calls that were canceled a moment ago still have all slots. */
		return commit ? kh_post_commit(session->ipc, session->handle, &error)
		              : kh_post_rollback(session->ipc, session->handle, &error);
	}
	do
		wait = kh_call_wait(call, INT64CONST(1000000) * wait_millis, &error);
	while (wait == KH_WAIT_TIMEOUT && !TimestampDifferenceExceeds(began, GetCurrentTimestamp(), wait_millis));
	kh_call_end(call);
	return true;
}

/* Waits for the engine's answer if there is something to lose, something was read that could be lost, or rows were locked. */
static void
commit_session(KakehashiSession *session, bool two_phase)
{
	kh_commit_response response = (kh_commit_response) kakehashi_commit_response;
	kh_error error;
	KakehashiCall *call;
	bool depends;

	end_calls(session, InvalidSubTransactionId);
	if (session->level == 0)
		return;
	depends = session->wrote || (session->undurable_reads && response == KH_STORED);
	if (session->lost && depends)
		kakehashi_report_lost(session, NULL, NULL);
	if (session->aborted && depends)
		report_aborted(session);
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
	flush_rollback(session);
	/* An endpoint that is gone already has not committed; one that goes from here on may have. */
	if (!kh_session_alive(session->ipc))
	{
		session->lost = true;
		kakehashi_report_lost(session, NULL, "COMMIT");
	}
	if (two_phase && session->wrote)
	{
		kakehashi_two_phase_prepare(session);
		session->level = 0;
		return;
	}
	/* If the answer does not come, the handle is what its outcome is asked for by. */
	if (session->wrote)
		learn_handle(session);
	session->committing = session->wrote;
	call = kakehashi_call_track(session, kh_send_commit(session->ipc, session->handle, response, &error), &error,
	                            "COMMIT");
	call->in_transaction = true;
	(void) kakehashi_call_complete(call);
	session->committing = false;
	session->level = 0;
}

/* The transaction has committed in PostgreSQL, and on the engine it has only locked rows. */
static void
commit_locks(KakehashiSession *session)
{
	if (session->level > 0 && session->ipc != NULL && !session->lost && !session->aborted &&
	    !end_on_engine(session, true, END_WAIT_MILLIS))
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
abort_session(KakehashiSession *session)
{
	kh_error error;
	bool holds = session->wrote || session->locked;
	int wait_millis = is_interrupted(session) ? CANCEL_WAIT_MILLIS : END_WAIT_MILLIS;

	end_calls(session, InvalidSubTransactionId);
	if (session->committing && !session->lost)
	{
		/* Canceled while it was waited for. */
		ereport(WARNING,
		        (errmsg("commit on server \"%s\" was not waited for to the end", session->server_name),
		         errdetail(
					 "The engine's part of the transaction may be committed, although PostgreSQL's is rolled back.")));
	}
	session->committing = false;
	if (session->global_id[0] != '\0')
		kakehashi_two_phase_abort(session);
	else if (session->level > 0 && session->ipc != NULL && !session->lost && !session->aborted &&
	         !(holds ? end_on_engine(session, false, wait_millis)
	                 : kh_post_rollback(session->ipc, session->handle, &error)))
		session->invalidated = true;
}

static void
forget_transaction(KakehashiSession *session)
{
	kakehashi_tell_transaction_ended(session);
	if (session->defined)
		session->time_zone[0] = '\0';
	session->rows_written = 0;
	session->defined = false;
	session->level = 0;
	session->rollback_level = 0;
	session->handle = 0;
	session->wrote = false;
	session->locked = false;
	session->undurable_reads = false;
	session->aborted = false;
	session->snapshot_owner = NULL;
	if (!session->lost && !session->invalidated)
		kakehashi_inbound_settle(session);
	if (session->ipc != NULL && (session->lost || session->invalidated || !session->keep))
		kakehashi_session_detach(session);
	session->lost = false;
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

static void
on_xact_event(XactEvent event, void *arg)
{
	HASH_SEQ_STATUS scan;
	KakehashiSession *session;
	bool two_phase;

	if (kakehashi_session_table() == NULL)
		return;
	two_phase = event == XACT_EVENT_PRE_COMMIT && kakehashi_two_phase_needed(changed_sessions());
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
					kakehashi_prepared_check();
					kakehashi_prepared_mark(session);
				}
				commit_session(session, true);
				break;
			case XACT_EVENT_ABORT:
			case XACT_EVENT_PARALLEL_ABORT:
				abort_session(session);
				forget_transaction(session);
				break;
			case XACT_EVENT_COMMIT:
				kakehashi_two_phase_commit(session);
				commit_locks(session);
				forget_transaction(session);
				break;
			case XACT_EVENT_PREPARE:
				/* The part waits for COMMIT PREPARED or ROLLBACK PREPARED. */
				session->global_id[0] = '\0';
				commit_locks(session);
				forget_transaction(session);
				break;
			case XACT_EVENT_PARALLEL_COMMIT:
				commit_locks(session);
				forget_transaction(session);
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
	hash_seq_init(&scan, kakehashi_session_table());
	while ((session = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
	{
		dlist_iter iter;

		switch (event)
		{
			case SUBXACT_EVENT_PRE_COMMIT_SUB:
				if (session->level < nest_level || session->lost || session->aborted)
					break;
				flush_rollback(session);
				/* The rollback may have taken the savepoint with it. */
				if (session->level >= nest_level)
				{
					send_savepoint(session, KH_RELEASE_SAVEPOINT, nest_level);
					session->level = nest_level - 1;
				}
				break;
			case SUBXACT_EVENT_COMMIT_SUB:
				dlist_foreach(iter, &session->calls)
				{
					KakehashiCall *call = dlist_container(KakehashiCall, node, iter.cur);

					if (call->subid == subid)
						call->subid = parent;
				}
				break;
			case SUBXACT_EVENT_ABORT_SUB:
				end_calls(session, subid);
				if (session->level >= nest_level &&
				    (session->rollback_level == 0 || session->rollback_level > nest_level))
				{
					session->rollback_level = nest_level;
					post_rollback_to(session, nest_level);
				}
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

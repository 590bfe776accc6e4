/*
 * Atomic commit of PostgreSQL's changes and the engine's.
 *
 * When a transaction has changed more than one engine, or an engine and local data, the engine's parts are prepared, durably,
 * before PostgreSQL commits, under names that hold PostgreSQL's own transaction id; and decided afterwards. PostgreSQL's commit
 * record is the decision: whoever finds a part that nobody decided, after a crash of either side, asks PostgreSQL what
 * became of the transaction id and does the same. Nothing else ever decides a part, so it does not matter how often and by
 * whom that is done.
 */
#include "fdw/transaction/transaction.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_foreign_server.h"
#include "miscadmin.h"
#include "replication/message.h"
#include "storage/lmgr.h"
#include "storage/pmsignal.h"
#include "storage/proc.h"
#include "utils/timestamp.h"

#define SLICE_NANOS INT64CONST(40000000)

static bool preloaded = false;

bool
kakehashi_two_phase_needed(int changed_sessions)
{
	return kakehashi_atomic_commit &&
	       (changed_sessions > 1 || (changed_sessions == 1 && TransactionIdIsValid(GetTopTransactionIdIfAny())));
}

/*
 * Writes the transaction id into the log, and returns where: when that is flushed the id survives a crash. One that no durable record names is handed out
 * again after a crash, and the new owner's outcome would decide our part.
 */
static XLogRecPtr
log_transaction_id(const char *global_id)
{
#if PG_VERSION_NUM >= 170000
	return LogLogicalMessage("kakehashi", global_id, strlen(global_id), true, false);
#else
	return LogLogicalMessage("kakehashi", global_id, strlen(global_id), true);
#endif
}

/* The name of a part without the place of its id in the log: what the log gets. */
static void
name_transaction(KakehashiSession *session, char *global_id)
{
	snprintf(global_id, KAKEHASHI_GLOBAL_ID_BYTES, KAKEHASHI_GLOBAL_ID_FORMAT, GetSystemIdentifier(), MyDatabaseId,
	         U64FromFullTransactionId(GetTopFullTransactionId()), session->mapping_id);
}

/* A copy of PostgreSQL that took over without the record gives the id to another transaction: by its place it is known that the record is not in the history. */
static void
name_part(KakehashiSession *session, XLogRecPtr logged, char *global_id)
{
	size_t length;

	name_transaction(session, global_id);
	length = strlen(global_id);
	snprintf(global_id + length, KAKEHASHI_GLOBAL_ID_BYTES - length, KAKEHASHI_GLOBAL_ID_PLACE_FORMAT,
	         GetWALInsertionTimeLine(), (uint64) logged);
}

/*
 * The transaction is going to be prepared, if it commits: its id goes into the log now. Until then somebody else's flush may have made it durable, and nothing
 * is left to wait for.
 */
void
kakehashi_two_phase_announce(KakehashiSession *session)
{
	char global_id[KAKEHASHI_GLOBAL_ID_BYTES];

	if (session->announced != InvalidXLogRecPtr || !kakehashi_atomic_commit || GetCurrentTransactionNestLevel() > 1 ||
	    !TransactionIdIsValid(GetTopTransactionIdIfAny()))
		return;
	name_transaction(session, global_id);
	session->announced = log_transaction_id(global_id);
}

/* Milliseconds that are left of a time-out, at most a slice; 0: it is over. */
static int64
slice_of(TimestampTz began, int timeout_millis)
{
	int64 left = INT64CONST(1000000) * timeout_millis - 1000 * (GetCurrentTimestamp() - began);

	return timeout_millis == 0 ? SLICE_NANOS : Min(Max(left, 0), SLICE_NANOS);
}

/* Others may have committed a shared transaction: then there is nothing left to prepare, and nothing in the way of PostgreSQL's commit. */
static void
await_answer(KakehashiSession *session, KakehashiCall *call)
{
	kh_error error;

	if (!session->shared || !kakehashi_call_answer(call)->failed)
	{
		(void) kakehashi_call_complete(call);
		return;
	}
	error = kakehashi_call_answer(call)->error;
	kakehashi_call_end(call);
	pfree(call);
	if (strcmp(error.sqlstate, kh_sqlstate(KH_E_NO_SUCH_TRANSACTION)) != 0 || !kakehashi_outcome_committed(session))
		kakehashi_report_error(&error, session, "PREPARE TRANSACTION");
	session->global_id[0] = '\0';
}

/*
 * Waits for the answer to the preparation. PostgreSQL has decided nothing yet: so interrupts are served, and an error rolls both sides back.
 * statement_timeout, which PostgreSQL switches off before the end of a transaction, is an end of this wait, too.
 */
static void
await_prepared(KakehashiSession *session, KakehashiCall *call)
{
	TimestampTz began = GetCurrentTimestamp();
	bool as_statement =
		StatementTimeout > 0 && (kakehashi_commit_timeout == 0 || StatementTimeout < kakehashi_commit_timeout);
	int timeout_millis = as_statement ? StatementTimeout : kakehashi_commit_timeout;

	while (!kakehashi_call_is_ready(call, slice_of(began, timeout_millis)))
	{
		if (timeout_millis == 0 || slice_of(began, timeout_millis) > 0)
			continue;
		if (as_statement)
			ereport(ERROR,
			        (errcode(ERRCODE_QUERY_CANCELED), errmsg("canceling statement due to statement timeout"),
			         errdetail("Server \"%s\" has not prepared its part of the transaction.", session->server_name)));
		ereport(
			ERROR,
			(errcode(kakehashi_errcode(KH_E_COMMIT_TIMEOUT)), errmsg("canceling commit due to commit timeout"),
		     errdetail("Server \"%s\" has not prepared its part of the transaction within %d ms.", session->server_name,
		               timeout_millis),
		     errhint(
				 "Check whether the endpoint is overloaded or stopped. The time is \"kakehashi.commit_timeout\".")));
	}
	await_answer(session, call);
}

void
kakehashi_two_phase_prepare(KakehashiSession *session)
{
	char global_id[KAKEHASHI_GLOBAL_ID_BYTES];
	kh_error error = {0};
	XLogRecPtr logged;
	KakehashiCall *call = kakehashi_call_new(session, "PREPARE TRANSACTION");
	kh_call *ipc;

	/* The commit record must not be lost in a crash when the engine's part is not: also with synchronous_commit off. */
	ForceSyncCommit();
	name_transaction(session, global_id);
	logged = session->announced != InvalidXLogRecPtr ? session->announced : log_transaction_id(global_id);
	XLogFlush(logged);
	name_part(session, logged, global_id);
	ipc = kh_send_prepare_transaction(session->ipc, session->handle, global_id, &error);
	(void) kakehashi_call_sent(call, ipc, &error);
	/* From here on there may be a part that somebody has to decide, whatever becomes of the wait. */
	strlcpy(session->global_id, global_id, sizeof(session->global_id));
	await_prepared(session, call);
}

static void
warn_undecided(KakehashiSession *session, bool commit, const kh_error *error, const char *hint)
{
	ereport(WARNING, (errmsg("transaction part \"%s\" on server \"%s\" could not be %s yet", session->global_id,
	                         session->server_name, commit ? "committed" : "rolled back"),
	                  error->message[0] != '\0' ? errdetail("%s", error->message) : 0, errhint("%s", hint)));
}

static const char *const resolved_later =
	"This is done by the next transaction that uses the server, or by kakehashi_resolve().";

/*
 * Waits for the answer to a decision of PostgreSQL's, which nothing can undo any more: no error may be reported, and interrupts end the wait alone.
 * False and error: there was no answer, or it is a failure.
 */
static bool
await_decided(KakehashiSession *session, kh_call *call, kh_error *error)
{
	TimestampTz began = GetCurrentTimestamp();
	bool success = false;

	for (;;)
	{
		int64 slice = slice_of(began, kakehashi_commit_timeout);
		kh_wait wait = kh_call_wait(call, Max(slice, 1), error);

		if (wait == KH_WAIT_FINISHED)
		{
			const kh_result *result = kh_call_result(call);

			success = !result->failed;
			if (result->failed)
				*error = result->error;
			break;
		}
		if (wait == KH_WAIT_DISCONNECTED)
		{
			session->lost = true;
			break;
		}
		if (QueryCancelPending)
		{
			/* It was for this wait, and must not meet what comes next. */
			QueryCancelPending = false;
			strlcpy(error->message, "The wait for the endpoint was canceled.", sizeof(error->message));
			break;
		}
		/* The backend ends when it looks for its next command. */
		if (ProcDiePending || !PostmasterIsAlive())
		{
			strlcpy(error->message, "The wait for the endpoint was ended.", sizeof(error->message));
			break;
		}
		if (slice == 0)
		{
			snprintf(error->message, sizeof(error->message), "The endpoint has not answered within %d ms.",
			         kakehashi_commit_timeout);
			break;
		}
	}
	kh_call_end(call);
	return success;
}

/* The second phase, after PostgreSQL's commit record. */
void
kakehashi_two_phase_commit(KakehashiSession *session)
{
	kh_error error = {0};
	bool sent = false;

	if (session->global_id[0] == '\0')
		return;
	if (session->ipc != NULL && !session->lost)
	{
		/* Available is enough: if it does not survive, the prepared part does, and PostgreSQL's decision. */
		kh_call *call = kh_send_commit_prepared(session->ipc, session->global_id, KH_AVAILABLE, &error);

		sent = call != NULL;
		if (sent && (await_decided(session, call, &error) || strcmp(error.sqlstate, "42704") == 0))
		{
			session->global_id[0] = '\0';
			return;
		}
	}
	session->undecided = true;
	warn_undecided(session, true, &error,
	               sent && !session->lost ? "The endpoint has been told, and does so when it goes on."
	                                      : resolved_later);
	session->global_id[0] = '\0';
}

void
kakehashi_two_phase_abort(KakehashiSession *session)
{
	kh_error error = {0};

	if (session->global_id[0] == '\0')
		return;
	/* Behind the preparation in the queue, if that has not been answered: there is nothing to wait for. */
	if (session->ipc == NULL || session->lost || !kh_post_rollback_prepared(session->ipc, session->global_id, &error))
	{
		session->undecided = true;
		warn_undecided(session, false, &error, resolved_later);
	}
	session->global_id[0] = '\0';
}

/* ---- PREPARE TRANSACTION ---- */

void
kakehashi_two_phase_init(void)
{
	preloaded = process_shared_preload_libraries_in_progress;
}

void
kakehashi_prepared_check(void)
{
	if (!preloaded)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		                errmsg("cannot PREPARE a transaction that has changed kakehashi_fdw foreign tables"),
		                errdetail("Whatever session decides it later has to have the extension's library."),
		                errhint("Add kakehashi_fdw to \"shared_preload_libraries\".")));
}

void
kakehashi_prepared_mark(KakehashiSession *session)
{
	LockDatabaseObject(ForeignServerRelationId, session->server_id, 0, AccessShareLock);
}

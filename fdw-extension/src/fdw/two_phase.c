/*
 * Atomic commit of PostgreSQL's changes and the engine's.
 *
 * When a transaction has changed more than one engine, or an engine and local data, the engine's parts are prepared, durably,
 * before PostgreSQL commits, under names that hold PostgreSQL's own transaction id; and decided afterwards. PostgreSQL's commit
 * record is the decision: whoever finds a part that nobody decided, after a crash of either side, asks PostgreSQL what
 * became of the transaction id and does the same. Nothing else ever decides a part, so it does not matter how often and by
 * whom that is done.
 */
#include "session.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "replication/message.h"
#include "storage/pmsignal.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/xid8.h"

/* kakehashi/<system identifier>/<database>/<full transaction id>/<user mapping> */
#define GLOBAL_ID_FORMAT "kakehashi/" UINT64_FORMAT "/%u/" UINT64_FORMAT "/%u"
#define GLOBAL_ID_PREFIX_FORMAT "kakehashi/" UINT64_FORMAT "/%u/"

#define SLICE_NANOS INT64CONST(40000000)

int kakehashi_commit_timeout = 60000;

bool
kakehashi_two_phase_needed(int changed_sessions)
{
	return kakehashi_atomic_commit &&
	       (changed_sessions > 1 || (changed_sessions == 1 && TransactionIdIsValid(GetTopTransactionIdIfAny())));
}

/*
 * Makes the transaction id survive a crash. An id that no durable record names is handed out again after one, and the new
 * owner's outcome would decide our part.
 */
static void
flush_transaction_id(const char *global_id)
{
#if PG_VERSION_NUM >= 170000
	XLogFlush(LogLogicalMessage("kakehashi", global_id, strlen(global_id), true, false));
#else
	XLogFlush(LogLogicalMessage("kakehashi", global_id, strlen(global_id), true));
#endif
}

/* Milliseconds that are left of a time-out, at most a slice; 0: it is over. */
static int64
slice_of(TimestampTz began, int timeout_millis)
{
	int64 left = INT64CONST(1000000) * timeout_millis - 1000 * (GetCurrentTimestamp() - began);

	return timeout_millis == 0 ? SLICE_NANOS : Min(Max(left, 0), SLICE_NANOS);
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
	(void) kakehashi_call_complete(call);
}

void
kakehashi_two_phase_prepare(KakehashiSession *session)
{
	char global_id[KAKEHASHI_GLOBAL_ID_BYTES];
	kh_error error = {0};
	KakehashiCall *call;

	/* The commit record must not be lost in a crash when the engine's part is not: also with synchronous_commit off. */
	ForceSyncCommit();
	snprintf(global_id, sizeof(global_id), GLOBAL_ID_FORMAT, GetSystemIdentifier(), MyDatabaseId,
	         U64FromFullTransactionId(GetTopFullTransactionId()), session->mapping_id);
	flush_transaction_id(global_id);
	call = kakehashi_call_track(session, kh_send_prepare_transaction(session->ipc, session->handle, global_id, &error),
	                            &error, "PREPARE TRANSACTION");
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

/* ---- resolution ---- */

typedef struct Undecided
{
	List *global_ids; /* of char * */
	MemoryContext context;
} Undecided;

static void
take_global_id(const kh_batch *batch, uint32 row, void *arg)
{
	Undecided *undecided = (Undecided *) arg;
	MemoryContext old = MemoryContextSwitchTo(undecided->context);
	char *id = kakehashi_batch_text(batch, row, 0);

	if (id != NULL)
		undecided->global_ids = lappend(undecided->global_ids, id);
	MemoryContextSwitchTo(old);
}

/* "committed", "aborted", "in progress", or NULL: PostgreSQL does not know (any more). */
static char *
outcome_of(const char *global_id)
{
	LOCAL_FCINFO(fcinfo, 1);
	uint64 system;
	uint64 xid;
	unsigned int database;
	unsigned int mapping;
	Datum status;

	if (sscanf(global_id, GLOBAL_ID_FORMAT, &system, &database, &xid, &mapping) != 4 ||
	    xid >= U64FromFullTransactionId(ReadNextFullTransactionId()))
		return NULL;
	InitFunctionCallInfoData(*fcinfo, NULL, 1, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = FullTransactionIdGetDatum(FullTransactionIdFromU64(xid));
	fcinfo->args[0].isnull = false;
	status = pg_xact_status(fcinfo);
	return fcinfo->isnull ? NULL : TextDatumGetCString(status);
}

/* Decides one part as PostgreSQL has decided. Returns what was done; busy: somebody else is at it. Interruptible. */
static const char *
resolve(KakehashiSession *session, const char *global_id, bool *busy)
{
	char *outcome = outcome_of(global_id);
	kh_error error = {0};
	const kh_result *result;
	KakehashiCall *call;
	bool commit;

	if (outcome == NULL)
		return "unknown";
	if (strcmp(outcome, "in progress") == 0)
		return "in progress";
	commit = strcmp(outcome, "committed") == 0;
	kakehashi_call_make_room(session);
	call = kakehashi_call_track(session,
	                            commit ? kh_send_commit_prepared(session->ipc, global_id, KH_STORED, &error)
	                                   : kh_send_rollback_prepared(session->ipc, global_id, &error),
	                            &error, commit ? "COMMIT PREPARED" : "ROLLBACK PREPARED");
	result = kakehashi_call_answer(call);
	if (result->failed)
		error = result->error;
	kakehashi_call_end(call);
	pfree(call);
	/* A part that is not there has been decided by somebody else. */
	if (error.sqlstate[0] == '\0' || strcmp(error.sqlstate, "42704") == 0)
		return commit ? "committed" : "rolled back";
	/* Somebody is about to decide it, and may fail; anything else, as that it is another user's, stays so. */
	*busy |= strcmp(error.sqlstate, "55000") == 0;
	return psprintf("failed: %s", error.message);
}

void
kakehashi_two_phase_decide_now(KakehashiSession *session, const char *global_id)
{
	char prefix[KAKEHASHI_GLOBAL_ID_BYTES];
	char *outcome;
	kh_error error;

	snprintf(prefix, sizeof(prefix), GLOBAL_ID_PREFIX_FORMAT, GetSystemIdentifier(), MyDatabaseId);
	if (RecoveryInProgress() || strncmp(global_id, prefix, strlen(prefix)) != 0)
		return;
	outcome = outcome_of(global_id);
	/* The look after this one sends it again if it could not be sent. */
	if (outcome != NULL && strcmp(outcome, "committed") == 0)
		(void) kh_post_commit_prepared(session->ipc, global_id, KH_STORED, &error);
	else if (outcome != NULL && strcmp(outcome, "aborted") == 0)
		(void) kh_post_rollback_prepared(session->ipc, global_id, &error);
}

void
kakehashi_two_phase_resolve(KakehashiSession *session, KakehashiResolved resolved, void *arg)
{
	static const Oid types[] = {TEXTOID};
	char prefix[KAKEHASHI_GLOBAL_ID_BYTES];
	const char *parameters[] = {prefix};
	Undecided undecided = {.context = CurrentMemoryContext};
	ListCell *cell;
	bool busy = false;

	if (RecoveryInProgress())
		return;
	/* Until it is done: whoever uses the session next goes on. */
	session->undecided = true;
	snprintf(prefix, sizeof(prefix), GLOBAL_ID_PREFIX_FORMAT, GetSystemIdentifier(), MyDatabaseId);
	kakehashi_catalog_query(session,
	                        "SELECT \"gid\" FROM \"kakehashi_catalog\".\"prepared_transactions\""
	                        " WHERE starts_with(\"gid\", $1)",
	                        1, parameters, 1, types, take_global_id, &undecided);
	foreach (cell, undecided.global_ids)
	{
		const char *global_id = (const char *) lfirst(cell);
		const char *done = resolve(session, global_id, &busy);

		if (resolved != NULL)
			resolved(global_id, done, arg);
	}
	session->undecided = busy;
	list_free_deep(undecided.global_ids);
}

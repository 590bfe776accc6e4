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
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/xid8.h"

/* kakehashi/<system identifier>/<database>/<full transaction id>/<user mapping> */
#define GLOBAL_ID_FORMAT "kakehashi/" UINT64_FORMAT "/%u/" UINT64_FORMAT "/%u"
#define GLOBAL_ID_PREFIX_FORMAT "kakehashi/" UINT64_FORMAT "/%u/"

/* How long the end of a transaction, which cannot be cancelled, waits for the engine. */
#define PREPARE_TIMEOUT_MILLIS 60000
#define DECIDE_TIMEOUT_MILLIS 10000

#define SLICE_NANOS INT64CONST(40000000)

/* Waits without serving interrupts. False and error: there was no answer, or it is a failure. */
static bool
wait_quietly(KakehashiSession *session, kh_call *call, int timeout_millis, kh_error *error)
{
	TimestampTz began = GetCurrentTimestamp();
	bool success = false;

	for (;;)
	{
		kh_wait wait = kh_call_wait(call, SLICE_NANOS, error);

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
		/* Nobody is left who could be told: the backend ends when it looks for its next command. */
		if (!PostmasterIsAlive())
		{
			strlcpy(error->sqlstate, "57P01", sizeof(error->sqlstate));
			strlcpy(error->message, "the postmaster has ended", sizeof(error->message));
			break;
		}
		if (TimestampDifferenceExceeds(began, GetCurrentTimestamp(), timeout_millis))
		{
			strlcpy(error->sqlstate, "57014", sizeof(error->sqlstate));
			snprintf(error->message, sizeof(error->message), "no answer within %d ms", timeout_millis);
			break;
		}
	}
	kh_call_end(call);
	return success;
}

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

void
kakehashi_two_phase_prepare(KakehashiSession *session)
{
	kh_error error = {0};
	kh_call *call;

	/* The commit record must not be lost in a crash when the engine's part is not: also with synchronous_commit off. */
	ForceSyncCommit();
	snprintf(session->global_id, sizeof(session->global_id), GLOBAL_ID_FORMAT, GetSystemIdentifier(), MyDatabaseId,
	         U64FromFullTransactionId(GetTopFullTransactionId()), session->mapping_id);
	flush_transaction_id(session->global_id);
	call = kh_send_prepare_transaction(session->ipc, session->handle, session->global_id, &error);
	if (call == NULL || !wait_quietly(session, call, PREPARE_TIMEOUT_MILLIS, &error))
	{
		if (session->lost)
			kakehashi_report_lost(session, &error, "PREPARE TRANSACTION");
		kakehashi_report_error(&error, session, "PREPARE TRANSACTION");
	}
}

/* Sends the decision and waits. A part that is not there has been decided by somebody else, or was never prepared. */
static bool
decide(KakehashiSession *session, const char *global_id, bool commit, kh_commit_response response, kh_error *error)
{
	kh_call *call = commit ? kh_send_commit_prepared(session->ipc, global_id, response, error)
	                       : kh_send_rollback_prepared(session->ipc, global_id, error);

	return (call != NULL && wait_quietly(session, call, DECIDE_TIMEOUT_MILLIS, error)) ||
	       strcmp(error->sqlstate, "42704") == 0;
}

void
kakehashi_two_phase_decide(KakehashiSession *session, bool commit)
{
	kh_error error = {0};
	bool success = false;

	if (session->global_id[0] == '\0')
		return;
	/* Available is enough: if it does not survive, the prepared part does, and PostgreSQL's decision. */
	if (session->ipc != NULL && !session->lost)
		success = decide(session, session->global_id, commit, KH_AVAILABLE, &error);
	if (!success)
		ereport(WARNING, (errmsg("transaction part \"%s\" on server \"%s\" could not be %s yet", session->global_id,
		                         session->server_name, commit ? "committed" : "rolled back"),
		                  error.message[0] != '\0' ? errdetail("%s", error.message) : 0,
		                  errhint("This is done when a session with the server begins, or by kakehashi_resolve().")));
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

/* Decides one part as PostgreSQL has decided. Returns what was done. */
static const char *
resolve(KakehashiSession *session, const char *global_id)
{
	char *outcome = outcome_of(global_id);
	kh_error error = {0};
	bool commit;

	if (outcome == NULL)
		return "unknown";
	if (strcmp(outcome, "in progress") == 0)
		return "in progress";
	commit = strcmp(outcome, "committed") == 0;
	/* It may be another user's. */
	if (!decide(session, global_id, commit, KH_STORED, &error))
		return psprintf("failed: %s", error.message);
	return commit ? "committed" : "rolled back";
}

void
kakehashi_two_phase_resolve(KakehashiSession *session, KakehashiResolved resolved, void *arg)
{
	static const Oid types[] = {TEXTOID};
	char prefix[KAKEHASHI_GLOBAL_ID_BYTES];
	const char *parameters[] = {prefix};
	Undecided undecided = {.context = CurrentMemoryContext};
	ListCell *cell;

	if (RecoveryInProgress())
		return;
	snprintf(prefix, sizeof(prefix), GLOBAL_ID_PREFIX_FORMAT, GetSystemIdentifier(), MyDatabaseId);
	kakehashi_catalog_query(session,
	                        "SELECT \"gid\" FROM \"kakehashi_catalog\".\"prepared_transactions\""
	                        " WHERE starts_with(\"gid\", $1)",
	                        1, parameters, 1, types, take_global_id, &undecided);
	foreach (cell, undecided.global_ids)
	{
		const char *global_id = (const char *) lfirst(cell);
		const char *done = resolve(session, global_id);

		if (session->lost)
			kakehashi_report_lost(session, NULL, NULL);
		if (resolved != NULL)
			resolved(global_id, done, arg);
	}
	list_free_deep(undecided.global_ids);
}

/*
 * Parts of ended transactions that nobody has decided yet: each is decided as PostgreSQL has decided, see two_phase.c.
 */
#include "fdw/transaction/transaction.h"

#include "access/timeline.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/xid8.h"

#define GLOBAL_ID_PREFIX_FORMAT "kakehashi/" UINT64_FORMAT "/%u/"

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

/* Whether a record of the log, which ends at a position of a timeline, is in this server's history. */
static bool
in_history(TimeLineID timeline, XLogRecPtr end)
{
	TimeLineID now = GetWALInsertionTimeLine();
	List *history;
	bool found;

	if (timeline == now)
		return true;
	history = readTimeLineHistory(now);
	found = tliInHistory(timeline, history) && tliOfPointInHistory(end - 1, history) == timeline;
	list_free_deep(history);
	return found;
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
	unsigned int timeline;
	uint64 logged;
	int known;
	Datum status;

	known = sscanf(global_id, KAKEHASHI_GLOBAL_ID_FORMAT KAKEHASHI_GLOBAL_ID_PLACE_FORMAT, &system, &database, &xid,
	               &mapping, &timeline, &logged);
	if ((known != 4 && known != 6) || xid >= U64FromFullTransactionId(ReadNextFullTransactionId()))
		return NULL;
	/* The id is another transaction's here, which decides nothing of the part. */
	if (known == 6 && (logged == 0 || !in_history(timeline, logged)))
		return NULL;
	InitFunctionCallInfoData(*fcinfo, NULL, 1, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = FullTransactionIdGetDatum(FullTransactionIdFromU64(xid));
	fcinfo->args[0].isnull = false;
	status = pg_xact_status(fcinfo);
	return fcinfo->isnull ? NULL : TextDatumGetCString(status);
}

/* Whether a part is decided, and if not, why. */
typedef struct Pending
{
	bool busy;    /* somebody else is at it */
	bool standby; /* nothing is decided there */
} Pending;

/* Decides one part as PostgreSQL has decided. Returns what was done. Interruptible. */
static const char *
resolve(KakehashiSession *session, const char *global_id, Pending *pending)
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
	call = kakehashi_call_new(session, commit ? "COMMIT PREPARED" : "ROLLBACK PREPARED");
	(void) kakehashi_call_sent(call,
	                           commit ? kh_send_commit_prepared(session->ipc, global_id, KH_STORED, &error)
	                                  : kh_send_rollback_prepared(session->ipc, global_id, &error),
	                           &error);
	result = kakehashi_call_answer(call);
	if (result->failed)
		error = result->error;
	kakehashi_call_end(call);
	pfree(call);
	/* A part that is not there has been decided by somebody else: an endpoint that cannot know says that it is a standby. */
	if (error.sqlstate[0] == '\0' || strcmp(error.sqlstate, "42704") == 0)
		return commit ? "committed" : "rolled back";
	/* Somebody is about to decide it, and may fail; anything else, as that it is another user's, stays so. */
	pending->busy |= strcmp(error.sqlstate, "55000") == 0;
	pending->standby |= strcmp(error.sqlstate, kh_sqlstate(KH_E_READ_ONLY_TRANSACTION)) == 0;
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

bool
kakehashi_two_phase_resolve(KakehashiSession *session, KakehashiResolved resolved, void *arg)
{
	static const Oid types[] = {TEXTOID};
	char prefix[KAKEHASHI_GLOBAL_ID_BYTES];
	const char *parameters[] = {prefix};
	Undecided undecided = {.context = CurrentMemoryContext};
	ListCell *cell;
	Pending pending = {0};

	if (RecoveryInProgress() || !kakehashi_can(session, KH_CAN_TWO_PHASE) || !kakehashi_can(session, KH_CAN_ACTIVITY))
		return true;
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
		const char *done = resolve(session, global_id, &pending);

		if (resolved != NULL)
			resolved(global_id, done, arg);
		/* It would say so of each: who asks for them is told, others need not. */
		else if (pending.standby)
			break;
	}
	session->undecided = pending.busy;
	list_free_deep(undecided.global_ids);
	return !pending.standby;
}

static void
on_session(KakehashiSession *session)
{
	(void) kakehashi_two_phase_resolve(session, NULL, NULL);
}

void
kakehashi_resolve_init(void)
{
	static KakehashiCallbacks callbacks = {.attached = on_session, .undecided = on_session};

	kakehashi_callbacks_register(&callbacks);
}

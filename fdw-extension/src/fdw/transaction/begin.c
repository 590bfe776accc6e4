/*
 * Requests in PostgreSQL's transaction: what they begin on the engine, and its nesting level there.
 *
 * A transaction begins on the engine with the first request, in the same message. It is then at PostgreSQL's nesting level:
 * level 1 is the transaction, level n + 1 the engine's savepoint n. Savepoints are made when a request needs them.
 */
#include "fdw/transaction/transaction.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/snapshot.h"

void
kakehashi_report_aborted(const KakehashiSession *session)
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

/* Whether a read-only transaction begins as one on the engine; as another one it reads the same. */
static bool
has_read_only(const KakehashiSession *session)
{
	return session->ipc == NULL || kakehashi_can(session, KH_CAN_READ_ONLY_TRANSACTIONS);
}

void
kakehashi_of_one_statement(const KakehashiSession *session, bool read_only, kh_execute_options *options)
{
	options->kind = read_only && has_read_only(session) ? KH_RTX : KH_OCC;
	if (kakehashi_can(session, KH_CAN_REPEATABLE_READ) && (read_only || !kakehashi_can(session, KH_CAN_READ_COMMITTED)))
		options->isolation = KH_REPEATABLE_READ;
	else
		options->isolation = kakehashi_can(session, KH_CAN_READ_COMMITTED) ? KH_READ_COMMITTED : KH_SERIALIZABLE;
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
		options.kind = has_read_only(session) ? KH_RTX : KH_OCC;
		options.write_preserve = options.read_include = options.read_exclude = NULL;
	}
	else if (session->preserves != NULL && kakehashi_can(session, KH_CAN_LONG_TRANSACTIONS) &&
	         !*options.write_preserve && !*options.read_include && !*options.read_exclude)
	{
		options.kind = KH_LTX;
		options.write_preserve = session->preserves;
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

/*
 * The engine refuses changes in a transaction that was begun as a read-only one. PostgreSQL's may have become one later, or for a
 * subtransaction, of which it is not told.
 */
void
kakehashi_check_writable(KakehashiSession *session, const KakehashiStatement *statement, const char *command)
{
	KakehashiSession *leader = kakehashi_leader(session);

	if (XactReadOnly && statement->kind != KH_QUERY &&
	    (leader->level > 0 ? !leader->is_read_only : begin_options(session).kind != KH_RTX))
		PreventCommandIfReadOnly(command);
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

bool
kakehashi_begins_plainly(KakehashiSession *session)
{
	kh_begin_options begin = begin_options(session);

	return session->level == 0 && is_plain(&begin);
}

/* Begins a transaction by a request of its own. One that could not be sent has begun none: a subtransaction may try again. */
static void
begin_apart(KakehashiSession *session, const kh_begin_options *begin)
{
	KakehashiCall *call = kakehashi_call_new(session, "BEGIN");
	kh_error error;
	kh_call *ipc = kh_send_begin(session->ipc, begin, &error);

	session->level = ipc != NULL ? 1 : 0;
	(void) kakehashi_call_sent(call, ipc, &error);
	call->in_transaction = true;
	(void) kakehashi_call_complete(call);
}

/* Brings the engine to PostgreSQL's nesting level. apart: a transaction begins with a request of its own. */
static void
enter(KakehashiSession *session, const void *owner, bool apart, kh_execute_options *options)
{
	int nest_level = session->rows_level > 0 ? session->rows_level : GetCurrentTransactionNestLevel();
	KakehashiSession *leader = kakehashi_leader(session);

	memset(options, 0, sizeof(*options));
	if (session->lost || leader->lost)
		kakehashi_report_lost(session->lost ? session : leader, NULL, NULL);
	if (leader->aborted)
		kakehashi_report_aborted(leader);
	if (session->leaving)
		kakehashi_joined_leave(session);
	kakehashi_tell_before_request(session);
	/* Enough for all of what follows, of which each waits for its answer, and for the request itself. */
	kakehashi_call_make_room(session);
	if (leader != session)
		kakehashi_call_make_room(leader);
	kakehashi_savepoint_flush(leader);

	if (session->level == 0)
	{
		kh_begin_options begin = begin_options(session);

		options->kind = begin.kind;
		options->isolation = begin.isolation;
		options->lease_nanos = begin.lease_nanos;
		options->action = KH_BEGIN;
		session->handle = 0;
		session->announced = InvalidXLogRecPtr;
		session->is_long = begin.kind == KH_LTX;
		session->is_read_only = begin.kind == KH_RTX;
		session->wrote = false;
		session->locked = false;
		session->changed_in = 0;
		session->undurable_reads = false;
		session->snapshot_owner = owner;
		if (nest_level == 1 && !apart && is_plain(&begin))
		{
			session->level = 1;
			return;
		}
		/* Savepoints have to come between the beginning and the request. */
		begin_apart(session, &begin);
	}
	/* In a shared transaction a statement sees what others have done before it, whatever isolation PostgreSQL's has; the engine's is what was begun. */
	else if ((!IsolationUsesXactSnapshot() || leader->shared) && (owner == NULL || owner != leader->snapshot_owner))
	{
		options->new_snapshot = true;
		leader->snapshot_owner = owner;
	}

	while (leader->level < nest_level)
		kakehashi_savepoint_send(leader, KH_SAVEPOINT, leader->level + 1);
	options->action = KH_CONTINUE;
	options->handle = leader->handle;
}

void
kakehashi_xact_prepare(KakehashiSession *session, const void *owner, kh_execute_options *options)
{
	enter(session, owner, false, options);
	options->lock_timeout_millis = (uint32_t) LockTimeout;
	/* The engine's rows know the command that made them: a snapshot sees what was changed by commands before its own. */
	if (owner != NULL && kakehashi_can(session, KH_CAN_COMMANDS))
		options->command = ((Snapshot) owner)->curcid + 1;
}

/* The request that began the transaction may still be delivering rows; any other knows the handle, too. */
void
kakehashi_learn_handle(KakehashiSession *session)
{
	kh_error error;
	KakehashiCall *call;

	if (session->handle != 0)
		return;
	call = kakehashi_call_new(session, NULL);
	(void) kakehashi_call_sent(call, kh_send_query_outcome(session->ipc, 0, &error), &error);
	call->in_transaction = true;
	(void) kakehashi_call_complete(call);
}

uint64
kakehashi_xact_share(KakehashiSession *session)
{
	kh_execute_options options;

	KakehashiSession *leader = kakehashi_leader(session);

	kakehashi_require(session, KH_CAN_SHARED_TRANSACTIONS);
	enter(session, leader->snapshot_owner, true, &options);
	kakehashi_learn_handle(leader);
	/* Others may change something in it from now on: its end has to be waited for, and what they define is there for it alone. */
	leader->shared = leader->wrote = leader->defined = true;
	return leader->handle;
}

/*
 * What a backend does that waits for the engine for long, every deadlock_timeout: it looks for what only it can see.
 *
 * Deadlocks. A backend that waits for the engine holds PostgreSQL's locks, and one that waits for these may hold what the first waits for. PostgreSQL's
 * detector knows nothing of the engine's waits, and the engine's nothing of PostgreSQL's. So who waits for the engine asks it every
 * deadlock_timeout for all waits, adds those for PostgreSQL's locks, and is the victim of a cycle that it is in.
 *
 * The two are read one after another, while others go on. Each wait has a number or a start: a cycle whose waits are all the same when each has been read twice was
 * there at the moment between the two passes, and who waits in a cycle does so until somebody gives up.
 *
 * Parts. A row may be held by the prepared part of a transaction that PostgreSQL has ended, and whose backend could not say so any more: who waits for
 * it decides it.
 */
#include "fdw/transaction/transaction.h"

#include <sys/stat.h>

#include "access/parallel.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* The engine answers within a millisecond, unless limits of the session make the question wait for what it is about. */
#define ANSWER_MILLIS 1000
#define SLICE_NANOS INT64CONST(10000000)

static const char *const waits_sql =
	"SELECT \"process_id\", \"pid_namespace\", \"blocking_process_id\", \"blocking_pid_namespace\", \"blocking_gid\", "
	"\"wait_id\" FROM \"kakehashi_catalog\".\"waits\"";

/* A wait of one backend of this server for another. */
typedef struct Wait
{
	int pid;
	int blocker;
	uint64 number;           /* the engine's number of the wait, or when the wait for PostgreSQL's lock began */
	const char *server_name; /* NULL: it is for a lock of PostgreSQL's */
} Wait;

typedef struct Graph
{
	List *engine;  /* of Wait: for the engines that this backend is attached to */
	List *visited; /* integer list of processes */
	List *cycle;   /* of Wait: from this backend back to it */
} Graph;

/* Inode of our PID namespace; 0: unknown. The number of a process means something in it alone. */
static uint64
own_namespace(void)
{
	static uint64 inode = 0;
	struct stat status;

	if (inode == 0 && stat("/proc/self/ns/pid", &status) == 0)
		inode = status.st_ino;
	return inode;
}

static int
process_of(const kh_batch *batch, uint32 row, uint32 column)
{
	if (kh_batch_is_null(batch, row, column) || kh_batch_is_null(batch, row, column + 1) ||
	    kh_batch_word(batch, row, column + 1) != own_namespace())
		return 0;
	return (int) kh_batch_word(batch, row, column);
}

static void
take_wait(KakehashiSession *session, Graph *graph, const kh_batch *batch, uint32 row, bool decide)
{
	int pid = process_of(batch, row, 0);
	int blocker = process_of(batch, row, 2);

	if (pid == 0)
		return;
	if (decide && pid == MyProcPid && !kh_batch_is_null(batch, row, 4))
		kakehashi_two_phase_decide_now(session, kakehashi_batch_text(batch, row, 4));
	if (blocker != 0)
	{
		Wait *wait = (Wait *) palloc(sizeof(Wait));

		wait->pid = pid;
		wait->blocker = blocker;
		wait->number = kh_batch_word(batch, row, 5);
		wait->server_name = session->server_name;
		graph->engine = lappend(graph->engine, wait);
	}
}

/* Waits for a request; true if it has succeeded. Reports nothing: whatever is wrong, the wait that is looked at finds out itself. */
static bool
await_answer(kh_call *call, TimestampTz until, KakehashiSession *session, Graph *graph, bool decide)
{
	kh_error error;
	kh_batch batch;

	for (;;)
	{
		kh_wait wait = kh_call_wait(call, SLICE_NANOS, &error);

		if (wait == KH_WAIT_FINISHED)
			return !kh_call_result(call)->failed;
		if (wait == KH_WAIT_BATCH && kh_call_batch(call, &batch, &error))
		{
			for (uint32 row = 0; row < batch.row_count; row++)
				take_wait(session, graph, &batch, row, decide);
			kh_call_release(call);
		}
		else if (wait != KH_WAIT_TIMEOUT || InterruptPending || GetCurrentTimestamp() >= until)
			return false;
	}
}

/* Waits for a request and ends it, also when there is no memory for what it brings. columns: what its statement has to have; 0: any. */
static bool
complete(kh_call *call, TimestampTz until, KakehashiSession *session, Graph *graph, bool decide, uint32 columns)
{
	bool success;

	/* Not PG_FINALLY: gcc takes its variable for clobbered here. */
	PG_TRY();
	{
		success = await_answer(call, until, session, graph, decide) &&
		          (columns == 0 || kh_call_result(call)->column_count == columns);
	}
	PG_CATCH();
	{
		kh_call_end(call);
		PG_RE_THROW();
	}
	PG_END_TRY();
	kh_call_end(call);
	return success;
}

/*
 * Reads the waits of an engine, outside of any transaction. Its calls are not in session->calls: they end here.
 */
static bool
read_waits(KakehashiSession *session, Graph *graph, bool decide)
{
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ANSWER_MILLIS);
	kh_execute_options options = {.action = KH_AUTO_COMMIT};
	kh_error error;
	kh_call *call;

	if (session->ipc == NULL || session->lost || !kakehashi_can(session, KH_CAN_ACTIVITY) ||
	    kh_session_free_slots(session->ipc) == 0 || !kakehashi_statement_reserve(session))
		return false;
	if (!session->waits_prepared)
	{
		call = kh_send_prepare(session->ipc, session->waits_statement, waits_sql, NULL, 0, &error);
		if (call == NULL)
			return false;
		if (!complete(call, until, session, graph, false, 6) || kh_session_free_slots(session->ipc) == 0)
		{
			(void) kh_post_close_statement(session->ipc, session->waits_statement, &error);
			return false;
		}
		session->waits_prepared = true;
	}
	kakehashi_of_one_statement(session, true, &options);
	call = kh_send_execute(session->ipc, session->waits_statement, &options, NULL, 0, &error);
	if (call == NULL)
		return false;
	return complete(call, until, session, graph, decide, 0);
}

/* Of all engines on which this backend has a transaction. */
static void
read_engines(Graph *graph, bool decide)
{
	HASH_SEQ_STATUS scan;
	KakehashiSession *session;

	graph->engine = NIL;
	hash_seq_init(&scan, kakehashi_session_table());
	while ((session = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
	{
		if (session->level > 0)
			(void) read_waits(session, graph, decide);
	}
}

/* When the process began to wait for a lock of PostgreSQL's; 0: it does not, or a parallel worker of it does. */
static uint64
lock_wait_start(int pid)
{
	PGPROC *proc = BackendPidGetProc(pid);

	return proc == NULL ? 0 : pg_atomic_read_u64(&proc->waitStart);
}

/* Processes that keep a process from a lock of PostgreSQL's: integer list. */
static List *
lock_blockers(int pid)
{
	ArrayType *array = DatumGetArrayTypeP(DirectFunctionCall1(pg_blocking_pids, Int32GetDatum(pid)));
	const int32 *pids = (const int32 *) ARR_DATA_PTR(array);
	List *result = NIL;

	for (int i = 0; i < ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)); i++)
	{
		if (pids[i] != 0) /* a prepared transaction waits for nobody */
			result = list_append_unique_int(result, pids[i]);
	}
	return result;
}

static bool leads_back(Graph *graph, int pid);

/* Whether a wait is part of a cycle; then it is put before what comes after it. */
static bool
is_in_cycle(Graph *graph, Wait *wait)
{
	if (wait->blocker != MyProcPid && !leads_back(graph, wait->blocker))
		return false;
	graph->cycle = lcons(wait, graph->cycle);
	return true;
}

/* Whether who waits for the process waits for this one in the end. */
static bool
leads_back(Graph *graph, int pid)
{
	ListCell *cell;
	uint64 start;

	check_stack_depth();
	if (list_member_int(graph->visited, pid))
		return false;
	graph->visited = lappend_int(graph->visited, pid);
	foreach (cell, graph->engine)
	{
		Wait *wait = (Wait *) lfirst(cell);

		if (wait->pid == pid && is_in_cycle(graph, wait))
			return true;
	}
	/* This one waits for the engine. */
	if (pid == MyProcPid)
		return false;
	start = lock_wait_start(pid);
	foreach (cell, lock_blockers(pid))
	{
		Wait *wait = (Wait *) palloc0(sizeof(Wait));

		wait->pid = pid;
		wait->blocker = lfirst_int(cell);
		wait->number = start;
		if (is_in_cycle(graph, wait))
			return true;
	}
	return false;
}

static bool
is_still_there(const Graph *again, const Wait *wait)
{
	ListCell *cell;

	if (wait->server_name == NULL)
		return lock_wait_start(wait->pid) == wait->number && list_member_int(lock_blockers(wait->pid), wait->blocker);
	foreach (cell, again->engine)
	{
		const Wait *other = (const Wait *) lfirst(cell);

		if (other->pid == wait->pid && other->blocker == wait->blocker && other->number == wait->number)
			return true;
	}
	return false;
}

static bool
is_deadlock(const Graph *graph)
{
	Graph again = {NIL, NIL, NIL};
	ListCell *cell;

	if (graph->cycle == NIL)
		return false;
	read_engines(&again, false);
	foreach (cell, graph->cycle)
	{
		if (!is_still_there(&again, (const Wait *) lfirst(cell)))
			return false;
	}
	return true;
}

pg_noreturn static void
report(const Graph *graph)
{
	StringInfoData detail;
	ListCell *cell;

	initStringInfo(&detail);
	foreach (cell, graph->cycle)
	{
		const Wait *wait = (const Wait *) lfirst(cell);

		if (detail.len > 0)
			appendStringInfoChar(&detail, '\n');
		if (wait->server_name != NULL)
			appendStringInfo(&detail, "Process %d waits for a row or table on server \"%s\"; blocked by process %d.",
			                 wait->pid, wait->server_name, wait->blocker);
		else
			appendStringInfo(&detail, "Process %d waits for a lock of PostgreSQL; blocked by process %d.", wait->pid,
			                 wait->blocker);
	}
	ereport(ERROR, (errcode(ERRCODE_T_R_DEADLOCK_DETECTED), errmsg("deadlock detected"),
	                errdetail_internal("%s", detail.data)));
	pg_unreachable();
}

static void
on_long_wait(KakehashiCall *call)
{
	static bool looking = false;
	TimestampTz now = GetCurrentTimestamp();
	MemoryContext context;
	MemoryContext old;
	Graph graph = {NIL, NIL, NIL};
	bool deadlock;

	if (call->look_at == 0 || now < call->look_at || looking || IsParallelWorker())
	{
		if (call->look_at == 0)
			call->look_at = TimestampTzPlusMilliseconds(now, DeadlockTimeout);
		return;
	}
	looking = true;
	context = AllocSetContextCreate(CurrentMemoryContext, "kakehashi waits", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	PG_TRY();
	{
		read_engines(&graph, true);
		deadlock = leads_back(&graph, MyProcPid) && is_deadlock(&graph) && !kakehashi_call_is_ready(call, 0);
		if (deadlock)
			report(&graph);
	}
	PG_FINALLY();
	{
		looking = false;
		MemoryContextSwitchTo(old);
	}
	PG_END_TRY();
	MemoryContextDelete(context);
	call->look_at = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), DeadlockTimeout);
}

void
kakehashi_deadlock_init(void)
{
	static KakehashiCallbacks callbacks = {.long_wait = on_long_wait};

	kakehashi_callbacks_register(&callbacks);
}

/*
 * SQL functions that take tasks out of the engine's queues, and the procedure that waits for some.
 *
 * A task that is taken stays taken when the current transaction is rolled back: its lease belongs to the session with the engine. So the engine is asked
 * outside of the transaction. A statement that waited would hold a snapshot, and keep what others delete. So a procedure waits, which has ended its transaction
 * before; what it takes is kept in this backend for the function.
 */
#include "fdw/command/command.h"
#include "fdw/row/row.h"
#include "fdw/transaction/transaction.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(kakehashi_receive);
PG_FUNCTION_INFO_V1(kakehashi_complete_and_receive);
PG_FUNCTION_INFO_V1(kakehashi_wait);

#define COLUMNS "token, task_id, attempt, \"key\", fair, priority, payload, body, enqueued_at, lease_until, last_error"
#define COLUMN_COUNT 11
#define RECEIVE_ARGUMENTS 5
#define COMPLETE_ARGUMENTS 6

#define RECEIVE "SELECT " COLUMNS " FROM receive($1, \"max\" => $2, \"wait\" => $3, lease => $4, \"group\" => $5)"
#define COMPLETE_AND_RECEIVE                                                                                           \
	"SELECT " COLUMNS " FROM complete_and_receive($1, $2, \"max\" => $3, \"wait\" => $4, lease => $5, \"group\" => "   \
	"$6)"

static const Oid receive_types[] = {TEXTOID, INT4OID, INTERVALOID, INTERVALOID, TEXTOID};
static const Oid complete_types[] = {TEXTARRAYOID, TEXTOID, INT4OID, INTERVALOID, INTERVALOID, TEXTOID};

static const Oid column_types[COLUMN_COUNT] = {TEXTOID,  INT8OID,  INT4OID,        TEXTOID,        TEXTOID, INT4OID,
                                               JSONBOID, BYTEAOID, TIMESTAMPTZOID, TIMESTAMPTZOID, TEXTOID};

/* Tasks that were waited for, of one queue and group, until they are asked for. */
typedef struct Waited
{
	MemoryContext context; /* of all below; child of CacheMemoryContext */
	Oid mapping_id;
	uint64 session_id; /* whose leases they are: without that session they are nothing */
	uint64 incarnation;
	const char *queue;
	const char *group; /* NULL: none */
	List *tasks;       /* of HeapTuple, without those that were handed out */
} Waited;

static List *waited_for = NIL; /* of Waited, in CacheMemoryContext */

/* ---- what was waited for ---- */

static void
forget_waited(Waited *waited)
{
	waited_for = list_delete_ptr(waited_for, waited);
	MemoryContextDelete(waited->context);
}

static bool
same_text(const char *a, const char *b)
{
	return a == NULL ? b == NULL : b != NULL && strcmp(a, b) == 0;
}

/* Those of the queue; NULL: there are none. Forgets those of sessions that have ended. */
static Waited *
find_waited(const KakehashiSession *session, const char *queue, const char *group)
{
	List *all = list_copy(waited_for);
	Waited *found = NULL;
	ListCell *cell;

	foreach (cell, all)
	{
		Waited *waited = (Waited *) lfirst(cell);

		if (waited->mapping_id != session->mapping_id)
			continue;
		if (waited->session_id != kh_session_id(session->ipc) ||
		    waited->incarnation != kh_session_incarnation(session->ipc))
			forget_waited(waited);
		else if (strcmp(waited->queue, queue) == 0 && same_text(waited->group, group))
			found = waited;
	}
	list_free(all);
	return found;
}

static Waited *
make_waited(const KakehashiSession *session, const char *queue, const char *group)
{
	MemoryContext context = AllocSetContextCreate(CacheMemoryContext, "kakehashi tasks", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Waited *waited = (Waited *) palloc0(sizeof(Waited));

	waited->context = context;
	waited->mapping_id = session->mapping_id;
	waited->session_id = kh_session_id(session->ipc);
	waited->incarnation = kh_session_incarnation(session->ipc);
	waited->queue = pstrdup(queue);
	waited->group = group == NULL ? NULL : pstrdup(group);
	MemoryContextSwitchTo(CacheMemoryContext);
	waited_for = lappend(waited_for, waited);
	MemoryContextSwitchTo(old);
	return waited;
}

/* Puts at most so many into the result; false: there are none. */
static bool
hand_out(KakehashiSession *session, const char *queue, const char *group, int max, ReturnSetInfo *info)
{
	Waited *waited = find_waited(session, queue, group);

	if (waited == NULL)
		return false;
	for (int i = 0; i < max && waited->tasks != NIL; i++)
	{
		HeapTuple task = (HeapTuple) linitial(waited->tasks);

		tuplestore_puttuple(info->setResult, task);
		waited->tasks = list_delete_first(waited->tasks);
		heap_freetuple(task);
	}
	if (waited->tasks == NIL)
		forget_waited(waited);
	return true;
}

/* ---- calls ---- */

static void
require(FunctionCallInfo fcinfo, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("argument %d must not be null", i + 1)));
	}
}

static void
take_arguments(FunctionCallInfo fcinfo, int first, int count, Datum *values, bool *nulls)
{
	for (int i = 0; i < count; i++)
	{
		nulls[i] = PG_ARGISNULL(first + i);
		values[i] = nulls[i] ? (Datum) 0 : PG_GETARG_DATUM(first + i);
	}
}

static bool
is_positive(const Interval *interval)
{
	return interval->month > 0 || interval->day > 0 || interval->time > 0;
}

/* What a function gets for its wait. */
static void
check_no_wait(bool null, Datum wait, const char *function)
{
	if (!null && is_positive(DatumGetIntervalP(wait)))
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("%s does not wait", function),
		                errdetail("A statement that waits holds a snapshot, which keeps what others delete."),
		                errhint("CALL kakehashi_wait(), which waits without one, and call %s then.", function)));
}

static char *
optional_text(bool null, Datum value)
{
	return null ? NULL : TextDatumGetCString(value);
}

/* kakehashi_receive(server, queue, max, wait, lease, group) */
Datum
kakehashi_receive(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum values[RECEIVE_ARGUMENTS];
	bool nulls[RECEIVE_ARGUMENTS];
	KakehashiSession *session;
	KakehashiStatement *statement;
	KakehashiCall *call;

	require(fcinfo, 3);
	take_arguments(fcinfo, 1, RECEIVE_ARGUMENTS, values, nulls);
	check_no_wait(nulls[2], values[2], "kakehashi_receive()");
	session = kakehashi_session_by_name(NameStr(*PG_GETARG_NAME(0)));
	InitMaterializedSRF(fcinfo, 0);
	if (hand_out(session, TextDatumGetCString(values[0]), optional_text(nulls[4], values[4]), DatumGetInt32(values[1]),
	             info))
		return (Datum) 0;
	call = kakehashi_queue_send(session, RECEIVE, RECEIVE_ARGUMENTS, receive_types, values, nulls,
	                            KAKEHASHI_QUEUE_APART, &statement);
	kakehashi_check_columns(statement, info->setDesc);
	kakehashi_return_rows(info, call, "kakehashi_receive");
	return (Datum) 0;
}

/* kakehashi_complete_and_receive(server, tokens, queue, max, wait, lease, group): no transaction takes it back, so it stands alone */
Datum
kakehashi_complete_and_receive(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum values[COMPLETE_ARGUMENTS];
	bool nulls[COMPLETE_ARGUMENTS];
	KakehashiSession *session;
	KakehashiStatement *statement;
	KakehashiCall *call;

	require(fcinfo, 4);
	take_arguments(fcinfo, 1, COMPLETE_ARGUMENTS, values, nulls);
	check_no_wait(nulls[3], values[3], "kakehashi_complete_and_receive()");
	session = kakehashi_session_by_name(NameStr(*PG_GETARG_NAME(0)));
	if (IsTransactionBlock() || IsSubTransaction() || session->wrote)
		ereport(ERROR, (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
		                errmsg("kakehashi_complete_and_receive() cannot run inside a transaction block"),
		                errdetail("What it does is not undone by a rollback."),
		                errhint("Call kakehashi_complete(), and kakehashi_receive() after the commit.")));
	InitMaterializedSRF(fcinfo, 0);
	call = kakehashi_queue_send(session, COMPLETE_AND_RECEIVE, COMPLETE_ARGUMENTS, complete_types, values, nulls,
	                            KAKEHASHI_QUEUE_APART, &statement);
	kakehashi_check_columns(statement, info->setDesc);
	kakehashi_return_rows(info, call, "kakehashi_complete_and_receive");
	return (Datum) 0;
}

/* ---- waiting ---- */

/* Columns of what the engine returns, which are those of kakehashi_receive(). */
static TupleDesc
task_columns(void)
{
	TupleDesc desc = CreateTemplateTupleDesc(COLUMN_COUNT);

	for (int i = 0; i < COLUMN_COUNT; i++)
		TupleDescInitEntry(desc, (AttrNumber) (i + 1), "task", column_types[i], -1, 0);
	TupleDescFinalize(desc);
	return desc;
}

static void
keep(Waited *waited, TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(waited->context);

	waited->tasks = lappend(waited->tasks, ExecCopySlotHeapTuple(slot));
	MemoryContextSwitchTo(old);
}

/* Keeps what the call brings. The transaction has no snapshot. */
static int
wait_for_tasks(KakehashiCall *call, KakehashiStatement *statement, const char *queue, const char *group)
{
	KakehashiSession *session = call->session;
	TupleDesc desc = task_columns();
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	KakehashiResultMap *map;
	List *attnums = NIL;
	Waited *waited = NULL;
	kh_batch batch;
	int count = 0;

	kakehashi_check_columns(statement, desc);
	for (int attnum = 1; attnum <= COLUMN_COUNT; attnum++)
		attnums = lappend_int(attnums, attnum);
	map = kakehashi_result_map(desc, attnums, "kakehashi_wait");
	/* The last look at the catalogues has one, too. */
	InvalidateCatalogSnapshot();
	while (kakehashi_call_next_batch(call, &batch))
	{
		if (waited == NULL)
			waited = make_waited(session, queue, group);
		for (uint32 row = 0; row < batch.row_count; row++)
		{
			kakehashi_result_store(map, &batch, row, slot);
			keep(waited, slot);
			count++;
		}
		ExecClearTuple(slot);
		kh_call_release(call->ipc);
	}
	(void) kakehashi_call_complete(call);
	if (waited != NULL && waited->tasks == NIL)
		forget_waited(waited);
	ExecDropSingleTupleTableSlot(slot);
	return count;
}

/* Ends the transaction, which has nothing that could be lost, and begins another one, which has no snapshot. */
static void
leave_transaction(FunctionCallInfo fcinfo, const KakehashiSession *session)
{
	if (fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) || ((CallContext *) fcinfo->context)->atomic)
		ereport(ERROR, (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
		                errmsg("kakehashi_wait() cannot be called inside a transaction block, or from a function"),
		                errdetail("It ends the transaction, so that no snapshot is held meanwhile."),
		                errhint("CALL it outside of a transaction block, or from a procedure that was called so.")));
	if (TransactionIdIsValid(GetTopTransactionIdIfAny()) || session->wrote)
		ereport(ERROR, (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
		                errmsg("kakehashi_wait() cannot be called with changes that are not committed"),
		                errhint("COMMIT before it.")));
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	SPI_commit();
	SPI_finish();
}

/* kakehashi_wait(server, queue, wait, max, lease, group, INOUT ready) */
Datum
kakehashi_wait(PG_FUNCTION_ARGS)
{
	char *server;
	char *queue;
	char *group;
	KakehashiSession *session;
	KakehashiStatement *statement;
	KakehashiCall *call;
	Waited *waited;
	TupleDesc desc;
	Datum values[RECEIVE_ARGUMENTS];
	bool nulls[RECEIVE_ARGUMENTS];
	Datum ready;
	bool is_null = false;

	require(fcinfo, 4);
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "kakehashi_wait() is not declared as a procedure");
	server = pstrdup(NameStr(*PG_GETARG_NAME(0)));
	queue = text_to_cstring(PG_GETARG_TEXT_PP(1));
	group = PG_ARGISNULL(5) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(5));
	/* As receive() has them. */
	values[0] = CStringGetTextDatum(queue);
	values[1] = PG_GETARG_DATUM(3);
	values[2] = PG_GETARG_DATUM(2);
	nulls[0] = nulls[1] = nulls[2] = false;
	nulls[3] = PG_ARGISNULL(4);
	values[3] = nulls[3] ? (Datum) 0 : PG_GETARG_DATUM(4);
	nulls[4] = group == NULL;
	values[4] = nulls[4] ? (Datum) 0 : CStringGetTextDatum(group);

	leave_transaction(fcinfo, kakehashi_session_by_name(server));
	/* The end of the transaction may have ended the session. */
	session = kakehashi_session_by_name(server);
	waited = find_waited(session, queue, group);
	if (waited != NULL)
		ready = Int32GetDatum(list_length(waited->tasks));
	else
	{
		call = kakehashi_queue_send(session, RECEIVE, RECEIVE_ARGUMENTS, receive_types, values, nulls,
		                            KAKEHASHI_QUEUE_APART, &statement);
		ready = Int32GetDatum(wait_for_tasks(call, statement, queue, group));
	}
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), &ready, &is_null));
}

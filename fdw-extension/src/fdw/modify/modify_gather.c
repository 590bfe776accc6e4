/*
 * The rows that PostgreSQL gathers for a batch of INSERT: as many as batch_size says, but no more than a megabyte of them.
 *
 * The executor copies each row into a slot of ri_Slots, and asks for the batch when ri_BatchSize slots are full. It makes the
 * slots itself unless they are there. Here they are: one is always ahead of the executor, and the copying, which is a function of
 * the slot, counts bytes. When these are enough, ri_BatchSize becomes what has been gathered, so that the next row finds the
 * batch full. Rows of the plan, which the executor gathers besides and nobody asks for, are not copied.
 *
 * What a function of the statement does in the session is a later command and has to see the rows before, so that they are sent
 * before its first request.
 */
#include "fdw/modify/modify.h"
#include "fdw/transaction/transaction.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "utils/memutils.h"
#include "utils/snapshot.h"

/* What the rows of a batch take in the backend. The engine has the batch's buffer besides. */
#define GATHERED_BYTES (1024 * 1024)

/* With 1 the executor would not gather, and rows before would come after. */
#define MIN_GATHERED_ROWS 2

typedef struct GatherSlot
{
	VirtualTupleTableSlot base; /* first */
	ResultRelInfo *rinfo;       /* NULL: a slot for rows of the plan */
} GatherSlot;

static TupleTableSlotOps gather_ops;

/* An INSERT that gathers, as long as its executor state. */
typedef struct Gathering
{
	dlist_node node;
	ResultRelInfo *rinfo;
	int nest_level; /* of the statement, which its rows belong to */
	MemoryContextCallback callback;
} Gathering;

static dlist_head gatherings = DLIST_STATIC_INIT(gatherings);

static void
forget_gathering(void *arg)
{
	dlist_delete(&((Gathering *) arg)->node);
}

static void
remember(ResultRelInfo *rinfo)
{
	KakehashiModify *modify = (KakehashiModify *) rinfo->ri_FdwState;
	MemoryContext context = modify->estate->es_query_cxt;
	Gathering *gathering = (Gathering *) MemoryContextAllocZero(context, sizeof(Gathering));

	gathering->rinfo = rinfo;
	gathering->nest_level = GetCurrentTransactionNestLevel();
	gathering->callback.func = forget_gathering;
	gathering->callback.arg = gathering;
	MemoryContextRegisterResetCallback(context, &gathering->callback);
	dlist_push_tail(&gatherings, &gathering->node);
}

/* The executor finds its slots empty. If the function catches the error, the statement meets it with its next batch. */
static void
send_gathered(Gathering *gathering)
{
	ResultRelInfo *rinfo = gathering->rinfo;
	KakehashiModify *modify = (KakehashiModify *) rinfo->ri_FdwState;
	EState *estate = modify->estate;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	int count = rinfo->ri_NumSlots;

	/* The function may be in a subtransaction; the rows are not. */
	modify->session->rows_level = gathering->nest_level;
	PG_TRY();
	{
		(void) kakehashi_exec_batch_insert(estate, rinfo, rinfo->ri_Slots, rinfo->ri_PlanSlots, &count);
		kakehashi_modify_flush(modify);
	}
	PG_CATCH();
	{
		modify->session->rows_level = 0;
		MemoryContextSwitchTo(estate->es_query_cxt);
		modify->refused = CopyErrorData();
		PG_RE_THROW();
	}
	PG_END_TRY();
	modify->session->rows_level = 0;
	rinfo->ri_NumSlots = 0;
	if (modify->counted)
		estate->es_processed += (uint64) count;
	MemoryContextSwitchTo(old);
}

void
kakehashi_gather_flush(CommandId command)
{
	dlist_iter iter;

	dlist_foreach(iter, &gatherings)
	{
		Gathering *gathering = dlist_container(Gathering, node, iter.cur);
		KakehashiModify *modify = (KakehashiModify *) gathering->rinfo->ri_FdwState;

		/* An outer savepoint that has a request of an inner one already takes no more. */
		if (modify->gathered_rows > 0 && modify->estate->es_snapshot->curcid < command &&
		    kakehashi_leader(modify->session)->level <= gathering->nest_level)
			send_gathered(gathering);
	}
}

static void
make_slots(ResultRelInfo *rinfo)
{
	KakehashiModify *modify = (KakehashiModify *) rinfo->ri_FdwState;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(modify));
	int position = rinfo->ri_NumSlotsInitialized;

	rinfo->ri_Slots[position] = MakeSingleTupleTableSlot(modify->gathered_desc, &gather_ops);
	((GatherSlot *) rinfo->ri_Slots[position])->rinfo = rinfo;
	rinfo->ri_PlanSlots[position] = MakeSingleTupleTableSlot(modify->plan_desc, &gather_ops);
	((GatherSlot *) rinfo->ri_PlanSlots[position])->rinfo = NULL;
	rinfo->ri_NumSlotsInitialized++;
	MemoryContextSwitchTo(old);
}

static void
copy_slot(TupleTableSlot *slot, TupleTableSlot *source)
{
	ResultRelInfo *rinfo = ((GatherSlot *) slot)->rinfo;
	KakehashiModify *modify;
	char *data;

	if (rinfo == NULL)
	{
		ExecClearTuple(slot);
		return;
	}
	TTSOpsVirtual.copyslot(slot, source);
	modify = (KakehashiModify *) rinfo->ri_FdwState;
	modify->gathered_rows++;
	data = ((GatherSlot *) slot)->base.data;
	if (data != NULL)
		modify->gathered_bytes += GetMemoryChunkSpace(data);
	/* The executor counts this row when it is copied. */
	if (modify->gathered_bytes >= GATHERED_BYTES)
		rinfo->ri_BatchSize = Max(rinfo->ri_NumSlots + 1, MIN_GATHERED_ROWS);
	if (rinfo->ri_NumSlotsInitialized < modify->most_batch_size)
		make_slots(rinfo);
}

int
kakehashi_gather(ResultRelInfo *rinfo)
{
	KakehashiModify *modify = (KakehashiModify *) rinfo->ri_FdwState;
	int size = kakehashi_batch_size(rinfo);
	MemoryContext context;
	Size slots;

	/* COPY gathers by itself, and by bytes. */
	if (modify == NULL || modify->plan_desc == NULL || size < MIN_GATHERED_ROWS || rinfo->ri_Slots != NULL)
		return size;
	if (gather_ops.base_slot_size == 0)
	{
		gather_ops = TTSOpsVirtual;
		gather_ops.base_slot_size = sizeof(GatherSlot);
		gather_ops.copyslot = copy_slot;
	}
	context = GetMemoryChunkContext(modify);
	slots = modify->most_batch_size * sizeof(TupleTableSlot *);
	rinfo->ri_Slots = (TupleTableSlot **) MemoryContextAlloc(context, slots);
	rinfo->ri_PlanSlots = (TupleTableSlot **) MemoryContextAlloc(context, slots);
	make_slots(rinfo);
	remember(rinfo);
	return size;
}

void
kakehashi_gather_init(void)
{
	static KakehashiCallbacks callbacks = {.before_snapshot = kakehashi_gather_flush};

	kakehashi_callbacks_register(&callbacks);
}

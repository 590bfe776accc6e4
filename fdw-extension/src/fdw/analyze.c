/*
 * ANALYZE of foreign tables: a random sample of the engine's rows, for the statistics of the columns.
 *
 * The whole table comes over, because rows cross at little cost and a sample taken by the engine would have to be as random
 * as ours. It is read in a transaction of its own, so that nothing is kept waiting.
 */
#include "kakehashi_plan.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "commands/vacuum.h"
#include "optimizer/plancat.h"
#include "utils/memutils.h"
#include "utils/sampling.h"

typedef struct Sample
{
	HeapTuple *rows;
	int capacity;
	int count;
	double seen;
	double to_skip; /* rows until the next one is taken; -1: not drawn */
	ReservoirStateData state;
	MemoryContext context; /* of the rows */
} Sample;

/* Vitter's algorithm: the first rows fill the reservoir, later ones replace some of them. */
static void
take_row(Sample *sample, TupleTableSlot *slot)
{
	MemoryContext old;
	int position = -1;

	if (sample->count < sample->capacity)
		position = sample->count++;
	else
	{
		if (sample->to_skip < 0)
			sample->to_skip = reservoir_get_next_S(&sample->state, sample->seen, sample->capacity);
		if (sample->to_skip <= 0)
		{
			position = (int) (sample->capacity * sampler_random_fract(&sample->state.randstate));
			Assert(position >= 0 && position < sample->capacity);
			heap_freetuple(sample->rows[position]);
		}
		sample->to_skip -= 1;
	}
	sample->seen += 1;
	if (position < 0)
		return;
	old = MemoryContextSwitchTo(sample->context);
	sample->rows[position] = ExecCopySlotHeapTuple(slot);
	MemoryContextSwitchTo(old);
}

static KakehashiSession *
session_of(Relation rel)
{
	ForeignTable *table = GetForeignTable(RelationGetRelid(rel));

	return kakehashi_session_get(GetUserMapping(rel->rd_rel->relowner, table->serverid));
}

static int
acquire_sample(Relation rel, int elevel, HeapTuple *rows, int capacity, double *total_rows, double *dead_rows)
{
	Sample sample = {.rows = rows, .capacity = capacity, .to_skip = -1, .context = CurrentMemoryContext};
	KakehashiSession *session = session_of(rel);
	List *attnums = kakehashi_attnums(rel, bms_make_singleton(0 - FirstLowInvalidHeapAttributeNumber));
	KakehashiResultMap *map = kakehashi_result_map(RelationGetDescr(rel), attnums, RelationGetRelationName(rel));
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsVirtual);
	KakehashiStatement *statement;
	KakehashiCall *call;
	StringInfoData sql;
	kh_batch batch;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT ");
	kakehashi_deparse_names(&sql, rel, attnums);
	appendStringInfoString(&sql, " FROM ");
	kakehashi_deparse_table(&sql, rel);
	statement = kakehashi_statement_get(session, sql.data, NULL, 0);
	kakehashi_result_check(map, RelationGetDescr(rel), RelationGetRelationName(rel), statement);
	reservoir_init_selection_state(&sample.state, capacity);

	call = kakehashi_execute_autocommit(session, statement, NULL, 0, true);
	while (kakehashi_call_next_batch(call, &batch))
	{
		for (uint32 row = 0; row < batch.row_count; row++)
		{
			kakehashi_result_store(map, &batch, row, slot);
			take_row(&sample, slot);
		}
		ExecClearTuple(slot);
		kh_call_release(call->ipc);
	}
	(void) kakehashi_call_complete(call);
	ExecDropSingleTupleTableSlot(slot);

	*total_rows = sample.seen;
	*dead_rows = 0;
	ereport(elevel, (errmsg("\"%s\": table contains %.0f rows, %d rows in sample", RelationGetRelationName(rel),
	                        sample.seen, sample.count)));
	return sample.count;
}

bool
kakehashi_analyze(Relation rel, AcquireSampleRowsFunc *func, BlockNumber *total_pages)
{
	ForeignTable *table = GetForeignTable(RelationGetRelid(rel));
	KakehashiOptions options = kakehashi_options(GetForeignServer(table->serverid), table);
	double rows = kakehashi_catalog_rows(session_of(rel), kakehashi_remote_schema(rel, &options),
	                                     kakehashi_remote_table(rel, &options));
	double pages = Max(rows, 0) * (get_relation_data_width(RelationGetRelid(rel), NULL) + 24) / BLCKSZ;

	*func = acquire_sample;
	*total_pages = (BlockNumber) Min(pages + 1, (double) MaxBlockNumber);
	return true;
}

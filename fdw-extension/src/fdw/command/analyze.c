/*
 * ANALYZE of foreign tables: a random sample of the engine's rows, for the statistics of the columns.
 *
 * The engine draws the sample, each row with the same probability, and some more of them than are wanted, of which a random choice is kept. It is
 * read in a transaction of its own, so that nothing is kept waiting.
 */
#include "fdw/command/command.h"
#include "fdw/row/row.h"
#include "fdw/deparse/deparse.h"
#include "fdw/transaction/transaction.h"

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

double
kakehashi_rows_on_engine(Relation rel, const KakehashiOptions *options, KakehashiSession *session)
{
	kakehashi_catalog_forget(session->server_id);
	return kakehashi_catalog_rows(session, kakehashi_remote_schema(rel, options), kakehashi_remote_table(rel, options));
}

static double
remote_rows(Relation rel, KakehashiSession *session)
{
	ForeignTable *table = GetForeignTable(RelationGetRelid(rel));
	KakehashiOptions options = kakehashi_options(GetForeignServer(table->serverid), table);

	return kakehashi_rows_on_engine(rel, &options, session);
}

BlockNumber
kakehashi_pages_of(Relation rel, double rows)
{
	double pages = Max(rows, 0) * (get_relation_data_width(RelationGetRelid(rel), NULL) + 24) / BLCKSZ;

	return (BlockNumber) Min(pages + 1, (double) MaxBlockNumber);
}

/* More rows than are wanted, so that chance leaves hardly ever too few. */
#define SAMPLE_MARGIN 1.05

static int
acquire_sample(Relation rel, int elevel, HeapTuple *rows, int capacity, double *total_rows, double *dead_rows)
{
	Sample sample = {.rows = rows, .capacity = capacity, .to_skip = -1, .context = CurrentMemoryContext};
	KakehashiSession *session = session_of(rel);
	double table_rows = remote_rows(rel, session);
	bool all = table_rows <= capacity * SAMPLE_MARGIN;
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
	if (!all)
		appendStringInfo(&sql, " TABLESAMPLE BERNOULLI (%.6f)", 100.0 * SAMPLE_MARGIN * capacity / table_rows);
	statement = kakehashi_statement_get(session, sql.data, NULL, 0);
	kakehashi_result_check(map, RelationGetDescr(rel), RelationGetRelationName(rel), session, &statement);
	reservoir_init_selection_state(&sample.state, capacity);

	call = kakehashi_execute_read(session, statement, NULL, 0);
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

	*total_rows = all ? sample.seen : table_rows;
	*dead_rows = 0;
	ereport(elevel, (errmsg("\"%s\": table contains %.0f rows, %d rows in sample", RelationGetRelationName(rel),
	                        *total_rows, sample.count)));
	return sample.count;
}

bool
kakehashi_analyze(Relation rel, AcquireSampleRowsFunc *func, BlockNumber *total_pages)
{
	*func = acquire_sample;
	*total_pages = kakehashi_pages_of(rel, remote_rows(rel, session_of(rel)));
	return true;
}

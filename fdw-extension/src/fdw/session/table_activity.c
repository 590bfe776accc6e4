/*
 * What this backend has asked of each foreign table, since it began.
 *
 * Counted when a scan or a change ends; those that fail are left out. What joins and groups are pushed down into belongs to
 * no table.
 */
#include "fdw/session/session.h"

#include "fmgr.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(kakehashi_table_activity);

typedef struct TableActivity
{
	Oid relid; /* hash key; first */
	KakehashiCost cost;
} TableActivity;

static HTAB *tables = NULL;

static void
create_table(void)
{
	HASHCTL control = {0};

	control.keysize = sizeof(Oid);
	control.entrysize = sizeof(TableActivity);
	control.hcxt = CacheMemoryContext;
	tables = hash_create("kakehashi table activity", 32, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static TableActivity *
activity_of(Oid relid)
{
	TableActivity *table;
	bool found;

	if (tables == NULL)
		create_table();
	table = (TableActivity *) hash_search(tables, &relid, HASH_ENTER, &found);
	if (!found)
		memset(&table->cost, 0, sizeof(KakehashiCost));
	return table;
}

void
kakehashi_count_later(Oid relid)
{
	(void) activity_of(relid);
}

void
kakehashi_count(Oid relid, const KakehashiCost *cost)
{
	TableActivity *table;

	if (cost->requests == 0)
		return;
	table = activity_of(relid);
	table->cost.requests += cost->requests;
	table->cost.rows += cost->rows;
	table->cost.batches += cost->batches;
	table->cost.bytes += cost->bytes;
	table->cost.execution_nanos += cost->execution_nanos;
	table->cost.changed += cost->changed;
}

Datum
kakehashi_table_activity(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	HASH_SEQ_STATUS scan;
	TableActivity *table;

	InitMaterializedSRF(fcinfo, 0);
	if (tables == NULL)
		return (Datum) 0;
	hash_seq_init(&scan, tables);
	while ((table = (TableActivity *) hash_seq_search(&scan)) != NULL)
	{
		Datum values[7];
		bool nulls[7] = {false};

		values[0] = ObjectIdGetDatum(table->relid);
		values[1] = Int64GetDatum((int64) table->cost.requests);
		values[2] = Int64GetDatum((int64) table->cost.rows);
		values[3] = Int64GetDatum((int64) table->cost.changed);
		values[4] = Int64GetDatum((int64) table->cost.batches);
		values[5] = Int64GetDatum((int64) table->cost.bytes);
		values[6] = Float8GetDatum((double) table->cost.execution_nanos / 1e6);
		tuplestore_putvalues(info->setResult, info->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/*
 * The engine's statistics as if ANALYZE had put them into pg_statistic: PostgreSQL's own estimates then work for foreign tables as for
 * local ones. Statistics that ANALYZE of the foreign table has left go before them.
 *
 * They are read when a table is planned that may give many rows, and kept for a while in this backend. The hooks only look up what has been read, so
 * that nothing is asked of the engine in the middle of an estimate.
 */
#include "fdw/transaction/transaction.h"
#include "fdw/row/row.h"
#include "fdw/deparse/deparse.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

/* Statistics change slowly, and the endpoint makes them anew at its leisure. */
#define MAX_AGE_MILLIS 60000

typedef struct ColumnStatistics
{
	Oid type; /* on the engine */
	double null_fraction;
	double distinct;
	int width;
	char *common_values; /* texts of arrays; NULL: none */
	char *common_frequencies;
	char *histogram;
	HeapTuple tuple; /* of pg_statistic; NULL: not made yet */
	bool leads_index;
} ColumnStatistics;

typedef struct TableStatistics
{
	Oid relid; /* hash key; first */
	Oid server_id;
	TimestampTz read_at;
	int columns;
	ColumnStatistics *column; /* by attribute number, from 1; in context */
	MemoryContext context;    /* NULL: nothing has been read */
} TableStatistics;

/* Of a query whose rows are being taken. */
typedef struct Reading
{
	TableStatistics *table;
	Relation rel;
} Reading;

static HTAB *tables = NULL;
static get_relation_stats_hook_type previous_stats_hook = NULL;
static get_attavgwidth_hook_type previous_width_hook = NULL;

static void
discard(TableStatistics *table)
{
	if (table->context != NULL)
		MemoryContextDelete(table->context);
	table->context = NULL;
	table->columns = 0;
}

void
kakehashi_statistics_forget(Oid server_id)
{
	HASH_SEQ_STATUS scan;
	TableStatistics *table;

	if (tables == NULL)
		return;
	hash_seq_init(&scan, tables);
	while ((table = (TableStatistics *) hash_seq_search(&scan)) != NULL)
	{
		if (table->server_id == server_id)
			table->read_at = 0;
	}
}

/* The foreign table has other columns, or is gone. What a plan in the making uses stays until it is read again. */
static void
on_invalidation(Datum arg, Oid relid)
{
	TableStatistics *table;

	if (OidIsValid(relid))
	{
		table = (TableStatistics *) hash_search(tables, &relid, HASH_FIND, NULL);
		if (table != NULL)
			table->read_at = 0;
	}
}

static void
create_tables(void)
{
	HASHCTL control = {0};

	control.keysize = sizeof(Oid);
	control.entrysize = sizeof(TableStatistics);
	control.hcxt = CacheMemoryContext;
	tables = hash_create("kakehashi statistics", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	CacheRegisterRelcacheCallback(on_invalidation, (Datum) 0);
}

static ColumnStatistics *
column_of(Reading *reading, const char *name)
{
	TupleDesc desc = RelationGetDescr(reading->rel);

	for (int i = 0; i < desc->natts; i++)
	{
		if (!TupleDescAttr(desc, i)->attisdropped &&
		    strcmp(kakehashi_remote_column(RelationGetRelid(reading->rel), (AttrNumber) (i + 1)), name) == 0)
			return &reading->table->column[i];
	}
	return NULL;
}

static char *
kept_text(TableStatistics *table, const kh_batch *batch, uint32 row, uint32 column)
{
	char *text = kakehashi_batch_text(batch, row, column);

	return text == NULL ? NULL : MemoryContextStrdup(table->context, text);
}

static double
number(const kh_batch *batch, uint32 row, uint32 column)
{
	return kh_batch_is_null(batch, row, column) ? 0 : DatumGetFloat8((Datum) kh_batch_word(batch, row, column));
}

static void
take_column(const kh_batch *batch, uint32 row, void *arg)
{
	Reading *reading = (Reading *) arg;
	ColumnStatistics *column = column_of(reading, kakehashi_batch_text(batch, row, 0));

	if (column == NULL)
		return;
	column->type = (Oid) kh_batch_word(batch, row, 1);
	column->null_fraction = number(batch, row, 2);
	column->width = (int) kh_batch_word(batch, row, 3);
	column->distinct = number(batch, row, 4);
	column->common_values = kept_text(reading->table, batch, row, 5);
	column->common_frequencies = kept_text(reading->table, batch, row, 6);
	column->histogram = kept_text(reading->table, batch, row, 7);
}

static void
take_index(const kh_batch *batch, uint32 row, void *arg)
{
	ColumnStatistics *column = column_of((Reading *) arg, kakehashi_batch_text(batch, row, 0));

	if (column != NULL)
		column->leads_index = true;
}

void
kakehashi_statistics_read(Relation rel, UserMapping *user, const KakehashiOptions *options)
{
	static const Oid column_types[] = {TEXTOID, INT8OID, FLOAT8OID, INT4OID, FLOAT8OID, TEXTOID, TEXTOID, TEXTOID};
	static const Oid index_types[] = {TEXTOID};
	const char *names[] = {kakehashi_remote_schema(rel, options), kakehashi_remote_table(rel, options)};
	TimestampTz now = GetCurrentTimestamp();
	Oid relid = RelationGetRelid(rel);
	TableStatistics *table;
	Reading reading;
	bool found;

	if (!kakehashi_server_can(user->serverid, KH_CAN_STATISTICS))
		return;
	if (tables == NULL)
		create_tables();
	table = (TableStatistics *) hash_search(tables, &relid, HASH_ENTER, &found);
	if (!found)
	{
		table->context = NULL;
		table->read_at = 0;
	}
	if (table->context != NULL && !TimestampDifferenceExceeds(table->read_at, now, MAX_AGE_MILLIS))
		return;
	discard(table);
	table->server_id = user->serverid;
	/* If this fails, it is tried again by the next plan; columns are there when their memory is. */
	table->read_at = 0;
	table->context = AllocSetContextCreate(CacheMemoryContext, "kakehashi statistics", ALLOCSET_SMALL_SIZES);
	table->column = (ColumnStatistics *) MemoryContextAllocZero(table->context, Max(RelationGetDescr(rel)->natts, 1) *
	                                                                                sizeof(ColumnStatistics));
	table->columns = RelationGetDescr(rel)->natts;
	reading.table = table;
	reading.rel = rel;
	kakehashi_catalog_query(
		kakehashi_session_get(user),
		"SELECT \"column_name\", \"type_oid\", \"null_fraction\", \"average_width\", \"n_distinct\","
		" \"most_common_values\", \"most_common_frequencies\", \"histogram_bounds\""
		" FROM \"kakehashi_catalog\".\"column_statistics\""
		" WHERE \"table_schema\" = $1 AND \"table_name\" = $2",
		2, names, lengthof(column_types), column_types, take_column, &reading);
	kakehashi_catalog_query(kakehashi_session_get(user),
	                        "SELECT \"column_name\" FROM \"kakehashi_catalog\".\"indexes\""
	                        " WHERE \"table_schema\" = $1 AND \"table_name\" = $2 AND \"key_position\" = 1"
	                        " AND NOT \"is_partial\"",
	                        2, names, lengthof(index_types), index_types, take_index, &reading);
	table->read_at = now;
}

static ColumnStatistics *
find_read(Oid relid, AttrNumber attnum)
{
	TableStatistics *table = tables == NULL ? NULL : (TableStatistics *) hash_search(tables, &relid, HASH_FIND, NULL);

	return table != NULL && table->context != NULL && attnum > 0 && attnum <= table->columns
	           ? &table->column[attnum - 1]
	           : NULL;
}

/* For estimates, if they may use them. */
static ColumnStatistics *
find(Oid relid, AttrNumber attnum)
{
	return kakehashi_column_statistics ? find_read(relid, attnum) : NULL;
}

bool
kakehashi_leads_index(Oid relid, AttrNumber attnum)
{
	ColumnStatistics *column = find(relid, attnum);

	return column != NULL && column->leads_index;
}

/* ANALYZE of the foreign table has been here. */
static bool
has_local_statistics(Oid relid, AttrNumber attnum)
{
	return SearchSysCacheExists3(STATRELATTINH, ObjectIdGetDatum(relid), Int16GetDatum(attnum), BoolGetDatum(false));
}

/* A tuple of pg_statistic in the making. */
typedef struct StatisticTuple
{
	Oid type; /* of the column */
	Oid collation;
	int slots; /* that are filled */
	Datum values[Natts_pg_statistic];
	bool nulls[Natts_pg_statistic];
} StatisticTuple;

/* Fills the next slot. numbers and elements: texts of arrays; numbers may be NULL. */
static void
fill_slot(StatisticTuple *tuple, int kind, Oid op, const char *numbers, const char *elements)
{
	int slot = tuple->slots++;

	tuple->values[Anum_pg_statistic_stakind1 - 1 + slot] = Int16GetDatum(kind);
	tuple->values[Anum_pg_statistic_staop1 - 1 + slot] = ObjectIdGetDatum(op);
	tuple->values[Anum_pg_statistic_stacoll1 - 1 + slot] = ObjectIdGetDatum(tuple->collation);
	if (numbers != NULL)
	{
		tuple->values[Anum_pg_statistic_stanumbers1 - 1 + slot] =
			OidInputFunctionCall(F_ARRAY_IN, unconstify(char *, numbers), FLOAT4OID, -1);
		tuple->nulls[Anum_pg_statistic_stanumbers1 - 1 + slot] = false;
	}
	tuple->values[Anum_pg_statistic_stavalues1 - 1 + slot] =
		OidInputFunctionCall(F_ARRAY_IN, unconstify(char *, elements), tuple->type, -1);
	tuple->nulls[Anum_pg_statistic_stavalues1 - 1 + slot] = false;
}

/* Values that ANALYZE here could have found, too, in its order. */
static KakehashiColumnEstimates
estimates_of(const ColumnStatistics *column, Oid type, Oid collation)
{
	const TypeCacheEntry *operators = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);
	KakehashiColumnEstimates result = {
		.null_fraction = column->null_fraction, .distinct = column->distinct, .width = column->width};

	/* Labels of enums and the like are not built in: what the engine has as text may be none of them. */
	if (type >= FirstNormalObjectId)
		return result;
	if (column->common_values != NULL && column->common_frequencies != NULL && OidIsValid(operators->eq_opr))
	{
		result.common_values = column->common_values;
		result.common_frequencies = column->common_frequencies;
	}
	/* Only where the engine's order is that of the column. */
	if (column->histogram != NULL && OidIsValid(operators->lt_opr) && kakehashi_is_shippable_order(type, collation))
		result.histogram = column->histogram;
	return result;
}

/* Whether something can be said of the column; of those that scans will refuse nothing can. Sets *type, of values, and *collation. */
static bool
is_usable(const ColumnStatistics *column, Oid relid, AttrNumber attnum, Oid *type, Oid *collation)
{
	int32 typmod;

	if (column == NULL || !OidIsValid(column->type))
		return false;
	get_atttypetypmodcoll(relid, attnum, type, &typmod, collation);
	*type = getBaseType(*type);
	return kakehashi_same_form(kakehashi_bridge_type(*type, NULL), column->type);
}

bool
kakehashi_statistics_column(Oid relid, AttrNumber attnum, KakehashiColumnEstimates *estimates)
{
	const ColumnStatistics *column = find_read(relid, attnum);
	Oid type;
	Oid collation;

	if (!is_usable(column, relid, attnum, &type, &collation))
		return false;
	*estimates = estimates_of(column, type, collation);
	return true;
}

static HeapTuple
make_tuple(const KakehashiColumnEstimates *column, Oid relid, AttrNumber attnum, Oid type, Oid collation)
{
	Relation catalog = table_open(StatisticRelationId, AccessShareLock);
	const TypeCacheEntry *operators = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);
	StatisticTuple tuple = {.type = type, .collation = collation};
	HeapTuple result;

	tuple.values[Anum_pg_statistic_starelid - 1] = ObjectIdGetDatum(relid);
	tuple.values[Anum_pg_statistic_staattnum - 1] = Int16GetDatum(attnum);
	tuple.values[Anum_pg_statistic_stainherit - 1] = BoolGetDatum(false);
	tuple.values[Anum_pg_statistic_stanullfrac - 1] = Float4GetDatum((float4) column->null_fraction);
	tuple.values[Anum_pg_statistic_stawidth - 1] = Int32GetDatum(column->width);
	tuple.values[Anum_pg_statistic_stadistinct - 1] = Float4GetDatum((float4) column->distinct);
	for (int i = 0; i < STATISTIC_NUM_SLOTS; i++)
	{
		tuple.nulls[Anum_pg_statistic_stanumbers1 - 1 + i] = true;
		tuple.nulls[Anum_pg_statistic_stavalues1 - 1 + i] = true;
	}
	if (column->common_values != NULL)
		fill_slot(&tuple, STATISTIC_KIND_MCV, operators->eq_opr, column->common_frequencies, column->common_values);
	if (column->histogram != NULL)
		fill_slot(&tuple, STATISTIC_KIND_HISTOGRAM, operators->lt_opr, NULL, column->histogram);
	result = heap_form_tuple(RelationGetDescr(catalog), tuple.values, tuple.nulls);
	table_close(catalog, AccessShareLock);
	return result;
}

static HeapTuple
statistics_tuple(Oid relid, AttrNumber attnum)
{
	ColumnStatistics *column = find(relid, attnum);
	TableStatistics *table;
	MemoryContext scratch;
	MemoryContext old;
	KakehashiColumnEstimates estimates;
	HeapTuple tuple;
	Oid type;
	Oid collation;

	if (column != NULL && column->tuple != NULL)
		return column->tuple;
	if (!is_usable(column, relid, attnum, &type, &collation))
		return NULL;
	estimates = estimates_of(column, type, collation);
	table = (TableStatistics *) hash_search(tables, &relid, HASH_FIND, NULL);
	scratch = AllocSetContextCreate(CurrentMemoryContext, "kakehashi statistics of a column", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(scratch);
	tuple = make_tuple(&estimates, relid, attnum, type, collation);
	MemoryContextSwitchTo(table->context);
	column->tuple = heap_copytuple(tuple);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return column->tuple;
}

static bool
get_relation_stats(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum, VariableStatData *vardata)
{
	HeapTuple tuple;

	if (previous_stats_hook != NULL && previous_stats_hook(root, rte, attnum, vardata))
		return true;
	if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_FOREIGN_TABLE ||
	    has_local_statistics(rte->relid, attnum))
		return false;
	tuple = statistics_tuple(rte->relid, attnum);
	if (tuple == NULL)
		return false;
	/* A copy: what is read again meanwhile would take the tuple with it. */
	vardata->statsTuple = heap_copytuple(tuple);
	vardata->freefunc = heap_freetuple;
	vardata->acl_ok = pg_class_aclcheck(rte->relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
	return true;
}

static int32
get_average_width(Oid relid, AttrNumber attnum)
{
	ColumnStatistics *column;

	if (previous_width_hook != NULL)
	{
		int32 width = previous_width_hook(relid, attnum);

		if (width > 0)
			return width;
	}
	column = find(relid, attnum);
	return column != NULL && !has_local_statistics(relid, attnum) ? column->width : 0;
}

static void
on_attached(KakehashiSession *session)
{
	kakehashi_statistics_forget(session->server_id);
}

static void
on_transaction_ended(KakehashiSession *session)
{
	if (session->defined)
		kakehashi_statistics_forget(session->server_id);
}

void
kakehashi_statistics_init(void)
{
	static KakehashiCallbacks callbacks = {.attached = on_attached, .transaction_ended = on_transaction_ended};

	kakehashi_callbacks_register(&callbacks);
	previous_stats_hook = get_relation_stats_hook;
	get_relation_stats_hook = get_relation_stats;
	previous_width_hook = get_attavgwidth_hook;
	get_attavgwidth_hook = get_average_width;
}

/*
 * ANALYZE with the option import_stats: the engine's own statistics in place of a sample of its rows. PostgreSQL asks for it from 19 on.
 *
 * All or nothing: where something is missing, or there are extended statistics, which the engine does not have, a warning says so, and
 * PostgreSQL takes a sample.
 */
#include "fdw/command/command.h"

#if PG_VERSION_NUM >= 190000

#include "fdw/transaction/transaction.h"

#include "access/htup_details.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "statistics/statistics.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

static bool
refuse(Relation rel, const char *reason)
{
	ereport(WARNING, (errmsg("could not import statistics of foreign table \"%s\"", RelationGetRelationName(rel)),
	                  errdetail("%s", reason), errhint("A sample of its rows is read instead.")));
	return false;
}

/* False: PostgreSQL will say what is wrong with them. */
static bool
are_columns(Relation rel, List *names)
{
	List *found = NIL;
	ListCell *cell;

	foreach (cell, names)
	{
		AttrNumber attnum = get_attnum(RelationGetRelid(rel), strVal(lfirst(cell)));

		if (attnum <= 0 || list_member_int(found, attnum))
			return false;
		found = lappend_int(found, attnum);
	}
	return true;
}

static bool
is_named(const FormData_pg_attribute *att, List *names)
{
	ListCell *cell;

	foreach (cell, names)
	{
		if (strcmp(strVal(lfirst(cell)), NameStr(att->attname)) == 0)
			return true;
	}
	return false;
}

/* Columns that ANALYZE is about, and PostgreSQL would compute statistics of; names: NIL: all of them. */
static List *
wanted_columns(Relation rel, List *names)
{
	List *result = NIL;

	for (int attnum = 1; attnum <= RelationGetDescr(rel)->natts; attnum++)
	{
		const FormData_pg_attribute *att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
		HeapTuple tuple;
		bool is_null;
		Datum target;

		if (att->attisdropped || att->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL ||
		    (names != NIL && !is_named(att, names)))
			continue;
		tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(RelationGetRelid(rel)), Int16GetDatum(attnum));
		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for attribute %d of relation %u", attnum, RelationGetRelid(rel));
		target = SysCacheGetAttr(ATTNUM, tuple, Anum_pg_attribute_attstattarget, &is_null);
		if (is_null || DatumGetInt16(target) != 0)
			result = lappend_int(result, attnum);
		ReleaseSysCache(tuple);
	}
	return result;
}

static NullableDatum
text_or_null(const char *text)
{
	NullableDatum result = {.isnull = text == NULL};

	if (text != NULL)
		result.value = CStringGetTextDatum(text);
	return result;
}

static NullableDatum
frequencies_or_null(const char *text)
{
	NullableDatum result = {.isnull = text == NULL};

	if (text != NULL)
		result.value = OidInputFunctionCall(F_ARRAY_IN, unconstify(char *, text), FLOAT4OID, -1);
	return result;
}

static bool
import_column(Relation rel, AttrNumber attnum, const KakehashiColumnEstimates *column)
{
	const NullableDatum none = {.isnull = true};
	const NullableDatum version = {.value = Int32GetDatum(PG_VERSION_NUM)};
	const NullableDatum null_fraction = {.value = Float4GetDatum((float4) column->null_fraction)};
	const NullableDatum width = {.value = Int32GetDatum(column->width)};
	const NullableDatum distinct = {.value = Float4GetDatum((float4) column->distinct)};
	const NullableDatum common_values = text_or_null(column->common_values);
	const NullableDatum common_frequencies = frequencies_or_null(column->common_frequencies);
	const NullableDatum histogram = text_or_null(column->histogram);

	return import_attribute_statistics(rel, attnum, false, &version, &null_fraction, &width, &distinct, &common_values,
	                                   &common_frequencies, &histogram, &none, &none, &none, &none, &none, &none,
	                                   &none);
}

static bool
import_table(Relation rel, double rows)
{
	const NullableDatum none = {.isnull = true};
	const NullableDatum version = {.value = Int32GetDatum(PG_VERSION_NUM)};
	const NullableDatum pages = {.value = Int32GetDatum((int32) kakehashi_pages_of(rel, rows))};
	const NullableDatum tuples = {.value = Float4GetDatum((float4) rows)};

	return import_relation_statistics(rel, &version, &pages, &tuples, &none, &none);
}

static bool
import_statistics(Relation rel, List *names, int elevel)
{
	TimestampTz began = GetCurrentTimestamp();
	ForeignTable *table = GetForeignTable(RelationGetRelid(rel));
	KakehashiOptions options = kakehashi_options(GetForeignServer(table->serverid), table);
	UserMapping *user;
	List *columns;
	ListCell *cell;
	KakehashiColumnEstimates estimates;
	double rows;

	if (!options.import_stats || !are_columns(rel, names))
		return false;
	if (HasRelationExtStatistics(rel))
		return refuse(rel, "It has extended statistics, which the engine does not have.");
	columns = wanted_columns(rel, names);

	user = GetUserMapping(rel->rd_rel->relowner, table->serverid);
	if (!kakehashi_can(kakehashi_session_get(user), KH_CAN_STATISTICS))
		return refuse(rel, "The engine has no statistics.");
	kakehashi_statistics_forget(table->serverid);
	kakehashi_statistics_read(rel, user, &options);
	rows = kakehashi_rows_on_engine(rel, &options, kakehashi_session_get(user));
	if (rows < 0)
		return refuse(rel, "The engine does not say how many rows the table has.");
	foreach (cell, columns)
	{
		const FormData_pg_attribute *att = TupleDescAttr(RelationGetDescr(rel), lfirst_int(cell) - 1);

		if (!kakehashi_statistics_column(RelationGetRelid(rel), att->attnum, &estimates))
			return refuse(rel, psprintf("The engine has no statistics of column \"%s\".", NameStr(att->attname)));
	}

	foreach (cell, columns)
	{
		AttrNumber attnum = (AttrNumber) lfirst_int(cell);

		(void) kakehashi_statistics_column(RelationGetRelid(rel), attnum, &estimates);
		/* It has given a warning already. The sample replaces what was imported before. */
		if (!import_column(rel, attnum, &estimates))
			return refuse(rel, psprintf("PostgreSQL does not take the statistics of column \"%s\".",
			                            NameStr(TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attname)));
	}
	if (!import_table(rel, rows))
		return refuse(rel, "PostgreSQL does not take the number of its rows.");
	pgstat_report_analyze(rel, (PgStat_Counter) rows, 0, names == NIL, began);
	ereport(elevel, (errmsg("\"%s\": imported the engine's statistics of %.0f rows and %d columns",
	                        RelationGetRelationName(rel), rows, list_length(columns))));
	return true;
}

bool
kakehashi_import_statistics(Relation rel, List *names, int elevel)
{
	Oid caller;
	int context;
	int nest_level = NewGUCNestLevel();
	bool result;

	/*
	 * As PostgreSQL computes statistics: values of domains are checked by expressions that are the owner's. After an error the end of the
	 * transaction sets it back.
	 */
	GetUserIdAndSecContext(&caller, &context);
	SetUserIdAndSecContext(rel->rd_rel->relowner, context | SECURITY_RESTRICTED_OPERATION);
	RestrictSearchPath();
	result = import_statistics(rel, names, elevel);
	AtEOXact_GUC(false, nest_level);
	SetUserIdAndSecContext(caller, context);
	return result;
}

#endif

/*
 * Values that are rows of tables and of queries, of their columns in the same slot.
 */
#include "fdw/row/row.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/primnodes.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/* A row of a table in a slot; positions in the slot from 0. */
typedef struct KakehashiRowValue
{
	int position;
	int present; /* of what says whether there is a row; -1: there is */
	TupleDesc desc;
	int *columns; /* -1: it was dropped */
	Datum *values;
	bool *nulls;
} KakehashiRowValue;

static int
position_of_column(List *tlist, const Var *row, int attnum)
{
	ListCell *cell;

	foreach (cell, tlist)
	{
		const Var *var = (const Var *) lfirst_node(TargetEntry, cell)->expr;

		if (IsA(var, Var) && var->varno == row->varno && var->varattno == attnum)
			return foreach_current_index(cell);
	}
	elog(ERROR, "column %d of a row is not in its scan", attnum);
}

static int
position_of_presence(List *tlist, const Var *row)
{
	ListCell *cell;

	foreach (cell, tlist)
	{
		const NullTest *test = (const NullTest *) lfirst_node(TargetEntry, cell)->expr;

		if (IsA(test, NullTest) && equal(test->arg, row))
			return foreach_current_index(cell);
	}
	return -1;
}

/* Of a row of a query: its columns, by the names that they have in the query around it. */
static TupleDesc
desc_of_query(List *tlist, const Var *row, const RangeTblEntry *rte)
{
	TupleDesc desc = CreateTemplateTupleDesc(list_length(rte->eref->colnames));

	for (int i = 1; i <= desc->natts; i++)
	{
		const Var *column = (const Var *) list_nth_node(TargetEntry, tlist, position_of_column(tlist, row, i))->expr;

		TupleDescInitEntry(desc, (AttrNumber) i, NULL, column->vartype, column->vartypmod, 0);
		TupleDescInitEntryCollation(desc, (AttrNumber) i, column->varcollid);
	}
	ExecTypeSetColNames(desc, rte->eref->colnames);
	TupleDescFinalize(desc);
	return BlessTupleDesc(desc);
}

static void
prepare_row(KakehashiRowValue *value, List *tlist, int number, EState *estate)
{
	const Var *row = castNode(Var, list_nth_node(TargetEntry, tlist, number - 1)->expr);

	value->position = number - 1;
	value->present = position_of_presence(tlist, row);
	value->desc = row->vartype == RECORDOID ? desc_of_query(tlist, row, exec_rt_fetch((Index) row->varno, estate))
	                                        : lookup_rowtype_tupdesc_copy(row->vartype, -1);
	value->columns = (int *) palloc(Max(value->desc->natts, 1) * sizeof(int));
	value->values = (Datum *) palloc0(Max(value->desc->natts, 1) * sizeof(Datum));
	value->nulls = (bool *) palloc0(Max(value->desc->natts, 1) * sizeof(bool));
	for (int i = 0; i < value->desc->natts; i++)
		value->columns[i] = TupleDescAttr(value->desc, i)->attisdropped ? -1 : position_of_column(tlist, row, i + 1);
}

void
kakehashi_result_add_rows(KakehashiResultMap *map, List *tlist, List *numbers, EState *estate)
{
	ListCell *cell;

	if (numbers == NIL)
		return;
	if (map->row == NULL)
		map->row = AllocSetContextCreate(CurrentMemoryContext, "kakehashi row values", ALLOCSET_SMALL_SIZES);
	map->row_value_count = list_length(numbers);
	map->row_values = (KakehashiRowValue *) palloc(map->row_value_count * sizeof(KakehashiRowValue));
	foreach (cell, numbers)
		prepare_row(&map->row_values[foreach_current_index(cell)], tlist, lfirst_int(cell), estate);
}

void
kakehashi_result_make_rows(const KakehashiResultMap *map, Datum *values, bool *nulls)
{
	MemoryContext old = MemoryContextSwitchTo(map->row);

	for (int r = 0; r < map->row_value_count; r++)
	{
		KakehashiRowValue *value = &map->row_values[r];

		if (value->present >= 0 && !DatumGetBool(values[value->present]))
			continue;
		for (int i = 0; i < value->desc->natts; i++)
		{
			int column = value->columns[i];

			value->nulls[i] = column < 0 || nulls[column];
			value->values[i] = column < 0 ? (Datum) 0 : values[column];
		}
		values[value->position] = HeapTupleGetDatum(heap_form_tuple(value->desc, value->values, value->nulls));
		nulls[value->position] = false;
	}
	MemoryContextSwitchTo(old);
}

/*
 * Rows of tables as values, as in SELECT a, b: a join brings their columns, of which they are made here.
 */
#include "fdw/plan/plan.h"
#include "fdw/row/row.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

/* Whether an outer join of the scan may leave the table out. */
static bool
may_be_missing(const RelOptInfo *scan, int varno)
{
	const KakehashiRelation *fpinfo = (const KakehashiRelation *) scan->fdw_private;
	bool outer;

	if (fpinfo->outer == NULL)
		return false;
	outer = bms_is_member(varno, fpinfo->outer->relids);
	if (fpinfo->join_type == JOIN_FULL || fpinfo->join_type == (outer ? JOIN_RIGHT : JOIN_LEFT))
		return true;
	return may_be_missing(outer ? fpinfo->outer : fpinfo->inner, varno);
}

bool
kakehashi_is_row(PlannerInfo *root, const Var *var)
{
	const RangeTblEntry *rte;
	const RelOptInfo *rel;
	const KakehashiRelation *fpinfo;
	Relation table;
	bool result = true;

	if (!IsA(var, Var) || var->varattno != 0 || var->varlevelsup != 0)
		return false;
	rte = planner_rt_fetch(var->varno, root);
	rel = root->simple_rel_array[var->varno];
	fpinfo = rel == NULL ? NULL : (const KakehashiRelation *) rel->fdw_private;
	if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_FOREIGN_TABLE || rte->inh || fpinfo == NULL ||
	    rel->reloptkind != RELOPT_BASEREL || fpinfo->members != NIL || get_rel_type_id(rte->relid) != var->vartype)
		return false;
	table = table_open(rte->relid, NoLock);
	for (int attnum = 1; attnum <= RelationGetDescr(table)->natts; attnum++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(table), attnum - 1);

		result = result && (att->attisdropped || (kakehashi_is_stored(table, attnum) &&
		                                          OidIsValid(kakehashi_bridge_type(att->atttypid, NULL))));
	}
	table_close(table, NoLock);
	return result;
}

/* The columns of its table. */
static List *
columns_of_row(PlannerInfo *root, const Var *row)
{
	Relation table = table_open(planner_rt_fetch(row->varno, root)->relid, NoLock);
	List *result = NIL;

	for (int i = 0; i < RelationGetDescr(table)->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(table), i);
		Var *column;

		if (att->attisdropped)
			continue;
		column = makeVar(row->varno, att->attnum, att->atttypid, att->atttypmod, att->attcollation, 0);
#if PG_VERSION_NUM >= 160000
		column->varnullingrels = row->varnullingrels;
#endif
		result = lappend(result, column);
	}
	table_close(table, NoLock);
	return result;
}

List *
kakehashi_add_columns(PlannerInfo *root, const RelOptInfo *scan, List *tlist, List *columns)
{
	ListCell *cell;

	tlist = add_to_flat_tlist(tlist, columns);
	foreach (cell, columns)
	{
		Var *row = (Var *) lfirst(cell);

		if (!kakehashi_is_row(root, row))
			continue;
		tlist = add_to_flat_tlist(tlist, columns_of_row(root, row));
		if (may_be_missing(scan, row->varno))
		{
			NullTest *present = makeNode(NullTest);

			/* All columns of a row that is there may be null. */
			present->arg = (Expr *) row;
			present->nulltesttype = IS_NOT_NULL;
			present->location = -1;
			tlist = add_to_flat_tlist(tlist, list_make1(present));
		}
	}
	return tlist;
}

List *
kakehashi_row_entries(List *tlist)
{
	List *result = NIL;
	ListCell *cell;

	foreach (cell, tlist)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (IsA(entry->expr, Var) && ((const Var *) entry->expr)->varattno == 0)
			result = lappend_int(result, entry->resno);
	}
	return result;
}

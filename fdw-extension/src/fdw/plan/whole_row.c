/*
 * Rows of tables and of queries in FROM as values, as in SELECT a, b: a statement brings their columns, of which they are made here.
 */
#include "fdw/plan/plan.h"
#include "fdw/row/row.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
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

/* Whether all columns of a table can be read. */
static bool
is_readable(Oid relid)
{
	Relation table = table_open(relid, NoLock);
	bool result = true;

	for (int attnum = 1; attnum <= RelationGetDescr(table)->natts; attnum++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(table), attnum - 1);

		result = result && (att->attisdropped || (kakehashi_is_stored(table, attnum) &&
		                                          OidIsValid(kakehashi_bridge_type(att->atttypid, NULL))));
	}
	table_close(table, NoLock);
	return result;
}

bool
kakehashi_is_row(PlannerInfo *root, const Var *var)
{
	const RangeTblEntry *rte;
	const RelOptInfo *rel;
	const KakehashiRelation *fpinfo;

	if (!IsA(var, Var) || var->varattno != 0 || var->varlevelsup != 0)
		return false;
	rte = planner_rt_fetch(var->varno, root);
	rel = root->simple_rel_array[var->varno];
	fpinfo = rel == NULL ? NULL : (const KakehashiRelation *) rel->fdw_private;
	if (fpinfo == NULL || rel->reloptkind != RELOPT_BASEREL)
		return false;
	/* Of these all columns that are asked for are looked at. */
	if (fpinfo->members != NIL || fpinfo->query != NULL)
		return true;
	return rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_FOREIGN_TABLE && !rte->inh &&
	       get_rel_type_id(rte->relid) == var->vartype && is_readable(rte->relid);
}

static Var *
make_column(const Var *row, int attnum, Oid type, int32 typmod, Oid collation)
{
	Var *column = makeVar(row->varno, (AttrNumber) attnum, type, typmod, collation, 0);

#if PG_VERSION_NUM >= 160000
	column->varnullingrels = row->varnullingrels;
#endif
	return column;
}

static List *
columns_of_table(const Var *row, Oid relid)
{
	Relation table = table_open(relid, NoLock);
	List *result = NIL;

	for (int i = 0; i < RelationGetDescr(table)->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(table), i);

		if (!att->attisdropped)
			result = lappend(result, make_column(row, att->attnum, att->atttypid, att->atttypmod, att->attcollation));
	}
	table_close(table, NoLock);
	return result;
}

List *
kakehashi_columns_of_row(PlannerInfo *root, const Var *row)
{
	const RangeTblEntry *rte = planner_rt_fetch(row->varno, root);
	List *result = NIL;
	ListCell *cell;

	if (rte->rtekind == RTE_RELATION)
		return columns_of_table(row, rte->relid);
	foreach (cell, rte->subquery->targetList)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, cell);
		const Node *expr = (const Node *) entry->expr;

		if (!entry->resjunk)
			result =
				lappend(result, make_column(row, entry->resno, exprType(expr), exprTypmod(expr), exprCollation(expr)));
	}
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
		tlist = add_to_flat_tlist(tlist, kakehashi_columns_of_row(root, row));
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

/*
 * The ForeignScan of a path: its statement, parameters, and the row it delivers.
 */
#include "fdw/plan/plan.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "optimizer/prep.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"

static List *
column_vars(Relation rel, Index rtindex, List *attnums)
{
	List *result = NIL;
	ListCell *cell;

	foreach (cell, attnums)
	{
		Form_pg_attribute att;

		if (lfirst_int(cell) == KAKEHASHI_IDENTITY)
		{
			result = lappend(result, makeVar((int) rtindex, KAKEHASHI_IDENTITY, TIDOID, -1, InvalidOid, 0));
			continue;
		}
		att = TupleDescAttr(RelationGetDescr(rel), lfirst_int(cell) - 1);

		result =
			lappend(result, makeVar((int) rtindex, att->attnum, att->atttypid, att->atttypmod, att->attcollation, 0));
	}
	return result;
}

static List *
numbers_to(int count)
{
	List *result = NIL;

	for (int i = 1; i <= count; i++)
		result = lappend_int(result, i);
	return result;
}

/*
 * Rows that will be changed one by one, or that FOR UPDATE or SHARE names, are locked when they are read: what was computed from them is
 * then still true when it is written. A row that a function or trigger of the same statement has changed comes, too, for its change to fail.
 */
static void
deparse_locking(StringInfo buf, PlannerInfo *root, RelOptInfo *rel)
{
	PlanRowMark *mark;

	if (root->parse->commandType != CMD_SELECT && bms_is_member((int) rel->relid, root->all_result_relids))
	{
		appendStringInfoString(buf, " FOR UPDATE TO CHANGE");
		return;
	}
	mark = get_plan_rowmark(root->rowMarks, rel->relid);
	if (mark == NULL)
		return;
	switch (mark->strength)
	{
		case LCS_NONE:
			return;
		case LCS_FORKEYSHARE:
			appendStringInfoString(buf, " FOR KEY SHARE");
			break;
		case LCS_FORSHARE:
			appendStringInfoString(buf, " FOR SHARE");
			break;
		case LCS_FORNOKEYUPDATE:
			appendStringInfoString(buf, " FOR NO KEY UPDATE");
			break;
		case LCS_FORUPDATE:
			appendStringInfoString(buf, " FOR UPDATE");
			break;
	}
	if (mark->waitPolicy == LockWaitError)
		appendStringInfoString(buf, " NOWAIT");
	else if (mark->waitPolicy == LockWaitSkip)
		appendStringInfoString(buf, " SKIP LOCKED");
}

/*
 * Rows to look at from which on planning with the constants costs little against what it can win. A look-up by key or index, and what is read
 * again for each outer row, stays below, or is the same text each time.
 */
#define ROWS_WORTH_PLANNING 50000

static bool
is_worth_planning(const KakehashiRelation *fpinfo, const ForeignPath *path)
{
	return path->path.param_info == NULL &&
	       fpinfo->engine_cost >= ROWS_WORTH_PLANNING * KAKEHASHI_ENGINE_ROW_COST * cpu_tuple_cost;
}

/* Whether the rows of a scan may be named by the position of a cursor. */
static bool
is_positioned(const PlannerInfo *root)
{
	return kakehashi_positions() != KAKEHASHI_NOT_POSITIONED && root->parse->commandType == CMD_SELECT &&
	       bms_membership(root->all_baserels) == BMS_SINGLETON;
}

static ForeignScan *
create_base_plan(PlannerInfo *root, RelOptInfo *rel, Oid relid, ForeignPath *path, List *tlist, List *clauses,
                 Plan *outer_plan)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) rel->fdw_private;
	Bitmapset *attrs_used = bms_copy(fpinfo->attrs_used);
	List *remote = NIL;
	List *local = NIL;
	List *retrieved;
	List *vars;
	StringInfoData sql;
	KakehashiDeparse context = {.root = root, .rel = rel, .buf = &sql, .literals = is_worth_planning(fpinfo, path)};
	Relation relation;
	ListCell *cell;

	foreach (cell, clauses)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);

		if (clause->pseudoconstant)
			continue;
		/* Join clauses of a parameterized path are in neither list. They all are in order already. */
		if ((list_member_ptr(fpinfo->remote_conds, clause) ||
		     (!list_member_ptr(fpinfo->local_conds, clause) && kakehashi_is_shippable(root, rel, clause->clause))) &&
		    kakehashi_can_go_before(root, rel, clause->clause, local))
			remote = lappend(remote, clause->clause);
		else
		{
			local = lappend(local, clause->clause);
			pull_varattnos((Node *) clause->clause, rel->relid, &attrs_used);
		}
	}
	relation = table_open(relid, NoLock);
	retrieved = kakehashi_attnums(relation, attrs_used);
	if (kakehashi_wants_identity(attrs_used) || is_positioned(root))
		retrieved = lappend_int(retrieved, KAKEHASHI_IDENTITY);
	vars = column_vars(relation, rel->relid, retrieved);
	table_close(relation, NoLock);

	initStringInfo(&sql);
	kakehashi_deparse_select(&context, vars, remote, path->path.pathkeys, NULL);
	deparse_locking(&sql, root, rel);
	return make_foreignscan(tlist, local, rel->relid, context.params,
	                        list_make3(makeString(sql.data), retrieved, makeInteger(0)), NIL, remote, outer_plan);
}

static bool
has_one_row(const KakehashiUpper *upper)
{
	return upper != NULL && upper->grouped && upper->group == NIL && upper->having == NIL &&
	       upper->local_having == NIL && upper->limit == NULL && upper->offset == NULL;
}

/* A join, or something above a scan: its row is no table's, but described by a target list. */
static ForeignScan *
create_query_plan(PlannerInfo *root, RelOptInfo *rel, ForeignPath *path, List *tlist)
{
	KakehashiUpper *upper = path->fdw_private == NIL ? NULL : (KakehashiUpper *) linitial(path->fdw_private);
	RelOptInfo *scan = upper != NULL ? upper->scan : rel;
	KakehashiRelation *fpinfo = (KakehashiRelation *) scan->fdw_private;
	List *local = extract_actual_clauses(kakehashi_order_conditions(root, fpinfo->local_conds), false);
	List *scan_tlist;
	StringInfoData sql;
	KakehashiDeparse context = {.root = root, .rel = scan, .buf = &sql, .literals = is_worth_planning(fpinfo, path)};

	if (upper != NULL)
	{
		scan_tlist = upper->tlist;
		local = upper->local_having;
	}
	else
	{
		scan_tlist = add_to_flat_tlist(NIL, pull_var_clause((Node *) rel->reltarget->exprs, PVC_RECURSE_PLACEHOLDERS));
		scan_tlist = add_to_flat_tlist(scan_tlist, pull_var_clause((Node *) local, PVC_RECURSE_PLACEHOLDERS));
	}
	initStringInfo(&sql);
	/* Of a change, the statement is made when all of it is known; see direct_modify.c. */
	if (root->parse->commandType != CMD_UPDATE && root->parse->commandType != CMD_DELETE)
		kakehashi_deparse_select(&context, get_tlist_exprs(scan_tlist, true), fpinfo->remote_conds, path->path.pathkeys,
		                         upper);
	/* Other joins, and what groups, are not asked for with row marks. */
	if (upper != NULL && root->rowMarks != NIL)
		deparse_locking(&sql, root, scan);
	return make_foreignscan(
		tlist, local, 0, context.params,
		list_make3(makeString(sql.data), numbers_to(list_length(scan_tlist)), makeInteger(has_one_row(upper) ? 1 : 0)),
		scan_tlist, NIL, NULL);
}

ForeignScan *
kakehashi_get_plan(PlannerInfo *root, RelOptInfo *rel, Oid relid, ForeignPath *path, List *tlist, List *clauses,
                   Plan *outer_plan)
{
	if (IS_SIMPLE_REL(rel))
		return create_base_plan(root, rel, relid, path, tlist, clauses, outer_plan);
	return create_query_plan(root, rel, path, tlist);
}

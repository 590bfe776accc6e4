/*
 * What an engine has refused of the statement that is being planned: joins of some of its tables, or what is done with the rows.
 *
 * Each plan of a statement has its own relations, so that they are known by their places in the query and by their tables. Queries beside each other
 * may have the same; then less is left to the engine than could be.
 */
#include "fdw/plan/plan.h"
#include "fdw/session/session.h"

#include "optimizer/optimizer.h"
#include "parser/parsetree.h"

typedef struct Refusal
{
	Index level;   /* of the query */
	Relids relids; /* of its tables and the like */
	List *tables;  /* one for each of them */
	bool upper;    /* not the join, but what is done with its rows */
} Refusal;

/* Without outer joins, which have numbers, too. */
static Relids
members(PlannerInfo *root, const RelOptInfo *rel)
{
	Relids result = NULL;
	int relid = -1;

	while ((relid = bms_next_member(rel->relids, relid)) >= 0)
	{
		if (root->simple_rel_array[relid] != NULL)
			result = bms_add_member(result, relid);
	}
	return result;
}

static List *
tables_of(PlannerInfo *root, Relids relids)
{
	List *result = NIL;
	int relid = -1;

	while ((relid = bms_next_member(relids, relid)) >= 0)
		result = lappend_oid(result, planner_rt_fetch((Index) relid, root)->relid);
	return result;
}

static bool
is_noted(PlannerInfo *root, Relids relids, bool upper)
{
	ListCell *cell;

	foreach (cell, kakehashi_refusals())
	{
		const Refusal *each = (const Refusal *) lfirst(cell);

		if (each->upper == upper && each->level == root->query_level && bms_is_subset(each->relids, relids) &&
		    equal(each->tables, tables_of(root, each->relids)))
			return true;
	}
	return false;
}

bool
kakehashi_join_was_refused(PlannerInfo *root, const RelOptInfo *joinrel)
{
	return kakehashi_refusals() != NIL && is_noted(root, members(root, joinrel), false);
}

bool
kakehashi_upper_was_refused(PlannerInfo *root)
{
	/* Behind the first step the input has no tables of its own. */
	return kakehashi_refusals() != NIL && is_noted(root, root->all_baserels, true);
}

static void
note(PlannerInfo *root, Relids relids, bool upper)
{
	Refusal *refusal;

	/* Of the same plan: it is in no later one. */
	if (is_noted(root, relids, upper))
		return;
	refusal = (Refusal *) palloc(sizeof(Refusal));
	refusal->level = root->query_level;
	refusal->relids = bms_copy(relids);
	refusal->tables = tables_of(root, relids);
	refusal->upper = upper;
	kakehashi_add_refusal(refusal);
}

static bool
is_join_refused(PlannerInfo *root, RelOptInfo *join)
{
	const KakehashiRelation *fpinfo = (const KakehashiRelation *) join->fdw_private;
	List *columns = pull_var_clause((Node *) join->reltarget->exprs, PVC_RECURSE_PLACEHOLDERS);
	List *exprs = NIL;
	StringInfoData sql;
	KakehashiDeparse context = {.root = root, .rel = join, .buf = &sql};
	ListCell *cell;

	/* A row as a whole is made of its columns. */
	foreach (cell, kakehashi_add_columns(root, join, NIL, columns))
	{
		Expr *expr = lfirst_node(TargetEntry, cell)->expr;

		if (!IsA(expr, Var) || ((Var *) expr)->varattno != 0)
			exprs = lappend(exprs, expr);
	}
	initStringInfo(&sql);
	kakehashi_deparse_select(&context, exprs, fpinfo->remote_conds, NIL, NULL);
	return kakehashi_is_refused(join, sql.data, context.params);
}

/* Notes each two tables that a refused join has and that the engine does not join. */
static bool
note_pairs(PlannerInfo *root, const RelOptInfo *scan)
{
	bool found = false;
	ListCell *cell;

	foreach (cell, root->join_rel_list)
	{
		RelOptInfo *pair = lfirst_node(RelOptInfo, cell);
		const KakehashiRelation *fpinfo = (const KakehashiRelation *) pair->fdw_private;
		Relids relids = members(root, pair);

		if (fpinfo != NULL && !fpinfo->shows_hidden && bms_num_members(relids) == 2 &&
		    bms_is_subset(relids, scan->relids) && is_join_refused(root, pair))
		{
			note(root, relids, false);
			found = true;
		}
	}
	return found;
}

/* False: nothing is known that a plan could do without. */
static bool
note_refusal(PlannerInfo *root, const RelOptInfo *rel, RelOptInfo *scan)
{
	if (scan == NULL || kakehashi_pushed() != KAKEHASHI_PUSH_ALL)
		return false;
	if (!IS_JOIN_REL(scan))
		note(root, members(root, scan), true);
	else if (!note_pairs(root, scan))
		note(root, members(root, scan), rel != scan && !is_join_refused(root, scan));
	return true;
}

void
kakehashi_show_query(PlannerInfo *root, const RelOptInfo *rel, RelOptInfo *scan, const char *sql, List *parameters)
{
	if (sql[0] != '\0' && kakehashi_is_refused(rel, sql, parameters))
		kakehashi_want_another_plan(rel, sql, note_refusal(root, rel, scan));
}

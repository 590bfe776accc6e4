/*
 * What is done with the rows of a scan or join: ordering, LIMIT, and the rest in grouping.c and window.c.
 */
#include "fdw/plan/plan.h"
#include "fdw/session/session.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planmain.h"
#include "optimizer/tlist.h"
#include "utils/selfuncs.h"

/*
 * The target without the whole rows that PostgreSQL would have for LockRows, which a statement that locks by itself does without. They are what
 * the query does not show; NULLs stand for them. NULL if more than this scan's rows are to be locked.
 */
static PathTarget *
without_kept_rows(PlannerInfo *root, const RelOptInfo *input, PathTarget *target)
{
	const KakehashiRelation *fpinfo = (const KakehashiRelation *) input->fdw_private;
	PathTarget *result;
	ListCell *cell;

	if (root->rowMarks == NIL)
		return target;
	if (fpinfo == NULL || list_length(target->exprs) != list_length(root->processed_tlist) ||
	    !bms_is_subset(root->all_baserels,
	                   (fpinfo->is_upper ? ((const KakehashiUpper *) fpinfo)->scan : input)->relids))
		return NULL;
	result = copy_pathtarget(target);
	foreach (cell, result->exprs)
	{
		TargetEntry *entry = list_nth_node(TargetEntry, root->processed_tlist, foreach_current_index(cell));
		Var *var = (Var *) lfirst(cell);

		if (entry->resjunk && entry->ressortgroupref == 0 && IsA(var, Var) && var->varattno == 0)
			lfirst(cell) = makeNullConst(var->vartype, var->vartypmod, var->varcollid);
	}
	return result;
}

/* Rows as they come from a scan, for ORDER BY and LIMIT: the columns that the target needs. */
static KakehashiUpper *
upper_of_scan(PlannerInfo *root, RelOptInfo *scan, PathTarget *target)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) scan->fdw_private;
	KakehashiUpper *upper = (KakehashiUpper *) palloc0(sizeof(KakehashiUpper));
	List *columns = pull_var_clause((Node *) target->exprs, PVC_RECURSE_PLACEHOLDERS);
	ListCell *cell;

	foreach (cell, columns)
	{
		Var *var = (Var *) lfirst(cell);

		if (kakehashi_is_row(root, var))
			continue;
		if (!IsA(var, Var) || var->varattno <= 0 || !kakehashi_is_shippable(root, scan, (Expr *) var))
			return NULL;
	}
	upper->is_upper = true;
	upper->scan = scan;
	upper->tlist = kakehashi_add_columns(root, scan, NIL, columns);
	upper->rows = fpinfo->retrieved_rows;
	upper->engine_cost = fpinfo->engine_cost;
	return upper;
}

/* Copy of what the input does, or of a plain scan; NULL if there is more to do here. */
static KakehashiUpper *
continue_input(PlannerInfo *root, RelOptInfo *input, PathTarget *target)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) input->fdw_private;
	KakehashiUpper *upper;

	if (fpinfo == NULL)
		return NULL;
	if (!fpinfo->is_upper)
		return kakehashi_plain_scan(input) == NULL || root->parse->hasTargetSRFs ? NULL
		                                                                         : upper_of_scan(root, input, target);
	if (((KakehashiUpper *) input->fdw_private)->local_having != NIL || root->parse->hasTargetSRFs)
		return NULL;
	upper = (KakehashiUpper *) palloc(sizeof(KakehashiUpper));
	*upper = *(KakehashiUpper *) input->fdw_private;
	return upper;
}

static void
add_ordered_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output)
{
	PathTarget *target = without_kept_rows(root, input, root->upper_targets[UPPERREL_ORDERED]);
	KakehashiUpper *upper = target == NULL ? NULL : continue_input(root, input, target);
	ListCell *cell;

	if (upper == NULL || root->sort_pathkeys == NIL)
		return;
	foreach (cell, root->sort_pathkeys)
	{
		if (kakehashi_sort_expr(root, upper->scan, kakehashi_sort_targets(upper), lfirst_node(PathKey, cell)) == NULL)
			return;
	}
	upper->pathkeys = root->sort_pathkeys;
	upper->engine_cost += kakehashi_sort_cost(upper->rows);
	output->fdw_private = upper;
	/* A scan has its ordered path already. */
	if (upper->grouped || upper->windowed)
		kakehashi_add_upper_path(root, output, upper, target, root->sort_pathkeys, upper->rows);
}

/* NULL if the expression is none, or says nothing; sets *shippable. */
static Node *
limit_expr(PlannerInfo *root, RelOptInfo *scan, Node *expr, bool *shippable)
{
	if (expr == NULL || (IsA(expr, Const) && ((Const *) expr)->constisnull))
		return NULL;
	if (!kakehashi_is_parameter(root, scan, (Expr *) expr))
		*shippable = false;
	return expr;
}

/*
 * True for the query of an EXISTS, of which the executor takes one row at most. PostgreSQL's planner says so by the fraction alone, and LIMIT 1 of a query
 * around it looks the same to one in FROM; but only queries in expressions are planned before the relations of the query around them are set up.
 */
static bool
is_exists(const PlannerInfo *root)
{
	return root->parent_root != NULL && root->parent_root->simple_rel_array == NULL && root->tuple_fraction == 1.0;
}

static void
add_limit_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output, FinalPathExtraData *extra)
{
	PathTarget *target;
	Query *parse = root->parse;
	KakehashiUpper *upper;
	bool exists = !extra->limit_needed && is_exists(root);
	bool shippable = true;
	double all;

	if (!(extra->limit_needed || (exists && root->rowMarks == NIL)) || parse->commandType != CMD_SELECT ||
	    parse->hasModifyingCTE || parse->limitOption != LIMIT_OPTION_COUNT)
		return;
	target = without_kept_rows(root, input, root->upper_targets[UPPERREL_FINAL]);
	upper = target == NULL ? NULL : continue_input(root, input, target);
	if (upper == NULL)
		return;
	upper->limit = exists ? (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(1), false, true)
	                      : limit_expr(root, upper->scan, parse->limitCount, &shippable);
	upper->offset = limit_expr(root, upper->scan, parse->limitOffset, &shippable);
	if (!shippable)
		return;
	all = upper->rows;
	if (exists)
		upper->rows = 1;
	else if (extra->limit_tuples > 0)
		upper->rows = clamp_row_est(Min(all, extra->limit_tuples));
	/* Without order or groups the engine stops when it has enough; with order it keeps no more than that. */
	if (!upper->grouped && !upper->windowed && upper->pathkeys == NIL)
		upper->engine_cost *= upper->rows / Max(all, 1);
	/* Without the LIMIT a scan locks all that it has read by then, which is more than was asked for, and what SKIP LOCKED of others then misses. */
	if (root->rowMarks != NIL)
		output->pathlist = NIL;
	kakehashi_add_upper_path(root, output, upper, target, upper->pathkeys, upper->rows);
}

/* Whether the engine does what the stage is about; no: it is done here, and so is what comes after it. */
static bool
is_done_there(const PlannerInfo *root, Oid server, UpperRelationKind stage)
{
	if (!OidIsValid(server))
		return true;
	switch (stage)
	{
		case UPPERREL_GROUP_AGG:
			return kakehashi_server_computes(server, KH_COMPUTES_GROUPING) &&
			       (root->parse->groupingSets == NIL || kakehashi_server_computes(server, KH_COMPUTES_GROUPING_SETS));
		case UPPERREL_WINDOW:
			return kakehashi_server_computes(server, KH_COMPUTES_WINDOWS);
		case UPPERREL_DISTINCT:
			/* It is written as a GROUP BY. */
			return kakehashi_server_computes(server, KH_COMPUTES_DISTINCT) &&
			       kakehashi_server_computes(server, KH_COMPUTES_GROUPING);
		case UPPERREL_FINAL:
			return kakehashi_server_computes(server, KH_COMPUTES_LIMIT);
		default:
			return true; /* of what is sorted, each key is asked for */
	}
}

void
kakehashi_get_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input, RelOptInfo *output,
                          void *extra)
{
	/* Each stage once; it builds on what the stage before could do. */
	if (output->fdw_private != NULL || !is_done_there(root, output->serverid, stage) ||
	    kakehashi_upper_was_refused(root))
		return;
	switch (stage)
	{
		case UPPERREL_GROUP_AGG:
			kakehashi_add_group_path(root, input, output, (GroupPathExtraData *) extra);
			break;
		case UPPERREL_WINDOW:
			kakehashi_add_window_path(root, input, output);
			break;
		case UPPERREL_DISTINCT:
			kakehashi_add_distinct_path(root, input, output);
			break;
		case UPPERREL_ORDERED:
			add_ordered_path(root, input, output);
			break;
		case UPPERREL_FINAL:
			add_limit_path(root, input, output, (FinalPathExtraData *) extra);
			break;
		default:
			break;
	}
}

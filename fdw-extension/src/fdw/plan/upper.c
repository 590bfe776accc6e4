/*
 * What is done with the rows of a scan or join: grouping, ordering, LIMIT.
 */
#include "fdw/plan/plan.h"

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
 * Without statistics the numbers of rows are guesses, and costs of both ways nearly the same. Bringing fewer rows over is
 * right all the same; and a scan that a LIMIT here cuts off has sent more than was wanted, which its cost does not say.
 */
#define UPPER_DISCOUNT 0.9

/* Base or join relation below, if the engine delivers all of its rows as they are. */
static RelOptInfo *
plain_scan(RelOptInfo *rel)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) rel->fdw_private;

	return fpinfo != NULL && !fpinfo->is_upper && fpinfo->local_conds == NIL && !fpinfo->shows_hidden ? rel : NULL;
}

static void
add_upper_path(PlannerInfo *root, RelOptInfo *output, KakehashiUpper *upper, PathTarget *target, List *pathkeys,
               double rows)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) upper->scan->fdw_private;
	KakehashiUpper *copy = (KakehashiUpper *) palloc(sizeof(KakehashiUpper));
	ForeignPath *path;
	Cost startup;
	Cost total;

	*copy = *upper;
	kakehashi_path_cost(fpinfo, upper->engine_cost, upper->rows, &startup, &total);
	/* Nothing comes before all is grouped or sorted. */
	if (upper->grouped || upper->pathkeys != NIL)
		startup += upper->engine_cost;
	/* What LIMIT is compared with has the discount of its order or groups already. */
	for (int i = 0; i < (upper->limit != NULL || upper->offset != NULL ? 2 : 1); i++)
	{
		startup *= UPPER_DISCOUNT;
		total *= UPPER_DISCOUNT;
	}
	/* Expressions over the result are computed here. */
	startup += target->cost.startup;
	total += target->cost.startup + target->cost.per_tuple * rows;
#if PG_VERSION_NUM >= 180000
	path =
		create_foreign_upper_path(root, output, target, rows, 0, startup, total, pathkeys, NULL, NIL, list_make1(copy));
#elif PG_VERSION_NUM >= 170000
	path = create_foreign_upper_path(root, output, target, rows, startup, total, pathkeys, NULL, NIL, list_make1(copy));
#else
	path = create_foreign_upper_path(root, output, target, rows, startup, total, pathkeys, NULL, list_make1(copy));
#endif
	path->path.parallel_safe = false;
	add_path(output, (Path *) path);
}

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
	if (fpinfo == NULL || list_length(root->rowMarks) != 1 ||
	    list_length(target->exprs) != list_length(root->processed_tlist) ||
	    !IS_SIMPLE_REL(fpinfo->is_upper ? ((const KakehashiUpper *) fpinfo)->scan : input))
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

/* Puts the aggregates (and GROUPING) that expr needs into the target list; false if one cannot be shipped. */
static bool
add_aggregates(PlannerInfo *root, KakehashiUpper *upper, Node *expr)
{
	List *parts = pull_var_clause(expr, PVC_INCLUDE_AGGREGATES);
	ListCell *cell;

	foreach (cell, parts)
	{
		Expr *part = (Expr *) lfirst(cell);

		/* Columns outside of aggregates are, or belong to, what is grouped by, and that is there. */
		if (!IsA(part, Aggref) && !IsA(part, GroupingFunc))
			continue;
		if (!kakehashi_is_shippable_grouped(root, upper->scan, part))
			return false;
		upper->tlist = add_to_flat_tlist(upper->tlist, list_make1(part));
	}
	return true;
}

/* Columns that an expression uses must be grouped by as they are, if it is computed here. */
static bool
has_columns(KakehashiUpper *upper, Node *expr)
{
	ListCell *cell;

	foreach (cell, pull_var_clause(expr, PVC_INCLUDE_AGGREGATES))
	{
		if (IsA(lfirst(cell), Var) && !tlist_member((Expr *) lfirst(cell), upper->tlist))
			return false;
	}
	return true;
}

/* Fills tlist and group from the grouped target; what is not shipped as a whole is computed here from its parts. */
static bool
build_group_target(PlannerInfo *root, KakehashiUpper *upper, PathTarget *target)
{
	List *computed = NIL;
	ListCell *cell;

	foreach (cell, target->exprs)
	{
		Expr *expr = (Expr *) lfirst(cell);
		Index ref = get_pathtarget_sortgroupref(target, foreach_current_index(cell));

		if (ref != 0 && get_sortgroupref_clause_noerr(ref, root->parse->groupClause) != NULL)
		{
			TargetEntry *entry;

			if (kakehashi_is_parameter(root, upper->scan, expr) || !kakehashi_is_groupable(expr) ||
			    !kakehashi_is_shippable(root, upper->scan, expr))
				return false;
			entry = makeTargetEntry(expr, (AttrNumber) (list_length(upper->tlist) + 1), NULL, false);
			entry->ressortgroupref = ref;
			upper->tlist = lappend(upper->tlist, entry);
			upper->group = lappend(upper->group, expr);
		}
		else if (!kakehashi_is_parameter(root, upper->scan, expr))
			computed = lappend(computed, expr);
	}
	foreach (cell, computed)
	{
		Expr *expr = (Expr *) lfirst(cell);

		if (IsA(expr, Aggref) || !has_columns(upper, (Node *) expr))
		{
			if (!kakehashi_is_shippable_grouped(root, upper->scan, expr))
				return false;
			upper->tlist = add_to_flat_tlist(upper->tlist, list_make1(expr));
		}
		else if (!add_aggregates(root, upper, (Node *) expr))
			return false;
	}
	return true;
}

static void
add_group_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output, GroupPathExtraData *extra)
{
	Query *parse = root->parse;
	KakehashiRelation *fpinfo;
	KakehashiUpper *upper;
	ListCell *cell;

	if ((parse->groupClause == NIL && !parse->hasAggs && !root->hasHavingQual) || parse->groupingSets != NIL ||
	    extra->patype != PARTITIONWISE_AGGREGATE_NONE || plain_scan(input) == NULL)
		return;
	fpinfo = (KakehashiRelation *) input->fdw_private;
	upper = (KakehashiUpper *) palloc0(sizeof(KakehashiUpper));
	upper->is_upper = true;
	upper->scan = input;
	upper->grouped = true;
	if (!build_group_target(root, upper, output->reltarget))
		return;
	foreach (cell, kakehashi_order_conditions(root, (List *) extra->havingQual))
	{
		Expr *expr = (Expr *) lfirst(cell);

		if (kakehashi_is_shippable_grouped(root, input, expr) &&
		    kakehashi_can_go_before(root, input, expr, upper->local_having))
			upper->having = lappend(upper->having, expr);
		else if (has_columns(upper, (Node *) expr) && add_aggregates(root, upper, (Node *) expr))
			upper->local_having = lappend(upper->local_having, expr);
		else
			return;
	}
	if (root->parse->groupClause == NIL)
		upper->rows = 1;
	else
		upper->rows = estimate_num_groups(root, upper->group, fpinfo->retrieved_rows, NULL, NULL);
	upper->rows = clamp_row_est(upper->rows * clauselist_selectivity(root, upper->having, 0, JOIN_INNER, NULL));
	upper->engine_cost = fpinfo->engine_cost + 2 * fpinfo->retrieved_rows * KAKEHASHI_ENGINE_ROW_COST * cpu_tuple_cost;
	output->fdw_private = upper;
	add_upper_path(root, output, upper, output->reltarget, NIL, upper->rows);
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

		if (!IsA(var, Var) || var->varattno <= 0 || !kakehashi_is_shippable(root, scan, (Expr *) var))
			return NULL;
	}
	upper->is_upper = true;
	upper->scan = scan;
	upper->tlist = add_to_flat_tlist(NIL, columns);
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
		return plain_scan(input) == NULL || root->parse->hasTargetSRFs ? NULL : upper_of_scan(root, input, target);
	if (((KakehashiUpper *) input->fdw_private)->local_having != NIL || root->parse->hasTargetSRFs)
		return NULL;
	upper = (KakehashiUpper *) palloc(sizeof(KakehashiUpper));
	*upper = *(KakehashiUpper *) input->fdw_private;
	return upper;
}

/* SELECT DISTINCT: groups of all columns. */
static void
add_distinct_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output)
{
	PathTarget *target = root->upper_targets[UPPERREL_DISTINCT];
	KakehashiRelation *fpinfo = (KakehashiRelation *) input->fdw_private;
	KakehashiUpper *upper;
	ListCell *cell;

	if (root->parse->hasDistinctOn || root->parse->hasTargetSRFs || plain_scan(input) == NULL)
		return;
	upper = (KakehashiUpper *) palloc0(sizeof(KakehashiUpper));
	upper->is_upper = true;
	upper->scan = input;
	upper->grouped = true;
	foreach (cell, target->exprs)
	{
		Expr *expr = (Expr *) lfirst(cell);

		if (kakehashi_is_parameter(root, input, expr) || !kakehashi_is_groupable(expr) ||
		    !kakehashi_is_shippable(root, input, expr))
			return;
		upper->tlist = add_to_flat_tlist(upper->tlist, list_make1(expr));
		upper->group = list_append_unique(upper->group, expr);
	}
	upper->rows = estimate_num_groups(root, upper->group, fpinfo->retrieved_rows, NULL, NULL);
	upper->engine_cost = fpinfo->engine_cost + 2 * fpinfo->retrieved_rows * KAKEHASHI_ENGINE_ROW_COST * cpu_tuple_cost;
	output->fdw_private = upper;
	add_upper_path(root, output, upper, target, NIL, upper->rows);
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
		if (kakehashi_sort_expr(root, upper->scan, upper->grouped ? upper->tlist : NIL, lfirst_node(PathKey, cell)) ==
		    NULL)
			return;
	}
	upper->pathkeys = root->sort_pathkeys;
	upper->engine_cost += kakehashi_sort_cost(upper->rows);
	output->fdw_private = upper;
	/* A scan has its ordered path already. */
	if (upper->grouped)
		add_upper_path(root, output, upper, target, root->sort_pathkeys, upper->rows);
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
	if (!upper->grouped && upper->pathkeys == NIL)
		upper->engine_cost *= upper->rows / Max(all, 1);
	/* Without the LIMIT a scan locks all that it has read by then, which is more than was asked for, and what SKIP LOCKED of others then misses. */
	if (root->rowMarks != NIL)
		output->pathlist = NIL;
	add_upper_path(root, output, upper, target, upper->pathkeys, upper->rows);
}

void
kakehashi_get_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input, RelOptInfo *output,
                          void *extra)
{
	/* Each stage once; it builds on what the stage before could do. */
	if (output->fdw_private != NULL)
		return;
	switch (stage)
	{
		case UPPERREL_GROUP_AGG:
			add_group_path(root, input, output, (GroupPathExtraData *) extra);
			break;
		case UPPERREL_DISTINCT:
			add_distinct_path(root, input, output);
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

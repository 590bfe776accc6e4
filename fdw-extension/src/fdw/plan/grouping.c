/*
 * GROUP BY with its sets, aggregates, HAVING and DISTINCT over the rows of a scan or join.
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

			/* The same for all rows: it makes no groups, except where a set leaves it out. */
			if (kakehashi_is_parameter(root, upper->scan, expr) && root->parse->groupingSets == NIL)
				continue;
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

/* More would be a long statement. */
#define MOST_SETS 100

/* Expressions of each of the grouping sets, which the planner has expanded; false if there are too many. */
static bool
build_sets(const PlannerInfo *root, KakehashiUpper *upper)
{
	ListCell *cell;
	ListCell *ref;

	foreach (cell, root->parse->groupingSets)
	{
		List *exprs = NIL;

		foreach (ref, (List *) lfirst(cell))
			exprs = lappend(exprs, get_sortgroupref_tle((Index) lfirst_int(ref), upper->tlist)->expr);
		upper->sets = lappend(upper->sets, exprs);
	}
	return list_length(upper->sets) <= MOST_SETS;
}

static double
group_rows(PlannerInfo *root, const KakehashiUpper *upper)
{
	double input = ((const KakehashiRelation *) upper->scan->fdw_private)->retrieved_rows;
	double rows = 0;
	ListCell *cell;

	if (upper->sets == NIL)
		return upper->group == NIL ? 1 : estimate_num_groups(root, upper->group, input, NULL, NULL);
	foreach (cell, upper->sets)
	{
		List *exprs = (List *) lfirst(cell);

		rows += exprs == NIL ? 1 : estimate_num_groups(root, exprs, input, NULL, NULL);
	}
	return rows;
}

static Cost
group_cost(const KakehashiRelation *fpinfo)
{
	return fpinfo->engine_cost + 2 * fpinfo->retrieved_rows * KAKEHASHI_ENGINE_ROW_COST * cpu_tuple_cost;
}

void
kakehashi_add_group_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output, GroupPathExtraData *extra)
{
	Query *parse = root->parse;
	KakehashiUpper *upper;
	ListCell *cell;

	if ((parse->groupClause == NIL && parse->groupingSets == NIL && !parse->hasAggs && !root->hasHavingQual) ||
	    extra->patype != PARTITIONWISE_AGGREGATE_NONE || kakehashi_plain_scan(input) == NULL)
		return;
	upper = (KakehashiUpper *) palloc0(sizeof(KakehashiUpper));
	upper->is_upper = true;
	upper->scan = input;
	upper->grouped = true;
	if (!build_group_target(root, upper, output->reltarget) || !build_sets(root, upper))
		return;
	upper->if_rows = parse->groupClause != NIL && upper->group == NIL;
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
	upper->rows =
		clamp_row_est(group_rows(root, upper) * clauselist_selectivity(root, upper->having, 0, JOIN_INNER, NULL));
	upper->engine_cost = group_cost((KakehashiRelation *) input->fdw_private);
	output->fdw_private = upper;
	kakehashi_add_upper_path(root, output, upper, output->reltarget, NIL, upper->rows);
}

/* SELECT DISTINCT over groups and windows: their rows have all that is compared, and nothing else. */
static KakehashiUpper *
distinct_of_upper(PlannerInfo *root, const KakehashiUpper *input, PathTarget *target)
{
	KakehashiUpper *upper;
	List *exprs = NIL;
	ListCell *cell;

	if (input->local_having != NIL)
		return NULL;
	foreach (cell, target->exprs)
	{
		Expr *expr = (Expr *) lfirst(cell);

		Index ref = get_pathtarget_sortgroupref(target, foreach_current_index(cell));

		/* Of what is grouped by and not shown any value will do, and the engine would compare it. */
		if (ref == 0 || get_sortgroupref_clause_noerr(ref, root->parse->distinctClause) == NULL)
			return NULL;
		if (kakehashi_is_parameter(root, input->scan, expr))
			continue;
		if (!kakehashi_is_groupable(expr) || !tlist_member(expr, input->tlist))
			return NULL;
		exprs = list_append_unique(exprs, expr);
	}
	if (list_length(exprs) != list_length(input->tlist))
		return NULL;
	upper = (KakehashiUpper *) palloc(sizeof(KakehashiUpper));
	*upper = *input;
	upper->distinct = true;
	upper->rows = estimate_num_groups(root, exprs, input->rows, NULL, NULL);
	upper->engine_cost += 2 * input->rows * KAKEHASHI_ENGINE_ROW_COST * cpu_tuple_cost;
	return upper;
}

/* SELECT DISTINCT over a scan: groups of all columns. */
static KakehashiUpper *
distinct_of_scan(PlannerInfo *root, RelOptInfo *input, PathTarget *target)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) input->fdw_private;
	KakehashiUpper *upper = (KakehashiUpper *) palloc0(sizeof(KakehashiUpper));
	ListCell *cell;

	upper->is_upper = true;
	upper->scan = input;
	upper->grouped = true;
	foreach (cell, target->exprs)
	{
		Expr *expr = (Expr *) lfirst(cell);

		if (kakehashi_is_parameter(root, input, expr))
			continue;
		if (!kakehashi_is_groupable(expr) || !kakehashi_is_shippable(root, input, expr))
			return NULL;
		upper->tlist = add_to_flat_tlist(upper->tlist, list_make1(expr));
		upper->group = list_append_unique(upper->group, expr);
	}
	upper->if_rows = upper->group == NIL;
	upper->rows = upper->if_rows ? 1 : estimate_num_groups(root, upper->group, fpinfo->retrieved_rows, NULL, NULL);
	upper->engine_cost = group_cost(fpinfo);
	return upper;
}

void
kakehashi_add_distinct_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output)
{
	PathTarget *target = root->upper_targets[UPPERREL_DISTINCT];
	KakehashiRelation *fpinfo = (KakehashiRelation *) input->fdw_private;
	KakehashiUpper *upper = NULL;

	if (root->parse->hasDistinctOn || root->parse->hasTargetSRFs || fpinfo == NULL)
		return;
	if (fpinfo->is_upper)
		upper = distinct_of_upper(root, (KakehashiUpper *) input->fdw_private, target);
	else if (kakehashi_plain_scan(input) != NULL)
		upper = distinct_of_scan(root, input, target);
	if (upper == NULL)
		return;
	output->fdw_private = upper;
	kakehashi_add_upper_path(root, output, upper, target, NIL, upper->rows);
}

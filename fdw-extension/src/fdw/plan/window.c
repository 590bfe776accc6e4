/*
 * Window functions over the rows of a scan or join, or over its groups.
 */
#include "fdw/plan/plan.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"

/* Of conditions on the results of window functions, as the planner takes them for inequalities. */
#define CONDITION_SELECTIVITY 0.33

/*
 * What a condition of the query around this one asks of a window function. PostgreSQL's executor leaves these rows out where it computes the
 * function, and the condition is no longer anywhere else.
 */
static List *
conditions_on_windows(PlannerInfo *root, PathTarget *target)
{
	List *result = NIL;
	ListCell *cell;

#if PG_VERSION_NUM >= 170000
	foreach (cell, pull_var_clause((Node *) target->exprs,
	                               PVC_RECURSE_AGGREGATES | PVC_INCLUDE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS))
	{
		WindowFunc *function = (WindowFunc *) lfirst(cell);
		ListCell *other;

		if (!IsA(function, WindowFunc))
			continue;
		foreach (other, function->runCondition)
		{
			WindowFuncRunCondition *condition = lfirst_node(WindowFuncRunCondition, other);
			Expr *left = condition->wfunc_left ? (Expr *) function : condition->arg;
			Expr *right = condition->wfunc_left ? condition->arg : (Expr *) function;

			result = list_append_unique(result, make_opclause(condition->opno, BOOLOID, false, left, right, InvalidOid,
			                                                  condition->inputcollid));
		}
	}
#else
	foreach (cell, root->parse->windowClause)
		result = list_concat(result, lfirst_node(WindowClause, cell)->runCondition);
#endif
	return result;
}

/* Adds an expression of the target, or the parts of which it is computed here; false if they cannot be shipped. */
static bool
add_parts(PlannerInfo *root, KakehashiUpper *upper, Expr *expr, List *grouped)
{
	List *parts =
		pull_var_clause((Node *) expr, PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS);
	ListCell *cell;

	foreach (cell, parts)
	{
		Expr *part = (Expr *) lfirst(cell);

		if (!kakehashi_is_shippable_windowed(root, upper->scan, part, upper->grouped) ||
		    (IsA(part, Var) && upper->grouped && !tlist_member(part, grouped)))
			return false;
	}
	upper->tlist = add_to_flat_tlist(upper->tlist, parts);
	return true;
}

/* Fills tlist; grouped: what the groups deliver. */
static bool
build_window_target(PlannerInfo *root, KakehashiUpper *upper, PathTarget *target, List *grouped)
{
	ListCell *cell;

	foreach (cell, target->exprs)
	{
		Expr *expr = (Expr *) lfirst(cell);
		bool whole = get_pathtarget_sortgroupref(target, foreach_current_index(cell)) != 0 ||
		             tlist_member(expr, grouped) != NULL;

		if (kakehashi_is_parameter(root, upper->scan, expr))
			continue;
		if (!whole && add_parts(root, upper, expr, grouped))
			continue;
		if (kakehashi_is_shippable_windowed(root, upper->scan, expr, upper->grouped))
			upper->tlist = add_to_flat_tlist(upper->tlist, list_make1(expr));
		else if (!whole || !add_parts(root, upper, expr, grouped))
			return false;
	}
	return true;
}

/* Conditions that the engine can check by the columns of its result; the others are checked here. */
static bool
add_conditions(PlannerInfo *root, KakehashiUpper *upper, List *conditions)
{
	ListCell *cell;

	foreach (cell, kakehashi_order_conditions(root, conditions))
	{
		Expr *condition = (Expr *) lfirst(cell);

		if (!add_parts(root, upper, condition, upper->tlist))
			return false;
		if (IsA(condition, OpExpr) && kakehashi_is_shippable_windowed(root, upper->scan, condition, upper->grouped) &&
		    kakehashi_can_go_before(root, upper->scan, condition, upper->local_having))
			upper->of_windows = lappend(upper->of_windows, condition);
		else
			upper->local_having = lappend(upper->local_having, condition);
	}
	return true;
}

void
kakehashi_add_window_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output)
{
	PathTarget *target = root->upper_targets[UPPERREL_WINDOW];
	KakehashiRelation *fpinfo = (KakehashiRelation *) input->fdw_private;
	KakehashiUpper *upper;
	List *grouped = NIL;
	double rows;

	if (fpinfo == NULL || root->parse->hasTargetSRFs)
		return;
	upper = (KakehashiUpper *) palloc0(sizeof(KakehashiUpper));
	if (fpinfo->is_upper)
	{
		*upper = *(KakehashiUpper *) input->fdw_private;
		if (upper->local_having != NIL)
			return;
		grouped = upper->tlist;
		upper->tlist = NIL;
	}
	else if (kakehashi_plain_scan(input) != NULL)
	{
		upper->is_upper = true;
		upper->scan = input;
		upper->rows = fpinfo->retrieved_rows;
		upper->engine_cost = fpinfo->engine_cost;
	}
	else
		return;
	upper->windowed = true;
	rows = upper->rows;
	if (!build_window_target(root, upper, target, grouped) ||
	    !add_conditions(root, upper, conditions_on_windows(root, target)))
		return;
	upper->engine_cost += list_length(root->parse->windowClause) *
	                      (kakehashi_sort_cost(rows) + rows * KAKEHASHI_ENGINE_ROW_COST * cpu_tuple_cost);
	if (upper->of_windows != NIL)
		upper->rows = clamp_row_est(rows * CONDITION_SELECTIVITY);
	output->fdw_private = upper;
	kakehashi_add_upper_path(root, output, upper, target, NIL, upper->rows);
}

/* Scans of the query that is being planned which deliver results of window functions. */
static List *scans = NIL;

List *
kakehashi_windows_enter(void)
{
	List *before = scans;

	scans = NIL;
	return before;
}

void
kakehashi_windows_add(ForeignScan *scan)
{
	scans = lappend(scans, scan);
}

#if PG_VERSION_NUM >= 180000
/* Calls of the functions in the place of window functions. */
static Node *
as_calls(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, WindowFunc))
	{
		const WindowFunc *function = (const WindowFunc *) node;

		return (Node *) makeFuncExpr(function->winfnoid, function->wintype, function->args, function->wincollid,
		                             function->inputcollid, COERCE_EXPLICIT_CALL);
	}
	return expression_tree_mutator(node, as_calls, context);
}
#endif

/* From 18 on EXPLAIN looks for the node of PostgreSQL's that computes a window function, and of these there is none. */
void
kakehashi_windows_finish(void)
{
#if PG_VERSION_NUM >= 180000
	ListCell *cell;

	foreach (cell, scans)
	{
		ForeignScan *scan = lfirst_node(ForeignScan, cell);

		scan->fdw_scan_tlist = (List *) as_calls((Node *) scan->fdw_scan_tlist, NULL);
	}
#endif
}

void
kakehashi_windows_leave(List *before)
{
	scans = before;
}

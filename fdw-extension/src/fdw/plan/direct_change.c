/*
 * Whether a change of rows can be one statement of the engine: what planner and PlanDirectModify ask.
 */
#include "fdw/plan/plan.h"
#include "fdw/row/row.h"

#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "utils/lsyscache.h"

/*
 * A value that a domain may refuse is refused when a row gets it. As a parameter it would be refused before anybody knows whether there is a
 * row.
 */
static bool
has_domain_check(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, CoerceToDomain) || expression_tree_walker(node, has_domain_check, context);
}

bool
kakehashi_is_settable(PlannerInfo *root, RelOptInfo *rel, Expr *value)
{
	return kakehashi_is_assignable(root, rel, value) && !has_domain_check((Node *) value, NULL);
}

/* The conditions of an outer join are written in FROM, where the table that is changed cannot be spoken of. */
static bool
is_join_of_others(const KakehashiRelation *fpinfo, const RelOptInfo *kept, int target)
{
	ListCell *cell;

	foreach (cell, fpinfo->join_clauses)
	{
		if (bms_is_member(target, lfirst_node(RestrictInfo, cell)->clause_relids))
			return false;
	}
	return kakehashi_joins_tables(kept);
}

/* True if the rows of the join are rows of target, each with rows of other tables that FROM or USING can name. */
static bool
can_name_others(const KakehashiRelation *fpinfo, int target)
{
	const RelOptInfo *next;

	switch (fpinfo->join_type)
	{
		case JOIN_SEMI:
		case JOIN_ANTI:
			next = fpinfo->outer;
			break;
		case JOIN_INNER:
			next = bms_is_member(target, fpinfo->outer->relids) ? fpinfo->outer : fpinfo->inner;
			break;
		case JOIN_LEFT:
		case JOIN_RIGHT:
			next = fpinfo->join_type == JOIN_LEFT ? fpinfo->outer : fpinfo->inner;
			if (!is_join_of_others(fpinfo, next, target))
				return false;
			break;
		default:
			return false;
	}
	if (!bms_is_member(target, next->relids))
		return false;
	return (int) next->relid == target || can_name_others((const KakehashiRelation *) next->fdw_private, target);
}

static bool
is_volatile_of_user(Oid function, void *context)
{
	(void) context;
	return function >= FirstNormalObjectId && func_volatile(function) == PROVOLATILE_VOLATILE;
}

static bool
calls_volatile_of_user(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return check_functions_in_node(node, is_volatile_of_user, NULL) ||
	       expression_tree_walker(node, calls_volatile_of_user, context);
}

bool
kakehashi_may_change_rows(List *returning)
{
	return calls_volatile_of_user((Node *) returning, NULL);
}

/* Of other tables RETURNING gets plain columns. */
static bool
can_return(List *returning, int target)
{
	ListCell *cell;

#if PG_VERSION_NUM >= 180000
	if (contain_vars_returning_old_or_new((Node *) returning))
		return false;
#endif
	foreach (cell, pull_var_clause((Node *) returning, PVC_INCLUDE_PLACEHOLDERS))
	{
		Var *var = (Var *) lfirst(cell);

		if (!IsA(var, Var) ||
		    (var->varno != target && (var->varattno <= 0 || !OidIsValid(kakehashi_bridge_type(var->vartype, NULL)))))
			return false;
	}
	return true;
}

/*
 * What is decided here must be what PostgreSQL and kakehashi_plan_direct_modify decide later: there is no way to change the rows of a join one
 * by one.
 */
bool
kakehashi_can_change_directly(PlannerInfo *root, RelOptInfo *joinrel, const KakehashiRelation *fpinfo)
{
	Query *parse = root->parse;
	int target = parse->resultRelation;
	ListCell *cell;

	if (!kakehashi_server_can(joinrel->serverid, KH_CAN_DIRECT_CHANGES) ||
	    !kakehashi_server_can(joinrel->serverid, KH_CAN_CHANGES))
		return false;
	if ((parse->commandType != CMD_UPDATE && parse->commandType != CMD_DELETE) || fpinfo->local_conds != NIL ||
	    fpinfo->shows_hidden || !can_name_others(fpinfo, target) ||
	    bms_membership(root->all_result_relids) != BMS_SINGLETON || !can_return(parse->returningList, target) ||
	    kakehashi_may_change_rows(parse->returningList) || parse->withCheckOptions != NIL || parse->hasTargetSRFs ||
	    has_row_triggers(root, (Index) target, parse->commandType) ||
	    has_stored_generated_columns(root, (Index) target))
		return false;
	foreach (cell, root->rowMarks)
	{
		if (lfirst_node(PlanRowMark, cell)->strength != LCS_NONE)
			return false;
	}
	foreach (cell, root->processed_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (!entry->resjunk && !kakehashi_is_settable(root, joinrel, entry->expr))
			return false;
	}
	return true;
}

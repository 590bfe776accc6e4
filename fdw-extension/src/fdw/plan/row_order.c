/*
 * Whether the order of a query in FROM can be seen in the result of the query around it.
 *
 * PostgreSQL's executor hands rows on as they come, so that a LIMIT, a window, an aggregate or the client itself gets them in the order of a query below.
 * The engine promises an order to the query that asks for one alone, and its tasks work side by side. Such a query is therefore a scan of its own, and
 * what stands above it is done here.
 */
#include "fdw/plan/plan.h"

#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

/* Whether the value of an aggregate that does not order its input depends on how rows come. */
static bool
is_order_sensitive(Oid function)
{
	static const char *const collecting[] = {"array_agg", "string_agg", "any_value", NULL};
	const char *name;

	/* What users have made may be anything. */
	if (function >= FirstNormalObjectId)
		return true;
	name = get_func_name(function);
	if (name == NULL || strncmp(name, "json", 4) == 0 || strncmp(name, "xml", 3) == 0)
		return true;
	for (int i = 0; collecting[i] != NULL; i++)
	{
		if (strcmp(name, collecting[i]) == 0)
			return true;
	}
	return false;
}

static bool
has_ordered_input(Node *node, void *context)
{
	const Aggref *aggregate = (const Aggref *) node;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && aggregate->aggorder == NIL && aggregate->aggkind == AGGKIND_NORMAL &&
	    is_order_sensitive(aggregate->aggfnoid))
		return true;
	return expression_tree_walker(node, has_ordered_input, context);
}

/* Whether a window takes its rows as they come. */
static bool
has_unordered_window(const Query *parse)
{
	ListCell *cell;

	if (!parse->hasWindowFuncs)
		return false;
	foreach (cell, parse->windowClause)
	{
		if (lfirst_node(WindowClause, cell)->orderClause == NIL)
			return true;
	}
	return false;
}

/* Whether the relation is what IN or EXISTS looks into, of which it matters alone what is there. */
static bool
is_looked_into(const PlannerInfo *root, const RelOptInfo *rel)
{
	ListCell *cell;

	foreach (cell, root->join_info_list)
	{
		const SpecialJoinInfo *join = lfirst_node(SpecialJoinInfo, cell);

		if ((join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI) &&
		    bms_is_member((int) rel->relid, join->syn_righthand))
			return true;
	}
	return false;
}

/* Whether PostgreSQL would need no sort, or a smaller one, because the rows come in an order that is asked for. */
static bool
comes_in_order(const RelOptInfo *rel)
{
	ListCell *cell;

	foreach (cell, rel->pathlist)
	{
		if (((const Path *) lfirst(cell))->pathkeys != NIL)
			return true;
	}
	return false;
}

bool
kakehashi_shows_order(PlannerInfo *root, const RelOptInfo *rel)
{
	const Query *parse = root->parse;
	const SetOperationStmt *operation = (const SetOperationStmt *) parse->setOperations;

	if (rel->subroot == NULL || rel->subroot->parse->sortClause == NIL)
		return false;
	if (operation != NULL)
		return parse->sortClause == NIL && operation->op == SETOP_UNION && operation->all;
	if ((parse->commandType != CMD_SELECT && parse->commandType != CMD_INSERT) || is_looked_into(root, rel))
		return false;
	if (has_unordered_window(parse) || has_ordered_input((Node *) parse->targetList, NULL) ||
	    has_ordered_input(parse->havingQual, NULL))
		return true;
	/* Of equal rows the first ones, of equal keys those that come first: as the input has them. */
	if (parse->hasDistinctOn || parse->hasWindowFuncs || parse->sortClause != NIL)
		return parse->hasDistinctOn || comes_in_order(rel);
	return !parse->hasAggs && parse->groupClause == NIL && parse->groupingSets == NIL && parse->distinctClause == NIL;
}

/*
 * UNION ALL, partitions and children of tables of one server, as one part of a statement.
 *
 * The planner looks at each member by itself and appends their rows. Here the relation of them all becomes one that the engine can join, group
 * and sort: its FROM item is the members' queries with UNION ALL between them.
 */
#include "fdw/plan/plan.h"
#include "fdw/session/session.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

/* More would be a long statement. */
#define MOST_MEMBERS 64

static set_rel_pathlist_hook_type previous_hook = NULL;

/* Whether the member delivers all columns of the whole, computed on the engine. */
static bool
can_deliver(PlannerInfo *root, RelOptInfo *child, List *columns)
{
	AppendRelInfo *info = root->append_rel_array[child->relid];
	ListCell *cell;

	foreach (cell, columns)
	{
		Var *column = (Var *) lfirst(cell);
		Expr *expr = (Expr *) adjust_appendrel_attrs(root, (Node *) column, 1, &info);

		if (exprType((Node *) expr) != column->vartype || !kakehashi_is_shippable(root, child, expr))
			return false;
	}
	return true;
}

/* Whether a member is a scan, or another whole, of which nothing is done here. */
static bool
is_member(const RelOptInfo *child)
{
	const KakehashiRelation *fpinfo = (const KakehashiRelation *) child->fdw_private;
	ListCell *cell;

	if (fpinfo == NULL || child->fdwroutine == NULL || child->fdwroutine->GetForeignPlan != kakehashi_get_plan ||
	    fpinfo->is_upper || fpinfo->local_conds != NIL || !bms_is_empty(child->lateral_relids))
		return false;
	foreach (cell, fpinfo->remote_conds)
	{
		if (lfirst_node(RestrictInfo, cell)->pseudoconstant)
			return false;
	}
	return true;
}

/* The members whose rows are those of rel; NIL if there are too many, or not all of them are the same user's tables of one server. */
static List *
find_members(PlannerInfo *root, Index rti, List *columns)
{
	List *result = NIL;
	ListCell *cell;

	foreach (cell, root->append_rel_list)
	{
		const AppendRelInfo *info = lfirst_node(AppendRelInfo, cell);
		const RelOptInfo *first = result == NIL ? NULL : (const RelOptInfo *) linitial(result);
		RelOptInfo *child = root->simple_rel_array[info->child_relid];

		if (info->parent_relid != rti || child == NULL || IS_DUMMY_REL(child))
			continue;
		if (list_length(result) >= MOST_MEMBERS || !is_member(child) || !can_deliver(root, child, columns) ||
		    (first != NULL && !kakehashi_same_reader(first, child)))
			return NIL;
		result = lappend(result, child);
	}
	return result;
}

/* The columns that exprs are, or are made of, in *columns; false: they need something else. */
static bool
find_columns(PlannerInfo *root, List *exprs, List **columns)
{
	ListCell *cell;

	*columns = NIL;
	foreach (cell, exprs)
	{
		Var *var = (Var *) lfirst(cell);

		if (!IsA(var, Var) || var->varattno < 0)
			return false;
		if (var->varattno == 0)
			*columns = list_concat_unique(*columns, kakehashi_columns_of_row(root, var));
		else
			*columns = list_append_unique(*columns, var);
	}
	return true;
}

static KakehashiRelation *
make_whole(List *members, Index rti, List *columns)
{
	const RelOptInfo *first = (const RelOptInfo *) linitial(members);
	KakehashiRelation *fpinfo = (KakehashiRelation *) palloc(sizeof(KakehashiRelation));
	ListCell *cell;

	*fpinfo = *(KakehashiRelation *) first->fdw_private;
	fpinfo->remote_conds = NIL;
	fpinfo->attrs_used = NULL;
	fpinfo->query = NULL;
	fpinfo->semi_joins = NIL;
	fpinfo->members = members;
	fpinfo->parent = rti;
	fpinfo->columns = columns;
	fpinfo->retrieved_rows = 0;
	fpinfo->engine_cost = 0;
	foreach (cell, members)
	{
		const KakehashiRelation *member = (const KakehashiRelation *) ((RelOptInfo *) lfirst(cell))->fdw_private;

		fpinfo->retrieved_rows += member->retrieved_rows;
		fpinfo->engine_cost += member->engine_cost;
		fpinfo->options.fdw_tuple_cost = Max(fpinfo->options.fdw_tuple_cost, member->options.fdw_tuple_cost);
	}
	return fpinfo;
}

static bool
is_short(PlannerInfo *root, RelOptInfo *rel)
{
	KakehashiDeparse context = {.root = root, .rel = rel, .buf = makeStringInfo()};

	kakehashi_deparse_select(&context, NIL, NIL, NIL, NULL);
	return context.buf->len <= KAKEHASHI_MOST_QUERY_BYTES;
}

/* Paths of the whole as a scan. Their relation is no table, which a scan of a base relation has to be of. */
static void
add_whole_paths(PlannerInfo *root, RelOptInfo *rel)
{
	RelOptInfo *scan = makeNode(RelOptInfo);
	ListCell *cell;

	*scan = *rel;
	scan->reloptkind = RELOPT_JOINREL;
	scan->relid = 0;
	scan->baserestrictinfo = NIL;
	scan->pathlist = NIL;
	scan->partial_pathlist = NIL;
	scan->consider_parallel = false;
	kakehashi_add_paths(root, scan);
	foreach (cell, scan->pathlist)
		add_path(rel, (Path *) lfirst(cell));
}

static void
add_whole(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	List *columns;
	List *members;

	if (previous_hook != NULL)
		previous_hook(root, rel, rti, rte);
	if (!IS_SIMPLE_REL(rel) || IS_DUMMY_REL(rel) || rel->fdw_private != NULL ||
	    root->parse->commandType != CMD_SELECT || root->rowMarks != NIL || !bms_is_empty(rel->lateral_relids))
		return;
	if (!rte->inh)
	{
		if (rte->rtekind == RTE_SUBQUERY)
			kakehashi_note_query(root, rel, rte);
		return;
	}
	if ((rte->rtekind == RTE_RELATION && kakehashi_positions() != KAKEHASHI_NOT_POSITIONED) ||
	    !find_columns(root, rel->reltarget->exprs, &columns))
		return;
	members = find_members(root, rti, columns);
	if (members == NIL ||
	    !kakehashi_server_computes(((RelOptInfo *) linitial(members))->serverid, KH_COMPUTES_SET_OPERATIONS))
		return;
	rel->fdw_private = make_whole(members, rti, columns);
	if (!is_short(root, rel))
	{
		rel->fdw_private = NULL;
		return;
	}
	rel->serverid = ((RelOptInfo *) linitial(members))->serverid;
	rel->userid = ((RelOptInfo *) linitial(members))->userid;
	rel->useridiscurrent = ((RelOptInfo *) linitial(members))->useridiscurrent;
	rel->fdwroutine = ((RelOptInfo *) linitial(members))->fdwroutine;
	/* Rows of partitions, if they are only read, come side by side. */
	if (rte->rtekind == RTE_SUBQUERY && rel->reloptkind == RELOPT_BASEREL)
		add_whole_paths(root, rel);
}

void
kakehashi_append_init(void)
{
	previous_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = add_whole;
}

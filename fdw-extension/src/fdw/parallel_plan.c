/*
 * Partial paths: scans and remote joins whose rows the processes of a parallel plan share.
 */
#include "kakehashi_plan.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "storage/itemid.h"
#include "utils/lsyscache.h"

/*
 * Each parallel scan takes a response slot when its plan starts, not when its rows are wanted. A query with more foreign
 * tables than this has none.
 */
#define MOST_FOREIGN_TABLES 8

bool
kakehashi_is_parallel_safe(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	/* As part of a parallel scan; every other path says that it is not. */
	return true;
}

static bool
count_foreign_tables(Node *node, int *count)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		if (rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_FOREIGN_TABLE)
			(*count)++;
		return false;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, count_foreign_tables, count, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, count_foreign_tables, count);
}

static bool
has_few_foreign_tables(PlannerInfo *root)
{
	int count = 0;

	while (root->parent_root != NULL)
		root = root->parent_root;
	(void) query_tree_walker(root->parse, count_foreign_tables, &count, QTW_EXAMINE_RTES_BEFORE);
	return count <= MOST_FOREIGN_TABLES;
}

/* Values of domains over types that cross as text are checked here, by expressions that may be anything. */
static bool
has_checked_values(RelOptInfo *rel, List *local_conds)
{
	List *columns = pull_var_clause((Node *) rel->reltarget->exprs, PVC_RECURSE_PLACEHOLDERS);
	ListCell *cell;

	foreach (cell, local_conds)
	{
		columns = list_concat(
			columns, pull_var_clause((Node *) lfirst_node(RestrictInfo, cell)->clause, PVC_RECURSE_PLACEHOLDERS));
	}
	foreach (cell, columns)
	{
		Oid type = exprType((Node *) lfirst(cell));

		if (get_typtype(type) == TYPTYPE_DOMAIN && kakehashi_is_text_form(type))
			return true;
	}
	return false;
}

/* How many processes the leader counts for, as the planner's own paths reckon it. */
static double
parallel_divisor(int workers)
{
	double leader = parallel_leader_participation ? 1.0 - 0.3 * workers : 0;

	return workers + Max(leader, 0);
}

void
kakehashi_add_partial_path(PlannerInfo *root, RelOptInfo *rel)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) rel->fdw_private;
	/* As many workers as for a heap table of such rows. */
	double bytes = fpinfo->retrieved_rows * (rel->reltarget->width + SizeofHeapTupleHeader + sizeof(ItemIdData));
	ForeignPath *path;
	double divisor;
	Cost total;
	int workers;

	if (!rel->consider_parallel || !fpinfo->options.parallel_capable || !bms_is_empty(rel->lateral_relids) ||
	    (rel->reloptkind != RELOPT_BASEREL && rel->reloptkind != RELOPT_JOINREL) || !has_few_foreign_tables(root) ||
	    has_checked_values(rel, fpinfo->local_conds))
		return;
	workers = compute_parallel_worker(rel, ceil(bytes / BLCKSZ), -1, max_parallel_workers_per_gather);
	if (workers <= 0)
		return;
	divisor = parallel_divisor(workers);
	/* Work of the engine, and the rows on the way here, are not divided; what is done with them here is. */
	total = fpinfo->options.fdw_startup_cost + fpinfo->local_cost.startup + fpinfo->engine_cost +
	        fpinfo->retrieved_rows * (fpinfo->options.fdw_tuple_cost + fpinfo->local_cost.per_tuple / divisor);
	path = kakehashi_create_path(root, rel, clamp_row_est(rel->rows / divisor),
	                             fpinfo->options.fdw_startup_cost + fpinfo->local_cost.startup, total, NIL, NULL);
	path->path.parallel_safe = true;
	path->path.parallel_aware = true;
	path->path.parallel_workers = workers;
	add_partial_path(rel, (Path *) path);
}

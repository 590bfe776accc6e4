/*
 * Partial paths: scans and remote joins whose rows the processes of a parallel plan share.
 */
#include "fdw/plan/plan.h"
#include "fdw/row/row.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "partitioning/partdesc.h"
#include "storage/itemid.h"
#include "utils/lsyscache.h"

/*
 * Each parallel scan takes a response slot when its plan starts, not when its rows are wanted, and the engine begins to work on all of
 * them. A query with more foreign tables than this, partitions counted one by one, has none.
 */
#define MOST_FOREIGN_TABLES 512

/* As long as the endpoint has not said how many slots a session has. */
#define FEW_FOREIGN_TABLES 8

bool
kakehashi_is_parallel_safe(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	/* As part of a parallel scan; every other path says that it is not. */
	return true;
}

typedef struct TableCount
{
	int tables;
	bool expanded; /* partitions are in the range table of the query that is walked */
} TableCount;

/* Of a table that the planner will expand: its partitions; more than the most, if there may be partitions of those. */
static int
count_partitions(Oid relid)
{
	Relation relation = table_open(relid, NoLock);
	int count = MOST_FOREIGN_TABLES + 1;

	if (relation->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
	{
		PartitionDesc partitions = RelationGetPartitionDesc(relation, true);
		bool all_leaves = true;

		for (int i = 0; i < partitions->nparts; i++)
			all_leaves = all_leaves && partitions->is_leaf[i];
		if (all_leaves)
			count = partitions->nparts;
	}
	table_close(relation, NoLock);
	return count;
}

static bool
count_foreign_tables(Node *node, TableCount *count)
{
	if (node == NULL)
		return false;
	if (count->tables > MOST_FOREIGN_TABLES)
		return true; /* the answer is known: ends the walk */
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		if (rte->rtekind != RTE_RELATION)
			return false;
		if (rte->inh && !count->expanded && has_subclass(rte->relid))
			count->tables += count_partitions(rte->relid);
		else if (rte->relkind == RELKIND_FOREIGN_TABLE)
			count->tables++;
		return false;
	}
	if (IsA(node, Query))
	{
		TableCount inner = {.tables = count->tables};

		/* Planned, and expanded, as a copy. */
		(void) query_tree_walker((Query *) node, count_foreign_tables, &inner, QTW_EXAMINE_RTES_BEFORE);
		count->tables = inner.tables;
		return false;
	}
	return expression_tree_walker(node, count_foreign_tables, count);
}

/* Half of the slots of the session with the server, and MOST_FOREIGN_TABLES at most. */
static int
most_tables(Oid server_id)
{
	HTAB *sessions = kakehashi_session_table();
	int most = FEW_FOREIGN_TABLES;
	HASH_SEQ_STATUS scan;
	KakehashiSession *session;

	if (sessions == NULL)
		return most;
	hash_seq_init(&scan, sessions);
	while ((session = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
	{
		if (session->server_id == server_id && session->ipc != NULL)
			most = Min((int) kh_session_limits(session->ipc)->slots / 2, MOST_FOREIGN_TABLES);
	}
	return most;
}

bool
kakehashi_has_few_tables(PlannerInfo *root, Oid server_id)
{
	TableCount count = {0};

	while (root->parent_root != NULL)
		root = root->parent_root;
	/* Not yet while its sublinks are planned. */
	count.expanded = !bms_is_empty(root->all_baserels);
	(void) query_tree_walker(root->parse, count_foreign_tables, &count, QTW_EXAMINE_RTES_BEFORE);
	return count.tables <= most_tables(server_id);
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
	    IS_UPPER_REL(rel) || !kakehashi_server_can(rel->serverid, KH_CAN_PARALLEL_SCAN) ||
	    !kakehashi_has_few_tables(root, rel->serverid) || has_checked_values(rel, fpinfo->local_conds))
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

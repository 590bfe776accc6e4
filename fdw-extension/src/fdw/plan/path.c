/*
 * Paths of what the engine does, and what they cost.
 */
#include "fdw/plan/plan.h"

#include <math.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

void
kakehashi_path_cost(const KakehashiRelation *fpinfo, Cost engine_cost, double retrieved, Cost *startup, Cost *total)
{
	*startup = fpinfo->options.fdw_startup_cost + fpinfo->local_cost.startup;
	*total = *startup + engine_cost + retrieved * (fpinfo->options.fdw_tuple_cost + fpinfo->local_cost.per_tuple);
}

/* Comparisons on the engine: cheaper than here by the same factor as its other work. */
Cost
kakehashi_sort_cost(double rows)
{
	rows = Max(rows, 2.0);
	return KAKEHASHI_ENGINE_ROW_COST * 2.0 * cpu_operator_cost * rows * log(rows) / log(2.0);
}

ForeignPath *
kakehashi_create_path(PlannerInfo *root, RelOptInfo *rel, double rows, Cost startup, Cost total, List *pathkeys,
                      Relids required_outer)
{
	ForeignPath *path;

	if (IS_JOIN_REL(rel))
#if PG_VERSION_NUM >= 180000
		path = create_foreign_join_path(root, rel, NULL, rows, 0, startup, total, pathkeys, required_outer, NULL, NIL,
		                                NIL);
	else
		path =
			create_foreignscan_path(root, rel, NULL, rows, 0, startup, total, pathkeys, required_outer, NULL, NIL, NIL);
#elif PG_VERSION_NUM >= 170000
		path =
			create_foreign_join_path(root, rel, NULL, rows, startup, total, pathkeys, required_outer, NULL, NIL, NIL);
	else
		path = create_foreignscan_path(root, rel, NULL, rows, startup, total, pathkeys, required_outer, NULL, NIL, NIL);
#else
		path = create_foreign_join_path(root, rel, NULL, rows, startup, total, pathkeys, required_outer, NULL, NIL);
	else
		path = create_foreignscan_path(root, rel, NULL, rows, startup, total, pathkeys, required_outer, NULL, NIL);
#endif
	/* A worker that runs a scan by itself would do so in another session, transaction and snapshot. */
	path->path.parallel_safe = false;
	return path;
}

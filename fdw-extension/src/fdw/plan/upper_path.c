/*
 * Paths of what is done with the rows of a scan or join.
 */
#include "fdw/plan/plan.h"

#include "optimizer/pathnode.h"

/* Base or join relation below, if the engine delivers all of its rows as they are. */
RelOptInfo *
kakehashi_plain_scan(RelOptInfo *rel)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) rel->fdw_private;

	return fpinfo != NULL && !fpinfo->is_upper && fpinfo->local_conds == NIL && !fpinfo->shows_hidden ? rel : NULL;
}

void
kakehashi_add_upper_path(PlannerInfo *root, RelOptInfo *output, KakehashiUpper *upper, PathTarget *target,
                         List *pathkeys, double rows)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) upper->scan->fdw_private;
	KakehashiUpper *copy = (KakehashiUpper *) palloc(sizeof(KakehashiUpper));
	ForeignPath *path;
	Cost startup;
	Cost total;

	*copy = *upper;
	kakehashi_path_cost(fpinfo, upper->engine_cost, upper->rows, &startup, &total);
	/* Nothing comes before all is grouped or sorted. */
	if (upper->grouped || upper->windowed || upper->distinct || upper->pathkeys != NIL)
		startup += upper->engine_cost;
	/* What LIMIT is compared with has the discount of its order or groups already. */
	for (int i = 0; i < (upper->limit != NULL || upper->offset != NULL ? 2 : 1); i++)
	{
		startup *= KAKEHASHI_UPPER_DISCOUNT;
		total *= KAKEHASHI_UPPER_DISCOUNT;
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

/*
 * Joins with a foreign table by its key, or by columns that an index begins with: the rows of the other side are read in batches, and their
 * keys go to the engine as the parameter rows of one request, instead of one request for each row of a nested loop.
 *
 * The statement's first parameter is the number of the row in its batch, and comes back as the first column of what was
 * found for it; the engine runs the rows of parameters in order. So duplicates, nulls and outer rows without a match need
 * no care, and the order of the outer side is kept.
 */
#include "fdw/lookup/lookup.h"
#include "fdw/plan/plan.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

/* Work for one key on both sides of the bridge, in units of cpu_tuple_cost: about that of 20 rows of a scan. */
#define LOOKUP_COST 20.0

/* Rows per request once the first one has been answered; what cost estimates count with. */
#define ROWS_PER_REQUEST 1000

/* Of the path's custom_private: planner's structures. */
typedef struct Lookup
{
	RelOptInfo *inner;
	JoinType join_type;
	List *remote;  /* clauses that the engine checks */
	List *local;   /* clauses that are checked here, of the joined row */
	List *columns; /* Vars of the inner relation */
} Lookup;

static set_join_pathlist_hook_type previous_hook = NULL;

static Plan *plan_lookup(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
                         List *custom_plans);

static const CustomPathMethods path_methods = {.CustomName = "KakehashiLookup", .PlanCustomPath = plan_lookup};

const CustomScanMethods kakehashi_lookup_methods = {.CustomName = "KakehashiLookup",
                                                    .CreateCustomScanState = kakehashi_create_lookup_state};

static bool
is_our_table(RelOptInfo *rel)
{
	return rel->reloptkind == RELOPT_BASEREL && rel->rtekind == RTE_RELATION && rel->fdwroutine != NULL &&
	       rel->fdwroutine->GetForeignPlan == kakehashi_get_plan && rel->fdw_private != NULL &&
	       ((const KakehashiRelation *) rel->fdw_private)->members == NIL && bms_is_empty(rel->lateral_relids);
}

/* Sorts the join's clauses into what the engine checks and what is checked of the joined row; false if neither will do. */
static bool
classify_clauses(PlannerInfo *root, Lookup *lookup, RelOptInfo *joinrel, List *restrictlist)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) lookup->inner->fdw_private;
	ListCell *cell;

	foreach (cell, kakehashi_order_conditions(root, restrictlist))
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);
		bool of_join = lookup->join_type == JOIN_INNER || lookup->join_type == JOIN_SEMI ||
		               !RINFO_IS_PUSHED_DOWN(clause, joinrel->relids);

		if (clause->pseudoconstant)
			return false;
		if (of_join && kakehashi_is_shippable(root, lookup->inner, clause->clause) &&
		    kakehashi_can_go_before(root, lookup->inner, clause->clause, fpinfo->local_conds) &&
		    kakehashi_can_go_before(root, lookup->inner, clause->clause, lookup->local))
			lookup->remote = lappend(lookup->remote, clause);
		else if (of_join && lookup->join_type != JOIN_INNER)
			return false;
		else
			lookup->local = lappend(lookup->local, clause);
	}
	if (fpinfo->local_conds != NIL && lookup->join_type != JOIN_INNER)
		return false;
	/* What is of the table alone is checked before what joins it. */
	lookup->local = list_concat(list_copy(fpinfo->local_conds), lookup->local);
	return true;
}

/* Notes the inner columns among vars; false if one of the others does not come from the outer side as it is. */
static bool
take_columns(Lookup *lookup, RelOptInfo *outer, List *vars)
{
	ListCell *cell;

	foreach (cell, vars)
	{
		Node *node = (Node *) lfirst(cell);

		if (IsA(node, Var) && ((Var *) node)->varno == lookup->inner->relid)
		{
			if (((Var *) node)->varattno <= 0 || !OidIsValid(kakehashi_bridge_type(((Var *) node)->vartype, NULL)))
				return false;
			lookup->columns = list_append_unique(lookup->columns, node);
		}
		else if (!list_member(outer->reltarget->exprs, node))
			return false;
	}
	return true;
}

/* Values that the statement needs must be those of the outer row. */
static bool
has_outer_values(Lookup *lookup, RelOptInfo *outer)
{
	ListCell *cell;
	ListCell *var;

	foreach (cell, lookup->remote)
	{
		foreach (var, pull_var_clause((Node *) lfirst_node(RestrictInfo, cell)->clause, PVC_INCLUDE_PLACEHOLDERS))
		{
			Node *node = (Node *) lfirst(var);

			if (!(IsA(node, Var) && ((Var *) node)->varno == lookup->inner->relid) &&
			    !list_member(outer->reltarget->exprs, node))
				return false;
		}
	}
	return true;
}

/* touched: rows that the engine looks at for each outer row. */
static void
add_lookup_path(PlannerInfo *root, RelOptInfo *joinrel, Path *outer_path, Lookup *lookup, double touched)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) lookup->inner->fdw_private;
	CustomPath *path = makeNode(CustomPath);
	QualCost local_cost;
	double requests = ceil(outer_path->rows / ROWS_PER_REQUEST);
	double retrieved = joinrel->rows / Max(fpinfo->local_selectivity, 1e-9);

	cost_qual_eval(&local_cost, lookup->local, root);
	path->path.pathtype = T_CustomScan;
	path->path.parent = joinrel;
	path->path.pathtarget = joinrel->reltarget;
	path->path.rows = joinrel->rows;
	path->path.startup_cost = outer_path->startup_cost + fpinfo->options.fdw_startup_cost + local_cost.startup;
	path->path.total_cost = outer_path->total_cost + Max(requests, 1) * fpinfo->options.fdw_startup_cost +
	                        local_cost.startup +
	                        outer_path->rows * (LOOKUP_COST + touched * KAKEHASHI_ENGINE_ROW_COST) * cpu_tuple_cost +
	                        retrieved * (fpinfo->options.fdw_tuple_cost + local_cost.per_tuple);
	path->path.pathkeys = build_join_pathkeys(root, joinrel, lookup->join_type, outer_path->pathkeys);
#if PG_VERSION_NUM >= 180000
	path->path.disabled_nodes = outer_path->disabled_nodes;
#endif
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(outer_path);
	path->custom_private = list_make1(lookup);
	path->methods = &path_methods;
	add_path(joinrel, (Path *) path);
}

static void
consider_lookup(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner, JoinType join_type,
                JoinPathExtraData *extra)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) inner->fdw_private;
	Path *outer_path = outer->cheapest_total_path;
	Lookup *lookup;
	double touched;

	if (outer_path == NULL || PATH_REQ_OUTER(outer_path) != NULL || kakehashi_is_grouped_early(joinrel) ||
	    kakehashi_is_made_unique(inner, join_type, extra))
		return;
#if PG_VERSION_NUM < 190000
	/* Rows of a semijoin's other side, each once. Later versions have them as a relation, whose paths are these. */
	if (join_type == JOIN_UNIQUE_OUTER)
	{
		outer_path = (Path *) create_unique_path(root, outer, outer_path, extra->sjinfo);
		join_type = JOIN_INNER;
	}
#endif
	if (join_type != JOIN_INNER && join_type != JOIN_LEFT && join_type != JOIN_SEMI && join_type != JOIN_ANTI)
		return;
	/* Rows that are locked or changed would have to be found again. */
	if ((root->parse->commandType != CMD_SELECT && root->parse->commandType != CMD_INSERT) || root->rowMarks != NIL ||
	    !bms_is_empty(joinrel->lateral_relids))
		return;
	lookup = (Lookup *) palloc0(sizeof(Lookup));
	lookup->inner = inner;
	lookup->join_type = join_type;
	if (!classify_clauses(root, lookup, joinrel, extra->restrictlist))
		return;
	lookup->remote = list_concat(list_copy(fpinfo->remote_conds), lookup->remote);
	touched =
		kakehashi_is_key_lookup(root, inner, lookup->remote) ? 1 : kakehashi_rows_touched(root, inner, lookup->remote);
	/* Without an index it would be a scan for each outer row. What the engine does by itself it may have an index for, too, but not for a lookup. */
	if (touched >= inner->tuples || !has_outer_values(lookup, outer))
		return;
	if (!take_columns(lookup, outer, pull_var_clause((Node *) joinrel->reltarget->exprs, PVC_INCLUDE_PLACEHOLDERS)) ||
	    !take_columns(lookup, outer,
	                  pull_var_clause((Node *) extract_actual_clauses(lookup->local, false), PVC_INCLUDE_PLACEHOLDERS)))
		return;
	add_lookup_path(root, joinrel, outer_path, lookup, touched);
}

static void
on_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner, JoinType join_type,
              JoinPathExtraData *extra)
{
	if (previous_hook != NULL)
		previous_hook(root, joinrel, outer, inner, join_type, extra);
	if (is_our_table(inner))
		consider_lookup(root, joinrel, outer, inner, join_type, extra);
}

static Plan *
plan_lookup(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *custom_plans)
{
	Lookup *lookup = (Lookup *) linitial(path->custom_private);
	Plan *outer_plan = (Plan *) linitial(custom_plans);
	CustomScan *plan = makeNode(CustomScan);
	KakehashiRelation *fpinfo = (KakehashiRelation *) lookup->inner->fdw_private;
	StringInfoData sql;
	/* Nulls are no parameters: nothing in the statement is equal to the placeholder of the number. */
	KakehashiDeparse context = {.root = root,
	                            .rel = lookup->inner,
	                            .buf = &sql,
	                            .numbered = true,
	                            .params = list_make1(makeNullConst(INT4OID, -1, InvalidOid))};
	ListCell *cell;

	initStringInfo(&sql);
	kakehashi_deparse_select(&context, lookup->columns, lookup->remote, NIL, NULL);

	foreach (cell, outer_plan->targetlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		plan->custom_scan_tlist =
			lappend(plan->custom_scan_tlist,
		            makeTargetEntry((Expr *) copyObject(entry->expr),
		                            (AttrNumber) (list_length(plan->custom_scan_tlist) + 1), NULL, false));
	}
	foreach (cell, lookup->columns)
	{
		plan->custom_scan_tlist =
			lappend(plan->custom_scan_tlist,
		            makeTargetEntry((Expr *) copyObject(lfirst(cell)),
		                            (AttrNumber) (list_length(plan->custom_scan_tlist) + 1), NULL, false));
	}
	plan->scan.plan.targetlist = tlist;
	plan->scan.plan.qual = extract_actual_clauses(lookup->local, false);
	plan->flags = path->flags;
	plan->custom_plans = custom_plans;
	plan->custom_exprs = context.params;
	plan->custom_private =
		list_make4(makeString(sql.data), makeString(get_rel_name(planner_rt_fetch(lookup->inner->relid, root)->relid)),
	               list_make2_int((int) lookup->join_type, list_length(outer_plan->targetlist)),
	               list_make2_oid(fpinfo->server->serverid, kakehashi_checked_user(root, lookup->inner)));
	plan->methods = &kakehashi_lookup_methods;
	return &plan->scan.plan;
}

void
kakehashi_lookup_init(void)
{
	previous_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = on_join_paths;
	RegisterCustomScanMethods(&kakehashi_lookup_methods);
}

/*
 * Joins of tables of one server, as one SELECT.
 */
#include "fdw/plan/plan.h"
#include "fdw/row/row.h"

#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"

static bool
is_supported(JoinType join_type)
{
	return join_type == JOIN_INNER || join_type == JOIN_LEFT || join_type == JOIN_RIGHT || join_type == JOIN_FULL ||
	       join_type == JOIN_SEMI || join_type == JOIN_ANTI;
}

bool
kakehashi_is_grouped_early(const RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 190000
	return IS_GROUPED_REL(rel);
#else
	return false;
#endif
}

bool
kakehashi_is_made_unique(const RelOptInfo *side, JoinType join_type, const JoinPathExtraData *extra)
{
#if PG_VERSION_NUM >= 190000
	return RELATION_WAS_MADE_UNIQUE(side, extra->sjinfo, join_type);
#else
	return false;
#endif
}

/* Expressions that must be computed below the join, and may not be null above it. */
static bool
has_placeholders(PlannerInfo *root, RelOptInfo *joinrel)
{
	/* They are known by the partitioned tables, of which a join of partitions is a part. */
	Relids relids = joinrel->top_parent_relids != NULL ? joinrel->top_parent_relids : joinrel->relids;
	ListCell *cell;

	foreach (cell, root->placeholder_list)
	{
		PlaceHolderInfo *info = lfirst_node(PlaceHolderInfo, cell);

		if (bms_is_subset(info->ph_eval_at, relids) && bms_nonempty_difference(relids, info->ph_eval_at))
			return true;
	}
	return false;
}

/* System columns cannot be fetched. rows: rows as a whole can be made of what is. */
static bool
has_simple_columns(PlannerInfo *root, Node *exprs, bool rows)
{
	ListCell *cell;

	foreach (cell, pull_var_clause(exprs, PVC_RECURSE_PLACEHOLDERS))
	{
		Var *var = (Var *) lfirst(cell);

		if (rows && kakehashi_is_row(root, var))
			continue;
		if (!IsA(var, Var) || var->varattno <= 0 || !OidIsValid(kakehashi_bridge_type(var->vartype, NULL)))
			return false;
	}
	return true;
}

/* Sorts the join's clauses into ON, WHERE, and what is checked here. */
static bool
classify_clauses(PlannerInfo *root, RelOptInfo *joinrel, KakehashiRelation *fpinfo, List *restrictlist)
{
	const KakehashiRelation *outer = (const KakehashiRelation *) fpinfo->outer->fdw_private;
	const KakehashiRelation *inner = (const KakehashiRelation *) fpinfo->inner->fdw_private;
	ListCell *cell;
	bool is_condition = fpinfo->join_type == JOIN_SEMI || fpinfo->join_type == JOIN_ANTI;

	foreach (cell, kakehashi_order_conditions(root, restrictlist))
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);
		bool shippable = kakehashi_is_shippable(root, joinrel, clause->clause) &&
		                 kakehashi_can_go_before(root, joinrel, clause->clause, fpinfo->local_conds);
		bool of_join =
			is_condition || fpinfo->join_type == JOIN_INNER || !RINFO_IS_PUSHED_DOWN(clause, joinrel->relids);

		/* Of columns that are equal PostgreSQL takes any, and those in an EXISTS below cannot be named here. */
		if (bms_overlap(clause->clause_relids, outer->hidden) || bms_overlap(clause->clause_relids, inner->hidden))
			return false;
		if (of_join && shippable)
			fpinfo->join_clauses = lappend(fpinfo->join_clauses, clause);
		else if (of_join && fpinfo->join_type != JOIN_INNER)
			return false;
		else if (shippable)
			fpinfo->remote_conds = lappend(fpinfo->remote_conds, clause);
		else
			fpinfo->local_conds = lappend(fpinfo->local_conds, clause);
	}
	return true;
}

/* Whether the conditions of a side can be checked before the rows are joined: in a subquery of one table, or where an inner join has its own. */
static bool
can_be_side(RelOptInfo *side)
{
	const KakehashiRelation *fpinfo = (const KakehashiRelation *) side->fdw_private;
	const KakehashiRelation *core = (const KakehashiRelation *) kakehashi_without_semi_joins(side)->fdw_private;

	return (fpinfo->remote_conds == NIL && fpinfo->semi_joins == NIL) || core->outer == NULL ||
	       (core->join_type == JOIN_INNER && fpinfo->semi_joins == NIL);
}

/* What the sides check in WHERE goes where it means the same for the join. */
static bool
pull_up_conditions(RelOptInfo *joinrel, KakehashiRelation *fpinfo, KakehashiRelation *outer, KakehashiRelation *inner)
{
	switch (fpinfo->join_type)
	{
		case JOIN_INNER:
			fpinfo->remote_conds =
				list_concat(fpinfo->remote_conds, list_concat_copy(outer->remote_conds, inner->remote_conds));
			fpinfo->semi_joins = list_concat_copy(outer->semi_joins, inner->semi_joins);
			return true;
		case JOIN_LEFT:
			if (inner->semi_joins != NIL)
				return false;
			fpinfo->join_clauses = list_concat(fpinfo->join_clauses, list_copy(inner->remote_conds));
			fpinfo->remote_conds = list_concat(fpinfo->remote_conds, list_copy(outer->remote_conds));
			fpinfo->semi_joins = list_copy(outer->semi_joins);
			return true;
		case JOIN_RIGHT:
			if (outer->semi_joins != NIL)
				return false;
			fpinfo->join_clauses = list_concat(fpinfo->join_clauses, list_copy(outer->remote_conds));
			fpinfo->remote_conds = list_concat(fpinfo->remote_conds, list_copy(inner->remote_conds));
			fpinfo->semi_joins = list_copy(inner->semi_joins);
			return true;
		case JOIN_FULL:
			return can_be_side(fpinfo->outer) && can_be_side(fpinfo->inner);
		case JOIN_SEMI:
		case JOIN_ANTI:
			fpinfo->remote_conds = list_concat(fpinfo->remote_conds, list_copy(outer->remote_conds));
			fpinfo->semi_joins = lappend(list_copy(outer->semi_joins), joinrel);
			return true;
		default:
			return false;
	}
}

/*
 * Columns of tables in an EXISTS are wanted above for their equals, and below a LEFT JOIN that is an ANTI join for their nulls. keeps_rows: rows as a
 * whole are for finding them again, which nobody does.
 */
static void
note_hidden(RelOptInfo *joinrel, KakehashiRelation *fpinfo, bool keeps_rows)
{
	const KakehashiRelation *outer = (const KakehashiRelation *) fpinfo->outer->fdw_private;
	const KakehashiRelation *inner = (const KakehashiRelation *) fpinfo->inner->fdw_private;
	ListCell *cell;

	fpinfo->hidden = bms_union(outer->hidden, inner->hidden);
	if (fpinfo->join_type == JOIN_SEMI || fpinfo->join_type == JOIN_ANTI)
		fpinfo->hidden = bms_add_members(fpinfo->hidden, fpinfo->inner->relids);
	foreach (cell, pull_var_clause((Node *) joinrel->reltarget->exprs, PVC_RECURSE_PLACEHOLDERS))
	{
		const Var *var = (const Var *) lfirst(cell);

		if (IsA(var, Var) && (var->varattno != 0 || !keeps_rows) && bms_is_member(var->varno, fpinfo->hidden))
			fpinfo->shows_hidden = true;
	}
}

/* Work of the engine to find the rows of rel that join with one row of the other side. */
static Cost
look_up_cost(PlannerInfo *root, RelOptInfo *rel, List *join_clauses)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) rel->fdw_private;

	if (fpinfo->outer == NULL && fpinfo->members == NIL && fpinfo->query == NULL &&
	    kakehashi_is_key_lookup(root, rel, list_concat_copy(join_clauses, fpinfo->remote_conds)))
		return KAKEHASHI_ENGINE_ROW_COST * cpu_tuple_cost;
	return fpinfo->engine_cost;
}

/*
 * The engine can join by hashing, and by look-ups as PostgreSQL would do in a nested loop, without a request each. What is
 * cheapest by the same estimates is therefore cheaper there, also when the estimates are wrong.
 */
static Cost
engine_join_cost(PlannerInfo *root, KakehashiRelation *join, RelOptInfo *outer, RelOptInfo *inner)
{
	KakehashiRelation *o = (KakehashiRelation *) outer->fdw_private;
	KakehashiRelation *i = (KakehashiRelation *) inner->fdw_private;
	Cost row_cost = KAKEHASHI_ENGINE_ROW_COST * cpu_tuple_cost;
	Cost hash = o->engine_cost + i->engine_cost + (o->retrieved_rows + 2 * i->retrieved_rows) * row_cost;
	Cost outer_loop = o->engine_cost + o->retrieved_rows * look_up_cost(root, inner, join->join_clauses);
	Cost cost = Min(hash, outer_loop);

	if (join->join_type == JOIN_INNER)
		cost = Min(cost, i->engine_cost + i->retrieved_rows * look_up_cost(root, outer, join->join_clauses));
	return cost + join->retrieved_rows * row_cost;
}

/*
 * Whether a join of all tables can lock their rows itself. Nobody reads a locked row again then, so that those which PostgreSQL keeps for that can be
 * null, if the query shows no other.
 */
static bool
can_lock(PlannerInfo *root, RelOptInfo *joinrel, const KakehashiRelation *fpinfo)
{
	ListCell *cell;

	if (fpinfo->local_conds != NIL || fpinfo->shows_hidden || !bms_is_subset(root->all_baserels, joinrel->relids))
		return false;
	foreach (cell, root->processed_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);
		const Var *var = (const Var *) entry->expr;

		if (entry->resjunk && entry->ressortgroupref == 0 && IsA(var, Var) && var->varattno == 0)
			continue;
		if (!has_simple_columns(root, (Node *) entry->expr, false))
			return false;
	}
	return true;
}

/* Rows that are changed where they are found do not come here, whatever the estimates say of their number. */
static void
add_change_path(PlannerInfo *root, RelOptInfo *joinrel)
{
	const KakehashiRelation *fpinfo = (const KakehashiRelation *) joinrel->fdw_private;
	Cost startup;
	Cost total;

	kakehashi_path_cost(fpinfo, fpinfo->engine_cost, 0, &startup, &total);
	add_path(joinrel, (Path *) kakehashi_create_path(root, joinrel, joinrel->rows, startup, total, NIL, NULL));
}

void
kakehashi_get_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner,
                         JoinType join_type, JoinPathExtraData *extra)
{
	KakehashiRelation *outer_info = (KakehashiRelation *) outer->fdw_private;
	KakehashiRelation *inner_info = (KakehashiRelation *) inner->fdw_private;
	KakehashiRelation *fpinfo;
	bool changes;
	bool locks;
	bool whole;

	if (!is_supported(join_type) || outer_info == NULL || inner_info == NULL || kakehashi_is_grouped_early(joinrel) ||
	    kakehashi_is_made_unique(outer, join_type, extra) || kakehashi_is_made_unique(inner, join_type, extra) ||
	    !kakehashi_server_computes(joinrel->serverid, join_type == JOIN_SEMI || join_type == JOIN_ANTI
	                                                      ? KH_COMPUTES_SEMI_JOINS
	                                                      : KH_COMPUTES_JOINS) ||
	    kakehashi_join_was_refused(root, joinrel))
		return;
	/* Rows that are changed one by one would have to be found again. */
	changes = root->parse->commandType == CMD_UPDATE || root->parse->commandType == CMD_DELETE;
	locks = root->parse->commandType == CMD_SELECT && root->rowMarks != NIL;
	if (!changes && root->parse->commandType != CMD_SELECT)
		return;
	if (outer_info->local_conds != NIL || inner_info->local_conds != NIL || !bms_is_empty(joinrel->lateral_relids) ||
	    has_placeholders(root, joinrel) ||
	    (!changes && !locks && !has_simple_columns(root, (Node *) joinrel->reltarget->exprs, true)))
		return;

	fpinfo = (KakehashiRelation *) palloc0(sizeof(KakehashiRelation));
	fpinfo->server = outer_info->server;
	fpinfo->user = outer_info->user;
	fpinfo->options = outer_info->options;
	fpinfo->options.fdw_tuple_cost = Max(outer_info->options.fdw_tuple_cost, inner_info->options.fdw_tuple_cost);
	fpinfo->outer = outer;
	fpinfo->inner = inner;
	fpinfo->join_type = join_type;
	if (!classify_clauses(root, joinrel, fpinfo, extra->restrictlist) ||
	    !pull_up_conditions(joinrel, fpinfo, outer_info, inner_info) ||
	    !has_simple_columns(root, (Node *) extract_actual_clauses(fpinfo->local_conds, false), !changes && !locks))
		return;
	note_hidden(joinrel, fpinfo, changes || locks);

	fpinfo->local_selectivity = clauselist_selectivity(root, fpinfo->local_conds, 0, JOIN_INNER, NULL);
	cost_qual_eval(&fpinfo->local_cost, fpinfo->local_conds, root);
	fpinfo->retrieved_rows = clamp_row_est(joinrel->rows / Max(fpinfo->local_selectivity, 1e-9));
	fpinfo->engine_cost = engine_join_cost(root, fpinfo, outer, inner);
	whole = changes && bms_is_subset(root->all_baserels, joinrel->relids);
	if (whole && !kakehashi_can_change_directly(root, joinrel, fpinfo))
		return;
	/*
	 * Called for each pair of parts. The engine finds the order of joins itself, so that it does not matter in which one
	 * the join is put; but the cheapest order tells what the engine has to do.
	 */
	if (joinrel->fdw_private != NULL)
	{
		if (fpinfo->engine_cost >= ((KakehashiRelation *) joinrel->fdw_private)->engine_cost)
			return;
		*(KakehashiRelation *) joinrel->fdw_private = *fpinfo;
	}
	else
		joinrel->fdw_private = fpinfo;
	/* Part of a change is no scan: its rows have columns that are for finding them again. */
	if (locks ? can_lock(root, joinrel, fpinfo) : !changes && !fpinfo->shows_hidden)
		kakehashi_add_paths(root, joinrel);
	else if (whole)
		add_change_path(root, joinrel);
}

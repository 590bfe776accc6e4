/*
 * Paths of single tables: what the engine filters and sorts, and what that costs.
 */
#include "fdw/plan/plan.h"
#include "fdw/transaction/transaction.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* Rows of a table of which nothing is known. */
#define UNKNOWN_ROWS 1000

static double
table_rows(KakehashiRelation *fpinfo, Oid relid)
{
	double rows = -1;

	if (fpinfo->user != NULL)
	{
		Relation rel = table_open(relid, NoLock);

		rows =
			kakehashi_catalog_rows(kakehashi_session_get(fpinfo->user), kakehashi_remote_schema(rel, &fpinfo->options),
		                           kakehashi_remote_table(rel, &fpinfo->options));
		table_close(rel, NoLock);
	}
	return rows;
}

Oid
kakehashi_checked_user(PlannerInfo *root, RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 160000
	return rel->userid;
#else
	return planner_rt_fetch(rel->relid, root)->checkAsUser;
#endif
}

static Oid
relation_user(PlannerInfo *root, RelOptInfo *rel)
{
	Oid user = kakehashi_checked_user(root, rel);

	return OidIsValid(user) ? user : GetUserId();
}

bool
kakehashi_is_key_lookup(PlannerInfo *root, RelOptInfo *rel, List *clauses)
{
	Relation relation = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	List *keys = kakehashi_key_columns(relation);
	ListCell *cell;
	bool result = keys != NIL;

	table_close(relation, NoLock);
	foreach (cell, keys)
	{
		ListCell *clause;
		bool fixed = false;

		foreach (clause, clauses)
		{
			OpExpr *op = (OpExpr *) lfirst_node(RestrictInfo, clause)->clause;
			Node *left;
			Node *right;
			char *name;

			if (!IsA(op, OpExpr) || list_length(op->args) != 2)
				continue;
			left = strip_implicit_coercions((Node *) linitial(op->args));
			right = strip_implicit_coercions((Node *) lsecond(op->args));
			if (!IsA(left, Var) || ((Var *) left)->varno != rel->relid)
			{
				Node *swap = left;

				left = right;
				right = swap;
			}
			name = get_opname(op->opno);
			if (IsA(left, Var) && ((Var *) left)->varno == rel->relid && ((Var *) left)->varattno == lfirst_int(cell) &&
			    !(IsA(right, Var) && ((Var *) right)->varno == rel->relid) && name != NULL && strcmp(name, "=") == 0)
				fixed = true;
		}
		result = result && fixed;
	}
	return result;
}

/*
 * Tells the planner's estimates that a key of one column has no duplicates, which without it they take to have many. It is
 * not immediate: nothing is proved by it, because "key" is what the owner of the table says.
 */
static void
note_key(RelOptInfo *rel, Oid relid)
{
	Relation relation = table_open(relid, NoLock);
	List *keys = kakehashi_key_columns(relation);
	IndexOptInfo *index;

	table_close(relation, NoLock);
	if (list_length(keys) != 1 || rel->indexlist != NIL)
		return;
	index = makeNode(IndexOptInfo);
	index->rel = rel;
	index->ncolumns = 1;
	index->nkeycolumns = 1;
	index->indexkeys = (int *) palloc(sizeof(int));
	index->indexkeys[0] = linitial_int(keys);
	index->unique = true;
	index->immediate = false;
	index->hypothetical = true;
	rel->indexlist = list_make1(index);
}

static void
read_statistics(KakehashiRelation *fpinfo, RelOptInfo *rel, Oid relid)
{
	if (fpinfo->user != NULL && kakehashi_column_statistics)
	{
		Relation table = table_open(relid, NoLock);

		kakehashi_statistics_read(table, fpinfo->user, &fpinfo->options);
		table_close(table, NoLock);
		/* The planner has estimated widths already, and would remember them. */
		memset(rel->attr_widths, 0, (rel->max_attr - rel->min_attr + 1) * sizeof(int32));
	}
}

/* The column of rel that a comparison is about, and its operator; 0: it is no comparison with something else. */
static AttrNumber
compared_column(PlannerInfo *root, RelOptInfo *rel, Expr *clause, char *operator_name)
{
	OpExpr *op = (OpExpr *) clause;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2)
		return 0;
	strlcpy(operator_name, get_opname(op->opno), NAMEDATALEN);
	for (int side = 0; side < 2; side++)
	{
		Node *arg = strip_implicit_coercions((Node *) list_nth(op->args, side));
		Node *other = (Node *) list_nth(op->args, 1 - side);

		if (IsA(arg, Var) && ((Var *) arg)->varno == rel->relid && !bms_is_member(rel->relid, pull_varnos(root, other)))
		{
			/* Which bound it is does not matter, only that there are both. */
			if (side == 1 && (operator_name[0] == '<' || operator_name[0] == '>'))
				operator_name[0] = operator_name[0] == '<' ? '>' : '<';
			return ((Var *) arg)->varattno;
		}
	}
	return 0;
}

/*
 * Rows that the engine has to look at: all of them, unless an index begins with a column that is fixed, or bounded on both sides. Looking up
 * rows one by one costs several times as much as a scan does for each.
 */
#define INDEXED_ROW_FACTOR 4

double
kakehashi_rows_touched(PlannerInfo *root, RelOptInfo *rel, List *clauses)
{
	Oid relid = planner_rt_fetch(rel->relid, root)->relid;
	double result = rel->tuples;
	ListCell *cell;
	ListCell *other;

	foreach (cell, clauses)
	{
		char name[NAMEDATALEN];
		AttrNumber column = compared_column(root, rel, lfirst_node(RestrictInfo, cell)->clause, name);
		List *of_column = NIL;
		bool fixed = false;
		bool lower = false;
		bool upper = false;

		if (column <= 0 || !kakehashi_leads_index(relid, column))
			continue;
		foreach (other, clauses)
		{
			if (compared_column(root, rel, lfirst_node(RestrictInfo, other)->clause, name) != column)
				continue;
			fixed = fixed || strcmp(name, "=") == 0;
			lower = lower || name[0] == '>';
			upper = upper || (name[0] == '<' && strcmp(name, "<>") != 0);
			of_column = lappend(of_column, lfirst(other));
		}
		if (fixed || (lower && upper))
			result = Min(result, INDEXED_ROW_FACTOR * rel->tuples *
			                         clauselist_selectivity(root, of_column, (int) rel->relid, JOIN_INNER, NULL));
	}
	return clamp_row_est(result);
}

void
kakehashi_get_rel_size(PlannerInfo *root, RelOptInfo *rel, Oid relid)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) palloc0(sizeof(KakehashiRelation));
	ForeignTable *table;
	KakehashiExtent extent = {0};
	ListCell *cell;
	double rows;
	bool key;

	rel->fdw_private = fpinfo;
	table = GetForeignTable(relid);
	fpinfo->server = GetForeignServer(table->serverid);
	fpinfo->options = kakehashi_options(fpinfo->server, table);
	if (fpinfo->options.use_remote_estimate)
		fpinfo->user = GetUserMapping(relation_user(root, rel), fpinfo->server->serverid);
	/* What the engine can do makes the plan. One that is asked for estimates has to be there. */
	if (fpinfo->user != NULL && kakehashi_engine(fpinfo->server->serverid) == NULL)
		(void) kakehashi_session_get(fpinfo->user);
	kakehashi_engine_know(fpinfo->server->serverid, relation_user(root, rel));

	foreach (cell, kakehashi_order_conditions(root, rel->baserestrictinfo))
	{
		RestrictInfo *restriction = lfirst_node(RestrictInfo, cell);

		if (kakehashi_is_shippable(root, rel, restriction->clause) &&
		    kakehashi_can_go_before(root, rel, restriction->clause, fpinfo->local_conds) &&
		    kakehashi_extend(&extent, root, rel, restriction->clause))
			fpinfo->remote_conds = lappend(fpinfo->remote_conds, restriction);
		else
			fpinfo->local_conds = lappend(fpinfo->local_conds, restriction);
	}

	/* Columns for the result and for the conditions that are checked here. */
	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &fpinfo->attrs_used);
	foreach (cell, fpinfo->local_conds)
	{
		pull_varattnos((Node *) lfirst_node(RestrictInfo, cell)->clause, rel->relid, &fpinfo->attrs_used);
	}

	rows = table_rows(fpinfo, relid);
	if (rows < 0)
		rows = rel->tuples > 0 ? rel->tuples : UNKNOWN_ROWS;
	rel->tuples = clamp_row_est(rows);
	note_key(rel, relid);
	key = kakehashi_is_key_lookup(root, rel, fpinfo->remote_conds);
	if (!key)
		read_statistics(fpinfo, rel, relid);
	fpinfo->local_selectivity = clauselist_selectivity(root, fpinfo->local_conds, rel->relid, JOIN_INNER, NULL);
	cost_qual_eval(&fpinfo->local_cost, fpinfo->local_conds, root);
	set_baserel_size_estimates(root, rel);
	if (key)
		rel->rows = 1;
	fpinfo->engine_cost = (key ? 1 : kakehashi_rows_touched(root, rel, fpinfo->remote_conds)) *
	                      KAKEHASHI_ENGINE_ROW_COST * cpu_tuple_cost;
	fpinfo->retrieved_rows = Min(rel->tuples, clamp_row_est(rel->rows / Max(fpinfo->local_selectivity, 1e-9)));
}

/* A path that comes in the order the query wants, if the engine can sort so. */
static void
add_ordered_path(PlannerInfo *root, RelOptInfo *rel, Cost startup, Cost total)
{
	ListCell *cell;
	KakehashiRelation *fpinfo = (KakehashiRelation *) rel->fdw_private;
	Cost sort_cost = fpinfo->engine_cost + kakehashi_sort_cost(fpinfo->retrieved_rows);

	if (root->query_pathkeys == NIL)
		return;
	foreach (cell, root->query_pathkeys)
	{
		if (kakehashi_sort_expr(root, rel, NIL, lfirst_node(PathKey, cell)) == NULL)
			return;
	}
	/* Ordered scans of partitions are merged, and for that all of them are open at the same time. */
	if (IS_OTHER_REL(rel) && !kakehashi_has_few_tables(root, rel->serverid))
		return;
	/* Nothing comes before all is sorted. */
	add_path(rel, (Path *) kakehashi_create_path(root, rel, rel->rows, startup + sort_cost,
	                                             total + sort_cost - fpinfo->engine_cost, root->query_pathkeys,
	                                             rel->lateral_relids));
}

void
kakehashi_add_paths(PlannerInfo *root, RelOptInfo *rel)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) rel->fdw_private;
	Cost startup;
	Cost total;

	kakehashi_path_cost(fpinfo, fpinfo->engine_cost, fpinfo->retrieved_rows, &startup, &total);
	add_path(rel, (Path *) kakehashi_create_path(root, rel, rel->rows, startup, total, NIL, rel->lateral_relids));
	add_ordered_path(root, rel, startup, total);
	kakehashi_add_partial_path(root, rel);
}

/* Members of equivalence classes, one at a time. */
typedef struct MemberSearch
{
	Expr *current; /* chosen in this round; NULL: none yet */
	List *done;    /* chosen before */
} MemberSearch;

static bool
is_this_member(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *ec, EquivalenceMember *em, void *arg)
{
	MemberSearch *search = (MemberSearch *) arg;

	if (search->current != NULL)
		return equal(em->em_expr, search->current);
	if (list_member(search->done, em->em_expr))
		return false;
	search->current = em->em_expr;
	return true;
}

/* Join clauses that could be checked on the engine, given values of the other relation. */
static List *
parameterizations(PlannerInfo *root, RelOptInfo *rel)
{
	List *result = NIL;
	ListCell *cell;
	MemberSearch search = {NULL, NIL};

	foreach (cell, rel->joininfo)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);

		if (join_clause_is_movable_to(clause, rel) && kakehashi_is_shippable(root, rel, clause->clause))
			result = lappend(result, clause);
	}
	if (!rel->has_eclass_joins)
		return result;
	for (;;)
	{
		List *clauses;

		search.current = NULL;
		clauses = generate_implied_equalities_for_column(root, rel, is_this_member, &search, rel->lateral_referencers);
		if (search.current == NULL)
			return result;
		foreach (cell, clauses)
		{
			RestrictInfo *clause = lfirst_node(RestrictInfo, cell);

			if (join_clause_is_movable_to(clause, rel) && kakehashi_is_shippable(root, rel, clause->clause))
				result = lappend(result, clause);
		}
		search.done = lappend(search.done, search.current);
	}
}

/* Of an engine that keeps its rows elsewhere, what a request for each outer row costs above what is estimated, in requests. */
#define FAR_REQUEST 0.05

/* Paths for the inner side of nested loops: one per set of relations that provides values. */
static void
add_parameterized_paths(PlannerInfo *root, RelOptInfo *rel)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) rel->fdw_private;
	List *done = NIL;
	ListCell *cell;

	foreach (cell, parameterizations(root, rel))
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);
		Relids outer = bms_difference(bms_union(clause->clause_relids, rel->lateral_relids), rel->relids);
		ParamPathInfo *info;
		ListCell *other;
		Cost startup;
		Cost total;
		double rows;
		double retrieved;
		double touched;
		bool key;
		bool known = false;

		if (bms_is_empty(outer))
			continue;
		foreach (other, done)
		{
			known = known || bms_equal((Relids) lfirst(other), outer);
		}
		if (known)
			continue;
		done = lappend(done, outer);

		info = get_baserel_parampathinfo(root, rel, outer);
		key = kakehashi_is_key_lookup(root, rel, list_concat_copy(info->ppi_clauses, fpinfo->remote_conds));
		rows = key ? 1 : info->ppi_rows;
		retrieved = Min(rel->tuples, clamp_row_est(rows / Max(fpinfo->local_selectivity, 1e-9)));
		/*
		 * A look-up by key or index touches little. Anything else may be a scan again and again, for which the engine gets
		 * no credit: an estimate of few outer rows that is wrong must not cost more than it could win.
		 */
		touched =
			key ? 1 : kakehashi_rows_touched(root, rel, list_concat_copy(info->ppi_clauses, fpinfo->remote_conds));
		kakehashi_path_cost(fpinfo,
		                    touched < rel->tuples ? touched * KAKEHASHI_ENGINE_ROW_COST * cpu_tuple_cost
		                                          : rel->tuples * cpu_tuple_cost,
		                    retrieved, &startup, &total);
		/* A join that looks up sends the keys of many rows at once, so that it is right about few rows and about many. */
		if (!kakehashi_server_can(rel->serverid, KH_CAN_BACKUP))
			total += FAR_REQUEST * fpinfo->options.fdw_startup_cost;
		info->ppi_rows = rows;
		add_path(rel, (Path *) kakehashi_create_path(root, rel, rows, startup, total, NIL, outer));
	}
}

void
kakehashi_get_paths(PlannerInfo *root, RelOptInfo *rel, Oid relid)
{
	kakehashi_add_paths(root, rel);
	add_parameterized_paths(root, rel);
}

/*
 * Queries within a query of which the engine does all: they can be parts of the statement of the query around them.
 */
#include "fdw/plan/plan.h"
#include "fdw/session/session.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "parser/parse_coerce.h"

static bool
has_exec_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXEC;
	return expression_tree_walker(node, has_exec_param, context);
}

/* The columns of the query, brought to the types of each of the lists in turn; NIL: they are others. */
static List *
columns_of_types(const PlannerInfo *subroot, List *types)
{
	List *result = get_tlist_exprs(subroot->processed_tlist, false);
	ListCell *list;
	ListCell *cell;

	foreach (list, types)
	{
		if (list_length((List *) lfirst(list)) != list_length(result))
			return NIL;
		foreach (cell, result)
			lfirst(cell) = coerce_to_common_type(NULL, (Node *) lfirst(cell),
			                                     list_nth_oid((List *) lfirst(list), foreach_current_index(cell)),
			                                     "UNION/INTERSECT/EXCEPT");
	}
	return result;
}

/* Whether the engine computes the columns. */
static bool
are_columns_shippable(PlannerInfo *subroot, RelOptInfo *scan, const KakehashiUpper *upper, List *columns)
{
	bool windowed = upper != NULL && upper->windowed;
	bool grouped = upper != NULL && upper->grouped;
	ListCell *cell;

	/* Values that differ may be equal as of another type. */
	if (upper != NULL && upper->distinct && !equal(columns, get_tlist_exprs(subroot->processed_tlist, false)))
		return false;
	foreach (cell, columns)
	{
		Expr *expr = (Expr *) lfirst(cell);

		if (windowed  ? !kakehashi_is_shippable_windowed(subroot, scan, expr, grouped)
		    : grouped ? !kakehashi_is_shippable_grouped(subroot, scan, expr)
		              : !kakehashi_is_shippable(subroot, scan, expr))
			return false;
	}
	return true;
}

/* The scan of a path that does all of its query on the engine, or NULL; sets *upper. */
static RelOptInfo *
scan_of(const Path *path, const KakehashiUpper **upper)
{
	const ForeignPath *foreign = (const ForeignPath *) path;
	RelOptInfo *scan = path->parent;

	*upper = NULL;
	if (!IsA(path, ForeignPath) || path->param_info != NULL || path->parallel_aware || scan->fdwroutine == NULL ||
	    scan->fdwroutine->GetForeignPlan != kakehashi_get_plan || list_length(foreign->fdw_private) > 1)
		return NULL;
	if (foreign->fdw_private != NIL)
	{
		*upper = (const KakehashiUpper *) linitial(foreign->fdw_private);
		scan = (*upper)->scan;
		/* Of these the text has numbers of columns. */
		if ((*upper)->local_having != NIL || (*upper)->of_windows != NIL ||
		    ((*upper)->pathkeys != NIL && ((*upper)->windowed || (*upper)->distinct)))
			return NULL;
	}
	return kakehashi_plain_scan(scan);
}

/* The path among those that end the query which has nothing left to be done here, or NULL. */
static const Path *
find_path(PlannerInfo *subroot, List *columns)
{
	ListCell *cell;

	foreach (cell, fetch_upper_rel(subroot, UPPERREL_FINAL, NULL)->pathlist)
	{
		const Path *path = (const Path *) lfirst(cell);
		const KakehashiUpper *upper;
		RelOptInfo *scan;

		/* Expressions over the rows, which are looked at below. */
		if (IsA(path, ProjectionPath))
			path = ((const ProjectionPath *) path)->subpath;
		scan = scan_of(path, &upper);
		if (scan != NULL && are_columns_shippable(subroot, scan, upper, columns))
			return path;
	}
	return NULL;
}

/* Whether LIMIT or OFFSET leaves rows out; OFFSET 0 is said to keep a query apart. */
static bool
has_limit(const Query *query)
{
	const Const *count = (const Const *) query->limitCount;
	const Const *offset = (const Const *) query->limitOffset;

	return (count != NULL && !(IsA(count, Const) && count->constisnull)) ||
	       (offset != NULL && !(IsA(offset, Const) && (offset->constisnull || DatumGetInt64(offset->constvalue) == 0)));
}

/* Whether what stands between the path and the end of the query is in its statement: groups, windows, and so on. */
static bool
is_whole_query(const PlannerInfo *subroot, const KakehashiUpper *upper)
{
	const Query *query = subroot->parse;

	if (query->hasTargetSRFs || query->rowMarks != NIL || query->cteList != NIL || query->hasDistinctOn ||
	    subroot->init_plans != NIL || query->limitOption != LIMIT_OPTION_COUNT)
		return false;
	if (upper == NULL)
		return query->groupClause == NIL && query->groupingSets == NIL && !query->hasAggs && !query->hasWindowFuncs &&
		       query->distinctClause == NIL && query->havingQual == NULL && !has_limit(query);
	return !has_limit(query) || upper->limit != NULL || upper->offset != NULL;
}

bool
kakehashi_find_query(PlannerInfo *subroot, List *types, KakehashiQuery *query)
{
	List *columns;
	const Path *path;
	KakehashiDeparse context = {.root = subroot, .buf = makeStringInfo()};

	if (subroot->parse->setOperations != NULL)
		return kakehashi_find_set_operation(subroot, types, query);
	columns = columns_of_types(subroot, types);
	path = columns == NIL ? NULL : find_path(subroot, columns);
	if (path == NULL)
		return false;
	query->write = NULL;
	query->columns = columns;
	query->root = subroot;
	query->scan = scan_of(path, &query->upper);
	query->rows = path->rows;
	query->engine_cost = query->upper != NULL ? query->upper->engine_cost
	                                          : ((KakehashiRelation *) query->scan->fdw_private)->engine_cost;
	if (!is_whole_query(subroot, query->upper))
		return false;
	/* What another part of the plan computes is not known to the plan of the query around it. */
	context.rel = query->scan;
	kakehashi_deparse_query(&context, query);
	return !has_exec_param((Node *) context.params, NULL) && context.buf->len <= KAKEHASHI_MOST_QUERY_BYTES;
}

bool
kakehashi_same_reader(const RelOptInfo *one, const RelOptInfo *other)
{
	return one->serverid == other->serverid && one->userid == other->userid &&
	       one->useridiscurrent == other->useridiscurrent;
}

void
kakehashi_note_query(PlannerInfo *root, RelOptInfo *rel, const RangeTblEntry *rte)
{
	KakehashiQuery *query = (KakehashiQuery *) palloc0(sizeof(KakehashiQuery));
	KakehashiRelation *fpinfo;
	List *types = NIL;
	ListCell *cell;

	if (rel->subroot == NULL || rte->security_barrier || !bms_is_empty(rel->lateral_relids) ||
	    kakehashi_shows_order(root, rel))
		return;
	foreach (cell, rel->subroot->processed_tlist)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (!entry->resjunk)
			types = lappend_oid(types, exprType((Node *) entry->expr));
	}
	if (types == NIL || !kakehashi_find_query(rel->subroot, list_make1(types), query) ||
	    !kakehashi_server_computes(query->scan->serverid, KH_COMPUTES_SUBQUERIES))
		return;
	fpinfo = (KakehashiRelation *) palloc0(sizeof(KakehashiRelation));
	fpinfo->server = ((KakehashiRelation *) query->scan->fdw_private)->server;
	fpinfo->user = ((KakehashiRelation *) query->scan->fdw_private)->user;
	fpinfo->options = ((KakehashiRelation *) query->scan->fdw_private)->options;
	fpinfo->query = query;
	fpinfo->parent = rel->relid;
	fpinfo->retrieved_rows = query->rows;
	fpinfo->engine_cost = query->engine_cost;
	fpinfo->local_selectivity = 1;
	/* What the conditions need is asked of it. */
	if (!kakehashi_server_computes_all(query->scan->serverid))
		rel->serverid = query->scan->serverid;
	foreach (cell, kakehashi_order_conditions(root, rel->baserestrictinfo))
	{
		RestrictInfo *restriction = lfirst_node(RestrictInfo, cell);

		if (restriction->pseudoconstant || !kakehashi_is_shippable(root, rel, restriction->clause))
		{
			rel->serverid = InvalidOid;
			return;
		}
		fpinfo->remote_conds = lappend(fpinfo->remote_conds, restriction);
	}
	if (fpinfo->remote_conds != NIL)
		fpinfo->retrieved_rows = rel->rows;
	rel->fdw_private = fpinfo;
	rel->serverid = query->scan->serverid;
	rel->userid = query->scan->userid;
	rel->useridiscurrent = query->scan->useridiscurrent;
	rel->fdwroutine = query->scan->fdwroutine;
}

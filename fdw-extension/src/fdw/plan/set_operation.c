/*
 * UNION, INTERSECT and EXCEPT of queries that are requests of one server each, as one request, with ORDER BY and LIMIT of the result.
 *
 * PostgreSQL plans each query by itself and asks no foreign data wrapper what it can do with several. What it does tell every library is that
 * it has found the paths of a set operation.
 */
#include "fdw/plan/plan.h"
#include "fdw/session/session.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/typcache.h"

/* More would be a long statement. */
#define MOST_QUERIES 64

/* A request has 64 KB, which all of these share with what else it has. */
#define MOST_QUERIES_BYTES (6 * KAKEHASHI_MOST_QUERY_BYTES)

static create_upper_paths_hook_type previous_hook = NULL;

/* RelOptInfo.fdw_private of a set operation, and of its ORDER BY, of which no foreign data wrapper is asked. */
typedef struct JointQueries
{
	PlannerInfo *root;
	RelOptInfo *rel; /* of the set operation */
	StringInfo sql;
	List *params;
	List *leaves;            /* range table indexes of the queries */
	const RelOptInfo *first; /* scan of the first */
	bool ordered;
	double rows;
	Cost engine_cost;
} JointQueries;

static bool
add_query(JointQueries *operation, Index rtindex, List *types)
{
	/* Those that come later have no relation yet. */
	const RelOptInfo *rel = operation->root->simple_rel_array[rtindex];
	PlannerInfo *subroot = rel == NULL ? NULL : rel->subroot;
	KakehashiQuery query;
	KakehashiDeparse context = {.root = subroot, .buf = operation->sql, .params = operation->params};

	if (list_length(operation->leaves) >= MOST_QUERIES || subroot == NULL ||
	    kakehashi_shows_order(operation->root, rel) || !kakehashi_find_query(subroot, types, &query))
		return false;
	if (operation->first == NULL)
		operation->first = query.scan;
	if (!kakehashi_server_computes(query.scan->serverid, KH_COMPUTES_SET_OPERATIONS))
		return false;
	if (!kakehashi_same_reader(operation->first, query.scan))
		return false;
	context.rel = query.scan;
	kakehashi_deparse_query(&context, &query);
	operation->params = context.params;
	operation->leaves = lappend_int(operation->leaves, (int) rtindex);
	operation->rows += query.rows;
	operation->engine_cost += query.engine_cost;
	return true;
}

/* Whether rows are compared as here; types and collations are those of the columns. */
static bool
is_comparable(const SetOperationStmt *statement)
{
	ListCell *type;
	ListCell *collation;

	if (statement->op == SETOP_UNION && statement->all)
		return true;
	forboth(type, statement->colTypes, collation, statement->colCollations)
	{
		if (!kakehashi_is_groupable((Expr *) makeVar(1, 1, lfirst_oid(type), -1, lfirst_oid(collation), 0)))
			return false;
	}
	return true;
}

/* Appends the text of a part of the operation, of which types are wanted as of a query; false: it cannot be one request. */
static bool
add_part(JointQueries *operation, Node *part, List *types)
{
	static const char *const operators[] = {
		[SETOP_UNION] = "UNION", [SETOP_INTERSECT] = "INTERSECT", [SETOP_EXCEPT] = "EXCEPT"};
	const SetOperationStmt *statement = (const SetOperationStmt *) part;

	appendStringInfoChar(operation->sql, '(');
	if (IsA(part, RangeTblRef))
	{
		if (!add_query(operation, (Index) ((RangeTblRef *) part)->rtindex, types))
			return false;
	}
	else
	{
		if (!equal(statement->colTypes, linitial(types)))
		{
			/* Which rows are equal does not depend on the types around, but whether they are compared at all. */
			if (statement->op != SETOP_UNION || !statement->all)
				return false;
			types = lcons(statement->colTypes, list_copy(types));
		}
		if (!is_comparable(statement) || !add_part(operation, statement->larg, types))
			return false;
		appendStringInfo(operation->sql, " %s%s ", operators[statement->op], statement->all ? " ALL" : "");
		if (!add_part(operation, statement->rarg, types))
			return false;
	}
	appendStringInfoChar(operation->sql, ')');
	return true;
}

/* The columns of the first query, which name those of the result. */
static PathTarget *
make_target(const JointQueries *operation, const SetOperationStmt *statement, const PathTarget *output)
{
	PathTarget *target = create_empty_pathtarget();
	ListCell *type;
	ListCell *typmod;
	ListCell *collation;

	forthree(type, statement->colTypes, typmod, statement->colTypmods, collation, statement->colCollations)
		add_column_to_pathtarget(target,
	                             (Expr *) makeVar(linitial_int(operation->leaves),
	                                              (AttrNumber) (foreach_current_index(type) + 1), lfirst_oid(type),
	                                              lfirst_int(typmod), lfirst_oid(collation), 0),
	                             0);
	/* Behind them PostgreSQL may count the queries that a row comes from. */
	for (int i = list_length(target->exprs); i < list_length(output->exprs); i++)
	{
		Node *column = (Node *) list_nth(output->exprs, i);

		add_column_to_pathtarget(target, (Expr *) makeNullConst(exprType(column), -1, InvalidOid), 0);
	}
	return target;
}

/*
 * The path, below an Append of nothing else: the columns of a set operation are no relation's, and an Append, which does not stay in the plan,
 * gives them those of what is below it by their order.
 */
static void
add_operation_path(const JointQueries *operation, RelOptInfo *output, double discount)
{
	const SetOperationStmt *statement = (const SetOperationStmt *) operation->root->parse->setOperations;
	const KakehashiRelation *first = (const KakehashiRelation *) operation->first->fdw_private;
	KakehashiRelation *fpinfo = (KakehashiRelation *) palloc0(sizeof(KakehashiRelation));
	RelOptInfo *scan = makeNode(RelOptInfo);
	ForeignPath *path;
	Cost startup;
	Cost total;

	fpinfo->server = first->server;
	fpinfo->options = first->options;
	fpinfo->retrieved_rows = operation->rows;
	*scan = *operation->rel;
	scan->reloptkind = RELOPT_JOINREL;
	scan->relids = NULL;
	for (int i = 0; i < list_length(operation->leaves); i++)
		scan->relids = bms_add_member(scan->relids, list_nth_int(operation->leaves, i));
	scan->serverid = operation->first->serverid;
	scan->userid = operation->first->userid;
	scan->useridiscurrent = operation->first->useridiscurrent;
	scan->fdwroutine = operation->first->fdwroutine;
	scan->fdw_private = fpinfo;
	scan->reltarget = make_target(operation, statement, operation->rel->reltarget);
	kakehashi_path_cost(fpinfo, operation->engine_cost, operation->rows, &startup, &total);
	/* Nothing comes before all is sorted. */
	if (operation->ordered)
		startup += operation->engine_cost;
	path =
		kakehashi_create_path(operation->root, scan, operation->rows, startup * discount, total * discount, NIL, NULL);
	path->fdw_private = list_make3(makeString(operation->sql->data), operation->params, (void *) operation);
#if PG_VERSION_NUM >= 190000
	add_path(output, (Path *) create_append_path(operation->root, operation->rel,
	                                             (AppendPathInput){.subpaths = list_make1(path)}, NIL, NULL, 0, false,
	                                             operation->rows));
#else
	add_path(output, (Path *) create_append_path(operation->root, operation->rel, list_make1(path), NIL, NIL, NULL, 0,
	                                             false, operation->rows));
#endif
}

/* A copy for the next stage, whose text can be longer. */
static JointQueries *
copy_operation(const JointQueries *operation)
{
	JointQueries *result = (JointQueries *) palloc(sizeof(JointQueries));

	*result = *operation;
	result->sql = makeStringInfo();
	appendStringInfoString(result->sql, operation->sql->data);
	result->params = list_copy(operation->params);
	return result;
}

static void
add_set_operation(PlannerInfo *root, RelOptInfo *output)
{
	SetOperationStmt *statement = (SetOperationStmt *) root->parse->setOperations;
	JointQueries operation = {.root = root, .rel = output, .sql = makeStringInfo()};

	if (root->hasRecursion || root->rowMarks != NIL ||
	    !add_part(&operation, (Node *) statement, list_make1(statement->colTypes)) ||
	    operation.sql->len > MOST_QUERIES_BYTES || list_length(operation.leaves) != bms_num_members(output->relids))
		return;
	output->fdw_private = copy_operation(&operation);
	add_operation_path((const JointQueries *) output->fdw_private, output, 1);
}

/* ORDER BY of a set operation names columns of its result. */
static void
add_order(PlannerInfo *root, const JointQueries *unordered, RelOptInfo *output)
{
	JointQueries *operation = copy_operation(unordered);
	ListCell *cell;

	foreach (cell, root->parse->sortClause)
	{
		const SortGroupClause *clause = lfirst_node(SortGroupClause, cell);
		const TargetEntry *entry = get_sortgroupref_tle(clause->tleSortGroupRef, root->processed_tlist);
		const TypeCacheEntry *order = lookup_type_cache(exprType((Node *) entry->expr), TYPECACHE_GT_OPR);

		if (!kakehashi_is_shippable_sort_clause(clause, entry->expr))
			return;
		appendStringInfo(operation->sql, "%s%d %s NULLS %s", foreach_current_index(cell) == 0 ? " ORDER BY " : ", ",
		                 entry->resno, clause->sortop == order->gt_opr ? "DESC" : "ASC",
		                 clause->nulls_first ? "FIRST" : "LAST");
	}
	operation->ordered = true;
	operation->engine_cost += kakehashi_sort_cost(operation->rows);
	output->fdw_private = operation;
	add_operation_path(operation, output, KAKEHASHI_UPPER_DISCOUNT);
}

/* Appends LIMIT or OFFSET; false: it is not computed before the request. */
static bool
add_count(JointQueries *operation, const char *keyword, Node *expr)
{
	KakehashiDeparse context = {
		.root = operation->root, .rel = operation->rel, .buf = operation->sql, .params = operation->params};

	if (expr == NULL || (IsA(expr, Const) && ((Const *) expr)->constisnull))
		return true;
	if (!kakehashi_is_parameter(operation->root, operation->rel, (Expr *) expr))
		return false;
	appendStringInfoString(operation->sql, keyword);
	kakehashi_deparse_value(&context, (Expr *) expr);
	operation->params = context.params;
	return true;
}

static void
add_limit(PlannerInfo *root, const JointQueries *all, const FinalPathExtraData *extra, RelOptInfo *output)
{
	const Query *parse = root->parse;
	JointQueries *operation = copy_operation(all);

	if (!extra->limit_needed || parse->commandType != CMD_SELECT || parse->hasModifyingCTE ||
	    parse->limitOption != LIMIT_OPTION_COUNT || (parse->sortClause != NIL && !all->ordered) ||
	    !add_count(operation, " LIMIT ", parse->limitCount) || !add_count(operation, " OFFSET ", parse->limitOffset))
		return;
	if (extra->limit_tuples > 0)
		operation->rows = clamp_row_est(Min(all->rows, extra->limit_tuples));
	add_operation_path(operation, output, KAKEHASHI_UPPER_DISCOUNT * KAKEHASHI_UPPER_DISCOUNT);
}

/* The set operation of a path that is nothing else, or NULL. */
static const JointQueries *
operation_of(const Path *path)
{
	const AppendPath *append = (const AppendPath *) path;
	const ForeignPath *foreign;

	if (!IsA(path, AppendPath) || list_length(append->subpaths) != 1)
		return NULL;
	foreign = (const ForeignPath *) linitial(append->subpaths);
	if (!IsA(foreign, ForeignPath) || foreign->path.parent->fdwroutine->GetForeignPlan != kakehashi_get_plan ||
	    list_length(foreign->fdw_private) != 3)
		return NULL;
	return (const JointQueries *) lthird(foreign->fdw_private);
}

/* Writes the set operation of context->root, which has been found. */
static void
write_again(KakehashiDeparse *context)
{
	SetOperationStmt *statement = (SetOperationStmt *) context->root->parse->setOperations;
	JointQueries operation = {.root = context->root, .sql = context->buf, .params = context->params};

	if (!add_part(&operation, (Node *) statement, list_make1(statement->colTypes)))
		elog(ERROR, "could not write a set operation once more");
	context->params = operation.params;
}

bool
kakehashi_find_set_operation(PlannerInfo *subroot, List *types, KakehashiQuery *query)
{
	const Query *parse = subroot->parse;
	ListCell *cell;

	/* Its order and LIMIT would need another subquery. */
	if (list_length(types) != 1 || !equal(linitial(types), ((SetOperationStmt *) parse->setOperations)->colTypes) ||
	    parse->sortClause != NIL || parse->limitCount != NULL || parse->limitOffset != NULL)
		return false;
	foreach (cell, fetch_upper_rel(subroot, UPPERREL_FINAL, NULL)->pathlist)
	{
		const JointQueries *operation = operation_of((const Path *) lfirst(cell));

		if (operation == NULL || operation->root != subroot || operation->sql->len > KAKEHASHI_MOST_QUERY_BYTES)
			continue;
		query->root = subroot;
		query->scan = (RelOptInfo *) operation->first;
		query->upper = NULL;
		query->write = write_again;
		query->columns = get_tlist_exprs(parse->targetList, false);
		query->rows = operation->rows;
		query->engine_cost = operation->engine_cost;
		return true;
	}
	return false;
}

static void
add_operation(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input, RelOptInfo *output, void *extra)
{
	if (previous_hook != NULL)
		previous_hook(root, stage, input, output, extra);
	if (root->parse->setOperations == NULL)
		return;
	if (stage == UPPERREL_SETOP)
		add_set_operation(root, output);
	else if (stage == UPPERREL_ORDERED && input->fdw_private != NULL)
		add_order(root, (const JointQueries *) input->fdw_private, output);
	else if (stage == UPPERREL_FINAL && input->fdw_private != NULL)
		add_limit(root, (const JointQueries *) input->fdw_private, (const FinalPathExtraData *) extra, output);
}

void
kakehashi_set_operation_init(void)
{
	previous_hook = create_upper_paths_hook;
	create_upper_paths_hook = add_operation;
}

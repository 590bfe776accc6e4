/*
 * UNION, INTERSECT and EXCEPT of queries that are requests of one server each, as one request.
 *
 * PostgreSQL plans each query by itself and asks no foreign data wrapper what it can do with several. What it does tell every library is that
 * it has found the paths of a set operation.
 */
#include "fdw/plan/plan.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"

/* More would be a long statement. */
#define MOST_QUERIES 64

/* A request has 64 KB, which all of these share with what else it has. */
#define MOST_QUERIES_BYTES (6 * KAKEHASHI_MOST_QUERY_BYTES)

static create_upper_paths_hook_type previous_hook = NULL;

typedef struct JointQueries
{
	PlannerInfo *root;
	StringInfo sql;
	List *params;
	List *leaves;            /* range table indexes of the queries */
	const RelOptInfo *first; /* scan of the first */
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
	    !kakehashi_find_query(subroot, types, &query))
		return false;
	if (operation->first == NULL)
		operation->first = query.scan;
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

/* Appends the text of a part of the operation; false: it cannot be one request. */
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
		if (!equal(statement->colTypes, types) || !is_comparable(statement) ||
		    !add_part(operation, statement->larg, types))
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
add_operation_path(JointQueries *operation, const SetOperationStmt *statement, RelOptInfo *output)
{
	const KakehashiRelation *first = (const KakehashiRelation *) operation->first->fdw_private;
	KakehashiRelation *fpinfo = (KakehashiRelation *) palloc0(sizeof(KakehashiRelation));
	RelOptInfo *scan = makeNode(RelOptInfo);
	ForeignPath *path;
	Cost startup;
	Cost total;

	fpinfo->server = first->server;
	fpinfo->options = first->options;
	fpinfo->retrieved_rows = operation->rows;
	*scan = *output;
	scan->reloptkind = RELOPT_JOINREL;
	scan->relids = NULL;
	for (int i = 0; i < list_length(operation->leaves); i++)
		scan->relids = bms_add_member(scan->relids, list_nth_int(operation->leaves, i));
	scan->serverid = operation->first->serverid;
	scan->userid = operation->first->userid;
	scan->useridiscurrent = operation->first->useridiscurrent;
	scan->fdwroutine = operation->first->fdwroutine;
	scan->fdw_private = fpinfo;
	scan->reltarget = make_target(operation, statement, output->reltarget);
	kakehashi_path_cost(fpinfo, operation->engine_cost, operation->rows, &startup, &total);
	path = kakehashi_create_path(operation->root, scan, operation->rows, startup, total, NIL, NULL);
	path->fdw_private = list_make2(makeString(operation->sql->data), operation->params);
	add_path(output, (Path *) create_append_path(operation->root, output, list_make1(path), NIL, NIL, NULL, 0, false,
	                                             operation->rows));
}

static void
add_operation(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input, RelOptInfo *output, void *extra)
{
	SetOperationStmt *statement = (SetOperationStmt *) root->parse->setOperations;
	JointQueries operation = {.root = root};

	if (previous_hook != NULL)
		previous_hook(root, stage, input, output, extra);
	if (stage != UPPERREL_SETOP || statement == NULL || root->hasRecursion || root->rowMarks != NIL)
		return;
	operation.sql = makeStringInfo();
	if (!add_part(&operation, (Node *) statement, statement->colTypes) || operation.sql->len > MOST_QUERIES_BYTES ||
	    list_length(operation.leaves) != bms_num_members(output->relids))
		return;
	add_operation_path(&operation, statement, output);
}

void
kakehashi_set_operation_init(void)
{
	previous_hook = create_upper_paths_hook;
	create_upper_paths_hook = add_operation;
}

/*
 * Conditions of a row, in the order in which PostgreSQL checks them.
 *
 * A condition may fail, as a division does, and whether it fails for a row depends on those that are checked before it. The engine checks
 * conditions in the order in which they stand, each for the rows that the ones before it have left. What they need of values that are no row's may
 * fail, too.
 */
#include "fdw/deparse/deparse.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

typedef struct Condition
{
	Node *clause;
	Cost cost;
	Index security_level;
} Condition;

/* PostgreSQL lets a cheap condition that reveals nothing go before those that have to be checked first. */
#define CHEAP_OPERATORS 10

static bool
goes_before(const Condition *left, const Condition *right)
{
	return left->security_level < right->security_level ||
	       (left->security_level == right->security_level && left->cost < right->cost);
}

/* order_qual_clauses() of the planner, which is for the planner alone. */
List *
kakehashi_order_conditions(PlannerInfo *root, List *clauses)
{
	Condition *sorted;
	List *result = NIL;
	ListCell *cell;

	if (list_length(clauses) < 2)
		return clauses;
	sorted = (Condition *) palloc(list_length(clauses) * sizeof(Condition));
	foreach (cell, clauses)
	{
		Condition condition = {.clause = (Node *) lfirst(cell)};
		QualCost cost;
		int position = foreach_current_index(cell);

		cost_qual_eval_node(&cost, condition.clause, root);
		condition.cost = cost.per_tuple;
		if (IsA(condition.clause, RestrictInfo))
		{
			const RestrictInfo *restriction = (const RestrictInfo *) condition.clause;

			if (!restriction->leakproof || condition.cost >= CHEAP_OPERATORS * cpu_operator_cost)
				condition.security_level = restriction->security_level;
		}
		/* What costs the same stays in order. */
		for (; position > 0 && goes_before(&condition, &sorted[position - 1]); position--)
			sorted[position] = sorted[position - 1];
		sorted[position] = condition;
	}
	for (int i = 0; i < list_length(clauses); i++)
		result = lappend(result, sorted[i].clause);
	pfree(sorted);
	return result;
}

/*
 * The engine takes a chain of AND, OR or operators as so many levels, one in the other, and has some 500 of them on its threads' stacks; a statement
 * is one request, of 64 KB, to which a column with the longest of names adds 70 bytes.
 */
#define MOST_LEVELS 250
#define MOST_NODES 1500

typedef struct ExtentWalk
{
	PlannerInfo *root;
	RelOptInfo *rel;
	int level;
	int deepest;
	int nodes;
} ExtentWalk;

/* True when there are too many. */
static bool
walk_extent(Node *node, void *context)
{
	ExtentWalk *walk = (ExtentWalk *) context;
	int levels = 1;
	bool result;

	if (node == NULL)
		return false;
	if (IsA(node, BoolExpr))
		levels = list_length(((BoolExpr *) node)->args);
	walk->nodes++;
	walk->level += levels;
	walk->deepest = Max(walk->deepest, walk->level);
	if (walk->deepest > MOST_LEVELS || walk->nodes > MOST_NODES)
		return true;
	/* A list of values alone is one value. */
	result = !(IsA(node, ArrayExpr) && kakehashi_is_parameter(walk->root, walk->rel, (Expr *) node)) &&
	         expression_tree_walker(node, walk_extent, context);
	walk->level -= levels;
	return result;
}

bool
kakehashi_extend(KakehashiExtent *extent, PlannerInfo *root, RelOptInfo *rel, Expr *expr)
{
	ExtentWalk walk = {.root = root, .rel = rel, .level = extent->count + 1, .nodes = extent->nodes};

	if (walk_extent((Node *) expr, &walk))
		return false;
	extent->count++;
	extent->nodes = walk.nodes;
	return true;
}

/* LIKE fails for a pattern that ends in the escape character. */
static bool
is_pattern_complete(Node *pattern)
{
	return IsA(pattern, Const) && (((Const *) pattern)->constisnull ||
	                               strchr(TextDatumGetCString(((Const *) pattern)->constvalue), '\\') == NULL);
}

/* Operators whose results are far from the ends of their types. */
static bool
is_operator_of_wide_range(Oid opno, const char *name)
{
	switch (get_op_rettype(opno))
	{
		case NUMERICOID:
			return strcmp(name, "+") == 0 || strcmp(name, "-") == 0 || strcmp(name, "*") == 0;
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case INTERVALOID:
			return strcmp(name, "+") == 0 || strcmp(name, "-") == 0;
		default:
			return false;
	}
}

/* Operators that have a result for all operands: comparisons, searches, and what takes a part of a document or joins texts. */
static bool
is_operator_total(Oid opno, List *args)
{
	static const char *const parts[] = {"->", "->>", "#>", "#>>", "&"};
	char *name = get_opname(opno);

	if (name == NULL || list_length(args) != 2)
		return false;
	if (strchr(name, '~') != NULL)
		return (strcmp(name, "~~") == 0 || strcmp(name, "!~~") == 0) && is_pattern_complete((Node *) lsecond(args));
	if (get_op_rettype(opno) == BOOLOID)
		return true;
	if (strcmp(name, "||") == 0)
		return get_op_rettype(opno) == TEXTOID;
	for (size_t i = 0; i < lengthof(parts); i++)
	{
		if (strcmp(name, parts[i]) == 0)
			return true;
	}
	return false;
}

static bool
is_function_total(Oid function)
{
	switch (function)
	{
		case F_ABS_FLOAT4:
		case F_ABS_FLOAT8:
		case F_ABS_NUMERIC:
		case F_SIGN_NUMERIC:
		case F_CEIL_NUMERIC:
		case F_CEILING_NUMERIC:
		case F_FLOOR_NUMERIC:
		case F_TRIM_SCALE:
		case F_LENGTH_TEXT:
		case F_CHAR_LENGTH_TEXT:
		case F_CHARACTER_LENGTH_TEXT:
		case F_OCTET_LENGTH_TEXT:
		case F_LENGTH_BPCHAR:
		case F_LENGTH_BYTEA:
		case F_SUBSTRING_TEXT_INT4:
		case F_SUBSTR_TEXT_INT4:
		case F_STRPOS:
		case F_POSITION_TEXT_TEXT:
		case F_STARTS_WITH:
		case F_LEFT:
		case F_RIGHT:
		case F_BTRIM_TEXT:
		case F_LTRIM_TEXT:
		case F_RTRIM_TEXT:
		case F_MD5_TEXT:
		case F_CARDINALITY:
		case F_ARRAY_LENGTH:
		case F_JSONB_TYPEOF:
		case F_JSON_TYPEOF:
			return true;
		default:
			return function != F_TIMESTAMP_DATE && kakehashi_is_shippable_cast(function);
	}
}

typedef struct Checked
{
	PlannerInfo *root;
	RelOptInfo *rel; /* NULL: what has no column of a relation is no exception, and wide ranges have no ends */
} Checked;

/* Whether a node has a value for all values of its parts. wide: ranges that no use comes to the end of have none. */
static bool
is_total(Node *node, bool wide)
{
	switch (nodeTag(node))
	{
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		{
			const OpExpr *expr = (const OpExpr *) node;

			return is_operator_total(expr->opno, expr->args) ||
			       (wide && is_operator_of_wide_range(expr->opno, get_opname(expr->opno)));
		}
		case T_ScalarArrayOpExpr:
			return is_operator_total(((ScalarArrayOpExpr *) node)->opno, ((ScalarArrayOpExpr *) node)->args);
		case T_FuncExpr:
			return is_function_total(((FuncExpr *) node)->funcid);
		case T_ArrayExpr:
			return !((ArrayExpr *) node)->multidims;
		case T_CoerceViaIO:
			return kakehashi_is_label((CoerceViaIO *) node);
		case T_Var:
		case T_Const:
		case T_Param:
		case T_CurrentOfExpr:
		case T_RelabelType:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
		case T_SubscriptingRef:
		case T_List:
			return true;
		default:
			return false;
	}
}

static bool
may_fail(Node *node, void *context)
{
	const Checked *checked = (const Checked *) context;

	/* Aggregates are computed before any condition on them. */
	if (node == NULL || IsA(node, Aggref))
		return false;
	/*
	 * Parameters have values, or have failed, before the first row is looked at. What is computed of them there may be a key of an
	 * index, which PostgreSQL, too, computes before it looks at a row; to check the condition here would be a scan of the table.
	 */
	if (!is_total(node, checked->rel == NULL))
		return checked->rel == NULL || !kakehashi_is_parameter(checked->root, checked->rel, (Expr *) node);
	return expression_tree_walker(node, may_fail, context);
}

static bool
is_prone_to_fail(Node *expr)
{
	Checked checked = {NULL, NULL};

	return may_fail(expr, &checked);
}

/* Whether the engine would compute something that may fail: the expression, or a part of it that does not go over as a value. */
static bool
fails_there(Node *node, void *context)
{
	const Checked *checked = (const Checked *) context;

	if (node == NULL || !is_prone_to_fail(node))
		return false;
	if (IsA(node, List) || IsA(node, CaseWhen) || IsA(node, ArrayExpr))
		return expression_tree_walker(node, fails_there, context);
	return kakehashi_is_computed_there(checked->root, checked->rel, (Expr *) node) &&
	       (!is_total(node, true) || expression_tree_walker(node, fails_there, context));
}

/*
 * What may fail is computed where a row needs it, as PostgreSQL does: it may come to none. Nothing else is, as here it is computed once. What the
 * engine does not compute is computed before there is a row, and fails then.
 */
bool
kakehashi_goes_as_value(PlannerInfo *root, RelOptInfo *rel, Expr *expr)
{
	Checked checked = {root, rel};

	return kakehashi_is_parameter(root, rel, expr) && !fails_there((Node *) expr, &checked);
}

bool
kakehashi_list_goes_as_value(PlannerInfo *root, RelOptInfo *rel, Expr *list)
{
	const ArrayExpr *array = (const ArrayExpr *) list;
	ListCell *cell;

	if (!IsA(list, ArrayExpr) || array->multidims || list_length(array->elements) > KAKEHASHI_MAX_LIST_ELEMENTS)
		return kakehashi_goes_as_value(root, rel, list);
	foreach (cell, array->elements)
	{
		if (!kakehashi_goes_as_value(root, rel, (Expr *) lfirst(cell)))
			return false;
	}
	return kakehashi_is_parameter(root, rel, list);
}

bool
kakehashi_can_go_before(PlannerInfo *root, RelOptInfo *rel, Expr *condition, List *local)
{
	Checked checked = {root, rel};

	return local == NIL || !may_fail((Node *) condition, &checked);
}

/*
 * Conditions of a row, in the order in which PostgreSQL checks them.
 *
 * A condition may fail, as a division does, and whether it fails for a row depends on those that are checked before it. The engine checks
 * conditions in the order in which they stand, each for the rows that the ones before it have left.
 */
#include "kakehashi_plan.h"

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

/* LIKE fails for a pattern that ends in the escape character. */
static bool
is_pattern_complete(Node *pattern)
{
	return IsA(pattern, Const) && (((Const *) pattern)->constisnull ||
	                               strchr(TextDatumGetCString(((Const *) pattern)->constvalue), '\\') == NULL);
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
	RelOptInfo *rel;
} Checked;

static bool
may_fail(Node *node, void *context)
{
	const Checked *checked = (const Checked *) context;
	bool total = true;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			total = is_operator_total(((OpExpr *) node)->opno, ((OpExpr *) node)->args);
			break;
		case T_ScalarArrayOpExpr:
			total = is_operator_total(((ScalarArrayOpExpr *) node)->opno, ((ScalarArrayOpExpr *) node)->args);
			break;
		case T_FuncExpr:
			total = is_function_total(((FuncExpr *) node)->funcid);
			break;
		case T_ArrayExpr:
			total = !((ArrayExpr *) node)->multidims;
			break;
		case T_Aggref:
			/* Computed before any condition on it. */
			return false;
		case T_Var:
		case T_Const:
		case T_Param:
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
			break;
		default:
			total = false;
	}
	/* Parameters have values, or have failed, before the first row is looked at. */
	if (!total)
		return !kakehashi_is_parameter(checked->root, checked->rel, (Expr *) node);
	return expression_tree_walker(node, may_fail, context);
}

bool
kakehashi_can_go_before(PlannerInfo *root, RelOptInfo *rel, Expr *condition, List *local)
{
	Checked checked = {root, rel};

	return local == NIL || !may_fail((Node *) condition, &checked);
}

/*
 * What the engine computes exactly as PostgreSQL does; everything else stays here.
 *
 * The list is positive: an operator or function is shipped because it is named below, for the types named below. Text is
 * compared byte by byte on the engine, so that equality goes over under every deterministic collation and order only under
 * "C". Expressions without a column of the relation need no list: they are computed here and go over as values.
 */
#include "kakehashi_fdw.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"
#include "utils/syscache.h"

/* Elements of an IN list that become parameters each; longer lists are checked here. */
#define MAX_LIST_ELEMENTS 1000

typedef struct Walk
{
	PlannerInfo *root;
	RelOptInfo *rel;
	bool aggregates; /* allowed */
} Walk;

static bool shippable(Walk *walk, Expr *expr);

/* Widening casts, which cannot fail and lose nothing. */
static const Oid shippable_casts[] = {
	F_INT4_INT2,   F_INT8_INT2,   F_INT8_INT4,   F_NUMERIC_INT2,  F_NUMERIC_INT4, F_NUMERIC_INT8,
	F_FLOAT8_INT2, F_FLOAT8_INT4, F_FLOAT8_INT8, F_FLOAT8_FLOAT4, F_FLOAT4_INT2,
};

bool
kakehashi_is_shippable_cast(Oid function)
{
	for (size_t i = 0; i < lengthof(shippable_casts); i++)
	{
		if (shippable_casts[i] == function)
			return true;
	}
	return false;
}

const char *
kakehashi_shippable_function(Oid function)
{
	switch (function)
	{
		case F_ABS_INT2:
		case F_ABS_INT4:
		case F_ABS_INT8:
		case F_ABS_FLOAT4:
		case F_ABS_FLOAT8:
		case F_ABS_NUMERIC:
			return "abs";
		case F_LENGTH_TEXT:
		case F_CHAR_LENGTH_TEXT:
		case F_CHARACTER_LENGTH_TEXT:
			return "char_length";
		default:
			return NULL;
	}
}

static bool
is_number(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == FLOAT4OID || type == FLOAT8OID ||
	       type == NUMERICOID;
}

static bool
is_text(Oid type)
{
	return type == TEXTOID || type == VARCHAROID;
}

static bool
is_c_collation(Oid collation)
{
	if (collation == C_COLLATION_OID || collation == POSIX_COLLATION_OID)
		return true;
	if (!OidIsValid(collation))
		return false;
#if PG_VERSION_NUM >= 180000
	return pg_newlocale_from_collation(collation)->collate_is_c;
#else
	return lc_collate_is_c(collation);
#endif
}

static bool
is_comparable(Oid left, Oid right)
{
	if (is_number(left) && is_number(right))
		return true;
	if (is_text(left) && is_text(right))
		return true;
	if (left != right)
		return false;
	return left == BOOLOID || left == DATEOID || left == TIMEOID || left == TIMESTAMPOID || left == TIMESTAMPTZOID ||
	       left == UUIDOID || left == BYTEAOID;
}

bool
kakehashi_is_shippable_order(Oid type, Oid collation)
{
	type = kakehashi_bridge_type(type, NULL);
	return OidIsValid(type) && is_comparable(type, type) && (!is_text(type) || is_c_collation(collation));
}

static bool
is_collation_shippable(Oid type, Oid collation, bool ordering)
{
	if (!is_text(type))
		return true;
	return ordering ? is_c_collation(collation) : OidIsValid(collation) && get_collation_isdeterministic(collation);
}

/* One of PostgreSQL's own operators, by name and types. Types are base types. */
static bool
is_operator_shippable(Oid operator, Oid collation)
{
	HeapTuple tuple;
	Form_pg_operator form;
	const char *name;
	Oid left;
	Oid right;
	bool result = false;

	if (operator>= FirstGenbkiObjectId)
		return false;
	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator %u", operator);
	form = (Form_pg_operator) GETSTRUCT(tuple);
	name = NameStr(form->oprname);
	left = form->oprleft;
	right = form->oprright;

	if (!OidIsValid(left))
		result = strcmp(name, "-") == 0 && is_number(right);
	else if (strcmp(name, "=") == 0 || strcmp(name, "<>") == 0)
		result = is_comparable(left, right) && is_collation_shippable(left, collation, false);
	else if (strcmp(name, "<") == 0 || strcmp(name, "<=") == 0 || strcmp(name, ">") == 0 || strcmp(name, ">=") == 0)
		result = is_comparable(left, right) && is_collation_shippable(left, collation, true);
	else if (strcmp(name, "+") == 0 || strcmp(name, "-") == 0 || strcmp(name, "*") == 0 || strcmp(name, "/") == 0)
		result = is_number(left) && is_number(right);
	else if (strcmp(name, "%") == 0)
		result = is_number(left) && is_number(right);
	else if (strcmp(name, "~~") == 0 || strcmp(name, "!~~") == 0)
		result = is_text(left) && is_text(right) && is_collation_shippable(left, collation, false);
	ReleaseSysCache(tuple);
	return result;
}

static bool
all_shippable(Walk *walk, List *exprs)
{
	ListCell *cell;

	foreach (cell, exprs)
	{
		if (!shippable(walk, (Expr *) lfirst(cell)))
			return false;
	}
	return true;
}

static bool
is_list_shippable(Walk *walk, ScalarArrayOpExpr *expr)
{
	Expr *list = (Expr *) lsecond(expr->args);
	char *name;

	if (!is_operator_shippable(expr->opno, expr->inputcollid) || !shippable(walk, (Expr *) linitial(expr->args)))
		return false;
	/* IN and NOT IN; the rest of ANY and ALL has no short form. */
	name = get_opname(expr->opno);
	if (name == NULL || strcmp(name, expr->useOr ? "=" : "<>") != 0)
		return false;
	if (IsA(list, ArrayExpr))
	{
		ArrayExpr *array = (ArrayExpr *) list;

		return !array->multidims && array->elements != NIL && list_length(array->elements) <= MAX_LIST_ELEMENTS &&
		       all_shippable(walk, array->elements);
	}
	if (IsA(list, Const) && !((Const *) list)->constisnull)
	{
		ArrayType *array = DatumGetArrayTypeP(((Const *) list)->constvalue);
		int count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

		return count > 0 && count <= MAX_LIST_ELEMENTS && OidIsValid(kakehashi_bridge_type(ARR_ELEMTYPE(array), NULL));
	}
	return false;
}

static bool
is_case_shippable(Walk *walk, CaseExpr *expr)
{
	ListCell *cell;

	if (expr->arg != NULL)
		return false;
	foreach (cell, expr->args)
	{
		CaseWhen *when = lfirst_node(CaseWhen, cell);

		if (!shippable(walk, when->expr) || !shippable(walk, when->result))
			return false;
	}
	return expr->defresult == NULL || shippable(walk, expr->defresult);
}

static const char *const shippable_aggregates[] = {"count", "sum", "avg", "min", "max", "bool_and", "bool_or", "every"};

static bool
is_aggregate_shippable(Walk *walk, Aggref *expr)
{
	Walk inside = {walk->root, walk->rel, false};
	char *name = get_func_name(expr->aggfnoid);
	bool known = false;
	ListCell *cell;

	if (!walk->aggregates || expr->aggfnoid >= FirstGenbkiObjectId || name == NULL)
		return false;
	for (size_t i = 0; i < lengthof(shippable_aggregates); i++)
		known = known || strcmp(name, shippable_aggregates[i]) == 0;
	if (!known || expr->aggsplit != AGGSPLIT_SIMPLE || expr->agglevelsup != 0 || expr->aggorder != NIL ||
	    expr->aggdirectargs != NIL || expr->aggkind != AGGKIND_NORMAL || expr->aggvariadic)
		return false;
	if (expr->aggfilter != NULL && !shippable(&inside, expr->aggfilter))
		return false;
	foreach (cell, expr->args)
	{
		Expr *arg = lfirst_node(TargetEntry, cell)->expr;
		Oid type = kakehashi_bridge_type(exprType((Node *) arg), NULL);

		if (!shippable(&inside, arg))
			return false;
		if ((strcmp(name, "sum") == 0 || strcmp(name, "avg") == 0) && !is_number(type))
			return false;
		if ((strcmp(name, "min") == 0 || strcmp(name, "max") == 0) &&
		    !kakehashi_is_shippable_order(type, expr->inputcollid))
			return false;
		if (expr->aggdistinct != NIL && !kakehashi_is_groupable(arg))
			return false;
	}
	return true;
}

bool
kakehashi_is_groupable(Expr *expr)
{
	Oid type = kakehashi_bridge_type(exprType((Node *) expr), NULL);

	return OidIsValid(type) && is_comparable(type, type) &&
	       is_collation_shippable(type, exprCollation((Node *) expr), false);
}

static bool
is_unfit_for_parameter(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_SubLink:
		case T_SubPlan:
		case T_AlternativeSubPlan:
		case T_Aggref:
		case T_GroupingFunc:
		case T_WindowFunc:
		case T_PlaceHolderVar:
		case T_CurrentOfExpr:
		case T_CaseTestExpr:
		case T_CoerceToDomainValue:
		case T_SetToDefault:
			return true;
		case T_Param:
			return ((Param *) node)->paramkind != PARAM_EXTERN && ((Param *) node)->paramkind != PARAM_EXEC;
		case T_Var:
			/* Of another relation of the query: a parameter of a nested loop. System columns and rows are not. */
			return ((Var *) node)->varattno <= 0 || ((Var *) node)->varlevelsup != 0;
		default:
			return expression_tree_walker(node, is_unfit_for_parameter, context);
	}
}

bool
kakehashi_is_parameter(PlannerInfo *root, RelOptInfo *rel, Expr *expr)
{
	if (!OidIsValid(kakehashi_bridge_type(exprType((Node *) expr), NULL)))
		return false;
	if (IsA(expr, Const))
		return true;
	return !bms_overlap(pull_varnos(root, (Node *) expr), rel->relids) &&
	       !is_unfit_for_parameter((Node *) expr, NULL) && !contain_volatile_functions((Node *) expr);
}

static bool
shippable(Walk *walk, Expr *expr)
{
	/* Every value on the way must have a type that the engine has. */
	if (!OidIsValid(kakehashi_bridge_type(exprType((Node *) expr), NULL)))
		return false;
	if (kakehashi_is_parameter(walk->root, walk->rel, expr))
		return true;
	switch (nodeTag(expr))
	{
		case T_Var:
		{
			Var *var = (Var *) expr;

			return var->varlevelsup == 0 && var->varattno > 0 && bms_is_member(var->varno, walk->rel->relids);
		}
		case T_RelabelType:
		{
			RelabelType *relabel = (RelabelType *) expr;

			/* bpchar compares without its blanks; as text it is another value. */
			return kakehashi_bridge_type(exprType((Node *) relabel->arg), NULL) != BPCHAROID &&
			       relabel->resulttype != BPCHAROID && shippable(walk, relabel->arg);
		}
		case T_OpExpr:
			return is_operator_shippable(((OpExpr *) expr)->opno, ((OpExpr *) expr)->inputcollid) &&
			       all_shippable(walk, ((OpExpr *) expr)->args);
		case T_DistinctExpr:
			return is_operator_shippable(((DistinctExpr *) expr)->opno, ((DistinctExpr *) expr)->inputcollid) &&
			       all_shippable(walk, ((DistinctExpr *) expr)->args);
		case T_NullIfExpr:
			return is_operator_shippable(((NullIfExpr *) expr)->opno, ((NullIfExpr *) expr)->inputcollid) &&
			       all_shippable(walk, ((NullIfExpr *) expr)->args);
		case T_ScalarArrayOpExpr:
			return is_list_shippable(walk, (ScalarArrayOpExpr *) expr);
		case T_BoolExpr:
			return all_shippable(walk, ((BoolExpr *) expr)->args);
		case T_NullTest:
			return !((NullTest *) expr)->argisrow && shippable(walk, ((NullTest *) expr)->arg);
		case T_BooleanTest:
			return shippable(walk, ((BooleanTest *) expr)->arg);
		case T_CoalesceExpr:
			return all_shippable(walk, ((CoalesceExpr *) expr)->args);
		case T_CaseExpr:
			return is_case_shippable(walk, (CaseExpr *) expr);
		case T_Aggref:
			return is_aggregate_shippable(walk, (Aggref *) expr);
		case T_FuncExpr:
			return (kakehashi_is_shippable_cast(((FuncExpr *) expr)->funcid) ||
			        kakehashi_shippable_function(((FuncExpr *) expr)->funcid) != NULL) &&
			       all_shippable(walk, ((FuncExpr *) expr)->args);
		default:
			return false;
	}
}

bool
kakehashi_is_shippable(PlannerInfo *root, RelOptInfo *rel, Expr *expr)
{
	Walk walk = {root, rel, false};

	return shippable(&walk, expr);
}

bool
kakehashi_is_shippable_grouped(PlannerInfo *root, RelOptInfo *rel, Expr *expr)
{
	Walk walk = {root, rel, true};

	return shippable(&walk, expr);
}

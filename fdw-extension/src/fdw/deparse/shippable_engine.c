/*
 * Which of its computations an engine needs for an expression that it could compute by shippable_catalog.c and its neighbours.
 *
 * An engine that has all of them is not asked in detail.
 */
#include "fdw/deparse/deparse.h"
#include "fdw/row/row.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

static bool
has(Oid server, kh_computation computation)
{
	return kakehashi_server_computes(server, computation);
}

static bool
is_text(Oid type)
{
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

static bool
is_document(Oid type)
{
	return type == JSONOID || type == JSONBOID;
}

/* What is compared, ordered or taken apart, as far as its type is a matter of its own. */
static bool
has_structure(Oid server, Oid type)
{
	if (is_document(type))
		return has(server, KH_COMPUTES_DOCUMENTS);
	return !OidIsValid(get_element_type(type)) || has(server, KH_COMPUTES_ARRAYS);
}

bool
kakehashi_engine_orders(Oid server, Oid type)
{
	Oid element;

	if (kakehashi_server_computes_all(server))
		return true;
	type = getBaseType(type);
	element = get_element_type(type);
	return has_structure(server, type) &&
	       has(server, is_text(OidIsValid(element) ? element : type) ? KH_COMPUTES_TEXT_ORDER : KH_COMPUTES_ORDER);
}

bool
kakehashi_engine_sorts(Oid server, Oid type)
{
	return kakehashi_server_computes(server, KH_COMPUTES_SORT) && kakehashi_engine_orders(server, type);
}

static bool
has_arithmetic(Oid server, Oid left, Oid right, Oid result)
{
	if (!kakehashi_is_number(right) || (OidIsValid(left) && !kakehashi_is_number(left)))
		return has(server, KH_COMPUTES_DATE_ARITHMETIC);
	switch (result)
	{
		case NUMERICOID:
			return has(server, KH_COMPUTES_NUMERIC_ARITHMETIC);
		case FLOAT4OID:
		case FLOAT8OID:
			return has(server, KH_COMPUTES_FRACTION_ARITHMETIC);
		default:
			return has(server, KH_COMPUTES_INTEGER_ARITHMETIC);
	}
}

static bool
has_operator(Oid server, Oid opno, List *args)
{
	const char *name = get_opname(opno);
	Oid right = getBaseType(exprType((Node *) llast(args)));
	Oid left = list_length(args) > 1 ? getBaseType(exprType((Node *) linitial(args))) : InvalidOid;
	bool structured = is_document(left) || is_document(right) || OidIsValid(get_element_type(left)) ||
	                  OidIsValid(get_element_type(right));

	if (name == NULL || !has_structure(server, left) || !has_structure(server, right))
		return false;
	if (strcmp(name, "=") == 0 || strcmp(name, "<>") == 0)
		return has(server, KH_COMPUTES_EQUALITY);
	if (strcmp(name, "<") == 0 || strcmp(name, "<=") == 0 || strcmp(name, ">") == 0 || strcmp(name, ">=") == 0)
		return kakehashi_engine_orders(server, left);
	if (structured)
		return true;
	if (strcmp(name, "~~") == 0 || strcmp(name, "!~~") == 0)
		return has(server, KH_COMPUTES_PATTERNS);
	if (strcmp(name, "||") == 0)
		return has(server, KH_COMPUTES_TEXT_FUNCTIONS);
	return has_arithmetic(server, left, right, get_op_rettype(opno));
}

static bool
has_function(Oid server, const FuncExpr *expr)
{
	const char *name = kakehashi_shippable_function(expr->funcid);
	Oid type = expr->args == NIL ? InvalidOid : getBaseType(exprType((Node *) linitial(expr->args)));

	if (kakehashi_is_shippable_cast(expr->funcid) || kakehashi_is_numeric_scale(expr) || kakehashi_is_text_length(expr))
		return has(server, KH_COMPUTES_CASTS);
	if (kakehashi_document_function(expr) != NULL)
		return has_structure(server, type);
	/* A function of an application, which a stub stands for, or one that is only named. */
	if (name == NULL)
		return true;
	if (strcmp(name, "extract") == 0 || strcmp(name, "date_trunc") == 0 || strcmp(name, "isfinite") == 0)
		return has(server, KH_COMPUTES_DATE_FUNCTIONS);
	if (kakehashi_is_number(type))
		return has(server, KH_COMPUTES_NUMBER_FUNCTIONS);
	return has(server, type == BYTEAOID ? KH_COMPUTES_BINARY_FUNCTIONS : KH_COMPUTES_TEXT_FUNCTIONS);
}

/* args: expressions. */
static bool
has_plain_aggregate(Oid server, Oid function, List *args)
{
	static const char *const sums[] = {"sum",        "avg",      "stddev",   "stddev_samp",
	                                   "stddev_pop", "variance", "var_samp", "var_pop"};
	const char *name = get_func_name(function);

	if (name == NULL)
		return false;
	for (size_t i = 0; i < lengthof(sums); i++)
	{
		if (strcmp(name, sums[i]) == 0)
			return has(server, KH_COMPUTES_SUMS);
	}
	return (strcmp(name, "min") != 0 && strcmp(name, "max") != 0) ||
	       kakehashi_engine_orders(server, exprType((Node *) linitial(args)));
}

static bool
has_aggregate(Oid server, const Aggref *expr)
{
	List *args = NIL;
	ListCell *cell;

	foreach (cell, expr->args)
		args = lappend(args, lfirst_node(TargetEntry, cell)->expr);
	if (!has(server, KH_COMPUTES_GROUPING) || (expr->aggdistinct != NIL && !has(server, KH_COMPUTES_DISTINCT)))
		return false;
	if (expr->aggkind == AGGKIND_NORMAL && expr->aggorder == NIL && expr->aggtype != TEXTOID &&
	    !OidIsValid(get_element_type(expr->aggtype)))
		return has_plain_aggregate(server, expr->aggfnoid, args);
	/* Of least and greatest texts the order does not show. */
	if (expr->aggkind == AGGKIND_NORMAL && expr->aggorder == NIL && expr->aggdistinct == NIL)
		return has_plain_aggregate(server, expr->aggfnoid, args);
	foreach (cell, args)
	{
		if (!kakehashi_engine_orders(server, exprType((Node *) lfirst(cell))))
			return false;
	}
	return has(server, KH_COMPUTES_ORDERED_AGGREGATES);
}

bool
kakehashi_engine_computes(Oid server, Expr *expr)
{
	if (!OidIsValid(server) || kakehashi_server_computes_all(server))
		return true;
	switch (nodeTag(expr))
	{
		case T_OpExpr:
		case T_DistinctExpr:
			return has_operator(server, ((OpExpr *) expr)->opno, ((OpExpr *) expr)->args);
		case T_NullIfExpr:
			return has(server, KH_COMPUTES_CONDITIONALS) &&
			       has_operator(server, ((OpExpr *) expr)->opno, ((OpExpr *) expr)->args);
		case T_ScalarArrayOpExpr:
		{
			const ScalarArrayOpExpr *list = (const ScalarArrayOpExpr *) expr;

			return has(server, KH_COMPUTES_LISTS) &&
			       has_operator(server, list->opno, list_make2(linitial(list->args), linitial(list->args)));
		}
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
			return has(server, KH_COMPUTES_EQUALITY);
		case T_CoalesceExpr:
		case T_CaseExpr:
			return has(server, KH_COMPUTES_CONDITIONALS);
		case T_MinMaxExpr:
			return has(server, KH_COMPUTES_CONDITIONALS) &&
			       kakehashi_engine_orders(server, ((MinMaxExpr *) expr)->minmaxtype);
		case T_Aggref:
			return has_aggregate(server, (const Aggref *) expr);
		case T_GroupingFunc:
			return has(server, KH_COMPUTES_GROUPING_SETS);
		case T_WindowFunc:
			return has(server, KH_COMPUTES_WINDOWS) && !kakehashi_ignores_nulls((const WindowFunc *) expr) &&
			       (!((WindowFunc *) expr)->winagg ||
			        has_plain_aggregate(server, ((WindowFunc *) expr)->winfnoid, ((WindowFunc *) expr)->args));
		case T_FuncExpr:
			return has_function(server, (const FuncExpr *) expr);
		case T_SubscriptingRef:
			return has_structure(server, ((SubscriptingRef *) expr)->refcontainertype);
		case T_CoerceViaIO:
			return kakehashi_is_label((CoerceViaIO *) expr) || has(server, KH_COMPUTES_CASTS);
		default:
			return true;
	}
}

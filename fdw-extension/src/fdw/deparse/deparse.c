/*
 * Expressions as SQL of the engine. Only what shippable.c has let through gets here.
 */
#include "fdw/deparse/deparse.h"
#include "fdw/row/row.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

static void
deparse_list(KakehashiDeparse *context, List *exprs, const char *separator)
{
	ListCell *cell;
	bool first = true;

	foreach (cell, exprs)
	{
		if (!first)
			appendStringInfoString(context->buf, separator);
		first = false;
		kakehashi_deparse_expr(context, (Expr *) lfirst(cell));
	}
}

/* One side of a binary operator. */
static void
deparse_operand(KakehashiDeparse *context, const OpExpr *expr, Expr *operand, Expr *other)
{
	if (!context->literals || expr->opresulttype != BOOLOID || !IsA(operand, Const) ||
	    ((Const *) operand)->constisnull || !IsA(strip_implicit_coercions((Node *) other), Var) ||
	    !kakehashi_deparse_literal(context, (Const *) operand))
		kakehashi_deparse_expr(context, operand);
}

static void
deparse_operator(KakehashiDeparse *context, OpExpr *expr)
{
	char *name = get_opname(expr->opno);
	Expr *left = (Expr *) linitial(expr->args);
	Expr *right = (Expr *) llast(expr->args);

	/* PostgreSQL's versions differ in the side of a join's clause; the engine's texts should not. */
	if (strcmp(name, "=") == 0 && kakehashi_is_parameter(context->root, context->rel, left))
	{
		Expr *column = right;

		right = left;
		left = column;
	}
	appendStringInfoChar(context->buf, '(');
	if (list_length(expr->args) == 1)
	{
		appendStringInfo(context->buf, "%s ", name);
		kakehashi_deparse_expr(context, left);
	}
	else
	{
		bool like = strcmp(name, "~~") == 0;
		bool not_like = strcmp(name, "!~~") == 0;

		deparse_operand(context, expr, left, right);
		appendStringInfo(context->buf, " %s ", like ? "LIKE" : not_like ? "NOT LIKE" : name);
		deparse_operand(context, expr, right, left);
		if (like || not_like)
			appendStringInfoString(context->buf, " ESCAPE '\\'");
	}
	appendStringInfoChar(context->buf, ')');
}

static void
deparse_comparisons(KakehashiDeparse *context, ScalarArrayOpExpr *expr)
{
	List *comparisons = NIL;

	(void) kakehashi_comparisons(expr, &comparisons);
	if (comparisons == NIL)
	{
		appendStringInfoString(context->buf, expr->useOr ? "FALSE" : "TRUE");
		return;
	}
	appendStringInfoChar(context->buf, '(');
	deparse_list(context, comparisons, expr->useOr ? " OR " : " AND ");
	appendStringInfoChar(context->buf, ')');
}

static void
deparse_array_operator(KakehashiDeparse *context, ScalarArrayOpExpr *expr)
{
	Expr *list = (Expr *) lsecond(expr->args);
	bool is_value;

	if (!kakehashi_is_in_list(expr))
	{
		deparse_comparisons(context, expr);
		return;
	}
	appendStringInfoChar(context->buf, '(');
	kakehashi_deparse_expr(context, (Expr *) linitial(expr->args));
	/* One text, and one statement on the engine, for arrays of all lengths. */
	is_value = kakehashi_list_goes_as_value(context->root, context->rel, list);
	if (!IsA(list, ArrayExpr) || is_value)
	{
		appendStringInfoString(context->buf, expr->useOr ? " = ANY (" : " <> ALL (");
		if (is_value)
			kakehashi_deparse_parameter(context, list);
		else
			kakehashi_deparse_expr(context, list);
	}
	else
	{
		appendStringInfoString(context->buf, expr->useOr ? " IN (" : " NOT IN (");
		deparse_list(context, ((ArrayExpr *) list)->elements, ", ");
	}
	appendStringInfoString(context->buf, "))");
}

static void
deparse_bool(KakehashiDeparse *context, BoolExpr *expr)
{
	if (expr->boolop == NOT_EXPR)
	{
		appendStringInfoString(context->buf, "(NOT ");
		kakehashi_deparse_expr(context, (Expr *) linitial(expr->args));
		appendStringInfoChar(context->buf, ')');
		return;
	}
	appendStringInfoChar(context->buf, '(');
	deparse_list(context, expr->args, expr->boolop == AND_EXPR ? " AND " : " OR ");
	appendStringInfoChar(context->buf, ')');
}

static void
deparse_boolean_test(KakehashiDeparse *context, BooleanTest *expr)
{
	const char *test = NULL;

	switch (expr->booltesttype)
	{
		case IS_TRUE:
			test = "TRUE";
			break;
		case IS_NOT_TRUE:
			test = "NOT TRUE";
			break;
		case IS_FALSE:
			test = "FALSE";
			break;
		case IS_NOT_FALSE:
			test = "NOT FALSE";
			break;
		case IS_UNKNOWN:
			test = "NULL";
			break;
		case IS_NOT_UNKNOWN:
			test = "NOT NULL";
			break;
	}
	appendStringInfoChar(context->buf, '(');
	kakehashi_deparse_expr(context, expr->arg);
	appendStringInfo(context->buf, " IS %s)", test);
}

static void
deparse_case(KakehashiDeparse *context, CaseExpr *expr)
{
	ListCell *cell;

	appendStringInfoString(context->buf, "(CASE");
	foreach (cell, expr->args)
	{
		CaseWhen *when = lfirst_node(CaseWhen, cell);

		appendStringInfoString(context->buf, " WHEN ");
		kakehashi_deparse_expr(context, when->expr);
		appendStringInfoString(context->buf, " THEN ");
		kakehashi_deparse_expr(context, when->result);
	}
	if (expr->defresult != NULL)
	{
		appendStringInfoString(context->buf, " ELSE ");
		kakehashi_deparse_expr(context, expr->defresult);
	}
	appendStringInfoString(context->buf, " END)");
}

static void
deparse_function(KakehashiDeparse *context, FuncExpr *expr)
{
	const char *name;
	KakehashiStub stub;

	if (kakehashi_stub_read(expr->funcid, &stub))
	{
		kakehashi_depend_on_stub(context->root, expr->funcid);
		kakehashi_deparse_stub(context->buf, &stub);
		appendStringInfoChar(context->buf, '(');
		deparse_list(context, expr->args, ", ");
		appendStringInfoChar(context->buf, ')');
		return;
	}
	if (kakehashi_is_shippable_cast(expr->funcid) || kakehashi_is_numeric_scale(expr))
	{
		appendStringInfoString(context->buf, "CAST(");
		kakehashi_deparse_expr(context, (Expr *) linitial(expr->args));
		appendStringInfoString(context->buf, " AS ");
		kakehashi_deparse_type(context->buf, expr->funcresulttype, exprTypmod((Node *) expr));
		appendStringInfoChar(context->buf, ')');
		return;
	}
	if (kakehashi_is_text_length(expr))
	{
		/* As PostgreSQL calls it: CAST would cut what is too long. */
		appendStringInfoString(context->buf, "\"varchar\"(");
		kakehashi_deparse_expr(context, (Expr *) linitial(expr->args));
		appendStringInfo(context->buf, ", %d, %s)", DatumGetInt32(lsecond_node(Const, expr->args)->constvalue),
		                 DatumGetBool(lthird_node(Const, expr->args)->constvalue) ? "TRUE" : "FALSE");
		return;
	}
	name = kakehashi_document_function(expr);
	if (name == NULL)
		name = kakehashi_shippable_function(expr->funcid);
	if (name == NULL && kakehashi_is_named_function(expr))
		name = quote_identifier(get_func_name(expr->funcid));
	if (strcmp(name, "extract") == 0)
	{
		appendStringInfo(context->buf, "EXTRACT(%s FROM ", kakehashi_extract_field(expr));
		kakehashi_deparse_expr(context, (Expr *) lsecond(expr->args));
		appendStringInfoChar(context->buf, ')');
		return;
	}
	appendStringInfo(context->buf, "%s(", name);
	deparse_list(context, expr->args, ", ");
	appendStringInfoChar(context->buf, ')');
}

/* "(a IS DISTINCT FROM b)", "NULLIF(a, b)" and the like. */
static void
deparse_wrapped(KakehashiDeparse *context, const char *before, List *args, const char *between)
{
	appendStringInfoString(context->buf, before);
	deparse_list(context, args, between);
	appendStringInfoChar(context->buf, ')');
}

static void
deparse_subscripts(KakehashiDeparse *context, SubscriptingRef *expr)
{
	ListCell *cell;

	appendStringInfoChar(context->buf, '(');
	kakehashi_deparse_expr(context, expr->refexpr);
	if (expr->refcontainertype == JSONBOID)
	{
		appendStringInfoString(context->buf, " #> ARRAY[");
		deparse_list(context, expr->refupperindexpr, ", ");
		appendStringInfoString(context->buf, "])");
		return;
	}
	appendStringInfoChar(context->buf, ')');
	foreach (cell, expr->refupperindexpr)
	{
		appendStringInfoChar(context->buf, '[');
		if (expr->reflowerindexpr != NIL)
		{
			kakehashi_deparse_expr(context, (Expr *) list_nth(expr->reflowerindexpr, foreach_current_index(cell)));
			appendStringInfoString(context->buf, " : ");
		}
		kakehashi_deparse_expr(context, (Expr *) lfirst(cell));
		appendStringInfoChar(context->buf, ']');
	}
}

/* True for a column of a query, of a UNION ALL, or of a partitioned table, which is a subquery; see KakehashiRelation. */
static bool
is_of_subquery(const PlannerInfo *root, const Var *var)
{
	const RelOptInfo *rel = root->simple_rel_array == NULL || var->varno >= root->simple_rel_array_size
	                            ? NULL
	                            : root->simple_rel_array[var->varno];

	const KakehashiRelation *fpinfo = rel == NULL ? NULL : (const KakehashiRelation *) rel->fdw_private;

	return fpinfo != NULL && (fpinfo->members != NIL || fpinfo->query != NULL);
}

static void
deparse_column(KakehashiDeparse *context, Var *var)
{
	if (context->qualified)
		appendStringInfo(context->buf, "r%d.", var->varno);
	if (is_of_subquery(context->root, var))
		appendStringInfo(context->buf, "c%d", var->varattno);
	else
		kakehashi_deparse_identifier(
			context->buf, kakehashi_remote_column(planner_rt_fetch(var->varno, context->root)->relid, var->varattno));
}

bool
kakehashi_is_presence(const Expr *expr)
{
	const Var *row = IsA(expr, NullTest) ? (const Var *) ((const NullTest *) expr)->arg : NULL;

	return row != NULL && IsA(row, Var) && row->varattno == 0;
}

void
kakehashi_deparse_expr(KakehashiDeparse *context, Expr *expr)
{
	if (IsA(expr, Const))
	{
		kakehashi_deparse_value(context, expr);
		return;
	}
	if (kakehashi_goes_as_value(context->root, context->rel, expr))
	{
		kakehashi_deparse_parameter(context, expr);
		return;
	}
	switch (nodeTag(expr))
	{
		case T_CurrentOfExpr:
			appendStringInfoChar(context->buf, '(');
			if (context->qualified)
				appendStringInfo(context->buf, "r%u.", ((CurrentOfExpr *) expr)->cvarno);
			kakehashi_deparse_identifier(context->buf, KAKEHASHI_IDENTITY_COLUMN);
			appendStringInfoString(context->buf, " = ");
			kakehashi_deparse_parameter(context, expr);
			appendStringInfoChar(context->buf, ')');
			break;
		case T_Var:
			deparse_column(context, (Var *) expr);
			break;
		case T_RelabelType:
			kakehashi_deparse_expr(context, ((RelabelType *) expr)->arg);
			break;
		case T_OpExpr:
			deparse_operator(context, (OpExpr *) expr);
			break;
		case T_DistinctExpr:
			deparse_wrapped(context, "(", ((DistinctExpr *) expr)->args, " IS DISTINCT FROM ");
			break;
		case T_NullIfExpr:
			deparse_wrapped(context, "NULLIF(", ((NullIfExpr *) expr)->args, ", ");
			break;
		case T_ScalarArrayOpExpr:
			deparse_array_operator(context, (ScalarArrayOpExpr *) expr);
			break;
		case T_BoolExpr:
			deparse_bool(context, (BoolExpr *) expr);
			break;
		case T_NullTest:
			appendStringInfoChar(context->buf, '(');
			if (kakehashi_is_presence(expr))
				appendStringInfo(context->buf, "r%d." KAKEHASHI_PRESENCE_COLUMN,
				                 ((Var *) ((NullTest *) expr)->arg)->varno);
			else
				kakehashi_deparse_expr(context, ((NullTest *) expr)->arg);
			appendStringInfoString(context->buf,
			                       ((NullTest *) expr)->nulltesttype == IS_NULL ? " IS NULL)" : " IS NOT NULL)");
			break;
		case T_BooleanTest:
			deparse_boolean_test(context, (BooleanTest *) expr);
			break;
		case T_CoalesceExpr:
			deparse_wrapped(context, "COALESCE(", ((CoalesceExpr *) expr)->args, ", ");
			break;
		case T_MinMaxExpr:
			deparse_wrapped(context, ((MinMaxExpr *) expr)->op == IS_GREATEST ? "GREATEST(" : "LEAST(",
			                ((MinMaxExpr *) expr)->args, ", ");
			break;
		case T_CaseExpr:
			deparse_case(context, kakehashi_searched_case((CaseExpr *) expr));
			break;
		case T_Aggref:
			kakehashi_deparse_aggregate(context, (Aggref *) expr);
			break;
		case T_GroupingFunc:
			kakehashi_deparse_grouping(context, (GroupingFunc *) expr);
			break;
		case T_WindowFunc:
			kakehashi_deparse_window_function(context, (WindowFunc *) expr);
			break;
		case T_FuncExpr:
			deparse_function(context, (FuncExpr *) expr);
			break;
		case T_SubscriptingRef:
			deparse_subscripts(context, (SubscriptingRef *) expr);
			break;
		case T_CoerceViaIO:
			appendStringInfoString(context->buf, "CAST(");
			kakehashi_deparse_expr(context, ((CoerceViaIO *) expr)->arg);
			appendStringInfoString(context->buf, " AS ");
			kakehashi_deparse_type(context->buf, ((CoerceViaIO *) expr)->resulttype, -1);
			appendStringInfoChar(context->buf, ')');
			break;
		default:
			elog(ERROR, "expression of node type %d is not shippable", (int) nodeTag(expr));
	}
}

void
kakehashi_deparse_conditions(KakehashiDeparse *context, const char *keyword, List *clauses)
{
	ListCell *cell;

	foreach (cell, clauses)
	{
		Expr *expr = (Expr *) lfirst(cell);

		if (IsA(expr, RestrictInfo))
			expr = ((RestrictInfo *) expr)->clause;
		appendStringInfo(context->buf, " %s ", keyword);
		kakehashi_deparse_expr(context, expr);
		keyword = "AND";
	}
}

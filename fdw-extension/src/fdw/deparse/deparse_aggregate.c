/*
 * Aggregates and window functions as SQL of the engine.
 */
#include "fdw/deparse/deparse.h"

#include "catalog/pg_aggregate.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

static void
deparse_list(KakehashiDeparse *context, List *exprs)
{
	ListCell *cell;

	foreach (cell, exprs)
	{
		if (foreach_current_index(cell) > 0)
			appendStringInfoString(context->buf, ", ");
		kakehashi_deparse_expr(context, (Expr *) lfirst(cell));
	}
}

/* entries: of the expressions that the clauses name. */
static void
deparse_order(KakehashiDeparse *context, const char *keyword, List *clauses, List *entries)
{
	ListCell *cell;

	foreach (cell, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, cell);
		Expr *expr = (Expr *) get_sortgroupclause_expr(clause, entries);
		const TypeCacheEntry *order = lookup_type_cache(exprType((Node *) expr), TYPECACHE_GT_OPR);

		appendStringInfoString(context->buf, foreach_current_index(cell) == 0 ? keyword : ", ");
		kakehashi_deparse_expr(context, expr);
		appendStringInfo(context->buf, " %s NULLS %s", clause->sortop == order->gt_opr ? "DESC" : "ASC",
		                 clause->nulls_first ? "FIRST" : "LAST");
	}
}

static void
deparse_filter(KakehashiDeparse *context, Expr *filter)
{
	if (filter == NULL)
		return;
	appendStringInfoString(context->buf, " FILTER (WHERE ");
	kakehashi_deparse_expr(context, filter);
	appendStringInfoChar(context->buf, ')');
}

void
kakehashi_deparse_aggregate(KakehashiDeparse *context, Aggref *expr)
{
	KakehashiStub stub;

	if (kakehashi_stub_of_aggregate(expr->aggfnoid, &stub))
	{
		kakehashi_depend_on_stub(context->root, expr->aggfnoid);
		kakehashi_deparse_stub(context->buf, &stub);
	}
	else
		appendStringInfoString(context->buf, get_func_name(expr->aggfnoid));
	if (expr->aggkind != AGGKIND_NORMAL)
	{
		appendStringInfoChar(context->buf, '(');
		deparse_list(context, expr->aggdirectargs);
		appendStringInfoString(context->buf, ") WITHIN GROUP (");
		deparse_order(context, "ORDER BY ", expr->aggorder, expr->args);
	}
	else
	{
		appendStringInfoString(context->buf, expr->aggdistinct != NIL ? "(DISTINCT " : "(");
		if (expr->aggstar)
			appendStringInfoChar(context->buf, '*');
		deparse_list(context, get_tlist_exprs(expr->args, false));
		deparse_order(context, " ORDER BY ", expr->aggorder, expr->args);
	}
	appendStringInfoChar(context->buf, ')');
	deparse_filter(context, expr->aggfilter);
}

static void
deparse_bound(KakehashiDeparse *context, int options, Node *offset, bool start)
{
	if (options & (start ? FRAMEOPTION_START_UNBOUNDED_PRECEDING : FRAMEOPTION_END_UNBOUNDED_PRECEDING))
		appendStringInfoString(context->buf, "UNBOUNDED PRECEDING");
	else if (options & (start ? FRAMEOPTION_START_UNBOUNDED_FOLLOWING : FRAMEOPTION_END_UNBOUNDED_FOLLOWING))
		appendStringInfoString(context->buf, "UNBOUNDED FOLLOWING");
	else if (options & (start ? FRAMEOPTION_START_CURRENT_ROW : FRAMEOPTION_END_CURRENT_ROW))
		appendStringInfoString(context->buf, "CURRENT ROW");
	else
	{
		kakehashi_deparse_value(context, (Expr *) offset);
		appendStringInfoString(context->buf,
		                       options & (start ? FRAMEOPTION_START_OFFSET_PRECEDING : FRAMEOPTION_END_OFFSET_PRECEDING)
		                           ? " PRECEDING"
		                           : " FOLLOWING");
	}
}

static void
deparse_frame(KakehashiDeparse *context, const WindowClause *window)
{
	int options = window->frameOptions;

	if (!(options & FRAMEOPTION_NONDEFAULT))
		return;
	appendStringInfoString(context->buf, options & FRAMEOPTION_RANGE  ? " RANGE BETWEEN "
	                                     : options & FRAMEOPTION_ROWS ? " ROWS BETWEEN "
	                                                                  : " GROUPS BETWEEN ");
	deparse_bound(context, options, window->startOffset, true);
	appendStringInfoString(context->buf, " AND ");
	deparse_bound(context, options, window->endOffset, false);
	if (options & FRAMEOPTION_EXCLUDE_CURRENT_ROW)
		appendStringInfoString(context->buf, " EXCLUDE CURRENT ROW");
	else if (options & FRAMEOPTION_EXCLUDE_GROUP)
		appendStringInfoString(context->buf, " EXCLUDE GROUP");
	else if (options & FRAMEOPTION_EXCLUDE_TIES)
		appendStringInfoString(context->buf, " EXCLUDE TIES");
}

static bool
looks_at_frame(const WindowFunc *expr)
{
	return expr->winagg || strstr(get_func_name(expr->winfnoid), "_value") != NULL;
}

void
kakehashi_deparse_window_function(KakehashiDeparse *context, WindowFunc *expr)
{
	PlannerInfo *root = context->root;
	const WindowClause *window = kakehashi_window_of(root, expr);
	List *partitions = kakehashi_window_order(root, context->rel, window->partitionClause);

	appendStringInfo(context->buf, "%s(", get_func_name(expr->winfnoid));
	if (expr->winstar)
		appendStringInfoChar(context->buf, '*');
	deparse_list(context, expr->args);
	appendStringInfoChar(context->buf, ')');
	deparse_filter(context, expr->aggfilter);
	if (kakehashi_ignores_nulls(expr))
		appendStringInfoString(context->buf, " IGNORE NULLS");
	appendStringInfoString(context->buf, " OVER (");
	if (partitions != NIL)
	{
		appendStringInfoString(context->buf, "PARTITION BY ");
		deparse_list(context, get_sortgrouplist_exprs(partitions, root->processed_tlist));
	}
	deparse_order(context, partitions != NIL ? " ORDER BY " : "ORDER BY ",
	              kakehashi_window_order(root, context->rel, window->orderClause), root->processed_tlist);
	/* PostgreSQL's versions differ in the frame of what looks at none; the engine's texts should not. */
	if (looks_at_frame(expr) || window->startOffset != NULL || window->endOffset != NULL)
		deparse_frame(context, window);
	appendStringInfoChar(context->buf, ')');
}

void
kakehashi_deparse_grouping(KakehashiDeparse *context, GroupingFunc *expr)
{
	/* Of plain groups it is 0. A constant alone would be a column's number in ORDER BY. */
	if (context->root->parse->groupingSets == NIL)
	{
		appendStringInfoString(context->buf, "CAST(0 AS integer)");
		return;
	}
	appendStringInfoString(context->buf, "grouping(");
	deparse_list(context, expr->args);
	appendStringInfoChar(context->buf, ')');
}

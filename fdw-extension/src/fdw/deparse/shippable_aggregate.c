/*
 * Aggregates and window functions of PostgreSQL that the engine has with the same results, by name and by what they are given.
 *
 * The expressions that they are given are looked at in shippable.c.
 */
#include "fdw/deparse/deparse.h"
#include "fdw/row/row.h"

#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

static const char *const plain_aggregates[] = {"count", "sum", "avg", "min", "max", "bool_and", "bool_or", "every"};

/* Of exact numbers alone: the order in which fractions are added shows. Bits are of integers only, by their signatures. */
static const char *const exact_aggregates[] = {"stddev",   "stddev_samp", "stddev_pop", "variance",
                                               "var_samp", "var_pop",     "bit_and",    "bit_or"};

/* Of these the order of the rows shows, so that they have to say one. */
static const char *const collecting_aggregates[] = {"array_agg", "string_agg"};

static const char *const ordered_set_aggregates[] = {"percentile_cont", "percentile_disc", "mode"};

static const char *const hypothetical_aggregates[] = {"rank", "dense_rank", "percent_rank", "cume_dist"};

static const char *const window_functions[] = {"row_number",  "rank",       "dense_rank", "percent_rank",
                                               "cume_dist",   "ntile",      "lag",        "lead",
                                               "first_value", "last_value", "nth_value"};
/* Those that take IGNORE NULLS. */
static const char *const null_ignoring_functions[] = {"lag", "lead", "first_value", "last_value", "nth_value"};

static bool
is_name_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
	{
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

/* args: expressions. exactly: fractions are not added, because they are not added in PostgreSQL's order. */
static bool
is_plain(const char *name, List *args, Oid collation, bool exactly)
{
	bool sum = strcmp(name, "sum") == 0 || strcmp(name, "avg") == 0;
	bool extreme = strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
	bool exact = is_name_of(name, exact_aggregates, lengthof(exact_aggregates)) || (sum && exactly);
	ListCell *cell;

	if (!exact && !is_name_of(name, plain_aggregates, lengthof(plain_aggregates)))
		return false;
	foreach (cell, args)
	{
		Oid type = kakehashi_bridge_type(exprType((Node *) lfirst(cell)), NULL);

		if ((exact && !kakehashi_is_exact_number(type)) || (sum && !kakehashi_is_number(type)) ||
		    (extreme && !kakehashi_is_shippable_order(type, collation)))
			return false;
	}
	return true;
}

bool
kakehashi_is_shippable_sort_clause(const SortGroupClause *clause, Expr *expr)
{
	Oid type = exprType((Node *) expr);
	const TypeCacheEntry *order = lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

	/* The order must be the type's usual one. */
	return (clause->sortop == order->lt_opr || clause->sortop == order->gt_opr) && OidIsValid(clause->sortop) &&
	       kakehashi_is_shippable_sort(type, exprCollation((Node *) expr));
}

/* Whether each of the clauses, of the arguments in args, is an order that the engine has. */
static bool
is_order_shippable(List *clauses, List *args)
{
	ListCell *cell;

	foreach (cell, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, cell);

		if (!kakehashi_is_shippable_sort_clause(clause, get_sortgroupref_tle(clause->tleSortGroupRef, args)->expr))
			return false;
	}
	return true;
}

static bool
is_collecting(const char *name, const Aggref *expr)
{
	if (!is_name_of(name, collecting_aggregates, lengthof(collecting_aggregates)) ||
	    (expr->aggorder == NIL && expr->aggdistinct == NIL))
		return false;
	/* What DISTINCT leaves comes in the order by which it is found. */
	return (expr->aggtype == TEXTOID || kakehashi_is_document_array(expr->aggtype)) &&
	       is_order_shippable(expr->aggdistinct, expr->args);
}

static bool
is_ordered_set(const char *name, const Aggref *expr)
{
	if (expr->aggkind == AGGKIND_HYPOTHETICAL)
		return is_name_of(name, hypothetical_aggregates, lengthof(hypothetical_aggregates));
	if (expr->aggkind != AGGKIND_ORDERED_SET ||
	    !is_name_of(name, ordered_set_aggregates, lengthof(ordered_set_aggregates)))
		return false;
	/* Several percentiles are an array, and those between two intervals are rounded. */
	return (expr->aggdirectargs == NIL || exprType((Node *) linitial(expr->aggdirectargs)) == FLOAT8OID) &&
	       (strcmp(name, "percentile_cont") != 0 || expr->aggtype == FLOAT8OID);
}

static bool
are_groupable(List *entries)
{
	ListCell *cell;

	foreach (cell, entries)
	{
		if (!kakehashi_is_groupable(lfirst_node(TargetEntry, cell)->expr))
			return false;
	}
	return true;
}

bool
kakehashi_is_shippable_aggregate(const Aggref *expr, Oid server)
{
	char *name = get_func_name(expr->aggfnoid);

	if (name == NULL || expr->aggsplit != AGGSPLIT_SIMPLE || expr->agglevelsup != 0 || expr->aggvariadic ||
	    (expr->aggdistinct != NIL && !are_groupable(expr->args)))
		return false;
	if (kakehashi_is_shippable_stub_aggregate(expr->aggfnoid, server))
		return expr->aggkind == AGGKIND_NORMAL && expr->aggorder == NIL &&
		       kakehashi_is_shippable_collation(expr->inputcollid);
	if (expr->aggfnoid >= FirstGenbkiObjectId || !is_order_shippable(expr->aggorder, expr->args))
		return false;
	if (expr->aggkind != AGGKIND_NORMAL)
		return is_ordered_set(name, expr);
	return is_collecting(name, expr) || is_plain(name, get_tlist_exprs(expr->args, false), expr->inputcollid, false);
}

bool
kakehashi_ignores_nulls(const WindowFunc *expr)
{
#if PG_VERSION_NUM >= 190000
	/* Plans have the parser's value; the executor makes the other one of it. */
	return expr->ignore_nulls == PARSER_IGNORE_NULLS || expr->ignore_nulls == IGNORE_NULLS;
#else
	return false;
#endif
}

bool
kakehashi_is_shippable_window_function(const WindowFunc *expr)
{
	char *name = get_func_name(expr->winfnoid);

	if (name == NULL || expr->winfnoid >= FirstGenbkiObjectId)
		return false;
	/* PostgreSQL refuses other functions for the first row that there is, and the engine before it. */
	if (kakehashi_ignores_nulls(expr) && !is_name_of(name, null_ignoring_functions, lengthof(null_ignoring_functions)))
		return false;
	/* The first row of a partition says how many parts it has. */
	if (strcmp(name, "ntile") == 0 && contain_var_clause((Node *) expr->args))
		return false;
	return expr->winagg ? is_plain(name, expr->args, expr->inputcollid, true)
	                    : is_name_of(name, window_functions, lengthof(window_functions));
}

WindowClause *
kakehashi_window_of(PlannerInfo *root, const WindowFunc *expr)
{
	ListCell *cell;

	foreach (cell, root->parse->windowClause)
	{
		WindowClause *window = lfirst_node(WindowClause, cell);

		if (window->winref == expr->winref)
			return window;
	}
	elog(ERROR, "window %u of a window function is missing", expr->winref);
}

List *
kakehashi_window_order(PlannerInfo *root, RelOptInfo *rel, List *clauses)
{
	List *result = NIL;
	ListCell *cell;

	foreach (cell, clauses)
	{
		Expr *expr = (Expr *) get_sortgroupclause_expr(lfirst_node(SortGroupClause, cell), root->processed_tlist);

		/* What is the same for all rows divides and orders none. */
		if (!kakehashi_is_parameter(root, rel, expr))
			result = lappend(result, lfirst(cell));
	}
	return result;
}

/* From 17 on intervals can be infinite, which the engine does not add to anything. */
static bool
is_finite_interval(const Node *offset)
{
#if PG_VERSION_NUM >= 170000
	return offset == NULL ||
	       (IsA(offset, Const) && (((const Const *) offset)->constisnull ||
	                               !INTERVAL_NOT_FINITE(DatumGetIntervalP(((const Const *) offset)->constvalue))));
#else
	return true;
#endif
}

/* An interval without days and months, which have their lengths from the time zone of the session. */
static bool
is_span_of_time(const Node *offset)
{
	const Interval *span;

	if (offset == NULL)
		return true;
	if (!IsA(offset, Const) || ((const Const *) offset)->constisnull)
		return false;
	span = DatumGetIntervalP(((const Const *) offset)->constvalue);
	return span->day == 0 && span->month == 0;
}

/* Whether the engine finds the same rows whose keys are at most an offset away. */
static bool
is_range_shippable(PlannerInfo *root, RelOptInfo *rel, const WindowClause *window)
{
	List *order = kakehashi_window_order(root, rel, window->orderClause);

	/* The key may be the same for all rows, which leaves the engine without one. */
	if (list_length(order) != 1 || list_length(window->orderClause) != 1)
		return false;
	switch (kakehashi_bridge_type(exprType(get_sortgroupclause_expr(linitial(order), root->processed_tlist)), NULL))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case FLOAT4OID:
		case FLOAT8OID:
			return true;
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
			return is_finite_interval(window->startOffset) && is_finite_interval(window->endOffset);
		case TIMESTAMPTZOID:
			return is_span_of_time(window->startOffset) && is_span_of_time(window->endOffset);
#if PG_VERSION_NUM < 170000
		case INTERVALOID:
			return true;
#endif
		default:
			return false;
	}
}

bool
kakehashi_is_shippable_frame(PlannerInfo *root, RelOptInfo *rel, const WindowClause *window)
{
	bool offsets = (window->frameOptions & (FRAMEOPTION_START_OFFSET | FRAMEOPTION_END_OFFSET)) != 0;

	if ((window->frameOptions & FRAMEOPTION_RANGE) != 0 && offsets && !is_range_shippable(root, rel, window))
		return false;
	if ((window->frameOptions & FRAMEOPTION_GROUPS) != 0 &&
	    kakehashi_window_order(root, rel, window->orderClause) == NIL)
		return false;
	return (window->startOffset == NULL || kakehashi_is_parameter(root, rel, (Expr *) window->startOffset)) &&
	       (window->endOffset == NULL || kakehashi_is_parameter(root, rel, (Expr *) window->endOffset));
}

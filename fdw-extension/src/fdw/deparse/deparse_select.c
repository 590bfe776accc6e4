/*
 * SELECT of base relations, joins, and what is done with their rows above.
 *
 * Joins are FROM items with ON; SEMI and ANTI joins are conditions EXISTS and NOT EXISTS, so that they may be nested and
 * mixed with others. Columns are qualified by r<rtindex> as soon as there is more than one table.
 */
#include "fdw/deparse/deparse.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

static void
deparse_on(KakehashiDeparse *context, List *clauses)
{
	if (clauses == NIL)
		appendStringInfoString(context->buf, " ON TRUE");
	else
		kakehashi_deparse_conditions(context, "ON", clauses);
}

static void
deparse_from(KakehashiDeparse *context, RelOptInfo *rel)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) rel->fdw_private;
	const char *join = NULL;

	if (fpinfo->outer == NULL)
	{
		Relation table = table_open(planner_rt_fetch(rel->relid, context->root)->relid, NoLock);

		kakehashi_deparse_table(context->buf, table);
		table_close(table, NoLock);
		if (context->qualified)
			appendStringInfo(context->buf, " r%d", rel->relid);
		return;
	}
	switch (fpinfo->join_type)
	{
		case JOIN_INNER:
			join = "INNER";
			break;
		case JOIN_LEFT:
			join = "LEFT";
			break;
		case JOIN_RIGHT:
			join = "RIGHT";
			break;
		case JOIN_FULL:
			join = "FULL";
			break;
		default:
			/* SEMI and ANTI: a condition. */
			deparse_from(context, fpinfo->outer);
			return;
	}
	appendStringInfoChar(context->buf, '(');
	deparse_from(context, fpinfo->outer);
	appendStringInfo(context->buf, " %s JOIN ", join);
	deparse_from(context, fpinfo->inner);
	deparse_on(context, fpinfo->join_clauses);
	appendStringInfoChar(context->buf, ')');
}

bool
kakehashi_joins_tables(const RelOptInfo *rel)
{
	const KakehashiRelation *fpinfo = (const KakehashiRelation *) rel->fdw_private;

	if (fpinfo->outer == NULL)
		return false;
	return (fpinfo->join_type != JOIN_SEMI && fpinfo->join_type != JOIN_ANTI) || kakehashi_joins_tables(fpinfo->outer);
}

/* FROM without the table target; see kakehashi_can_change_directly() for the joins that may be there. */
static void
deparse_from_others(KakehashiDeparse *context, RelOptInfo *rel, Index target, List **conditions)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) rel->fdw_private;
	bool outer = bms_is_member((int) target, fpinfo->outer->relids);
	RelOptInfo *with_target = outer ? fpinfo->outer : fpinfo->inner;
	RelOptInfo *other = outer ? fpinfo->inner : fpinfo->outer;
	List *on = NIL;

	if (fpinfo->join_type == JOIN_SEMI || fpinfo->join_type == JOIN_ANTI)
	{
		deparse_from_others(context, with_target, target, conditions);
		return;
	}
	if (fpinfo->join_type == JOIN_INNER)
		*conditions = list_concat(*conditions, fpinfo->join_clauses);
	else
		on = fpinfo->join_clauses;
	if (!kakehashi_joins_tables(with_target))
	{
		deparse_from(context, other);
		return;
	}
	appendStringInfoChar(context->buf, '(');
	deparse_from_others(context, with_target, target, conditions);
	appendStringInfoString(context->buf, fpinfo->join_type == JOIN_INNER ? " INNER JOIN " : " LEFT JOIN ");
	deparse_from(context, other);
	deparse_on(context, on);
	appendStringInfoChar(context->buf, ')');
}

void
kakehashi_deparse_others(KakehashiDeparse *context, const char *keyword, Index target, List **conditions)
{
	if (!kakehashi_joins_tables(context->rel))
		return;
	appendStringInfo(context->buf, " %s ", keyword);
	deparse_from_others(context, context->rel, target, conditions);
}

void
kakehashi_deparse_where(KakehashiDeparse *context, const char *keyword, List *conditions, List *semi_joins)
{
	ListCell *cell;

	kakehashi_deparse_conditions(context, keyword, conditions);
	if (conditions != NIL)
		keyword = "AND";
	foreach (cell, semi_joins)
	{
		KakehashiRelation *join = (KakehashiRelation *) ((RelOptInfo *) lfirst(cell))->fdw_private;
		KakehashiRelation *inner = (KakehashiRelation *) join->inner->fdw_private;

		appendStringInfo(context->buf, " %s (%sEXISTS (SELECT 1 FROM ", keyword,
		                 join->join_type == JOIN_ANTI ? "NOT " : "");
		deparse_from(context, join->inner);
		kakehashi_deparse_where(context, "WHERE", list_concat_copy(join->join_clauses, inner->remote_conds),
		                        inner->semi_joins);
		appendStringInfoString(context->buf, "))");
		keyword = "AND";
	}
}

Expr *
kakehashi_sort_expr(PlannerInfo *root, RelOptInfo *rel, List *tlist, PathKey *pathkey)
{
	ListCell *cell;

	if (pathkey->pk_eclass->ec_has_volatile)
		return NULL;
	foreach (cell, pathkey->pk_eclass->ec_members)
	{
		EquivalenceMember *member = lfirst_node(EquivalenceMember, cell);
		Oid type = exprType((Node *) member->em_expr);
		Oid btree;

		if (tlist != NIL)
		{
			if (!tlist_member(member->em_expr, tlist))
				continue;
		}
		else if (bms_is_empty(member->em_relids) || !bms_is_subset(member->em_relids, rel->relids) ||
		         bms_overlap(member->em_relids, ((KakehashiRelation *) rel->fdw_private)->hidden) ||
		         !kakehashi_is_shippable(root, rel, member->em_expr))
			continue;
		/* The order must be the type's usual one. */
		btree = GetDefaultOpClass(type, BTREE_AM_OID);
		if (OidIsValid(btree) && get_opclass_family(btree) == pathkey->pk_opfamily &&
		    kakehashi_is_shippable_sort(type, pathkey->pk_eclass->ec_collation))
			return member->em_expr;
	}
	return NULL;
}

static void
deparse_order(KakehashiDeparse *context, List *pathkeys, List *tlist)
{
	ListCell *cell;
	const char *separator = " ORDER BY ";

	foreach (cell, pathkeys)
	{
		PathKey *pathkey = lfirst_node(PathKey, cell);
		Expr *expr = kakehashi_sort_expr(context->root, context->rel, tlist, pathkey);
#if PG_VERSION_NUM >= 180000
		bool descending = pathkey->pk_cmptype == COMPARE_GT;
#else
		bool descending = pathkey->pk_strategy == BTGreaterStrategyNumber;
#endif

		if (expr == NULL)
			elog(ERROR, "could not find a remote expression to sort by");
		appendStringInfoString(context->buf, separator);
		kakehashi_deparse_expr(context, expr);
		appendStringInfo(context->buf, " %s NULLS %s", descending ? "DESC" : "ASC",
		                 pathkey->pk_nulls_first ? "FIRST" : "LAST");
		separator = ", ";
	}
}

static void
deparse_list(KakehashiDeparse *context, const char *keyword, List *exprs)
{
	ListCell *cell;

	foreach (cell, exprs)
	{
		appendStringInfoString(context->buf, foreach_current_index(cell) == 0 ? keyword : ", ");
		kakehashi_deparse_expr(context, (Expr *) lfirst(cell));
	}
}

void
kakehashi_deparse_select(KakehashiDeparse *context, List *exprs, List *conditions, List *pathkeys,
                         const KakehashiUpper *upper)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) context->rel->fdw_private;

	context->qualified = fpinfo->outer != NULL;
	/* SQL wants a column, also when only the number of rows matters. */
	if (context->numbered)
	{
		appendStringInfoString(context->buf, "SELECT $1");
		deparse_list(context, exprs == NIL ? "" : ", ", exprs);
	}
	else if (exprs == NIL)
		appendStringInfoString(context->buf, "SELECT 1");
	else
		deparse_list(context, "SELECT ", exprs);
	appendStringInfoString(context->buf, " FROM ");
	deparse_from(context, context->rel);
	kakehashi_deparse_where(context, "WHERE", conditions, fpinfo->semi_joins);
	if (upper == NULL)
	{
		deparse_order(context, pathkeys, NIL);
		return;
	}
	deparse_list(context, " GROUP BY ", upper->group);
	kakehashi_deparse_conditions(context, "HAVING", upper->having);
	deparse_order(context, upper->pathkeys, upper->grouped ? upper->tlist : NIL);
	if (upper->limit != NULL)
	{
		appendStringInfoString(context->buf, " LIMIT ");
		kakehashi_deparse_value(context, (Expr *) upper->limit);
	}
	if (upper->offset != NULL)
	{
		appendStringInfoString(context->buf, " OFFSET ");
		kakehashi_deparse_value(context, (Expr *) upper->offset);
	}
}

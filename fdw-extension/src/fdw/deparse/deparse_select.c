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
#include "optimizer/appendinfo.h"
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

static void deparse_from(KakehashiDeparse *context, RelOptInfo *rel, List *more);

/* One member's rows, with the columns of the whole. */
static void
deparse_member(KakehashiDeparse *context, RelOptInfo *rel, List *columns)
{
	AppendRelInfo *info = context->root->append_rel_array[rel->relid];
	KakehashiRelation *fpinfo = (KakehashiRelation *) rel->fdw_private;
	ListCell *cell;

	appendStringInfoString(context->buf, columns == NIL ? "SELECT 1" : "SELECT ");
	foreach (cell, columns)
	{
		Var *column = lfirst_node(Var, cell);

		if (foreach_current_index(cell) > 0)
			appendStringInfoString(context->buf, ", ");
		kakehashi_deparse_expr(context, (Expr *) adjust_appendrel_attrs(context->root, (Node *) column, 1, &info));
		appendStringInfo(context->buf, " AS c%d", column->varattno);
	}
	appendStringInfoString(context->buf, " FROM ");
	deparse_from(context, rel, NIL);
	kakehashi_deparse_where(context, "WHERE", fpinfo->remote_conds, fpinfo->semi_joins);
}

static void
deparse_members(KakehashiDeparse *context, const KakehashiRelation *fpinfo)
{
	RelOptInfo *rel = context->rel;
	ListCell *cell;

	foreach (cell, fpinfo->members)
	{
		appendStringInfoString(context->buf, foreach_current_index(cell) == 0 ? "(" : " UNION ALL ");
		/* A column of a member is a column within it only. */
		context->rel = (RelOptInfo *) lfirst(cell);
		deparse_member(context, context->rel, fpinfo->columns);
	}
	context->rel = rel;
	appendStringInfo(context->buf, ") r%u", fpinfo->parent);
}

/* A query in FROM. Its values are parameters of the statement. */
static void
deparse_subquery(KakehashiDeparse *context, const KakehashiRelation *fpinfo)
{
	KakehashiDeparse inner = {.root = fpinfo->query->root,
	                          .rel = fpinfo->query->scan,
	                          .buf = context->buf,
	                          .literals = context->literals,
	                          .params = context->params};
	int count = list_length(fpinfo->query->columns);

	appendStringInfoChar(context->buf, '(');
	kakehashi_deparse_query(&inner, fpinfo->query);
	context->params = inner.params;
	appendStringInfo(context->buf, ") r%u", fpinfo->parent);
	for (int i = 1; i <= count; i++)
		appendStringInfo(context->buf, "%sc%d", i == 1 ? "(" : ", ", i);
	appendStringInfoChar(context->buf, ')');
}

static void
deparse_plain_table(KakehashiDeparse *context, const RelOptInfo *rel)
{
	Relation table = table_open(planner_rt_fetch(rel->relid, context->root)->relid, NoLock);

	kakehashi_deparse_table(context->buf, table);
	table_close(table, NoLock);
}

/* A table, or what is a subquery. */
static void
deparse_item(KakehashiDeparse *context, const RelOptInfo *rel, const KakehashiRelation *fpinfo)
{
	bool subquery = fpinfo->query != NULL || fpinfo->members != NIL;
	Index number = subquery ? fpinfo->parent : rel->relid;
	bool marked = bms_is_member((int) number, context->marked);

	if (marked)
		appendStringInfoString(context->buf, "(SELECT *, TRUE AS " KAKEHASHI_PRESENCE_COLUMN " FROM ");
	if (fpinfo->query != NULL)
		deparse_subquery(context, fpinfo);
	else if (fpinfo->members != NIL)
		deparse_members(context, fpinfo);
	else
		deparse_plain_table(context, rel);
	if (marked)
		appendStringInfoChar(context->buf, ')');
	if (marked || (!subquery && context->qualified))
		appendStringInfo(context->buf, " r%u", number);
}

/* A side of a FULL JOIN, whose rows are chosen before they are joined; see kakehashi_can_be_side(). */
static void
deparse_side(KakehashiDeparse *context, RelOptInfo *rel)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) rel->fdw_private;
	RelOptInfo *core = kakehashi_without_semi_joins(rel);

	if (((KakehashiRelation *) core->fdw_private)->outer != NULL ||
	    (fpinfo->remote_conds == NIL && fpinfo->semi_joins == NIL))
	{
		deparse_from(context, rel, fpinfo->remote_conds);
		return;
	}
	/* The subquery has the name of its table. */
	appendStringInfoString(context->buf, "(SELECT * FROM ");
	deparse_from(context, core, NIL);
	kakehashi_deparse_where(context, "WHERE", fpinfo->remote_conds, fpinfo->semi_joins);
	appendStringInfo(context->buf, ") r%u", core->relid);
}

/* more: conditions beside those of an inner join. */
static void
deparse_from(KakehashiDeparse *context, RelOptInfo *rel, List *more)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) rel->fdw_private;
	const char *join = NULL;

	if (fpinfo->outer == NULL)
	{
		deparse_item(context, rel, fpinfo);
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
			appendStringInfoChar(context->buf, '(');
			deparse_side(context, fpinfo->outer);
			appendStringInfoString(context->buf, " FULL JOIN ");
			deparse_side(context, fpinfo->inner);
			deparse_on(context, fpinfo->join_clauses);
			appendStringInfoChar(context->buf, ')');
			return;
		default:
			/* SEMI and ANTI: a condition. */
			deparse_from(context, fpinfo->outer, more);
			return;
	}
	appendStringInfoChar(context->buf, '(');
	deparse_from(context, fpinfo->outer, NIL);
	appendStringInfo(context->buf, " %s JOIN ", join);
	deparse_from(context, fpinfo->inner, NIL);
	deparse_on(context, list_concat_copy(fpinfo->join_clauses, more));
	appendStringInfoChar(context->buf, ')');
}

RelOptInfo *
kakehashi_without_semi_joins(RelOptInfo *rel)
{
	const KakehashiRelation *fpinfo = (const KakehashiRelation *) rel->fdw_private;

	while (fpinfo->outer != NULL && (fpinfo->join_type == JOIN_SEMI || fpinfo->join_type == JOIN_ANTI))
	{
		rel = fpinfo->outer;
		fpinfo = (const KakehashiRelation *) rel->fdw_private;
	}
	return rel;
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
		deparse_from(context, other, NIL);
		return;
	}
	appendStringInfoChar(context->buf, '(');
	deparse_from_others(context, with_target, target, conditions);
	appendStringInfoString(context->buf, fpinfo->join_type == JOIN_INNER ? " INNER JOIN " : " LEFT JOIN ");
	deparse_from(context, other, NIL);
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
		deparse_from(context, join->inner, NIL);
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
		    kakehashi_is_shippable_sort(type, pathkey->pk_eclass->ec_collation) &&
		    kakehashi_engine_sorts(rel->serverid, type))
			return member->em_expr;
	}
	return NULL;
}

List *
kakehashi_sort_targets(const KakehashiUpper *upper)
{
	return upper->grouped || upper->windowed || upper->distinct ? upper->tlist : NIL;
}

/* numbered: by the numbers of tlist's members, not to compute them once more. */
static void
deparse_order(KakehashiDeparse *context, List *pathkeys, List *tlist, bool numbered)
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
		if (numbered)
			appendStringInfo(context->buf, "%d", tlist_member(expr, tlist)->resno);
		else
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

static void
deparse_groups(KakehashiDeparse *context, const KakehashiUpper *upper)
{
	ListCell *cell;

	if (upper->sets == NIL)
		deparse_list(context, " GROUP BY ", upper->group);
	foreach (cell, upper->sets)
	{
		appendStringInfoString(context->buf, foreach_current_index(cell) == 0 ? " GROUP BY GROUPING SETS (" : ", ");
		appendStringInfoChar(context->buf, '(');
		deparse_list(context, "", (List *) lfirst(cell));
		appendStringInfoChar(context->buf, ')');
	}
	if (upper->sets != NIL)
		appendStringInfoChar(context->buf, ')');
	if (upper->if_rows)
		appendStringInfoString(context->buf, " HAVING count(*) > 0");
	kakehashi_deparse_conditions(context, upper->if_rows ? "AND" : "HAVING", upper->having);
}

/* Conditions on columns of the result of windows, which is the subquery q. */
static void
deparse_of_windows(KakehashiDeparse *context, const KakehashiUpper *upper)
{
	ListCell *cell;
	ListCell *arg;

	foreach (cell, upper->of_windows)
	{
		OpExpr *condition = lfirst_node(OpExpr, cell);

		appendStringInfoString(context->buf, foreach_current_index(cell) == 0 ? " WHERE (" : " AND (");
		foreach (arg, condition->args)
		{
			const TargetEntry *entry = tlist_member((Expr *) lfirst(arg), upper->tlist);

			if (foreach_current_index(arg) > 0)
				appendStringInfo(context->buf, " %s ", get_opname(condition->opno));
			if (entry != NULL)
				appendStringInfo(context->buf, "c%d", entry->resno);
			else
				kakehashi_deparse_expr(context, (Expr *) lfirst(arg));
		}
		appendStringInfoChar(context->buf, ')');
	}
}

/* The columns of a SELECT whose rows are those of a subquery: SELECT c1, c2 FROM (SELECT a AS c1, b AS c2. */
static void
deparse_twice(KakehashiDeparse *context, List *exprs, bool distinct)
{
	for (int i = 1; i <= list_length(exprs); i++)
		appendStringInfo(context->buf, "%sc%d", i > 1 ? ", " : distinct ? "SELECT DISTINCT " : "SELECT ", i);
	for (int i = 1; i <= list_length(exprs); i++)
	{
		appendStringInfoString(context->buf, i > 1 ? ", " : " FROM (SELECT ");
		kakehashi_deparse_expr(context, (Expr *) list_nth(exprs, i - 1));
		appendStringInfo(context->buf, " AS c%d", i);
	}
}

void
kakehashi_deparse_select(KakehashiDeparse *context, List *exprs, List *conditions, List *pathkeys,
                         const KakehashiUpper *upper)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) context->rel->fdw_private;
	ListCell *cell;

	context->qualified = fpinfo->outer != NULL || fpinfo->members != NIL || fpinfo->query != NULL;
	foreach (cell, exprs)
	{
		if (kakehashi_is_presence((const Expr *) lfirst(cell)))
			context->marked =
				bms_add_member(context->marked, ((const Var *) ((const NullTest *) lfirst(cell))->arg)->varno);
	}
	/* SQL wants a column, also when only the number of rows matters. */
	if (upper != NULL && upper->of_windows != NIL)
		deparse_twice(context, exprs, upper->distinct);
	else if (context->numbered)
	{
		appendStringInfoString(context->buf, "SELECT $1");
		deparse_list(context, exprs == NIL ? "" : ", ", exprs);
	}
	else if (exprs == NIL)
		appendStringInfoString(context->buf, "SELECT 1");
	else
		deparse_list(context, upper != NULL && upper->distinct ? "SELECT DISTINCT " : "SELECT ", exprs);
	appendStringInfoString(context->buf, " FROM ");
	deparse_from(context, context->rel, NIL);
	kakehashi_deparse_where(context, "WHERE", conditions, fpinfo->semi_joins);
	if (upper == NULL)
	{
		deparse_order(context, pathkeys, NIL, false);
		return;
	}
	deparse_groups(context, upper);
	if (upper->of_windows != NIL)
	{
		appendStringInfoString(context->buf, ") q");
		deparse_of_windows(context, upper);
	}
	deparse_order(context, upper->pathkeys, kakehashi_sort_targets(upper), upper->windowed || upper->distinct);
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

void
kakehashi_deparse_query(KakehashiDeparse *context, const KakehashiQuery *query)
{
	if (query->write != NULL)
	{
		query->write(context);
		return;
	}
	kakehashi_deparse_select(context, query->columns, ((KakehashiRelation *) query->scan->fdw_private)->remote_conds,
	                         NIL, query->upper);
}

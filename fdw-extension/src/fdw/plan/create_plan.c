/*
 * The ForeignScan of a path: its statement, parameters, and the row it delivers.
 */
#include "fdw/plan/plan.h"
#include "fdw/session/session.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "optimizer/prep.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"

static List *
column_vars(Relation rel, Index rtindex, List *attnums)
{
	List *result = NIL;
	ListCell *cell;

	foreach (cell, attnums)
	{
		Form_pg_attribute att;

		if (lfirst_int(cell) == KAKEHASHI_IDENTITY)
		{
			result = lappend(result, makeVar((int) rtindex, KAKEHASHI_IDENTITY, TIDOID, -1, InvalidOid, 0));
			continue;
		}
		att = TupleDescAttr(RelationGetDescr(rel), lfirst_int(cell) - 1);

		result =
			lappend(result, makeVar((int) rtindex, att->attnum, att->atttypid, att->atttypmod, att->attcollation, 0));
	}
	return result;
}

/* A row as a whole is made of its columns, or kept for a lock, and null. */
static bool
is_retrieved(const TargetEntry *entry)
{
	return !IsA(entry->expr, Var) || ((Var *) entry->expr)->varattno != 0;
}

static List *
retrieved_columns(List *scan_tlist)
{
	List *result = NIL;
	ListCell *cell;

	foreach (cell, scan_tlist)
	{
		if (is_retrieved(lfirst_node(TargetEntry, cell)))
			result = lappend_int(result, foreach_current_index(cell) + 1);
	}
	return result;
}

static List *
retrieved_exprs(List *scan_tlist)
{
	List *result = NIL;
	ListCell *cell;

	foreach (cell, scan_tlist)
	{
		if (is_retrieved(lfirst_node(TargetEntry, cell)))
			result = lappend(result, lfirst_node(TargetEntry, cell)->expr);
	}
	return result;
}

/* user: who reads, or InvalidOid: whoever runs the query. */
static List *
scan_private(char *sql, List *retrieved, bool one_row, List *rows, Oid user)
{
	return list_make5(makeString(sql), retrieved, makeInteger(one_row ? 1 : 0), rows, makeInteger((int) user));
}

/* alone: there is no other table. mark: NULL if rows of the table are not for finding them again. */
static void
deparse_row_mark(StringInfo buf, const PlanRowMark *mark, Oid server, bool alone)
{
	static const char *const locks[] = {[LCS_FORKEYSHARE] = "KEY SHARE",
	                                    [LCS_FORSHARE] = "SHARE",
	                                    [LCS_FORNOKEYUPDATE] = "NO KEY UPDATE",
	                                    [LCS_FORUPDATE] = "UPDATE"};

	if (mark == NULL || mark->strength == LCS_NONE)
		return;
	kakehashi_server_require(server, KH_CAN_ROW_LOCKS);
	if (mark->waitPolicy != LockWaitBlock)
		kakehashi_server_require(server, mark->waitPolicy == LockWaitError ? KH_CAN_NOWAIT : KH_CAN_SKIP_LOCKED);
	appendStringInfo(buf, " FOR %s", locks[mark->strength]);
	if (!alone)
		appendStringInfo(buf, " OF r%u", mark->rti);
	if (mark->waitPolicy == LockWaitError)
		appendStringInfoString(buf, " NOWAIT");
	else if (mark->waitPolicy == LockWaitSkip)
		appendStringInfoString(buf, " SKIP LOCKED");
}

/*
 * Rows that will be changed one by one, or that FOR UPDATE or SHARE names, are locked when they are read: what was computed from them is
 * then still true when it is written. A row that a function or trigger of the same statement has changed comes, too, for its change to fail.
 */
static void
deparse_locking(StringInfo buf, PlannerInfo *root, RelOptInfo *rel)
{
	int relid = -1;

	if (root->parse->commandType != CMD_SELECT && bms_is_member((int) rel->relid, root->all_result_relids))
	{
		/* One by one they are not changed without locks; here nobody knows yet how they are. */
		if (!kakehashi_server_can(rel->serverid, KH_CAN_ROW_LOCKS))
			return;
		/* Which of an update's rows get other keys the engine finds out when it changes them. */
		appendStringInfoString(buf, root->parse->commandType == CMD_UPDATE ? " FOR NO KEY UPDATE" : " FOR UPDATE");
		/* Without commands nobody knows which change is a later one's. */
		if (kakehashi_server_can(rel->serverid, KH_CAN_COMMANDS))
			appendStringInfoString(buf, " TO CHANGE");
		return;
	}
	while ((relid = bms_next_member(rel->relids, relid)) >= 0)
		deparse_row_mark(buf, get_plan_rowmark(root->rowMarks, (Index) relid), rel->serverid, IS_SIMPLE_REL(rel));
}

/*
 * Rows to look at from which on planning with the constants costs little against what it can win. A look-up by key or index, and what is read
 * again for each outer row, stays below, or is the same text each time.
 */
#define ROWS_WORTH_PLANNING 50000

static bool
is_worth_planning(const KakehashiRelation *fpinfo, const ForeignPath *path)
{
	return path->path.param_info == NULL &&
	       fpinfo->engine_cost >= ROWS_WORTH_PLANNING * KAKEHASHI_ENGINE_ROW_COST * cpu_tuple_cost;
}

/* Whether the rows of a scan may be named by the position of a cursor. */
static bool
is_positioned(const PlannerInfo *root)
{
	return kakehashi_positions() != KAKEHASHI_NOT_POSITIONED && root->parse->commandType == CMD_SELECT &&
	       bms_membership(root->all_baserels) == BMS_SINGLETON;
}

static ForeignScan *
create_base_plan(PlannerInfo *root, RelOptInfo *rel, Oid relid, ForeignPath *path, List *tlist, List *clauses,
                 Plan *outer_plan)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) rel->fdw_private;
	Bitmapset *attrs_used = bms_copy(fpinfo->attrs_used);
	List *remote = NIL;
	List *local = NIL;
	List *retrieved;
	List *vars;
	StringInfoData sql;
	KakehashiDeparse context = {.root = root, .rel = rel, .buf = &sql, .literals = is_worth_planning(fpinfo, path)};
	Relation relation;
	ListCell *cell;

	foreach (cell, clauses)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);

		if (clause->pseudoconstant)
			continue;
		/* Join clauses of a parameterized path are in neither list. They all are in order already. */
		if ((list_member_ptr(fpinfo->remote_conds, clause) ||
		     (!list_member_ptr(fpinfo->local_conds, clause) && kakehashi_is_shippable(root, rel, clause->clause))) &&
		    kakehashi_can_go_before(root, rel, clause->clause, local))
			remote = lappend(remote, clause->clause);
		else
		{
			local = lappend(local, clause->clause);
			pull_varattnos((Node *) clause->clause, rel->relid, &attrs_used);
		}
	}
	relation = table_open(relid, NoLock);
	retrieved = kakehashi_attnums(relation, attrs_used);
	if (kakehashi_wants_identity(attrs_used) ||
	    (is_positioned(root) && kakehashi_server_can(rel->serverid, KH_CAN_ROW_IDENTITY)))
		retrieved = lappend_int(retrieved, KAKEHASHI_IDENTITY);
	vars = column_vars(relation, rel->relid, retrieved);
	table_close(relation, NoLock);

	initStringInfo(&sql);
	kakehashi_deparse_select(&context, vars, remote, path->path.pathkeys, NULL);
	deparse_locking(&sql, root, rel);
	return make_foreignscan(tlist, local, rel->relid, context.params,
	                        scan_private(sql.data, retrieved, false, NIL, rel->userid), NIL, remote, outer_plan);
}

static void
forget_query(PlannerInfo *root, RelOptInfo *rel)
{
	const KakehashiRelation *fpinfo = rel == NULL ? NULL : (const KakehashiRelation *) rel->fdw_private;
	ListCell *cell;

	if (rel == NULL)
		return;
	rel->subroot = NULL;
	if (fpinfo == NULL)
		return;
	foreach (cell, fpinfo->members)
		forget_query(root, (RelOptInfo *) lfirst(cell));
}

void
kakehashi_forget_queries(PlannerInfo *root, Relids relids)
{
	int relid = -1;

	while ((relid = bms_next_member(relids, relid)) >= 0)
		forget_query(root, root->simple_rel_array[relid]);
}

static bool
has_one_row(const KakehashiUpper *upper)
{
	return upper != NULL && upper->grouped && upper->group == NIL && upper->sets == NIL && !upper->if_rows &&
	       !upper->windowed && upper->having == NIL && upper->local_having == NIL && upper->limit == NULL &&
	       upper->offset == NULL;
}

/* A join, or something above a scan: its row is no table's, but described by a target list. */
static ForeignScan *
create_query_plan(PlannerInfo *root, RelOptInfo *rel, ForeignPath *path, List *tlist)
{
	KakehashiUpper *upper = path->fdw_private == NIL ? NULL : (KakehashiUpper *) linitial(path->fdw_private);
	RelOptInfo *scan = upper != NULL ? upper->scan : rel;
	KakehashiRelation *fpinfo = (KakehashiRelation *) scan->fdw_private;
	List *local = extract_actual_clauses(kakehashi_order_conditions(root, fpinfo->local_conds), false);
	/* Rows as a whole are what is kept for a lock, or what a change finds again, and null. */
	bool keeps_rows = upper == NULL && (root->rowMarks != NIL || root->parse->commandType != CMD_SELECT);
	List *scan_tlist;
	ForeignScan *result;
	StringInfoData sql;
	KakehashiDeparse context = {.root = root, .rel = scan, .buf = &sql, .literals = is_worth_planning(fpinfo, path)};

	if (upper != NULL)
	{
		scan_tlist = upper->tlist;
		local = upper->local_having;
	}
	else
	{
		List *columns = list_concat(pull_var_clause((Node *) rel->reltarget->exprs, PVC_RECURSE_PLACEHOLDERS),
		                            pull_var_clause((Node *) local, PVC_RECURSE_PLACEHOLDERS));

		scan_tlist = keeps_rows ? add_to_flat_tlist(NIL, columns) : kakehashi_add_columns(root, scan, NIL, columns);
	}
	kakehashi_forget_queries(root, scan->relids);
	initStringInfo(&sql);
	/* Of a change, the statement is made when all of it is known; see direct_modify.c. */
	if (root->parse->commandType != CMD_UPDATE && root->parse->commandType != CMD_DELETE)
		kakehashi_deparse_select(&context, retrieved_exprs(scan_tlist), fpinfo->remote_conds, path->path.pathkeys,
		                         upper);
	/* What groups is not asked for with row marks. */
	if (root->parse->commandType == CMD_SELECT && root->rowMarks != NIL)
		deparse_locking(&sql, root, scan);
	result = make_foreignscan(tlist, local, 0, context.params,
	                          scan_private(sql.data, retrieved_columns(scan_tlist), has_one_row(upper),
	                                       keeps_rows ? NIL : kakehashi_row_entries(scan_tlist), scan->userid),
	                          scan_tlist, NIL, NULL);
	if (upper != NULL && upper->windowed)
		kakehashi_windows_add(result);
	return result;
}

/* A path that set_operation.c has made: its statement and parameters. */
static ForeignScan *
create_operation_plan(PlannerInfo *root, ForeignPath *path, List *tlist)
{
	List *scan_tlist =
		add_to_flat_tlist(NIL, pull_var_clause((Node *) path->path.parent->reltarget->exprs, PVC_RECURSE_PLACEHOLDERS));

	kakehashi_forget_queries(root, path->path.parent->relids);
	return make_foreignscan(tlist, NIL, 0, (List *) lsecond(path->fdw_private),
	                        scan_private(strVal(linitial(path->fdw_private)), retrieved_columns(scan_tlist), false, NIL,
	                                     path->path.parent->userid),
	                        scan_tlist, NIL, NULL);
}

/* Base or join relation whose rows a path has or works with; NULL for a set operation. */
static RelOptInfo *
read_by(RelOptInfo *rel, const ForeignPath *path)
{
	return path->fdw_private == NIL             ? rel
	       : list_length(path->fdw_private) > 1 ? NULL
	                                            : ((KakehashiUpper *) linitial(path->fdw_private))->scan;
}

ForeignScan *
kakehashi_get_plan(PlannerInfo *root, RelOptInfo *rel, Oid relid, ForeignPath *path, List *tlist, List *clauses,
                   Plan *outer_plan)
{
	ForeignScan *result;

	if (IS_SIMPLE_REL(rel))
		return create_base_plan(root, rel, relid, path, tlist, clauses, outer_plan);
	result = list_length(path->fdw_private) > 1 ? create_operation_plan(root, path, tlist)
	                                            : create_query_plan(root, rel, path, tlist);
	kakehashi_show_query(root, rel, read_by(rel, path), strVal(linitial(result->fdw_private)), result->fdw_exprs);
	return result;
}

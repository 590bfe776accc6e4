/*
 * UPDATE and DELETE as one statement of the engine.
 */
#include "fdw/modify/modify.h"
#include "fdw/transaction/transaction.h"
#include "fdw/plan/plan.h"
#include "fdw/explain/explain.h"
#include "fdw/scan/scan.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"

typedef struct DirectModify
{
	char *sql;
	const char *relation;
	KakehashiSession *session;
	const void *snapshot_owner;
	KakehashiParameters *parameters;
	KakehashiResultMap *map;    /* NULL: no RETURNING */
	KakehashiResultMap *others; /* what RETURNING wants of other tables, in the scan's row; NULL: nothing is joined */
	TupleTableSlot *changed;    /* row of the table that is changed */
	bool set_processed;
	KakehashiCall *call;
	bool done;
	bool has_batch;
	kh_batch batch;
	uint32 next_row;
	KakehashiCost cost;
} DirectModify;

/* The scan below the ModifyTable that delivers the rows of this result relation. */
static ForeignScan *
find_scan(ModifyTable *plan, Index result_relation, int subplan_index)
{
	Plan *subplan = outerPlan(plan);
	ForeignScan *scan;

	/* Partitions: one child each; a Result above evaluates expressions that ours do not need. */
	if (IsA(subplan, Result) && outerPlan(subplan) != NULL && IsA(outerPlan(subplan), Append))
		subplan = outerPlan(subplan);
	if (IsA(subplan, Append))
	{
		Append *append = (Append *) subplan;

		if (subplan_index >= list_length(append->appendplans))
			return NULL;
		subplan = (Plan *) list_nth(append->appendplans, subplan_index);
	}
	if (!IsA(subplan, ForeignScan))
		return NULL;
	scan = (ForeignScan *) subplan;
	if (scan->scan.scanrelid != result_relation &&
	    (scan->scan.scanrelid != 0 || !bms_is_member((int) result_relation, scan->fs_relids)))
		return NULL;
	return scan;
}

/* Members of the row that a scan of a join delivers which RETURNING wants of other tables. */
static List *
other_columns(List *scan_tlist, List *returning, Index target)
{
	List *vars = pull_var_clause((Node *) returning, PVC_RECURSE_PLACEHOLDERS);
	List *result = NIL;
	ListCell *cell;

	foreach (cell, scan_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);
		Var *column = (Var *) entry->expr;
		ListCell *other;

		if (!IsA(column, Var) || column->varno == (int) target)
			continue;
		foreach (other, vars)
		{
			const Var *var = lfirst_node(Var, other);

			if (var->varno == column->varno && var->varattno == column->varattno)
				break;
		}
		if (other != NULL)
			result = lappend_int(result, entry->resno);
	}
	return result;
}

/* FROM or USING, the conditions, and RETURNING of a join whose rows are changed. */
static List *
deparse_joined(KakehashiDeparse *context, ForeignScan *scan, List *returning_list, List *returning, Relation relation)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) context->rel->fdw_private;
	Index target = scan->resultRelation;
	List *conditions = NIL;
	List *others = other_columns(scan->fdw_scan_tlist, returning_list, target);
	ListCell *cell;
	const char *separator = " RETURNING ";

	kakehashi_deparse_others(context, scan->operation == CMD_UPDATE ? "FROM" : "USING", target, &conditions);
	kakehashi_deparse_where(context, "WHERE", list_concat(conditions, fpinfo->remote_conds), fpinfo->semi_joins);
	foreach (cell, returning)
	{
		appendStringInfo(context->buf, "%sr%u.", separator, target);
		kakehashi_deparse_names(context->buf, relation, list_make1_int(lfirst_int(cell)));
		separator = ", ";
	}
	foreach (cell, others)
	{
		appendStringInfoString(context->buf, separator);
		kakehashi_deparse_expr(context, list_nth_node(TargetEntry, scan->fdw_scan_tlist, lfirst_int(cell) - 1)->expr);
		separator = ", ";
	}
	return others;
}

/* Whether new values of these columns may belong into another partition: then each row is looked at before it is sent. */
static bool
may_leave_partition(Relation relation, List *attnums)
{
	Bitmapset *bounds = NULL;
	ListCell *cell;

	if (!relation->rd_rel->relispartition)
		return false;
	pull_varattnos((Node *) RelationGetPartitionQual(relation), 1, &bounds);
	foreach (cell, attnums)
	{
		if (bms_is_member(lfirst_int(cell) - FirstLowInvalidHeapAttributeNumber, bounds))
			return true;
	}
	return false;
}

static bool
is_of_identity(const Var *var)
{
	return var->varattno == KAKEHASHI_IDENTITY || var->varattno == KAKEHASHI_IDENTITY_USE;
}

bool
kakehashi_plan_direct_modify(PlannerInfo *root, ModifyTable *plan, Index result_relation, int subplan_index)
{
	ForeignScan *scan;
	RelOptInfo *rel;
	bool joined;
	Relation relation;
	List *exprs = NIL;
	List *attnums = NIL;
	List *returning;
	List *others = NIL;
	ListCell *expr_cell;
	ListCell *attnum_cell;
	StringInfoData sql;
	KakehashiDeparse context = {.root = root, .buf = &sql};

	if ((plan->operation != CMD_UPDATE && plan->operation != CMD_DELETE) ||
	    kakehashi_may_change_rows(root->parse->returningList))
		return false;
	scan = find_scan(plan, result_relation, subplan_index);
	if (scan == NULL || scan->scan.plan.qual != NIL)
		return false;
	joined = scan->scan.scanrelid == 0;
	rel = joined ? find_join_rel(root, scan->fs_relids) : find_base_rel(root, (int) result_relation);
	context.rel = rel;
	context.qualified = joined;
	if (plan->operation == CMD_UPDATE)
	{
		List *targets;

		get_translated_update_targetlist(root, result_relation, &targets, &attnums);
		forboth(expr_cell, targets, attnum_cell, attnums)
		{
			TargetEntry *entry = lfirst_node(TargetEntry, expr_cell);

			if (lfirst_int(attnum_cell) <= InvalidAttrNumber)
				elog(ERROR, "system-column update is not supported");
			if (!kakehashi_is_settable(root, rel, entry->expr))
				return false;
			exprs = lappend(exprs, entry->expr);
		}
	}

	initStringInfo(&sql);
	relation = table_open(planner_rt_fetch(result_relation, root)->relid, NoLock);
	if (plan->operation == CMD_UPDATE &&
	    (kakehashi_changes_generated(root, result_relation, relation) || may_leave_partition(relation, attnums)))
	{
		table_close(relation, NoLock);
		return false;
	}
	appendStringInfoString(&sql, plan->operation == CMD_UPDATE ? "UPDATE " : "DELETE FROM ");
	kakehashi_deparse_table(&sql, relation);
	if (joined)
		appendStringInfo(&sql, " AS r%u", result_relation);
	forboth(expr_cell, exprs, attnum_cell, attnums)
	{
		appendStringInfoString(&sql, foreach_current_index(expr_cell) == 0 ? " SET " : ", ");
		kakehashi_deparse_identifier(
			&sql, kakehashi_remote_column(RelationGetRelid(relation), (AttrNumber) lfirst_int(attnum_cell)));
		appendStringInfoString(&sql, " = ");
		if (kakehashi_is_set_to_default(relation, lfirst_int(attnum_cell), (Expr *) lfirst(expr_cell)))
			appendStringInfoString(&sql, "DEFAULT");
		else
			kakehashi_deparse_expr(&context, (Expr *) lfirst(expr_cell));
	}
	returning = kakehashi_returning_columns(plan, result_relation, subplan_index, relation, false);
	if (plan->returningLists != NIL && returning == NIL)
		returning = list_make1_int(linitial_int(kakehashi_insert_columns(relation))); /* one row each, at least */
	scan->operation = plan->operation;
	scan->resultRelation = result_relation;
	if (joined)
		others = deparse_joined(
			&context, scan, plan->returningLists == NIL ? NIL : (List *) list_nth(plan->returningLists, subplan_index),
			returning, relation);
	else
	{
		kakehashi_deparse_conditions(&context, "WHERE", scan->fdw_recheck_quals);
		kakehashi_deparse_returning(&sql, relation, returning);
	}
	table_close(relation, NoLock);

	/*
	 * The target list was for the executor to compute new values. With RETURNING it would be evaluated over the rows that
	 * come back, which are the new ones, and might fail on them. Columns stay: one tells which partition a row is of. Those that
	 * would find a row again do not, as rows that come back have no identity.
	 */
	foreach (expr_cell, scan->scan.plan.targetlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, expr_cell);

		if (returning != NIL &&
		    (IsA(entry->expr, Var) ? is_of_identity((Var *) entry->expr) : plan->operation == CMD_UPDATE))
			entry->expr = (Expr *) makeNullConst(exprType((Node *) entry->expr), exprTypmod((Node *) entry->expr),
			                                     exprCollation((Node *) entry->expr));
	}
	/* Of an inheritance tree, the scan may have been planned below an asynchronous Append. */
	scan->scan.plan.async_capable = false;
	scan->fdw_exprs = context.params;
	scan->fdw_private = list_make4(makeString(sql.data), returning, makeInteger(plan->canSetTag ? 1 : 0), others);
	return true;
}

void
kakehashi_begin_direct_modify(ForeignScanState *node, int eflags)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	Relation rel = node->resultRelInfo->ri_RelationDesc;
	List *returning = (List *) list_nth(plan->fdw_private, KAKEHASHI_DIRECT_RETURNING);
	List *others = (List *) list_nth(plan->fdw_private, KAKEHASHI_DIRECT_OTHERS);
	DirectModify *direct;

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	direct = (DirectModify *) palloc0(sizeof(DirectModify));
	node->fdw_state = direct;
	direct->sql = strVal(list_nth(plan->fdw_private, KAKEHASHI_DIRECT_SQL));
	direct->set_processed = intVal(list_nth(plan->fdw_private, KAKEHASHI_DIRECT_SET_PROCESSED)) != 0;
	direct->relation = RelationGetRelationName(rel);
	if (returning != NIL)
		direct->map = kakehashi_result_map(RelationGetDescr(rel), returning, direct->relation);
	direct->changed = node->ss.ss_ScanTupleSlot;
	if (returning != NIL && plan->scan.scanrelid == 0)
	{
		direct->changed = ExecInitExtraTupleSlot(node->ss.ps.state, RelationGetDescr(rel), &TTSOpsVirtual);
		direct->others = kakehashi_result_map(node->ss.ss_ScanTupleSlot->tts_tupleDescriptor, others, "remote query");
		direct->others->before = direct->map->count;
		direct->map->after = direct->others->count;
	}
	direct->parameters = kakehashi_parameters_create(&node->ss.ps, plan->fdw_exprs);
	direct->snapshot_owner = kakehashi_snapshot_owner(node->ss.ps.state);
	direct->session = kakehashi_session_get(
		GetUserMapping(kakehashi_scan_user(node), GetForeignTable(RelationGetRelid(rel))->serverid));
}

static void
begin_request(ForeignScanState *node, DirectModify *direct)
{
	uint32 bytes;
	const void *row = kakehashi_parameters_row(direct->parameters, node->ss.ps.ps_ExprContext, direct->session, &bytes);
	KakehashiStatement *statement = kakehashi_statement_get(
		direct->session, direct->sql, direct->parameters->writer->types, direct->parameters->count);

	if (direct->others != NULL)
		kakehashi_result_check(direct->others, node->ss.ss_ScanTupleSlot->tts_tupleDescriptor, "remote query",
		                       direct->session, &statement);
	if (direct->map != NULL)
		kakehashi_result_check(direct->map, RelationGetDescr(node->resultRelInfo->ri_RelationDesc), direct->relation,
		                       direct->session, &statement);
	/* The second look may have had it prepared once more. */
	if (direct->others != NULL)
		kakehashi_result_check(direct->others, node->ss.ss_ScanTupleSlot->tts_tupleDescriptor, "remote query",
		                       direct->session, &statement);
	direct->call = kakehashi_execute_statement(direct->session, statement, direct->snapshot_owner, row, bytes);
	direct->cost.timed = node->ss.ps.instrument != NULL;
	kakehashi_call_measure(direct->call, &direct->cost);
}

/* Counts rows as the executor would have done. */
static void
count_rows(ForeignScanState *node, DirectModify *direct, uint64 rows)
{
	if (direct->set_processed)
		node->ss.ps.state->es_processed += rows;
	if (node->ss.ps.instrument != NULL && direct->map == NULL)
		node->ss.ps.instrument->tuplecount += (double) rows;
}

TupleTableSlot *
kakehashi_iterate_direct_modify(ForeignScanState *node)
{
	DirectModify *direct = (DirectModify *) node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	ExecClearTuple(slot);
	ExecClearTuple(direct->changed);
	if (direct->done)
		return slot;
	if (direct->call == NULL)
		begin_request(node, direct);
	while (!direct->has_batch || direct->map == NULL || direct->next_row >= direct->batch.row_count)
	{
		if (direct->has_batch)
			kh_call_release(direct->call->ipc);
		direct->has_batch = kakehashi_call_next_batch(direct->call, &direct->batch);
		direct->next_row = 0;
		if (direct->has_batch)
			continue;
		if (direct->map == NULL)
			count_rows(node, direct, kh_call_result(direct->call->ipc)->rows_affected);
		kakehashi_call_end(direct->call);
		pfree(direct->call);
		direct->call = NULL;
		direct->done = true;
		return slot;
	}
	kakehashi_result_store(direct->map, &direct->batch, direct->next_row, direct->changed);
	if (direct->others != NULL)
		kakehashi_result_store(direct->others, &direct->batch, direct->next_row, slot);
	direct->next_row++;
	count_rows(node, direct, 1);
	/* The rows of RETURNING are taken from here; the plan's output has what it wants of other tables. */
	node->resultRelInfo->ri_projectReturning->pi_exprContext->ecxt_scantuple = direct->changed;
	return slot;
}

void
kakehashi_end_direct_modify(ForeignScanState *node)
{
	DirectModify *direct = (DirectModify *) node->fdw_state;

	if (direct == NULL)
		return;
	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	ExecClearTuple(direct->changed);
	if (direct->call != NULL)
	{
		kakehashi_call_end(direct->call);
		pfree(direct->call);
		direct->call = NULL;
	}
	kakehashi_count(RelationGetRelid(node->resultRelInfo->ri_RelationDesc), &direct->cost);
}

void
kakehashi_explain_direct_modify(ForeignScanState *node, ExplainState *es)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;

	if (!es->verbose)
		return;
	ExplainPropertyText("Remote SQL", strVal(list_nth(plan->fdw_private, KAKEHASHI_DIRECT_SQL)), es);
	kakehashi_explain_parameters(&node->ss.ps, plan->fdw_exprs, 0, es);
	if (es->analyze && node->fdw_state != NULL)
	{
		const DirectModify *direct = (const DirectModify *) node->fdw_state;

		kakehashi_explain_cost(&direct->cost, direct->map != NULL, es);
	}
}

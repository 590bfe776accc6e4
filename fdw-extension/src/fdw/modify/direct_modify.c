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

/* A change that is planned as one statement. */
typedef struct DirectChange
{
	PlannerInfo *root;
	ModifyTable *plan;
	Index target;      /* range table index of the table that is changed */
	Relation table;    /* the same */
	ForeignScan *scan; /* delivers the rows to be changed */
	RelOptInfo *rel;   /* its relation */
	bool joined;       /* of several tables */
	List *attnums;     /* UPDATE: columns that are set */
	List *values;      /* their new values */
	List *returning;   /* attribute numbers that come back */
	List *others;      /* members of the join's row that come back behind; NIL unless joined */
} DirectChange;

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

/* Finds out what is to be set; false if the engine cannot compute it. */
static bool
take_values(DirectChange *change)
{
	List *targets;
	ListCell *entry_cell;
	ListCell *attnum_cell;

	if (change->plan->operation != CMD_UPDATE)
		return true;
	get_translated_update_targetlist(change->root, change->target, &targets, &change->attnums);
	forboth(entry_cell, targets, attnum_cell, change->attnums)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, entry_cell);

		if (lfirst_int(attnum_cell) <= InvalidAttrNumber)
			elog(ERROR, "system-column update is not supported");
		if (!kakehashi_is_settable(change->root, change->rel, entry->expr))
			return false;
		change->values = lappend(change->values, entry->expr);
	}
	return true;
}

/* Whether rows have to be looked at before they are changed. */
static bool
needs_rows(const DirectChange *change)
{
	return change->plan->operation == CMD_UPDATE &&
	       (kakehashi_changes_generated(change->root, change->target, change->table) ||
	        may_leave_partition(change->table, change->attnums));
}

/* Finds out what comes back. */
static void
take_returning(DirectChange *change, int subplan_index)
{
	ModifyTable *plan = change->plan;

	change->returning = kakehashi_returning_columns(plan, change->target, subplan_index, change->table, false);
	if (plan->returningLists == NIL)
		return;
	if (change->returning == NIL)
		change->returning =
			list_make1_int(linitial_int(kakehashi_insert_columns(change->table))); /* one row each, at least */
	if (change->joined)
		change->others = other_columns(change->scan->fdw_scan_tlist,
		                               (List *) list_nth(plan->returningLists, subplan_index), change->target);
}

static void
deparse_values(const DirectChange *change, KakehashiDeparse *context)
{
	ListCell *value_cell;
	ListCell *attnum_cell;

	forboth(value_cell, change->values, attnum_cell, change->attnums)
	{
		AttrNumber attnum = (AttrNumber) lfirst_int(attnum_cell);
		Expr *value = (Expr *) lfirst(value_cell);
		const char *name;

		appendStringInfoString(context->buf, foreach_current_index(value_cell) == 0 ? " SET " : ", ");
		name = kakehashi_remote_column(RelationGetRelid(change->table), attnum);
		if (!kakehashi_is_set_to_default(change->table, attnum, value))
		{
			kakehashi_deparse_assignment(context, name, value);
			continue;
		}
		kakehashi_deparse_identifier(context->buf, name);
		appendStringInfoString(context->buf, " = DEFAULT");
	}
}

/* FROM or USING, the conditions, and RETURNING of a join whose rows are changed. */
static void
deparse_joined(const DirectChange *change, KakehashiDeparse *context)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) change->rel->fdw_private;
	List *conditions = NIL;
	ListCell *cell;
	const char *separator = " RETURNING ";

	kakehashi_deparse_others(context, change->plan->operation == CMD_UPDATE ? "FROM" : "USING", change->target,
	                         &conditions);
	kakehashi_deparse_where(context, "WHERE", list_concat(conditions, fpinfo->remote_conds), fpinfo->semi_joins);
	foreach (cell, change->returning)
	{
		appendStringInfo(context->buf, "%sr%u.", separator, change->target);
		kakehashi_deparse_names(context->buf, change->table, list_make1_int(lfirst_int(cell)));
		separator = ", ";
	}
	foreach (cell, change->others)
	{
		appendStringInfoString(context->buf, separator);
		kakehashi_deparse_expr(context,
		                       list_nth_node(TargetEntry, change->scan->fdw_scan_tlist, lfirst_int(cell) - 1)->expr);
		separator = ", ";
	}
}

static void
deparse_change(const DirectChange *change, KakehashiDeparse *context)
{
	appendStringInfoString(context->buf, change->plan->operation == CMD_UPDATE ? "UPDATE " : "DELETE FROM ");
	kakehashi_deparse_table(context->buf, change->table);
	if (change->joined)
		appendStringInfo(context->buf, " AS r%u", change->target);
	deparse_values(change, context);
	if (change->joined)
		deparse_joined(change, context);
	else
	{
		kakehashi_deparse_conditions(context, "WHERE", change->scan->fdw_recheck_quals);
		kakehashi_deparse_returning(context->buf, change->table, change->returning);
	}
}

/* The scan becomes the change. */
static void
rewrite_scan(const DirectChange *change, char *sql, List *params)
{
	ForeignScan *scan = change->scan;
	CmdType operation = change->plan->operation;
	ListCell *cell;

	scan->operation = operation;
	scan->resultRelation = change->target;
	/*
	 * The target list was for the executor to compute new values. With RETURNING it would be evaluated over the rows that
	 * come back, which are the new ones, and might fail on them. Columns stay: one tells which partition a row is of. Those that
	 * would find a row again do not, as rows that come back have no identity.
	 */
	foreach (cell, scan->scan.plan.targetlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (change->returning != NIL &&
		    (IsA(entry->expr, Var) ? is_of_identity((Var *) entry->expr) : operation == CMD_UPDATE))
			entry->expr = (Expr *) makeNullConst(exprType((Node *) entry->expr), exprTypmod((Node *) entry->expr),
			                                     exprCollation((Node *) entry->expr));
	}
	/* Of an inheritance tree, the scan may have been planned below an asynchronous Append. */
	scan->scan.plan.async_capable = false;
	scan->fdw_exprs = params;
	scan->fdw_private =
		list_make4(makeString(sql), change->returning, makeInteger(change->plan->canSetTag ? 1 : 0), change->others);
}

bool
kakehashi_plan_direct_modify(PlannerInfo *root, ModifyTable *plan, Index result_relation, int subplan_index)
{
	DirectChange change = {.root = root, .plan = plan, .target = result_relation};
	StringInfoData sql;
	KakehashiDeparse context = {.root = root, .buf = &sql};
	bool direct;

	if ((plan->operation != CMD_UPDATE && plan->operation != CMD_DELETE) ||
	    kakehashi_may_change_rows(root->parse->returningList))
		return false;
	change.scan = find_scan(plan, result_relation, subplan_index);
	if (change.scan == NULL || change.scan->scan.plan.qual != NIL ||
	    !kakehashi_server_can(change.scan->fs_server, KH_CAN_DIRECT_CHANGES))
		return false;
	kakehashi_server_require(change.scan->fs_server, KH_CAN_CHANGES);
	change.joined = change.scan->scan.scanrelid == 0;
	change.rel =
		change.joined ? find_join_rel(root, change.scan->fs_relids) : find_base_rel(root, (int) result_relation);
	if (!take_values(&change))
		return false;

	change.table = table_open(planner_rt_fetch(result_relation, root)->relid, NoLock);
	direct = !needs_rows(&change);
	if (direct)
	{
		take_returning(&change, subplan_index);
		if (change.returning != NIL)
			kakehashi_server_require(change.scan->fs_server, KH_CAN_RETURNING);
		initStringInfo(&sql);
		context.rel = change.rel;
		context.qualified = change.joined;
		deparse_change(&change, &context);
		rewrite_scan(&change, sql.data, context.params);
	}
	table_close(change.table, NoLock);
	return direct;
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

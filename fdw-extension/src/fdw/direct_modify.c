/*
 * UPDATE and DELETE as one statement of the engine.
 */
#include "kakehashi_plan.h"

#include "access/table.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "parser/parsetree.h"

typedef struct DirectModify
{
	char *sql;
	const char *relation;
	KakehashiSession *session;
	const void *snapshot_owner;
	KakehashiParameters *parameters;
	KakehashiResultMap *map; /* NULL: no RETURNING */
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
	if (((ForeignScan *) subplan)->scan.scanrelid != result_relation &&
	    (((ForeignScan *) subplan)->scan.scanrelid != 0 ||
	     !bms_is_member((int) result_relation, ((ForeignScan *) subplan)->fs_relids)))
		return NULL;
	return (ForeignScan *) subplan;
}

/*
 * A value that a domain may refuse is refused when a row gets it. As a parameter it would be refused before anybody knows whether there is a
 * row.
 */
static bool
has_domain_check(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, CoerceToDomain) || expression_tree_walker(node, has_domain_check, context);
}

/* The table whose rows the SEMI and ANTI joins of rel let through; NULL if there are other joins. */
static RelOptInfo *
outermost(RelOptInfo *rel)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) rel->fdw_private;

	while (fpinfo->outer != NULL)
	{
		if (fpinfo->join_type != JOIN_SEMI && fpinfo->join_type != JOIN_ANTI)
			return NULL;
		rel = fpinfo->outer;
		fpinfo = (KakehashiRelation *) rel->fdw_private;
	}
	return rel;
}

/*
 * What is decided here must be what PostgreSQL and kakehashi_plan_direct_modify decide later: there is no way to change the rows of a join one
 * by one.
 */
bool
kakehashi_can_change_directly(PlannerInfo *root, RelOptInfo *joinrel)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) joinrel->fdw_private;
	Query *parse = root->parse;
	RelOptInfo *target = outermost(joinrel);
	ListCell *cell;

	if ((parse->commandType != CMD_UPDATE && parse->commandType != CMD_DELETE) || target == NULL ||
	    fpinfo->local_conds != NIL || !bms_is_subset(root->all_baserels, joinrel->relids) ||
	    (int) target->relid != parse->resultRelation || bms_membership(root->all_result_relids) != BMS_SINGLETON ||
	    parse->returningList != NIL || parse->withCheckOptions != NIL || parse->hasTargetSRFs ||
	    has_row_triggers(root, target->relid, parse->commandType) || has_stored_generated_columns(root, target->relid))
		return false;
	foreach (cell, root->rowMarks)
	{
		if (lfirst_node(PlanRowMark, cell)->strength != LCS_NONE)
			return false;
	}
	foreach (cell, root->processed_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (!entry->resjunk &&
		    (!kakehashi_is_shippable(root, joinrel, entry->expr) || has_domain_check((Node *) entry->expr, NULL)))
			return false;
	}
	return true;
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
	ListCell *expr_cell;
	ListCell *attnum_cell;
	StringInfoData sql;
	KakehashiDeparse context = {.root = root, .buf = &sql};

	if (plan->operation != CMD_UPDATE && plan->operation != CMD_DELETE)
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
			if (!kakehashi_is_shippable(root, rel, entry->expr) || has_domain_check((Node *) entry->expr, NULL))
				return false;
			exprs = lappend(exprs, entry->expr);
		}
	}

	initStringInfo(&sql);
	relation = table_open(planner_rt_fetch(result_relation, root)->relid, NoLock);
	if (plan->operation == CMD_UPDATE && kakehashi_changes_generated(root, result_relation, relation))
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
		kakehashi_deparse_expr(&context, (Expr *) lfirst(expr_cell));
	}
	if (joined)
		kakehashi_deparse_where(&context, "WHERE", ((KakehashiRelation *) rel->fdw_private)->remote_conds,
		                        ((KakehashiRelation *) rel->fdw_private)->semi_joins);
	else
		kakehashi_deparse_conditions(&context, "WHERE", scan->fdw_recheck_quals);
	returning = kakehashi_returning_columns(plan, result_relation, subplan_index, relation, false);
	if (plan->returningLists != NIL && returning == NIL)
		returning = list_make1_int(linitial_int(kakehashi_insert_columns(relation))); /* one row each, at least */
	kakehashi_deparse_returning(&sql, relation, returning);
	table_close(relation, NoLock);

	/*
	 * The target list was for the executor to compute new values. With RETURNING it would be evaluated over the rows that
	 * come back, which are the new ones, and might fail on them. Columns stay: one tells which partition a row is of.
	 */
	foreach (expr_cell, scan->scan.plan.targetlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, expr_cell);

		if (returning != NIL && plan->operation == CMD_UPDATE && !IsA(entry->expr, Var))
			entry->expr = (Expr *) makeNullConst(exprType((Node *) entry->expr), exprTypmod((Node *) entry->expr),
			                                     exprCollation((Node *) entry->expr));
	}
	scan->operation = plan->operation;
	/* Of an inheritance tree, the scan may have been planned below an asynchronous Append. */
	scan->scan.plan.async_capable = false;
	scan->resultRelation = result_relation;
	scan->fdw_exprs = context.params;
	scan->fdw_private = list_make3(makeString(sql.data), returning, makeInteger(plan->canSetTag ? 1 : 0));
	return true;
}

void
kakehashi_begin_direct_modify(ForeignScanState *node, int eflags)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	Relation rel = node->resultRelInfo->ri_RelationDesc;
	List *returning = (List *) list_nth(plan->fdw_private, KAKEHASHI_DIRECT_RETURNING);
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

	if (direct->map != NULL)
		kakehashi_result_check(direct->map, RelationGetDescr(node->ss.ss_currentRelation), direct->relation, statement);
	direct->call = kakehashi_execute_statement(direct->session, statement, direct->snapshot_owner, row, bytes);
	direct->cost.timed = node->ss.ps.instrument != NULL;
	kakehashi_call_measure(direct->call, &direct->cost);
}

void
kakehashi_explain_direct_cost(ForeignScanState *node, struct ExplainState *es)
{
	const DirectModify *direct = (const DirectModify *) node->fdw_state;

	kakehashi_explain_cost(&direct->cost, direct->map != NULL, es);
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
	kakehashi_result_store(direct->map, &direct->batch, direct->next_row++, slot);
	count_rows(node, direct, 1);
	/* The rows of RETURNING are taken from here, not from the plan's output. */
	node->resultRelInfo->ri_projectReturning->pi_exprContext->ecxt_scantuple = slot;
	return slot;
}

void
kakehashi_end_direct_modify(ForeignScanState *node)
{
	DirectModify *direct = (DirectModify *) node->fdw_state;

	if (direct == NULL)
		return;
	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (direct->call != NULL)
	{
		kakehashi_call_end(direct->call);
		pfree(direct->call);
		direct->call = NULL;
	}
	kakehashi_count(RelationGetRelid(node->resultRelInfo->ri_RelationDesc), &direct->cost);
}

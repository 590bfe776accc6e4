/*
 * Scans: a request, and its batches as they come.
 *
 * A row handed to the executor points into the batch it came in. The batch is given back when the row after its last is
 * asked for, which is when the executor has let go of the last one.
 */
#include "fdw/scan/scan.h"
#include "fdw/plan/plan.h"
#include "fdw/explain/explain.h"

#include "access/parallel.h"
#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/execAsync.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "tcop/pquery.h"
#include "utils/memutils.h"

static bool
has_exec_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXEC;
	return expression_tree_walker(node, has_exec_param, context);
}

/*
 * A cursor shows its tables as they were when it was declared, whatever the transaction has changed or rolled back before rows are fetched:
 * then the request has to be sent when its plan begins. Half of the response slots are left to other cursors and statements; a
 * cursor over more tables reads them when they come to be fetched.
 */
static bool
is_due_at_once(const ForeignScanState *node, const ForeignScan *plan, const KakehashiSession *session)
{
	const PlannedStmt *statement = node->ss.ps.state->es_plannedstmt;

	if (statement->commandType != CMD_SELECT || statement->hasModifyingCTE || statement->rowMarks != NIL)
		return false;
	return ActivePortal != NULL && ActivePortal->status == PORTAL_DEFINED && ActivePortal->name[0] != '\0' &&
	       !plan->scan.plan.parallel_aware && !has_exec_param((Node *) plan->fdw_exprs, NULL) &&
	       kakehashi_has_slots_to_spare(session);
}

void
kakehashi_begin_scan(ForeignScanState *node, int eflags)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	Relation rel = node->ss.ss_currentRelation;
	RemoteScan *state;

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	state = (RemoteScan *) palloc0(sizeof(RemoteScan));
	node->fdw_state = state;
	state->sql = strVal(list_nth(plan->fdw_private, KAKEHASHI_SCAN_SQL));
	state->relation = rel != NULL ? RelationGetRelationName(rel) : "remote query";
	state->map = kakehashi_result_map(node->ss.ss_ScanTupleSlot->tts_tupleDescriptor,
	                                  (List *) list_nth(plan->fdw_private, KAKEHASHI_SCAN_RETRIEVED), state->relation);
	kakehashi_result_add_rows(state->map, plan->fdw_scan_tlist,
	                          (List *) list_nth(plan->fdw_private, KAKEHASHI_SCAN_ROWS), node->ss.ps.state);
	state->map->identified = state->map->identity != NULL && plan->fsSystemCol;
	/* The leader alone sends the request. */
	if (plan->scan.plan.parallel_aware && IsParallelWorker())
		return;
	state->user = GetUserMapping(kakehashi_scan_user(node), plan->fs_server);
	state->parameters = kakehashi_parameters_create(&node->ss.ps, plan->fdw_exprs);
	state->direct.reads_once = kakehashi_reads_once(node, eflags);
	state->snapshot_owner = kakehashi_snapshot_owner(node->ss.ps.state);
	/* Refused here if there is no endpoint; the request itself waits until a row is wanted. */
	state->session = kakehashi_session_get(state->user);
	if (!plan->scan.plan.parallel_aware)
		state->ahead = kakehashi_ahead_create(&node->ss.ps);
	if (is_due_at_once(node, plan, state->session))
		kakehashi_scan_send(node, state);
}

/* Rows that come before others are asked for: at most those of the batch. */
static void
look_ahead(ForeignScanState *node, RemoteScan *state)
{
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	uint32 rows = (uint32) kakehashi_ahead_begin(state->ahead);
	uint32 end = Min(state->next_row + rows, state->batch.row_count);

	for (uint32 row = state->next_row; row < end; row++)
	{
		kakehashi_result_store(state->map, &state->batch, row, slot);
		kakehashi_ahead_add(state->ahead, slot);
	}
	ExecClearTuple(slot);
	kakehashi_ahead_send(state->ahead);
	state->ahead_row = end;
}

TupleTableSlot *
kakehashi_iterate_scan(ForeignScanState *node)
{
	RemoteScan *state = (RemoteScan *) node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	if (state->took_foreseen)
		return ExecClearTuple(slot);
	if (!state->begun)
	{
		if (state->share != NULL)
			kakehashi_scan_join(node, state);
		else if (state->foreseen != NULL && kakehashi_foreseen_take(node, state))
		{
			state->took_foreseen = true;
			return slot;
		}
		else
			kakehashi_scan_send(node, state);
	}
	while (!state->has_batch || state->next_row >= state->batch.row_count)
	{
		ExecClearTuple(slot);
		if (state->call == NULL || state->call->finished)
			return slot;
		if (state->has_batch && state->call->ipc != NULL)
			kh_call_release(state->call->ipc);
		state->has_batch = false;
		if (!kakehashi_call_next_batch(state->call, &state->batch))
		{
			/* Others may still read what they have drawn. */
			if (state->shared)
				return slot;
			kakehashi_call_end(state->call);
			pfree(state->call);
			state->call = NULL;
			return slot;
		}
		state->has_batch = true;
		state->next_row = 0;
		state->ahead_row = 0;
	}
	/* The batch went with the call if a rollback has ended it. */
	if (state->call != NULL && state->call->ipc == NULL)
		(void) kakehashi_call_next_batch(state->call, &state->batch);
	if (state->ahead != NULL && state->next_row >= state->ahead_row)
		look_ahead(node, state);
	kakehashi_result_store(state->map, &state->batch, state->next_row++, slot);
	return slot;
}

void
kakehashi_rescan(ForeignScanState *node)
{
	RemoteScan *state = (RemoteScan *) node->fdw_state;

	/* The row in the slot points into a batch that is about to go. */
	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	state->took_foreseen = false;
	/* A parallel scan is begun again by its leader, for all; that may have happened already. */
	if (state->shared)
	{
		state->has_batch = false;
		return;
	}
	kakehashi_scan_end_request(state);
}

void
kakehashi_end_scan(ForeignScanState *node)
{
	RemoteScan *state = (RemoteScan *) node->fdw_state;

	if (state == NULL)
		return;
	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	kakehashi_foreseen_drop(state);
	kakehashi_scan_end_request(state);
	if (node->ss.ss_currentRelation != NULL)
		kakehashi_count(RelationGetRelid(node->ss.ss_currentRelation), &state->cost);
}

/* Whether the statement can be executed once more for what its operators do: it changes and locks nothing, and its values are known. */
static bool
can_repeat(const ForeignScanState *node, const ForeignScan *plan)
{
	const PlannedStmt *statement = node->ss.ps.state->es_plannedstmt;
	const RemoteScan *state = (const RemoteScan *) node->fdw_state;

	return state != NULL && state->cost.requests > 0 && statement->commandType == CMD_SELECT &&
	       !statement->hasModifyingCTE && statement->rowMarks == NIL && !has_exec_param((Node *) plan->fdw_exprs, NULL);
}

static void
explain_remote_plan(ForeignScanState *node, ExplainState *es)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	KakehashiSession *session = kakehashi_session_get(GetUserMapping(kakehashi_scan_user(node), plan->fs_server));
	const char *sql = strVal(list_nth(plan->fdw_private, KAKEHASHI_SCAN_SQL));
	KakehashiParameters *parameters;

	if (!es->analyze || !can_repeat(node, plan))
	{
		kakehashi_explain_on_engine(session, sql, plan->fdw_exprs, NULL, NULL, es);
		return;
	}
	parameters = ((RemoteScan *) node->fdw_state)->parameters;
	kakehashi_parameters_evaluate(parameters, node->ss.ps.ps_ExprContext);
	kakehashi_explain_on_engine(session, sql, plan->fdw_exprs, parameters->values, parameters->nulls, es);
}

void
kakehashi_explain_scan(ForeignScanState *node, ExplainState *es)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;

	if (!es->verbose)
		return;
	ExplainPropertyText("Remote SQL", strVal(list_nth(plan->fdw_private, KAKEHASHI_SCAN_SQL)), es);
	kakehashi_explain_parameters(&node->ss.ps, plan->fdw_exprs, 0, es);
	if (es->analyze && node->fdw_state != NULL)
		kakehashi_explain_requests(&((RemoteScan *) node->fdw_state)->cost, true, es);
	if (kakehashi_explain_remote_plan)
		explain_remote_plan(node, es);
}

/*
 * Several scans below one Append: all requests are sent before any answer is waited for. What is waited for is memory and
 * no file descriptor, so that Append's set of events stays without ours: asked to configure its wait, a scan looks whether
 * it has an answer, and if Append has nothing else to do sleeps a moment over it.
 */
#define ASYNC_SLICE_NANOS INT64CONST(1000000)

bool
kakehashi_is_async_capable(ForeignPath *path)
{
	KakehashiRelation *fpinfo = (KakehashiRelation *) path->path.parent->fdw_private;

	if (fpinfo == NULL || kakehashi_positions() == KAKEHASHI_POSITIONED)
		return false;
	if (fpinfo->is_upper)
		fpinfo = (KakehashiRelation *) ((KakehashiUpper *) fpinfo)->scan->fdw_private;
	return fpinfo->options.async_capable;
}

static bool
is_ready(RemoteScan *state, int64 timeout_nanos)
{
	if (state->has_batch && state->next_row < state->batch.row_count)
		return true;
	if (state->call == NULL)
		return true;
	/* The batch that is read to its end would count as an answer. */
	if (state->has_batch && state->call->ipc != NULL)
		kh_call_release(state->call->ipc);
	state->has_batch = false;
	return kakehashi_call_is_ready(state->call, timeout_nanos);
}

/* The request of a scan of the session below this Append that has not ended. */
/* Scans of one Append that the engine works on at a time. */
#define MOST_UNDER_WAY 8

static bool
is_under_way(const AsyncRequest *areq, const KakehashiSession *session)
{
	const ForeignScanState *node;
	const RemoteScan *state;

	if (areq == NULL)
		return false;
	node = (const ForeignScanState *) areq->requestee;
	if (node->fdwroutine->ForeignAsyncRequest != kakehashi_async_request)
		return false;
	state = (const RemoteScan *) node->fdw_state;
	return state->call != NULL && state->call->session == session;
}

/*
 * A table may have more partitions than the engine should work on at a time. Who finds so many scans of the Append under way
 * begins when one of them has ended.
 */
static bool
may_begin(const AsyncRequest *areq, RemoteScan *state)
{
	const AppendState *append = (const AppendState *) areq->requestor;
	int under_way = 0;

	state->session = kakehashi_session_get(state->user);
	for (int i = 0; i < append->as_nplans; i++)
		under_way += is_under_way(append->as_asyncrequests[i], state->session) ? 1 : 0;
	return under_way == 0 || (under_way < MOST_UNDER_WAY && kakehashi_has_slots_to_spare(state->session));
}

void
kakehashi_async_request(AsyncRequest *areq)
{
	ForeignScanState *node = (ForeignScanState *) areq->requestee;
	RemoteScan *state = (RemoteScan *) node->fdw_state;
	bool begun = state->begun;

	if (begun)
		ExecClearTuple(node->ss.ss_ScanTupleSlot);
	else if (may_begin(areq, state))
		kakehashi_scan_send(node, state);
	if (!begun || !is_ready(state, 0))
		ExecAsyncRequestPending(areq);
	else
		ExecAsyncRequestDone(areq, areq->requestee->ExecProcNodeReal(areq->requestee));
}

static void
answer(AsyncRequest *areq)
{
	areq->callback_pending = false;
	ExecAsyncRequestDone(areq, areq->requestee->ExecProcNodeReal(areq->requestee));
	ExecAsyncResponse(areq);
	/* Not counted by the caller. */
	if (areq->requestee->instrument != NULL)
		InstrUpdateTupleCount(areq->requestee->instrument, TupIsNull(areq->result) ? 0.0 : 1.0);
}

void
kakehashi_async_configure_wait(AsyncRequest *areq)
{
	ForeignScanState *node = (ForeignScanState *) areq->requestee;
	RemoteScan *state = (RemoteScan *) node->fdw_state;
	AppendState *append = (AppendState *) areq->requestor;

	if (!state->begun)
	{
		if (!may_begin(areq, state))
			return;
		kakehashi_scan_send(node, state);
	}
	/* Others may have more to say: nobody sleeps long, and not at all while there is a subplan to run meanwhile. */
	if (is_ready(state, append->as_syncdone && bms_is_empty(append->as_needrequest) ? ASYNC_SLICE_NANOS : 0))
		answer(areq);
}

void
kakehashi_async_notify(AsyncRequest *areq)
{
	/* No event is ever configured, so none happens. */
	elog(ERROR, "unexpected notification of an asynchronous foreign scan");
}

/*
 * The request of a scan: its parameters, when it may be sent, its end. What goes on between is that of scan.c, parallel_scan.c and ahead.c.
 */
#include "fdw/scan/scan.h"
#include "fdw/plan/plan.h"
#include "fdw/transaction/transaction.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

Oid
kakehashi_scan_user(ForeignScanState *node)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;

#if PG_VERSION_NUM >= 160000
	return OidIsValid(plan->checkAsUser) ? plan->checkAsUser : GetUserId();
#else
	Oid user;

	if (plan->operation == CMD_SELECT && plan->scan.scanrelid == 0)
		/* What it reads may be queries, of which none is a table of this plan. */
		user = (Oid) intVal(list_nth(plan->fdw_private, KAKEHASHI_SCAN_USER));
	else
	{
		/* Relations of one join have one user. */
		Index rtindex = plan->scan.scanrelid > 0 ? plan->scan.scanrelid : (Index) bms_next_member(plan->fs_relids, -1);

		user = exec_rt_fetch(rtindex, node->ss.ps.state)->checkAsUser;
	}
	return OidIsValid(user) ? user : GetUserId();
#endif
}

KakehashiParameters *
kakehashi_parameters_create(PlanState *node, List *exprs)
{
	KakehashiParameters *parameters = (KakehashiParameters *) palloc0(sizeof(KakehashiParameters));
	Oid *types = (Oid *) palloc(Max(list_length(exprs), 1) * sizeof(Oid));
	ListCell *cell;

	parameters->count = list_length(exprs);
	parameters->states = ExecInitExprList(exprs, node);
	parameters->values = (Datum *) palloc(Max(parameters->count, 1) * sizeof(Datum));
	parameters->nulls = (bool *) palloc(Max(parameters->count, 1) * sizeof(bool));
	foreach (cell, exprs)
	{
		types[foreach_current_index(cell)] = kakehashi_parameter_type((Node *) lfirst(cell));
	}
	parameters->writer = kakehashi_row_writer_create(CurrentMemoryContext, parameters->count, types);
	return parameters;
}

void
kakehashi_parameters_evaluate(KakehashiParameters *parameters, ExprContext *econtext)
{
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	ListCell *cell;

	foreach (cell, parameters->states)
	{
		int i = foreach_current_index(cell);

		const ExprState *state = (const ExprState *) lfirst(cell);

		parameters->values[i] = IsA(state->expr, CurrentOfExpr)
		                            ? kakehashi_current_of((const CurrentOfExpr *) state->expr, econtext,
		                                                   econtext->ecxt_estate, &parameters->nulls[i])
		                            : ExecEvalExpr((ExprState *) lfirst(cell), econtext, &parameters->nulls[i]);
	}
	MemoryContextSwitchTo(old);
}

const void *
kakehashi_parameters_row(KakehashiParameters *parameters, ExprContext *econtext, KakehashiSession *session,
                         uint32 *bytes)
{
	*bytes = 0;
	if (parameters->count == 0)
		return NULL;
	kakehashi_parameters_evaluate(parameters, econtext);
	kakehashi_row_writer_start(parameters->writer, session, 1);
	if (!kakehashi_row_writer_add(parameters->writer, parameters->values, parameters->nulls))
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
		                errmsg("parameters of the remote statement exceed the endpoint's limit of %u bytes",
		                       kh_session_limits(session->ipc)->max_batch_bytes),
		                errhint("Raise \"max_batch_bytes\" of the endpoint.")));
	return kakehashi_row_writer_finish(parameters->writer, bytes);
}

bool
kakehashi_has_slots_to_spare(const KakehashiSession *session)
{
	return kh_session_free_slots(session->ipc) > kh_session_limits(session->ipc)->slots / 2;
}

KakehashiStatement *
kakehashi_scan_statement(ForeignScanState *node, RemoteScan *state)
{
	KakehashiStatement *statement =
		kakehashi_statement_get(state->session, state->sql, state->parameters->writer->types, state->parameters->count);

	kakehashi_result_check(state->map, node->ss.ss_ScanTupleSlot->tts_tupleDescriptor, state->relation, state->session,
	                       &statement);
	return statement;
}

static KakehashiCall *
execute(ForeignScanState *node, RemoteScan *state, KakehashiStatement *statement, const void *rows, uint32 bytes)
{
	MemoryContext old = MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);
	KakehashiCall *call = kakehashi_execute_statement(state->session, statement, state->snapshot_owner, rows, bytes);

	MemoryContextSwitchTo(old);
	state->cost.timed = node->ss.ps.instrument != NULL;
	kakehashi_call_measure(call, &state->cost);
	return call;
}

KakehashiCall *
kakehashi_scan_execute(ForeignScanState *node, RemoteScan *state, const void *rows, uint32 bytes)
{
	return execute(node, state, kakehashi_scan_statement(node, state), rows, bytes);
}

void
kakehashi_scan_send(ForeignScanState *node, RemoteScan *state)
{
	KakehashiStatement *statement;
	const void *row;
	uint32 bytes;

	/* A cursor may have been declared long ago. */
	kakehashi_snapshot_settle(state->snapshot_owner);
	state->session = kakehashi_session_get(state->user);
	row = kakehashi_parameters_row(state->parameters, node->ss.ps.ps_ExprContext, state->session, &bytes);
	statement = kakehashi_scan_statement(node, state);
	if (!kakehashi_read_directly(&state->direct, node->ss.ps.state, state->session, &statement, row, bytes,
	                             &state->cost, &state->batch, &state->has_batch))
	{
		if (statement == NULL)
			statement = kakehashi_scan_statement(node, state);
		state->call = execute(node, state, statement, row, bytes);
	}
	state->next_row = 0;
	state->begun = true;
}

/* A worker of a parallel scan borrows the call. */
static void
leave(RemoteScan *state)
{
	if (state->borrowed != NULL)
		kh_detach(state->borrowed);
	state->borrowed = NULL;
	state->call = NULL;
}

void
kakehashi_scan_end_request(RemoteScan *state)
{
	if (state->share != NULL)
		leave(state);
	if (state->call != NULL)
	{
		kakehashi_call_end(state->call);
		pfree(state->call);
	}
	state->call = NULL;
	state->begun = false;
	state->has_batch = false;
	state->shared = false;
}

/*
 * Execution of joins that send keys in batches, see lookup.c.
 *
 * Rows of the outer side are copied; then what the engine found for each, see lookup_request.c, is joined to them as it comes. The joined row points into the copy and into the batch that the found row came in; both stay until the next
 * row is asked for.
 */
#include "fdw/lookup/lookup.h"
#include "fdw/explain/explain.h"

#include "catalog/pg_type.h"
#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "utils/memutils.h"

static void
begin_lookup(CustomScanState *node, EState *estate, int eflags)
{
	LookupState *state = (LookupState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	List *integers = (List *) list_nth(plan->custom_private, KAKEHASHI_LOOKUP_INTEGERS);
	List *oids = (List *) list_nth(plan->custom_private, KAKEHASHI_LOOKUP_OIDS);
	TupleDesc desc = node->ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	List *attnums = NIL;
	Oid user;

	state->outer = ExecInitNode((Plan *) linitial(plan->custom_plans), estate, eflags);
	node->custom_ps = list_make1(state->outer);
	state->sql = strVal(list_nth(plan->custom_private, KAKEHASHI_LOOKUP_SQL));
	state->relation = strVal(list_nth(plan->custom_private, KAKEHASHI_LOOKUP_RELATION));
	state->join_type = (JoinType) list_nth_int(integers, KAKEHASHI_LOOKUP_JOIN_TYPE);
	state->outer_columns = list_nth_int(integers, KAKEHASHI_LOOKUP_OUTER_COLUMNS);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;

	for (int i = state->outer_columns; i < desc->natts; i++)
		attnums = lappend_int(attnums, i + 1);
	state->map = kakehashi_result_map(desc, attnums, state->relation);
	state->map->before = 1;
	state->parameters = kakehashi_parameters_create(&node->ss.ps, plan->custom_exprs);
	state->snapshot_owner = kakehashi_snapshot_owner(estate);
	user = lsecond_oid(oids);
	state->user = GetUserMapping(OidIsValid(user) ? user : GetUserId(), linitial_oid(oids));
	state->outer_slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(state->outer), &TTSOpsMinimalTuple);
	state->context = AllocSetContextCreate(estate->es_query_cxt, "kakehashi lookup rows", ALLOCSET_DEFAULT_SIZES);
	state->rows = (MinimalTuple *) palloc(KAKEHASHI_LOOKUP_MAX_ROWS * sizeof(MinimalTuple));
	state->direct.reads_once = kakehashi_join_reads_once(node, eflags);
	state->row_limit = KAKEHASHI_LOOKUP_FIRST_ROWS;
	if (state->join_type == JOIN_INNER || state->join_type == JOIN_LEFT)
		state->ahead = kakehashi_ahead_create(&node->ss.ps);
	/* Refused here if there is no endpoint; the first request waits until a row is wanted. */
	state->direct.reads_once =
		state->direct.reads_once && kh_session_reads_directly(kakehashi_session_get(state->user)->ipc);
	if (state->direct.reads_once)
		state->row_limit = KAKEHASHI_LOOKUP_MAX_ROWS;
}

static TupleTableSlot *
store_joined(LookupState *state)
{
	TupleTableSlot *slot = kakehashi_lookup_store_outer(state, state->rows[state->position]);

	kakehashi_result_values(state->map, &state->batch, state->batch_row, slot->tts_values, slot->tts_isnull);
	return slot;
}

/* What the current found row makes of the current outer row; NULL: nothing by itself. */
static TupleTableSlot *
match(LookupState *state)
{
	bool first = !state->matched;

	state->matched = true;
	state->used = true;
	switch (state->join_type)
	{
		case JOIN_ANTI:
			return NULL;
		case JOIN_SEMI:
			return first ? kakehashi_lookup_store_outer(state, state->rows[state->position]) : NULL;
		default:
			return store_joined(state);
	}
}

static TupleTableSlot *
next_row(ScanState *node)
{
	LookupState *state = (LookupState *) node;
	TupleTableSlot *result;

	for (;;)
	{
		bool alone;

		CHECK_FOR_INTERRUPTS();
		if (state->position >= state->sent && !kakehashi_lookup_request(state))
			return ExecClearTuple(node->ss_ScanTupleSlot);
		if (state->used)
		{
			ExecClearTuple(node->ss_ScanTupleSlot);
			kakehashi_lookup_next_found(state);
		}
		if (state->position >= state->sent)
			continue;
		if (state->found == state->position)
		{
			result = match(state);
			if (result != NULL)
				return result;
			continue;
		}
		alone = !state->matched && (state->join_type == JOIN_LEFT || state->join_type == JOIN_ANTI);
		state->matched = false;
		state->position++;
		if (alone)
			return kakehashi_lookup_store_outer(state, state->rows[state->position - 1]);
	}
}

static bool
recheck_row(ScanState *node, TupleTableSlot *slot)
{
	return true;
}

static TupleTableSlot *
execute_lookup(CustomScanState *node)
{
	return ExecScan(&node->ss, next_row, recheck_row);
}

static void
reset(LookupState *state)
{
	if (state->parameters == NULL)
		return;
	ExecClearTuple(state->scan.ss.ss_ScanTupleSlot);
	ExecClearTuple(state->outer_slot);
	kakehashi_lookup_drop(state);
}

static void
end_lookup(CustomScanState *node)
{
	reset((LookupState *) node);
	ExecEndNode(((LookupState *) node)->outer);
}

static void
rescan_lookup(CustomScanState *node)
{
	LookupState *state = (LookupState *) node;

	reset(state);
	state->direct.reads_once = false;
	state->row_limit = KAKEHASHI_LOOKUP_FIRST_ROWS;
	if (node->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(state->outer, node->ss.ps.chgParam);
	if (state->outer->chgParam == NULL)
		ExecReScan(state->outer);
}

static void
explain_lookup(CustomScanState *node, List *ancestors, ExplainState *es)
{
	LookupState *state = (LookupState *) node;
	const char *join = state->join_type == JOIN_LEFT   ? "Left"
	                   : state->join_type == JOIN_SEMI ? "Semi"
	                   : state->join_type == JOIN_ANTI ? "Anti"
	                                                   : "Inner";

	ExplainPropertyText("Join Type", join, es);
	if (es->verbose)
	{
		ExplainPropertyText("Remote SQL", state->sql, es);
		kakehashi_explain_parameters(&node->ss.ps, ((CustomScan *) node->ss.ps.plan)->custom_exprs, 1, es);
	}
	if (!es->analyze)
		return;
	ExplainPropertyUInteger("Requests", NULL, state->cost.requests, es);
	kakehashi_explain_direct(&state->cost, es);
	if (es->verbose)
		kakehashi_explain_cost(&state->cost, true, es);
}

static const CustomExecMethods exec_methods = {.CustomName = "KakehashiLookup",
                                               .BeginCustomScan = begin_lookup,
                                               .ExecCustomScan = execute_lookup,
                                               .EndCustomScan = end_lookup,
                                               .ReScanCustomScan = rescan_lookup,
                                               .ExplainCustomScan = explain_lookup};

Node *
kakehashi_create_lookup_state(CustomScan *plan)
{
	LookupState *state = (LookupState *) palloc0(sizeof(LookupState));

	NodeSetTag(state, T_CustomScanState);
	state->scan.methods = &exec_methods;
	return (Node *) &state->scan;
}

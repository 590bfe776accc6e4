/*
 * Execution of joins that send keys in batches, see lookup.c.
 *
 * Rows of the outer side are copied, as many as go into one request; then what the engine found for each is joined to them
 * as it comes. The joined row points into the copy and into the batch that the found row came in; both stay until the next
 * row is asked for.
 */
#include "kakehashi_plan.h"

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

/* Rows of the first request, and of later ones: a LIMIT above should not have to wait for many, the rest should be few. */
#define FIRST_ROWS 64
#define MAX_ROWS 1024

typedef struct LookupState
{
	CustomScanState scan; /* first */
	PlanState *outer;
	const char *sql;
	const char *relation;
	JoinType join_type;
	int outer_columns;
	UserMapping *user;
	const void *snapshot_owner;
	KakehashiParameters *parameters;
	KakehashiResultMap *map;
	TupleTableSlot *outer_slot; /* the outer row that is joined */

	/* Rows under way */
	MemoryContext context; /* of rows; reset with each request */
	MinimalTuple *rows;
	int row_limit; /* of the next request */
	int row_count;
	MinimalTuple kept; /* did not fit into the last request; in the context of the query */
	bool outer_ended;

	/* The answer */
	KakehashiCall *call; /* NULL: none, or all of it is read */
	bool open;           /* rows are being joined */
	bool has_batch;
	kh_batch batch;
	uint32 batch_row;
	int found;    /* number of the outer row that the current found row belongs to; row_count: no more */
	int position; /* outer row that is joined */
	bool matched; /* a row has been found for it */
	bool used;    /* the current found row has been handed out or looked at */
	KakehashiAhead *ahead;
	uint32 ahead_row; /* of batch: nothing is foreseen from here on */
	KakehashiCost cost;
} LookupState;

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
	state->rows = (MinimalTuple *) palloc(MAX_ROWS * sizeof(MinimalTuple));
	state->row_limit = FIRST_ROWS;
	if (state->join_type == JOIN_INNER || state->join_type == JOIN_LEFT)
		state->ahead = kakehashi_ahead_create(&node->ss.ps);
	/* Refused here if there is no endpoint; the first request waits until a row is wanted. */
	(void) kakehashi_session_get(state->user);
}

static MinimalTuple
copy_row(MinimalTuple row)
{
#if PG_VERSION_NUM >= 180000
	return heap_copy_minimal_tuple(row, 0);
#else
	return heap_copy_minimal_tuple(row);
#endif
}

/* The outer part of the joined row; the rest is null. */
static TupleTableSlot *
store_outer(LookupState *state, MinimalTuple row)
{
	TupleTableSlot *slot = state->scan.ss.ss_ScanTupleSlot;
	int natts = slot->tts_tupleDescriptor->natts;

	ExecClearTuple(slot);
	ExecForceStoreMinimalTuple(row, state->outer_slot, false);
	slot_getallattrs(state->outer_slot);
	memcpy(slot->tts_values, state->outer_slot->tts_values, state->outer_columns * sizeof(Datum));
	memcpy(slot->tts_isnull, state->outer_slot->tts_isnull, state->outer_columns * sizeof(bool));
	for (int i = state->outer_columns; i < natts; i++)
	{
		slot->tts_values[i] = (Datum) 0;
		slot->tts_isnull[i] = true;
	}
	return ExecStoreVirtualTuple(slot);
}

static TupleTableSlot *
store_joined(LookupState *state)
{
	TupleTableSlot *slot = store_outer(state, state->rows[state->position]);

	kakehashi_result_values(state->map, &state->batch, state->batch_row, slot->tts_values, slot->tts_isnull);
	return slot;
}

/* The next row of the outer side in the context of the request, or NULL. */
static MinimalTuple
next_outer(LookupState *state)
{
	MinimalTuple row = state->kept;
	MemoryContext old;
	TupleTableSlot *slot;

	if (row != NULL)
	{
		old = MemoryContextSwitchTo(state->context);
		state->kept = copy_row(row);
		MemoryContextSwitchTo(old);
		pfree(row);
		row = state->kept;
		state->kept = NULL;
		return row;
	}
	slot = ExecProcNode(state->outer);
	if (TupIsNull(slot))
	{
		state->outer_ended = true;
		return NULL;
	}
	old = MemoryContextSwitchTo(state->context);
	row = ExecCopySlotMinimalTuple(slot);
	MemoryContextSwitchTo(old);
	return row;
}

/* False if the row does not fit into the request. */
static bool
add_keys(LookupState *state, MinimalTuple row)
{
	ExprContext *econtext = state->scan.ss.ps.ps_ExprContext;
	KakehashiParameters *parameters = state->parameters;

	ResetExprContext(econtext);
	econtext->ecxt_scantuple = store_outer(state, row);
	kakehashi_parameters_evaluate(parameters, econtext);
	parameters->values[0] = Int32GetDatum(state->row_count);
	parameters->nulls[0] = false;
	return kakehashi_row_writer_add(parameters->writer, parameters->values, parameters->nulls);
}

/* Reads rows of the outer side and sends their keys; false if there is none. */
static bool
begin_request(LookupState *state)
{
	KakehashiSession *session = kakehashi_session_get(state->user);
	KakehashiParameters *parameters = state->parameters;
	EState *estate = state->scan.ss.ps.state;
	KakehashiStatement *statement;
	MemoryContext old;
	const void *rows;
	uint32 bytes;

	ExecClearTuple(state->scan.ss.ss_ScanTupleSlot);
	ExecClearTuple(state->outer_slot);
	MemoryContextReset(state->context);
	state->row_count = 0;
	kakehashi_row_writer_start(parameters->writer, session, MAX_ROWS);
	while (state->row_count < state->row_limit && !state->outer_ended)
	{
		MinimalTuple row = next_outer(state);

		if (row == NULL)
			break;
		if (!add_keys(state, row))
		{
			if (state->row_count == 0)
				ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				                errmsg("parameters of the remote statement exceed the endpoint's limit of %u bytes",
				                       kh_session_limits(session->ipc)->max_batch_bytes),
				                errhint("Raise \"max_batch_bytes\" of the endpoint.")));
			old = MemoryContextSwitchTo(estate->es_query_cxt);
			state->kept = copy_row(row);
			MemoryContextSwitchTo(old);
			break;
		}
		state->rows[state->row_count++] = row;
	}
	if (state->row_count == 0)
		return false;
	state->row_limit = MAX_ROWS;

	/* The outer side may have rolled something back, or used the session. */
	session = kakehashi_session_get(state->user);
	rows = kakehashi_row_writer_finish(parameters->writer, &bytes);
	statement = kakehashi_statement_get(session, state->sql, parameters->writer->types, parameters->count);
	kakehashi_result_check(state->map, state->scan.ss.ss_ScanTupleSlot->tts_tupleDescriptor, state->relation,
	                       statement);
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	state->call = kakehashi_execute_statement(session, statement, state->snapshot_owner, rows, bytes);
	MemoryContextSwitchTo(old);
	state->cost.timed = state->scan.ss.ps.instrument != NULL;
	kakehashi_call_measure(state->call, &state->cost);
	state->open = true;
	state->position = 0;
	state->matched = false;
	state->used = true;
	state->found = -1;
	return true;
}

static void
end_request(LookupState *state)
{
	if (state->call != NULL)
	{
		kakehashi_call_end(state->call);
		pfree(state->call);
	}
	state->call = NULL;
	state->has_batch = false;
	state->open = false;
}

/* The outer row that the batch's current row was found for. */
static int
number_of_row(const LookupState *state, uint32 row, int least)
{
	int number = kh_batch_is_null(&state->batch, row, 0) ? -1 : (int32) kh_batch_word(&state->batch, row, 0);

	if (number < least || number >= state->row_count || number < 0)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
		                errmsg("the engine answered for row %d of %d after row %d", number, state->row_count, least),
		                errcontext("remote SQL command: %s", state->sql)));
	return number;
}

/* Found rows of the batch that come before others are asked for. */
static void
look_ahead(LookupState *state)
{
	TupleTableSlot *slot;
	uint32 rows = (uint32) kakehashi_ahead_begin(state->ahead);
	uint32 end = Min(state->batch_row + rows, state->batch.row_count);
	int number = state->found;

	for (uint32 row = state->batch_row; row < end; row++)
	{
		number = number_of_row(state, row, number);
		slot = store_outer(state, state->rows[number]);
		kakehashi_result_values(state->map, &state->batch, row, slot->tts_values, slot->tts_isnull);
		kakehashi_ahead_add(state->ahead, slot);
	}
	ExecClearTuple(state->scan.ss.ss_ScanTupleSlot);
	kakehashi_ahead_send(state->ahead);
	state->ahead_row = end;
}

/* Makes the next found row the current one; the joined row must have been let go of. */
static void
next_found(LookupState *state)
{
	state->used = false;
	if (state->has_batch)
		state->batch_row++;
	while (!state->has_batch || state->batch_row >= state->batch.row_count)
	{
		if (state->call == NULL)
		{
			state->found = state->row_count;
			return;
		}
		if (state->has_batch && state->call->ipc != NULL)
			kh_call_release(state->call->ipc);
		state->has_batch = false;
		if (!kakehashi_call_next_batch(state->call, &state->batch))
		{
			kakehashi_call_end(state->call);
			pfree(state->call);
			state->call = NULL;
			continue;
		}
		state->has_batch = true;
		state->batch_row = 0;
		state->ahead_row = 0;
	}
	/* The batch went with the call if a rollback has ended it. */
	if (state->call->ipc == NULL)
		(void) kakehashi_call_next_batch(state->call, &state->batch);
	state->found = number_of_row(state, state->batch_row, state->found);
	if (state->ahead != NULL && state->batch_row >= state->ahead_row)
		look_ahead(state);
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
			return first ? store_outer(state, state->rows[state->position]) : NULL;
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
		if (!state->open && !begin_request(state))
			return ExecClearTuple(node->ss_ScanTupleSlot);
		if (state->used)
		{
			ExecClearTuple(node->ss_ScanTupleSlot);
			next_found(state);
		}
		if (state->position >= state->row_count)
		{
			end_request(state);
			continue;
		}
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
			return store_outer(state, state->rows[state->position - 1]);
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
	end_request(state);
	if (state->kept != NULL)
		pfree(state->kept);
	state->kept = NULL;
	state->outer_ended = false;
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
	state->row_limit = FIRST_ROWS;
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

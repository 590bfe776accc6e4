/*
 * Requests of joins that send keys in batches, see lookup.c.
 *
 * Rows of the outer side are copied and numbered, and their keys are the parameter rows of one request, which the engine runs in order.
 * A LIMIT or EXISTS above may never come to some of them, so that one for which a condition fails must not end the query before
 * its turn. A request for several rows is tentative: where it fails, what has come holds, and the rest is asked about again
 * in halves, until the row that fails stands alone in its request.
 */
#include "fdw/lookup/lookup.h"
#include "fdw/transaction/transaction.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "utils/memutils.h"

/* The rows of the outer side that are kept for a request may have so many bytes, and one row more. */
#define ROWS_BYTES (1024 * 1024)

TupleTableSlot *
kakehashi_lookup_store_outer(LookupState *state, MinimalTuple row)
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

static void
end_call(LookupState *state)
{
	if (state->call != NULL)
	{
		kakehashi_call_end(state->call);
		pfree(state->call);
	}
	state->call = NULL;
	state->has_batch = false;
	state->direct_waits = false;
}

void
kakehashi_lookup_drop(LookupState *state)
{
	end_call(state);
	state->row_count = 0;
	state->sent = 0;
	state->position = 0;
	state->outer_ended = false;
}

static void
read_rows(LookupState *state)
{
	Size bytes = 0;

	MemoryContextReset(state->context);
	state->row_count = 0;
	state->position = 0;
	state->share = KAKEHASHI_LOOKUP_MAX_ROWS;
	while (state->row_count < state->row_limit && bytes < ROWS_BYTES && !state->outer_ended)
	{
		TupleTableSlot *slot = ExecProcNode(state->outer);
		MemoryContext old;
		MinimalTuple row;

		if (TupIsNull(slot))
		{
			state->outer_ended = true;
			break;
		}
		old = MemoryContextSwitchTo(state->context);
		row = ExecCopySlotMinimalTuple(slot);
		MemoryContextSwitchTo(old);
		bytes += row->t_len;
		state->rows[state->row_count++] = row;
	}
	state->row_limit = KAKEHASHI_LOOKUP_MAX_ROWS;
}

/* False if the row does not fit into the request. */
static bool
add_keys(LookupState *state, int row, int number)
{
	ExprContext *econtext = state->scan.ss.ps.ps_ExprContext;
	KakehashiParameters *parameters = state->parameters;

	ResetExprContext(econtext);
	econtext->ecxt_scantuple = kakehashi_lookup_store_outer(state, state->rows[row]);
	kakehashi_parameters_evaluate(parameters, econtext);
	parameters->values[0] = Int32GetDatum(number);
	parameters->nulls[0] = false;
	return kakehashi_row_writer_add(parameters->writer, parameters->values, parameters->nulls);
}

/* Of the row at position and those behind it, as many as are to be and fit. */
static void
write_keys(LookupState *state, KakehashiSession *session)
{
	int end = Min(state->position + (state->known > 0 ? 1 : state->share), state->row_count);
	bool fits = true;

	kakehashi_row_writer_start(state->parameters->writer, session, KAKEHASHI_LOOKUP_MAX_ROWS);
	state->sent = state->position;
	while (state->sent < end && add_keys(state, state->sent, state->sent))
		state->sent++;
	state->last = state->sent - 1;
	if (state->known > 0)
	{
		/*
		 * Found rows come in the same order as before if one task makes them, as it does for several rows of parameters. So this one stands
		 * there twice; nobody asks for what is found for the second.
		 */
		fits = state->sent > state->position && add_keys(state, state->position, state->sent);
		state->last = state->sent;
	}
	if (state->sent == state->position || !fits)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
		                errmsg("parameters of the remote statement exceed the endpoint's limit of %u bytes",
		                       kh_session_limits(session->ipc)->max_batch_bytes),
		                errhint("Raise \"max_batch_bytes\" of the endpoint.")));
}

/* The join's statement, which gives its columns. */
static KakehashiStatement *
statement_of(LookupState *state, KakehashiSession *session)
{
	KakehashiStatement *statement =
		kakehashi_statement_get(session, state->sql, state->parameters->writer->types, state->parameters->count);

	kakehashi_result_check(state->map, state->scan.ss.ss_ScanTupleSlot->tts_tupleDescriptor, state->relation, session,
	                       &statement);
	return statement;
}

static void
send_keys(LookupState *state)
{
	KakehashiSession *session = kakehashi_session_get(state->user);
	KakehashiStatement *statement;
	bool is_read;
	MemoryContext old;
	const void *rows;
	uint32 bytes;

	kakehashi_snapshot_settle(state->snapshot_owner);
	write_keys(state, session);
	/* What is evaluated for the keys may have used the session. */
	session = kakehashi_session_get(state->user);
	ExecClearTuple(state->scan.ss.ss_ScanTupleSlot);
	rows = kakehashi_row_writer_finish(state->parameters->writer, &bytes);
	statement = statement_of(state, session);
	state->used = true;
	state->found = -1;
	state->of_this = 0;
	/* One read is all that may be direct, so it has to be for all rows, and none follows. */
	state->direct.reads_once = state->direct.reads_once && state->outer_ended && state->sent == state->row_count;
	is_read = kakehashi_read_directly(&state->direct, state->scan.ss.ps.state, session, &statement, rows, bytes,
	                                  &state->cost, &state->direct_batch, &state->direct_waits);
	state->direct.reads_once = false;
	if (is_read)
		return;
	if (statement == NULL)
		statement = statement_of(state, session);
	old = MemoryContextSwitchTo(state->scan.ss.ps.state->es_query_cxt);
	state->call = kakehashi_execute_statement(session, statement, state->snapshot_owner, rows, bytes);
	MemoryContextSwitchTo(old);
	state->call->tentative = state->sent - state->position > 1;
	state->cost.timed = state->scan.ss.ps.instrument != NULL;
	kakehashi_call_measure(state->call, &state->cost);
}

bool
kakehashi_lookup_request(LookupState *state)
{
	end_call(state);
	ExecClearTuple(state->scan.ss.ss_ScanTupleSlot);
	ExecClearTuple(state->outer_slot);
	state->known = 0;
	state->matched = false;
	if (state->position >= state->row_count)
		read_rows(state);
	else if (state->share < KAKEHASHI_LOOKUP_MAX_ROWS)
		state->share = Max(state->share / 2, 1);
	if (state->row_count == 0)
		return false;
	send_keys(state);
	return true;
}

/* The request has failed. Rows before the one at position are joined; of what was found for that one some may have come. */
static void
ask_again(LookupState *state)
{
	state->share = Max((state->sent - state->position) / 2, 1);
	if (state->of_this > 0 && (state->join_type == JOIN_SEMI || state->join_type == JOIN_ANTI))
	{
		/* One is enough. */
		state->position++;
		state->matched = false;
		state->of_this = 0;
	}
	state->known = state->of_this;
	if (state->position < state->row_count)
		send_keys(state);
	else
		state->sent = state->position;
}

/* The outer row that a row of the batch was found for. */
static int
number_of_row(const LookupState *state, uint32 row, int least)
{
	int number = kh_batch_is_null(&state->batch, row, 0) ? -1 : (int32) kh_batch_word(&state->batch, row, 0);

	if (number < least || number > state->last || number < 0)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
		                errmsg("the engine answered for row %d of %d after row %d", number, state->last + 1, least),
		                kakehashi_sql_context(state->sql)));
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
		if (number >= state->sent)
			break;
		slot = kakehashi_lookup_store_outer(state, state->rows[number]);
		kakehashi_result_values(state->map, &state->batch, row, slot->tts_values, slot->tts_isnull);
		kakehashi_ahead_add(state->ahead, slot);
	}
	ExecClearTuple(state->scan.ss.ss_ScanTupleSlot);
	kakehashi_ahead_send(state->ahead);
	state->ahead_row = end;
}

/* Stands at the next row of the answer; false if there is none. */
static bool
advance(LookupState *state)
{
	bool failed;

	if (state->has_batch)
		state->batch_row++;
	while (!state->has_batch || state->batch_row >= state->batch.row_count)
	{
		if (state->direct_waits)
		{
			state->batch = state->direct_batch;
			state->direct_waits = false;
			state->has_batch = true;
			state->batch_row = 0;
			return true;
		}
		if (state->call == NULL)
			return false;
		if (state->has_batch && state->call->ipc != NULL)
			kh_call_release(state->call->ipc);
		state->has_batch = kakehashi_call_next_batch(state->call, &state->batch);
		state->batch_row = 0;
		state->ahead_row = 0;
		if (state->has_batch)
			continue;
		failed = kakehashi_call_failed(state->call);
		end_call(state);
		if (failed)
			ask_again(state);
	}
	/* The batch went with the call if a rollback has ended it. */
	if (state->call != NULL && state->call->ipc == NULL)
		(void) kakehashi_call_next_batch(state->call, &state->batch);
	return true;
}

void
kakehashi_lookup_next_found(LookupState *state)
{
	int number;

	do
	{
		number = advance(state) ? number_of_row(state, state->batch_row, state->found) : state->sent;
		state->of_this = number == state->found ? state->of_this + 1 : 1;
		state->found = number;
		if (state->known > 0 && number != state->position)
			ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
			                errmsg("the engine found fewer rows for an outer row than before"),
			                kakehashi_sql_context(state->sql)));
	} while (state->known > 0 && state->known-- > 0);
	state->used = false;
	if (state->ahead != NULL && state->found < state->sent && state->batch_row >= state->ahead_row)
		look_ahead(state);
}

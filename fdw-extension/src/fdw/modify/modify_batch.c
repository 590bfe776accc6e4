/*
 * INSERT in batches: rows are written into a buffer of the arena, and one request names it.
 *
 * While the engine works on one batch the next is filled: the answer of a batch is waited for after the next has been sent,
 * and of the last at the end of the statement. An error of a row thus comes a batch late, but always before the statement
 * has ended.
 */
#include "fdw/modify/modify.h"
#include "fdw/transaction/transaction.h"

#include "commands/copy.h"
#include "executor/executor.h"

/* Fewer rows than this go through the queue, as one row does. */
#define MIN_BUFFERED_ROWS 32

int
kakehashi_batch_size(ResultRelInfo *rinfo)
{
	KakehashiModify *modify = (KakehashiModify *) rinfo->ri_FdwState;
	TriggerDesc *triggers = rinfo->ri_TrigDesc;
	ForeignTable *table;

	/* Row triggers and RETURNING want each row when it is there. */
	if (rinfo->ri_projectReturning != NULL || rinfo->ri_returningList != NIL || rinfo->ri_WithCheckOptions != NIL ||
	    (triggers != NULL && (triggers->trig_insert_before_row || triggers->trig_insert_after_row)))
		return 1;
	/* A row without parameters cannot be repeated by repeating parameters. */
	if (modify != NULL &&
	    (modify->writer->count == 0 ||
	     (modify->generated != NIL && list_length(modify->generated) == list_length(modify->targets))))
		return 1;
	if (modify != NULL)
		return modify->batch_size;
	table = GetForeignTable(RelationGetRelid(rinfo->ri_RelationDesc));
	return kakehashi_options(GetForeignServer(table->serverid), table).batch_size;
}

/* A batch is full, so that there are many rows. */
static void
batch_grows(KakehashiModify *modify)
{
	modify->batch_size = modify->most_batch_size;
}

static void
add_copy_context(void *arg)
{
	errcontext("COPY %s", (const char *) arg);
}

/*
 * While COPY's rows are sent and answers of batches are waited for, COPY is at a line that is not to blame, or past its last one. So its context is the
 * table alone, as PostgreSQL has it from 16 on for the batches that it makes. error_context_stack has to be set to the result afterwards.
 */
static ErrorContextCallback *
enter_copy_context(const KakehashiModify *modify, ErrorContextCallback *own)
{
	ErrorContextCallback *before = error_context_stack;

	if (modify->copied == NULL)
		return before;
	own->callback = add_copy_context;
	own->arg = unconstify(char *, modify->copied);
	own->previous = before;
	while (own->previous != NULL &&
	       (own->previous->callback == CopyFromErrorCallback || own->previous->callback == add_copy_context))
		own->previous = own->previous->previous;
	error_context_stack = own;
	return before;
}

static uint64
complete_pending(KakehashiModify *modify)
{
	KakehashiCall *call = modify->pending;
	ErrorContextCallback own;
	ErrorContextCallback *before;
	uint64 affected;

	modify->pending = NULL;
	if (call == NULL)
		return 0;
	before = enter_copy_context(modify, &own);
	affected = kakehashi_call_complete(call);
	error_context_stack = before;
	return affected;
}

static KakehashiStatement *
statement_of(KakehashiModify *modify)
{
	return kakehashi_statement_get(modify->session, modify->sql, modify->writer->types, modify->writer->count);
}

/* Sends a batch that is in buffer, and waits for the one before. */
static void
send_buffer(KakehashiModify *modify, KakehashiInbound *buffer, uint32 bytes)
{
	KakehashiCall *call =
		kakehashi_execute_inbound(modify->session, statement_of(modify), modify->snapshot_owner, buffer, bytes);

	call->rowless = true;
	kakehashi_call_measure(call, modify->cost);
	(void) complete_pending(modify);
	modify->pending = call;
}

static uint64
send_through_queue(KakehashiModify *modify)
{
	KakehashiStatement *statement = statement_of(modify);
	uint32 bytes;
	const void *rows = kakehashi_row_writer_finish(modify->writer, &bytes);
	KakehashiCall *call = kakehashi_execute_statement(modify->session, statement, modify->snapshot_owner, rows, bytes);

	kakehashi_call_measure(call, modify->cost);
	return kakehashi_call_complete(call);
}

static void send_deferred(KakehashiModify *modify);

static void
flush_form(KakehashiModify *form)
{
	send_deferred(form);
	(void) complete_pending(form);
}

/* Rows are inserted in their order, and one request at a time is under way. NULL: of all forms. */
static void
flush_other_forms(KakehashiModify *modify, const KakehashiModify *form)
{
	ListCell *cell;

	if (form == NULL || form != modify)
		flush_form(modify);
	foreach (cell, modify->forms)
	{
		if (lfirst(cell) != form)
			flush_form((KakehashiModify *) lfirst(cell));
	}
}

/* Rows of one form. */
static uint64
insert_rows(KakehashiModify *modify, TupleTableSlot **slots, int slot_count)
{
	uint64 affected = 0;
	bool is_long = false; /* the next row, which does not fit into a buffer */
	int next = 0;

	while (next < slot_count)
	{
		bool buffered = !is_long && slot_count - next >= MIN_BUFFERED_ROWS;
		KakehashiInbound *buffer = NULL;
		int first = next;
		uint32 bytes;

		if (buffered)
		{
			buffer = kakehashi_inbound_take(modify->session, 0);
			kakehashi_row_writer_start_fixed(modify->writer, modify->session, buffer, slot_count - next);
		}
		else
			kakehashi_row_writer_start(modify->writer, modify->session, is_long ? 1 : slot_count - next);
		for (; next < slot_count; next++)
		{
			/* The plan's slots have nothing for an INSERT, and COPY has none. */
			kakehashi_modify_take_values(modify, slots[next], NULL);
			if (!kakehashi_row_writer_add(modify->writer, modify->values, modify->nulls))
				break;
		}
		is_long = buffered && next == first;
		if (is_long)
			continue;
		if (next == first)
			kakehashi_report_too_long(modify);
		if (!buffered)
			affected += send_through_queue(modify);
		else
		{
			(void) kakehashi_row_writer_finish(modify->writer, &bytes);
			send_buffer(modify, buffer, bytes);
			affected += modify->count_rows ? complete_pending(modify) : (uint64) (next - first);
		}
	}
	return affected;
}

bool
kakehashi_hold_rows(KakehashiModify *modify, TupleTableSlot **slots, int slot_count)
{
	const KakehashiStatement *statement;
	const void *rows = NULL;
	uint32 bytes = 0;

	if (!kakehashi_may_hold(modify->session))
		return false;
	if (modify->writer->count > 0)
	{
		kakehashi_row_writer_start(modify->writer, modify->session, slot_count);
		for (int i = 0; i < slot_count; i++)
		{
			kakehashi_modify_take_values(modify, slots[i], NULL);
			if (!kakehashi_row_writer_add(modify->writer, modify->values, modify->nulls))
				return false;
		}
		rows = kakehashi_row_writer_finish(modify->writer, &bytes);
		/* A row that is longer is there often enough. */
		if (bytes > kakehashi_inbound_bytes(modify->session))
			return false;
	}
	/* The engine says now what it has against the statement. */
	statement = statement_of(modify);
	kakehashi_hold(modify->session, RelationGetRelid(modify->rel), statement, modify->snapshot_owner, rows, bytes);
	return true;
}

/* What the executor has gathered is sent, see modify_gather.c. */
static void
gather_again(ResultRelInfo *rinfo)
{
	KakehashiModify *modify = (KakehashiModify *) rinfo->ri_FdwState;

	if (modify->gathered_rows >= modify->batch_size)
		batch_grows(modify);
	modify->gathered_bytes = 0;
	modify->gathered_rows = 0;
	rinfo->ri_BatchSize = modify->batch_size;
}

TupleTableSlot **
kakehashi_exec_batch_insert(EState *estate, ResultRelInfo *rinfo, TupleTableSlot **slots, TupleTableSlot **plan_slots,
                            int *slot_count)
{
	KakehashiModify *modify = (KakehashiModify *) rinfo->ri_FdwState;
	uint64 affected = 0;
	int first = 0;

	if (modify->refused != NULL)
		ReThrowError(modify->refused);
	for (int i = 0; i < *slot_count; i++)
		kakehashi_check_partition(estate, rinfo, slots[i]);
	while (first < *slot_count)
	{
		KakehashiModify *form = kakehashi_insert_form(modify, slots[first]);
		int next = first + 1;

		while (next < *slot_count && kakehashi_insert_form(modify, slots[next]) == form)
			next++;
		/* The executor gives fewer than it gathers only at the end. Long rows are there often enough without a copy. */
		if (modify->alone && first == 0 && next == *slot_count && next < rinfo->ri_BatchSize &&
		    modify->gathered_bytes < kakehashi_inbound_bytes(modify->session) && kakehashi_hold_rows(form, slots, next))
		{
			affected = (uint64) next;
			break;
		}
		flush_other_forms(modify, form);
		affected += insert_rows(form, slots + first, next - first);
		first = next;
	}
	gather_again(rinfo);
	*slot_count = (int) affected;
	return affected > 0 ? slots : NULL;
}

static void
send_deferred(KakehashiModify *modify)
{
	KakehashiInbound *buffer;
	const void *rows;
	uint32 bytes;
	ErrorContextCallback own;
	ErrorContextCallback *before;

	if (modify->deferred_rows == 0)
		return;
	modify->deferred_rows = 0;
	before = enter_copy_context(modify, &own);
	rows = kakehashi_row_writer_finish(modify->writer, &bytes);
	buffer = kakehashi_inbound_take(modify->session, bytes);
	Assert(bytes <= buffer->bytes);
	memcpy(buffer->memory, rows, bytes);
	send_buffer(modify, buffer, bytes);
	error_context_stack = before;
}

/*
 * Rows are collected in memory of ours: between two rows of COPY, rows for other partitions may need the session's buffers.
 */
void
kakehashi_defer_row(KakehashiModify *modify, TupleTableSlot *slot)
{
	KakehashiModify *form = kakehashi_insert_form(modify, slot);

	flush_other_forms(modify, form);
	modify = form;
	kakehashi_modify_take_values(modify, slot, NULL);
	for (int attempt = 0; attempt < 2; attempt++)
	{
		if (modify->deferred_rows == 0)
			kakehashi_row_writer_start(modify->writer, modify->session, modify->batch_size);
		if (kakehashi_row_writer_add(modify->writer, modify->values, modify->nulls))
		{
			if (++modify->deferred_rows >= modify->batch_size)
			{
				send_deferred(modify);
				batch_grows(modify);
			}
			return;
		}
		if (modify->deferred_rows == 0)
			break;
		/* Full; the row is the first of the next batch. */
		send_deferred(modify);
	}
	kakehashi_report_too_long(modify);
}

void
kakehashi_modify_flush(KakehashiModify *modify)
{
	flush_other_forms(modify, NULL);
}

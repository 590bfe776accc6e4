/*
 * EXPLAIN: the statement that goes to the engine, and the values that go with it.
 */
#include "fdw/explain/explain.h"
#include "fdw/row/row.h"
#include "fdw/transaction/transaction.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "nodes/nodeFuncs.h"
#include "utils/ruleutils.h"

void
kakehashi_explain_parameters(PlanState *node, List *exprs, int first, ExplainState *es)
{
	StringInfoData text;
	List *context;
	ListCell *cell;

	if (list_length(exprs) <= first)
		return;
	initStringInfo(&text);
	context = set_deparse_context_plan(es->deparse_cxt, node->plan, NIL);
	for_each_from(cell, exprs, first)
	{
		appendStringInfo(&text, "%s$%d = %s", text.len > 0 ? ", " : "", foreach_current_index(cell) + 1,
		                 deparse_expression((Node *) lfirst(cell), context, true, false));
	}
	ExplainPropertyText("Remote Parameters", text.data, es);
}

typedef struct RemotePlan
{
	StringInfoData text;
	ExplainState *es;
} RemotePlan;

static void
take_line(const kh_batch *batch, uint32 row, RemotePlan *plan)
{
	if (plan->text.len > 0)
	{
		appendStringInfoChar(&plan->text, '\n');
		if (plan->es->format == EXPLAIN_FORMAT_TEXT)
			appendStringInfoSpaces(&plan->text, plan->es->indent * 2 + 2);
	}
	appendStringInfoString(&plan->text, kakehashi_batch_text(batch, row, 0));
}

void
kakehashi_explain_on_engine(KakehashiSession *session, const char *sql, List *exprs, const Datum *given,
                            const bool *given_nulls, ExplainState *es)
{
	RemotePlan plan = {.es = es};
	Oid *types = (Oid *) palloc(Max(list_length(exprs), 1) * sizeof(Oid));
	Datum *values = (Datum *) palloc0(Max(list_length(exprs), 1) * sizeof(Datum));
	bool *nulls = (bool *) palloc(Max(list_length(exprs), 1) * sizeof(bool));
	KakehashiRowWriter *writer;
	KakehashiStatement *statement;
	KakehashiCall *call;
	const void *row = NULL;
	uint32 bytes = 0;
	kh_batch batch;
	ListCell *cell;

	foreach (cell, exprs)
	{
		types[foreach_current_index(cell)] = kakehashi_parameter_type((Node *) lfirst(cell));
		values[foreach_current_index(cell)] = given == NULL ? (Datum) 0 : given[foreach_current_index(cell)];
		nulls[foreach_current_index(cell)] = given == NULL || given_nulls[foreach_current_index(cell)];
	}
	writer = kakehashi_row_writer_create(CurrentMemoryContext, list_length(exprs), types);
	statement = kakehashi_statement_get(session, psprintf(given == NULL ? "EXPLAIN %s" : "EXPLAIN ANALYZE %s", sql),
	                                    writer->types, list_length(exprs));
	if (exprs != NIL)
	{
		kakehashi_row_writer_start(writer, session, 1);
		if (!kakehashi_row_writer_add(writer, values, nulls))
			elog(ERROR, "parameters of a remote plan do not fit into a row batch");
		row = kakehashi_row_writer_finish(writer, &bytes);
	}
	initStringInfo(&plan.text);
	call = kakehashi_execute_read(session, statement, row, bytes);
	while (kakehashi_call_next_batch(call, &batch))
	{
		for (uint32 r = 0; r < batch.row_count; r++)
			take_line(&batch, r, &plan);
		kh_call_release(call->ipc);
	}
	(void) kakehashi_call_complete(call);
	ExplainPropertyText("Remote Plan", plan.text.data, es);
}

void
kakehashi_explain_cost(const KakehashiCost *cost, bool returns_rows, ExplainState *es)
{
	if (returns_rows)
	{
		ExplainPropertyUInteger("Remote Rows", NULL, cost->rows, es);
		ExplainPropertyUInteger("Remote Batches", NULL, cost->batches, es);
		ExplainPropertyUInteger("Remote Bytes", NULL, cost->bytes, es);
	}
	if (!es->timing)
		return;
	ExplainPropertyFloat("Remote Wait Time", "ms", INSTR_TIME_GET_MILLISEC(cost->waited), 3, es);
	/* A request whose rows are not all wanted is canceled, and its end is nobody's business. */
	if (cost->ended > 0)
		ExplainPropertyFloat("Remote Execution Time", "ms", (double) cost->execution_nanos / 1e6, 3, es);
}

void
kakehashi_explain_direct(const KakehashiCost *cost, ExplainState *es)
{
	if (cost->direct_reads > 0)
		ExplainPropertyUInteger("Direct Reads", NULL, cost->direct_reads, es);
	if (es->verbose && cost->request_reason != NULL)
		ExplainPropertyText("Request Reason", cost->request_reason, es);
}

void
kakehashi_explain_requests(const KakehashiCost *cost, bool returns_rows, ExplainState *es)
{
	if (cost->requests > 1)
		ExplainPropertyUInteger("Remote Requests", NULL, cost->requests, es);
	kakehashi_explain_direct(cost, es);
	kakehashi_explain_cost(cost, returns_rows, es);
}

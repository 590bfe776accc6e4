/*
 * Scans that read their row out of the engine's memory, without a request; see ipc/direct.h.
 *
 * The engine's part of a READ COMMITTED statement sees what is committed when it begins. A direct read sees what is committed now, so it is for
 * statements that read once: nothing else of the statement reads from the engine, not even a function that it calls.
 */
#include "fdw/scan/scan.h"

#include "access/transam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "tcop/pquery.h"
#include "utils/memutils.h"

/* Whether an expression may run statements: functions that PostgreSQL does not bring along. */
static bool may_read(Node *node, void *context);

static bool
is_foreign_function(Oid function, void *context)
{
	return function >= FirstNormalObjectId;
}

static bool
may_read(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) ||
	    check_functions_in_node(node, is_foreign_function, context))
		return true;
	return expression_tree_walker(node, may_read, context);
}

/* A cursor may be asked for its rows again. */
static bool
is_cursor(int eflags)
{
	return (eflags & (EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD)) != 0 ||
	       (ActivePortal != NULL && ActivePortal->visible && ActivePortal->name[0] != '\0');
}

bool
kakehashi_reads_once(const ForeignScanState *node, int eflags)
{
	const ForeignScan *plan = (const ForeignScan *) node->ss.ps.plan;
	const EState *estate = node->ss.ps.state;
	const PlannedStmt *statement = estate->es_plannedstmt;
	const Plan *top = statement->planTree;

	if (statement->commandType != CMD_SELECT || statement->hasModifyingCTE || statement->rowMarks != NIL ||
	    statement->subplans != NIL || plan->scan.plan.parallel_aware || estate->es_epq_active != NULL ||
	    is_cursor(eflags))
		return false;
	if (IsA(top, Limit))
		top = top->lefttree;
	return top == &plan->scan.plan && plan->scan.plan.qual == NIL &&
	       !may_read((Node *) plan->scan.plan.targetlist, NULL) && !may_read((Node *) plan->fdw_exprs, NULL);
}

/* What of the session or its transaction needs a request; NULL: nothing. It reads what is committed, and has nothing on the engine yet. */
static const char *
reason_of_session(KakehashiSession *session)
{
	if (!kakehashi_direct_reads)
		return "kakehashi.direct_reads is off";
	if (XactIsoLevel != XACT_READ_COMMITTED)
		return "the transaction keeps its snapshot";
	if (session->level != 0 || session->leader != NULL || !dlist_is_empty(&session->calls))
		return "the transaction is on the engine already";
	if (kakehashi_transaction_kind != KAKEHASHI_KIND_AUTO || *kakehashi_write_preserve ||
	    *kakehashi_read_areas_include || *kakehashi_read_areas_exclude)
		return "a setting asks for another kind of transaction";
	return NULL;
}

static const char *
reason_of_statement(const RemoteScan *state, const KakehashiStatement *statement, const void *row)
{
	if (!state->reads_once)
		return "the statement may read more than this";
	if (statement->direct == NULL || row == NULL)
		return "it is not one row by its whole key";
	if (statement->direct_role != state->session->role_id)
		return "the role is another one than it was prepared for";
	return NULL;
}

static void
free_writer(void *writer)
{
	kh_batch_writer_free((kh_batch_writer *) writer);
}

/* Of the columns of a statement; freed with the executor's state. */
static kh_batch_writer *
writer_of(ForeignScanState *node, const KakehashiSession *session, const KakehashiStatement *statement)
{
	MemoryContext context = node->ss.ps.state->es_query_cxt;
	kh_batch_writer *writer = (kh_batch_writer *) MemoryContextAllocZero(context, sizeof(kh_batch_writer));
	MemoryContextCallback *callback =
		(MemoryContextCallback *) MemoryContextAllocZero(context, sizeof(MemoryContextCallback));

	if (!kh_batch_writer_init(writer, (uint32) statement->column_count, 1,
	                          kh_session_limits(session->ipc)->max_batch_bytes, NULL))
		return NULL;
	callback->func = free_writer;
	callback->arg = writer;
	MemoryContextRegisterResetCallback(context, callback);
	return writer;
}

bool
kakehashi_scan_directly(ForeignScanState *node, RemoteScan *state, KakehashiStatement **statement, const void *row,
                        uint32 bytes)
{
	kh_batch parameters;
	kh_direct_answer answer;
	const char *reason;

	if (!kh_session_reads_directly(state->session->ipc))
		return false;
	reason = reason_of_statement(state, *statement, row);
	if (reason == NULL)
		reason = reason_of_session(state->session);
	state->cost.request_reason = reason;
	if (reason != NULL || !kh_batch_check(row, bytes, &parameters, NULL))
		return false;
	if (state->direct_row == NULL)
		state->direct_row = writer_of(node, state->session, *statement);
	if (state->direct_row == NULL)
		return false;
	answer = kh_direct_read(state->session->ipc, (*statement)->direct, &parameters, state->direct_row);
	if (answer == KH_DIRECT_STALE)
	{
		state->cost.request_reason = "definitions have changed";
		/* What it was prepared for has changed: the next execution may find another way. */
		*statement = kakehashi_statement_renew(state->session, *statement);
		return false;
	}
	if (answer == KH_DIRECT_ASK)
	{
		state->cost.request_reason = "the row is being changed, not durable yet, or long";
		return false;
	}
	state->cost.direct_reads++;
	state->has_batch =
		answer == KH_DIRECT_ROW &&
		kh_batch_check(state->direct_row->data, kh_batch_writer_finish(state->direct_row), &state->batch, NULL);
	state->cost.rows += state->has_batch ? 1 : 0;
	state->next_row = 0;
	return true;
}

/*
 * Scans that read their rows out of the engine's memory, without a request; see ipc/direct.h.
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
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/snapshot.h"

/* Whether an expression may run statements: by a function, or a domain's condition. */
static bool may_read(Node *node, void *context);

/* Those that PostgreSQL does not bring along, and those of its own that run SQL: query_to_xml() and its kind, ts_stat() and ts_rewrite(). */
static bool
may_run_statements(Oid function, void *context)
{
	return function >= FirstNormalObjectId ||
	       (function >= F_TABLE_TO_XML && function <= F_DATABASE_TO_XML_AND_XMLSCHEMA) ||
	       function == F_TS_REWRITE_TSQUERY_TEXT || function == F_TS_STAT_TEXT || function == F_TS_STAT_TEXT_TEXT;
}

static bool
may_read(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) || IsA(node, CoerceToDomain) ||
	    check_functions_in_node(node, may_run_statements, context))
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

/* Whether the whole plan runs once, changes and locks nothing, and has no subquery of its own. */
static bool
is_plain_query(const EState *estate, int eflags)
{
	const PlannedStmt *statement = estate->es_plannedstmt;

	return statement->commandType == CMD_SELECT && !statement->hasModifyingCTE && statement->rowMarks == NIL &&
	       statement->subplans == NIL && estate->es_epq_active == NULL && !is_cursor(eflags);
}

bool
kakehashi_reads_once(const ForeignScanState *node, int eflags)
{
	const ForeignScan *plan = (const ForeignScan *) node->ss.ps.plan;
	const EState *estate = node->ss.ps.state;
	const Plan *top = estate->es_plannedstmt->planTree;

	if (!is_plain_query(estate, eflags) || plan->scan.plan.parallel_aware)
		return false;
	if (IsA(top, Limit))
		top = top->lefttree;
	return top == &plan->scan.plan && plan->scan.plan.qual == NIL &&
	       !may_read((Node *) plan->scan.plan.targetlist, NULL) && !may_read((Node *) plan->fdw_exprs, NULL);
}

/*
 * Whether a plan has no node of which it is not known that it reads nothing from the engine, and the reader only where it is not asked again. Functions in
 * it have been looked at.
 */
static bool
reads_by(const Plan *plan, const Plan *reader, bool again)
{
	const ListCell *cell;

	if (plan == NULL)
		return true;
	if (may_read((Node *) plan->targetlist, NULL) || may_read((Node *) plan->qual, NULL))
		return false;
	switch (nodeTag(plan))
	{
		case T_CustomScan:
			if (plan != reader || again)
				return false;
			foreach (cell, ((const CustomScan *) plan)->custom_plans)
			{
				if (!reads_by((const Plan *) lfirst(cell), reader, again))
					return false;
			}
			return true;
		case T_SubqueryScan:
			return reads_by(((const SubqueryScan *) plan)->subplan, reader, again);
		case T_BitmapHeapScan:
			return true;
		case T_FunctionScan:
			foreach (cell, ((const FunctionScan *) plan)->functions)
			{
				if (may_read(((const RangeTblFunction *) lfirst(cell))->funcexpr, NULL))
					return false;
			}
			return true;
		case T_NestLoop:
			return !may_read((Node *) ((const Join *) plan)->joinqual, NULL) &&
			       reads_by(plan->lefttree, reader, again) && reads_by(plan->righttree, reader, true);
		case T_HashJoin:
		case T_MergeJoin:
			if (may_read((Node *) ((const Join *) plan)->joinqual, NULL))
				return false;
			return reads_by(plan->lefttree, reader, again) && reads_by(plan->righttree, reader, again);
		case T_Result:
		case T_Limit:
		case T_Agg:
		case T_Group:
		case T_Sort:
		case T_IncrementalSort:
		case T_Unique:
		case T_WindowAgg:
		case T_Material:
		case T_Hash:
		case T_SeqScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_ValuesScan:
			return reads_by(plan->lefttree, reader, again) && reads_by(plan->righttree, reader, again);
		default:
			return false;
	}
}

/* Functions that PostgreSQL does not bring along are among what invalidates the plan. */
bool
kakehashi_join_reads_once(const CustomScanState *node, int eflags)
{
	const EState *estate = node->ss.ps.state;
	const PlannedStmt *statement = estate->es_plannedstmt;

	return is_plain_query(estate, eflags) && statement->invalItems == NIL &&
	       reads_by(statement->planTree, node->ss.ps.plan, false);
}

/* What of the session or its transaction needs a request; NULL: nothing. It reads what is committed, and has nothing on the engine yet. */
static const char *
reason_of_session(KakehashiSession *session)
{
	if (!kakehashi_direct_reads)
		return "kakehashi.direct_reads is off";
	if (session->asks_always)
		return "kakehashi_execute() may have changed the session";
	if (XactIsoLevel != XACT_READ_COMMITTED)
		return "the transaction keeps its snapshot";
	if (session->level != 0 || session->leader != NULL || session->held != NULL || !dlist_is_empty(&session->calls))
		return "the transaction is on the engine already";
	if (kakehashi_transaction_kind != KAKEHASHI_KIND_AUTO || *kakehashi_write_preserve ||
	    *kakehashi_read_areas_include || *kakehashi_read_areas_exclude)
		return "a setting asks for another kind of transaction";
	return NULL;
}

/*
 * A stable function's statements have the snapshot of the one that calls it, and all of them have to read one state. An executor and its description
 * register a snapshot once each, and so does the portal of EXECUTE. A second executor makes that four at least.
 */
#define OWN_REGISTRATIONS 3

static bool
has_own_snapshot(const EState *estate)
{
	return estate->es_snapshot != InvalidSnapshot && estate->es_snapshot->regd_count <= OWN_REGISTRATIONS;
}

static const char *
reason_of_statement(const KakehashiDirect *direct, const KakehashiSession *session, const KakehashiStatement *statement,
                    const void *rows)
{
	if (!direct->reads_once)
		return "the statement may read more than this";
	if (statement->direct == NULL || rows == NULL)
		return "it is neither a row by its whole key nor a range of one";
	if (statement->direct_role != session->role_id)
		return "the role is another one than it was prepared for";
	return NULL;
}

static void
free_writer(void *writer)
{
	kh_batch_writer_free((kh_batch_writer *) writer);
}

/* What a backend copies of a range; more is asked for. */
#define MOST_BYTES (1024 * 1024)

/* Of the columns of a statement; freed with the executor's state. NULL: not even one row fits. */
static kh_batch_writer *
writer_of(EState *estate, const KakehashiSession *session, const KakehashiStatement *statement, uint32 rows)
{
	uint32 bytes = kh_session_limits(session->ipc)->max_batch_bytes;
	kh_batch_writer *writer = (kh_batch_writer *) MemoryContextAllocZero(estate->es_query_cxt, sizeof(kh_batch_writer));
	MemoryContextCallback *callback =
		(MemoryContextCallback *) MemoryContextAllocZero(estate->es_query_cxt, sizeof(MemoryContextCallback));

	if (kh_direct_is_range(statement->direct))
	{
		rows = KH_DIRECT_RANGE_ROWS;
		bytes = Min(bytes, MOST_BYTES);
	}
	if (!kh_batch_writer_init(writer, (uint32) statement->column_count, rows, bytes, NULL))
		return NULL;
	callback->func = free_writer;
	callback->arg = writer;
	MemoryContextRegisterResetCallback(estate->es_query_cxt, callback);
	return writer;
}

bool
kakehashi_read_directly(KakehashiDirect *direct, EState *estate, KakehashiSession *session,
                        KakehashiStatement **statement, const void *rows, uint32 bytes, KakehashiCost *cost,
                        kh_batch *batch, bool *has_batch)
{
	kh_batch parameters;
	kh_direct_answer answer;

	if (!kh_session_reads_directly(session->ipc))
		return false;
	cost->request_reason = reason_of_statement(direct, session, *statement, rows);
	if (cost->request_reason == NULL && !has_own_snapshot(estate))
		cost->request_reason = "another statement has the same snapshot";
	if (cost->request_reason == NULL)
		cost->request_reason = reason_of_session(session);
	if (cost->request_reason != NULL || !kh_batch_check(rows, bytes, &parameters, NULL))
		return false;
	if (direct->rows == NULL)
		direct->rows = writer_of(estate, session, *statement, parameters.row_count);
	if (direct->rows == NULL)
		return false;
	if (parameters.row_count == 1)
		answer = kh_direct_read(session->ipc, (*statement)->direct, &parameters, direct->rows);
	else
		answer = kh_direct_read_rows(session->ipc, (*statement)->direct, &parameters, direct->rows);
	if (answer == KH_DIRECT_STALE)
	{
		cost->request_reason = "definitions have changed";
		/* Prepared anew it may have another way, and other columns. */
		kakehashi_statement_forget(session, *statement);
		*statement = NULL;
		return false;
	}
	if (answer == KH_DIRECT_ASK)
	{
		cost->request_reason = kh_direct_is_range((*statement)->direct)
		                           ? "a row is being changed, not durable yet, or long, or there are many"
		                           : "a row is being changed, not durable yet, or long";
		return false;
	}
	cost->direct_reads += parameters.row_count;
	*has_batch = answer == KH_DIRECT_ROW &&
	             kh_batch_check(direct->rows->data, kh_batch_writer_finish(direct->rows), batch, NULL);
	cost->rows += *has_batch ? batch->row_count : 0;
	return true;
}

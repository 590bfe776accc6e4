/*
 * Subqueries with values of the outer row, asked about ahead: for many rows of a node in one request.
 *
 * PostgreSQL evaluates such a subquery row by row, and each evaluation is a request. But a node of ours holds whole batches of rows, so
 * that the parameters of the subquery are known for rows to come. They are sent as the parameter rows of one request, which
 * the engine runs in order, one row of the result for each: that is what a SELECT of aggregates without groups gives. The evaluation itself stays PostgreSQL's. The
 * scan below it takes the foreseen row if its parameters are those that were foreseen, and sends a request of its own if not. So
 * nothing depends on what is foreseen being right.
 *
 * Rows that are looked at here may never be reached, because of a LIMIT for example. So nothing that can fail is evaluated ahead on this side, and
 * where it fails on the other side the rest is evaluated when PostgreSQL asks for it.
 */
#include "fdw/scan/scan.h"
#include "fdw/plan/plan.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* Rows to look ahead at first, and later: a LIMIT above should not have to pay for many, the rest should be few requests. */
#define FIRST_ROWS 64
#define MAX_ROWS 1024

/* Evaluations that are foreseen of one subquery. Belongs to its scan. */
struct KakehashiForeseen
{
	MemoryContext context; /* of values; reset with each request */
	int16 *lengths;        /* of the types of parameters */
	bool *by_value;
	Datum *values; /* of the parameters, MAX_ROWS times; those of one evaluation stand together */
	bool *nulls;
	bool failed;         /* an evaluation did: no more are foreseen */
	bool open;           /* the writer of the parameters takes more rows */
	int count;           /* of evaluations with other parameters than the one before */
	bool repeated;       /* some have those of the one before */
	int position;        /* the last one that was taken; earlier rows of the result are gone */
	KakehashiCall *call; /* NULL: nothing is foreseen */
	bool has_batch;
	kh_batch batch;
	int batch_first; /* evaluation of the batch's first row */
};

typedef struct Subquery
{
	SubPlan *plan;
	List *args; /* of ExprState */
	ForeignScanState *scan;
} Subquery;

struct KakehashiAhead
{
	ExprContext *econtext;
	ExprState *filter; /* rows without interest do not pass it */
	List *subqueries;
	int limit; /* rows of the next look */
};

/* ---- the scan of a subquery ---- */

static KakehashiForeseen *
foreseen_create(ForeignScanState *node, RemoteScan *state)
{
	MemoryContext old = MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);
	KakehashiForeseen *foreseen = (KakehashiForeseen *) palloc0(sizeof(KakehashiForeseen));
	int count = state->parameters->count;
	ListCell *cell;

	foreseen->context = AllocSetContextCreate(CurrentMemoryContext, "kakehashi foreseen", ALLOCSET_DEFAULT_SIZES);
	foreseen->lengths = (int16 *) palloc(count * sizeof(int16));
	foreseen->by_value = (bool *) palloc(count * sizeof(bool));
	foreseen->values = (Datum *) palloc(MAX_ROWS * count * sizeof(Datum));
	foreseen->nulls = (bool *) palloc(MAX_ROWS * count * sizeof(bool));
	foreach (cell, ((ForeignScan *) node->ss.ps.plan)->fdw_exprs)
	{
		get_typlenbyval(exprType((Node *) lfirst(cell)), &foreseen->lengths[foreach_current_index(cell)],
		                &foreseen->by_value[foreach_current_index(cell)]);
	}
	MemoryContextSwitchTo(old);
	return foreseen;
}

void
kakehashi_foreseen_drop(RemoteScan *state)
{
	KakehashiForeseen *foreseen = state->foreseen;

	if (foreseen == NULL || foreseen->call == NULL)
		return;
	/* With its last row taken it is about to end by itself; what is ended before is canceled. */
	if (foreseen->position == foreseen->count - 1 && foreseen->call->ipc != NULL && foreseen->has_batch)
	{
		kh_call_release(foreseen->call->ipc);
		(void) kakehashi_call_finish(foreseen->call);
	}
	kakehashi_call_end(foreseen->call);
	pfree(foreseen->call);
	foreseen->call = NULL;
	foreseen->has_batch = false;
}

static bool
is_foreseen(const KakehashiForeseen *foreseen, int evaluation, const KakehashiParameters *parameters)
{
	for (int i = 0; i < parameters->count; i++)
	{
		int at = evaluation * parameters->count + i;

		if (foreseen->nulls[at] != parameters->nulls[i])
			return false;
		if (!parameters->nulls[i] &&
		    !datumIsEqual(foreseen->values[at], parameters->values[i], foreseen->by_value[i], foreseen->lengths[i]))
			return false;
	}
	return true;
}

/* Stands at the row of the result for an evaluation; false if the result is gone with a subtransaction, or ended with an error before that row. */
static bool
go_to(RemoteScan *state, int evaluation)
{
	KakehashiForeseen *foreseen = state->foreseen;

	while (foreseen->call->ipc != NULL)
	{
		if (foreseen->has_batch)
		{
			if (evaluation < foreseen->batch_first + (int) foreseen->batch.row_count)
				return true;
			foreseen->batch_first += (int) foreseen->batch.row_count;
			kh_call_release(foreseen->call->ipc);
		}
		foreseen->has_batch = kakehashi_call_next_batch(foreseen->call, &foreseen->batch);
		if (!foreseen->has_batch && kakehashi_call_failed(foreseen->call))
		{
			foreseen->failed = true;
			kakehashi_foreseen_drop(state);
			return false;
		}
		if (!foreseen->has_batch)
			ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
			                errmsg("the engine answered %d of %d evaluations of a subquery", foreseen->batch_first,
			                       foreseen->count),
			                kakehashi_sql_context(state->sql)));
	}
	return false;
}

bool
kakehashi_foreseen_take(ForeignScanState *node, RemoteScan *state)
{
	KakehashiForeseen *foreseen = state->foreseen;

	if (foreseen->call == NULL)
		return false;
	kakehashi_parameters_evaluate(state->parameters, node->ss.ps.ps_ExprContext);
	for (int i = foreseen->position; i < foreseen->count; i++)
	{
		if (!is_foreseen(foreseen, i, state->parameters))
			continue;
		if (!go_to(state, i))
			break;
		foreseen->position = i;
		kakehashi_result_store(state->map, &foreseen->batch, (uint32) (i - foreseen->batch_first),
		                       node->ss.ss_ScanTupleSlot);
		return true;
	}
	return false;
}

static void
foreseen_begin(ForeignScanState *node, RemoteScan *state)
{
	KakehashiForeseen *foreseen = state->foreseen;

	/* The row in its slot points into a batch that is about to go. */
	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	kakehashi_foreseen_drop(state);
	MemoryContextReset(foreseen->context);
	foreseen->count = 0;
	foreseen->repeated = false;
	foreseen->position = 0;
	foreseen->batch_first = 0;
	state->session = kakehashi_session_get(state->user);
	foreseen->open = !foreseen->failed && kakehashi_has_slots_to_spare(state->session);
	if (foreseen->open)
		kakehashi_row_writer_start(state->parameters->writer, state->session, MAX_ROWS);
}

/* The subquery's parameters have their values. */
static void
foreseen_add(ForeignScanState *node, RemoteScan *state)
{
	KakehashiForeseen *foreseen = state->foreseen;
	KakehashiParameters *parameters = state->parameters;
	MemoryContext old;

	if (!foreseen->open)
		return;
	ResetExprContext(node->ss.ps.ps_ExprContext);
	kakehashi_parameters_evaluate(parameters, node->ss.ps.ps_ExprContext);
	if (foreseen->count > 0 && is_foreseen(foreseen, foreseen->count - 1, parameters))
	{
		foreseen->repeated = true;
		return;
	}
	foreseen->open = foreseen->count < MAX_ROWS &&
	                 kakehashi_row_writer_add(parameters->writer, parameters->values, parameters->nulls);
	if (!foreseen->open)
		return;
	old = MemoryContextSwitchTo(foreseen->context);
	for (int i = 0; i < parameters->count; i++)
	{
		int at = foreseen->count * parameters->count + i;

		foreseen->nulls[at] = parameters->nulls[i];
		if (!parameters->nulls[i])
			foreseen->values[at] = datumCopy(parameters->values[i], foreseen->by_value[i], foreseen->lengths[i]);
	}
	MemoryContextSwitchTo(old);
	foreseen->count++;
}

static void
foreseen_send(ForeignScanState *node, RemoteScan *state)
{
	KakehashiForeseen *foreseen = state->foreseen;
	const void *rows;
	uint32 bytes;

	/* One is no more than what its evaluation would send, unless that comes again. */
	if (foreseen->count < 2 && !foreseen->repeated)
		return;
	rows = kakehashi_row_writer_finish(state->parameters->writer, &bytes);
	foreseen->call = kakehashi_scan_execute(node, state, rows, bytes);
	foreseen->call->tentative = true;
}

/* ---- the node that evaluates subqueries ---- */

static bool
is_leaky(Oid function, void *context)
{
	(void) context;
	return !get_func_leakproof(function);
}

/* Whether an evaluation can end in an error. A function that is leakproof has none that depends on its arguments. */
static bool
may_fail(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_List:
		case T_Var:
		case T_Param:
		case T_Const:
		case T_RelabelType:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_ScalarArrayOpExpr:
		case T_FuncExpr:
			return check_functions_in_node(node, is_leaky, context) || expression_tree_walker(node, may_fail, context);
		default:
			return true;
	}
}

/*
 * The subqueries that are evaluated whenever the expression is: arguments of operators and functions are, branches of a CASE
 * are not.
 */
static bool
collect(Node *node, void *context)
{
	List **plans = (List **) context;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_SubPlan:
			*plans = lappend(*plans, node);
			return false;
		case T_List:
		case T_TargetEntry:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_FuncExpr:
		case T_RelabelType:
		case T_NullTest:
		case T_BooleanTest:
		case T_CoerceViaIO:
			return expression_tree_walker(node, collect, context);
		default:
			return false;
	}
}

static ForeignScanState *
scan_of(PlanState *node, SubPlan *plan)
{
	ListCell *cell;
	ForeignScanState *scan = NULL;
	ForeignScan *scan_plan;

	foreach (cell, node->subPlan)
	{
		SubPlanState *state = lfirst_node(SubPlanState, cell);

		if (state->subplan->plan_id == plan->plan_id)
			scan = (ForeignScanState *) state->planstate;
	}
	if (scan == NULL || !IsA(scan, ForeignScanState) || scan->fdwroutine->GetForeignPlan != kakehashi_get_plan)
		return NULL;
	scan_plan = (ForeignScan *) scan->ss.ps.plan;
	if (scan_plan->operation != CMD_SELECT || scan_plan->scan.plan.qual != NIL ||
	    scan_plan->scan.plan.initPlan != NIL || scan_plan->scan.plan.parallel_aware || scan_plan->fdw_exprs == NIL ||
	    intVal(list_nth(scan_plan->fdw_private, KAKEHASHI_SCAN_ONE_ROW)) == 0)
		return NULL;
	return scan;
}

static void
add_subquery(KakehashiAhead *ahead, PlanState *node, SubPlan *plan)
{
	Subquery *subquery;
	RemoteScan *state;
	ForeignScanState *scan = scan_of(node, plan);

	if (scan == NULL || plan->subLinkType != EXPR_SUBLINK || plan->parParam == NIL ||
	    may_fail((Node *) plan->args, NULL) || may_fail((Node *) ((ForeignScan *) scan->ss.ps.plan)->fdw_exprs, NULL))
		return;
	state = (RemoteScan *) scan->fdw_state;
	if (state->foreseen == NULL)
		state->foreseen = foreseen_create(scan, state);
	subquery = (Subquery *) palloc(sizeof(Subquery));
	subquery->plan = plan;
	subquery->args = ExecInitExprList(plan->args, node);
	subquery->scan = scan;
	ahead->subqueries = lappend(ahead->subqueries, subquery);
}

KakehashiAhead *
kakehashi_ahead_create(PlanState *node)
{
	List *before = NIL;
	List *plans = NIL;
	List *conditions = NIL;
	KakehashiAhead *ahead;
	ListCell *cell;

	if (node->subPlan == NIL)
		return NULL;
	/*
	 * Conditions are checked in the order of the plan. Those behind the first one with a subquery may have to stay behind it, because they
	 * may not see all rows.
	 */
	foreach (cell, node->plan->qual)
	{
		Node *condition = (Node *) lfirst(cell);

		if (contain_volatile_functions(condition))
			return NULL;
		conditions = list_make1(condition);
		if (contain_subplans(condition))
			break;
		/* Without it subqueries are asked about for rows that will not need them. */
		if (!may_fail(condition, NULL))
			before = lappend(before, condition);
	}
	(void) collect(cell != NULL ? (Node *) conditions : (Node *) node->plan->targetlist, &plans);
	ahead = (KakehashiAhead *) palloc0(sizeof(KakehashiAhead));
	foreach (cell, plans)
		add_subquery(ahead, node, lfirst_node(SubPlan, cell));
	if (ahead->subqueries == NIL)
		return NULL;
	ahead->econtext = CreateExprContext(node->state);
	ahead->filter = ExecInitQual(before, node);
	ahead->limit = FIRST_ROWS;
	return ahead;
}

int
kakehashi_ahead_begin(KakehashiAhead *ahead)
{
	ListCell *cell;
	int limit = ahead->limit;

	foreach (cell, ahead->subqueries)
	{
		ForeignScanState *scan = ((Subquery *) lfirst(cell))->scan;

		foreseen_begin(scan, (RemoteScan *) scan->fdw_state);
	}
	ahead->limit = Min(2 * limit, MAX_ROWS);
	return limit;
}

void
kakehashi_ahead_add(KakehashiAhead *ahead, TupleTableSlot *slot)
{
	ExprContext *econtext = ahead->econtext;
	ListCell *cell;

	ResetExprContext(econtext);
	econtext->ecxt_scantuple = slot;
	if (!ExecQual(ahead->filter, econtext))
		return;
	foreach (cell, ahead->subqueries)
	{
		Subquery *subquery = (Subquery *) lfirst(cell);
		ListCell *arg;
		ListCell *param;

		forboth(param, subquery->plan->parParam, arg, subquery->args)
		{
			ParamExecData *data = &econtext->ecxt_param_exec_vals[lfirst_int(param)];

			/* As the evaluation does, which will set it again. */
			data->value = ExecEvalExprSwitchContext((ExprState *) lfirst(arg), econtext, &data->isnull);
		}
		foreseen_add(subquery->scan, (RemoteScan *) subquery->scan->fdw_state);
	}
}

void
kakehashi_ahead_send(KakehashiAhead *ahead)
{
	ListCell *cell;

	foreach (cell, ahead->subqueries)
	{
		ForeignScanState *scan = ((Subquery *) lfirst(cell))->scan;

		foreseen_send(scan, (RemoteScan *) scan->fdw_state);
	}
}

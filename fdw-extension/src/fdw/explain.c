/*
 * EXPLAIN: the statement that goes to the engine, and the values that go with it.
 */
#include "kakehashi_plan.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
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

void
kakehashi_explain_scan(ForeignScanState *node, ExplainState *es)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;

	if (!es->verbose)
		return;
	ExplainPropertyText("Remote SQL", strVal(list_nth(plan->fdw_private, KAKEHASHI_SCAN_SQL)), es);
	kakehashi_explain_parameters(&node->ss.ps, plan->fdw_exprs, 0, es);
}

void
kakehashi_explain_modify(ModifyTableState *mtstate, ResultRelInfo *rinfo, List *fdw_private, int subplan_index,
                         ExplainState *es)
{
	if (!es->verbose)
		return;
	ExplainPropertyText("Remote SQL", strVal(list_nth(fdw_private, KAKEHASHI_MODIFY_SQL)), es);
	if (rinfo->ri_BatchSize > 1)
		ExplainPropertyInteger("Batch Size", NULL, rinfo->ri_BatchSize, es);
}

void
kakehashi_explain_direct_modify(ForeignScanState *node, ExplainState *es)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;

	if (!es->verbose)
		return;
	ExplainPropertyText("Remote SQL", strVal(list_nth(plan->fdw_private, KAKEHASHI_DIRECT_SQL)), es);
	kakehashi_explain_parameters(&node->ss.ps, plan->fdw_exprs, 0, es);
}

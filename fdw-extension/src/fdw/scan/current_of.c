/*
 * WHERE CURRENT OF: the cursor's scan knows which row it is on.
 *
 * PostgreSQL evaluates the condition for its own tables by a scan of ctids. Here it is a condition on the engine's identities, whose value is looked up
 * before the statement is sent. It names the row as it is now, as often as it is changed; see search_plan_tree() of execCurrent.c for which cursors can
 * be used.
 */
#include "fdw/scan/scan.h"
#include "fdw/plan/plan.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/portal.h"
#include "utils/rel.h"

static const char *
cursor_name(const CurrentOfExpr *expr, ExprContext *econtext)
{
	ParamListInfo params = econtext->ecxt_param_list_info;
	ParamExternData buffer;
	const ParamExternData *param;

	if (expr->cursor_name != NULL)
		return expr->cursor_name;
	if (params == NULL || expr->cursor_param <= 0 || expr->cursor_param > params->numParams)
		elog(ERROR, "no value found for parameter %d", expr->cursor_param);
	param = params->paramFetch != NULL ? params->paramFetch(params, expr->cursor_param, false, &buffer)
	                                   : &params->params[expr->cursor_param - 1];
	if (param->ptype != REFCURSOROID || param->isnull)
		elog(ERROR, "no cursor in parameter %d", expr->cursor_param);
	return TextDatumGetCString(param->value);
}

typedef struct Search
{
	Oid relid;
	const ForeignScanState *found;
	bool several;
} Search;

/* Looks through nodes whose current row is that of the node below. */
static void
search(PlanState *node, Search *wanted)
{
	if (node == NULL)
		return;
	switch (nodeTag(node))
	{
		case T_ForeignScanState:
		{
			const ForeignScanState *scan = (const ForeignScanState *) node;

			if (scan->ss.ss_currentRelation == NULL || RelationGetRelid(scan->ss.ss_currentRelation) != wanted->relid ||
			    scan->fdwroutine->GetForeignPlan != kakehashi_get_plan)
				return;
			wanted->several = wanted->found != NULL;
			wanted->found = scan;
			return;
		}
		case T_AppendState:
			/* Other scans that go on by themselves may be ahead of the row that was given. */
			if (((AppendState *) node)->as_nasyncplans > 0)
				return;
			for (int i = 0; i < ((AppendState *) node)->as_nplans; i++)
				search(((AppendState *) node)->appendplans[i], wanted);
			return;
		case T_LockRowsState:
		case T_ResultState:
		case T_LimitState:
			search(outerPlanState(node), wanted);
			return;
		case T_SubqueryScanState:
			search(((SubqueryScanState *) node)->subplan, wanted);
			return;
		default:
			return;
	}
}

Datum
kakehashi_current_of(const CurrentOfExpr *expr, ExprContext *econtext, EState *estate, bool *is_null)
{
	const char *name = cursor_name(expr, econtext);
	Search wanted = {.relid = exec_rt_fetch(expr->cvarno, estate)->relid};
	Portal portal = GetPortalByName(name);
	const RemoteScan *state;

	if (!PortalIsValid(portal))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_CURSOR), errmsg("cursor \"%s\" does not exist", name)));
	if (portal->strategy != PORTAL_ONE_SELECT)
		ereport(ERROR, (errcode(ERRCODE_INVALID_CURSOR_STATE), errmsg("cursor \"%s\" is not a SELECT query", name)));
	if (portal->queryDesc == NULL || portal->queryDesc->estate == NULL)
		ereport(ERROR, (errcode(ERRCODE_INVALID_CURSOR_STATE),
		                errmsg("cursor \"%s\" is held from a previous transaction", name)));
	search(portal->queryDesc->planstate, &wanted);
	if (wanted.found == NULL || wanted.several || ((const RemoteScan *) wanted.found->fdw_state)->map->identity == NULL)
		ereport(ERROR, (errcode(ERRCODE_INVALID_CURSOR_STATE),
		                errmsg("cursor \"%s\" is not a simply updatable scan of table \"%s\"", name,
		                       get_rel_name(wanted.relid))));
	if (portal->atStart || portal->atEnd)
		ereport(ERROR,
		        (errcode(ERRCODE_INVALID_CURSOR_STATE), errmsg("cursor \"%s\" is not positioned on a row", name)));
	/* Of a tree of tables the row may be another one's. */
	state = (const RemoteScan *) wanted.found->fdw_state;
	*is_null = TupIsNull(wanted.found->ss.ss_ScanTupleSlot);
	return *is_null ? (Datum) 0 : Int64GetDatum(*state->map->identity);
}

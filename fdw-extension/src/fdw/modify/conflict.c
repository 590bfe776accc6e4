/*
 * INSERT ... ON CONFLICT on the engine's unique keys.
 *
 * PostgreSQL's planner looks for a local index on the columns and expressions of ON CONFLICT and refuses foreign tables, which have
 * none. So they are taken out of the query before it is planned: columns are marked in the list of EXCLUDED's columns, which the
 * planner carries along, and expressions are added to it; the engine finds the key, or says that there is none. This needs the
 * planner's hook, and that the library: an INSERT that is the first to touch a foreign table in its session needs it in session_preload_libraries.
 *
 * What DO UPDATE sets goes over as part of the statement, as do the conditions of DO UPDATE and of PostgreSQL 19's DO SELECT. Parts of them that
 * do not use the row found in the table are computed here for each proposed row, and are parameters after its columns.
 */
#include "fdw/modify/modify.h"
#include "fdw/plan/plan.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "foreign/fdwapi.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/* Marks of entries in the list of EXCLUDED's columns. */
#define KEY_COLUMN 1
#define KEY_EXPRESSION 2

static planner_hook_type previous_hook = NULL;

pg_noreturn static void
report_unsupported(const char *relation, const char *what)
{
	ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
	                errmsg("ON CONFLICT on foreign table \"%s\" cannot be sent to the engine: %s", relation, what),
	                errhint("Send the whole statement with kakehashi_execute().")));
}

static bool
is_our_table(const RangeTblEntry *rte)
{
	return rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_FOREIGN_TABLE &&
	       GetFdwRoutineByRelId(rte->relid)->GetForeignPlan == kakehashi_get_plan;
}

/* DO NOTHING has no columns of EXCLUDED; its list is read by nobody else. */
static void
mark_column(OnConflictExpr *conflict, AttrNumber attnum)
{
	TargetEntry *entry;
	ListCell *cell;

	foreach (cell, conflict->exclRelTlist)
	{
		entry = lfirst_node(TargetEntry, cell);
		if (entry->resno == attnum)
		{
			entry->ressortgroupref = KEY_COLUMN;
			return;
		}
	}
	entry = makeTargetEntry((Expr *) makeNullConst(INT4OID, -1, InvalidOid), attnum, NULL, false);
	entry->ressortgroupref = KEY_COLUMN;
	conflict->exclRelTlist = lappend(conflict->exclRelTlist, entry);
}

/* It is prepared with the list as other expressions are, and has a number that no column has. */
static void
add_expression(OnConflictExpr *conflict, Node *expr)
{
	TargetEntry *entry =
		makeTargetEntry((Expr *) copyObject(expr),
	                    (AttrNumber) (MaxHeapAttributeNumber + 1 + list_length(conflict->exclRelTlist)), NULL, false);

	entry->ressortgroupref = KEY_EXPRESSION;
	conflict->exclRelTlist = lappend(conflict->exclRelTlist, entry);
}

/* Takes ON CONFLICT's key from the planner; deparse_key() finds it again by the marks. */
static void
mark_key(Query *query)
{
	OnConflictExpr *conflict = query->onConflict;
	RangeTblEntry *rte;
	ListCell *cell;

	if (query->commandType != CMD_INSERT || conflict == NULL || conflict->arbiterElems == NIL)
		return;
	rte = rt_fetch(query->resultRelation, query->rtable);
	if (!is_our_table(rte))
		return;
	foreach (cell, conflict->arbiterElems)
	{
		InferenceElem *element = lfirst_node(InferenceElem, cell);

		if (OidIsValid(element->infercollid) || OidIsValid(element->inferopclass))
			report_unsupported(get_rel_name(rte->relid), "its key names a collation or an operator class");
		if (IsA(element->expr, Var) && ((Var *) element->expr)->varattno > 0)
			mark_column(conflict, ((Var *) element->expr)->varattno);
		else
			add_expression(conflict, element->expr);
	}
	conflict->arbiterElems = NIL;
}

static PlannedStmt *
plan_query(KAKEHASHI_PLANNER_PARAMETERS)
{
	ListCell *cell;
	PlannedStmt *result;
	KakehashiPositions before;
	List *scans;

	mark_key(parse);
	foreach (cell, parse->cteList)
	{
		Node *query = lfirst_node(CommonTableExpr, cell)->ctequery;

		if (IsA(query, Query))
			mark_key((Query *) query);
	}
	/* Functions that are evaluated meanwhile plan their own queries. */
	before = kakehashi_current_of_enter(parse, cursor_options);
	scans = kakehashi_windows_enter();
	PG_TRY();
	{
		result = previous_hook != NULL ? previous_hook(KAKEHASHI_PLANNER_ARGUMENTS)
		                               : standard_planner(KAKEHASHI_PLANNER_ARGUMENTS);
		kakehashi_windows_finish();
	}
	PG_FINALLY();
	{
		kakehashi_windows_leave(scans);
		kakehashi_current_of_leave(before);
	}
	PG_END_TRY();
	return result;
}

void
kakehashi_conflict_init(void)
{
	previous_hook = planner_hook;
	planner_hook = plan_query;
}

/*
 * What DO UPDATE means for triggers happens where the row is found, and there are none there. A row that DO SELECT has found is none that was inserted,
 * and is not updated.
 */
static void
check_triggers(const ModifyTable *plan, Relation rel)
{
	TriggerDesc *triggers = rel->trigdesc;

	if (triggers != NULL && (triggers->trig_insert_after_row || triggers->trig_insert_new_table ||
	                         (plan->onConflictAction == ONCONFLICT_UPDATE &&
	                          (triggers->trig_update_before_row || triggers->trig_update_after_row ||
	                           triggers->trig_update_old_table || triggers->trig_update_new_table))))
		report_unsupported(RelationGetRelationName(rel), "the table has triggers that would see the row in conflict");
}

#if PG_VERSION_NUM >= 180000
static bool
returns_old(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varreturningtype == VAR_RETURNING_OLD;
	if (IsA(node, ReturningExpr) && ((ReturningExpr *) node)->retold)
		return true;
	return expression_tree_walker(node, returns_old, context);
}
#endif

/* The row in conflict as it was is not among what comes back. */
static void
check_returning(PlannerInfo *root, Relation rel)
{
#if PG_VERSION_NUM >= 180000
	if (returns_old((Node *) root->parse->returningList, NULL))
		report_unsupported(RelationGetRelationName(rel), "RETURNING asks for the old row");
#endif
}

/* The updated row, in terms of the row in conflict. */
typedef struct UpdatedRow
{
	const ModifyTable *plan;
	Index relid;
} UpdatedRow;

static Node *
updated_value(Node *node, void *context)
{
	const UpdatedRow *row = (const UpdatedRow *) context;
	ListCell *expr_cell;
	ListCell *attnum_cell;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var))
		return expression_tree_mutator(node, updated_value, context);
	forboth(expr_cell, row->plan->onConflictSet, attnum_cell, row->plan->onConflictCols)
	{
		if (lfirst_int(attnum_cell) == ((Var *) node)->varattno)
			return (Node *) copyObject(lfirst_node(TargetEntry, expr_cell)->expr);
	}
	node = (Node *) copyObject(node);
	((Var *) node)->varno = (int) row->relid;
	return node;
}

static bool
uses_updated(Node *expr, const ModifyTable *plan)
{
	Bitmapset *used = NULL;
	ListCell *cell;

	pull_varattnos(expr, 1, &used);
	foreach (cell, plan->onConflictCols)
	{
		if (bms_is_member(lfirst_int(cell) - FirstLowInvalidHeapAttributeNumber, used))
			return true;
	}
	return false;
}

/* Stored generated columns are columns like others there: those that are computed from what has changed change, too. */
static void
deparse_generated(KakehashiDeparse *context, const ModifyTable *plan, Relation rel)
{
	UpdatedRow row = {.plan = plan, .relid = context->rel->relid};

	for (int attnum = 1; attnum <= RelationGetDescr(rel)->natts; attnum++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
		Node *value;
		Expr *expr;

		if (att->attisdropped || att->attgenerated != ATTRIBUTE_GENERATED_STORED ||
		    kakehashi_is_generated_there(rel, attnum))
			continue;
		value = build_column_default(rel, attnum);
		if (!uses_updated(value, plan))
			continue;
		expr = (Expr *) eval_const_expressions(context->root, updated_value(value, &row));
		if (!kakehashi_is_shippable(context->root, context->rel, expr))
			report_unsupported(
				RelationGetRelationName(rel),
				psprintf("generated column \"%s\" is not computed there as it is here", NameStr(att->attname)));
		appendStringInfoString(context->buf, ", ");
		kakehashi_deparse_names(context->buf, rel, list_make1_int(attnum));
		appendStringInfoString(context->buf, " = ");
		kakehashi_deparse_expr(context, expr);
	}
}

static void
deparse_where(KakehashiDeparse *context, const ModifyTable *plan, Relation rel)
{
	List *conditions = (List *) plan->onConflictWhere;
	ListCell *cell;

	foreach (cell, conditions)
	{
		if (!kakehashi_is_shippable(context->root, context->rel, (Expr *) lfirst(cell)))
			report_unsupported(RelationGetRelationName(rel), "its condition is not evaluated there as it is here");
	}
	kakehashi_deparse_conditions(context, "WHERE", conditions);
}

static void
deparse_update(KakehashiDeparse *context, ModifyTable *plan, Relation rel)
{
	ListCell *expr_cell;
	ListCell *attnum_cell;

	appendStringInfoString(context->buf, " DO UPDATE SET ");
	forboth(expr_cell, plan->onConflictSet, attnum_cell, plan->onConflictCols)
	{
		Expr *expr = lfirst_node(TargetEntry, expr_cell)->expr;
		int attnum = lfirst_int(attnum_cell);

		if (!kakehashi_is_assignable(context->root, context->rel, expr))
			report_unsupported(RelationGetRelationName(rel),
			                   psprintf("the new value of column \"%s\" is not computed there as it is here",
			                            NameStr(TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attname)));
		if (foreach_current_index(expr_cell) > 0)
			appendStringInfoString(context->buf, ", ");
		kakehashi_deparse_assignment(context, kakehashi_remote_column(RelationGetRelid(rel), (AttrNumber) attnum),
		                             expr);
	}
	deparse_generated(context, plan, rel);
	deparse_where(context, plan, rel);
}

#if PG_VERSION_NUM >= 190000
static void
deparse_select(KakehashiDeparse *context, const ModifyTable *plan, Relation rel)
{
	/* PostgreSQL looks at rows that were inserted, but at none that was there. */
	if (plan->withCheckOptionLists != NIL)
		report_unsupported(RelationGetRelationName(rel), "it is DO SELECT of a view with CHECK OPTION");
	appendStringInfoString(context->buf, " DO SELECT");
	switch (plan->onConflictLockStrength)
	{
		case LCS_NONE:
			break;
		case LCS_FORKEYSHARE:
			appendStringInfoString(context->buf, " FOR KEY SHARE");
			break;
		case LCS_FORSHARE:
			appendStringInfoString(context->buf, " FOR SHARE");
			break;
		case LCS_FORNOKEYUPDATE:
			appendStringInfoString(context->buf, " FOR NO KEY UPDATE");
			break;
		case LCS_FORUPDATE:
			appendStringInfoString(context->buf, " FOR UPDATE");
			break;
	}
	deparse_where(context, plan, rel);
}
#endif

/* What PostgreSQL says. */
pg_noreturn static void
report_no_key(void)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
	                errmsg("there is no unique or exclusion constraint matching the ON CONFLICT specification")));
}

/*
 * WHERE of a partial index's key. PostgreSQL proves from it that a row is in the index, and so does the engine, by constants in its text: a value that
 * comes later proves nothing on either side.
 */
static void
deparse_key_condition(PlannerInfo *root, RelOptInfo *target, Relation rel, List *conditions, StringInfo buf)
{
	KakehashiDeparse context = {.root = root, .rel = target, .buf = buf, .literals = true, .all_literals = true};
	ListCell *cell;

	foreach (cell, conditions)
	{
		if (!kakehashi_is_shippable(root, target, (Expr *) lfirst(cell)))
			report_unsupported(RelationGetRelationName(rel),
			                   "the condition of its key is not evaluated there as it is here");
	}
	kakehashi_deparse_conditions(&context, "WHERE", conditions);
	if (context.params != NIL)
		report_no_key();
}

/* Expressions are not computed, but compared with those of the engine's indexes: their constants are written out, and collations do not matter. */
static bool
deparse_key(PlannerInfo *root, RelOptInfo *target, Relation rel, const OnConflictExpr *conflict, StringInfo buf)
{
	KakehashiDeparse context = {.root = root, .rel = target, .buf = buf, .literals = true, .all_literals = true};
	bool found = false;
	ListCell *cell;

	foreach (cell, conflict->exclRelTlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (entry->ressortgroupref == 0)
			continue;
		appendStringInfoString(buf, found ? ", " : " (");
		found = true;
		if (entry->ressortgroupref == KEY_COLUMN)
		{
			kakehashi_deparse_names(buf, rel, list_make1_int(entry->resno));
			continue;
		}
		if (!kakehashi_is_nameable(root, target, entry->expr))
			report_unsupported(RelationGetRelationName(rel), "an expression of its key has no form there");
		appendStringInfoChar(buf, '(');
		kakehashi_deparse_expr(&context, entry->expr);
		appendStringInfoChar(buf, ')');
		if (context.params != NIL)
			report_no_key();
	}
	if (found)
		appendStringInfoChar(buf, ')');
	return found;
}

/* The proposed row has no value here of what the engine computes for it. */
static void
check_excluded(Relation rel, const OnConflictExpr *conflict, List *params, List *targets)
{
	List *computed = list_difference_int(kakehashi_generated_columns(rel), targets);
	Bitmapset *used = NULL;
	ListCell *cell;

	pull_varattnos((Node *) params, conflict->exclRelIndex, &used);
	foreach (cell, computed)
	{
		if (bms_is_member(lfirst_int(cell) - FirstLowInvalidHeapAttributeNumber, used))
			report_unsupported(RelationGetRelationName(rel),
			                   psprintf("the proposed value of column \"%s\" is the engine's",
			                            NameStr(TupleDescAttr(RelationGetDescr(rel), lfirst_int(cell) - 1)->attname)));
	}
}

/*
 * The parameters' expressions are evaluated over the proposed row: columns of EXCLUDED are its columns. ModifyTable's private
 * lists are not looked at by set_plan_references().
 */
static List *
parameter_expressions(List *params, int first)
{
	List *result = copyObject(list_copy_tail(params, first));

	fix_opfuncids((Node *) result);
	return result;
}

List *
kakehashi_deparse_conflict(PlannerInfo *root, ModifyTable *plan, Relation rel, List *targets, StringInfo buf)
{
	OnConflictExpr *conflict = root->parse->onConflict;
	RelOptInfo *target = makeNode(RelOptInfo);
	KakehashiDeparse context = {.root = root, .rel = target, .buf = buf, .qualified = true};
	ListCell *cell;

	target->reloptkind = RELOPT_BASEREL;
	target->relid = (Index) root->parse->resultRelation;
	target->relids = bms_make_singleton(root->parse->resultRelation);
	/* Functions of applications are none of what is set. */
	if (!kakehashi_server_computes_all(GetForeignTable(RelationGetRelid(rel))->serverid))
		target->serverid = GetForeignTable(RelationGetRelid(rel))->serverid;
	/* What is proposed for a column is its parameter already. */
	foreach (cell, targets)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), lfirst_int(cell) - 1);

		context.params = lappend(context.params, makeVar(conflict->exclRelIndex, (AttrNumber) lfirst_int(cell),
		                                                 att->atttypid, att->atttypmod, att->attcollation, 0));
	}
	appendStringInfoString(buf, " ON CONFLICT");
	if (deparse_key(root, target, rel, conflict, buf))
		deparse_key_condition(root, target, rel, (List *) conflict->arbiterWhere, buf);
	if (plan->onConflictAction == ONCONFLICT_NOTHING)
	{
		appendStringInfoString(buf, " DO NOTHING");
		return NIL;
	}
	check_triggers(plan, rel);
	check_returning(root, rel);
#if PG_VERSION_NUM >= 190000
	if (plan->onConflictAction == ONCONFLICT_SELECT)
		deparse_select(&context, plan, rel);
	else
#endif
		deparse_update(&context, plan, rel);
	check_excluded(rel, conflict, context.params, targets);
	return parameter_expressions(context.params, list_length(targets));
}

/* ---- Execution ---- */

struct KakehashiConflict
{
	List *exprs; /* ExprStates of parameters after the row's columns */
	ExprContext *context;
};

KakehashiConflict *
kakehashi_conflict_begin(ModifyTableState *node, List *exprs, List **types)
{
	KakehashiConflict *conflict = (KakehashiConflict *) palloc0(sizeof(KakehashiConflict));
	ListCell *cell;

	conflict->exprs = ExecInitExprList(exprs, &node->ps);
	conflict->context = CreateExprContext(node->ps.state);
	foreach (cell, exprs)
	{
		*types = lappend_oid(*types, exprType((Node *) lfirst(cell)));
	}
	return conflict;
}

void
kakehashi_conflict_parameters(KakehashiConflict *conflict, TupleTableSlot *slot, Datum *values, bool *nulls)
{
	ListCell *cell;

	ResetExprContext(conflict->context);
	conflict->context->ecxt_scantuple = slot;
	foreach (cell, conflict->exprs)
	{
		int i = foreach_current_index(cell);

		values[i] = ExecEvalExprSwitchContext((ExprState *) lfirst(cell), conflict->context, &nulls[i]);
	}
}

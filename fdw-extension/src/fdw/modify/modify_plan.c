/*
 * Plans of INSERT, UPDATE and DELETE that go row by row, or batch by batch.
 */
#include "fdw/modify/modify.h"
#include "fdw/deparse/deparse.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/inherit.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* A row of the engine is known by its key, which the scan delivers under these names, or by its identity. */
void
kakehashi_key_junk_name(char *name, AttrNumber attnum)
{
	snprintf(name, NAMEDATALEN, "kakehashi_key_%d", attnum);
}

void
kakehashi_add_update_targets(PlannerInfo *root, Index rtindex, RangeTblEntry *rte, Relation rel)
{
	List *keys = kakehashi_key_columns(rel);
	ListCell *cell;

	if (keys == NIL)
		kakehashi_add_identity(root, rtindex);
	foreach (cell, keys)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), lfirst_int(cell) - 1);
		char name[NAMEDATALEN];
		Var *var = makeVar((int) rtindex, att->attnum, att->atttypid, att->atttypmod, att->attcollation, 0);

		kakehashi_key_junk_name(name, att->attnum);
		add_row_identity_var(root, var, rtindex, pstrdup(name));
	}
}

bool
kakehashi_changes_generated(PlannerInfo *root, Index result_relation, Relation rel)
{
	Bitmapset *columns;
	int member = -1;

	if (RelationGetDescr(rel)->constr == NULL || !RelationGetDescr(rel)->constr->has_generated_stored)
		return false;
	columns = get_rel_all_updated_cols(root, find_base_rel(root, (int) result_relation));
	while ((member = bms_next_member(columns, member)) >= 0)
	{
		int attnum = member + FirstLowInvalidHeapAttributeNumber;

		if (attnum > 0 && TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attgenerated != '\0' &&
		    !kakehashi_is_generated_there(rel, attnum))
			return true;
	}
	return false;
}

static bool
is_sent(Relation rel, int attnum)
{
	return kakehashi_is_stored(rel, attnum) && !kakehashi_is_generated_there(rel, attnum);
}

List *
kakehashi_insert_columns(Relation rel)
{
	List *result = NIL;

	for (int attnum = 1; attnum <= RelationGetDescr(rel)->natts; attnum++)
	{
		if (is_sent(rel, attnum))
			result = lappend_int(result, attnum);
	}
	return result;
}

/* True if an INSERT has no value for a column. */
static bool
is_missing(PlannerInfo *root, int attnum)
{
	TargetEntry *entry = get_tle_by_resno(root->processed_tlist, (AttrNumber) attnum);

	return entry == NULL || (IsA(entry->expr, Const) && ((Const *) entry->expr)->constisnull);
}

/*
 * Columns of an INSERT but for generated ones that the statement has no value for. A trigger may give them one. What rows
 * of VALUES and SELECT have is known when they are there: kakehashi_insert_form().
 */
static List *
given_columns(PlannerInfo *root, Relation rel)
{
	List *result = kakehashi_insert_columns(rel);
	ListCell *cell;

	if (rel->trigdesc != NULL && rel->trigdesc->trig_insert_before_row)
		return result;
	foreach (cell, kakehashi_generated_columns(rel))
	{
		if (is_missing(root, lfirst_int(cell)))
			result = list_delete_int(result, lfirst_int(cell));
	}
	return result;
}

/*
 * What the statement says of identity columns, which PostgreSQL does not know to be some. Values that it does not give are a trigger's, and PostgreSQL takes
 * those as they are.
 */
static OverridingKind
overriding(PlannerInfo *root, Relation rel)
{
	ListCell *cell;

	if (root->parse->override != OVERRIDING_NOT_SET || rel->trigdesc == NULL || !rel->trigdesc->trig_insert_before_row)
		return root->parse->override;
	foreach (cell, kakehashi_generated_columns(rel))
	{
		if (!is_missing(root, lfirst_int(cell)))
			return OVERRIDING_NOT_SET;
	}
	return OVERRIDING_SYSTEM_VALUE;
}

bool
kakehashi_is_set_to_default(Relation rel, int attnum, const Expr *value)
{
	return IsA(value, Const) && ((const Const *) value)->constisnull && ((const Const *) value)->location < 0 &&
	       list_member_int(kakehashi_generated_columns(rel), attnum);
}

static List *
default_columns(PlannerInfo *root, Index result_relation, Relation rel)
{
	List *targets;
	List *attnums;
	List *result = NIL;
	ListCell *entry;
	ListCell *attnum;

	get_translated_update_targetlist(root, result_relation, &targets, &attnums);
	forboth(entry, targets, attnum, attnums)
	{
		if (kakehashi_is_set_to_default(rel, lfirst_int(attnum), lfirst_node(TargetEntry, entry)->expr))
			result = lappend_int(result, lfirst_int(attnum));
	}
	return result;
}

static List *
update_columns(PlannerInfo *root, Index result_relation, Relation rel)
{
	Bitmapset *columns;
	List *result = NIL;
	int member = -1;

	/* A trigger may change any column, but none that the engine computes. */
	if (rel->trigdesc != NULL && rel->trigdesc->trig_update_before_row)
		result = list_difference_int(kakehashi_insert_columns(rel), kakehashi_generated_columns(rel));
	columns = get_rel_all_updated_cols(root, find_base_rel(root, (int) result_relation));
	while ((member = bms_next_member(columns, member)) >= 0)
	{
		int attnum = member + FirstLowInvalidHeapAttributeNumber;

		if (attnum <= InvalidAttrNumber)
			elog(ERROR, "system-column update is not supported");
		if (is_sent(rel, attnum))
			result = list_append_unique_int(result, attnum);
	}
	return result;
}

List *
kakehashi_returning_columns(ModifyTable *plan, Index result_relation, int subplan_index, Relation rel,
                            bool row_triggers)
{
	Bitmapset *columns = NULL;

	/* A failed check shows the row, so that it takes all of it, too. */
	if (row_triggers ||
	    (plan->withCheckOptionLists != NIL && list_nth(plan->withCheckOptionLists, subplan_index) != NIL))
		columns = bms_make_singleton(0 - FirstLowInvalidHeapAttributeNumber);
	if (plan->returningLists != NIL)
		pull_varattnos((Node *) list_nth(plan->returningLists, subplan_index), result_relation, &columns);
	return kakehashi_attnums(rel, columns);
}

List *
kakehashi_row_key(Relation rel)
{
	List *keys = kakehashi_key_columns(rel);

	return keys != NIL ? keys : list_make1_int(KAKEHASHI_IDENTITY);
}

static bool
reads_foreign_table(PlannerInfo *root)
{
	ListCell *cell;

	foreach (cell, root->parse->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, cell);

		if (rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_FOREIGN_TABLE)
			return true;
		if (rte->rtekind == RTE_SUBQUERY || rte->rtekind == RTE_CTE)
			return true; /* of what, is not worth a search */
	}
	return false;
}

static bool
is_stable_of_user(Oid function, void *context)
{
	(void) context;
	return function >= FirstNormalObjectId && func_volatile(function) != PROVOLATILE_VOLATILE;
}

/* Whether an expression reads tables once for each row that it is evaluated for: subqueries with values of the row, functions. */
static bool
may_read_for_each_row(Node *node, void *context)
{
	PlannerInfo *root = (PlannerInfo *) context;

	if (node == NULL)
		return false;
	if (IsA(node, SubPlan))
	{
		SubPlan *subplan = (SubPlan *) node;

		if ((subplan->parParam != NIL || !subplan->useHashTable) &&
		    reads_foreign_table(list_nth_node(PlannerInfo, root->glob->subroots, subplan->plan_id - 1)))
			return true;
	}
	return check_functions_in_node(node, is_stable_of_user, NULL) ||
	       expression_tree_walker(node, may_read_for_each_row, context);
}

/*
 * Rows are changed on the engine while the plan below still finds others. A request of that plan that starts later sees what
 * has been changed, while PostgreSQL's tables stay as they were when the statement began. So a plan with such requests runs to
 * its end before the first row is changed: it is sorted, by a column of the key.
 */
static void
read_before_changing(PlannerInfo *root, ModifyTable *plan)
{
	Plan *source = outerPlan(plan);
	ListCell *cell;

	if (IsA(source, Sort) || !(may_read_for_each_row((Node *) root->parse->targetList, root) ||
	                           may_read_for_each_row((Node *) root->parse->jointree, root)))
		return;
	foreach (cell, source->targetlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);
		Oid collation = exprCollation((Node *) entry->expr);
		TypeCacheEntry *type = lookup_type_cache(exprType((Node *) entry->expr), TYPECACHE_LT_OPR);

		if (entry->resjunk && OidIsValid(type->lt_opr) && type->typtype != TYPTYPE_COMPOSITE &&
		    type->type_id != RECORDOID && (OidIsValid(collation) || !type_is_collatable(type->type_id)))
		{
			Sort *sort = makeNode(Sort);

			sort->plan = *source;
			sort->plan.type = T_Sort;
			sort->plan.qual = NIL;
			sort->plan.initPlan = NIL;
			sort->plan.lefttree = source;
			sort->plan.righttree = NULL;
			sort->plan.async_capable = false;
			sort->plan.startup_cost = source->total_cost;
			sort->numCols = 1;
			sort->sortColIdx = (AttrNumber *) palloc(sizeof(AttrNumber));
			sort->sortOperators = (Oid *) palloc(sizeof(Oid));
			sort->collations = (Oid *) palloc(sizeof(Oid));
			sort->nullsFirst = (bool *) palloc(sizeof(bool));
			sort->sortColIdx[0] = entry->resno;
			sort->sortOperators[0] = type->lt_opr;
			sort->collations[0] = collation;
			sort->nullsFirst[0] = false;
			outerPlan(plan) = (Plan *) sort;
			return;
		}
	}
}

/* The user that the changes are made as, or InvalidOid: whoever runs the query. */
static Oid
changing_user(PlannerInfo *root)
{
	RangeTblEntry *rte = planner_rt_fetch((Index) root->parse->resultRelation, root);

#if PG_VERSION_NUM >= 160000
	return rte->perminfoindex == 0 ? InvalidOid : getRTEPermissionInfo(root->parse->rteperminfos, rte)->checkAsUser;
#else
	return rte->checkAsUser;
#endif
}

/* Reports what the engine lacks for changes of rows one by one. */
static void
check_engine(Oid server, const ModifyTable *plan, Relation rel, Index result_relation, const List *returning)
{
	const Plan *source = outerPlan(plan);

	kakehashi_server_require(server, KH_CAN_CHANGES);
	if (returning != NIL)
		kakehashi_server_require(server, KH_CAN_RETURNING);
	if (plan->onConflictAction != ONCONFLICT_NONE)
		kakehashi_server_require(server, KH_CAN_ON_CONFLICT);
	/* That a row is changed or locked twice by one command only the engine sees. */
	if (plan->onConflictAction > ONCONFLICT_NOTHING)
		kakehashi_server_require(server, KH_CAN_COMMANDS);
	if (plan->operation == CMD_INSERT)
		return;
	/* What was computed from a row is to be true still when it is written. */
	kakehashi_server_require(server, KH_CAN_ROW_LOCKS);
	if (kakehashi_key_columns(rel) == NIL)
		kakehashi_server_require(server, KH_CAN_ROW_IDENTITY);
	if (!IsA(source, ForeignScan) || ((const ForeignScan *) source)->scan.scanrelid != result_relation)
		kakehashi_server_require(server, KH_CAN_COMMANDS);
}

List *
kakehashi_plan_modify(PlannerInfo *root, ModifyTable *plan, Index result_relation, int subplan_index)
{
	Relation rel = table_open(planner_rt_fetch(result_relation, root)->relid, NoLock);
	TriggerDesc *triggers = rel->trigdesc;
	List *targets = NIL;
	List *returning;
	List *conflict = NIL;
	List *defaults;
	StringInfoData conflict_sql;
	Oid server;
	char *sql = NULL;
	OverridingKind overriding_kind = OVERRIDING_NOT_SET;
	bool row_triggers = false;

	if (triggers != NULL)
		row_triggers = plan->operation == CMD_INSERT   ? triggers->trig_insert_after_row
		               : plan->operation == CMD_UPDATE ? triggers->trig_update_after_row
		                                               : false;
	returning = kakehashi_returning_columns(plan, result_relation, subplan_index, rel, row_triggers);
#if PG_VERSION_NUM >= 190000
	/* It has no form without RETURNING, not even where nothing of the row is asked for. */
	if (plan->onConflictAction == ONCONFLICT_SELECT && returning == NIL)
		returning =
			list_copy_head(kakehashi_attnums(rel, bms_make_singleton(0 - FirstLowInvalidHeapAttributeNumber)), 1);
#endif
	server = GetForeignTable(RelationGetRelid(rel))->serverid;
	kakehashi_engine_know(server, changing_user(root));
	check_engine(server, plan, rel, result_relation, returning);

	switch (plan->operation)
	{
		case CMD_INSERT:
			targets = given_columns(root, rel);
			overriding_kind = overriding(root, rel);
			initStringInfo(&conflict_sql);
			if (plan->onConflictAction != ONCONFLICT_NONE)
				conflict = kakehashi_deparse_conflict(root, plan, rel, targets, &conflict_sql);
			/* The row that is there has a name. */
			sql = kakehashi_deparse_insert(rel, plan->onConflictAction > ONCONFLICT_NOTHING ? result_relation : 0,
			                               targets, overriding_kind, conflict_sql.data, returning);
			break;
		case CMD_UPDATE:
			defaults = default_columns(root, result_relation, rel);
			targets = list_difference_int(update_columns(root, result_relation, rel), defaults);
			sql = kakehashi_deparse_update(rel, targets, defaults, kakehashi_row_key(rel), returning);
			break;
		case CMD_DELETE:
			sql = kakehashi_deparse_delete(rel, kakehashi_row_key(rel), returning);
			break;
		default:
			elog(ERROR, "unexpected operation: %d", (int) plan->operation);
	}
	if (plan->operation != CMD_INSERT)
		read_before_changing(root, plan);
	table_close(rel, NoLock);
	return list_make5(makeString(sql), targets, returning, conflict, makeInteger((int) overriding_kind));
}

int
kakehashi_is_updatable(Relation rel)
{
	ForeignTable *table = GetForeignTable(RelationGetRelid(rel));
	KakehashiOptions options = kakehashi_options(GetForeignServer(table->serverid), table);

	return options.updatable ? (1 << CMD_INSERT) | (1 << CMD_UPDATE) | (1 << CMD_DELETE) : 0;
}

/*
 * INSERT, UPDATE and DELETE row by row, and INSERT in batches.
 */
#include "fdw/modify/modify.h"
#include "fdw/deparse/deparse.h"
#include "fdw/transaction/transaction.h"
#include "fdw/explain/explain.h"

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"

Oid
kakehashi_modify_user(EState *estate, ResultRelInfo *rinfo)
{
#if PG_VERSION_NUM >= 160000
	Oid user = ExecGetResultRelCheckAsUser(rinfo, estate);
#else
	/* A partition that rows are routed to is none of the query's relations: the partitioned table speaks for it. */
	Index rtindex = rinfo->ri_RangeTableIndex != 0 || rinfo->ri_RootResultRelInfo == NULL
	                    ? rinfo->ri_RangeTableIndex
	                    : rinfo->ri_RootResultRelInfo->ri_RangeTableIndex;
	Oid user = rtindex != 0 ? exec_rt_fetch(rtindex, estate)->checkAsUser : InvalidOid;
#endif

	return OidIsValid(user) ? user : GetUserId();
}

/* What the engine would not keep as it is, is not sent to it. */
static void
check_types(const KakehashiModify *modify)
{
	const kh_engine *engine = kh_session_engine(modify->session->ipc);
	ListCell *cell;

	foreach (cell, modify->targets)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(modify->rel), lfirst_int(cell) - 1);

		if (!kakehashi_keeps_type(engine, att->atttypid))
			ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			                errmsg("engine \"%s\" does not keep values of type %s", engine->name,
			                       format_type_be(att->atttypid)),
			                errdetail("Column \"%s\" of foreign table \"%s\" has this type.", NameStr(att->attname),
			                          RelationGetRelationName(modify->rel))));
	}
}

static KakehashiModify *
modify_create(ModifyTableState *node, ResultRelInfo *rinfo, CmdType operation, List *plan_tlist, char *sql,
              List *targets, List *returning, List *conflict)
{
	EState *estate = node->ps.state;
	Relation rel = rinfo->ri_RelationDesc;
	ForeignTable *table = GetForeignTable(RelationGetRelid(rel));
	KakehashiOptions options = kakehashi_options(GetForeignServer(table->serverid), table);
	KakehashiModify *modify = (KakehashiModify *) palloc0(sizeof(KakehashiModify));
	List *extra_types = NIL;
	int count;
	int i = 0;
	ListCell *cell;

	modify->rel = rel;
	modify->sql = sql;
	modify->targets = targets;
	modify->returning = returning;
	modify->keys = operation == CMD_INSERT ? NIL : kakehashi_row_key(rel);
	modify->batch_size = options.batch_size;
	if (operation == CMD_INSERT && outerPlanState(node) != NULL)
	{
		/* No copy is counted as a reference: a thousand slots would have as many. */
		modify->gathered_desc = CreateTupleDescCopy(RelationGetDescr(rel));
		modify->plan_desc = CreateTupleDescCopy(ExecGetResultType(outerPlanState(node)));
	}
	modify->cost = (KakehashiCost *) palloc0(sizeof(KakehashiCost));
	/* The node itself is given its instrumentation only after this. */
	modify->cost->timed = estate->es_instrument != 0;
	modify->estate = estate;
	modify->counted = node->canSetTag;
	modify->snapshot_owner = kakehashi_snapshot_owner(estate);
	modify->session = kakehashi_session_get(GetUserMapping(kakehashi_modify_user(estate, rinfo), table->serverid));
	/* An engine without backups keeps its rows elsewhere: each request of it goes a way further, and has more to begin and to end there. */
	modify->most_batch_size = options.batch_size_given || kakehashi_can(modify->session, KH_CAN_BACKUP)
	                              ? options.batch_size
	                              : KAKEHASHI_BATCH_GROWTH * options.batch_size;

	/* Again, and for COPY and rows that are routed: no plan of ours has asked. */
	kakehashi_require(modify->session, KH_CAN_CHANGES);
	if (returning != NIL)
		kakehashi_require(modify->session, KH_CAN_RETURNING);
	check_types(modify);
	if (conflict != NIL)
		modify->conflict = kakehashi_conflict_begin(node, conflict, &extra_types);
	count = list_length(targets) + list_length(modify->keys) + list_length(extra_types);
	modify->types = (Oid *) palloc(Max(count, 1) * sizeof(Oid));
	modify->values = (Datum *) palloc(Max(count, 1) * sizeof(Datum));
	modify->nulls = (bool *) palloc(Max(count, 1) * sizeof(bool));
	foreach (cell, targets)
		modify->types[i++] = TupleDescAttr(RelationGetDescr(rel), lfirst_int(cell) - 1)->atttypid;
	modify->key_junk = (AttrNumber *) palloc(Max(list_length(modify->keys), 1) * sizeof(AttrNumber));
	foreach (cell, modify->keys)
	{
		char name[NAMEDATALEN];
		AttrNumber junk;

		if (lfirst_int(cell) == KAKEHASHI_IDENTITY)
		{
			modify->types[i++] = INT8OID;
			modify->identity_junk = kakehashi_identity_junk(plan_tlist);
			break;
		}
		modify->types[i++] = TupleDescAttr(RelationGetDescr(rel), lfirst_int(cell) - 1)->atttypid;
		kakehashi_key_junk_name(name, (AttrNumber) lfirst_int(cell));
		junk = ExecFindJunkAttributeInTlist(plan_tlist, name);
		if (!AttributeNumberIsValid(junk))
			elog(ERROR, "could not find junk column \"%s\"", name);
		modify->key_junk[foreach_current_index(cell)] = junk;
	}
	foreach (cell, extra_types)
		modify->types[i++] = lfirst_oid(cell);
	modify->writer = kakehashi_row_writer_create(CurrentMemoryContext, count, modify->types);
	if (returning != NIL)
		modify->map = kakehashi_result_map(RelationGetDescr(rel), returning, RelationGetRelationName(rel));
	return modify;
}

/* conflict: ON CONFLICT without parameters, which would be numbered after the columns. */
static void
allow_forms(KakehashiModify *modify, ModifyTableState *node, ResultRelInfo *rinfo, OverridingKind overriding,
            const char *conflict)
{
	modify->generated = list_intersection_int(kakehashi_generated_columns(modify->rel), modify->targets);
	modify->state = node;
	modify->rinfo = rinfo;
	modify->overriding = overriding;
	modify->conflict_clause = conflict;
}

static KakehashiModify *
form_without(KakehashiModify *modify, List *left_out)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(modify));
	List *targets = list_difference_int(modify->targets, left_out);
	KakehashiModify *form;

	form = modify_create(modify->state, modify->rinfo, CMD_INSERT, NIL,
	                     kakehashi_deparse_insert(modify->rel, 0, targets, modify->overriding, modify->conflict_clause,
	                                              modify->returning),
	                     targets, modify->returning, NIL);
	form->left_out = list_copy(left_out);
	form->count_rows = modify->count_rows;
	form->cost = modify->cost;
	form->deferred = modify->deferred;
	form->copied = modify->copied;
	form->alone = modify->alone;
	modify->forms = lappend(modify->forms, form);
	MemoryContextSwitchTo(old);
	return form;
}

KakehashiModify *
kakehashi_insert_form(KakehashiModify *modify, TupleTableSlot *slot)
{
	List *left_out = NIL;
	KakehashiModify *form = NULL;
	ListCell *cell;

	foreach (cell, modify->generated)
	{
		if (slot_attisnull(slot, lfirst_int(cell)))
			left_out = lappend_int(left_out, lfirst_int(cell));
	}
	if (left_out == NIL)
		return modify;
	foreach (cell, modify->forms)
	{
		form = (KakehashiModify *) lfirst(cell);
		if (equal(form->left_out, left_out))
			break;
	}
	if (cell == NULL)
		form = form_without(modify, left_out);
	list_free(left_out);
	return form;
}

void
kakehashi_begin_modify(ModifyTableState *mtstate, ResultRelInfo *rinfo, List *fdw_private, int subplan_index,
                       int eflags)
{
	KakehashiModify *modify;

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	modify = modify_create(mtstate, rinfo, mtstate->operation, outerPlanState(mtstate)->plan->targetlist,
	                       strVal(list_nth(fdw_private, KAKEHASHI_MODIFY_SQL)),
	                       (List *) list_nth(fdw_private, KAKEHASHI_MODIFY_TARGETS),
	                       (List *) list_nth(fdw_private, KAKEHASHI_MODIFY_RETURNING),
	                       (List *) list_nth(fdw_private, KAKEHASHI_MODIFY_CONFLICT));
	modify->count_rows = castNode(ModifyTable, mtstate->ps.plan)->onConflictAction != ONCONFLICT_NONE;
	modify->alone = kakehashi_is_alone(mtstate, rinfo);
	if (mtstate->operation == CMD_INSERT && !modify->count_rows)
		allow_forms(modify, mtstate, rinfo, (OverridingKind) intVal(list_nth(fdw_private, KAKEHASHI_MODIFY_OVERRIDING)),
		            "");
	rinfo->ri_FdwState = modify;
}

/* Rows routed to a partition, and COPY: no plan of ours. */
void
kakehashi_begin_insert(ModifyTableState *mtstate, ResultRelInfo *rinfo)
{
	ModifyTable *plan = castNode(ModifyTable, mtstate->ps.plan);
	Relation rel = rinfo->ri_RelationDesc;
	List *targets = kakehashi_insert_columns(rel);
	List *returning = NIL;
	KakehashiModify *modify;
	const char *conflict;
	bool do_nothing = false;

	if (plan != NULL && plan->operation == CMD_UPDATE && (rinfo->ri_usesFdwDirectModify || rinfo->ri_FdwState != NULL))
		ereport(ERROR,
		        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
		         errmsg("cannot route tuples into foreign table to be updated \"%s\"", RelationGetRelationName(rel))));
	if (plan != NULL)
	{
		if (plan->onConflictAction == ONCONFLICT_NOTHING)
			do_nothing = true;
		else if (plan->onConflictAction != ONCONFLICT_NONE)
			ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			                errmsg("ON CONFLICT DO %s is not supported on foreign table \"%s\"",
			                       plan->onConflictAction == ONCONFLICT_UPDATE ? "UPDATE" : "SELECT",
			                       RelationGetRelationName(rel))));
	}
	/* The lists of the plan speak of the partitioned table, so that all columns come back. */
	if (rinfo->ri_returningList != NIL || rinfo->ri_WithCheckOptions != NIL ||
	    (rel->trigdesc != NULL && rel->trigdesc->trig_insert_after_row))
		returning = kakehashi_attnums(rel, bms_make_singleton(0 - FirstLowInvalidHeapAttributeNumber));
	conflict = do_nothing ? " ON CONFLICT DO NOTHING" : "";
	/* PostgreSQL's own COPY writes into identity columns, and looks at those of a partition for nothing that was inserted above it. */
	modify = modify_create(mtstate, rinfo, CMD_INSERT, NIL,
	                       kakehashi_deparse_insert(rel, 0, targets, OVERRIDING_SYSTEM_VALUE, conflict, returning),
	                       targets, returning, NIL);
	if (do_nothing)
		kakehashi_require(modify->session, KH_CAN_ON_CONFLICT);
	modify->count_rows = do_nothing;
	rinfo->ri_FdwState = modify;
	/* COPY asks for row after row where it does not know of batches, and nobody looks at the table meanwhile. */
	modify->deferred = plan == NULL && kakehashi_batch_size(rinfo) > 1 &&
	                   (rel->trigdesc == NULL || !rel->trigdesc->trig_insert_after_statement);
	if (plan == NULL)
		modify->copied = RelationGetRelationName(
			rinfo->ri_RootResultRelInfo != NULL ? rinfo->ri_RootResultRelInfo->ri_RelationDesc : rel);
	allow_forms(modify, mtstate, rinfo, OVERRIDING_SYSTEM_VALUE, conflict);
}

/* Sends the rows of the writer and waits. The row that comes back, if one is wanted, is stored in slot. */
static uint64
send_rows(KakehashiModify *modify, TupleTableSlot *slot)
{
	KakehashiStatement *statement =
		kakehashi_statement_get(modify->session, modify->sql, modify->writer->types, modify->writer->count);
	KakehashiCall *call;
	const void *rows = NULL;
	uint32 bytes = 0;
	uint64 affected;
	kh_batch batch;

	if (modify->writer->count > 0)
		rows = kakehashi_row_writer_finish(modify->writer, &bytes);
	if (modify->map != NULL)
		kakehashi_result_check(modify->map, RelationGetDescr(modify->rel), RelationGetRelationName(modify->rel),
		                       modify->session, &statement);
	call = kakehashi_execute_statement(modify->session, statement, modify->snapshot_owner, rows, bytes);
	kakehashi_call_measure(call, modify->cost);
	if (modify->map != NULL && slot != NULL && kakehashi_call_next_batch(call, &batch))
	{
		if (batch.row_count > 0)
		{
			kakehashi_result_store(modify->map, &batch, 0, slot);
			/* Copies the values, because the batch goes with the call. */
			ExecMaterializeSlot(slot);
		}
		kh_call_release(call->ipc);
	}
	affected = kakehashi_call_complete(call);
	return affected;
}

void
kakehashi_report_too_long(KakehashiModify *modify)
{
	ereport(ERROR,
	        (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
	         errmsg("row for foreign table \"%s\" exceeds the endpoint's limit of %u bytes",
	                RelationGetRelationName(modify->rel), kh_session_limits(modify->session->ipc)->max_batch_bytes),
	         errhint("Raise \"max_batch_bytes\" of the endpoint.")));
}

void
kakehashi_modify_take_values(KakehashiModify *modify, TupleTableSlot *slot, TupleTableSlot *plan_slot)
{
	ListCell *cell;
	int i = 0;

	foreach (cell, modify->targets)
	{
		modify->values[i] = slot_getattr(slot, lfirst_int(cell), &modify->nulls[i]);
		i++;
	}
	foreach (cell, modify->keys)
	{
		if (lfirst_int(cell) == KAKEHASHI_IDENTITY)
		{
			modify->values[i] = kakehashi_identity_datum(modify->identity_junk, plan_slot, &modify->nulls[i]);
			i++;
			break;
		}
		modify->values[i] =
			ExecGetJunkAttribute(plan_slot, modify->key_junk[foreach_current_index(cell)], &modify->nulls[i]);
		if (modify->nulls[i])
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			                errmsg("key column \"%s\" of foreign table \"%s\" is null",
			                       NameStr(TupleDescAttr(RelationGetDescr(modify->rel), lfirst_int(cell) - 1)->attname),
			                       RelationGetRelationName(modify->rel)),
			                errhint("The columns marked key 'true' must be the engine's primary key.")));
		i++;
	}
	if (modify->conflict != NULL)
		kakehashi_conflict_parameters(modify->conflict, slot, modify->values + i, modify->nulls + i);
}

static TupleTableSlot *
execute_row(KakehashiModify *modify, TupleTableSlot *slot, TupleTableSlot *plan_slot)
{
	kakehashi_modify_take_values(modify, slot, plan_slot);
	if (modify->writer->count > 0)
	{
		kakehashi_row_writer_start(modify->writer, modify->session, 1);
		if (!kakehashi_row_writer_add(modify->writer, modify->values, modify->nulls))
			kakehashi_report_too_long(modify);
	}
	return send_rows(modify, slot) > 0 ? slot : NULL;
}

void
kakehashi_check_partition(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot)
{
	const Relation rel = rinfo->ri_RelationDesc;

	/* What was routed here belongs here, but for what a trigger has made of it since. */
	if (rel->rd_rel->relispartition &&
	    (rinfo->ri_RootResultRelInfo == NULL || (rel->trigdesc != NULL && rel->trigdesc->trig_insert_before_row)))
		ExecPartitionCheck(rinfo, slot, estate, true);
}

TupleTableSlot *
kakehashi_exec_insert(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot, TupleTableSlot *plan_slot)
{
	KakehashiModify *modify = (KakehashiModify *) rinfo->ri_FdwState;

	kakehashi_check_partition(estate, rinfo, slot);
	if (!modify->deferred)
	{
		KakehashiModify *form = kakehashi_insert_form(modify, slot);

		if (modify->alone && kakehashi_has_one_row(modify->state) && kakehashi_hold_rows(form, &slot, 1))
			return slot;
		return execute_row(form, slot, plan_slot);
	}
	kakehashi_defer_row(modify, slot);
	return slot;
}

TupleTableSlot *
kakehashi_exec_update(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot, TupleTableSlot *plan_slot)
{
	const Relation rel = rinfo->ri_RelationDesc;

	/* The executor looks at this for its own tables only. A row in a partition that is not its own would be found no more. */
	if (rel->rd_rel->relispartition && !ExecPartitionCheck(rinfo, slot, estate, false))
		ereport(ERROR,
		        (errcode(ERRCODE_CHECK_VIOLATION),
		         errmsg("new row for relation \"%s\" violates partition constraint", RelationGetRelationName(rel)),
		         errdetail("An update does not move rows out of a partition that is a foreign table."),
		         errhint("Delete the row and insert it into the partitioned table."), errtable(rel)));
	return execute_row((KakehashiModify *) rinfo->ri_FdwState, slot, plan_slot);
}

TupleTableSlot *
kakehashi_exec_delete(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot, TupleTableSlot *plan_slot)
{
	return execute_row((KakehashiModify *) rinfo->ri_FdwState, slot, plan_slot);
}

void
kakehashi_end_modify(EState *estate, ResultRelInfo *rinfo)
{
	KakehashiModify *modify = (KakehashiModify *) rinfo->ri_FdwState;

	/* None if begin was not reached, or only explained. */
	if (modify == NULL)
		return;
	kakehashi_modify_flush(modify);
	kakehashi_count(RelationGetRelid(modify->rel), modify->cost);
}

void
kakehashi_end_insert(EState *estate, ResultRelInfo *rinfo)
{
	kakehashi_end_modify(estate, rinfo);
}

void
kakehashi_explain_modify(ModifyTableState *mtstate, ResultRelInfo *rinfo, List *fdw_private, int subplan_index,
                         ExplainState *es)
{
	KakehashiModify *modify = (KakehashiModify *) rinfo->ri_FdwState;

	if (!es->verbose)
		return;
	ExplainPropertyText("Remote SQL", strVal(list_nth(fdw_private, KAKEHASHI_MODIFY_SQL)), es);
	if (rinfo->ri_BatchSize > 1)
		ExplainPropertyInteger("Batch Size", NULL, rinfo->ri_BatchSize, es);
	if (es->analyze && modify != NULL)
	{
		kakehashi_modify_flush(modify);
		kakehashi_explain_requests(modify->cost, modify->map != NULL, es);
	}
}

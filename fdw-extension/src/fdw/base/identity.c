/*
 * Identities of rows as hidden columns of plans.
 *
 * The bits of an identity are the engine's (RowIdentity.java): how often the row's slot has been used, 24 bits; its page, 28; its slot, 12. Nothing
 * here depends on that, but that a ctid looks as one of PostgreSQL's own does.
 */
#include "fdw/base/base.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"

#define SLOT_BITS 12
#define PLACE_BITS 40

/* What PostgreSQL calls the ctid of its own tables; in a tree of both kinds they are one column. */
#define PLACE_NAME "ctid"
#define USE_NAME "kakehashi_use"

bool
kakehashi_wants_identity(const Bitmapset *attrs)
{
	return bms_is_member(KAKEHASHI_IDENTITY - FirstLowInvalidHeapAttributeNumber, attrs) ||
	       bms_is_member(KAKEHASHI_IDENTITY_USE - FirstLowInvalidHeapAttributeNumber, attrs);
}

void
kakehashi_add_identity(PlannerInfo *root, Index rtindex)
{
	add_row_identity_var(root, makeVar((int) rtindex, KAKEHASHI_IDENTITY, TIDOID, -1, InvalidOid, 0), rtindex,
	                     PLACE_NAME);
	add_row_identity_var(root, makeVar((int) rtindex, KAKEHASHI_IDENTITY_USE, CIDOID, -1, InvalidOid, 0), rtindex,
	                     USE_NAME);
}

static AttrNumber
find_junk(List *plan_tlist, const char *name)
{
	AttrNumber result = ExecFindJunkAttributeInTlist(plan_tlist, name);

	if (!AttributeNumberIsValid(result))
		elog(ERROR, "could not find junk column \"%s\"", name);
	return result;
}

KakehashiIdentityJunk
kakehashi_identity_junk(List *plan_tlist)
{
	KakehashiIdentityJunk result = {find_junk(plan_tlist, PLACE_NAME), find_junk(plan_tlist, USE_NAME)};

	return result;
}

Datum
kakehashi_identity_datum(KakehashiIdentityJunk junk, TupleTableSlot *plan_slot, bool *is_null)
{
	bool use_null;
	Datum place = ExecGetJunkAttribute(plan_slot, junk.place, is_null);
	Datum use = ExecGetJunkAttribute(plan_slot, junk.use, &use_null);
	ItemPointer at;

	*is_null = *is_null || use_null;
	if (*is_null)
		return (Datum) 0;
	at = (ItemPointer) DatumGetPointer(place);
	return Int64GetDatum((int64) ((uint64) DatumGetCommandId(use) << PLACE_BITS |
	                              (uint64) ItemPointerGetBlockNumberNoCheck(at) << SLOT_BITS |
	                              (uint64) (ItemPointerGetOffsetNumberNoCheck(at) - FirstOffsetNumber)));
}

void
kakehashi_store_identified(TupleTableSlot *slot, int64 identity)
{
	uint64 place = (uint64) identity & ((UINT64CONST(1) << PLACE_BITS) - 1);
	MemoryContext old = MemoryContextSwitchTo(slot->tts_mcxt);
	HeapTuple tuple = heap_form_tuple(slot->tts_tupleDescriptor, slot->tts_values, slot->tts_isnull);

	MemoryContextSwitchTo(old);
	ItemPointerSet(&tuple->t_self, (BlockNumber) (place >> SLOT_BITS),
	               (OffsetNumber) ((place & ((1 << SLOT_BITS) - 1)) + FirstOffsetNumber));
	/* Where a tuple that is no row has its type. */
	HeapTupleHeaderSetXmin(tuple->t_data, InvalidTransactionId);
	HeapTupleHeaderSetXmax(tuple->t_data, InvalidTransactionId);
	HeapTupleHeaderSetCmin(tuple->t_data, (CommandId) ((uint64) identity >> PLACE_BITS));
	ExecStoreHeapTuple(tuple, slot, true);
}

Oid
kakehashi_parameter_type(const Node *expr)
{
	return IsA(expr, CurrentOfExpr) ? INT8OID : exprType(expr);
}

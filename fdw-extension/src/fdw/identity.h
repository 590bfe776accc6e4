/*
 * Identities of rows: what the engine's column ctid says, an int8 that names a row of a table, also of one without a key.
 */
#ifndef KAKEHASHI_IDENTITY_H
#define KAKEHASHI_IDENTITY_H

#include "kakehashi_fdw.h"

#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"

/* Name of the engine's column. */
#define KAKEHASHI_IDENTITY_COLUMN "ctid"

/* In lists of attribute numbers it stands for the identity, as the last member. */
#define KAKEHASHI_IDENTITY SelfItemPointerAttributeNumber

/*
 * An identity is two system columns here, because a ctid has no more than six bytes: ctid is the place of the row, which another row may take when it
 * is deleted, and cmin tells the rows apart that have had the place. Both together name one row for ever.
 */
#define KAKEHASHI_IDENTITY_USE MinCommandIdAttributeNumber

/* True if attrs, which is offset by FirstLowInvalidHeapAttributeNumber, has a part of the identity. */
extern bool kakehashi_wants_identity(const Bitmapset *attrs);

/* Adds the two columns to the plan of a change; they go by the names of kakehashi_identity_junk(). */
extern void kakehashi_add_identity(struct PlannerInfo *root, Index rtindex);

/* Attribute numbers of the two columns in the plan's rows. */
typedef struct KakehashiIdentityJunk
{
	AttrNumber place;
	AttrNumber use;
} KakehashiIdentityJunk;

extern KakehashiIdentityJunk kakehashi_identity_junk(List *plan_tlist);

/* The identity in a row of the plan, an int8. */
extern Datum kakehashi_identity_datum(KakehashiIdentityJunk junk, TupleTableSlot *plan_slot, bool *is_null);

/* Gives the row in slot, which has its values and is not stored yet, its system columns. What it is made of is copied. */
extern void kakehashi_store_identified(TupleTableSlot *slot, int64 identity);

/* ---- current_of.c: WHERE CURRENT OF ---- */

/* Whether the query that is being planned is a cursor that rows are changed by. */
typedef enum KakehashiPositions
{
	KAKEHASHI_NOT_POSITIONED,
	KAKEHASHI_MAY_BE_POSITIONED, /* its scans ask for identities */
	KAKEHASHI_POSITIONED         /* FOR UPDATE: besides, one scan at a time goes on */
} KakehashiPositions;

extern KakehashiPositions kakehashi_positions(void);

/* Around the planning of a query; what the first one returns is for the second. */
extern KakehashiPositions kakehashi_current_of_enter(const Query *query, int cursor_options);
extern void kakehashi_current_of_leave(KakehashiPositions before);

/* The identity, an int8, of the row that the cursor stands on; null: it is on none. Parameters of statements are evaluated by it. */
extern Datum kakehashi_current_of(const CurrentOfExpr *expr, ExprContext *econtext, EState *estate, bool *is_null);

/* Type of a parameter of a statement. */
extern Oid kakehashi_parameter_type(const Node *expr);

#endif /* KAKEHASHI_IDENTITY_H */

/*
 * Changes of foreign tables: row by row, in batches, and in one statement.
 */
#ifndef KAKEHASHI_MODIFY_H
#define KAKEHASHI_MODIFY_H

#include "fdw/row/row.h"

struct ExplainState;

/* ---- modify_plan.c, modify.c ---- */

enum KakehashiModifyPrivate
{
	KAKEHASHI_MODIFY_SQL,       /* String */
	KAKEHASHI_MODIFY_TARGETS,   /* List of attribute numbers that are parameters */
	KAKEHASHI_MODIFY_RETURNING, /* List of attribute numbers that come back */
	KAKEHASHI_MODIFY_CONFLICT,  /* List of kakehashi_deparse_conflict() */
	KAKEHASHI_MODIFY_OVERRIDING /* OverridingKind as Integer */
};

/* An INSERT with ON CONFLICT while it runs; see conflict.c. */
typedef struct KakehashiConflict KakehashiConflict;

/* How many times as long as the first batch those of an engine may get that keeps its rows elsewhere. */
#define KAKEHASHI_BATCH_GROWTH 10

typedef struct KakehashiModify
{
	Relation rel;
	KakehashiSession *session;
	char *sql;
	const void *snapshot_owner;
	List *targets;
	List *keys;
	List *returning;
	AttrNumber *key_junk;                /* of the plan's slot; NULL for INSERT */
	KakehashiIdentityJunk identity_junk; /* where keys is the identity */
	Oid *types;
	Datum *values;
	bool *nulls;
	KakehashiRowWriter *writer;
	KakehashiResultMap *map;     /* of returning; NULL if there is none */
	KakehashiConflict *conflict; /* NULL if nothing is computed for it */
	int batch_size;              /* now */
	int most_batch_size;         /* it grows to this; see modify_batch.c */
	KakehashiCost *cost;         /* of both forms of rows */
	bool alone;                  /* INSERT that is alone in its transaction, see modify_alone.c */
	bool count_rows;             /* INSERT: some may be left out, so that each answer has to be waited for */

	/* Rows under way; see modify_batch.c. */
	const char *copied;     /* table that COPY names; NULL: it is no COPY */
	bool deferred;          /* single rows are collected */
	int deferred_rows;      /* in writer */
	KakehashiCall *pending; /* batch whose answer has not been waited for */

	/* Rows that the executor gathers; see modify_gather.c. */
	TupleDesc gathered_desc;
	TupleDesc plan_desc; /* NULL: there is no plan */
	Size gathered_bytes;
	int gathered_rows;
	ErrorData *refused; /* what became of rows that were sent for a function; NULL: nothing */
	EState *estate;
	bool counted; /* its rows are those that the client is told of */

	/*
	 * INSERT of rows in which columns that the engine generates are null leaves these out: a form of the statement for each set of such columns that rows
	 * have come with.
	 */
	List *generated;         /* columns that may be left out; NIL: none */
	List *left_out;          /* of a form: these of them */
	List *forms;             /* of KakehashiModify */
	ModifyTableState *state; /* what forms are made of */
	ResultRelInfo *rinfo;
	OverridingKind overriding;
	const char *conflict_clause; /* text with a blank in front */
} KakehashiModify;

extern void kakehashi_key_junk_name(char *name, AttrNumber attnum); /* NAMEDATALEN */
extern void kakehashi_add_update_targets(PlannerInfo *root, Index rtindex, RangeTblEntry *rte, Relation rel);
extern List *kakehashi_plan_modify(PlannerInfo *root, ModifyTable *plan, Index result_relation, int subplan_index);
extern int kakehashi_is_updatable(Relation rel);
extern List *kakehashi_insert_columns(Relation rel);

/* What single rows are changed by: the columns of the key, or KAKEHASHI_IDENTITY. */
extern List *kakehashi_row_key(Relation rel);

/* True if an UPDATE changes what stored generated columns are computed from. */
extern bool kakehashi_changes_generated(PlannerInfo *root, Index result_relation, Relation rel);

/* Columns that must come back: for RETURNING, row triggers, and checks of views. */
extern List *kakehashi_returning_columns(ModifyTable *plan, Index result_relation, int subplan_index, Relation rel,
                                         bool row_triggers);
extern Oid kakehashi_modify_user(EState *estate, ResultRelInfo *rinfo);

/* Fails if a row to be inserted does not belong into this partition. */
extern void kakehashi_check_partition(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot);
extern void kakehashi_begin_modify(ModifyTableState *mtstate, ResultRelInfo *rinfo, List *fdw_private,
                                   int subplan_index, int eflags);
extern TupleTableSlot *kakehashi_exec_insert(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot,
                                             TupleTableSlot *plan_slot);
extern TupleTableSlot *kakehashi_exec_update(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot,
                                             TupleTableSlot *plan_slot);
extern TupleTableSlot *kakehashi_exec_delete(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot,
                                             TupleTableSlot *plan_slot);
extern void kakehashi_end_modify(EState *estate, ResultRelInfo *rinfo);
extern void kakehashi_begin_insert(ModifyTableState *mtstate, ResultRelInfo *rinfo);
extern void kakehashi_end_insert(EState *estate, ResultRelInfo *rinfo);

/* Rows of a slot into modify->values. */
extern void kakehashi_modify_take_values(KakehashiModify *modify, TupleTableSlot *slot, TupleTableSlot *plan_slot);
pg_noreturn extern void kakehashi_report_too_long(KakehashiModify *modify);

/*
 * Whether an UPDATE sets a column that the engine computes to DEFAULT. PostgreSQL, to which it is a plain column without one, makes a null of
 * it that stands nowhere in the statement.
 */
extern bool kakehashi_is_set_to_default(Relation rel, int attnum, const Expr *value);

extern void kakehashi_explain_modify(ModifyTableState *mtstate, ResultRelInfo *rinfo, List *fdw_private,
                                     int subplan_index, struct ExplainState *es);

/* ---- conflict.c ---- */

extern void kakehashi_conflict_init(void);

/*
 * Appends ON CONFLICT of an INSERT whose parameters are the columns targets. The list that it returns is
 * for kakehashi_conflict_begin(). Reports what cannot be sent.
 */
extern List *kakehashi_deparse_conflict(PlannerInfo *root, ModifyTable *plan, Relation rel, List *targets,
                                        StringInfo buf);

/* exprs: what is computed for each row besides; its types, which come after those of the row's columns, are appended to types. */
extern KakehashiConflict *kakehashi_conflict_begin(ModifyTableState *node, List *exprs, List **types);
extern void kakehashi_conflict_parameters(KakehashiConflict *conflict, TupleTableSlot *slot, Datum *values,
                                          bool *nulls);

/* ---- modify_batch.c ---- */

/* The form of INSERT that a row needs: the modification itself, or one without generated columns. */
extern KakehashiModify *kakehashi_insert_form(KakehashiModify *modify, TupleTableSlot *slot);

/* Takes a row of COPY; it goes with others. */
extern void kakehashi_defer_row(KakehashiModify *modify, TupleTableSlot *slot);

/* Holds rows of one form back for the commit; they are the last of the statement. False: they have to be sent. */
extern bool kakehashi_hold_rows(KakehashiModify *modify, TupleTableSlot **slots, int slot_count);

/* Sends what has been collected, and waits for all answers. */
extern void kakehashi_modify_flush(KakehashiModify *modify);
extern int kakehashi_batch_size(ResultRelInfo *rinfo);
extern TupleTableSlot **kakehashi_exec_batch_insert(EState *estate, ResultRelInfo *rinfo, TupleTableSlot **slots,
                                                    TupleTableSlot **plan_slots, int *slot_count);

/* ---- modify_alone.c ---- */

/* Whether the statement is an INSERT that is alone in its transaction, which commits behind it, and needs nothing of the engine's answer. */
extern bool kakehashi_is_alone(const ModifyTableState *node, const ResultRelInfo *rinfo);

/* Whether its plan has one row. */
extern bool kakehashi_has_one_row(const ModifyTableState *node);

/* ---- modify_gather.c ---- */

/* Rows per batch. From now on the executor gathers no more than a megabyte of them, and one. */
extern int kakehashi_gather(ResultRelInfo *rinfo);

/* Before a statement of a command: sends the rows that INSERTs of commands before it, which have called it, have gathered. */
extern void kakehashi_gather_flush(CommandId command);
extern void kakehashi_gather_init(void);

/* ---- direct_modify.c ---- */

enum KakehashiDirectPrivate
{
	KAKEHASHI_DIRECT_SQL,           /* String */
	KAKEHASHI_DIRECT_RETURNING,     /* List of attribute numbers */
	KAKEHASHI_DIRECT_SET_PROCESSED, /* Boolean as Integer */
	KAKEHASHI_DIRECT_OTHERS         /* List of attribute numbers of a join's row that come back behind */
};

extern bool kakehashi_plan_direct_modify(PlannerInfo *root, ModifyTable *plan, Index result_relation,
                                         int subplan_index);
extern void kakehashi_begin_direct_modify(ForeignScanState *node, int eflags);
extern TupleTableSlot *kakehashi_iterate_direct_modify(ForeignScanState *node);
extern void kakehashi_end_direct_modify(ForeignScanState *node);

extern void kakehashi_explain_direct_modify(ForeignScanState *node, struct ExplainState *es);

/* ---- truncate.c ---- */

extern void kakehashi_truncate(List *rels, DropBehavior behavior, bool restart_seqs);

#endif /* KAKEHASHI_MODIFY_H */

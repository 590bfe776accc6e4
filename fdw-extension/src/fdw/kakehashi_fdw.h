/*
 * Declarations shared by the files of the wrapper.
 *
 * Who owns what, and until when:
 *
 *   KakehashiSession    CacheMemoryContext   until disconnect, invalidation outside a transaction, or backend exit
 *   KakehashiStatement  its session          until evicted (LRU) or the session ends; pinned while a call uses it
 *   KakehashiCall       TopTransactionContext; its response slot until kakehashi_call_end, which every call reaches:
 *                       at the latest from the (sub)transaction callbacks in xact.c
 *   scan/modify state   the executor's query context
 */
#ifndef KAKEHASHI_FDW_H
#define KAKEHASHI_FDW_H

#include "postgres.h"

#include "foreign/foreign.h"
#include "funcapi.h"
#include "lib/ilist.h"
#include "lib/stringinfo.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "pgtime.h"
#include "portability/instr_time.h"
#include "utils/hsearch.h"
#include "utils/rel.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "kakehashi/ipc.h"

#define KAKEHASHI_VERSION "1.1.0"

/* PostgreSQL 18 writes it before the declaration, and took the macro away that comes after. */
#if PG_VERSION_NUM < 180000
#define pg_noreturn pg_attribute_noreturn()
#endif

struct ExplainState;
struct ParallelContext;
struct shm_toc;

/* ---- settings.c ---- */

typedef enum KakehashiCommitResponse
{
	KAKEHASHI_COMMIT_STORED = KH_STORED,
	KAKEHASHI_COMMIT_AVAILABLE = KH_AVAILABLE
} KakehashiCommitResponse;

typedef enum KakehashiTransactionKind
{
	KAKEHASHI_KIND_OCC = KH_OCC,
	KAKEHASHI_KIND_LTX = KH_LTX,
	KAKEHASHI_KIND_RTX = KH_RTX,
	KAKEHASHI_KIND_AUTO
} KakehashiTransactionKind;

extern int kakehashi_commit_response;
extern bool kakehashi_atomic_commit;
extern int kakehashi_transaction_kind;
extern int kakehashi_transaction_priority;
extern int kakehashi_transaction_timeout; /* milliseconds; 0: none */
extern char *kakehashi_transaction_label;
extern char *kakehashi_write_preserve; /* these three: names of the engine's tables, separated by commas */
extern char *kakehashi_read_areas_include;
extern char *kakehashi_read_areas_exclude;

extern void kakehashi_settings_init(void);

/* ---- option.c ---- */

/* Options of a server and a table, resolved: table before server before default. */
typedef struct KakehashiOptions
{
	const char *runtime_dir;
	const char *application_name; /* NULL: that of the backend */
	int connect_timeout_seconds;
	int transaction_lease_millis; /* 0: the endpoint's default */
	double fdw_startup_cost;
	double fdw_tuple_cost;
	int batch_size;
	bool use_remote_estimate;
	bool updatable;
	bool async_capable;
	bool parallel_capable;
	bool keep_connections;
	const char *schema_name; /* NULL unless given */
	const char *table_name;  /* NULL unless given */
} KakehashiOptions;

extern KakehashiOptions kakehashi_options(ForeignServer *server, ForeignTable *table);
extern const char *kakehashi_remote_schema(Relation rel, const KakehashiOptions *options);
extern const char *kakehashi_remote_table(Relation rel, const KakehashiOptions *options);
extern char *kakehashi_remote_column(Oid relid, AttrNumber attnum);

/* Attribute numbers of the columns marked key 'true', ascending; NIL if there is none. */
extern List *kakehashi_key_columns(Relation rel);

/* Columns for which the engine makes a value if an inserted row has none: identity and serial columns. */
extern List *kakehashi_generated_columns(Relation rel);

/* Of names (NULL-terminated), the one closest to name, or NULL if none is close. */
extern const char *kakehashi_closest(const char *name, const char *const *names);

/* ---- session.c, statement.c ---- */

/* One is filled while the engine reads the other. */
#define KAKEHASHI_INBOUND_BUFFERS 2

/*
 * A buffer of the arena for rows on the way to the engine, granted until the session ends. The endpoint reads it until the
 * final frame of call; then it is free.
 */
typedef struct KakehashiInbound
{
	void *memory; /* NULL: not granted */
	uint64 offset;
	uint32 bytes;
	struct KakehashiCall *call;
} KakehashiInbound;

/* Longest name of a prepared transaction, with its end. */
#define KAKEHASHI_GLOBAL_ID_BYTES 96

typedef struct KakehashiSession
{
	Oid mapping_id; /* hash key; first */
	Oid server_id;
	Oid user_id; /* of the mapping; InvalidOid: PUBLIC */
	char server_name[NAMEDATALEN];
	uint32 server_hash; /* syscache hash values, for invalidation */
	uint32 mapping_hash;

	kh_session *ipc;  /* NULL: not attached */
	bool invalidated; /* options changed: detach at the end of the transaction */
	bool keep;        /* keep_connections */
	int lease_millis;
	bool named_by_option;         /* application_name is the server's, whatever the backend's is */
	char shown_name[NAMEDATALEN]; /* what the endpoint has been told otherwise */

	/*
	 * Transaction on the engine. level is the nesting level the engine knows of: 0 none, 1 a transaction, n + 1 with
	 * savepoints 1..n. rollback_level, if not 0, is the outermost level that PostgreSQL has rolled back and the engine
	 * has not been told about; this happens with the next request.
	 */
	uint64 handle; /* 0 while level > 0: begun by a call whose final frame has not been seen */
	int level;
	int rollback_level;
	bool is_long; /* while level > 0: it was begun as a long transaction */
	bool wrote;
	uint64 rows_written;
	bool defined;                              /* the transaction has changed the engine's catalogue */
	bool committing;                           /* its commit has been requested, and not answered */
	bool lost;                                 /* the endpoint died under a transaction */
	bool aborted;                              /* the engine has ended the transaction by itself */
	char global_id[KAKEHASHI_GLOBAL_ID_BYTES]; /* of its prepared part, until that is decided; empty: none */
	int rows_level;                            /* nesting level of the rows that are being sent; 0: the present one */
	const void *snapshot_owner;                /* PostgreSQL's snapshot that the engine's stands for, see snapshot.c */
	char time_zone[TZ_STRLEN_MAX + 1];         /* that the engine's session was set to; empty: not yet */

	dlist_head calls;          /* of KakehashiCall */
	HTAB *statements;          /* by text and types; NULL when not attached */
	dlist_head statements_lru; /* most recently used first */
	Bitmapset *statement_ids;  /* in use on the engine */

	KakehashiInbound inbound[KAKEHASHI_INBOUND_BUFFERS];
	uint64 inbound_bytes; /* sent in them by the transaction */
} KakehashiSession;

typedef struct KakehashiStatement
{
	const char *sql;
	const Oid *types; /* as asked for */
	int type_count;
	dlist_node lru;
	uint32 id;
	int pins; /* calls using it */
	kh_statement_kind kind;
	int column_count;
	kh_column *columns;
	bool described_now; /* since the last look-up */
	MemoryContext context;
} KakehashiStatement;

/* Session of the user's mapping, attached. Errors: 08001, 08P01, 28000, 42704 no mapping. */
extern KakehashiSession *kakehashi_session_get(UserMapping *user);
extern HTAB *kakehashi_session_table(void); /* by mapping; NULL before the first session */
extern void kakehashi_session_detach(KakehashiSession *session);

/* Statement with this text, prepared on the engine; valid until the next look-up unless a call pins it. */
extern KakehashiStatement *kakehashi_statement_get(KakehashiSession *session, const char *sql, const Oid *types,
                                                   int type_count);
extern void kakehashi_statement_unpin(KakehashiStatement *statement);
/* The same statement prepared once more, unless the last look-up has just done so. */
extern KakehashiStatement *kakehashi_statement_renew(KakehashiSession *session, KakehashiStatement *statement);
extern void kakehashi_statement_forget(KakehashiSession *session, KakehashiStatement *statement);
extern void kakehashi_statements_drop(KakehashiSession *session);
extern int kakehashi_statements_count(KakehashiSession *session);

/* ---- call.c ---- */

/* What requests have cost, in this process, and of those only that were measured. */
typedef struct KakehashiCost
{
	bool timed; /* waits are timed, which takes two looks at the clock for each batch */
	uint64 requests;
	uint64 rows;
	uint64 batches;
	uint64 bytes; /* of the batches */
	instr_time waited;
	uint64 execution_nanos; /* of requests whose end was seen, at the endpoint */
	uint64 ended;           /* these requests */
	uint64 changed;         /* rows that they have changed */
} KakehashiCost;

typedef struct KakehashiCall
{
	dlist_node node; /* in session->calls, while ipc is not NULL */
	KakehashiSession *session;
	kh_call *ipc;                  /* NULL: ended, perhaps by a rollback */
	KakehashiStatement *statement; /* pinned; may be NULL */
	const char *sql;               /* for error messages; may be NULL */
	SubTransactionId subid;
	bool rowless;        /* no rows will come: waiting for the end costs no memory */
	bool in_transaction; /* its final frame speaks of the session's transaction */
	bool finished;
	bool settled;   /* ended for its slot; rows_affected is what its owner will ask for */
	bool tentative; /* nobody has asked for it yet: data exceptions are no errors, see kakehashi_call_failed() */
	uint64 rows_affected;
	KakehashiCost *cost; /* NULL: nobody asks; outlives the call's use */
} KakehashiCall;

/*
 * Sees to it that a request can be sent: waits for the answers of those that were cancelled and of batches on their way, whose
 * errors it reports. If results that are being read hold all slots there is nothing to wait for: the request is refused.
 */
extern void kakehashi_call_make_room(KakehashiSession *session);

/* Takes over the result of kh_send_*; reports error if it is NULL. */
extern KakehashiCall *kakehashi_call_track(KakehashiSession *session, kh_call *ipc, const kh_error *error,
                                           const char *sql);

/* A tentative call has ended without all of its rows. */
extern bool kakehashi_call_failed(const KakehashiCall *call);

/* From now on the call is measured; cost NULL: it is not. */
extern void kakehashi_call_measure(KakehashiCall *call, KakehashiCost *cost);

/* Adds to what this backend has asked of a foreign table; InvalidOid: of none in particular. */
extern void kakehashi_count(Oid relid, const KakehashiCost *cost);

/* Waits for the next batch; false at the end. Interruptible; reports the engine's error. */
extern bool kakehashi_call_next_batch(KakehashiCall *call, kh_batch *batch);

/* True if the next batch, the end or a failure has come, within the time at most; reports nothing. */
extern bool kakehashi_call_is_ready(KakehashiCall *call, int64 timeout_nanos);

/* Waits for the end, releasing all batches. The result is valid until kakehashi_call_end. */
extern const kh_result *kakehashi_call_finish(KakehashiCall *call);

/* Gives the slot back; cancels if need be; never blocks or fails. */
extern void kakehashi_call_end(KakehashiCall *call);

/* Waits for the end and ends it: for requests whose only interesting answer is that they succeeded. */
extern uint64 kakehashi_call_complete(KakehashiCall *call);

/* ---- errors.c ---- */

pg_noreturn extern void kakehashi_report_error(const kh_error *error, KakehashiSession *session, const char *sql);
pg_noreturn extern void kakehashi_report_lost(KakehashiSession *session, const kh_error *error, const char *sql);

/* ---- xact.c ---- */

extern void kakehashi_xact_init(void);

/* Whether the session's transaction is a long one, or will be when it begins. */
extern bool kakehashi_transaction_is_long(KakehashiSession *session);

/* ---- two_phase.c ---- */

/* Whether the parts of so many sessions that have changed something must be prepared before PostgreSQL commits. */
extern bool kakehashi_two_phase_needed(int changed_sessions);

/* Prepares the session's part; reports the engine's error. Before PostgreSQL commits. */
extern void kakehashi_two_phase_prepare(KakehashiSession *session);

/* Decides the session's prepared part, if there is one. Never fails: a warning, and it is resolved later. */
extern void kakehashi_two_phase_decide(KakehashiSession *session, bool commit);

/* Decides the parts of ended transactions of this database as PostgreSQL's record of them says; resolved may be NULL. */
typedef void (*KakehashiResolved)(const char *global_id, const char *outcome, void *arg);
extern void kakehashi_two_phase_resolve(KakehashiSession *session, KakehashiResolved resolved, void *arg);

/* ---- prepared.c ---- */

extern void kakehashi_prepared_init(void);

/* Reports an error unless PREPARE TRANSACTION can be had. */
extern void kakehashi_prepared_check(void);

/* PostgreSQL's prepared transaction will remember that it has a part on the session's server. */
extern void kakehashi_prepared_mark(KakehashiSession *session);

/*
 * Makes sure that the engine's transaction is at PostgreSQL's nesting level, and fills options for a request in it.
 * owner: see snapshot_owner; NULL: a snapshot of its own.
 */
extern void kakehashi_xact_prepare(KakehashiSession *session, const void *owner, kh_execute_options *options);

/* Handle of the engine's transaction, which begins if there is none: whoever knows it may work in it. */
extern uint64 kakehashi_xact_share(KakehashiSession *session);

/* Runs a statement in the session's transaction. parameters may be NULL. The caller ends the call. */
extern KakehashiCall *kakehashi_execute_statement(KakehashiSession *session, KakehashiStatement *statement,
                                                  const void *owner, const void *parameters, uint32 parameters_bytes);

/* The same with rows in a buffer from kakehashi_inbound_take. */
extern KakehashiCall *kakehashi_execute_inbound(KakehashiSession *session, KakehashiStatement *statement,
                                                const void *owner, KakehashiInbound *buffer, uint32 bytes);

/*
 * Runs a query of our own, as catalogue look-ups: outside of any transaction, unless the session's transaction has changed
 * the engine's catalogue. Then only that sees its changes, and anybody else would wait for its end.
 */
extern KakehashiCall *kakehashi_execute_read(KakehashiSession *session, KakehashiStatement *statement,
                                             const void *parameters, uint32 parameters_bytes);

/* ---- inbound.c ---- */

/* A buffer that the endpoint does not read; as long as its longest batch. */
extern KakehashiInbound *kakehashi_inbound_take(KakehashiSession *session);
extern void kakehashi_inbound_finished(KakehashiCall *call);
extern void kakehashi_inbound_abandoned(KakehashiCall *call);
extern void kakehashi_inbound_forget(KakehashiSession *session);

/* The end of a transaction, when no call is left: gives the buffers back unless the next one may want them. Never fails. */
extern void kakehashi_inbound_settle(KakehashiSession *session);

/* ---- value.c ---- */

typedef enum KakehashiWordKind
{
	KAKEHASHI_WORD, /* the word is the datum */
	KAKEHASHI_BOOL,
	KAKEHASHI_FLOAT4,  /* the datum is sign-extended, the word is not */
	KAKEHASHI_VARLENA, /* the word is the offset of a varlena */
	KAKEHASHI_FIXED16, /* the word is the offset of 16 bytes */
	KAKEHASHI_TEXT     /* the word is the offset of a varlena: the value as its type writes it */
} KakehashiWordKind;

/*
 * The type as which values of a type cross the bridge, or InvalidOid; kind may be NULL. It is the base type, but text for
 * enums and arrays of them, whose numbers mean something in this database only.
 */
extern Oid kakehashi_bridge_type(Oid type, KakehashiWordKind *kind);

/* True if values of the type cross as text and are not text: see shippable_documents.c for what the engine knows of them. */
extern bool kakehashi_is_text_form(Oid type);

/* True if both types have the same form in memory: equal, or both of text, varchar, bpchar. */
extern bool kakehashi_same_form(Oid local, Oid remote);

extern const char *kakehashi_type_name(Oid type);

pg_noreturn extern void kakehashi_report_bad_offset(const kh_batch *batch, uint64 word);

/* Datum of a value in a batch; by-reference datums point into the batch. */
static inline Datum
kakehashi_word_datum(const kh_batch *batch, uint64 word, KakehashiWordKind kind)
{
	const void *value;

	switch (kind)
	{
		case KAKEHASHI_WORD:
			return (Datum) word;
		case KAKEHASHI_BOOL:
			return BoolGetDatum(word != 0);
		case KAKEHASHI_FLOAT4:
			return Int32GetDatum((int32) word);
		case KAKEHASHI_VARLENA:
		case KAKEHASHI_TEXT:
		case KAKEHASHI_FIXED16:
			value = kh_batch_value(batch, word, kind == KAKEHASHI_FIXED16 ? 16 : 0);
			if (unlikely(value == NULL))
				kakehashi_report_bad_offset(batch, word);
			return PointerGetDatum(value);
	}
	return (Datum) 0; /* not reached: every kind is above */
}

/* A row of parameters: types on the way, and how to write each. */
typedef struct KakehashiRowWriter
{
	int count;
	Oid *types;
	KakehashiWordKind *kinds;
	FmgrInfo *outputs; /* of KAKEHASHI_TEXT; NULL if there is none */
	kh_batch_writer writer;
	bool open;             /* writer holds memory */
	int row_capacity;      /* asked for when it was opened; the writer may allow fewer */
	MemoryContext scratch; /* detoasted values, reset after each row */
	MemoryContextCallback callback;
} KakehashiRowWriter;

extern KakehashiRowWriter *kakehashi_row_writer_create(MemoryContext context, int count, const Oid *types);
extern void kakehashi_row_writer_start(KakehashiRowWriter *writer, KakehashiSession *session, int row_capacity);

extern void kakehashi_row_writer_start_fixed(KakehashiRowWriter *writer, KakehashiSession *session,
                                             const KakehashiInbound *buffer, int row_capacity);

/* Values as text do not depend on the session's settings from here to AtEOXact_GUC(true, the level that is returned). */
extern int kakehashi_set_transmission_modes(void);

/* False if the row does not fit into what is left. */
extern bool kakehashi_row_writer_add(KakehashiRowWriter *writer, const Datum *values, const bool *nulls);
extern const void *kakehashi_row_writer_finish(KakehashiRowWriter *writer, uint32 *bytes);

/* ---- result.c: rows of a call into slots ---- */

typedef struct KakehashiResultMap
{
	int count;      /* columns of the result that are wanted */
	int *positions; /* of the slot, from 0 */
	KakehashiWordKind *kinds;
	Oid *types; /* base types */
	int before; /* columns of the result before those that are wanted */
	int after;  /* and behind them */

	/* Of KAKEHASHI_TEXT; NULL if there is none. */
	struct KakehashiInput *inputs;
	MemoryContext row; /* values of the current row */
} KakehashiResultMap;

typedef struct KakehashiInput
{
	FmgrInfo function;
	Oid io_param;
	int32 typmod;
} KakehashiInput;

/* attnums: of desc, from 1, in the order of the result. An empty result has one column that is ignored. */
extern KakehashiResultMap *kakehashi_result_map(TupleDesc desc, List *attnums, const char *relation);
/*
 * Reports 42804 if rows of *statement do not fit. One that was prepared before may be of tables that have been made again since: it is prepared
 * once more, and *statement is another one then.
 */
extern void kakehashi_result_check(const KakehashiResultMap *map, TupleDesc desc, const char *relation,
                                   KakehashiSession *session, KakehashiStatement **statement);
extern void kakehashi_result_values(const KakehashiResultMap *map, const kh_batch *batch, uint32 row, Datum *values,
                                    bool *nulls);
extern void kakehashi_result_store(const KakehashiResultMap *map, const kh_batch *batch, uint32 row,
                                   TupleTableSlot *slot);

/* ---- functions.c ---- */

/* Result of a function of a server's name: rows of the engine's catalogue, outside of the current transaction, which would be seen in it. */
extern Datum kakehashi_return_catalog(FunctionCallInfo fcinfo, const char *sql);

/* ---- catalog.c: what the engine knows about its tables ---- */

/* Rows of a table by the engine's statistics; -1 if unknown. */
extern double kakehashi_catalog_rows(KakehashiSession *session, const char *schema, const char *table);
extern void kakehashi_catalog_forget(Oid server_id);

/* statistics.c: statistics are read again when they are wanted again. */
extern void kakehashi_statistics_forget(Oid server_id);

/* Runs a query with text parameters outside of a transaction and hands each row to visit. */
typedef void (*KakehashiRowVisitor)(const kh_batch *batch, uint32 row, void *arg);
extern void kakehashi_catalog_query(KakehashiSession *session, const char *sql, int parameter_count,
                                    const char *const *parameters, int column_count, const Oid *column_types,
                                    KakehashiRowVisitor visit, void *arg);
extern char *kakehashi_batch_text(const kh_batch *batch, uint32 row, uint32 column);

/* ---- scan.c ---- */

extern void kakehashi_begin_scan(ForeignScanState *node, int eflags);
extern TupleTableSlot *kakehashi_iterate_scan(ForeignScanState *node);
extern void kakehashi_rescan(ForeignScanState *node);
extern void kakehashi_end_scan(ForeignScanState *node);
extern bool kakehashi_is_async_capable(ForeignPath *path);
extern void kakehashi_async_request(AsyncRequest *areq);
extern void kakehashi_async_configure_wait(AsyncRequest *areq);
extern void kakehashi_async_notify(AsyncRequest *areq);

/* ---- parallel_scan.c ---- */

extern Size kakehashi_estimate_dsm(ForeignScanState *node, struct ParallelContext *pcxt);
extern void kakehashi_initialize_dsm(ForeignScanState *node, struct ParallelContext *pcxt, void *coordinate);
extern void kakehashi_reinitialize_dsm(ForeignScanState *node, struct ParallelContext *pcxt, void *coordinate);
extern void kakehashi_initialize_worker(ForeignScanState *node, struct shm_toc *toc, void *coordinate);
extern void kakehashi_shutdown_scan(ForeignScanState *node);

/* Parameters of a remote statement that are evaluated at run time. */
typedef struct KakehashiParameters
{
	int count;
	List *states; /* of ExprState */
	Datum *values;
	bool *nulls;
	KakehashiRowWriter *writer;
} KakehashiParameters;

extern KakehashiParameters *kakehashi_parameters_create(PlanState *node, List *exprs);

/* Fills values and nulls; in the per-tuple memory of econtext. */
extern void kakehashi_parameters_evaluate(KakehashiParameters *parameters, ExprContext *econtext);
extern const void *kakehashi_parameters_row(KakehashiParameters *parameters, ExprContext *econtext,
                                            KakehashiSession *session, uint32 *bytes);
extern Oid kakehashi_scan_user(ForeignScanState *node);

/* ---- snapshot.c ---- */

/* Names the snapshot of a running statement; the name dies with the outermost statement that uses the snapshot. */
extern const void *kakehashi_snapshot_owner(EState *estate);

/* Before a request of a statement that began long ago: the engine gets what its snapshot sees. owner: see above. */
extern void kakehashi_snapshot_settle(const void *owner);

/* ---- modify_plan.c, modify.c, modify_batch.c ---- */

enum KakehashiModifyPrivate
{
	KAKEHASHI_MODIFY_SQL,       /* String */
	KAKEHASHI_MODIFY_TARGETS,   /* List of attribute numbers that are parameters */
	KAKEHASHI_MODIFY_RETURNING, /* List of attribute numbers that come back */
	KAKEHASHI_MODIFY_CONFLICT   /* List of kakehashi_deparse_conflict(); NIL: no ON CONFLICT */
};

/* An INSERT with ON CONFLICT while it runs; see conflict.c. */
typedef struct KakehashiConflict KakehashiConflict;

typedef struct KakehashiModify
{
	Relation rel;
	KakehashiSession *session;
	char *sql;
	const void *snapshot_owner;
	List *targets;
	List *keys;
	List *returning;
	AttrNumber *key_junk; /* of the plan's slot; NULL for INSERT */
	Oid *types;
	Datum *values;
	bool *nulls;
	KakehashiRowWriter *writer;
	KakehashiResultMap *map;     /* of returning; NULL if there is none */
	KakehashiConflict *conflict; /* NULL if there is none */
	int batch_size;
	KakehashiCost *cost; /* of both forms of rows */
	bool count_rows;     /* INSERT: some may be left out, so that each answer has to be waited for */

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

	/* INSERT of rows in which the columns that the engine generates are all null: without these; NULL if there are none. */
	struct KakehashiModify *without;
	List *generated;
} KakehashiModify;

extern void kakehashi_key_junk_name(char *name, AttrNumber attnum); /* NAMEDATALEN */
extern void kakehashi_add_update_targets(PlannerInfo *root, Index rtindex, RangeTblEntry *rte, Relation rel);
extern List *kakehashi_plan_modify(PlannerInfo *root, ModifyTable *plan, Index result_relation, int subplan_index);
extern int kakehashi_is_updatable(Relation rel);
extern void kakehashi_truncate(List *rels, DropBehavior behavior, bool restart_seqs);
extern List *kakehashi_insert_columns(Relation rel);

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

/* ---- conflict.c ---- */

/* Appends the types of its parameters, which come after the row's columns, to types. */
extern KakehashiConflict *kakehashi_conflict_begin(ModifyTableState *node, List *description, List **types);

/* True if a row may come to nothing, so that each has to be asked about. */
extern bool kakehashi_conflict_single_rows(const KakehashiConflict *conflict);

/* The same of the plan's description, before the execution begins; NIL: there is no conflict clause of ours. */
extern bool kakehashi_conflict_needs_single_rows(List *description);
extern void kakehashi_conflict_parameters(KakehashiConflict *conflict, TupleTableSlot *slot, Datum *values,
                                          bool *nulls);

/* Reports a row that the same statement has inserted or updated before. */
extern void kakehashi_conflict_check(KakehashiConflict *conflict, TupleTableSlot *slot);
extern void kakehashi_conflict_affected(KakehashiConflict *conflict, TupleTableSlot *slot);

/* ---- modify_batch.c ---- */

/* Takes a row of COPY; it goes with others. */
/* The form of INSERT that a row needs: the modification itself or the one without generated columns. */
extern KakehashiModify *kakehashi_insert_form(KakehashiModify *modify, TupleTableSlot *slot);
extern void kakehashi_defer_row(KakehashiModify *modify, TupleTableSlot *slot);

/* Sends what has been collected, and waits for all answers. */
extern void kakehashi_modify_flush(KakehashiModify *modify);
extern int kakehashi_batch_size(ResultRelInfo *rinfo);
extern TupleTableSlot **kakehashi_exec_batch_insert(EState *estate, ResultRelInfo *rinfo, TupleTableSlot **slots,
                                                    TupleTableSlot **plan_slots, int *slot_count);

/* ---- modify_gather.c ---- */

/* Rows per batch. From now on the executor gathers no more than a megabyte of them, and one. */
extern int kakehashi_gather(ResultRelInfo *rinfo);

/* What has been gathered is sent. */
extern void kakehashi_gather_again(ResultRelInfo *rinfo);

/* Before a statement of a command: sends the rows that INSERTs of commands before it, which have called it, have gathered. */
extern void kakehashi_gather_flush(CommandId command);

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

/* ---- explain.c ---- */

extern bool kakehashi_explain_remote_plan; /* setting */

/* "$1 = 42, $2 = t.id", without those before the first; nothing if there is none. */
extern void kakehashi_explain_parameters(PlanState *node, List *exprs, int first, struct ExplainState *es);
extern void kakehashi_explain_direct_cost(ForeignScanState *node, struct ExplainState *es);
extern void kakehashi_explain_cost(const KakehashiCost *cost, bool returns_rows, struct ExplainState *es);

extern void kakehashi_explain_scan(ForeignScanState *node, struct ExplainState *es);
extern void kakehashi_explain_modify(ModifyTableState *mtstate, ResultRelInfo *rinfo, List *fdw_private,
                                     int subplan_index, struct ExplainState *es);
extern void kakehashi_explain_direct_modify(ForeignScanState *node, struct ExplainState *es);

/* ---- import.c ---- */

extern List *kakehashi_import_schema(ImportForeignSchemaStmt *stmt, Oid server_id);

#endif /* KAKEHASHI_FDW_H */

/*
 * Foreign scans while they run.
 */
#ifndef KAKEHASHI_SCAN_H
#define KAKEHASHI_SCAN_H

#include "fdw/row/row.h"

struct ExplainState;
struct ParallelContext;
struct shm_toc;

/* ---- scan_request.c ---- */

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

/* See ahead.c. */
typedef struct KakehashiAhead KakehashiAhead;
typedef struct KakehashiForeseen KakehashiForeseen;

/* What a scan needs to read without requests; see direct_scan.c. */
typedef struct KakehashiDirect
{
	bool reads_once;       /* the statement reads from the engine by this scan alone, and once */
	kh_batch_writer *rows; /* what was read; NULL: nothing yet */
} KakehashiDirect;

typedef struct RemoteScan
{
	char *sql;
	const char *relation;
	UserMapping *user;
	KakehashiSession *session;
	const void *snapshot_owner;
	KakehashiParameters *parameters;
	KakehashiResultMap *map;
	KakehashiCall *call; /* NULL: not begun, or all rows are read */
	bool begun;
	bool has_batch; /* batch is ours until it is released */
	kh_batch batch;
	uint32 next_row; /* of batch */

	KakehashiDirect direct;

	KakehashiCost cost; /* in this process and since the scan began */

	KakehashiAhead *ahead;       /* subqueries of this scan's conditions; NULL: none */
	uint32 ahead_row;            /* of batch: nothing is foreseen from here on */
	KakehashiForeseen *foreseen; /* of this scan, which is a subquery's; NULL: it is none, or nobody looks ahead */
	bool took_foreseen;          /* the row has been handed out */

	/* Of a parallel scan; see parallel_scan.c. */
	bool shared;          /* other processes read the rows of call, too */
	Size share_bytes;     /* leader: room for what they share */
	kh_share *share;      /* worker: where to find them */
	kh_session *borrowed; /* worker: NULL until it reads */
} RemoteScan;

/* Sends the request; state->call receives its rows. */
extern void kakehashi_scan_send(ForeignScanState *node, RemoteScan *state);

/* Sends rows of parameters, each of which the statement is executed with. */
extern KakehashiCall *kakehashi_scan_execute(ForeignScanState *node, RemoteScan *state, const void *rows, uint32 bytes);

/* The scan's statement, which gives its columns. */
extern KakehashiStatement *kakehashi_scan_statement(ForeignScanState *node, RemoteScan *state);

/* Scans that begin before they must leave half of the response slots to the rest of the plan, and to cursors. */
extern bool kakehashi_has_slots_to_spare(const KakehashiSession *session);

/* Ends the request, if there is one. */
extern void kakehashi_scan_end_request(RemoteScan *state);

/* ---- direct_scan.c: without a request ---- */

/* Whether nothing of the statement reads from the engine but this scan, and it once. Asked when it begins. */
extern bool kakehashi_reads_once(const ForeignScanState *node, int eflags);

/* The same of a join that sends keys: it may be anywhere in the plan where it is not asked for its rows again. */
extern bool kakehashi_join_reads_once(const CustomScanState *node, int eflags);

/*
 * Reads the rows of some rows of parameters, which become batch, if there are some. False: a request is needed. The statement may be NULL then: it has
 * been forgotten, and is to be looked up again. Memory of what is read belongs to the executor's state.
 */
extern bool kakehashi_read_directly(KakehashiDirect *direct, EState *estate, KakehashiSession *session,
                                    KakehashiStatement **statement, const void *rows, uint32 bytes, KakehashiCost *cost,
                                    kh_batch *batch, bool *has_batch);

/* ---- ahead.c: subqueries with values of the outer row, for many rows in one request ---- */

/* NULL if the node evaluates no subquery that can be asked about ahead. Called when the node's expressions are there. */
extern KakehashiAhead *kakehashi_ahead_create(PlanState *node);

/* A look ahead: the number of rows to add at most, then the rows, then the requests. */
extern int kakehashi_ahead_begin(KakehashiAhead *ahead);
extern void kakehashi_ahead_add(KakehashiAhead *ahead, TupleTableSlot *slot);
extern void kakehashi_ahead_send(KakehashiAhead *ahead);

/* Takes the foreseen row of the parameters that the scan has now into its slot; false if there is none. */
extern bool kakehashi_foreseen_take(ForeignScanState *node, RemoteScan *state);
extern void kakehashi_foreseen_drop(RemoteScan *state);

/* ---- parallel_scan.c ---- */

/* Worker: the leader's call becomes state->call. */
extern void kakehashi_scan_join(ForeignScanState *node, RemoteScan *state);

extern Size kakehashi_estimate_dsm(ForeignScanState *node, struct ParallelContext *pcxt);
extern void kakehashi_initialize_dsm(ForeignScanState *node, struct ParallelContext *pcxt, void *coordinate);
extern void kakehashi_reinitialize_dsm(ForeignScanState *node, struct ParallelContext *pcxt, void *coordinate);
extern void kakehashi_initialize_worker(ForeignScanState *node, struct shm_toc *toc, void *coordinate);
extern void kakehashi_shutdown_scan(ForeignScanState *node);

/* ---- current_of.c: WHERE CURRENT OF ---- */

/* The identity, an int8, of the row that the cursor stands on; null: it is on none. Parameters of statements are evaluated by it. */
extern Datum kakehashi_current_of(const CurrentOfExpr *expr, ExprContext *econtext, EState *estate, bool *is_null);

/* ---- scan.c ---- */

extern void kakehashi_begin_scan(ForeignScanState *node, int eflags);
extern TupleTableSlot *kakehashi_iterate_scan(ForeignScanState *node);
extern void kakehashi_rescan(ForeignScanState *node);
extern void kakehashi_end_scan(ForeignScanState *node);
extern bool kakehashi_is_async_capable(ForeignPath *path);
extern void kakehashi_async_request(AsyncRequest *areq);
extern void kakehashi_async_configure_wait(AsyncRequest *areq);
extern void kakehashi_async_notify(AsyncRequest *areq);

extern void kakehashi_explain_scan(ForeignScanState *node, struct ExplainState *es);

#endif /* KAKEHASHI_SCAN_H */

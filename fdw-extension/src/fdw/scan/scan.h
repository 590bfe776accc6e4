/*
 * Foreign scans while they run, and what EXPLAIN shows of them and of changes.
 */
#ifndef KAKEHASHI_SCAN_H
#define KAKEHASHI_SCAN_H

#include "kakehashi_plan.h"
#include "rows.h"

struct ExplainState;
struct ParallelContext;
struct shm_toc;

/* ---- scan.c ---- */

extern void kakehashi_begin_scan(ForeignScanState *node, int eflags);
extern TupleTableSlot *kakehashi_iterate_scan(ForeignScanState *node);
extern void kakehashi_rescan(ForeignScanState *node);
extern void kakehashi_end_scan(ForeignScanState *node);
extern bool kakehashi_is_async_capable(ForeignPath *path);
extern void kakehashi_async_request(AsyncRequest *areq);
extern void kakehashi_async_configure_wait(AsyncRequest *areq);
extern void kakehashi_async_notify(AsyncRequest *areq);

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
typedef struct KakehashiForeseen KakehashiForeseen;

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

/* Scans that begin before they must leave half of the response slots to the rest of the plan, and to cursors. */
extern bool kakehashi_has_slots_to_spare(const KakehashiSession *session);

/* ahead.c: takes the foreseen row of the parameters that the scan has now into its slot; false if there is none. */
extern bool kakehashi_foreseen_take(ForeignScanState *node, RemoteScan *state);
extern void kakehashi_foreseen_drop(RemoteScan *state);

/* Ends the request, if there is one. */
extern void kakehashi_scan_end_request(RemoteScan *state);

/* Worker: the leader's call becomes state->call. */
extern void kakehashi_scan_join(ForeignScanState *node, RemoteScan *state);

/* ---- parallel_scan.c ---- */

extern Size kakehashi_estimate_dsm(ForeignScanState *node, struct ParallelContext *pcxt);
extern void kakehashi_initialize_dsm(ForeignScanState *node, struct ParallelContext *pcxt, void *coordinate);
extern void kakehashi_reinitialize_dsm(ForeignScanState *node, struct ParallelContext *pcxt, void *coordinate);
extern void kakehashi_initialize_worker(ForeignScanState *node, struct shm_toc *toc, void *coordinate);
extern void kakehashi_shutdown_scan(ForeignScanState *node);

/* ---- explain.c ---- */

extern bool kakehashi_explain_remote_plan; /* setting */

/* "$1 = 42, $2 = t.id", without those before the first; nothing if there is none. */
extern void kakehashi_explain_parameters(PlanState *node, List *exprs, int first, struct ExplainState *es);

/* The engine's plan of a statement, as it would be made now: exprs are its parameters, whose values do not matter to it. */
extern void kakehashi_explain_on_engine(KakehashiSession *session, const char *sql, List *exprs,
                                        struct ExplainState *es);
extern void kakehashi_explain_requests(const KakehashiCost *cost, bool returns_rows, struct ExplainState *es);
extern void kakehashi_explain_cost(const KakehashiCost *cost, bool returns_rows, struct ExplainState *es);

extern void kakehashi_explain_scan(ForeignScanState *node, struct ExplainState *es);
extern void kakehashi_explain_modify(ModifyTableState *mtstate, ResultRelInfo *rinfo, List *fdw_private,
                                     int subplan_index, struct ExplainState *es);
extern void kakehashi_explain_direct_modify(ForeignScanState *node, struct ExplainState *es);

#endif /* KAKEHASHI_SCAN_H */

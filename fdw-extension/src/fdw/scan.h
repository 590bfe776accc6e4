/*
 * State of a foreign scan, for the files that run one.
 */
#ifndef KAKEHASHI_SCAN_H
#define KAKEHASHI_SCAN_H

#include "kakehashi_plan.h"

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
extern void kakehashi_scan_leave(RemoteScan *state);

#endif /* KAKEHASHI_SCAN_H */

/*
 * Joins that send keys in batches: their plan (lookup.c), their execution (lookup_scan.c) and its requests (lookup_request.c).
 */
#ifndef KAKEHASHI_LOOKUP_H
#define KAKEHASHI_LOOKUP_H

#include "fdw/scan/scan.h"

/* ---- lookup.c ---- */

/* Of CustomScan.custom_private. custom_exprs are the parameters of the statement; the first is the number of the row. */
enum KakehashiLookupPrivate
{
	KAKEHASHI_LOOKUP_SQL,      /* String */
	KAKEHASHI_LOOKUP_RELATION, /* String: name of the foreign table */
	KAKEHASHI_LOOKUP_INTEGERS, /* List: see KakehashiLookupInteger */
	KAKEHASHI_LOOKUP_OIDS      /* List of Oid: server, user (InvalidOid: the current one) */
};

enum KakehashiLookupInteger
{
	KAKEHASHI_LOOKUP_JOIN_TYPE,
	KAKEHASHI_LOOKUP_OUTER_COLUMNS /* how many columns of the scan tuple are the outer row */
};

extern void kakehashi_lookup_init(void);
extern const struct CustomScanMethods kakehashi_lookup_methods;
extern Node *kakehashi_create_lookup_state(CustomScan *plan);

/* ---- lookup_request.c, lookup_scan.c ---- */

/* Rows of the first request, and of later ones: a LIMIT above should not have to wait for many, the rest should be few. */
#define KAKEHASHI_LOOKUP_FIRST_ROWS 64
#define KAKEHASHI_LOOKUP_MAX_ROWS 1024

typedef struct LookupState
{
	CustomScanState scan; /* first */
	PlanState *outer;
	const char *sql;
	const char *relation;
	JoinType join_type;
	int outer_columns;
	UserMapping *user;
	const void *snapshot_owner;
	KakehashiParameters *parameters;
	KakehashiResultMap *map;
	TupleTableSlot *outer_slot; /* the outer row that is joined */

	/* Rows that are joined */
	MemoryContext context; /* of rows; reset before more are read */
	MinimalTuple *rows;
	int row_limit; /* of the next ones */
	int row_count; /* 0: the next ones have yet to be read */
	bool outer_ended;
	int position; /* outer row that is joined */
	bool matched; /* a row has been found for it */

	/* The request under way, and its answer */
	int sent;            /* rows from position to here have been asked about */
	int last;            /* one of its rows has this number at most */
	int share;           /* rows of the next request, if an earlier one has failed */
	KakehashiCall *call; /* NULL: none, or all of it is read */
	bool has_batch;
	kh_batch batch;
	uint32 batch_row;
	int found;      /* number of the outer row that the current found row belongs to; sent or more: no more */
	uint64 of_this; /* found rows that have come for it */
	uint64 known;   /* found rows for the first outer row of the request that an earlier request has delivered */
	bool used;      /* the current found row has been handed out or looked at */
	KakehashiDirect direct;
	bool direct_waits; /* rows that were read without a request have yet to become batch */
	kh_batch direct_batch;
	KakehashiAhead *ahead;
	uint32 ahead_row; /* of batch: nothing is foreseen from here on */
	KakehashiCost cost;
} LookupState;

/* The outer part of the joined row; the rest is null. */
extern TupleTableSlot *kakehashi_lookup_store_outer(LookupState *state, MinimalTuple row);

/* Sees to it that there are rows whose answers are awaited; false if all of the outer side is joined. */
extern bool kakehashi_lookup_request(LookupState *state);

/* Makes the next found row the current one; the joined row must have been let go of. */
extern void kakehashi_lookup_next_found(LookupState *state);

/* Forgets the rows and the request. */
extern void kakehashi_lookup_drop(LookupState *state);

#endif /* KAKEHASHI_LOOKUP_H */

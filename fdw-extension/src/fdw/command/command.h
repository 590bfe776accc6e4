/*
 * IMPORT FOREIGN SCHEMA, ANALYZE, and functions of SQL.
 */
#ifndef KAKEHASHI_COMMAND_H
#define KAKEHASHI_COMMAND_H

#include "fdw/session/session.h"

#include "foreign/fdwapi.h"

/* ---- import.c ---- */

extern List *kakehashi_import_schema(ImportForeignSchemaStmt *stmt, Oid server_id);

/* ---- analyze.c ---- */

extern bool kakehashi_analyze(Relation rel, AcquireSampleRowsFunc *func, BlockNumber *total_pages);

/* Rows that the engine counts now; -1: it does not say. */
extern double kakehashi_rows_on_engine(Relation rel, const KakehashiOptions *options, KakehashiSession *session);

/* Pages that so many rows of a foreign table would have here. */
extern BlockNumber kakehashi_pages_of(Relation rel, double rows);

/* ---- import_statistics.c ---- */

#if PG_VERSION_NUM >= 190000
/* PostgreSQL's ImportForeignStatistics: false: a sample is to be read. names: of columns, as String; NIL: all. */
extern bool kakehashi_import_statistics(Relation rel, List *names, int elevel);
#endif

/* ---- functions.c ---- */

/* Reports an error unless the current user may use the server. */
extern void kakehashi_check_usage(ForeignServer *server);

/* True if the server is one of this wrapper. */
extern bool kakehashi_is_server(ForeignServer *server);

/* A server of this wrapper that the current user may use. Errors: 42704, 42809, 42501. */
extern ForeignServer *kakehashi_server_by_name(const char *name);

/* The current user's session with a server of this wrapper, attached. Errors: those of kakehashi_session_get, 42704, 42809, 42501. */
extern KakehashiSession *kakehashi_session_by_name(const char *name);

/* Result of a function of a server's name: rows of the engine's catalogue, outside of the current transaction, which would be seen in it. needed: for that. */
extern Datum kakehashi_return_catalog(FunctionCallInfo fcinfo, kh_capability needed, const char *sql);

/* Before a statement of the user is executed: the engine's session gets the time zone of PostgreSQL's. */
extern void kakehashi_set_time_zone(KakehashiSession *session);

/* Reports 42804 unless rows of the statement fit the columns. */
extern void kakehashi_check_columns(KakehashiStatement *statement, TupleDesc desc);

/* Puts the rows of a statement into a function's result, whose columns are the statement's, and ends the call. */
extern void kakehashi_return_rows(ReturnSetInfo *info, KakehashiCall *call, const char *function);

/* ---- copy_text.c ---- */

/* An option of COPY. */
typedef struct KakehashiCopyOption
{
	const char *name;
	List *values; /* of C strings */
	bool listed;  /* in parentheses; else there is one value, or none */
} KakehashiCopyOption;

/* A COPY of the engine, between a table or query there and files that it reaches. */
typedef struct KakehashiCopy
{
	bool from;
	ForeignServer *server;
	Oid relid;     /* the foreign table; InvalidOid: no table of this database */
	char *target;  /* the table as the engine's SQL names it, or a query in parentheses */
	bool query;    /* the latter */
	char *columns; /* in parentheses, or empty */
	const char *location;
	List *options;         /* of KakehashiCopyOption */
	const char *condition; /* of the rows that are loaded; NULL: all */
	bool alone;            /* the statement is the whole transaction */
} KakehashiCopy;

/*
 * Reports 42501 unless the current user may read files of the server, or write them, and may read or write the table. A file that a client has sent
 * is its sender's, and the engine looks for that.
 */
extern void kakehashi_copy_check(const KakehashiCopy *copy, List *columns);

/* Names table and columns as the engine does. columns: names in this database, as nodes; NIL: all. */
extern void kakehashi_copy_table(KakehashiCopy *copy, KakehashiSession *session, Relation rel, List *columns);

/* The value of an option that stands alone; NULL: it is not there. */
extern const char *kakehashi_copy_option(const KakehashiCopy *copy, const char *name);

/* The options as SQL writes them, without parentheses. */
extern char *kakehashi_copy_options(const KakehashiCopy *copy);

/* The statement for the engine. */
extern char *kakehashi_copy_text(const KakehashiCopy *copy);

/* ---- copy.c ---- */

/*
 * Sends the statement, and waits for its rows or its end with its progress in pg_stat_progress_copy. In the current transaction, but for a load in batches,
 * which makes transactions of its own and is refused where others could belong to them (25001).
 */
extern KakehashiCall *kakehashi_copy_run(const KakehashiCopy *copy, KakehashiSession *session,
                                         KakehashiStatement *statement);

/* Prepares the statement. */
extern KakehashiStatement *kakehashi_copy_prepare(const KakehashiCopy *copy, KakehashiSession *session);

/* ---- queue_functions.c ---- */

typedef enum KakehashiQueueMode
{
	KAKEHASHI_QUEUE_WITHIN, /* a change of the current transaction */
	KAKEHASHI_QUEUE_APART   /* whatever becomes of that */
} KakehashiQueueMode;

/* Sends a statement that calls functions of queues, with one row of parameters. statement, if not NULL, is valid until the next one is prepared. */
extern KakehashiCall *kakehashi_queue_send(KakehashiSession *session, const char *sql, int count, const Oid *types,
                                           const Datum *values, const bool *nulls, KakehashiQueueMode mode,
                                           KakehashiStatement **statement);

#endif /* KAKEHASHI_COMMAND_H */

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

/* ---- functions.c ---- */

/* Reports an error unless the current user may use the server. */
extern void kakehashi_check_usage(ForeignServer *server);

/* The current user's session with a server of this wrapper, attached. Errors: those of kakehashi_session_get, 42704, 42809, 42501. */
extern KakehashiSession *kakehashi_session_by_name(const char *name);

/* Result of a function of a server's name: rows of the engine's catalogue, outside of the current transaction, which would be seen in it. */
extern Datum kakehashi_return_catalog(FunctionCallInfo fcinfo, const char *sql);

#endif /* KAKEHASHI_COMMAND_H */

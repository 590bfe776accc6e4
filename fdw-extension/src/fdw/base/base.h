/*
 * Settings and options, and what every file of the wrapper includes.
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
extern int kakehashi_commit_timeout; /* milliseconds: longest wait for an endpoint at each phase; 0: for ever */
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
	const char *required_peer;    /* OS user of the endpoint; NULL: that of this server */
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
/* attnum may be KAKEHASHI_IDENTITY. */
extern char *kakehashi_remote_column(Oid relid, AttrNumber attnum);

/* Attribute numbers of the columns marked key 'true', ascending; NIL if there is none. */
extern List *kakehashi_key_columns(Relation rel);

/* Columns for which the engine makes a value if an inserted row has none: identity and serial columns. */
extern List *kakehashi_generated_columns(Relation rel);

/* Of names (NULL-terminated), the one closest to name, or NULL if none is close. */
extern const char *kakehashi_closest(const char *name, const char *const *names);

/* ---- import.c ---- */

extern List *kakehashi_import_schema(ImportForeignSchemaStmt *stmt, Oid server_id);

#endif /* KAKEHASHI_FDW_H */

/*
 * What every file of the wrapper includes: options, and identities of rows.
 */
#ifndef KAKEHASHI_BASE_H
#define KAKEHASHI_BASE_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "foreign/foreign.h"
#include "funcapi.h"
#include "lib/ilist.h"
#include "lib/stringinfo.h"
#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"
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

/* From 19 on a description of rows is finished before it is used. */
#if PG_VERSION_NUM < 190000
#define TupleDescFinalize(desc) ((void) (desc))
#endif

/* From 19 on comments no longer tell the compiler that it is meant. */
#ifndef pg_fallthrough
#define pg_fallthrough __attribute__((fallthrough))
#endif

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
	bool batch_size_given;
	bool use_remote_estimate;
	bool import_stats; /* false before PostgreSQL 19 */
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

/* Whether a stored generated column of the foreign table is one of the engine's table, too: both compute it, and it is not sent. */
extern bool kakehashi_is_generated_there(Relation rel, int attnum);

/* Of names (NULL-terminated), the one closest to name, or NULL if none is close. */
extern const char *kakehashi_closest(const char *name, const char *const *names);

/* ---- identity.c: what the engine's column ctid says, an int8 that names a row of a table, also of one without a key ---- */

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

/* Type of a parameter of a statement. */
extern Oid kakehashi_parameter_type(const Node *expr);

#endif /* KAKEHASHI_BASE_H */

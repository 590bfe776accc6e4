/*
 * Options of servers, user mappings, tables and columns: validation and look-up.
 */
#include "fdw/base/base.h"

#include <math.h>

#include "access/reloptions.h"
#include "access/table.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_user_mapping.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

/* Where an endpoint that was not told otherwise puts its runtime directory. */
#define DEFAULT_RUNTIME_DIR "/dev/shm/kakehashi/main"

/* Attach is a local socket; more than this means that the endpoint is not answering. */
#define DEFAULT_CONNECT_TIMEOUT_SECONDS 5

/* A request and its answer, in units of a sequential page read from cache: some tens of microseconds. */
#define DEFAULT_STARTUP_COST 20.0

/* Rows cross without conversion, so that one is little dearer than a local tuple (cpu_tuple_cost is 0.01). */
#define DEFAULT_TUPLE_COST 0.01

/* Rows per request; bytes are bounded by KAKEHASHI_INBOUND_BYTES besides. */
#define DEFAULT_BATCH_SIZE 1000

typedef enum OptionKind
{
	OPTION_STRING,
	OPTION_BOOL,
	OPTION_COUNT,        /* integer > 0 */
	OPTION_NON_NEGATIVE, /* integer >= 0 */
	OPTION_COST          /* real >= 0 */
} OptionKind;

typedef struct OptionRule
{
	const char *name;
	Oid catalog;
	OptionKind kind;
	bool superuser_only;
} OptionRule;

static const OptionRule option_rules[] = {
	{"runtime_dir", ForeignServerRelationId, OPTION_STRING, true},
	{"requirepeer", ForeignServerRelationId, OPTION_STRING, true},
	{"application_name", ForeignServerRelationId, OPTION_STRING, false},
	{"connect_timeout", ForeignServerRelationId, OPTION_COUNT, false},
	{"transaction_lease", ForeignServerRelationId, OPTION_NON_NEGATIVE, false},
	{"fdw_startup_cost", ForeignServerRelationId, OPTION_COST, false},
	{"fdw_tuple_cost", ForeignServerRelationId, OPTION_COST, false},
	{"keep_connections", ForeignServerRelationId, OPTION_BOOL, false},
	{"use_remote_estimate", ForeignServerRelationId, OPTION_BOOL, false},
	{"use_remote_estimate", ForeignTableRelationId, OPTION_BOOL, false},
	{"import_stats", ForeignServerRelationId, OPTION_BOOL, false},
	{"import_stats", ForeignTableRelationId, OPTION_BOOL, false},
	{"updatable", ForeignServerRelationId, OPTION_BOOL, false},
	{"updatable", ForeignTableRelationId, OPTION_BOOL, false},
	{"async_capable", ForeignServerRelationId, OPTION_BOOL, false},
	{"async_capable", ForeignTableRelationId, OPTION_BOOL, false},
	{"parallel_capable", ForeignServerRelationId, OPTION_BOOL, false},
	{"parallel_capable", ForeignTableRelationId, OPTION_BOOL, false},
	{"batch_size", ForeignServerRelationId, OPTION_COUNT, false},
	{"batch_size", ForeignTableRelationId, OPTION_COUNT, false},
	{"schema_name", ForeignTableRelationId, OPTION_STRING, false},
	{"table_name", ForeignTableRelationId, OPTION_STRING, false},
	{"column_name", AttributeRelationId, OPTION_STRING, false},
	{"key", AttributeRelationId, OPTION_BOOL, false},
	{"generated", AttributeRelationId, OPTION_BOOL, false},
	{"user", UserMappingRelationId, OPTION_STRING, false},
	{"password", UserMappingRelationId, OPTION_STRING, false},
	{"password_required", UserMappingRelationId, OPTION_BOOL, true},
};

PG_FUNCTION_INFO_V1(kakehashi_fdw_validator);

/* Shorter beginnings are shared by chance. */
#define MIN_PREFIX_LENGTH 3

/* Of names, the one that has most characters in common with name where one of the two begins with the other; or NULL. */
static const char *
closest_by_prefix(const char *name, const char *const *names)
{
	const char *best = NULL;
	size_t name_length = strlen(name);
	size_t best_common = MIN_PREFIX_LENGTH - 1;

	for (; *names != NULL; names++)
	{
		size_t common = Min(name_length, strlen(*names));

		if (common > best_common && pg_strncasecmp(name, *names, common) == 0)
		{
			best_common = common;
			best = *names;
		}
	}
	return best;
}

const char *
kakehashi_closest(const char *name, const char *const *names)
{
	const char *const *all = names;
	const char *best = NULL;
	int name_length = (int) strlen(name);
	int best_distance = Max(2, name_length / 3) + 1;

	/* The limit of varstr_levenshtein; such a name resembles none of ours. */
	if (name_length > 255)
		return NULL;
	for (; *names != NULL; names++)
	{
		int distance = varstr_levenshtein_less_equal(name, name_length, *names, (int) strlen(*names), 1, 1, 1,
		                                             best_distance, true);

		if (distance < best_distance)
		{
			best_distance = distance;
			best = *names;
		}
	}
	return best != NULL ? best : closest_by_prefix(name, all);
}

static void
report_unknown_option(const char *name, Oid catalog)
{
	const char *names[lengthof(option_rules) + 1];
	StringInfoData valid;
	const char *closest;
	int count = 0;

	initStringInfo(&valid);
	for (size_t i = 0; i < lengthof(option_rules); i++)
	{
		if (option_rules[i].catalog != catalog)
			continue;
		names[count++] = option_rules[i].name;
		appendStringInfo(&valid, "%s%s", valid.len > 0 ? ", " : "", option_rules[i].name);
	}
	names[count] = NULL;
	closest = kakehashi_closest(name, names);

	ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_OPTION_NAME), errmsg("invalid option \"%s\"", name),
	                count == 0        ? errhint("There are no valid options in this context.")
	                : closest != NULL ? errhint("Perhaps you meant the option \"%s\".", closest)
	                                  : errhint("Valid options in this context are: %s", valid.data)));
}

static void
check_option_value(const OptionRule *rule, DefElem *def)
{
	char *text;
	int count;
	double cost;

	switch (rule->kind)
	{
		case OPTION_STRING:
			/* The password may be empty, a name or a directory may not. */
			if (*defGetString(def) == '\0' && strcmp(rule->name, "password") != 0 &&
			    strcmp(rule->name, "application_name") != 0)
				ereport(ERROR,
				        (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("\"%s\" must not be empty", def->defname)));
			if (strcmp(rule->name, "runtime_dir") == 0 && !is_absolute_path(defGetString(def)))
				ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				                errmsg("\"%s\" must be an absolute path", def->defname)));
			break;
		case OPTION_BOOL:
			if (defGetBoolean(def) && PG_VERSION_NUM < 190000 && strcmp(rule->name, "import_stats") == 0)
				ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				                errmsg("option \"%s\" needs PostgreSQL 19", def->defname),
				                errhint("Leave it out: estimates use the engine's statistics without ANALYZE.")));
			break;
		case OPTION_COUNT:
		case OPTION_NON_NEGATIVE:
			text = defGetString(def);
			if (!parse_int(text, &count, 0, NULL))
				ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				                errmsg("invalid value for integer option \"%s\": %s", def->defname, text)));
			if (count < (rule->kind == OPTION_COUNT ? 1 : 0))
				ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				                errmsg("\"%s\" must be an integer value greater than %s", def->defname,
				                       rule->kind == OPTION_COUNT ? "zero" : "or equal to zero")));
			break;
		case OPTION_COST:
			text = defGetString(def);
			if (!parse_real(text, &cost, 0, NULL))
				ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				                errmsg("invalid value for floating point option \"%s\": %s", def->defname, text)));
			if (isnan(cost) || cost < 0)
				ereport(ERROR,
				        (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				         errmsg("\"%s\" must be a floating point value greater than or equal to zero", def->defname)));
			break;
	}
}

/*
 * kakehashi_fdw_validator(options text[], catalog oid): refuses unknown options and bad values.
 *
 * runtime_dir names a directory in which the server's operating system user opens and writes files, requirepeer whose endpoint there
 * it trusts, and password_required opens the door of that user to others: all three are for superusers.
 */
Datum
kakehashi_fdw_validator(PG_FUNCTION_ARGS)
{
	List *options = untransformRelOptions(PG_GETARG_DATUM(0));
	Oid catalog = PG_GETARG_OID(1);
	ListCell *cell;

	foreach (cell, options)
	{
		DefElem *def = (DefElem *) lfirst(cell);
		const OptionRule *rule = NULL;

		for (size_t i = 0; i < lengthof(option_rules) && rule == NULL; i++)
		{
			if (option_rules[i].catalog == catalog && strcmp(option_rules[i].name, def->defname) == 0)
				rule = &option_rules[i];
		}
		if (rule == NULL)
		{
			report_unknown_option(def->defname, catalog);
			continue; /* not reached */
		}
		check_option_value(rule, def);
		if (rule->superuser_only && !superuser() && (rule->kind != OPTION_BOOL || !defGetBoolean(def)))
			ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			                errmsg("permission denied to set option \"%s\"", def->defname),
			                errdetail("Only superusers may set this option.")));
	}
	PG_RETURN_VOID();
}

static int
option_int(DefElem *def)
{
	int value = 0;

	/* The validator has accepted it. */
	(void) parse_int(defGetString(def), &value, 0, NULL);
	return value;
}

static double
option_real(DefElem *def)
{
	double value = 0;

	(void) parse_real(defGetString(def), &value, 0, NULL);
	return value;
}

static void
apply_options(KakehashiOptions *options, List *defs)
{
	ListCell *cell;

	foreach (cell, defs)
	{
		DefElem *def = (DefElem *) lfirst(cell);

		if (strcmp(def->defname, "runtime_dir") == 0)
			options->runtime_dir = defGetString(def);
		else if (strcmp(def->defname, "requirepeer") == 0)
			options->required_peer = defGetString(def);
		else if (strcmp(def->defname, "application_name") == 0)
			options->application_name = defGetString(def);
		else if (strcmp(def->defname, "connect_timeout") == 0)
			options->connect_timeout_seconds = option_int(def);
		else if (strcmp(def->defname, "transaction_lease") == 0)
			options->transaction_lease_millis = option_int(def);
		else if (strcmp(def->defname, "fdw_startup_cost") == 0)
			options->fdw_startup_cost = option_real(def);
		else if (strcmp(def->defname, "fdw_tuple_cost") == 0)
			options->fdw_tuple_cost = option_real(def);
		else if (strcmp(def->defname, "keep_connections") == 0)
			options->keep_connections = defGetBoolean(def);
		else if (strcmp(def->defname, "use_remote_estimate") == 0)
			options->use_remote_estimate = defGetBoolean(def);
		else if (strcmp(def->defname, "import_stats") == 0)
			options->import_stats = defGetBoolean(def);
		else if (strcmp(def->defname, "async_capable") == 0)
			options->async_capable = defGetBoolean(def);
		else if (strcmp(def->defname, "parallel_capable") == 0)
			options->parallel_capable = defGetBoolean(def);
		else if (strcmp(def->defname, "updatable") == 0)
			options->updatable = defGetBoolean(def);
		else if (strcmp(def->defname, "batch_size") == 0)
		{
			options->batch_size = option_int(def);
			options->batch_size_given = true;
		}
		else if (strcmp(def->defname, "schema_name") == 0)
			options->schema_name = defGetString(def);
		else if (strcmp(def->defname, "table_name") == 0)
			options->table_name = defGetString(def);
	}
}

KakehashiOptions
kakehashi_options(ForeignServer *server, ForeignTable *table)
{
	KakehashiOptions options = {
		.runtime_dir = DEFAULT_RUNTIME_DIR,
		.connect_timeout_seconds = DEFAULT_CONNECT_TIMEOUT_SECONDS,
		.fdw_startup_cost = DEFAULT_STARTUP_COST,
		.fdw_tuple_cost = DEFAULT_TUPLE_COST,
		.batch_size = DEFAULT_BATCH_SIZE,
		.use_remote_estimate = true,
		.updatable = true,
		.async_capable = true,
		.parallel_capable = true,
		.keep_connections = true,
	};

	apply_options(&options, server->options);
	if (table != NULL)
		apply_options(&options, table->options);
	return options;
}

const char *
kakehashi_remote_schema(Relation rel, const KakehashiOptions *options)
{
	return options->schema_name != NULL ? options->schema_name : get_namespace_name(RelationGetNamespace(rel));
}

const char *
kakehashi_remote_table(Relation rel, const KakehashiOptions *options)
{
	return options->table_name != NULL ? options->table_name : RelationGetRelationName(rel);
}

char *
kakehashi_remote_column(Oid relid, AttrNumber attnum)
{
	ListCell *cell;

	if (attnum == KAKEHASHI_IDENTITY)
		return pstrdup(KAKEHASHI_IDENTITY_COLUMN);
	foreach (cell, GetForeignColumnOptions(relid, attnum))
	{
		DefElem *def = (DefElem *) lfirst(cell);

		if (strcmp(def->defname, "column_name") == 0)
			return defGetString(def);
	}
	return get_attname(relid, attnum, false);
}

/* Whether a column's boolean option of this name is true. */
static bool
is_marked(Relation rel, AttrNumber attnum, const char *option)
{
	ListCell *cell;

	foreach (cell, GetForeignColumnOptions(RelationGetRelid(rel), attnum))
	{
		DefElem *def = (DefElem *) lfirst(cell);

		if (strcmp(def->defname, option) == 0 && defGetBoolean(def))
			return true;
	}
	return false;
}

/* Columns that are marked so. */
static List *
marked_columns(Relation rel, const char *option)
{
	TupleDesc desc = RelationGetDescr(rel);
	List *result = NIL;

	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
	{
		if (!TupleDescAttr(desc, attnum - 1)->attisdropped && is_marked(rel, attnum, option))
			result = lappend_int(result, attnum);
	}
	return result;
}

List *
kakehashi_key_columns(Relation rel)
{
	return marked_columns(rel, "key");
}

List *
kakehashi_generated_columns(Relation rel)
{
	List *result = NIL;
	ListCell *cell;

	foreach (cell, marked_columns(rel, "generated"))
	{
		if (TupleDescAttr(RelationGetDescr(rel), lfirst_int(cell) - 1)->attgenerated == '\0')
			result = lappend_int(result, lfirst_int(cell));
	}
	return result;
}

bool
kakehashi_is_generated_there(Relation rel, int attnum)
{
	return TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attgenerated != '\0' &&
	       is_marked(rel, (AttrNumber) attnum, "generated");
}

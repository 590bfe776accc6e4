/*
 * Settings of sessions and transactions.
 *
 * What describes a transaction on the engine is said when that begins, with the first use of a server: a change that would come too late is
 * refused, so that SET LOCAL either takes effect or fails.
 */
#include "fdw/session/session.h"

#include <limits.h>

#include "access/xact.h"
#include "utils/guc.h"

int kakehashi_commit_response = KAKEHASHI_COMMIT_STORED;
bool kakehashi_atomic_commit = true;
bool kakehashi_direct_reads = true;
bool kakehashi_column_statistics = true;
bool kakehashi_explain_remote_plan = false;
int kakehashi_commit_timeout = 60000;
int kakehashi_transaction_kind = KAKEHASHI_KIND_AUTO;
int kakehashi_transaction_priority = 0;
int kakehashi_transaction_timeout = 0;
char *kakehashi_transaction_label = NULL;
char *kakehashi_write_preserve = NULL;
char *kakehashi_read_areas_include = NULL;
char *kakehashi_read_areas_exclude = NULL;

static const struct config_enum_entry commit_response_values[] = {
	{"stored", KAKEHASHI_COMMIT_STORED, false}, {"available", KAKEHASHI_COMMIT_AVAILABLE, false}, {NULL, 0, false}};

static const struct config_enum_entry push_down_values[] = {{"all", KAKEHASHI_PUSH_ALL, false},
                                                            {"tables", KAKEHASHI_PUSH_TABLES, false},
                                                            {"rows", KAKEHASHI_PUSH_ROWS, false},
                                                            {NULL, 0, false}};

static const struct config_enum_entry kind_values[] = {{"auto", KAKEHASHI_KIND_AUTO, false},
                                                       {"occ", KAKEHASHI_KIND_OCC, false},
                                                       {"ltx", KAKEHASHI_KIND_LTX, false},
                                                       {"rtx", KAKEHASHI_KIND_RTX, false},
                                                       {NULL, 0, false}};

/* What a user sets, as opposed to what PostgreSQL restores, must not come after the beginning. */
static bool
comes_in_time(GucSource source)
{
	HASH_SEQ_STATUS scan;
	KakehashiSession *session;
	bool begun = false;

	if (source < PGC_S_INTERACTIVE || source == PGC_S_TEST || !IsTransactionState() ||
	    kakehashi_session_table() == NULL)
		return true;
	hash_seq_init(&scan, kakehashi_session_table());
	while ((session = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
		begun |= session->level > 0 && !session->leaving;
	if (begun)
	{
		GUC_check_errcode(ERRCODE_ACTIVE_SQL_TRANSACTION);
		GUC_check_errmsg("options of the transaction must be set before it uses a server of kakehashi_fdw");
	}
	return !begun;
}

static bool
check_int(int *value, void **extra, GucSource source)
{
	return comes_in_time(source);
}

static bool
check_string(char **value, void **extra, GucSource source)
{
	return comes_in_time(source);
}

static void
define_string(const char *name, const char *what, const char *more, char **variable)
{
	DefineCustomStringVariable(name, what, more, variable, "", PGC_USERSET, 0, check_string, NULL, NULL);
}

void
kakehashi_settings_init(void)
{
	DefineCustomEnumVariable("kakehashi.commit_response", "What a commit on the engine waits for.",
	                         "\"stored\": the transaction survives a loss of power; \"available\": others can see it.",
	                         &kakehashi_commit_response, KAKEHASHI_COMMIT_STORED, commit_response_values, PGC_USERSET,
	                         0, NULL, NULL, NULL);
	DefineCustomBoolVariable(
		"kakehashi.atomic_commit", "Changes on an engine and elsewhere commit together or not at all.",
		"If on, the engine's part is prepared first when local tables or another server were changed, too.",
		&kakehashi_atomic_commit, true, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("kakehashi.commit_timeout",
	                        "Longest wait at COMMIT for an engine's part of a transaction over both sides.",
	                        "A part that is not prepared by then rolls the transaction back; one that is not committed "
	                        "by then is committed "
	                        "later. Zero means to wait for ever.",
	                        &kakehashi_commit_timeout, 60000, 0, INT_MAX, PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomEnumVariable(
		"kakehashi.transaction_kind", "Kind of the transactions on the engine.",
		"\"occ\": short; \"ltx\": long, with declared tables; \"rtx\": read-only; \"auto\": rtx for "
		"read-only transactions, ltx if tables are declared, occ for the others.",
		&kakehashi_transaction_kind, KAKEHASHI_KIND_AUTO, kind_values, PGC_USERSET, 0, check_int, NULL, NULL);
	define_string("kakehashi.transaction_label", "Name of the transaction in the engine's displays and messages.", NULL,
	              &kakehashi_transaction_label);
	DefineCustomIntVariable(
		"kakehashi.transaction_priority", "Of long transactions that conflict greater ones go first.", NULL,
		&kakehashi_transaction_priority, 0, INT_MIN, INT_MAX, PGC_USERSET, 0, check_int, NULL, NULL);
	DefineCustomIntVariable(
		"kakehashi.transaction_timeout", "The engine rolls a transaction back after this time. Zero means never.", NULL,
		&kakehashi_transaction_timeout, 0, 0, INT_MAX, PGC_USERSET, GUC_UNIT_MS, check_int, NULL, NULL);
	define_string(
		"kakehashi.write_preserve", "Tables of the engine that a long transaction may write.",
		"Names as the engine's SQL has them, separated by commas. Short transactions that write them meanwhile are "
		"refused.",
		&kakehashi_write_preserve);
	define_string("kakehashi.read_areas_include", "Tables of the engine that a long transaction may read; empty: all.",
	              NULL, &kakehashi_read_areas_include);
	define_string("kakehashi.read_areas_exclude", "Tables of the engine that a long transaction does not read.", NULL,
	              &kakehashi_read_areas_exclude);
	DefineCustomBoolVariable("kakehashi.direct_reads",
	                         "Rows are read out of the engine's memory where no request is needed.",
	                         "The endpoint has a setting of that name, too.", &kakehashi_direct_reads, true,
	                         PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("kakehashi.column_statistics", "Plans use what the engine knows of its columns.",
	                         "Statistics that ANALYZE has found of a foreign table go before them.",
	                         &kakehashi_column_statistics, true, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("kakehashi.push_down", "What plans leave to engines.",
	                         "\"all\": also joins, groups and queries within others; \"tables\": groups and order of "
	                         "single tables; \"rows\": rows of single tables.",
	                         &kakehashi_push_down, KAKEHASHI_PUSH_ALL, push_down_values, PGC_USERSET, 0, NULL, NULL,
	                         NULL);
	DefineCustomBoolVariable("kakehashi.explain_remote_plan", "EXPLAIN VERBOSE shows the engine's plan, too.", NULL,
	                         &kakehashi_explain_remote_plan, false, PGC_USERSET, 0, NULL, NULL, NULL);
	MarkGUCPrefixReserved("kakehashi");
}

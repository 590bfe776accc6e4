/*
 * Engines that refuse some queries only when they plan them: those that spread rows over nodes, and cannot join or group all of them there.
 *
 * They say so by a setting. A query of several tables or groups that a plan would send to such an engine is shown to it first, by EXPLAIN. If it is
 * refused, the whole statement is planned anew: first without the joins or groups that were refused, then each table is read by itself and may still
 * be grouped, and then its rows are all that is asked for.
 */
#include "fdw/plan/plan.h"
#include "fdw/transaction/transaction.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#define MAX_AGE_MILLIS 60000
#define MOST_ANSWERS 1000

/* Plans of a statement that leave out what was refused of those before. */
#define MOST_PARTIAL_PLANS 8

typedef struct AnswerKey
{
	Oid server_id;
	uint32 unused; /* no padding in hash keys */
	uint64 query;
} AnswerKey;

/* Whether a query was refused; query 0: whether the engine may refuse some. */
typedef struct Answer
{
	AnswerKey key; /* first */
	TimestampTz at;
	bool yes;
} Answer;

static HTAB *answers = NULL;
static planner_hook_type previous_hook = NULL;

/* A query of the statement that is being planned was refused. */
static bool refused = false;

/* One of those is not known to have a part that was refused. */
static bool unexplained = false;

/* What refused.c has noted of the others. */
static List *refusals = NIL;

/* Statements that are being planned and can be planned anew, one within the other. */
static int statements = 0;

static const Answer *
find_answer(const AnswerKey *key)
{
	const Answer *answer = answers == NULL ? NULL : (Answer *) hash_search(answers, key, HASH_FIND, NULL);

	return answer == NULL || TimestampDifferenceExceeds(answer->at, GetCurrentTimestamp(), MAX_AGE_MILLIS) ? NULL
	                                                                                                       : answer;
}

static bool
keep_answer(const AnswerKey *key, bool yes)
{
	Answer *answer;

	if (answers != NULL && hash_get_num_entries(answers) >= MOST_ANSWERS)
	{
		hash_destroy(answers);
		answers = NULL;
	}
	if (answers == NULL)
	{
		HASHCTL control = {0};

		control.keysize = sizeof(AnswerKey);
		control.entrysize = sizeof(Answer);
		control.hcxt = CacheMemoryContext;
		answers = hash_create("kakehashi refused queries", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	answer = (Answer *) hash_search(answers, key, HASH_ENTER, NULL);
	answer->at = GetCurrentTimestamp();
	answer->yes = yes;
	return yes;
}

static void
take_row(const kh_batch *batch, uint32 row, void *arg)
{
	*(bool *) arg = true;
}

/* Whether the engine answers a query of one column of text; rows: whether it has one. False if it refuses what it does not support. */
static bool
try_query(KakehashiSession *session, const char *sql, bool *rows)
{
	static const Oid types[] = {TEXTOID};
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool answered = true;

	*rows = false;
	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		kakehashi_catalog_query(session, sql, 0, NULL, 1, types, take_row, rows);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		/* Whoever runs the query meets the others. */
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(error);
		/* Citus has no SQLSTATE of its own for some refusals. */
		answered = error->sqlerrcode != ERRCODE_FEATURE_NOT_SUPPORTED && error->sqlerrcode != ERRCODE_INTERNAL_ERROR;
		FreeErrorData(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return answered;
}

static bool
may_refuse(KakehashiSession *session)
{
	const AnswerKey key = {.server_id = session->server_id};
	const Answer *known = find_answer(&key);
	bool rows;

	if (known != NULL)
		return known->yes;
	(void) try_query(
		session, "SELECT \"value\" FROM \"kakehashi_catalog\".\"settings\" WHERE \"name\" = 'queries_refused'", &rows);
	return keep_answer(&key, rows);
}

/* A value in place of a parameter. Null would let the engine find out that there are no rows, and accept the query. */
static const char *
value_of(Oid type)
{
	char category;
	bool preferred;

	get_type_category_preferred(type, &category, &preferred);
	return category == TYPCATEGORY_NUMERIC    ? "'0'"
	       : category == TYPCATEGORY_STRING   ? "''"
	       : category == TYPCATEGORY_BOOLEAN  ? "'f'"
	       : category == TYPCATEGORY_DATETIME ? "'2000-01-01 00:00'"
	                                          : "NULL";
}

/* The query with values in place of its parameters, which EXPLAIN has none for. */
static char *
without_parameters(const char *sql, List *parameters)
{
	StringInfoData buf;
	char quote = '\0';

	initStringInfo(&buf);
	appendStringInfoString(&buf, "EXPLAIN (COSTS OFF) ");
	for (const char *at = sql; *at != '\0'; at++)
	{
		char *end;
		long number;
		Oid type;

		if (quote != '\0' || *at != '$' || at[1] < '1' || at[1] > '9')
		{
			if (quote == '\0' && (*at == '\'' || *at == '"'))
				quote = *at;
			else if (*at == quote)
				quote = '\0';
			appendStringInfoChar(&buf, *at);
			continue;
		}
		number = strtol(at + 1, &end, 10);
		if (number > list_length(parameters))
			elog(ERROR, "query has no parameter $%ld", number);
		type = exprType((Node *) list_nth(parameters, (int) number - 1));
		appendStringInfo(&buf, "CAST(%s AS %s)", value_of(type), format_type_be(type));
		at = end - 1;
	}
	return buf.data;
}

/* NULL if the engine of the relation refuses nothing. */
static KakehashiSession *
refusing_session(const RelOptInfo *rel)
{
	KakehashiSession *session;

	/* Nothing is left to be planned otherwise, or the engine has its rows at hand and does what it says. */
	if (kakehashi_pushed() == KAKEHASHI_PUSH_ROWS || IsInParallelMode() ||
	    kakehashi_server_can(rel->serverid, KH_CAN_BACKUP))
		return NULL;
	session = kakehashi_session_get(GetUserMapping(OidIsValid(rel->userid) ? rel->userid : GetUserId(), rel->serverid));
	return may_refuse(session) ? session : NULL;
}

static bool
refuses(KakehashiSession *session, const char *sql, List *parameters)
{
	AnswerKey key = {.server_id = session->server_id};
	const Answer *known;
	bool rows;

	key.query = hash_bytes_extended((const unsigned char *) sql, (int) strlen(sql), 0) | 1;
	known = find_answer(&key);
	return known != NULL ? known->yes
	                     : keep_answer(&key, !try_query(session, without_parameters(sql, parameters), &rows));
}

bool
kakehashi_is_refused(const RelOptInfo *rel, const char *sql, List *parameters)
{
	KakehashiSession *session = refusing_session(rel);

	return session != NULL && refuses(session, sql, parameters);
}

void
kakehashi_want_another_plan(const RelOptInfo *rel, const char *sql, bool explained)
{
	/* The library was loaded in the midst of the planning of a session's first statement. */
	if (statements == 0)
		ereport(ERROR,
		        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
		         errmsg("engine of server \"%s\" does not run this query as it was planned",
		                GetForeignServer(rel->serverid)->servername),
		         errhint("Run the statement again: only the first one of a session cannot be planned anew. Where "
		                 "session_preload_libraries has kakehashi_fdw, that one can, too."),
		         kakehashi_sql_context(sql)));
	refused = true;
	unexplained |= !explained;
}

List *
kakehashi_refusals(void)
{
	return refusals;
}

void
kakehashi_add_refusal(void *refusal)
{
	refusals = lappend(refusals, refusal);
}

/* Whether foreign tables may be read. Planning changes the query, so that it is copied before, which takes its time. */
static bool
may_read_foreign(const Query *query)
{
	ListCell *cell;

	if (query->hasSubLinks || query->cteList != NIL)
		return true;
	foreach (cell, query->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, cell);

		if (rte->rtekind == RTE_SUBQUERY ||
		    (rte->rtekind == RTE_RELATION &&
		     (rte->relkind == RELKIND_FOREIGN_TABLE || rte->relkind == RELKIND_PARTITIONED_TABLE || rte->inh)))
			return true;
	}
	return false;
}

static PlannedStmt *
plan_until_taken(KAKEHASHI_PLANNER_PARAMETERS)
{
	Query *given = parse;
	KakehashiPushed level = kakehashi_pushed();

	for (int plans = 1;; plans++)
	{
		/* The last one may have the query itself. */
		bool again = level < KAKEHASHI_PUSH_ROWS && kakehashi_engines_may_refuse() && may_read_foreign(given);
		PlannedStmt *result;

		refused = false;
		unexplained = false;
		(void) kakehashi_set_pushed(level);
		parse = again ? (Query *) copyObject(given) : given;
		result = previous_hook != NULL ? previous_hook(KAKEHASHI_PLANNER_ARGUMENTS)
		                               : standard_planner(KAKEHASHI_PLANNER_ARGUMENTS);
		if (!again || !refused)
			return result;
		if (unexplained || plans >= MOST_PARTIAL_PLANS)
			level++;
	}
}

static PlannedStmt *
plan_anew(KAKEHASHI_PLANNER_PARAMETERS)
{
	const bool outer_refused = refused;
	const bool outer_unexplained = unexplained;
	const KakehashiPushed outer_pushed = kakehashi_set_pushed(kakehashi_pushed());
	List *const outer_refusals = refusals;
	PlannedStmt *volatile result;

	refusals = NIL;
	statements++;
	PG_TRY();
	{
		result = plan_until_taken(KAKEHASHI_PLANNER_ARGUMENTS);
	}
	PG_FINALLY();
	{
		refused = outer_refused;
		unexplained = outer_unexplained;
		refusals = outer_refusals;
		statements--;
		(void) kakehashi_set_pushed(outer_pushed);
	}
	PG_END_TRY();
	return result;
}

void
kakehashi_push_down_init(void)
{
	previous_hook = planner_hook;
	planner_hook = plan_anew;
}

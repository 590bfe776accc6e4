/*
 * COPY foreign_table FROM | TO 'location' WITH (FORMAT parquet | arrow | arrow_stream, ...), which the engine does.
 *
 * PostgreSQL has no formats but its own, and refuses others. So whatever is not of such a format, between a file of the server and one of our foreign
 * tables, goes on as it would without the library.
 */
#include "fdw/module/module.h"
#include "fdw/command/command.h"
#include "fdw/transaction/transaction.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/value.h"
#include "storage/lmgr.h"
#include "tcop/cmdtag.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/backend_progress.h"
#include "utils/lsyscache.h"

static ProcessUtility_hook_type previous_hook = NULL;

static const char *const formats[] = {"parquet", "arrow", "arrow_stream"};

static bool
has_format(const CopyStmt *stmt)
{
	ListCell *cell;

	foreach (cell, stmt->options)
	{
		DefElem *option = (DefElem *) lfirst(cell);

		if (strcmp(option->defname, "format") != 0 || option->arg == NULL || !IsA(option->arg, String))
			continue;
		for (int i = 0; i < lengthof(formats); i++)
		{
			if (strcmp(strVal(option->arg), formats[i]) == 0)
				return true;
		}
	}
	return false;
}

/* The foreign table, locked, if the statement is for the engine. */
static Relation
open_table(const CopyStmt *stmt)
{
	LOCKMODE mode = stmt->is_from ? RowExclusiveLock : AccessShareLock;
	Relation rel;
	Oid relid;

	if (stmt->relation == NULL || stmt->filename == NULL || stmt->is_program || !has_format(stmt))
		return NULL;
	relid = RangeVarGetRelid(stmt->relation, mode, true);
	if (!OidIsValid(relid))
		return NULL;
	rel = table_open(relid, NoLock);
	if (rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE &&
	    kakehashi_is_server(GetForeignServer(GetForeignTable(relid)->serverid)))
		return rel;
	table_close(rel, NoLock);
	return NULL;
}

static List *
option_values(const DefElem *option, bool *listed)
{
	List *result = NIL;
	ListCell *cell;

	*listed = false;
	if (option->arg == NULL)
		return NIL;
	switch (nodeTag(option->arg))
	{
		case T_A_Star:
			return list_make1(pstrdup("*"));
		case T_List:
			*listed = true;
			foreach (cell, (List *) option->arg)
				result = lappend(result, pstrdup(strVal(lfirst(cell))));
			return result;
		default:
			return list_make1(defGetString(unconstify(DefElem *, option)));
	}
}

static List *
options_of(const CopyStmt *stmt)
{
	List *result = NIL;
	ListCell *cell;

	foreach (cell, stmt->options)
	{
		const DefElem *element = (const DefElem *) lfirst(cell);
		KakehashiCopyOption *option = (KakehashiCopyOption *) palloc0(sizeof(KakehashiCopyOption));

		option->name = element->defname;
		option->values = option_values(element, &option->listed);
		result = lappend(result, option);
	}
	return result;
}

static bool
has_subquery(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, SubLink) || raw_expression_tree_walker(node, has_subquery, context);
}

static bool
is_space(char c)
{
	return strchr(" \t\r\n\f(", c) != NULL;
}

/* Whether the word stands before the place. */
static bool
ends_with(const char *source, int begin, int at, const char *word)
{
	int length = (int) strlen(word);

	return at - length >= begin && pg_strncasecmp(source + at - length, word, length) == 0;
}

/*
 * The condition as it was written: the last clause of the statement. Nothing but space, parentheses and NOT may stand between its WHERE and the first of what the
 * parser has kept of it.
 */
static char *
condition_of(const CopyStmt *stmt, const PlannedStmt *planned, const char *source)
{
	int begin = Max(planned->stmt_location, 0);
	int end = planned->stmt_len > 0 ? begin + planned->stmt_len : (int) strlen(source);
	int at = exprLocation(stmt->whereClause);

	if (has_subquery(stmt->whereClause, NULL))
		ereport(ERROR,
		        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("cannot use subquery in COPY FROM WHERE condition")));
	while (at > begin && (is_space(source[at - 1]) || ends_with(source, begin, at, "not")))
		at -= is_space(source[at - 1]) ? 1 : 3;
	if (ends_with(source, begin, at, "where"))
		return pnstrdup(source + at, end - at);
	ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
	                errmsg("the condition of a COPY that the engine does must not begin with a comment"),
	                errhint("Write it without, or SELECT * FROM kakehashi_load(..., condition => '...').")));
	return NULL; /* not reached */
}

/* Columns of the result, which is a row for each file of a dump, and one row of a load. */
enum
{
	LOADED = 1,
	REJECTED = 2,
	DUMPED = 1
};

static int64
number(const kh_batch *batch, uint32 row, uint32 column)
{
	if (column >= batch->column_count || kh_batch_is_null(batch, row, column))
		return 0;
	return (int64) kh_batch_word(batch, row, column);
}

/* Returns the rows that have been copied. */
static uint64
copy(const KakehashiCopy *copy, KakehashiSession *session)
{
	KakehashiStatement *statement = kakehashi_copy_prepare(copy, session);
	KakehashiCall *call = kakehashi_copy_run(copy, session, statement);
	int64 copied = 0;
	int64 rejected = 0;
	kh_batch batch;

	while (kakehashi_call_next_batch(call, &batch))
	{
		for (uint32 row = 0; row < batch.row_count; row++)
		{
			copied += number(&batch, row, copy->from ? LOADED : DUMPED);
			rejected += copy->from ? number(&batch, row, REJECTED) : 0;
		}
		kh_call_release(call->ipc);
	}
	(void) kakehashi_call_complete(call);
	pgstat_progress_end_command();
	if (rejected > 0)
		ereport(NOTICE, (errmsg_plural(INT64_FORMAT " row was rejected", INT64_FORMAT " rows were rejected",
		                               (unsigned long) rejected, rejected)));
	return (uint64) copied;
}

/* True if the engine has done the statement. */
static bool
copy_by_engine(const CopyStmt *stmt, const PlannedStmt *planned, const char *source, bool top_level,
               QueryCompletion *completion)
{
	KakehashiCopy request = {.from = stmt->is_from, .location = stmt->filename};
	KakehashiSession *session;
	Relation rel = open_table(stmt);
	uint64 rows;

	if (rel == NULL)
		return false;
	request.relid = RelationGetRelid(rel);
	request.server = GetForeignServer(GetForeignTable(request.relid)->serverid);
	request.options = options_of(stmt);
	request.alone = top_level && !IsTransactionBlock() && !IsSubTransaction();
	kakehashi_copy_check(&request, stmt->attlist);
	if (stmt->whereClause != NULL)
		request.condition = condition_of(stmt, planned, source);
	session = kakehashi_session_get(GetUserMapping(GetUserId(), request.server->serverid));
	kakehashi_require(session, KH_CAN_COPY_FILES);
	kakehashi_copy_table(&request, session, rel, stmt->attlist);
	rows = copy(&request, session);
	table_close(rel, NoLock);
	if (completion != NULL)
		SetQueryCompletion(completion, CMDTAG_COPY, rows);
	return true;
}

static void
process_utility(PlannedStmt *planned, const char *source, bool read_only_tree, ProcessUtilityContext context,
                ParamListInfo params, QueryEnvironment *environment, DestReceiver *receiver,
                QueryCompletion *completion)
{
	Node *stmt = planned->utilityStmt;

	if (IsA(stmt, CopyStmt) &&
	    copy_by_engine((CopyStmt *) stmt, planned, source, context == PROCESS_UTILITY_TOPLEVEL, completion))
		return;
	if (previous_hook != NULL)
		previous_hook(planned, source, read_only_tree, context, params, environment, receiver, completion);
	else
		standard_ProcessUtility(planned, source, read_only_tree, context, params, environment, receiver, completion);
}

void
kakehashi_copy_hook_init(void)
{
	previous_hook = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}

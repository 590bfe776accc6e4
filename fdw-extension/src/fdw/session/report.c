/*
 * Turns errors of the bridge and of the engine into errors of PostgreSQL.
 */
#include "fdw/session/session.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/elog.h"

/* Of a statement that is longer than this, errors show less: one over many columns has tens of kilobytes. */
#define SHOWN_BYTES 1000

/* What is shown of its beginning and end, or before and behind the place of the error. */
#define HEAD_BYTES 600
#define TAIL_BYTES 300

int
kakehashi_sql_context(const char *sql)
{
	int bytes = (int) strlen(sql);
	int head;
	int tail;

	if (bytes <= SHOWN_BYTES)
		return errcontext("remote SQL command: %s", sql);
	head = pg_mbcliplen(sql, bytes, HEAD_BYTES);
	tail = pg_mbcliplen(sql, bytes, bytes - TAIL_BYTES);
	return errcontext("remote SQL command: %.*s ... (%d bytes) ... %s", head, sql, tail - head, sql + tail);
}

/* The statement as query of the error, which is at that character of it, from 1. */
static int
sql_query(const char *sql, int position)
{
	int bytes = (int) strlen(sql);
	int at = 0;
	int from;
	int to;
	char *part;

	if (bytes <= SHOWN_BYTES)
	{
		internalerrposition(position);
		return internalerrquery(sql);
	}
	for (int i = 1; i < position && sql[at] != '\0'; i++)
		at += pg_mblen(sql + at);
	from = pg_mbcliplen(sql, bytes, Max(at - HEAD_BYTES, 0));
	to = pg_mbcliplen(sql, bytes, Min(at + TAIL_BYTES, bytes));
	part = psprintf("%s%.*s%s", from > 0 ? "... " : "", to - from, sql + from, to < bytes ? " ..." : "");
	internalerrposition(position - pg_mbstrlen_with_len(sql, from) + (from > 0 ? 4 : 0));
	return internalerrquery(part);
}

static int
pack_sqlstate(const char *sqlstate)
{
	for (int i = 0; i < 5; i++)
	{
		if (!((sqlstate[i] >= '0' && sqlstate[i] <= '9') || (sqlstate[i] >= 'A' && sqlstate[i] <= 'Z')))
			return ERRCODE_FDW_ERROR;
	}
	/* Class 00 is success; an error that claims it is none. */
	if (sqlstate[0] == '0' && sqlstate[1] == '0')
		return ERRCODE_FDW_ERROR;
	return MAKE_SQLSTATE(sqlstate[0], sqlstate[1], sqlstate[2], sqlstate[3], sqlstate[4]);
}

int
kakehashi_errcode(kh_error_code code)
{
	return pack_sqlstate(kh_sqlstate(code));
}

/* How to learn what became of a commit, the engine's own hint in front. Without a handle it was not seen to begin. */
static int
outcome_hint(const KakehashiSession *session, const char *before)
{
	if (session->handle == 0)
		return errhint("%s%sLook whether the rows are there.", before, before[0] != '\0' ? " " : "");
	return errhint("%s%sAsk for its outcome: SELECT kakehashi_transaction_status(%s, " UINT64_FORMAT ");", before,
	               before[0] != '\0' ? " " : "", quote_literal_cstr(session->server_name), session->handle);
}

/* Whether the engine might do the parts of a query that it refuses as a whole. */
static bool
may_do_parts(const KakehashiSession *session, const kh_error *error, const char *sql)
{
	return pack_sqlstate(error->sqlstate) == ERRCODE_FEATURE_NOT_SUPPORTED && sql != NULL &&
	       strncmp(sql, "SELECT ", 7) == 0 && kakehashi_pushed() != KAKEHASHI_PUSH_ROWS && session->ipc != NULL &&
	       !kakehashi_engine_has(kh_session_engine(session->ipc)->capabilities, KH_CAN_BACKUP);
}

static int
error_hint(const KakehashiSession *session, const kh_error *error, const char *sql)
{
	if (may_do_parts(session, error, sql))
		return errhint("%s%sSET kakehashi.push_down = 'rows' leaves joins and groups to PostgreSQL.", error->hint,
		               error->hint[0] != '\0' ? " " : "");
	if (session->committing && pack_sqlstate(error->sqlstate) == ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN)
		return outcome_hint(session, error->hint);
	return error->hint[0] != '\0' ? errhint("%s", error->hint) : 0;
}

void
kakehashi_report_error(const kh_error *error, KakehashiSession *session, const char *sql)
{
	ereport(
		ERROR,
		(errcode(pack_sqlstate(error->sqlstate)),
	     error->message[0] != '\0' ? errmsg_internal("%s", error->message)
	                               : errmsg("server \"%s\" reported an error without a message", session->server_name),
	     error->detail[0] != '\0' ? errdetail_internal("%s", error->detail) : 0, error_hint(session, error, sql),
	     error->schema_name[0] != '\0' ? err_generic_string(PG_DIAG_SCHEMA_NAME, error->schema_name) : 0,
	     error->table_name[0] != '\0' ? err_generic_string(PG_DIAG_TABLE_NAME, error->table_name) : 0,
	     error->column_name[0] != '\0' ? err_generic_string(PG_DIAG_COLUMN_NAME, error->column_name) : 0,
	     error->constraint_name[0] != '\0' ? err_generic_string(PG_DIAG_CONSTRAINT_NAME, error->constraint_name) : 0,
	     error->position > 0 && sql != NULL ? sql_query(sql, (int) error->position)
	     : sql != NULL                      ? kakehashi_sql_context(sql)
	                                        : 0));
	pg_unreachable();
}

static int
lost_detail(const KakehashiSession *session, const kh_error *error)
{
	if (session->committing && session->handle == 0)
		return errdetail("The rows and their commit had been requested; the engine was not seen to begin with them.");
	if (session->committing)
		return errdetail("The commit of transaction " UINT64_FORMAT
		                 " had been requested; the engine knows whether it was done.",
		                 session->handle);
	if (session->level > 0 && session->ipc != NULL && kh_session_damaged_queue(session->ipc) != 0 && error != NULL)
		return errdetail(
			"The transaction's part on the engine is rolled back, because a request could not be sent: %s.",
			error->message);
	if (session->level > 0)
		return errdetail("The transaction's part on the engine is rolled back.");
	if (error != NULL && error->message[0] != '\0')
		return errdetail_internal("%s", error->message);
	return errdetail("The endpoint has ended, or has closed the session.");
}

static int
lost_hint(const KakehashiSession *session)
{
	const char *again = session->ipc != NULL && kh_session_damaged_queue(session->ipc) != 0
	                        ? "The next transaction gets another request queue."
	                        : "Once the endpoint runs again, the next transaction attaches to it.";

	return session->committing ? outcome_hint(session, again) : errhint("%s", again);
}

void
kakehashi_report_lost(KakehashiSession *session, const kh_error *error, const char *sql)
{
	ereport(ERROR, (errcode(session->committing ? ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN : ERRCODE_CONNECTION_FAILURE),
	                errmsg("connection to the endpoint of server \"%s\" was lost", session->server_name),
	                lost_detail(session, error), lost_hint(session), sql != NULL ? kakehashi_sql_context(sql) : 0));
	pg_unreachable();
}

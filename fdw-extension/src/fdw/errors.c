/*
 * Turns errors of the bridge and of the engine into errors of PostgreSQL.
 */
#include "session.h"

#include "utils/elog.h"

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

void
kakehashi_report_error(const kh_error *error, KakehashiSession *session, const char *sql)
{
	ereport(
		ERROR,
		(errcode(pack_sqlstate(error->sqlstate)),
	     error->message[0] != '\0' ? errmsg_internal("%s", error->message)
	                               : errmsg("server \"%s\" reported an error without a message", session->server_name),
	     error->detail[0] != '\0' ? errdetail_internal("%s", error->detail) : 0,
	     error->hint[0] != '\0' ? errhint("%s", error->hint) : 0,
	     error->schema_name[0] != '\0' ? err_generic_string(PG_DIAG_SCHEMA_NAME, error->schema_name) : 0,
	     error->table_name[0] != '\0' ? err_generic_string(PG_DIAG_TABLE_NAME, error->table_name) : 0,
	     error->column_name[0] != '\0' ? err_generic_string(PG_DIAG_COLUMN_NAME, error->column_name) : 0,
	     error->constraint_name[0] != '\0' ? err_generic_string(PG_DIAG_CONSTRAINT_NAME, error->constraint_name) : 0,
	     error->position > 0 && sql != NULL ? internalerrposition((int) error->position) : 0,
	     error->position > 0 && sql != NULL ? internalerrquery(sql)
	     : sql != NULL                      ? errcontext("remote SQL command: %s", sql)
	                                        : 0));
	pg_unreachable();
}

static int
lost_detail(const KakehashiSession *session, const kh_error *error)
{
	if (session->committing)
		return errdetail("The commit of transaction " UINT64_FORMAT
		                 " had been requested; the engine knows whether it was done.",
		                 session->handle);
	if (session->level > 0)
		return errdetail("The transaction's part on the engine is rolled back.");
	if (error != NULL && error->message[0] != '\0')
		return errdetail_internal("%s", error->message);
	return errdetail("The endpoint has ended, or has closed the session.");
}

void
kakehashi_report_lost(KakehashiSession *session, const kh_error *error, const char *sql)
{
	ereport(ERROR,
	        (errcode(session->committing ? ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN : ERRCODE_CONNECTION_FAILURE),
	         errmsg("connection to the endpoint of server \"%s\" was lost", session->server_name),
	         lost_detail(session, error), errhint("Once the endpoint runs again, the next transaction attaches to it."),
	         sql != NULL ? errcontext("remote SQL command: %s", sql) : 0));
	pg_unreachable();
}

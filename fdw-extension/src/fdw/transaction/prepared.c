/*
 * PREPARE TRANSACTION of transactions that have changed an engine.
 *
 * The engine's part is prepared before PostgreSQL's, under PostgreSQL's transaction id, as for an atomic commit (two_phase.c). It
 * is decided at COMMIT PREPARED or ROLLBACK PREPARED, which any backend may execute: so each must have this library, and PREPARE TRANSACTION is refused unless the
 * server preloads it. The prepared transaction keeps a lock on the foreign server, which says where its part is, also after a restart; and the
 * foreign server cannot be dropped before. If the endpoint cannot be reached then, PostgreSQL's decision stands, and the part follows it when the next session
 * begins.
 */
#include "fdw/transaction/transaction.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

static ProcessUtility_hook_type next_process_utility = NULL;

/*
 * Foreign servers that a prepared transaction has a part on. Its locks are found by the one on its own transaction id; a prepared
 * transaction has no process.
 */
static List *
servers_of(const char *gid)
{
	static const char *query =
		"SELECT DISTINCT l.objid FROM pg_catalog.pg_prepared_xacts p"
		" JOIN pg_catalog.pg_locks x ON x.locktype = 'transactionid' AND x.transactionid = p.transaction"
		" AND x.granted AND x.pid IS NULL"
		" JOIN pg_catalog.pg_locks l ON l.virtualtransaction = x.virtualtransaction AND l.pid IS NULL"
		" JOIN pg_catalog.pg_foreign_server s ON s.oid = l.objid"
		" JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw"
		" JOIN pg_catalog.pg_proc f ON f.oid = w.fdwhandler"
		" WHERE p.gid = $1 AND p.database = pg_catalog.current_database()"
		" AND l.locktype = 'object' AND l.classid = 'pg_catalog.pg_foreign_server'::regclass"
		" AND f.prosrc = 'kakehashi_fdw_handler'";
	Oid types[] = {TEXTOID};
	Datum values[] = {CStringGetTextDatum(gid)};
	MemoryContext context = CurrentMemoryContext;
	List *servers = NIL;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_with_args(query, 1, types, values, NULL, false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not look for parts of prepared transaction \"%s\"", gid);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool is_null;
		Datum server = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &is_null);
		MemoryContext old = MemoryContextSwitchTo(context);

		servers = lappend_oid(servers, DatumGetObjectId(server));
		MemoryContextSwitchTo(old);
	}
	SPI_finish();
	return servers;
}

/* PostgreSQL has decided, and nothing that fails here changes that. */
static void
decide_on(Oid server_id)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		/* A session that begins resolves by itself; one that is kept has to be asked. */
		if (!kakehashi_two_phase_resolve(kakehashi_session_get(GetUserMapping(GetUserId(), server_id)), NULL, NULL))
			ereport(
				WARNING,
				(errmsg("the transaction's part on server %u is not decided yet: the endpoint is a standby", server_id),
			     errhint("This is done when it is promoted, and a session with the server begins.")));
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		ereport(WARNING,
		        (errmsg("the transaction's part on server %u is not decided yet: %s", server_id, error->message),
		         errhint("This is done when a session with the server begins, or by kakehashi_resolve().")));
		FreeErrorData(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
}

static void
process_utility(PlannedStmt *statement, const char *text, bool read_only_tree, ProcessUtilityContext context,
                ParamListInfo parameters, QueryEnvironment *environment, DestReceiver *receiver,
                QueryCompletion *completion)
{
	ProcessUtility_hook_type next = next_process_utility != NULL ? next_process_utility : standard_ProcessUtility;
	List *servers = NIL;
	ListCell *cell;

	if (IsA(statement->utilityStmt, TransactionStmt))
	{
		TransactionStmt *control = (TransactionStmt *) statement->utilityStmt;

		/* Within a transaction block it will be refused. */
		if ((control->kind == TRANS_STMT_COMMIT_PREPARED || control->kind == TRANS_STMT_ROLLBACK_PREPARED) &&
		    context == PROCESS_UTILITY_TOPLEVEL && !IsTransactionBlock())
			servers = servers_of(control->gid);
	}
	next(statement, text, read_only_tree, context, parameters, environment, receiver, completion);
	foreach (cell, servers)
		decide_on(lfirst_oid(cell));
}

void
kakehashi_prepared_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	next_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}

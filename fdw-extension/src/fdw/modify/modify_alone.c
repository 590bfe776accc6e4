/*
 * INSERTs that are alone in their transactions: their rows go with the commit, see held.c.
 *
 * The client is told how many rows there are before the engine has said anything. So it must be the statement's own transaction that ends next, and nothing
 * may look at what the engine has made of the rows: no RETURNING, ON CONFLICT, trigger or EXPLAIN ANALYZE. What is not the plain case waits twice.
 */
#include "fdw/modify/modify.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "tcop/dest.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/portal.h"

/* Its description of a connection wants headers that need not be installed. Nothing of that is used here. */
#undef ENABLE_GSS
#undef USE_OPENSSL
#undef USE_SSL
#include "libpq/libpq.h"

/* Messages of the client begin with a letter; this one ends the transaction of those before. */
#define SYNC_MESSAGE 'S'

/* Whether the client's next message is here, and ends the transaction. Nothing is read, and nobody is waited for. */
static bool
is_sync_next(void)
{
	int next;

#if PG_VERSION_NUM >= 170000
	if (pq_buffer_remaining_data() <= 0)
		return false;
#else
	if (!pq_buffer_has_data())
		return false;
#endif
	if (pq_is_reading_msg())
		return false;
	pq_startmsgread();
	next = pq_peekbyte();
	pq_endmsgread();
	return next == SYNC_MESSAGE;
}

/*
 * Whether the client has sent the statement itself, and the transaction has no other. A statement of a function, of EXECUTE or of EXPLAIN is not its portal's.
 * Of a simple query that is one statement nothing comes behind it: its portal has no name and is not shown. Other portals are of the extended protocol, whose
 * clients may go on in the transaction until they send Sync.
 */
static bool
is_whole_transaction(const PlannedStmt *statement)
{
	const PortalData *portal = ActivePortal;

	if (MyBackendType != B_BACKEND || whereToSendOutput != DestRemote || portal == NULL ||
	    portal->strategy != PORTAL_MULTI_QUERY || list_length(portal->stmts) != 1 ||
	    linitial(portal->stmts) != statement)
		return false;
	if (GetCurrentTransactionNestLevel() > 1 || IsTransactionBlock() || (MyXactFlags & XACT_FLAGS_PIPELINING) != 0)
		return false;
	return portal->visible ? is_sync_next() : portal->name[0] == '\0';
}

bool
kakehashi_is_alone(const ModifyTableState *node, const ResultRelInfo *rinfo)
{
	const EState *estate = node->ps.state;
	const PlannedStmt *statement = estate->es_plannedstmt;
	const ModifyTable *plan = castNode(ModifyTable, node->ps.plan);

	return plan->operation == CMD_INSERT && statement->planTree == &plan->plan && !statement->hasModifyingCTE &&
	       list_length(plan->resultRelations) == 1 && plan->onConflictAction == ONCONFLICT_NONE &&
	       plan->returningLists == NIL && plan->withCheckOptionLists == NIL && rinfo->ri_TrigDesc == NULL &&
	       estate->es_instrument == 0 && is_whole_transaction(statement);
}

bool
kakehashi_has_one_row(const ModifyTableState *node)
{
	const Plan *rows = outerPlan(node->ps.plan);

	return IsA(rows, Result) && outerPlan(rows) == NULL;
}

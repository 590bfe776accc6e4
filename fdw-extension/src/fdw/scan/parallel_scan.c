/*
 * Parallel scans: the processes of a parallel plan draw batches of one and the same response.
 *
 * The leader sends the request, in its transaction, when it sets up the plan's shared memory, and shares the call there
 * (share.c of src/ipc). A worker has no session with the endpoint: it maps the response that the leader is given. Rows are
 * therefore those of one statement on one snapshot, own changes of the transaction included, and each comes out once.
 *
 * A failure of the engine is reported by whoever comes to the end of the rows, so also when the leader does not read. Nobody
 * of the others reads any more when the leader ends the call: it stops the drawing first (shutdown, end of scan, rescan), or
 * its transaction is aborted, and PostgreSQL waits for the workers before it tells us.
 */
#include "fdw/scan/scan.h"

#include "access/parallel.h"
#include "executor/tuptable.h"

Size
kakehashi_estimate_dsm(ForeignScanState *node, ParallelContext *pcxt)
{
	RemoteScan *state = (RemoteScan *) node->fdw_state;

	state->session = kakehashi_session_get(state->user);
	state->share_bytes = kh_share_bytes(state->session->ipc);
	return state->share_bytes;
}

static void
begin_shared(ForeignScanState *node, RemoteScan *state, void *memory)
{
	kh_error error;

	kakehashi_scan_send(node, state);
	if (kh_share_bytes(state->session->ipc) > state->share_bytes)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		                errmsg("endpoint of server \"%s\" was replaced by one with other limits while the scan began",
		                       state->session->server_name)));
	if (!kh_call_share(state->call->ipc, memory, &error))
		kakehashi_report_error(&error, state->session, state->sql);
	state->shared = true;
}

static void
end_shared(ForeignScanState *node, RemoteScan *state)
{
	/* Its row may lie in a batch of ours. */
	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (state->call != NULL && state->call->ipc != NULL)
		kh_call_unshare(state->call->ipc);
	kakehashi_scan_end_request(state);
}

void
kakehashi_initialize_dsm(ForeignScanState *node, ParallelContext *pcxt, void *coordinate)
{
	begin_shared(node, (RemoteScan *) node->fdw_state, coordinate);
}

void
kakehashi_reinitialize_dsm(ForeignScanState *node, ParallelContext *pcxt, void *coordinate)
{
	RemoteScan *state = (RemoteScan *) node->fdw_state;

	end_shared(node, state);
	begin_shared(node, state, coordinate);
}

void
kakehashi_initialize_worker(ForeignScanState *node, shm_toc *toc, void *coordinate)
{
	((RemoteScan *) node->fdw_state)->share = (kh_share *) coordinate;
}

void
kakehashi_shutdown_scan(ForeignScanState *node)
{
	RemoteScan *state = (RemoteScan *) node->fdw_state;

	/* Asked of every foreign scan; of a direct modification the state is another. */
	if (!node->ss.ps.plan->parallel_aware || state == NULL)
		return;
	if (state->shared && state->share == NULL)
		end_shared(node, state);
	else if (state->share != NULL)
	{
		ExecClearTuple(node->ss.ss_ScanTupleSlot);
		kakehashi_scan_end_request(state);
		state->begun = true; /* what was ours to read is read */
	}
}

/*
 * The call and session are stand-ins: waiting and reporting are the same as for calls of one's own, but there is no
 * transaction, and none of the process's sessions knows of it.
 */
void
kakehashi_scan_join(ForeignScanState *node, RemoteScan *state)
{
	MemoryContext context = node->ss.ps.state->es_query_cxt;
	KakehashiCall *call = (KakehashiCall *) MemoryContextAllocZero(context, sizeof(KakehashiCall));
	ForeignServer *server = GetForeignServer(((ForeignScan *) node->ss.ps.plan)->fs_server);
	kh_error error;

	call->session = (KakehashiSession *) MemoryContextAllocZero(context, sizeof(KakehashiSession));
	strlcpy(call->session->server_name, server->servername, NAMEDATALEN);
	call->sql = state->sql;
	state->borrowed = kh_borrow(state->share, &call->ipc, &error);
	if (state->borrowed == NULL)
		kakehashi_report_error(&error, call->session, state->sql);
	state->call = call;
	state->shared = true;
	state->begun = true;
}

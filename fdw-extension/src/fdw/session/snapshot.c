/*
 * Which statement a request belongs to.
 *
 * In READ COMMITTED the engine takes a new snapshot when PostgreSQL does: once per statement, not once per scan. A
 * statement is known by the snapshot that its executor state has registered, which also says the number of its command. Statements
 * that run inside another one on the same snapshot (stable functions) share it. The address of a snapshot means something only as long as somebody holds it,
 * so that each name is forgotten when the outermost executor state using it goes.
 *
 * Rows that an INSERT of a command before it has gathered are sent first (before_snapshot of KakehashiCallbacks), as the snapshot sees them.
 */
#include "fdw/session/session.h"

#include "utils/memutils.h"
#include "utils/snapmgr.h"

typedef struct Owner
{
	slist_node node;
	const void *snapshot;
	MemoryContextCallback callback;
} Owner;

static slist_head owners = SLIST_STATIC_INIT(owners);

static void
forget_owner(void *arg)
{
	Owner *owner = (Owner *) arg;
	HASH_SEQ_STATUS scan;
	KakehashiSession *session;

	slist_delete(&owners, &owner->node);
	if (kakehashi_session_table() == NULL)
		return;
	hash_seq_init(&scan, kakehashi_session_table());
	while ((session = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
	{
		if (session->snapshot_owner == owner->snapshot)
			session->snapshot_owner = NULL;
	}
}

void
kakehashi_snapshot_settle(const void *owner)
{
	if (owner != NULL)
		kakehashi_tell_before_snapshot(((Snapshot) owner)->curcid);
}

const void *
kakehashi_snapshot_owner(EState *estate)
{
	/* COPY has none in its executor state. */
	Snapshot snapshot =
		estate->es_snapshot == InvalidSnapshot && ActiveSnapshotSet() ? GetActiveSnapshot() : estate->es_snapshot;
	Owner *owner;
	slist_iter iter;

	kakehashi_snapshot_settle(snapshot);
	slist_foreach(iter, &owners)
	{
		if (slist_container(Owner, node, iter.cur)->snapshot == snapshot)
			return snapshot;
	}
	owner = (Owner *) MemoryContextAlloc(estate->es_query_cxt, sizeof(Owner));
	owner->snapshot = snapshot;
	owner->callback.func = forget_owner;
	owner->callback.arg = owner;
	MemoryContextRegisterResetCallback(estate->es_query_cxt, &owner->callback);
	slist_push_head(&owners, &owner->node);
	return owner->snapshot;
}

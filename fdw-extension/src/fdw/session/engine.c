/*
 * What the engines of servers can do, as they have said at attach.
 *
 * Plans depend on it: what is known of a server stays until its endpoint says something else, and then plans are made again.
 */
#include "fdw/session/session.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/resowner.h"

typedef struct EngineOfServer
{
	Oid server_id; /* hash key; first */
	kh_engine engine;
} EngineOfServer;

static HTAB *engines = NULL;

static const char *
title(kh_capability capability)
{
	static const char *const titles[] = {
#define TITLE(bit, name, words) [bit] = (words),
		KH_CAPABILITY_LIST(TITLE)
#undef TITLE
	};

	return titles[capability];
}

static void
report_lacking(const kh_engine *engine, kh_capability capability)
{
	ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
	                errmsg("engine \"%s\" has no %s", engine->name, title(capability))));
}

/* What plans have been made with is no longer there. */
static bool
has_lost(const kh_engine *before, const kh_engine *now)
{
	return (before->capabilities & ~now->capabilities) != 0 || (before->computations & ~now->computations) != 0 ||
	       (before->stored_types & ~now->stored_types) != 0;
}

/* Notes what the server's engine can do; returns whether something was known before, and what. */
static bool
note(Oid server_id, const kh_engine *now, kh_engine *before)
{
	EngineOfServer *known;
	bool found;

	if (engines == NULL)
	{
		HASHCTL control = {0};

		control.keysize = sizeof(Oid);
		control.entrysize = sizeof(EngineOfServer);
		control.hcxt = CacheMemoryContext;
		engines = hash_create("kakehashi engines", 8, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	known = (EngineOfServer *) hash_search(engines, &server_id, HASH_ENTER, &found);
	if (found)
		*before = known->engine;
	known->engine = *now;
	return found;
}

void
kakehashi_engine_learn(const KakehashiSession *session)
{
	const kh_engine *now = kh_session_engine(session->ipc);
	kh_engine before;

	if (!note(session->server_id, now, &before) || memcmp(&before, now, sizeof(before)) == 0)
		return;
	ResetPlanCache();
	/* The plan that is being executed may be one of them. */
	if (has_lost(&before, now))
		ereport(ERROR,
		        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
		         errmsg("engine of server \"%s\" can do less than before", session->server_name),
		         errdetail("Plans were made for engine \"%s\", the endpoint has \"%s\" now.", before.name, now->name),
		         errhint("Run the statement again.")));
}

const kh_engine *
kakehashi_engine(Oid server_id)
{
	/* A plan asks often, and of one server mostly. Entries stay where they are. */
	static EngineOfServer *last = NULL;

	if (last == NULL || last->server_id != server_id)
	{
		EngineOfServer *known =
			engines == NULL ? NULL : (EngineOfServer *) hash_search(engines, &server_id, HASH_FIND, NULL);

		if (known == NULL)
			return NULL;
		last = known;
	}
	return &last->engine;
}

/* Attaches, which says what the engine can do; fails without a trace, unless it is canceled. */
static void
try_attach(Oid server_id, Oid user_id)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		(void) kakehashi_session_get(GetUserMapping(user_id, server_id));
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(error);
		FreeErrorData(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
}

void
kakehashi_engine_know(Oid server_id, Oid user_id)
{
	/* What an endpoint that cannot be reached is taken to have: the one that comes is asked. */
	static const kh_engine embedded = {
		.name = "embedded",
		.capabilities = (UINT64CONST(1) << KH_CAPABILITY_COUNT) - 1,
		.computations = (UINT64CONST(1) << KH_COMPUTATION_COUNT) - 1,
		.stored_types = (UINT64CONST(1) << KH_STORED_TYPE_COUNT) - 1,
	};
	kh_engine before;

	if (kakehashi_engine(server_id) != NULL)
		return;
	if (!IsInParallelMode())
		try_attach(server_id, OidIsValid(user_id) ? user_id : GetUserId());
	if (kakehashi_engine(server_id) == NULL)
		(void) note(server_id, &embedded, &before);
}

bool
kakehashi_server_can(Oid server_id, kh_capability capability)
{
	kakehashi_engine_know(server_id, InvalidOid);
	return kakehashi_engine_has(kakehashi_engine(server_id)->capabilities, capability);
}

void
kakehashi_server_require(Oid server_id, kh_capability capability)
{
	if (!kakehashi_server_can(server_id, capability))
		report_lacking(kakehashi_engine(server_id), capability);
}

bool
kakehashi_engines_may_refuse(void)
{
	HASH_SEQ_STATUS scan;
	const EngineOfServer *known;
	bool some = false;

	if (engines == NULL)
		return true;
	hash_seq_init(&scan, engines);
	while ((known = (EngineOfServer *) hash_seq_search(&scan)) != NULL)
		some |= !kakehashi_engine_has(known->engine.capabilities, KH_CAN_BACKUP);
	return some;
}

bool
kakehashi_server_computes(Oid server_id, kh_computation computation)
{
	if (kakehashi_engine_has(kakehashi_withheld(), computation))
		return false;
	kakehashi_engine_know(server_id, InvalidOid);
	return kakehashi_engine_has(kakehashi_engine(server_id)->computations, computation);
}

bool
kakehashi_server_computes_all(Oid server_id)
{
	kakehashi_engine_know(server_id, InvalidOid);
	return kakehashi_withheld() == 0 &&
	       kakehashi_engine(server_id)->computations == (UINT64CONST(1) << KH_COMPUTATION_COUNT) - 1;
}

bool
kakehashi_can(const KakehashiSession *session, kh_capability capability)
{
	return kakehashi_engine_has(kh_session_engine(session->ipc)->capabilities, capability);
}

void
kakehashi_require(const KakehashiSession *session, kh_capability capability)
{
	if (!kakehashi_can(session, capability))
		report_lacking(kh_session_engine(session->ipc), capability);
}

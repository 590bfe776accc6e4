/*
 * Sessions with endpoints: one per user mapping, attached when first needed, kept over transactions.
 */
#include "fdw/session/session.h"

#include <limits.h>

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_user_mapping.h"
#include "commands/defrem.h"
#include "common/saslprep.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/pmsignal.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

static HTAB *sessions = NULL;

HTAB *
kakehashi_session_table(void)
{
	return sessions;
}

#if PG_VERSION_NUM >= 190000
typedef SysCacheIdentifier CacheNumber;
#else
typedef int CacheNumber;
#endif

/* Options of a server or mapping have changed; hash value 0 means any. */
static void
on_invalidation(Datum arg, CacheNumber cache, uint32 hash)
{
	HASH_SEQ_STATUS scan;
	KakehashiSession *session;

	hash_seq_init(&scan, sessions);
	while ((session = (KakehashiSession *) hash_seq_search(&scan)) != NULL)
	{
		if (hash == 0 || hash == (cache == FOREIGNSERVEROID ? session->server_hash : session->mapping_hash))
			session->invalidated = true;
	}
}

static void
create_table(void)
{
	HASHCTL control = {0};

	control.keysize = sizeof(Oid);
	control.entrysize = sizeof(KakehashiSession);
	control.hcxt = CacheMemoryContext;
	sessions = hash_create("kakehashi sessions", 8, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	CacheRegisterSyscacheCallback(FOREIGNSERVEROID, on_invalidation, (Datum) 0);
	CacheRegisterSyscacheCallback(USERMAPPINGOID, on_invalidation, (Datum) 0);
}

void
kakehashi_session_detach(KakehashiSession *session)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &session->calls)
	{
		kakehashi_call_end(dlist_container(KakehashiCall, node, iter.cur));
	}
	kakehashi_statements_drop(session);
	kakehashi_inbound_forget(session);
	if (session->ipc != NULL)
	{
		session->damaged_queue = kh_session_damaged_queue(session->ipc);
		kh_detach(session->ipc);
	}
	session->ipc = NULL;
}

/*
 * Without a password the endpoint knows the client by the operating system user of the server, which is not whom a
 * PostgreSQL user may become just so. Asked at each use: a mapping for PUBLIC is one session of several users.
 */
static void
check_password(UserMapping *user)
{
	ListCell *cell;

	if (superuser_arg(user->userid))
		return;
	foreach (cell, user->options)
	{
		DefElem *def = (DefElem *) lfirst(cell);

		if (strcmp(def->defname, "password") == 0 && *defGetString(def) != '\0')
			return;
		if (strcmp(def->defname, "password_required") == 0 && !defGetBoolean(def))
			return;
	}
	ereport(ERROR, (errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED), errmsg("password is required"),
	                errdetail("Non-superusers must provide a password in the user mapping."),
	                errhint("A superuser may set \"password_required\" of the user mapping to false.")));
}

static bool
is_interrupted(void)
{
	return QueryCancelPending || ProcDiePending || !PostmasterIsAlive();
}

/* What the backend calls itself now; PostgreSQL cuts it to the length of a name. */
static const char *
backend_name(void)
{
	return application_name != NULL && *application_name != '\0' ? application_name : "kakehashi_fdw";
}

/*
 * Nobody is told that application_name has been set, and its address is used again: so each use compares. Displays do not fail a
 * request; that the endpoint is gone comes out with the next one.
 */
static void
tell_name(KakehashiSession *session)
{
	kh_error error;

	if (session->named_by_option || session->lost || strcmp(session->shown_name, backend_name()) == 0)
		return;
	strlcpy(session->shown_name, backend_name(), NAMEDATALEN);
	(void) kh_post_application_name(session->ipc, session->shown_name, &error);
}

/*
 * The engine's tables show sessions and statements of others as pg_stat_activity does. Only PostgreSQL knows its roles, and a
 * session may work for several, one after the other: each use compares. Requests keep their order, so each is seen with its role.
 */
static void
tell_role(KakehashiSession *session, UserMapping *user)
{
	bool monitors = has_privs_of_role(user->userid, ROLE_PG_READ_ALL_STATS);
	kh_error error;

	if (session->lost || (session->role_id == user->userid && session->monitors == monitors))
		return;
	/* Without it the request would be seen with another's rights. */
	if (!kh_post_role(session->ipc, GetUserNameFromId(user->userid, false), monitors, &error))
		kakehashi_report_error(&error, session, NULL);
	session->role_id = user->userid;
	session->monitors = monitors;
}

/*
 * A password as it is hashed, which the endpoint has done with its own; what SASLprep prohibits is taken as it is, as PostgreSQL takes
 * it. A copy, for the caller to wipe.
 */
static char *
prepared_password(const char *password)
{
	char *prepared;

	return pg_saslprep(password, &prepared) == SASLPREP_SUCCESS ? prepared : pstrdup(password);
}

static void
attach(KakehashiSession *session, UserMapping *user)
{
	ForeignServer *server = GetForeignServer(user->serverid);
	KakehashiOptions options = kakehashi_options(server, NULL);
	kh_attach_options attach = {0};
	char *password = NULL;
	kh_error error;
	ListCell *cell;

	if (GetDatabaseEncoding() != PG_UTF8)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
		                errmsg("database encoding \"%s\" is not supported by kakehashi_fdw", GetDatabaseEncodingName()),
		                errhint("Use a database with encoding UTF8.")));
	foreach (cell, user->options)
	{
		DefElem *def = (DefElem *) lfirst(cell);

		if (strcmp(def->defname, "user") == 0)
			attach.user_name = defGetString(def);
		else if (strcmp(def->defname, "password") == 0)
			password = prepared_password(defGetString(def));
	}
	attach.password = password;
	attach.runtime_directory = options.runtime_dir;
	attach.required_peer = options.required_peer;
	session->named_by_option = options.application_name != NULL;
	strlcpy(session->shown_name, backend_name(), NAMEDATALEN);
	attach.application_name = session->named_by_option ? options.application_name : session->shown_name;
	attach.timeout_millis =
		options.connect_timeout_seconds > INT_MAX / 1000 ? INT_MAX : options.connect_timeout_seconds * 1000;

	attach.interrupted = is_interrupted;
	attach.client_version = KAKEHASHI_VERSION;
	attach.damaged_queue = session->damaged_queue;

	session->server_id = server->serverid;
	session->user_id = user->userid;
	strlcpy(session->server_name, server->servername, NAMEDATALEN);
	session->server_hash = GetSysCacheHashValue1(FOREIGNSERVEROID, ObjectIdGetDatum(server->serverid));
	session->mapping_hash = GetSysCacheHashValue1(USERMAPPINGOID, ObjectIdGetDatum(user->umid));
	session->keep = options.keep_connections;
	session->lease_millis = options.transaction_lease_millis;
	session->invalidated = false;
	session->lost = false;
	session->time_zone[0] = '\0';
	session->role_id = InvalidOid;

	session->ipc = kh_attach(&attach, &error);
	if (password != NULL)
	{
		explicit_bzero(password, strlen(password));
		pfree(password);
	}
	if (session->ipc == NULL)
	{
		/* Cancel and time-outs say it in PostgreSQL's words. */
		kakehashi_check_wait();
		kakehashi_report_error(&error, session, NULL);
	}
	PG_TRY();
	{
		tell_role(session, user);
		kakehashi_tell_attached(session);
		kakehashi_engine_learn(session);
	}
	PG_CATCH();
	{
		/* Half attached: it would work for nobody, or by what another engine can. */
		session->invalidated = true;
		PG_RE_THROW();
	}
	PG_END_TRY();
}

KakehashiSession *
kakehashi_session_get(UserMapping *user)
{
	KakehashiSession *session;
	bool found;

	check_password(user);
	if (sessions == NULL)
		create_table();
	session = (KakehashiSession *) hash_search(sessions, &user->umid, HASH_ENTER, &found);
	if (!found)
	{
		Oid mapping_id = session->mapping_id;

		memset(session, 0, sizeof(KakehashiSession));
		session->mapping_id = mapping_id;
		dlist_init(&session->calls);
		dlist_init(&session->statements_lru);
	}

	/* Within a transaction its session stays as it is; between two, it is renewed if need be. */
	if (session->level > 0)
	{
		if (session->lost)
			kakehashi_report_lost(session, NULL, NULL);
		tell_name(session);
		tell_role(session, user);
		return session;
	}
	if (session->ipc != NULL && dlist_is_empty(&session->calls) &&
	    (session->invalidated || session->lost || !kh_session_alive(session->ipc)))
		kakehashi_session_detach(session);
	if (session->ipc == NULL)
		attach(session, user);
	else
	{
		tell_name(session);
		tell_role(session, user);
		if (session->undecided)
			kakehashi_tell_undecided(session);
	}
	return session;
}

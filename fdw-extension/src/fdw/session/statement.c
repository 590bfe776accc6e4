/*
 * Prepared statements of a session, by text and parameter types.
 *
 * Statement numbers are ours to give out, below the endpoint's maxStatements; the statement used longest ago makes room for
 * a new one. A statement that a call uses is pinned: others go first, and what is known of it stays as long as the call.
 */
#include "fdw/session/session.h"

#include <ctype.h>

#include "common/hashfn.h"
#include "utils/memutils.h"

typedef struct StatementKey
{
	const char *sql;
	const Oid *types;
	int type_count;
} StatementKey;

typedef struct StatementEntry
{
	StatementKey key; /* hash key; points into the statement once it is entered */
	KakehashiStatement *statement;
} StatementEntry;

static uint32
statement_hash(const void *key, Size size)
{
	const StatementKey *k = (const StatementKey *) key;
	uint32 text = hash_bytes((const unsigned char *) k->sql, (int) strlen(k->sql));
	uint32 types =
		k->type_count == 0 ? 0 : hash_bytes((const unsigned char *) k->types, k->type_count * (int) sizeof(Oid));

	return hash_combine(text, types);
}

static int
statement_match(const void *key1, const void *key2, Size size)
{
	const StatementKey *a = (const StatementKey *) key1;
	const StatementKey *b = (const StatementKey *) key2;

	if (a->type_count != b->type_count || strcmp(a->sql, b->sql) != 0)
		return 1;
	return a->type_count == 0 ? 0 : memcmp(a->types, b->types, a->type_count * sizeof(Oid));
}

static void
create_table(KakehashiSession *session)
{
	HASHCTL control = {0};

	control.keysize = sizeof(StatementKey);
	control.entrysize = sizeof(StatementEntry);
	control.hash = statement_hash;
	control.match = statement_match;
	control.hcxt = CacheMemoryContext;
	session->statements =
		hash_create("kakehashi statements", 32, &control, HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
	dlist_init(&session->statements_lru);
}

/* Drops what we know of a statement; its number is free again. Calls that use it still find its text. */
static void
remove_statement(KakehashiSession *session, KakehashiStatement *statement)
{
	StatementKey key = {statement->sql, statement->types, statement->type_count};

	hash_search(session->statements, &key, HASH_REMOVE, NULL);
	dlist_delete(&statement->lru);
	session->statement_ids = bms_del_member(session->statement_ids, (int) statement->id);
	statement->gone = true;
	if (statement->pins == 0)
		MemoryContextDelete(statement->context);
}

static void
unpin(KakehashiStatement *statement)
{
	Assert(statement->pins > 0);
	statement->pins--;
	if (statement->gone && statement->pins == 0)
		MemoryContextDelete(statement->context);
}

void
kakehashi_statement_forget(KakehashiSession *session, KakehashiStatement *statement)
{
	kh_error error;

	/* Other calls still point to it: it stays, and is refused again when it is used again. */
	if (statement->pins > 1 || statement->gone)
		return;
	for (dlist_node *node = session->calls.head.next; node != &session->calls.head; node = node->next)
	{
		KakehashiCall *call = dlist_container(KakehashiCall, node, node);

		if (call->statement == statement)
		{
			/* The text lives in the statement. */
			call->sql = call->sql == statement->sql ? MemoryContextStrdup(TopTransactionContext, call->sql) : call->sql;
			call->statement = NULL;
			statement->pins = 0;
		}
	}
	/* The number is free only when the engine agrees. */
	if (!kh_post_close_statement(session->ipc, statement->id, &error))
		session->invalidated = true;
	remove_statement(session, statement);
}

/* Makes room for one statement; the number is marked as used. */
static uint32
take_id(KakehashiSession *session)
{
	uint32 limit = kh_session_limits(session->ipc)->max_statements;
	MemoryContext old;
	kh_error error;
	int id;

	if (bms_num_members(session->statement_ids) >= (int) limit)
	{
		KakehashiStatement *victim = dlist_tail_element(KakehashiStatement, lru, &session->statements_lru);

		/* What executes has been begun by a request before: the engine goes on with it. But the next execution prepares it again. */
		for (dlist_node *node = &victim->lru; node != &session->statements_lru.head; node = node->prev)
		{
			KakehashiStatement *statement = dlist_container(KakehashiStatement, lru, node);

			if (statement->pins == 0)
			{
				victim = statement;
				break;
			}
		}
		if (!kh_post_close_statement(session->ipc, victim->id, &error))
			kakehashi_report_error(&error, session, NULL);
		remove_statement(session, victim);
	}
	for (id = 0; bms_is_member(id, session->statement_ids); id++)
		/* first free number */;
	old = MemoryContextSwitchTo(CacheMemoryContext);
	session->statement_ids = bms_add_member(session->statement_ids, id);
	MemoryContextSwitchTo(old);
	return (uint32) id;
}

/* The engine must have understood the parameters as we did, because values go over as they are. */
static void
check_parameters(KakehashiSession *session, const kh_result *result, const char *sql, const Oid *types, int type_count)
{
	if (result->parameter_count != (uint32) type_count)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_PARAMETER),
		                errmsg("statement has %u parameters, but %d are given", result->parameter_count, type_count),
		                kakehashi_sql_context(sql)));
	for (int i = 0; i < type_count; i++)
	{
		if (OidIsValid(types[i]) && !kakehashi_same_form(types[i], result->parameter_type_oids[i]))
			ereport(ERROR,
			        (errcode(ERRCODE_DATATYPE_MISMATCH),
			         errmsg("parameter $%d of the remote statement has type %s on server \"%s\", but type %s here",
			                i + 1, kakehashi_type_name(result->parameter_type_oids[i]), session->server_name,
			                kakehashi_type_name(types[i])),
			         kakehashi_sql_context(sql)));
	}
}

/* Whether a text begins with a word, whatever its case. */
static bool
begins_with(const char *text, const char *word)
{
	size_t length = strlen(word);

	return pg_strncasecmp(text, word, length) == 0 && !isalnum((unsigned char) text[length]);
}

/*
 * Whether a query has, perhaps, FOR UPDATE or one of its relatives. Others that have their words, as in a text, lose nothing but that their end is waited for, and
 * that they have a part in PREPARE TRANSACTION.
 */
static bool
has_row_locks(const char *sql)
{
	for (const char *at = sql; (at = strpbrk(at, "fF")) != NULL; at++)
	{
		const char *next;

		if (!begins_with(at, "for") || (at > sql && isalnum((unsigned char) at[-1])))
			continue;
		next = at + 3 + strspn(at + 3, " \t\r\n\f\v");
		/* Behind a comment may be anything. */
		if (begins_with(next, "update") || begins_with(next, "no") || begins_with(next, "share") ||
		    begins_with(next, "key") || strncmp(next, "--", 2) == 0 || strncmp(next, "/*", 2) == 0)
			return true;
	}
	return false;
}

/* What a call has been given: a statement, a buffer, or both. */
static void
on_call_end(KakehashiCall *call, KakehashiCallEvent event)
{
	switch (event)
	{
		case KAKEHASHI_CALL_FINISHED:
			kakehashi_inbound_finished(call);
			break;
		case KAKEHASHI_CALL_STALE:
			if (call->statement != NULL)
				kakehashi_statement_forget(call->session, call->statement);
			break;
		case KAKEHASHI_CALL_ENDED:
			kakehashi_inbound_abandoned(call);
			if (call->statement != NULL)
				unpin(call->statement);
			call->statement = NULL;
			break;
	}
}

void
kakehashi_statement_use(KakehashiStatement *statement, KakehashiCall *call)
{
	call->statement = statement;
	call->on_end = on_call_end;
	statement->pins++;
}

static KakehashiCall *
send_prepare(KakehashiSession *session, uint32 id, const char *sql, const Oid *types, int type_count)
{
	size_t bytes = strlen(sql);
	KakehashiInbound *buffer;
	KakehashiCall *call = kakehashi_call_new(session, sql);
	kh_error error;

	if (kh_prepare_fits(session->ipc, bytes, (uint32) type_count))
		return kakehashi_call_sent(call, kh_send_prepare(session->ipc, id, sql, types, (uint32) type_count, &error),
		                           &error);
	if (bytes > kh_session_limits(session->ipc)->max_batch_bytes)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
		                errmsg("statement of %zu bytes exceeds the endpoint's limit of %u bytes", bytes,
		                       kh_session_limits(session->ipc)->max_batch_bytes)));
	buffer = kakehashi_inbound_take(session, (uint32) bytes);
	memcpy(buffer->memory, sql, bytes);
	kakehashi_call_make_room(session);
	(void) kakehashi_call_sent(
		call,
		kh_send_prepare_inbound(session->ipc, id, buffer->offset, (uint32) bytes, types, (uint32) type_count, &error),
		&error);
	call->on_end = on_call_end;
	buffer->call = call;
	buffer->taken = false;
	return call;
}

static void
free_direct(void *direct)
{
	kh_direct_free((kh_direct *) direct);
}

/* Called in the statement's context, with which it goes. */
static void
keep_direct(KakehashiSession *session, KakehashiStatement *statement, const kh_result *result)
{
	if (result->direct_read == NULL)
		return;
	statement->direct = kh_direct_create(session->ipc, result->direct_read, result->direct_read_bytes);
	statement->direct_role = session->role_id;
	statement->direct_end.func = free_direct;
	statement->direct_end.arg = statement->direct;
	if (statement->direct != NULL)
		MemoryContextRegisterResetCallback(statement->context, &statement->direct_end);
}

static KakehashiStatement *
prepare(KakehashiSession *session, uint32 id, const char *sql, const Oid *types, int type_count)
{
	KakehashiCall *call = send_prepare(session, id, sql, types, type_count);
	const kh_result *result = kakehashi_call_finish(call);
	MemoryContext context;
	MemoryContext old;
	KakehashiStatement *statement;
	Oid *types_copy;

	check_parameters(session, result, sql, types, type_count);
	context = AllocSetContextCreate(CurrentMemoryContext, "kakehashi statement", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	statement = (KakehashiStatement *) palloc0(sizeof(KakehashiStatement));
	statement->context = context;
	statement->sql = pstrdup(sql);
	types_copy = (Oid *) palloc(Max(type_count, 1) * sizeof(Oid));
	if (type_count > 0)
		memcpy(types_copy, types, type_count * sizeof(Oid));
	statement->types = types_copy;
	statement->type_count = type_count;
	types_copy = (Oid *) palloc(Max(type_count, 1) * sizeof(Oid));
	if (type_count > 0)
		memcpy(types_copy, result->parameter_type_oids, type_count * sizeof(Oid));
	statement->parameter_types = types_copy;
	statement->id = id;
	statement->described_now = true;
	statement->kind = result->statement_kind;
	statement->may_lock = statement->kind == KH_QUERY && has_row_locks(statement->sql);
	statement->column_count = (int) result->column_count;
	statement->columns = (kh_column *) palloc(Max(result->column_count, 1) * sizeof(kh_column));
	if (result->column_count > 0)
		memcpy(statement->columns, result->columns, result->column_count * sizeof(kh_column));
	keep_direct(session, statement, result);
	MemoryContextSwitchTo(old);
	/* Whole: until here it goes with the statement that fails. */
	MemoryContextSetParent(context, CacheMemoryContext);
	kakehashi_call_end(call);
	pfree(call);
	return statement;
}

KakehashiStatement *
kakehashi_statement_get(KakehashiSession *session, const char *sql, const Oid *types, int type_count)
{
	StatementKey key = {sql, types, type_count};
	StatementEntry *entry;
	KakehashiStatement *volatile statement = NULL;
	volatile uint32 id;

	if (session->statements == NULL)
		create_table(session);
	entry = (StatementEntry *) hash_search(session->statements, &key, HASH_FIND, NULL);
	if (entry != NULL)
	{
		dlist_move_head(&session->statements_lru, &entry->statement->lru);
		entry->statement->described_now = false;
		return entry->statement;
	}

	kakehashi_call_make_room(session);
	id = take_id(session);
	PG_TRY();
	{
		statement = prepare(session, id, sql, types, type_count);
		key.sql = statement->sql;
		key.types = statement->types;
		entry = (StatementEntry *) hash_search(session->statements, &key, HASH_ENTER, NULL);
		entry->statement = statement;
		dlist_push_head(&session->statements_lru, &statement->lru);
	}
	PG_CATCH();
	{
		kh_error error;

		/* Perhaps the engine has prepared it; requests are taken in order, so that the number can be given out again. */
		if (kh_post_close_statement(session->ipc, id, &error))
			session->statement_ids = bms_del_member(session->statement_ids, (int) id);
		if (statement != NULL)
			MemoryContextDelete(statement->context);
		PG_RE_THROW();
	}
	PG_END_TRY();
	return statement;
}

KakehashiStatement *
kakehashi_statement_renew(KakehashiSession *session, KakehashiStatement *statement)
{
	int type_count = statement->type_count;
	char *sql;
	Oid *types;

	if (statement->described_now)
		return statement;
	sql = pstrdup(statement->sql);
	types = (Oid *) palloc(Max(type_count, 1) * sizeof(Oid));
	if (type_count > 0)
		memcpy(types, statement->types, type_count * sizeof(Oid));
	kakehashi_statement_forget(session, statement);
	statement = kakehashi_statement_get(session, sql, types, type_count);
	pfree(sql);
	pfree(types);
	return statement;
}

bool
kakehashi_statement_reserve(KakehashiSession *session)
{
	MemoryContext old;
	int id;

	if (session->waits_reserved)
		return true;
	/* statement_ids belong to the table, and go with it. */
	if (session->statements == NULL ||
	    bms_num_members(session->statement_ids) >= (int) kh_session_limits(session->ipc)->max_statements)
		return false;
	for (id = 0; bms_is_member(id, session->statement_ids); id++)
		/* first free number */;
	old = MemoryContextSwitchTo(CacheMemoryContext);
	session->statement_ids = bms_add_member(session->statement_ids, id);
	MemoryContextSwitchTo(old);
	session->waits_statement = (uint32) id;
	session->waits_reserved = true;
	return true;
}

int
kakehashi_statements_count(KakehashiSession *session)
{
	return session->statements == NULL ? 0 : (int) hash_get_num_entries(session->statements);
}

void
kakehashi_statements_drop(KakehashiSession *session)
{
	dlist_mutable_iter iter;

	if (session->statements == NULL)
		return;
	dlist_foreach_modify(iter, &session->statements_lru)
	{
		MemoryContextDelete(dlist_container(KakehashiStatement, lru, iter.cur)->context);
	}
	hash_destroy(session->statements);
	session->statements = NULL;
	dlist_init(&session->statements_lru);
	bms_free(session->statement_ids);
	session->statement_ids = NULL;
	session->waits_reserved = false;
	session->waits_prepared = false;
}

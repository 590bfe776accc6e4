/*
 * TRUNCATE is the engine's, in the transaction: ROLLBACK brings the rows back, it takes as long for many rows as for few, and their memory is free at once. As for
 * PostgreSQL's, others wait with the table until the transaction ends. A DELETE of all rows would follow ON DELETE actions, and keep an old version of each row; it is
 * for long transactions, which cannot change the definition of a table that they preserve, and for tables there that nothing references.
 */
#include "fdw/modify/modify.h"
#include "fdw/deparse/deparse.h"
#include "fdw/transaction/transaction.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/rel.h"

static void
note_reference(const kh_batch *batch, uint32 row, void *arg)
{
	*(bool *) arg = true;
}

/* Whether a foreign key of the engine references one of the tables. */
static bool
any_is_referenced(KakehashiSession *session, List *rels)
{
	static const Oid types[] = {TEXTOID};
	bool referenced = false;
	ListCell *cell;

	foreach (cell, rels)
	{
		Relation rel = (Relation) lfirst(cell);
		ForeignTable *table = GetForeignTable(RelationGetRelid(rel));
		KakehashiOptions options = kakehashi_options(GetForeignServer(table->serverid), table);
		const char *names[] = {kakehashi_remote_schema(rel, &options), kakehashi_remote_table(rel, &options)};

		kakehashi_catalog_query(session,
		                        "SELECT \"constraint_name\" FROM \"kakehashi_catalog\".\"foreign_keys\""
		                        " WHERE \"referenced_schema\" = $1 AND \"referenced_table\" = $2",
		                        2, names, 1, types, note_reference, &referenced);
	}
	return referenced;
}

static void
run(KakehashiSession *session, const char *sql)
{
	(void) kakehashi_call_complete(
		kakehashi_execute_statement(session, kakehashi_statement_get(session, sql, NULL, 0), NULL, NULL, 0));
}

void
kakehashi_truncate(List *rels, DropBehavior behavior, bool restart_seqs)
{
	Oid server_id = InvalidOid;
	KakehashiSession *session;
	StringInfoData sql;
	ListCell *cell;

	foreach (cell, rels)
	{
		Relation rel = (Relation) lfirst(cell);
		ForeignTable *table = GetForeignTable(RelationGetRelid(rel));

		server_id = table->serverid;
		if (!kakehashi_options(GetForeignServer(table->serverid), table).updatable)
			ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			                errmsg("foreign table \"%s\" does not allow truncates", RelationGetRelationName(rel)),
			                errhint("Set its option \"updatable\" to true.")));
	}
	session = kakehashi_session_get(GetUserMapping(GetUserId(), server_id));
	kakehashi_require(session, KH_CAN_TRUNCATE);
	if (behavior == DROP_RESTRICT && !restart_seqs && kakehashi_transaction_is_long(session) &&
	    !any_is_referenced(session, rels))
	{
		foreach (cell, rels)
		{
			initStringInfo(&sql);
			appendStringInfoString(&sql, "DELETE FROM ");
			kakehashi_deparse_table(&sql, (Relation) lfirst(cell));
			run(session, sql.data);
			pfree(sql.data);
		}
		return;
	}
	/* The executor calls once for each server (ExecuteTruncateGuts), so that tables that reference each other are emptied by one statement. */
	initStringInfo(&sql);
	appendStringInfoString(&sql, "TRUNCATE ");
	foreach (cell, rels)
	{
		if (foreach_current_index(cell) > 0)
			appendStringInfoString(&sql, ", ");
		kakehashi_deparse_table(&sql, (Relation) lfirst(cell));
	}
	appendStringInfoString(&sql, restart_seqs ? " RESTART IDENTITY" : " CONTINUE IDENTITY");
	appendStringInfoString(&sql, behavior == DROP_CASCADE ? " CASCADE" : " RESTRICT");
	run(session, sql.data);
	pfree(sql.data);
}

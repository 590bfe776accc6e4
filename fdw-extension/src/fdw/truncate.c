/*
 * TRUNCATE: a DELETE of all rows on the engine, in the transaction, so that ROLLBACK brings them back and snapshots keep them.
 */
#include "kakehashi_plan.h"

#include "miscadmin.h"
#include "utils/rel.h"

void
kakehashi_truncate(List *rels, DropBehavior behavior, bool restart_seqs)
{
	ListCell *cell;

	/* All are checked before the first is emptied. It has no dependent tables; RESTART IDENTITY restarts no sequence of the engine. */
	foreach (cell, rels)
	{
		Relation rel = (Relation) lfirst(cell);
		ForeignTable *table = GetForeignTable(RelationGetRelid(rel));

		if (!kakehashi_options(GetForeignServer(table->serverid), table).updatable)
			ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			                errmsg("foreign table \"%s\" does not allow truncates", RelationGetRelationName(rel)),
			                errhint("Set its option \"updatable\" to true.")));
	}
	foreach (cell, rels)
	{
		Relation rel = (Relation) lfirst(cell);
		ForeignTable *table = GetForeignTable(RelationGetRelid(rel));
		KakehashiSession *session = kakehashi_session_get(GetUserMapping(GetUserId(), table->serverid));
		StringInfoData sql;

		initStringInfo(&sql);
		appendStringInfoString(&sql, "DELETE FROM ");
		kakehashi_deparse_table(&sql, rel);
		(void) kakehashi_call_complete(
			kakehashi_execute_statement(session, kakehashi_statement_get(session, sql.data, NULL, 0), NULL, NULL, 0));
		pfree(sql.data);
	}
}

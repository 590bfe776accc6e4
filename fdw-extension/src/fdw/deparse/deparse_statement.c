/*
 * Whole statements of single tables.
 */
#include "fdw/deparse/deparse.h"

#include "access/sysattr.h"

void
kakehashi_deparse_table(StringInfo buf, Relation rel)
{
	ForeignTable *table = GetForeignTable(RelationGetRelid(rel));
	KakehashiOptions options = kakehashi_options(GetForeignServer(table->serverid), table);

	kakehashi_deparse_identifier(buf, kakehashi_remote_schema(rel, &options));
	appendStringInfoChar(buf, '.');
	kakehashi_deparse_identifier(buf, kakehashi_remote_table(rel, &options));
}

void
kakehashi_deparse_names(StringInfo buf, Relation rel, List *attnums)
{
	ListCell *cell;
	bool first = true;

	foreach (cell, attnums)
	{
		if (!first)
			appendStringInfoString(buf, ", ");
		first = false;
		kakehashi_deparse_identifier(buf,
		                             kakehashi_remote_column(RelationGetRelid(rel), (AttrNumber) lfirst_int(cell)));
	}
}

bool
kakehashi_is_stored(Relation rel, int attnum)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);

	return !att->attisdropped && (att->attgenerated == '\0' || att->attgenerated == ATTRIBUTE_GENERATED_STORED);
}

List *
kakehashi_attnums(Relation rel, Bitmapset *attrs)
{
	bool whole = bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, attrs);
	List *result = NIL;

	for (int attnum = 1; attnum <= RelationGetDescr(rel)->natts; attnum++)
	{
		if (kakehashi_is_stored(rel, attnum) &&
		    (whole || bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber, attrs)))
			result = lappend_int(result, attnum);
	}
	return result;
}

void
kakehashi_deparse_returning(StringInfo buf, Relation rel, List *attnums)
{
	if (attnums == NIL)
		return;
	appendStringInfoString(buf, " RETURNING ");
	kakehashi_deparse_names(buf, rel, attnums);
}

char *
kakehashi_deparse_insert(Relation rel, Index alias, List *attnums, OverridingKind override, const char *conflict,
                         List *returning)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "INSERT INTO ");
	kakehashi_deparse_table(&buf, rel);
	if (alias != 0)
		appendStringInfo(&buf, " AS r%u", alias);
	if (attnums == NIL)
		appendStringInfoString(&buf, " DEFAULT VALUES");
	else
	{
		appendStringInfoString(&buf, alias != 0 ? " (" : "(");
		kakehashi_deparse_names(&buf, rel, attnums);
		appendStringInfoString(&buf, override == OVERRIDING_SYSTEM_VALUE ? ") OVERRIDING SYSTEM VALUE VALUES ("
		                             : override == OVERRIDING_USER_VALUE ? ") OVERRIDING USER VALUE VALUES ("
		                                                                 : ") VALUES (");
		for (int number = 1; number <= list_length(attnums); number++)
			appendStringInfo(&buf, "%s$%d", number > 1 ? ", " : "", number);
		appendStringInfoChar(&buf, ')');
	}
	appendStringInfoString(&buf, conflict);
	kakehashi_deparse_returning(&buf, rel, returning);
	return buf.data;
}

/* name = $n for each, numbers from first. */
static int
deparse_assignments(StringInfo buf, Relation rel, List *attnums, const char *separator, int first)
{
	ListCell *cell;
	int number = first;

	foreach (cell, attnums)
	{
		if (number > first)
			appendStringInfoString(buf, separator);
		kakehashi_deparse_identifier(buf,
		                             kakehashi_remote_column(RelationGetRelid(rel), (AttrNumber) lfirst_int(cell)));
		appendStringInfo(buf, " = $%d", number++);
	}
	return number;
}

char *
kakehashi_deparse_update(Relation rel, List *attnums, List *defaults, List *keys, List *returning)
{
	StringInfoData buf;
	ListCell *cell;
	int next;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "UPDATE ");
	kakehashi_deparse_table(&buf, rel);
	appendStringInfoString(&buf, " SET ");
	next = deparse_assignments(&buf, rel, attnums, ", ", 1);
	foreach (cell, defaults)
	{
		if (attnums != NIL || foreach_current_index(cell) > 0)
			appendStringInfoString(&buf, ", ");
		kakehashi_deparse_names(&buf, rel, list_make1_int(lfirst_int(cell)));
		appendStringInfoString(&buf, " = DEFAULT");
	}
	appendStringInfoString(&buf, " WHERE ");
	(void) deparse_assignments(&buf, rel, keys, " AND ", next);
	kakehashi_deparse_returning(&buf, rel, returning);
	return buf.data;
}

char *
kakehashi_deparse_delete(Relation rel, List *keys, List *returning)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "DELETE FROM ");
	kakehashi_deparse_table(&buf, rel);
	appendStringInfoString(&buf, " WHERE ");
	(void) deparse_assignments(&buf, rel, keys, " AND ", 1);
	kakehashi_deparse_returning(&buf, rel, returning);
	return buf.data;
}

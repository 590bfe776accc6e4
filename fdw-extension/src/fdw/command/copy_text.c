/*
 * COPY as the engine reads it, and who may have it done.
 *
 * The engine reads and writes files below directories that its settings name. It asks for the rights of its own role; here PostgreSQL's role is asked
 * for those that its COPY needs for files of the server. Files name columns as the engine does.
 */
#include "fdw/command/command.h"
#include "fdw/deparse/deparse.h"
#include "fdw/transaction/transaction.h"

#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

/* Files of clients, which the engine knows by their sender. */
static bool
is_sent(const char *location)
{
	return strncmp(location, "upload:", strlen("upload:")) == 0 || strncmp(location, "stream:", strlen("stream:")) == 0;
}

static void
check_role(Oid role, const char *name, bool reads)
{
	if (has_privs_of_role(GetUserId(), role))
		return;
	ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
	                reads ? errmsg("permission denied to load from files of server")
	                      : errmsg("permission denied to write files of server"),
	                errdetail("Only roles with privileges of the \"%s\" role may do this.", name)));
}

static void
check_table(const KakehashiCopy *copy, List *columns)
{
	AclMode wanted = copy->from ? ACL_INSERT : ACL_SELECT;
	AclResult result = pg_class_aclcheck(copy->relid, GetUserId(), wanted);
	ListCell *cell;

	if (result == ACLCHECK_OK)
		return;
	/* Rights on all columns that are named do, too. */
	foreach (cell, columns)
	{
		AttrNumber attnum = get_attnum(copy->relid, strVal(lfirst(cell)));

		if (attnum <= 0 || pg_attribute_aclcheck(copy->relid, attnum, GetUserId(), wanted) != ACLCHECK_OK)
			aclcheck_error(result, OBJECT_FOREIGN_TABLE, get_rel_name(copy->relid));
	}
	if (columns == NIL)
		aclcheck_error(result, OBJECT_FOREIGN_TABLE, get_rel_name(copy->relid));
}

static const KakehashiCopyOption *
find_option(const KakehashiCopy *copy, const char *name)
{
	ListCell *cell;

	foreach (cell, copy->options)
	{
		const KakehashiCopyOption *option = (const KakehashiCopyOption *) lfirst(cell);

		if (strcmp(option->name, name) == 0)
			return option;
	}
	return NULL;
}

void
kakehashi_copy_check(const KakehashiCopy *copy, List *columns)
{
	if (!is_sent(copy->location))
	{
		if (copy->from)
			check_role(ROLE_PG_READ_SERVER_FILES, "pg_read_server_files", true);
		else
			check_role(ROLE_PG_WRITE_SERVER_FILES, "pg_write_server_files", false);
	}
	if (copy->from && find_option(copy, "reject_file") != NULL)
		check_role(ROLE_PG_WRITE_SERVER_FILES, "pg_write_server_files", false);
	if (OidIsValid(copy->relid))
		check_table(copy, columns);
}

const char *
kakehashi_copy_option(const KakehashiCopy *copy, const char *name)
{
	const KakehashiCopyOption *option = find_option(copy, name);

	return option == NULL || option->listed || option->values == NIL ? NULL : (const char *) linitial(option->values);
}

/* Of the table there. */
static void
collect_name(const kh_batch *batch, uint32 row, void *arg)
{
	List **names = (List **) arg;

	*names = lappend(*names, kakehashi_batch_text(batch, row, 0));
}

static List *
engine_columns(KakehashiSession *session, Relation rel)
{
	ForeignTable *table = GetForeignTable(RelationGetRelid(rel));
	KakehashiOptions options = kakehashi_options(GetForeignServer(table->serverid), table);
	const char *names[] = {kakehashi_remote_schema(rel, &options), kakehashi_remote_table(rel, &options)};
	const Oid types[] = {TEXTOID};
	List *result = NIL;

	kakehashi_catalog_query(session,
	                        "SELECT \"column_name\" FROM \"kakehashi_catalog\".\"columns\""
	                        " WHERE \"table_schema\" = $1 AND \"table_name\" = $2 ORDER BY \"ordinal_position\"",
	                        2, names, 1, types, collect_name, &result);
	return result;
}

/* Columns of the foreign table as the engine names them; NIL: all that its table has. */
static List *
remote_columns(KakehashiSession *session, Relation rel, List *columns)
{
	TupleDesc desc = RelationGetDescr(rel);
	List *result = NIL;
	List *all;
	ListCell *cell;
	ListCell *other;

	foreach (cell, columns)
	{
		const char *name = strVal(lfirst(cell));
		AttrNumber attnum = get_attnum(RelationGetRelid(rel), name);

		if (attnum <= 0)
			ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("column \"%s\" of relation \"%s\" does not exist",
			                                                          name, RelationGetRelationName(rel))));
		result = lappend(result, kakehashi_remote_column(RelationGetRelid(rel), attnum));
	}
	if (columns != NIL)
		return result;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped && att->attgenerated == '\0')
			result = lappend(result, kakehashi_remote_column(RelationGetRelid(rel), att->attnum));
	}
	all = engine_columns(session, rel);
	if (list_length(all) != list_length(result))
		return result;
	forboth(cell, result, other, all)
	{
		if (strcmp((const char *) lfirst(cell), (const char *) lfirst(other)) != 0)
			return result;
	}
	return NIL;
}

static void
append_names(StringInfo buf, List *names)
{
	ListCell *cell;

	foreach (cell, names)
	{
		if (cell != list_head(names))
			appendStringInfoString(buf, ", ");
		kakehashi_deparse_identifier(buf, (const char *) lfirst(cell));
	}
}

void
kakehashi_copy_table(KakehashiCopy *copy, KakehashiSession *session, Relation rel, List *columns)
{
	List *names = remote_columns(session, rel, columns);
	StringInfoData buf;

	initStringInfo(&buf);
	kakehashi_deparse_table(&buf, rel);
	copy->target = buf.data;
	initStringInfo(&buf);
	if (names != NIL)
	{
		appendStringInfoString(&buf, " (");
		append_names(&buf, names);
		appendStringInfoChar(&buf, ')');
	}
	copy->columns = buf.data;
}

/* Letters, digits and underscores: nothing else is the name of an option, and nothing else of the text ends before it. */
static void
check_name(const char *name)
{
	if (*name == '\0' || strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789") != strlen(name) ||
	    (*name >= '0' && *name <= '9'))
		ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("option \"%s\" not recognized", name)));
}

static void
append_option(StringInfo buf, const KakehashiCopyOption *option)
{
	ListCell *cell;

	check_name(option->name);
	appendStringInfoString(buf, option->name);
	if (option->listed)
	{
		appendStringInfoString(buf, " (");
		foreach (cell, option->values)
		{
			if (cell != list_head(option->values))
				appendStringInfoString(buf, ", ");
			kakehashi_deparse_text(buf, (const char *) lfirst(cell));
		}
		appendStringInfoChar(buf, ')');
	}
	else if (option->values != NIL)
	{
		const char *value = (const char *) linitial(option->values);

		appendStringInfoChar(buf, ' ');
		/* All columns; elsewhere it is a character like others. */
		if (strcmp(value, "*") == 0 && strncmp(option->name, "force_", strlen("force_")) == 0)
			appendStringInfoString(buf, value);
		else
			kakehashi_deparse_text(buf, value);
	}
}

char *
kakehashi_copy_options(const KakehashiCopy *copy)
{
	StringInfoData buf;
	ListCell *cell;

	initStringInfo(&buf);
	foreach (cell, copy->options)
	{
		if (cell != list_head(copy->options))
			appendStringInfoString(&buf, ", ");
		append_option(&buf, (const KakehashiCopyOption *) lfirst(cell));
	}
	return buf.data;
}

char *
kakehashi_copy_text(const KakehashiCopy *copy)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "COPY %s%s %s ", copy->target, copy->columns, copy->from ? "FROM" : "TO");
	kakehashi_deparse_text(&buf, copy->location);
	if (copy->options != NIL)
		appendStringInfo(&buf, " WITH (%s)", kakehashi_copy_options(copy));
	if (copy->condition != NULL)
		appendStringInfo(&buf, " WHERE %s", copy->condition);
	return buf.data;
}

/*
 * What PostgreSQL refuses for foreign tables, whatever their wrapper can do, and the engine does when it is asked directly: the error says how.
 *
 * Most of it is refused while a statement is analysed, where no hook of an extension is called. The error itself is seen on its way to log and client,
 * which is no place to look into catalogues, so that the hint cannot name the server. It is there in sessions that have loaded this library.
 */
#include "fdw/module/module.h"

#include "utils/elog.h"

typedef struct Remedy
{
	const char *message; /* as it is before it is translated */
	bool of_kinds;       /* the same message is there for other kinds of relations; the detail tells */
	bool is_query;
	const char *statement;
} Remedy;

static const Remedy remedies[] = {
	{"cannot execute MERGE on relation \"%s\"", true, false, "MERGE ..."},
	{"TABLESAMPLE clause can only be applied to tables and materialized views", false, true,
     "SELECT ... TABLESAMPLE ..."},
	{"cannot create index on relation \"%s\"", true, false, "CREATE INDEX ..."},
	{"primary key constraints are not supported on foreign tables", false, false,
     "ALTER TABLE ... ADD PRIMARY KEY ..."},
	{"unique constraints are not supported on foreign tables", false, false, "ALTER TABLE ... ADD UNIQUE ..."},
	{"foreign key constraints are not supported on foreign tables", false, false,
     "ALTER TABLE ... ADD FOREIGN KEY ..."},
};

static emit_log_hook_type previous_hook = NULL;

static const Remedy *
remedy_of(const ErrorData *error)
{
	if (error->elevel != ERROR || error->hint != NULL || error->message_id == NULL)
		return NULL;
	for (int i = 0; i < lengthof(remedies); i++)
	{
		if (strcmp(remedies[i].message, error->message_id) != 0)
			continue;
		if (remedies[i].of_kinds &&
		    (error->detail == NULL ||
		     strcmp(error->detail, _("This operation is not supported for foreign tables.")) != 0))
			return NULL;
		return &remedies[i];
	}
	return NULL;
}

/* Runs in the error's memory context, before it goes to the client. */
static void
add_hint(ErrorData *error)
{
	const Remedy *remedy = remedy_of(error);

	if (error->elevel == ERROR && error->hint == NULL && error->message_id != NULL &&
	    strcmp(error->message_id, "child table \"%s\" has different collation for column \"%s\"") == 0)
		error->hint =
			pstrdup("Text columns that IMPORT FOREIGN SCHEMA makes for a kakehashi server are COLLATE \"C\", as the "
		            "engine compares them. Give the parent's column COLLATE \"C\", or import with OPTIONS "
		            "(import_collate 'off').");
	else if (remedy != NULL)
		error->hint = psprintf("The engine of a kakehashi server can do it: SELECT %s('server', '%s')%s.",
		                       remedy->is_query ? "* FROM kakehashi_query" : "kakehashi_execute", remedy->statement,
		                       remedy->is_query ? " AS (...)" : "");
	if (previous_hook != NULL)
		previous_hook(error);
}

void
kakehashi_hints_init(void)
{
	previous_hook = emit_log_hook;
	emit_log_hook = add_hint;
}

/*
 * Which types of PostgreSQL and of the engine have the same form in memory, and what they are called.
 */
#include "fdw/session/session.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

static bool
is_character_type(Oid type)
{
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

bool
kakehashi_same_form(Oid local, Oid remote)
{
	return local == remote || (is_character_type(local) && is_character_type(remote));
}

const char *
kakehashi_type_name(Oid type)
{
	return format_type_extended(type, -1, FORMAT_TYPE_ALLOW_INVALID);
}

/*
 * Which types of PostgreSQL and of the engine have the same form in memory, and what they are called.
 */
#include "fdw/session/session.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

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

/* Of a base type that is no array; a type of this database crosses as text. */
static kh_stored_type
stored_type(Oid type)
{
	switch (type)
	{
		case BOOLOID:
			return KH_KEEPS_BOOLEAN;
		case INT2OID:
			return KH_KEEPS_SMALLINT;
		case INT4OID:
			return KH_KEEPS_INTEGER;
		case INT8OID:
			return KH_KEEPS_BIGINT;
		case FLOAT4OID:
			return KH_KEEPS_REAL;
		case FLOAT8OID:
			return KH_KEEPS_DOUBLE_PRECISION;
		case NUMERICOID:
			return KH_KEEPS_NUMERIC;
		case VARCHAROID:
			return KH_KEEPS_VARCHAR;
		case BPCHAROID:
			return KH_KEEPS_CHAR;
		case BYTEAOID:
			return KH_KEEPS_BYTEA;
		case DATEOID:
			return KH_KEEPS_DATE;
		case TIMEOID:
			return KH_KEEPS_TIME;
		case TIMETZOID:
			return KH_KEEPS_TIMETZ;
		case TIMESTAMPOID:
			return KH_KEEPS_TIMESTAMP;
		case TIMESTAMPTZOID:
			return KH_KEEPS_TIMESTAMPTZ;
		case INTERVALOID:
			return KH_KEEPS_INTERVAL;
		case UUIDOID:
			return KH_KEEPS_UUID;
		case JSONOID:
			return KH_KEEPS_JSON;
		case JSONBOID:
			return KH_KEEPS_JSONB;
		case CHAROID:
		case NAMEOID:
			return KH_KEEPS_NAME;
		default:
			return KH_KEEPS_TEXT;
	}
}

bool
kakehashi_keeps_type(const kh_engine *engine, Oid type)
{
	Oid element;

	if (engine->stored_types == (UINT64CONST(1) << KH_STORED_TYPE_COUNT) - 1)
		return true;
	type = getBaseType(type);
	element = get_element_type(type);
	if (OidIsValid(element))
		return kakehashi_engine_has(engine->stored_types, KH_KEEPS_ARRAY) && kakehashi_keeps_type(engine, element);
	return kakehashi_engine_has(engine->stored_types, stored_type(type));
}

/*
 * Operators, functions and casts of PostgreSQL that the engine has with the same results.
 *
 * The list is positive: what is not named here, for the types named here, is computed by PostgreSQL. Text is compared byte
 * by byte on the engine, so that equality goes over under every deterministic collation and order only under "C".
 */
#include "fdw/deparse/deparse.h"
#include "fdw/row/row.h"

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"
#include "utils/syscache.h"

/* Before there was one for bytea. */
#ifndef F_REVERSE_TEXT
#define F_REVERSE_TEXT F_REVERSE
#endif

/* Casts that lose nothing. */
static const Oid shippable_casts[] = {
	F_INT4_INT2,   F_INT8_INT2,   F_INT8_INT4,   F_NUMERIC_INT2,  F_NUMERIC_INT4,   F_NUMERIC_INT8, F_FLOAT4_INT2,
	F_FLOAT8_INT2, F_FLOAT8_INT4, F_FLOAT8_INT8, F_FLOAT8_FLOAT4, F_TIMESTAMP_DATE, F_TEXT_BPCHAR,
};

typedef struct Function
{
	Oid oid;
	const char *name;
} Function;

static const Function shippable_functions[] = {
	{F_ABS_INT2, "abs"},
	{F_ABS_INT4, "abs"},
	{F_ABS_INT8, "abs"},
	{F_ABS_FLOAT4, "abs"},
	{F_ABS_FLOAT8, "abs"},
	{F_ABS_NUMERIC, "abs"},
	{F_MOD_INT2_INT2, "mod"},
	{F_MOD_INT4_INT4, "mod"},
	{F_MOD_INT8_INT8, "mod"},
	{F_MOD_NUMERIC_NUMERIC, "mod"},
	{F_SIGN_NUMERIC, "sign"},
	{F_CEIL_NUMERIC, "ceil"},
	{F_CEILING_NUMERIC, "ceil"},
	{F_FLOOR_NUMERIC, "floor"},
	{F_ROUND_NUMERIC, "round"},
	{F_ROUND_NUMERIC_INT4, "round"},
	{F_TRUNC_NUMERIC, "trunc"},
	{F_TRUNC_NUMERIC_INT4, "trunc"},
	{F_LENGTH_TEXT, "char_length"},
	{F_CHAR_LENGTH_TEXT, "char_length"},
	{F_CHARACTER_LENGTH_TEXT, "char_length"},
	{F_SUBSTRING_TEXT_INT4, "substring"},
	{F_SUBSTRING_TEXT_INT4_INT4, "substring"},
	{F_SUBSTR_TEXT_INT4, "substring"},
	{F_SUBSTR_TEXT_INT4_INT4, "substring"},
	{F_OCTET_LENGTH_TEXT, "octet_length"},
	{F_BIT_LENGTH_TEXT, "bit_length"},
	{F_STRPOS, "strpos"},
	{F_POSITION_TEXT_TEXT, "strpos"},
	{F_STARTS_WITH, "starts_with"},
	{F_LEFT, "left"},
	{F_RIGHT, "right"},
	{F_REVERSE_TEXT, "reverse"},
	{F_BTRIM_TEXT, "btrim"},
	{F_BTRIM_TEXT_TEXT, "btrim"},
	{F_LTRIM_TEXT, "ltrim"},
	{F_LTRIM_TEXT_TEXT, "ltrim"},
	{F_RTRIM_TEXT, "rtrim"},
	{F_RTRIM_TEXT_TEXT, "rtrim"},
	{F_LPAD_TEXT_INT4, "lpad"},
	{F_LPAD_TEXT_INT4_TEXT, "lpad"},
	{F_RPAD_TEXT_INT4, "rpad"},
	{F_RPAD_TEXT_INT4_TEXT, "rpad"},
	{F_REPLACE, "replace"},
	{F_SPLIT_PART, "split_part"},
	{F_TRANSLATE, "translate"},
	{F_ASCII, "ascii"},
	{F_MD5_TEXT, "md5"},
	{F_FLOOR_FLOAT8, "floor"},
	{F_CEIL_FLOAT8, "ceil"},
	{F_CEILING_FLOAT8, "ceil"},
	{F_TRUNC_FLOAT8, "trunc"},
	{F_ROUND_FLOAT8, "round"},
	{F_SIGN_FLOAT8, "sign"},
	{F_SQRT_FLOAT8, "sqrt"},
	{F_GCD_INT4_INT4, "gcd"},
	{F_GCD_INT8_INT8, "gcd"},
	{F_LCM_INT4_INT4, "lcm"},
	{F_LCM_INT8_INT8, "lcm"},
	{F_REPEAT, "repeat"},
	{F_TO_HEX_INT4, "to_hex"},
	{F_TO_HEX_INT8, "to_hex"},
	{F_LENGTH_BPCHAR, "char_length"},
	{F_LENGTH_BYTEA, "length"},
	{F_OCTET_LENGTH_BYTEA, "octet_length"},
	{F_MD5_BYTEA, "md5"},
	{F_SHA256, "sha256"},
	{F_DIV, "div"},
	{F_SCALE, "scale"},
	{F_MIN_SCALE, "min_scale"},
	{F_TRIM_SCALE, "trim_scale"},
	{F_ISFINITE_DATE, "isfinite"},
	{F_ISFINITE_TIMESTAMP, "isfinite"},
	{F_EXTRACT_TEXT_TIME, "extract"},
	{F_EXTRACT_TEXT_DATE, "extract"},
	{F_EXTRACT_TEXT_TIMESTAMP, "extract"},
	{F_DATE_TRUNC_TEXT_TIMESTAMP, "date_trunc"},
};

bool
kakehashi_is_shippable_cast(Oid function)
{
	for (size_t i = 0; i < lengthof(shippable_casts); i++)
	{
		if (shippable_casts[i] == function)
			return true;
	}
	return false;
}

/* An enum as text is its label, as the engine has it. */
bool
kakehashi_is_label(const CoerceViaIO *expr)
{
	return expr->resulttype == TEXTOID && kakehashi_is_enum(exprType((const Node *) expr->arg));
}

bool
kakehashi_is_numeric_scale(const FuncExpr *expr)
{
	return expr->funcid == F_NUMERIC_NUMERIC_INT4 && exprIsLengthCoercion((const Node *) expr, NULL);
}

bool
kakehashi_is_text_length(const FuncExpr *expr)
{
	return expr->funcid == F_VARCHAR_VARCHAR_INT4_BOOL && IsA(lsecond(expr->args), Const) &&
	       IsA(lthird(expr->args), Const) && !((const Const *) lsecond(expr->args))->constisnull &&
	       !((const Const *) lthird(expr->args))->constisnull;
}

const char *
kakehashi_shippable_function(Oid function)
{
	for (size_t i = 0; i < lengthof(shippable_functions); i++)
	{
		if (shippable_functions[i].oid == function)
			return shippable_functions[i].name;
	}
	return NULL;
}

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

bool
kakehashi_is_number(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == FLOAT4OID || type == FLOAT8OID ||
	       type == NUMERICOID;
}

bool
kakehashi_is_exact_number(Oid type)
{
	return type == NUMERICOID || is_integer(type);
}

static bool
is_text(Oid type)
{
	return type == TEXTOID || type == VARCHAROID;
}

/* From this version on the C library compares texts under C.UTF-8 by their code points, which is the order of their bytes. */
static bool
has_bytewise_library(void)
{
#ifdef __GLIBC__
	int major = 0;
	int minor = 0;

	return sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) == 2 && (major > 2 || minor >= 35);
#else
	return false;
#endif
}

static bool
is_c_utf8(const char *locale)
{
	return pg_strcasecmp(locale, "C.UTF-8") == 0 || pg_strcasecmp(locale, "C.UTF8") == 0;
}

/* The C library's locale of a collation, or of the database; NULL if it is another library's. */
static char *
library_locale(Oid collation)
{
	bool is_default = collation == DEFAULT_COLLATION_OID;
	HeapTuple tuple = is_default ? SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId))
	                             : SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	char *result = NULL;
	Datum locale;
	bool null;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	locale = is_default ? SysCacheGetAttr(DATABASEOID, tuple, Anum_pg_database_datcollate, &null)
	                    : SysCacheGetAttr(COLLOID, tuple, Anum_pg_collation_collcollate, &null);
	if (!null && (is_default ? ((Form_pg_database) GETSTRUCT(tuple))->datlocprovider
	                         : ((Form_pg_collation) GETSTRUCT(tuple))->collprovider) == COLLPROVIDER_LIBC)
		result = TextDatumGetCString(locale);
	ReleaseSysCache(tuple);
	return result;
}

static bool
is_bytewise_utf8(Oid collation)
{
	static Oid last = InvalidOid;
	static bool last_result;
	char *locale;

	/* Of the database nothing changes while it is used. */
	if (collation == DEFAULT_COLLATION_OID && last == collation)
		return last_result;
	locale = GetDatabaseEncoding() == PG_UTF8 && has_bytewise_library() ? library_locale(collation) : NULL;
	last = collation;
	last_result = locale != NULL && is_c_utf8(locale);
	return last_result;
}

/* True if texts are ordered by their bytes. */
static bool
is_c_collation(Oid collation)
{
	if (collation == C_COLLATION_OID)
		return true;
	if (!OidIsValid(collation))
		return false;
	if (is_bytewise_utf8(collation))
		return true;
#if PG_VERSION_NUM >= 180000
	return pg_newlocale_from_collation(collation)->collate_is_c;
#else
	return lc_collate_is_c(collation);
#endif
}

static bool
is_comparable(Oid left, Oid right)
{
	if (kakehashi_is_number(left) && kakehashi_is_number(right))
		return true;
	if (is_text(left) && is_text(right))
		return true;
	if ((left == DATEOID && right == TIMESTAMPOID) || (left == TIMESTAMPOID && right == DATEOID))
		return true;
	if (left != right)
		return false;
	return left == BOOLOID || left == DATEOID || left == TIMEOID || left == TIMESTAMPOID || left == TIMESTAMPTZOID ||
	       left == INTERVALOID || left == UUIDOID || left == BYTEAOID || left == BPCHAROID;
}

bool
kakehashi_is_shippable_collation(Oid collation)
{
	return !OidIsValid(collation) || get_collation_isdeterministic(collation);
}

static bool
is_collation_shippable(Oid type, Oid collation, bool ordering)
{
	if (!is_text(type) && type != BPCHAROID)
		return true;
	return ordering ? is_c_collation(collation) : OidIsValid(collation) && get_collation_isdeterministic(collation);
}

bool
kakehashi_is_shippable_order(Oid type, Oid collation)
{
	type = kakehashi_bridge_type(type, NULL);
	return OidIsValid(type) && is_comparable(type, type) && is_collation_shippable(type, collation, true);
}

bool
kakehashi_is_groupable(Expr *expr)
{
	Oid type = kakehashi_bridge_type(exprType((Node *) expr), NULL);

	if (OidIsValid(type) && kakehashi_is_groupable_array(type))
		return kakehashi_is_shippable_collation(exprCollation((Node *) expr));
	return OidIsValid(type) && is_comparable(type, type) &&
	       is_collation_shippable(type, exprCollation((Node *) expr), false);
}

static bool
is_sum_of_dates(const char *name, Oid left, Oid right)
{
	bool minus = strcmp(name, "-") == 0;

	if (strcmp(name, "+") != 0 && !minus)
		return false;
	/* Days */
	if (left == DATEOID && (right == INT4OID || (minus && right == DATEOID)))
		return true;
	if (!minus && ((left == INT4OID && right == DATEOID) || (left == DATEOID && right == TIMEOID) ||
	               (left == TIMEOID && right == DATEOID)))
		return true;
	/* timestamptz is left out: its days depend on the time zone of the session. */
	return (left == DATEOID || left == TIMESTAMPOID) && right == INTERVALOID;
}

static bool
is_operator_shippable(const char *name, Oid left, Oid right, Oid collation)
{
	static const char *const orders[] = {"<", "<=", ">", ">="};
	static const char *const sums[] = {"+", "-", "*", "/", "%"};

	if (!OidIsValid(left))
		return strcmp(name, "-") == 0 && kakehashi_is_number(right);
	if (strcmp(name, "&") == 0)
		return left == right && is_integer(left);
	if (strcmp(name, "=") == 0 || strcmp(name, "<>") == 0)
		return (left == ANYENUMOID && right == ANYENUMOID) ||
		       (is_comparable(left, right) && is_collation_shippable(left, collation, false));
	for (size_t i = 0; i < lengthof(orders); i++)
	{
		if (strcmp(name, orders[i]) == 0)
			return is_comparable(left, right) && is_collation_shippable(left, collation, true);
	}
	if (strcmp(name, "~~") == 0 || strcmp(name, "!~~") == 0)
		return is_text(left) && is_text(right) && is_collation_shippable(left, collation, false);
	if (strcmp(name, "||") == 0)
		return is_text(left) && is_text(right);
	for (size_t i = 0; i < lengthof(sums); i++)
	{
		if (strcmp(name, sums[i]) == 0 && kakehashi_is_number(left) && kakehashi_is_number(right))
			return true;
	}
	return is_sum_of_dates(name, left, right);
}

bool
kakehashi_is_shippable_operator(Oid opno, Oid collation)
{
	HeapTuple tuple;
	Form_pg_operator form;
	bool result;

	/* One of PostgreSQL's own; an extension may call its operators as it likes. */
	if (opno >= FirstGenbkiObjectId)
		return false;
	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(opno));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator %u", opno);
	form = (Form_pg_operator) GETSTRUCT(tuple);
	result = is_operator_shippable(NameStr(form->oprname), form->oprleft, form->oprright, collation);
	ReleaseSysCache(tuple);
	return result;
}

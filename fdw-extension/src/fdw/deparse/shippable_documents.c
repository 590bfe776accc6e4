/*
 * Operators and functions of arrays, json and jsonb that the engine has with the same results.
 *
 * These types cross as text, and only expressions over types that PostgreSQL has by itself get here: a column of an enum, or of an array of
 * enums, is text on the engine. Operators of arrays are declared for arrays of any type, so that it is the arguments' types that count.
 */
#include "fdw/deparse/deparse.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* Elements for which arrays of them are compared as here. Those of timestamptz keep the offset that they were written with. */
static bool
is_element(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case TEXTOID:
		case DATEOID:
		case TIMESTAMPOID:
		case UUIDOID:
			return true;
		default:
			return false;
	}
}

/* The type of its elements if it is an array whose functions are the engine's, too; or InvalidOid. */
static Oid
element_of(Oid type)
{
	Oid element = type < FirstGenbkiObjectId ? get_element_type(type) : InvalidOid;

	return is_element(element) ? element : InvalidOid;
}

static bool
is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
	{
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

static bool
is_array_operator(const char *name, Oid left, Oid right, Oid collation)
{
	static const char *const equalities[] = {"=", "<>", "@>", "<@", "&&"};
	static const char *const orders[] = {"<", "<=", ">", ">="};
	Oid element = element_of(left);

	if (strcmp(name, "||") == 0)
		return OidIsValid(element) ? right == left || right == element
		                           : OidIsValid(element_of(right)) && left == element_of(right);
	if (!OidIsValid(element) || left != right)
		return false;
	if (is_one_of(name, equalities, lengthof(equalities)))
		return kakehashi_is_shippable_collation(collation);
	return is_one_of(name, orders, lengthof(orders)) && kakehashi_is_shippable_order(element, collation);
}

/* Strings in jsonb are ordered under the database's collation, so that its order stays here. */
static bool
is_json_operator(const char *name, Oid left, Oid right)
{
	static const char *const with_jsonb[] = {"=", "<>", "@>", "<@", "||"};
	static const char *const with_text[] = {"->", "->>", "?", "-"};
	static const char *const with_integer[] = {"->", "->>", "-"};
	static const char *const with_path[] = {"#>", "#>>", "?|", "?&", "-", "#-"};
	static const char *const of_json[] = {"->", "->>"};

	/* Paths into json are another matter: a negative subscript may count from the end of another array there. */
	if (left == JSONOID)
		return (right == TEXTOID || right == INT4OID) && is_one_of(name, of_json, lengthof(of_json));
	if (left != JSONBOID)
		return false;
	switch (right)
	{
		case JSONBOID:
			return is_one_of(name, with_jsonb, lengthof(with_jsonb));
		case TEXTOID:
			return is_one_of(name, with_text, lengthof(with_text));
		case INT4OID:
			return is_one_of(name, with_integer, lengthof(with_integer));
		case TEXTARRAYOID:
			return is_one_of(name, with_path, lengthof(with_path));
		default:
			return false;
	}
}

bool
kakehashi_is_document_operator(Oid opno, List *args, Oid collation)
{
	Oid left;
	Oid right;
	char *name;

	if (opno >= FirstGenbkiObjectId || list_length(args) != 2)
		return false;
	left = exprType((Node *) linitial(args));
	right = exprType((Node *) lsecond(args));
	name = get_opname(opno);
	if (name == NULL)
		return false;
	return is_json_operator(name, left, right) || is_array_operator(name, left, right, collation);
}

bool
kakehashi_is_array_comparison(Oid opno, Oid value, Oid array, Oid collation)
{
	return opno < FirstGenbkiObjectId && OidIsValid(element_of(array)) && value == element_of(array) &&
	       kakehashi_is_shippable_collation(collation);
}

bool
kakehashi_is_document_array(Oid type)
{
	return OidIsValid(element_of(type));
}

bool
kakehashi_is_groupable_array(Oid type)
{
	Oid element = element_of(type);

	/* Equal ones may look different. */
	return OidIsValid(element) && element != NUMERICOID && element != FLOAT4OID && element != FLOAT8OID;
}

bool
kakehashi_is_shippable_sort(Oid type, Oid collation)
{
	Oid element = element_of(type);

	return kakehashi_is_shippable_order(OidIsValid(element) ? element : type, collation);
}

/* array_to_string() writes elements as they are here only if no setting changes how. */
static bool
is_written_alike(Oid element)
{
	return element == INT2OID || element == INT4OID || element == INT8OID || element == NUMERICOID ||
	       element == TEXTOID || element == UUIDOID;
}

const char *
kakehashi_document_function(const FuncExpr *expr)
{
	Oid element = expr->args == NIL ? InvalidOid : element_of(exprType((Node *) linitial(expr->args)));

	switch (expr->funcid)
	{
		case F_JSONB_TYPEOF:
			return "jsonb_typeof";
		case F_JSONB_ARRAY_LENGTH:
			return "jsonb_array_length";
		case F_JSONB_SET:
			return "jsonb_set";
		case F_JSON_TYPEOF:
			return "json_typeof";
		case F_JSON_ARRAY_LENGTH:
			return "json_array_length";
		default:
			break;
	}
	if (!OidIsValid(element) || !kakehashi_is_shippable_collation(expr->inputcollid))
		return NULL;
	switch (expr->funcid)
	{
		case F_ARRAY_LENGTH:
			return "array_length";
		case F_ARRAY_UPPER:
			return "array_upper";
		case F_ARRAY_LOWER:
			return "array_lower";
		case F_ARRAY_NDIMS:
			return "array_ndims";
		case F_CARDINALITY:
			return "cardinality";
		case F_ARRAY_REMOVE:
			return "array_remove";
		case F_ARRAY_REPLACE:
			return "array_replace";
		case F_ARRAY_POSITION_ANYCOMPATIBLEARRAY_ANYCOMPATIBLE:
		case F_ARRAY_POSITION_ANYCOMPATIBLEARRAY_ANYCOMPATIBLE_INT4:
			return "array_position";
		case F_ARRAY_POSITIONS:
			return "array_positions";
		case F_ARRAY_TO_STRING_ANYARRAY_TEXT:
		case F_ARRAY_TO_STRING_ANYARRAY_TEXT_TEXT:
			return is_written_alike(element) ? "array_to_string" : NULL;
		default:
			return NULL;
	}
}

bool
kakehashi_is_document_cast(const CoerceViaIO *expr)
{
	/* Later versions read more: underscores, and other bases than ten. */
#if PG_VERSION_NUM >= 160000
	(void) expr;
	return false;
#else
	return exprType((const Node *) expr->arg) == TEXTOID &&
	       (expr->resulttype == INT4OID || expr->resulttype == INT8OID || expr->resulttype == NUMERICOID);
#endif
}

/* True for subscripts that lead to a part of a jsonb, as the operator #> does. */
static bool
is_path(const SubscriptingRef *expr)
{
	ListCell *cell;

	if (expr->refcontainertype != JSONBOID || expr->reflowerindexpr != NIL)
		return false;
	foreach (cell, expr->refupperindexpr)
	{
		if (lfirst(cell) == NULL || exprType((Node *) lfirst(cell)) != TEXTOID)
			return false;
	}
	return true;
}

List *
kakehashi_array_subscripts(const SubscriptingRef *expr)
{
	if (expr->refassgnexpr != NULL || (!OidIsValid(element_of(expr->refcontainertype)) && !is_path(expr)) ||
	    list_member_ptr(expr->refupperindexpr, NULL) || list_member_ptr(expr->reflowerindexpr, NULL))
		return NIL;
	return list_concat_copy(expr->refupperindexpr, expr->reflowerindexpr);
}

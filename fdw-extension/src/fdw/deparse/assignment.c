/*
 * SET of a column, or of elements of it.
 */
#include "fdw/deparse/deparse.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"

/* A column's value with an element of its own, as in SET a[1] = x; NULL if it is no such value. */
static SubscriptingRef *
element_assignment(Expr *value)
{
	SubscriptingRef *ref = (SubscriptingRef *) value;

	return IsA(ref, SubscriptingRef) && ref->refassgnexpr != NULL ? ref : NULL;
}

static bool
are_subscripts_assignable(PlannerInfo *root, RelOptInfo *rel, const SubscriptingRef *ref)
{
	ListCell *cell;

	if (ref->reflowerindexpr != NIL ||
	    (ref->refcontainertype != JSONBOID && !kakehashi_is_document_array(ref->refcontainertype)))
		return false;
	foreach (cell, ref->refupperindexpr)
	{
		if (lfirst(cell) == NULL || !kakehashi_is_shippable(root, rel, (Expr *) lfirst(cell)))
			return false;
	}
	return true;
}

bool
kakehashi_is_assignable(PlannerInfo *root, RelOptInfo *rel, Expr *value)
{
	SubscriptingRef *ref = element_assignment(value);

	if (ref == NULL)
		return kakehashi_is_shippable(root, rel, value);
	for (; ref != NULL; ref = element_assignment(value))
	{
		if (!are_subscripts_assignable(root, rel, ref) || !kakehashi_is_shippable(root, rel, ref->refassgnexpr) ||
		    !kakehashi_engine_computes(rel->serverid, (Expr *) ref))
			return false;
		value = ref->refexpr;
	}
	/* What the elements are set of is the column itself. */
	return IsA(value, Var) && kakehashi_is_shippable(root, rel, value);
}

void
kakehashi_deparse_assignment(KakehashiDeparse *context, const char *column, Expr *value)
{
	SubscriptingRef *ref = element_assignment(value);
	ListCell *cell;

	/* The innermost one comes first. */
	if (ref != NULL && element_assignment(ref->refexpr) != NULL)
	{
		kakehashi_deparse_assignment(context, column, ref->refexpr);
		appendStringInfoString(context->buf, ", ");
	}
	kakehashi_deparse_identifier(context->buf, column);
	foreach (cell, ref == NULL ? NIL : ref->refupperindexpr)
	{
		appendStringInfoChar(context->buf, '[');
		kakehashi_deparse_expr(context, (Expr *) lfirst(cell));
		appendStringInfoChar(context->buf, ']');
	}
	appendStringInfoString(context->buf, " = ");
	kakehashi_deparse_expr(context, ref == NULL ? value : ref->refassgnexpr);
}

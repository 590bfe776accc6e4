/*
 * Names, constants and parameters as SQL of the engine.
 *
 * Values go over as parameters, with their exact datums; besides, statements that differ only in constants have one text and
 * are prepared once. But the engine plans a text before it has values: where that could choose badly, and planning is little against
 * the work, constants that columns are compared with stand in the text. No others: what the engine knows to be a constant it computes
 * with, and then errors may not occur that PostgreSQL reports.
 */
#include "fdw/deparse/deparse.h"
#include "fdw/row/row.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

/* Backslashes are themselves on the engine, so that quote_literal_cstr(), which writes E'', is not for it. */
static void
append_quoted(StringInfo buf, const char *text, char quote)
{
	appendStringInfoChar(buf, quote);
	for (; *text != '\0'; text++)
	{
		if (*text == quote)
			appendStringInfoChar(buf, quote);
		appendStringInfoChar(buf, *text);
	}
	appendStringInfoChar(buf, quote);
}

void
kakehashi_deparse_identifier(StringInfo buf, const char *name)
{
	append_quoted(buf, name, '"');
}

void
kakehashi_deparse_stub(StringInfo buf, const KakehashiStub *stub)
{
	kakehashi_deparse_identifier(buf, stub->schema);
	appendStringInfoChar(buf, '.');
	kakehashi_deparse_identifier(buf, stub->function);
}

void
kakehashi_deparse_text(StringInfo buf, const char *text)
{
	append_quoted(buf, text, '\'');
}

void
kakehashi_deparse_type(StringInfo buf, Oid type, int32 typmod)
{
	appendStringInfoString(buf, format_type_with_typemod(kakehashi_bridge_type(type, NULL), typmod));
}

/* Longer ones say nothing about how many rows there are. */
#define MAX_LITERAL_BYTES 200

/* A number, date or time as usual: no infinity, no era. */
static bool
is_plain(const char *text)
{
	return text[strspn(text, "0123456789.:- ")] == '\0';
}

bool
kakehashi_deparse_literal(KakehashiDeparse *context, Const *constant)
{
	bool quoted = context->all_literals;
	int level;
	Oid output;
	bool varlena;
	char *text;

	switch (constant->consttype)
	{
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			quoted = true;
			break;
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case DATEOID:
		case TIMESTAMPOID:
			break;
		default:
			if (kakehashi_is_enum(constant->consttype))
				quoted = true;
			else if (!context->all_literals)
				return false;
	}
	getTypeOutputInfo(constant->consttype, &output, &varlena);
	level = kakehashi_set_transmission_modes();
	text = OidOutputFunctionCall(output, constant->constvalue);
	AtEOXact_GUC(true, level);
	if ((strlen(text) > MAX_LITERAL_BYTES && !context->all_literals) || (!quoted && !is_plain(text)))
		return false;
	append_quoted(context->buf, text, '\'');
	appendStringInfoString(context->buf, "::");
	kakehashi_deparse_type(context->buf, constant->consttype, -1);
	return true;
}

void
kakehashi_deparse_parameter(KakehashiDeparse *context, Expr *expr)
{
	ListCell *cell;
	int number = 1;

	if (context->all_literals && IsA(expr, Const) && !((Const *) expr)->constisnull &&
	    kakehashi_deparse_literal(context, (Const *) expr))
		return;
	foreach (cell, context->params)
	{
		if (equal(lfirst(cell), expr))
			break;
		number++;
	}
	if (cell == NULL)
		context->params = lappend(context->params, expr);
	appendStringInfo(context->buf, "$%d", number);
}

static void
deparse_constant(KakehashiDeparse *context, Const *constant)
{
	if (constant->constisnull && !kakehashi_is_text_form(constant->consttype))
	{
		appendStringInfoString(context->buf, "CAST(NULL AS ");
		kakehashi_deparse_type(context->buf, constant->consttype, -1);
		appendStringInfoChar(context->buf, ')');
	}
	else if (constant->consttype == BOOLOID)
		appendStringInfoString(context->buf, DatumGetBool(constant->constvalue) ? "TRUE" : "FALSE");
	else
		kakehashi_deparse_parameter(context, (Expr *) constant);
}

void
kakehashi_deparse_value(KakehashiDeparse *context, Expr *expr)
{
	if (IsA(expr, Const))
		deparse_constant(context, (Const *) expr);
	else
		kakehashi_deparse_parameter(context, expr);
}

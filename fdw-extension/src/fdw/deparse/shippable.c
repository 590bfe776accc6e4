/*
 * Expressions that the engine computes exactly as PostgreSQL does; everything else stays here.
 *
 * Operators, functions and casts are looked up in shippable_catalog.c, those of arrays, json and jsonb in shippable_documents.c. Expressions without a column of the relation need
 * no look-up: what the engine cannot compute of them is computed here, and goes over as a value.
 */
#include "fdw/deparse/deparse.h"
#include "fdw/row/row.h"

#include "access/detoast.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/* A constant array that is longer is checked here; one that comes at execution time is bounded by the endpoint's max_batch_bytes. */
#define MAX_ARRAY_BYTES (256 * 1024)

/* Elements that something is compared with one by one. */
#define MAX_COMPARED_ELEMENTS 100

typedef struct Walk
{
	PlannerInfo *root;
	RelOptInfo *rel;
	bool aggregates; /* allowed */
	bool windows;    /* window functions are, too */
	bool named;      /* nothing is computed: it is enough that the engine knows it by PostgreSQL's names */
} Walk;

static bool shippable(Walk *walk, Expr *expr);
static bool computed_there(Walk *walk, Expr *expr);

static bool
all_shippable(Walk *walk, List *exprs)
{
	ListCell *cell;

	foreach (cell, exprs)
	{
		if (!shippable(walk, (Expr *) lfirst(cell)))
			return false;
	}
	return true;
}

/* Arrays go over in their text form. Those of domains are types of this database, and their elements are checked here. */
static bool
is_array_sendable(Expr *array)
{
	if (!OidIsValid(kakehashi_bridge_type(get_element_type(exprType((Node *) array)), NULL)))
		return false;
	return !IsA(array, Const) || ((Const *) array)->constisnull ||
	       toast_raw_datum_size(((Const *) array)->constvalue) <= MAX_ARRAY_BYTES;
}

bool
kakehashi_is_in_list(const ScalarArrayOpExpr *expr)
{
	char *name = get_opname(expr->opno);
	Oid left;
	Oid right;

	/*
	 * A list of timestamps has a type of its own there, to which a date would be cast; not every date can be. An array of an enum is a text there,
	 * and no array of texts.
	 */
	op_input_types(expr->opno, &left, &right);
	return name != NULL && strcmp(name, expr->useOr ? "=" : "<>") == 0 && (left == DATEOID) == (right == DATEOID) &&
	       left != ANYENUMOID;
}

/* Elements as constants; false if the array is null, or has none of one dimension or too many. */
static bool
constant_elements(const Const *array, List **elements)
{
	Oid type = get_element_type(array->consttype);
	ArrayType *value;
	Datum *values;
	bool *nulls;
	int count;
	int16 length;
	bool by_value;
	char align;

	if (array->constisnull || !OidIsValid(type) || toast_raw_datum_size(array->constvalue) > MAX_ARRAY_BYTES)
		return false;
	value = DatumGetArrayTypeP(array->constvalue);
	if (ARR_NDIM(value) > 1 || ArrayGetNItems(ARR_NDIM(value), ARR_DIMS(value)) > MAX_COMPARED_ELEMENTS)
		return false;
	get_typlenbyvalalign(type, &length, &by_value, &align);
	deconstruct_array(value, type, length, by_value, align, &values, &nulls, &count);
	for (int i = 0; i < count; i++)
		*elements = lappend(*elements, makeConst(type, -1, array->constcollid, length, values[i], nulls[i], by_value));
	return true;
}

bool
kakehashi_comparisons(ScalarArrayOpExpr *expr, List **comparisons)
{
	Expr *list = (Expr *) lsecond(expr->args);
	List *elements = NIL;
	ListCell *cell;

	if (IsA(list, ArrayExpr) && !((ArrayExpr *) list)->multidims &&
	    list_length(((ArrayExpr *) list)->elements) <= MAX_COMPARED_ELEMENTS)
		elements = ((ArrayExpr *) list)->elements;
	else if (!IsA(list, Const) || !constant_elements((Const *) list, &elements))
		return false;
	foreach (cell, elements)
	{
		Expr *comparison = make_opclause(expr->opno, BOOLOID, false, (Expr *) linitial(expr->args),
		                                 (Expr *) lfirst(cell), InvalidOid, expr->inputcollid);

		*comparisons = lappend(*comparisons, comparison);
	}
	return true;
}

static bool
is_list_shippable(Walk *walk, ScalarArrayOpExpr *expr)
{
	Expr *list = (Expr *) lsecond(expr->args);
	List *comparisons = NIL;

	if (!kakehashi_is_shippable_operator(expr->opno, expr->inputcollid) ||
	    !shippable(walk, (Expr *) linitial(expr->args)))
		return false;
	if (kakehashi_is_in_list(expr) && !IsA(list, ArrayExpr) && !kakehashi_is_parameter(walk->root, walk->rel, list))
		return kakehashi_is_array_comparison(expr->opno, exprType((Node *) linitial(expr->args)),
		                                     exprType((Node *) list), expr->inputcollid) &&
		       shippable(walk, list);
	/* The rest of ANY and ALL goes element by element. */
	if (!kakehashi_is_in_list(expr))
		return kakehashi_comparisons(expr, &comparisons) && all_shippable(walk, comparisons);
	if (kakehashi_is_parameter(walk->root, walk->rel, list))
		return is_array_sendable(list);
	if (IsA(list, ArrayExpr))
	{
		ArrayExpr *array = (ArrayExpr *) list;

		return !array->multidims && array->elements != NIL &&
		       list_length(array->elements) <= KAKEHASHI_MAX_LIST_ELEMENTS && all_shippable(walk, array->elements);
	}
	return false;
}

const char *
kakehashi_extract_field(FuncExpr *expr)
{
	static const char *const fields[] = {"year",    "month",  "day",     "hour",         "minute",       "quarter",
	                                     "dow",     "doy",    "second",  "epoch",        "week",         "isodow",
	                                     "isoyear", "decade", "century", "milliseconds", "microseconds", NULL};
	Node *field = (Node *) linitial(expr->args);
	char *word;

	if (!IsA(field, Const) || ((Const *) field)->constisnull)
		return NULL;
	word = TextDatumGetCString(((Const *) field)->constvalue);
	for (int i = 0; fields[i] != NULL; i++)
	{
		if (pg_strcasecmp(word, fields[i]) == 0)
			return fields[i];
	}
	return NULL;
}

bool
kakehashi_is_named_function(const FuncExpr *expr)
{
	return expr->funcid < FirstGenbkiObjectId && expr->funcformat == COERCE_EXPLICIT_CALL && !expr->funcretset &&
	       !expr->funcvariadic;
}

static bool
is_function_shippable(Walk *walk, FuncExpr *expr)
{
	const char *name = kakehashi_shippable_function(expr->funcid);

	if (kakehashi_is_shippable_cast(expr->funcid))
		return all_shippable(walk, expr->args);
	if (kakehashi_is_numeric_scale(expr) || kakehashi_is_text_length(expr))
		return shippable(walk, (Expr *) linitial(expr->args));
	if (kakehashi_document_function(expr) != NULL)
		return all_shippable(walk, expr->args);
	if (name == NULL && walk->named)
		return kakehashi_is_named_function(expr) && all_shippable(walk, expr->args);
	if (name == NULL)
		return !expr->funcvariadic && kakehashi_is_shippable_stub(expr->funcid, walk->rel->serverid) &&
		       kakehashi_is_shippable_collation(expr->inputcollid) && all_shippable(walk, expr->args);
	if (!kakehashi_is_shippable_collation(expr->inputcollid))
		return false;
	/* The field is a word of the syntax. */
	if (strcmp(name, "extract") == 0)
		return kakehashi_extract_field(expr) != NULL && shippable(walk, (Expr *) lsecond(expr->args));
	return all_shippable(walk, expr->args);
}

/* The left side of a WHEN with the argument in its place, or NULL. */
static Expr *
case_operand(Expr *left, Expr *arg)
{
	RelabelType *relabel;

	if (IsA(left, CaseTestExpr))
		return arg;
	if (!IsA(left, RelabelType) || !IsA(((RelabelType *) left)->arg, CaseTestExpr))
		return NULL;
	relabel = makeNode(RelabelType);
	*relabel = *(RelabelType *) left;
	relabel->arg = arg;
	return (Expr *) relabel;
}

CaseExpr *
kakehashi_searched_case(CaseExpr *expr)
{
	CaseExpr *searched;
	ListCell *cell;

	if (expr->arg == NULL)
		return expr;
	searched = makeNode(CaseExpr);
	*searched = *expr;
	searched->arg = NULL;
	searched->args = NIL;
	foreach (cell, expr->args)
	{
		CaseWhen *when = makeNode(CaseWhen);
		OpExpr *comparison = (OpExpr *) lfirst_node(CaseWhen, cell)->expr;
		OpExpr *replaced;
		Expr *operand;

		if (!IsA(comparison, OpExpr) || list_length(comparison->args) != 2)
			return NULL;
		operand = case_operand((Expr *) linitial(comparison->args), expr->arg);
		if (operand == NULL)
			return NULL;
		replaced = makeNode(OpExpr);
		*replaced = *comparison;
		replaced->args = list_make2(operand, lsecond(comparison->args));
		*when = *lfirst_node(CaseWhen, cell);
		when->expr = (Expr *) replaced;
		searched->args = lappend(searched->args, when);
	}
	return searched;
}

static bool
is_case_shippable(Walk *walk, CaseExpr *expr)
{
	ListCell *cell;

	expr = kakehashi_searched_case(expr);
	if (expr == NULL)
		return false;
	foreach (cell, expr->args)
	{
		CaseWhen *when = lfirst_node(CaseWhen, cell);

		if (!shippable(walk, when->expr) || !shippable(walk, when->result))
			return false;
	}
	return expr->defresult == NULL || shippable(walk, expr->defresult);
}

static bool
is_aggregate_shippable(Walk *walk, Aggref *expr)
{
	Walk inside = {.root = walk->root, .rel = walk->rel};

	return walk->aggregates && kakehashi_is_shippable_aggregate(expr, walk->rel->serverid) &&
	       (expr->aggfilter == NULL || shippable(&inside, expr->aggfilter)) &&
	       all_shippable(&inside, get_tlist_exprs(expr->args, true)) && all_shippable(&inside, expr->aggdirectargs);
}

/* Of the clauses of a window, those that have an effect. */
static bool
are_clauses_shippable(Walk *walk, List *clauses, bool order)
{
	ListCell *cell;

	foreach (cell, kakehashi_window_order(walk->root, walk->rel, clauses))
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, cell);
		Expr *expr = (Expr *) get_sortgroupclause_expr(clause, walk->root->processed_tlist);

		if (!(order ? kakehashi_is_shippable_sort_clause(clause, expr) &&
		                  kakehashi_engine_orders(walk->rel->serverid, exprType((Node *) expr))
		            : kakehashi_is_groupable(expr)) ||
		    !shippable(walk, expr))
			return false;
	}
	return true;
}

static bool
is_window_function_shippable(Walk *walk, WindowFunc *expr)
{
	Walk inside = {.root = walk->root, .rel = walk->rel, .aggregates = walk->aggregates};
	const WindowClause *window;

	if (!walk->windows || !kakehashi_is_shippable_window_function(expr))
		return false;
	window = kakehashi_window_of(walk->root, expr);
	return kakehashi_is_shippable_frame(walk->root, walk->rel, window) && all_shippable(&inside, expr->args) &&
	       (expr->aggfilter == NULL || shippable(&inside, expr->aggfilter)) &&
	       are_clauses_shippable(&inside, window->partitionClause, false) &&
	       are_clauses_shippable(&inside, window->orderClause, true);
}

/* From 17 on intervals can be infinite. The engine has them as values, and what is added to one is out of range there. */
static bool
adds_only_finite(const OpExpr *expr)
{
#if PG_VERSION_NUM >= 170000
	const Const *interval = (const Const *) llast(expr->args);

	if (expr->opresulttype == BOOLOID || exprType((const Node *) interval) != INTERVALOID)
		return true;
	return IsA(interval, Const) &&
	       (interval->constisnull || !INTERVAL_NOT_FINITE(DatumGetIntervalP(interval->constvalue)));
#else
	return true;
#endif
}

static bool
is_operator_shippable(Walk *walk, Oid opno, Oid collation, List *args)
{
	return ((walk->named && opno < FirstGenbkiObjectId) || kakehashi_is_shippable_operator(opno, collation) ||
	        kakehashi_is_document_operator(opno, args, collation)) &&
	       all_shippable(walk, args);
}

static bool
is_subscript_shippable(Walk *walk, SubscriptingRef *expr)
{
	List *subscripts = kakehashi_array_subscripts(expr);

	return subscripts != NIL && all_shippable(walk, subscripts) && shippable(walk, expr->refexpr);
}

static bool
shippable(Walk *walk, Expr *expr)
{
	/* As a whole condition: the engine compares identities. */
	if (IsA(expr, CurrentOfExpr))
	{
		kakehashi_server_require(walk->rel->serverid, KH_CAN_ROW_IDENTITY);
		return ((CurrentOfExpr *) expr)->cvarno == walk->rel->relid;
	}
	/* Every value on the way must have a type that the engine has. */
	if (!OidIsValid(kakehashi_bridge_type(exprType((Node *) expr), NULL)))
		return false;
	return kakehashi_is_parameter(walk->root, walk->rel, expr) || computed_there(walk, expr);
}

/* The same of an expression that is not a value as a whole; its parts may be. */
static bool
computed_there(Walk *walk, Expr *expr)
{
	if (!walk->named && !kakehashi_engine_computes(walk->rel->serverid, expr))
		return false;
	switch (nodeTag(expr))
	{
		case T_Var:
		{
			Var *var = (Var *) expr;

			return var->varlevelsup == 0 && var->varattno > 0 && bms_is_member(var->varno, walk->rel->relids);
		}
		case T_RelabelType:
		{
			RelabelType *relabel = (RelabelType *) expr;

			/* A domain and its enum have the same labels. */
			if (kakehashi_is_enum(exprType((Node *) relabel->arg)) && kakehashi_is_enum(relabel->resulttype))
				return shippable(walk, relabel->arg);
			/* bpchar compares without its blanks; as text it is another value. */
			return kakehashi_bridge_type(exprType((Node *) relabel->arg), NULL) != BPCHAROID &&
			       !kakehashi_is_text_form(exprType((Node *) relabel->arg)) &&
			       !kakehashi_is_text_form(relabel->resulttype) && relabel->resulttype != BPCHAROID &&
			       shippable(walk, relabel->arg);
		}
		case T_OpExpr:
			return adds_only_finite((OpExpr *) expr) &&
			       is_operator_shippable(walk, ((OpExpr *) expr)->opno, ((OpExpr *) expr)->inputcollid,
			                             ((OpExpr *) expr)->args);
		case T_DistinctExpr:
			return is_operator_shippable(walk, ((DistinctExpr *) expr)->opno, ((DistinctExpr *) expr)->inputcollid,
			                             ((DistinctExpr *) expr)->args);
		case T_NullIfExpr:
			return kakehashi_is_shippable_operator(((NullIfExpr *) expr)->opno, ((NullIfExpr *) expr)->inputcollid) &&
			       all_shippable(walk, ((NullIfExpr *) expr)->args);
		case T_ScalarArrayOpExpr:
			return is_list_shippable(walk, (ScalarArrayOpExpr *) expr);
		case T_BoolExpr:
			return all_shippable(walk, ((BoolExpr *) expr)->args);
		case T_NullTest:
			return !((NullTest *) expr)->argisrow && shippable(walk, ((NullTest *) expr)->arg);
		case T_BooleanTest:
			return shippable(walk, ((BooleanTest *) expr)->arg);
		case T_CoalesceExpr:
			return all_shippable(walk, ((CoalesceExpr *) expr)->args);
		case T_MinMaxExpr:
			return kakehashi_is_shippable_order(((MinMaxExpr *) expr)->minmaxtype,
			                                    ((MinMaxExpr *) expr)->inputcollid) &&
			       all_shippable(walk, ((MinMaxExpr *) expr)->args);
		case T_CaseExpr:
			return is_case_shippable(walk, (CaseExpr *) expr);
		case T_Aggref:
			return is_aggregate_shippable(walk, (Aggref *) expr);
		case T_GroupingFunc:
			/* Here it could be computed by an Agg alone. */
			return walk->aggregates && ((GroupingFunc *) expr)->agglevelsup == 0 &&
			       (walk->root->parse->groupingSets == NIL || all_shippable(walk, ((GroupingFunc *) expr)->args));
		case T_WindowFunc:
			return is_window_function_shippable(walk, (WindowFunc *) expr);
		case T_FuncExpr:
			return is_function_shippable(walk, (FuncExpr *) expr);
		case T_SubscriptingRef:
			return is_subscript_shippable(walk, (SubscriptingRef *) expr);
		case T_CoerceViaIO:
			return (kakehashi_is_document_cast((CoerceViaIO *) expr) || kakehashi_is_label((CoerceViaIO *) expr)) &&
			       shippable(walk, ((CoerceViaIO *) expr)->arg);
		default:
			return false;
	}
}

bool
kakehashi_is_computed_there(PlannerInfo *root, RelOptInfo *rel, Expr *expr)
{
	Walk walk = {.root = root, .rel = rel};

	return computed_there(&walk, expr);
}

bool
kakehashi_is_shippable(PlannerInfo *root, RelOptInfo *rel, Expr *expr)
{
	Walk walk = {.root = root, .rel = rel};
	KakehashiExtent extent = {0};

	return kakehashi_extend(&extent, root, rel, expr) && shippable(&walk, expr);
}

bool
kakehashi_is_nameable(PlannerInfo *root, RelOptInfo *rel, Expr *expr)
{
	Walk walk = {.root = root, .rel = rel, .named = true};
	KakehashiExtent extent = {0};

	return kakehashi_extend(&extent, root, rel, expr) && shippable(&walk, expr);
}

bool
kakehashi_is_shippable_grouped(PlannerInfo *root, RelOptInfo *rel, Expr *expr)
{
	Walk walk = {.root = root, .rel = rel, .aggregates = true};
	KakehashiExtent extent = {0};

	return kakehashi_extend(&extent, root, rel, expr) && shippable(&walk, expr);
}

bool
kakehashi_is_shippable_windowed(PlannerInfo *root, RelOptInfo *rel, Expr *expr, bool grouped)
{
	Walk walk = {.root = root, .rel = rel, .aggregates = grouped, .windows = true};
	KakehashiExtent extent = {0};

	return kakehashi_extend(&extent, root, rel, expr) && shippable(&walk, expr);
}

/*
 * What the engine may compute, and how it is said in SQL.
 */
#ifndef KAKEHASHI_DEPARSE_H
#define KAKEHASHI_DEPARSE_H

#include "fdw/base/base.h"

#include "foreign/fdwapi.h"

/*
 * RelOptInfo.fdw_private of a base or join relation whose rows one remote SELECT delivers. A SEMI or ANTI join has the rows
 * of its outer side, and one more condition.
 */
typedef struct KakehashiRelation
{
	bool is_upper; /* false; first, to tell from KakehashiUpper */
	ForeignServer *server;
	UserMapping *user; /* NULL if estimates do not ask the engine */
	KakehashiOptions options;
	List *remote_conds;    /* RestrictInfos of WHERE that the engine checks */
	List *local_conds;     /* RestrictInfos that are checked here */
	Bitmapset *attrs_used; /* base: offset by FirstLowInvalidHeapAttributeNumber */
	List *members; /* UNION ALL, or partitions: RelOptInfos of the parts, whose rows are those of this one; else NIL */
	Index parent;  /* of them: range table index of the whole */
	List *columns; /* of them: Vars of the whole, which is a subquery with columns c<attribute number> */
	struct KakehashiQuery
		*query;        /* a query in FROM, with columns c<number>; else NULL. Then parent is its range table index */
	RelOptInfo *outer; /* join, else NULL */
	RelOptInfo *inner;
	JoinType join_type;
	List *join_clauses;    /* RestrictInfos of ON, or of the EXISTS of a SEMI or ANTI join */
	List *semi_joins;      /* RelOptInfos of the SEMI and ANTI joins whose conditions belong to WHERE */
	Relids hidden;         /* tables of these: no column of theirs can be delivered, sorted by or joined with */
	bool shows_hidden;     /* the plan above wants one all the same, so that the join is no scan */
	double retrieved_rows; /* after remote_conds */
	Cost engine_cost;      /* work of the engine */
	QualCost local_cost;
	Selectivity local_selectivity;
} KakehashiRelation;

/* RelOptInfo.fdw_private of an upper relation, and the one member of its path's fdw_private: what the SELECT does besides. */
typedef struct KakehashiUpper
{
	bool is_upper;    /* true; first */
	RelOptInfo *scan; /* base or join relation below */
	bool grouped;
	List *tlist;        /* TargetEntries of the SELECT */
	List *group;        /* expressions of GROUP BY */
	List *sets;         /* GROUPING SETS: a list of expressions each; NIL: one of group */
	bool if_rows;       /* grouped by what is the same for all rows: one group if there is a row */
	List *having;       /* expressions of HAVING */
	List *local_having; /* expressions that are checked here */
	bool windowed;      /* tlist has window functions */
	List *of_windows;   /* conditions on window functions in tlist */
	bool distinct;
	List *pathkeys; /* ORDER BY */
	Node *limit;    /* NULL: none */
	Node *offset;
	double rows;
	Cost engine_cost;
} KakehashiUpper;

struct KakehashiDeparse;

/* A query within another, all of which the engine does. */
typedef struct KakehashiQuery
{
	PlannerInfo *root;
	RelOptInfo *scan;
	const KakehashiUpper *upper; /* NULL: it is its scan */
	/* NULL, or what writes it: it is a set operation, and scan is that of its first query. */
	void (*write)(struct KakehashiDeparse *context);
	List *columns; /* its expressions, as of the types that are wanted */
	double rows;
	Cost engine_cost;
} KakehashiQuery;

/* ---- parameter.c ---- */

/* True if the expression has no column of rel, so that it can be computed here, before the statement is sent, and its value go over as a parameter. */
extern bool kakehashi_is_parameter(PlannerInfo *root, RelOptInfo *rel, Expr *expr);

/* ---- shippable.c ---- */

/* True if the engine computes the expression over rel's columns exactly as PostgreSQL does. */
extern bool kakehashi_is_shippable(PlannerInfo *root, RelOptInfo *rel, Expr *expr);

/* True if the expression over rel's columns can be written down for the engine, which compares it with others and does not compute it. */
extern bool kakehashi_is_nameable(PlannerInfo *root, RelOptInfo *rel, Expr *expr);

/* Whether a call of a function that is not in the table of shippable ones is written with PostgreSQL's name of it. */
extern bool kakehashi_is_named_function(const FuncExpr *expr);

/* The same with aggregates allowed: in the target list and HAVING of a grouped query. */
extern bool kakehashi_is_shippable_grouped(PlannerInfo *root, RelOptInfo *rel, Expr *expr);

/* The same with window functions allowed, too. grouped: and aggregates. */
extern bool kakehashi_is_shippable_windowed(PlannerInfo *root, RelOptInfo *rel, Expr *expr, bool grouped);

/* True if the engine computes the expression, of whose parts some may be values. */
extern bool kakehashi_is_computed_there(PlannerInfo *root, RelOptInfo *rel, Expr *expr);

/* Expressions of an IN list that the engine computes; longer lists are checked here. */
#define KAKEHASHI_MAX_LIST_ELEMENTS 1000

/* "CASE a WHEN b" as "CASE WHEN a = b", whose parts stand for themselves; NULL if a comparison is not a plain one. */
extern CaseExpr *kakehashi_searched_case(CaseExpr *expr);

/* True for = ANY and <> ALL, which the engine compares with a whole array. */
extern bool kakehashi_is_in_list(const ScalarArrayOpExpr *expr);

/* The comparisons with single elements that ANY joins by OR and ALL by AND; false if the elements are not known, or too many. */
extern bool kakehashi_comparisons(ScalarArrayOpExpr *expr, List **comparisons);

/* The field of extract(), if it is a word that the engine knows too, or NULL. */
extern const char *kakehashi_extract_field(FuncExpr *expr);

/* ---- shippable_catalog.c ---- */

/* Name of the engine's function for one of PostgreSQL's, or NULL. */
extern const char *kakehashi_shippable_function(Oid function);
/* True if text that is searched under the collation is searched byte by byte; InvalidOid: no text is. */
extern bool kakehashi_is_shippable_collation(Oid collation);
extern bool kakehashi_is_shippable_cast(Oid function);

/* True for a numeric that is brought to a precision and scale. */
extern bool kakehashi_is_numeric_scale(const FuncExpr *expr);

/* True for a varchar that is brought to a length, whether it is an error if it is longer or not. */
extern bool kakehashi_is_text_length(const FuncExpr *expr);
extern bool kakehashi_is_shippable_operator(Oid opno, Oid collation);
extern bool kakehashi_is_groupable(Expr *expr);
extern bool kakehashi_is_number(Oid type);
extern bool kakehashi_is_exact_number(Oid type);

/* True if the engine orders values of the type as PostgreSQL does in this collation. */
extern bool kakehashi_is_shippable_order(Oid type, Oid collation);

/* ---- shippable_aggregate.c: aggregates and window functions, whose expressions shippable.c looks at ---- */

/* True if the relation's server has the aggregate, with its order and DISTINCT. */
extern bool kakehashi_is_shippable_aggregate(const Aggref *expr, Oid server);
extern bool kakehashi_is_shippable_window_function(const WindowFunc *expr);

/* IGNORE NULLS, which PostgreSQL has from 19 on. */
extern bool kakehashi_ignores_nulls(const WindowFunc *expr);

/* True if the engine sorts by the expression as the clause says. */
extern bool kakehashi_is_shippable_sort_clause(const SortGroupClause *clause, Expr *expr);

/* The window of a window function of the query. */
extern WindowClause *kakehashi_window_of(PlannerInfo *root, const WindowFunc *expr);

/* Those of the clauses of a window's PARTITION BY or ORDER BY that have a column of rel, which the others do nothing to. */
extern List *kakehashi_window_order(PlannerInfo *root, RelOptInfo *rel, List *clauses);
extern bool kakehashi_is_shippable_frame(PlannerInfo *root, RelOptInfo *rel, const WindowClause *window);

/* ---- shippable_engine.c: what of it the server's engine computes ---- */

/* True if the engine computes the expression itself; its parts are asked for one by one. InvalidOid: every engine of ours. */
extern bool kakehashi_engine_computes(Oid server, Expr *expr);

/* True if it orders values of the type as PostgreSQL does, where collation and operator are those of kakehashi_is_shippable_sort(). */
extern bool kakehashi_engine_orders(Oid server, Oid type);

/* The same for ORDER BY. */
extern bool kakehashi_engine_sorts(Oid server, Oid type);

/* ---- shippable_documents.c: arrays, json and jsonb ---- */

/* True if the engine has the operator for arguments of these types. */
extern bool kakehashi_is_document_operator(Oid opno, List *args, Oid collation);

/* True if the engine compares a value with the elements of an array by an operator that it has for two such values. */
extern bool kakehashi_is_array_comparison(Oid opno, Oid value, Oid array, Oid collation);

/* True for arrays whose functions are the engine's, too. */
extern bool kakehashi_is_document_array(Oid type);

/* True for arrays of which no two are equal and look different. */
extern bool kakehashi_is_groupable_array(Oid type);

/* As kakehashi_is_shippable_order(), and true for arrays of such values, too: they can be sorted by, but have no minimum. */
extern bool kakehashi_is_shippable_sort(Oid type, Oid collation);

/* Name of the engine's function for a call of PostgreSQL's, or NULL. */
extern const char *kakehashi_document_function(const FuncExpr *expr);

/* True for numbers that text is read as. */
extern bool kakehashi_is_document_cast(const CoerceViaIO *expr);

/* True for the label of an enum, which is what the engine has as its value. */
extern bool kakehashi_is_label(const CoerceViaIO *expr);

/* The subscripts of an element or slice of an array that the engine has, too, or NIL. */
extern List *kakehashi_array_subscripts(const SubscriptingRef *expr);

/* ---- stub.c: functions here that stand for functions of applications there ---- */

/* Of these functions. */
#define KAKEHASHI_LANGUAGE "kakehashi"

/* What such a function stands for; texts in the current context. */
typedef struct KakehashiStub
{
	const char *server;
	const char *schema;
	const char *function;
	bool is_aggregate; /* it is the end of an aggregate, and takes an array of its arguments */
} KakehashiStub;

/* False: the text of a function names nothing of an engine. */
extern bool kakehashi_stub_parse(const char *text, KakehashiStub *stub);

/* False: the function is no stub. */
extern bool kakehashi_stub_read(Oid function, KakehashiStub *stub);

/* False: the aggregate stands for none of an engine. */
extern bool kakehashi_stub_of_aggregate(Oid aggregate, KakehashiStub *stub);

/* True if the function, or aggregate, stands for one of the server that the current user may call; InvalidOid: of none. */
extern bool kakehashi_is_shippable_stub(Oid function, Oid server);
extern bool kakehashi_is_shippable_stub_aggregate(Oid aggregate, Oid server);

/* The plan is made again when the stub is another one; root may be NULL. */
extern void kakehashi_depend_on_stub(PlannerInfo *root, Oid function);

/* ---- conditions.c ---- */

/* Expressions or RestrictInfos in the order in which PostgreSQL would check them of a row, as scans and joins of its own tables do. */
extern List *kakehashi_order_conditions(PlannerInfo *root, List *clauses);

/* Conditions of a statement: how many, and of how many nodes. All zero to begin with. */
typedef struct KakehashiExtent
{
	int count;
	int nodes;
} KakehashiExtent;

/* Adds a condition, or an expression of its own; false, and nothing is added, if a statement with it may be more than the engine takes. */
extern bool kakehashi_extend(KakehashiExtent *extent, PlannerInfo *root, RelOptInfo *rel, Expr *expr);

/*
 * Whether the engine may check a condition although those in local, which stand before it in PostgreSQL's order, are checked here: one that
 * may fail would do so for rows that they leave out.
 */
extern bool kakehashi_can_go_before(PlannerInfo *root, RelOptInfo *rel, Expr *condition, List *local);

/*
 * True if a parameter, see kakehashi_is_parameter(), does go over as a value; else parts of it do, and the engine computes the rest. Decimals and
 * times that leave their range, which no use comes near to, are not counted as failures.
 */
extern bool kakehashi_goes_as_value(PlannerInfo *root, RelOptInfo *rel, Expr *expr);

/* The same of the array of = ANY or <> ALL, whose elements can go over one by one. */
extern bool kakehashi_list_goes_as_value(PlannerInfo *root, RelOptInfo *rel, Expr *list);

/* ---- deparse.c, deparse_aggregate.c, deparse_select.c, deparse_statement.c ---- */

typedef struct KakehashiDeparse
{
	PlannerInfo *root;
	RelOptInfo *rel; /* whose columns are columns; all else is a parameter */
	StringInfo buf;
	bool qualified; /* columns as r<rtindex>."name" */
	bool numbered;  /* the first column of a SELECT is its first parameter */
	bool
		literals; /* constants that columns are compared with stand in the text, where the engine's planner sees them */
	bool all_literals; /* of every type and length; only with literals */
	Relids marked;     /* tables that have KAKEHASHI_PRESENCE_COLUMN */
	List *params;      /* expressions of $1, $2, ... found so far */
} KakehashiDeparse;

/*
 * A column that is true in all rows of a table, and null where an outer join leaves them out. The engine's rows as a whole are null where all of
 * their columns are, too.
 */
#define KAKEHASHI_PRESENCE_COLUMN "\"kakehashi present\""

/* True for the test whether there is a row of a table, as a whole. */
extern bool kakehashi_is_presence(const Expr *expr);

/* expr must be shippable. */
extern void kakehashi_deparse_expr(KakehashiDeparse *context, Expr *expr);

/* Parts of such expressions. */
extern void kakehashi_deparse_aggregate(KakehashiDeparse *context, Aggref *expr);
extern void kakehashi_deparse_window_function(KakehashiDeparse *context, WindowFunc *expr);
extern void kakehashi_deparse_grouping(KakehashiDeparse *context, GroupingFunc *expr);

/* ---- deparse_value.c ---- */

/* An expression that is computed here, before the statement is sent; see kakehashi_is_parameter(). */
extern void kakehashi_deparse_value(KakehashiDeparse *context, Expr *expr);

/* The same as a parameter, whatever it is, unless all constants stand in the text. */
extern void kakehashi_deparse_parameter(KakehashiDeparse *context, Expr *expr);

/* A constant that is not null in the text; false, and nothing is written: it is none for that. */
extern bool kakehashi_deparse_literal(KakehashiDeparse *context, Const *constant);

/* ---- assignment.c ---- */

/* True if the engine computes the new value of a column, or of its elements, exactly as PostgreSQL does. */
extern bool kakehashi_is_assignable(PlannerInfo *root, RelOptInfo *rel, Expr *value);

/* Such a value in SET. column: its name on the engine. */
extern void kakehashi_deparse_assignment(KakehashiDeparse *context, const char *column, Expr *value);

/* ---- deparse.c, deparse_select.c ---- */

/* Expressions joined by AND; nothing for an empty list. keyword precedes the first. Members may be RestrictInfos. */
extern void kakehashi_deparse_conditions(KakehashiDeparse *context, const char *keyword, List *clauses);

/* The same, then [NOT] EXISTS for each of semi_joins. Columns are qualified. */
extern void kakehashi_deparse_where(KakehashiDeparse *context, const char *keyword, List *conditions, List *semi_joins);

/* What is left of a join without those SEMI and ANTI joins that are conditions of its rows. */
extern RelOptInfo *kakehashi_without_semi_joins(RelOptInfo *rel);

/* True if there is more than one table in the FROM of rel. */
extern bool kakehashi_joins_tables(const RelOptInfo *rel);

/*
 * The tables of context->rel that are joined to target, after keyword; nothing if there are none. What joins them to target is added to
 * conditions.
 */
extern void kakehashi_deparse_others(KakehashiDeparse *context, const char *keyword, Index target, List **conditions);

/* The member of the pathkey's class that rel computes and the engine can sort by, or NULL. tlist: only its members. */
extern Expr *kakehashi_sort_expr(PlannerInfo *root, RelOptInfo *rel, List *tlist, PathKey *pathkey);

/* What the rows of upper can be sorted by; NIL: any columns of its scan. */
extern List *kakehashi_sort_targets(const KakehashiUpper *upper);

/* A SELECT over rel. exprs: its columns; upper: NULL for rel alone. Fills context->params. */
extern void kakehashi_deparse_select(KakehashiDeparse *context, List *exprs, List *conditions, List *pathkeys,
                                     const KakehashiUpper *upper);

/* A query as it stands, by a context of its root and scan. Of a set operation: see set_operation.c. */
extern void kakehashi_deparse_query(KakehashiDeparse *context, const KakehashiQuery *query);
extern void kakehashi_deparse_identifier(StringInfo buf, const char *name);
extern void kakehashi_deparse_type(StringInfo buf, Oid type, int32 typmod);
extern void kakehashi_deparse_table(StringInfo buf, Relation rel);

/* The function that it stands for. */
extern void kakehashi_deparse_stub(StringInfo buf, const KakehashiStub *stub);

/* A constant of type text, or of a type that its context gives it. */
extern void kakehashi_deparse_text(StringInfo buf, const char *text);
extern void kakehashi_deparse_names(StringInfo buf, Relation rel, List *attnums);

/* alias: r<alias> stands for the table, 0: nothing does. conflict: ON CONFLICT with a blank before it, or "". */
/* Of the columns; override as in the statement, conflict its text with a blank in front. */
extern char *kakehashi_deparse_insert(Relation rel, Index alias, List *attnums, OverridingKind override,
                                      const char *conflict, List *returning);
/* defaults: columns that are set to DEFAULT, after those that have parameters. */
extern char *kakehashi_deparse_update(Relation rel, List *attnums, List *defaults, List *keys, List *returning);
extern char *kakehashi_deparse_delete(Relation rel, List *keys, List *returning);
extern void kakehashi_deparse_returning(StringInfo buf, Relation rel, List *attnums);

/*
 * True if the engine has the column: stored values of generated columns are computed here, and are columns like others there; those that are
 * computed when they are read are not.
 */
extern bool kakehashi_is_stored(Relation rel, int attnum);

/* Columns in attrs that the engine has, which is offset by FirstLowInvalidHeapAttributeNumber; a whole row means all. */
extern List *kakehashi_attnums(Relation rel, Bitmapset *attrs);

#endif /* KAKEHASHI_DEPARSE_H */

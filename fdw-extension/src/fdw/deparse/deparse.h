/*
 * Planning: what the engine is asked to do, and how it is said in SQL.
 */
#ifndef KAKEHASHI_PLAN_H
#define KAKEHASHI_PLAN_H

#include "kakehashi_fdw.h"

#include "foreign/fdwapi.h"

/* ---- plan.c, join.c, upper.c, create_plan.c ---- */

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
	RelOptInfo *outer;     /* join, else NULL */
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
	List *having;       /* expressions of HAVING */
	List *local_having; /* expressions that are checked here */
	List *pathkeys;     /* ORDER BY */
	Node *limit;        /* NULL: none */
	Node *offset;
	double rows;
	Cost engine_cost;
} KakehashiUpper;

/* Of ForeignScan.fdw_private. */
enum KakehashiScanPrivate
{
	KAKEHASHI_SCAN_SQL,       /* String */
	KAKEHASHI_SCAN_RETRIEVED, /* List of attribute numbers of the scan's row, in the result's order */
	KAKEHASHI_SCAN_ONE_ROW    /* Integer: 1 if the statement returns exactly one row, whatever its parameters */
};

/* Work of the engine per row that it looks at, in units of cpu_tuple_cost: vectors on several threads. */
#define KAKEHASHI_ENGINE_ROW_COST 0.1

extern void kakehashi_get_rel_size(PlannerInfo *root, RelOptInfo *rel, Oid relid);
extern void kakehashi_get_paths(PlannerInfo *root, RelOptInfo *rel, Oid relid);
extern void kakehashi_get_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner,
                                     JoinType join_type, JoinPathExtraData *extra);
extern void kakehashi_get_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input, RelOptInfo *output,
                                      void *extra);
extern ForeignScan *kakehashi_get_plan(PlannerInfo *root, RelOptInfo *rel, Oid relid, ForeignPath *path, List *tlist,
                                       List *clauses, Plan *outer_plan);

/* Adds paths of a base or join relation: unordered, and in the query's order if the engine can sort so. */
extern void kakehashi_add_paths(PlannerInfo *root, RelOptInfo *rel);

/* A path that is no part of a parallel plan. */
extern ForeignPath *kakehashi_create_path(PlannerInfo *root, RelOptInfo *rel, double rows, Cost startup, Cost total,
                                          List *pathkeys, Relids required_outer);
extern void kakehashi_path_cost(const KakehashiRelation *fpinfo, Cost engine_cost, double retrieved, Cost *startup,
                                Cost *total);
/* True if the clauses fix every column of a base relation's key, so that there is at most one row. */
extern bool kakehashi_is_key_lookup(PlannerInfo *root, RelOptInfo *rel, List *clauses);

/* Rows that the engine looks at to check the clauses of a base relation: fewer than all if an index helps. */
extern double kakehashi_rows_touched(PlannerInfo *root, RelOptInfo *rel, List *clauses);
extern Cost kakehashi_sort_cost(double rows);

/* The member of the pathkey's class that rel computes and the engine can sort by, or NULL. tlist: only its members. */
extern Expr *kakehashi_sort_expr(PlannerInfo *root, RelOptInfo *rel, List *tlist, PathKey *pathkey);

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

/* ---- direct_change.c ---- */

/* True if the query changes rows of one table that a join of all its tables finds, and the engine can do it in one statement. */
extern bool kakehashi_can_change_directly(PlannerInfo *root, RelOptInfo *joinrel, const KakehashiRelation *fpinfo);

/* Whether the engine can compute the new value of a column. */
extern bool kakehashi_is_settable(PlannerInfo *root, RelOptInfo *rel, Expr *value);

/* Whether RETURNING may change rows that the statement has not come to: then they are changed one by one. */
extern bool kakehashi_may_change_rows(List *returning);

/* ---- modify_plan.c ---- */

/*
 * Whether an UPDATE sets a column that the engine computes to DEFAULT. PostgreSQL, to which it is a plain column without one, makes a null of
 * it that stands nowhere in the statement.
 */
extern bool kakehashi_is_set_to_default(Relation rel, int attnum, const Expr *value);

/* ---- parallel_plan.c ---- */

extern bool kakehashi_is_parallel_safe(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte);

/* Whether so few foreign tables are in the query that all of their scans may be open at the same time. */
extern bool kakehashi_has_few_tables(PlannerInfo *root, Oid server_id);

/* Adds the path whose rows several processes draw from one response, if that is possible and there are rows enough. */
extern void kakehashi_add_partial_path(PlannerInfo *root, RelOptInfo *rel);

/* ---- shippable.c ---- */

/* True if the engine computes the expression over rel's columns exactly as PostgreSQL does. */
extern bool kakehashi_is_shippable(PlannerInfo *root, RelOptInfo *rel, Expr *expr);

/* True if the expression over rel's columns can be written down for the engine, which compares it with others and does not compute it. */
extern bool kakehashi_is_nameable(PlannerInfo *root, RelOptInfo *rel, Expr *expr);

/* Whether a call of a function that is not in the table of shippable ones is written with PostgreSQL's name of it. */
extern bool kakehashi_is_named_function(const FuncExpr *expr);

/* The same with aggregates allowed: in the target list and HAVING of a grouped query. */
extern bool kakehashi_is_shippable_grouped(PlannerInfo *root, RelOptInfo *rel, Expr *expr);

/* True if the expression has no column of rel, so that it can be computed here, before the statement is sent, and its value go over as a parameter. */
extern bool kakehashi_is_parameter(PlannerInfo *root, RelOptInfo *rel, Expr *expr);

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
extern bool kakehashi_is_shippable_operator(Oid opno, Oid collation);
extern bool kakehashi_is_groupable(Expr *expr);
extern bool kakehashi_is_number(Oid type);
extern bool kakehashi_is_exact_number(Oid type);

/* True if the engine orders values of the type as PostgreSQL does in this collation. */
extern bool kakehashi_is_shippable_order(Oid type, Oid collation);

/* ---- shippable_documents.c: arrays, json and jsonb ---- */

/* True if the engine has the operator for arguments of these types. */
extern bool kakehashi_is_document_operator(Oid opno, List *args, Oid collation);

/* True if the engine compares a value with the elements of an array by an operator that it has for two such values. */
extern bool kakehashi_is_array_comparison(Oid opno, Oid value, Oid array, Oid collation);

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

/* ---- deparse.c, deparse_statement.c ---- */

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
	List *params;      /* expressions of $1, $2, ... found so far */
} KakehashiDeparse;

/* expr must be shippable. */
extern void kakehashi_deparse_expr(KakehashiDeparse *context, Expr *expr);

/* An expression that is computed here, before the statement is sent; see kakehashi_is_parameter(). */
extern void kakehashi_deparse_value(KakehashiDeparse *context, Expr *expr);

/* Expressions joined by AND; nothing for an empty list. keyword precedes the first. Members may be RestrictInfos. */
extern void kakehashi_deparse_conditions(KakehashiDeparse *context, const char *keyword, List *clauses);

/* The same, then [NOT] EXISTS for each of semi_joins. Columns are qualified. */
extern void kakehashi_deparse_where(KakehashiDeparse *context, const char *keyword, List *conditions, List *semi_joins);

/* True if there is more than one table in the FROM of rel. */
extern bool kakehashi_joins_tables(const RelOptInfo *rel);

/*
 * The tables of context->rel that are joined to target, after keyword; nothing if there are none. What joins them to target is added to
 * conditions.
 */
extern void kakehashi_deparse_others(KakehashiDeparse *context, const char *keyword, Index target, List **conditions);

/* A SELECT over rel. exprs: its columns; upper: NULL for rel alone. Fills context->params. */
extern void kakehashi_deparse_select(KakehashiDeparse *context, List *exprs, List *conditions, List *pathkeys,
                                     const KakehashiUpper *upper);
extern void kakehashi_deparse_identifier(StringInfo buf, const char *name);
extern void kakehashi_deparse_type(StringInfo buf, Oid type, int32 typmod);
extern void kakehashi_deparse_table(StringInfo buf, Relation rel);
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

/* ---- lookup.c, lookup_scan.c: joins that send keys in batches ---- */

/* Of CustomScan.custom_private. custom_exprs are the parameters of the statement; the first is the number of the row. */
enum KakehashiLookupPrivate
{
	KAKEHASHI_LOOKUP_SQL,      /* String */
	KAKEHASHI_LOOKUP_RELATION, /* String: name of the foreign table */
	KAKEHASHI_LOOKUP_INTEGERS, /* List: see KakehashiLookupInteger */
	KAKEHASHI_LOOKUP_OIDS      /* List of Oid: server, user (InvalidOid: the current one) */
};

enum KakehashiLookupInteger
{
	KAKEHASHI_LOOKUP_JOIN_TYPE,
	KAKEHASHI_LOOKUP_OUTER_COLUMNS /* how many columns of the scan tuple are the outer row */
};

extern void kakehashi_lookup_init(void);
extern const struct CustomScanMethods kakehashi_lookup_methods;
extern Node *kakehashi_create_lookup_state(CustomScan *plan);

/* The user that a relation is read as, or InvalidOid: whoever runs the query. */
extern Oid kakehashi_checked_user(PlannerInfo *root, RelOptInfo *rel);

/* ---- ahead.c: subqueries with values of the outer row, for many rows in one request ---- */

typedef struct KakehashiAhead KakehashiAhead;

/* NULL if the node evaluates no subquery that can be asked about ahead. Called when the node's expressions are there. */
extern KakehashiAhead *kakehashi_ahead_create(PlanState *node);

/* A look ahead: the number of rows to add at most, then the rows, then the requests. */
extern int kakehashi_ahead_begin(KakehashiAhead *ahead);
extern void kakehashi_ahead_add(KakehashiAhead *ahead, TupleTableSlot *slot);
extern void kakehashi_ahead_send(KakehashiAhead *ahead);

/* ---- statistics.c ---- */

extern bool kakehashi_column_statistics; /* setting */

/* Reads the engine's statistics of a foreign table, unless it has done so lately; estimates use them from then on. */
extern void kakehashi_statistics_read(Relation rel, UserMapping *user, const KakehashiOptions *options);

/* True if the column is the first of an index on the engine; false if nothing was read. */
extern bool kakehashi_leads_index(Oid relid, AttrNumber attnum);
/* They are read again when they are wanted again. */
extern void kakehashi_statistics_forget(Oid server_id);
extern void kakehashi_statistics_init(void);

/* ---- conflict.c ---- */

extern void kakehashi_conflict_init(void);

/*
 * Appends ON CONFLICT of an INSERT whose parameters are the columns targets. The list that it returns is
 * for kakehashi_conflict_begin(). Reports what cannot be sent.
 */
extern List *kakehashi_deparse_conflict(PlannerInfo *root, ModifyTable *plan, Relation rel, List *targets,
                                        StringInfo buf);

/* ---- analyze.c ---- */

extern bool kakehashi_analyze(Relation rel, AcquireSampleRowsFunc *func, BlockNumber *total_pages);

#endif /* KAKEHASHI_PLAN_H */

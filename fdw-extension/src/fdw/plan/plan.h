/*
 * Paths and plans of scans, joins and groups that the engine does.
 */
#ifndef KAKEHASHI_PLAN_H
#define KAKEHASHI_PLAN_H

#include "fdw/deparse/deparse.h"

/* ---- plan.c, join.c, upper.c, create_plan.c ---- */

/* Of ForeignScan.fdw_private. */
enum KakehashiScanPrivate
{
	KAKEHASHI_SCAN_SQL,       /* String */
	KAKEHASHI_SCAN_RETRIEVED, /* List of attribute numbers of the scan's row, in the result's order */
	KAKEHASHI_SCAN_ONE_ROW,   /* Integer: 1 if the statement returns exactly one row, whatever its parameters */
	KAKEHASHI_SCAN_ROWS,      /* List of numbers of the scan's columns that are rows of tables */
	KAKEHASHI_SCAN_USER       /* Integer: who reads, or InvalidOid: whoever runs the query */
};

/* Work of the engine per row that it looks at, in units of cpu_tuple_cost: vectors on several threads. */
#define KAKEHASHI_ENGINE_ROW_COST 0.1

extern void kakehashi_get_rel_size(PlannerInfo *root, RelOptInfo *rel, Oid relid);
extern void kakehashi_get_paths(PlannerInfo *root, RelOptInfo *rel, Oid relid);
extern void kakehashi_get_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner,
                                     JoinType join_type, JoinPathExtraData *extra);

/* Whether the rows of a relation are partial aggregates, of which PostgreSQL 19 can make joins: neither this nor a look-up has them. */
extern bool kakehashi_is_grouped_early(const RelOptInfo *rel);

/* Whether a side of a join stands for its rows without duplicates, as PostgreSQL 19 has the right side of a semijoin: a scan of it would have them. */
extern bool kakehashi_is_made_unique(const RelOptInfo *side, JoinType join_type, const JoinPathExtraData *extra);

extern void kakehashi_get_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input, RelOptInfo *output,
                                      void *extra);
extern ForeignScan *kakehashi_get_plan(PlannerInfo *root, RelOptInfo *rel, Oid relid, ForeignPath *path, List *tlist,
                                       List *clauses, Plan *outer_plan);

/*
 * The queries among the relations, and within them, are parts of a statement, and have no plan any more: their tables, and who may read them, come
 * from their texts into the plan, as those of queries that are left out.
 */
extern void kakehashi_forget_queries(PlannerInfo *root, Relids relids);

/* Adds paths of a base or join relation: unordered, and in the query's order if the engine can sort so. */
extern void kakehashi_add_paths(PlannerInfo *root, RelOptInfo *rel);

/* True if the clauses fix every column of a base relation's key, so that there is at most one row. */
extern bool kakehashi_is_key_lookup(PlannerInfo *root, RelOptInfo *rel, List *clauses);

/* Rows that the engine looks at to check the clauses of a base relation: fewer than all if an index helps. */
extern double kakehashi_rows_touched(PlannerInfo *root, RelOptInfo *rel, List *clauses);

/* The user that a relation is read as, or InvalidOid: whoever runs the query. */
extern Oid kakehashi_checked_user(PlannerInfo *root, RelOptInfo *rel);

/* ---- whole_row.c: rows of tables as values ---- */

/* Whether a Var is a row of a foreign table, all columns of which can be read, or of a relation with members or a query. */
extern bool kakehashi_is_row(PlannerInfo *root, const Var *var);

/* The columns of a row of a table or of a query in FROM, as Vars. */
extern List *kakehashi_columns_of_row(PlannerInfo *root, const Var *row);

/* Adds columns of a scan to its target list; for a row as a whole those of its table, and a NullTest of it if it may be missing. */
extern List *kakehashi_add_columns(PlannerInfo *root, const RelOptInfo *scan, List *tlist, List *columns);

/* Numbers of the entries that are rows as a whole. */
extern List *kakehashi_row_entries(List *tlist);

/* ---- path.c ---- */

/* A path that is no part of a parallel plan. */
extern ForeignPath *kakehashi_create_path(PlannerInfo *root, RelOptInfo *rel, double rows, Cost startup, Cost total,
                                          List *pathkeys, Relids required_outer);
extern void kakehashi_path_cost(const KakehashiRelation *fpinfo, Cost engine_cost, double retrieved, Cost *startup,
                                Cost *total);

extern Cost kakehashi_sort_cost(double rows);

/*
 * Without statistics the numbers of rows are guesses, and costs of both ways nearly the same. Bringing fewer rows over is
 * right all the same; and a scan that a LIMIT here cuts off has sent more than was wanted, which its cost does not say.
 */
#define KAKEHASHI_UPPER_DISCOUNT 0.9

/* ---- upper_path.c, grouping.c, window.c: of upper.c ---- */

/* The base or join relation, if the engine delivers all of its rows as they are, or NULL. */
extern RelOptInfo *kakehashi_plain_scan(RelOptInfo *rel);
extern void kakehashi_add_upper_path(PlannerInfo *root, RelOptInfo *output, KakehashiUpper *upper, PathTarget *target,
                                     List *pathkeys, double rows);
extern void kakehashi_add_group_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
                                     GroupPathExtraData *extra);
extern void kakehashi_add_distinct_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output);

/* Around the planning of a query; what the first one returns is for the last. Scans of window functions are added in between. */
extern List *kakehashi_windows_enter(void);
extern void kakehashi_windows_add(ForeignScan *scan);
extern void kakehashi_windows_finish(void);
extern void kakehashi_windows_leave(List *before);
extern void kakehashi_add_window_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output);

/* ---- query.c, append.c, set_operation.c ---- */

/* Whether the engine does all of the query, whose columns are brought to types, a list of lists: to those of each of them in turn. Fills *query. */
extern bool kakehashi_find_query(PlannerInfo *subroot, List *types, KakehashiQuery *query);

/*
 * Bytes of a query within a statement, which is one request of 64 KB: several of them have room in one. What is longer is a request of its own.
 */
#define KAKEHASHI_MOST_QUERY_BYTES 8192

/* Whether relations are read by the same user, from the same server. */
extern bool kakehashi_same_reader(const RelOptInfo *one, const RelOptInfo *other);

/* Makes a query in FROM a relation that can be joined, grouped and so on, if the engine does all of it. */
extern void kakehashi_note_query(PlannerInfo *root, RelOptInfo *rel, const RangeTblEntry *rte);

/* The same of a set operation. */
extern bool kakehashi_find_set_operation(PlannerInfo *subroot, List *types, KakehashiQuery *query);

/* Whether the order of a query in FROM, or of a part of a set operation, can be seen in the result of the query around it: row_order.c. */
extern bool kakehashi_shows_order(PlannerInfo *root, const RelOptInfo *rel);

extern void kakehashi_set_operation_init(void);
extern void kakehashi_append_init(void);

/* ---- parallel_plan.c ---- */

extern bool kakehashi_is_parallel_safe(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte);

/* Whether so few foreign tables are in the query that all of their scans may be open at the same time. */
extern bool kakehashi_has_few_tables(PlannerInfo *root, Oid server_id);

/* Adds the path whose rows several processes draw from one response, if that is possible and there are rows enough. */
extern void kakehashi_add_partial_path(PlannerInfo *root, RelOptInfo *rel);

/* ---- direct_change.c ---- */

/* True if the query changes rows of one table that a join of all its tables finds, and the engine can do it in one statement. */
extern bool kakehashi_can_change_directly(PlannerInfo *root, RelOptInfo *joinrel, const KakehashiRelation *fpinfo);

/* Whether the engine can compute the new value of a column. */
extern bool kakehashi_is_settable(PlannerInfo *root, RelOptInfo *rel, Expr *value);

/* Whether RETURNING may change rows that the statement has not come to: then they are changed one by one. */
extern bool kakehashi_may_change_rows(List *returning);

/* ---- push_down.c: queries that an engine refuses ---- */

/* Of planner_hook; from 19 on with what EXPLAIN wants. */
#if PG_VERSION_NUM >= 190000
#define KAKEHASHI_PLANNER_PARAMETERS                                                                                   \
	Query *parse, const char *query_string, int cursor_options, ParamListInfo bound_params, ExplainState *explain
#define KAKEHASHI_PLANNER_ARGUMENTS parse, query_string, cursor_options, bound_params, explain
#else
#define KAKEHASHI_PLANNER_PARAMETERS                                                                                   \
	Query *parse, const char *query_string, int cursor_options, ParamListInfo bound_params
#define KAKEHASHI_PLANNER_ARGUMENTS parse, query_string, cursor_options, bound_params
#endif

/* Whether an engine refuses a query of several tables or groups. */
extern bool kakehashi_is_refused(const RelOptInfo *rel, const char *sql, List *parameters);

/* The statement is planned anew, because a query of it was refused. explained: refused.c knows which part of the query. */
extern void kakehashi_want_another_plan(const RelOptInfo *rel, const char *sql, bool explained);

/* What refused.c has noted of the statement. */
extern List *kakehashi_refusals(void);

extern void kakehashi_add_refusal(void *refusal);

/* After those of other hooks of the planner: it calls them for each plan. */
extern void kakehashi_push_down_init(void);

/* ---- refused.c: which joins and groups of the statement that is being planned were refused ---- */

/*
 * Shows a query of several tables or groups to the engine, if that may refuse it; then the statement is planned anew. scan: what is read, NULL for
 * a set operation; rel is the same, or what is done with its rows.
 */
extern void kakehashi_show_query(PlannerInfo *root, const RelOptInfo *rel, RelOptInfo *scan, const char *sql,
                                 List *parameters);

/* Whether the engine refuses to join these tables, or some of them. */
extern bool kakehashi_join_was_refused(PlannerInfo *root, const RelOptInfo *joinrel);

/* Whether it refuses what the query does with its rows. */
extern bool kakehashi_upper_was_refused(PlannerInfo *root);

/* ---- positions.c: whether rows are changed by WHERE CURRENT OF ---- */

/* Whether the query that is being planned is a cursor that rows are changed by. */
typedef enum KakehashiPositions
{
	KAKEHASHI_NOT_POSITIONED,
	KAKEHASHI_MAY_BE_POSITIONED, /* its scans ask for identities */
	KAKEHASHI_POSITIONED         /* FOR UPDATE: besides, one scan at a time goes on */
} KakehashiPositions;

extern KakehashiPositions kakehashi_positions(void);

/* Around the planning of a query; what the first one returns is for the second. */
extern KakehashiPositions kakehashi_current_of_enter(const Query *query, int cursor_options);
extern void kakehashi_current_of_leave(KakehashiPositions before);

#endif /* KAKEHASHI_PLAN_H */

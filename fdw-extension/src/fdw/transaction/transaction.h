/*
 * Transactions on the engine, requests in them, and what the engine says of its tables.
 */
#ifndef KAKEHASHI_TRANSACTION_H
#define KAKEHASHI_TRANSACTION_H

#include "fdw/session/session.h"

/* ---- savepoint.c ---- */

/* The savepoint of a nesting level from 2 on; waits for the answer, and reports the engine's error. */
extern void kakehashi_savepoint_send(KakehashiSession *session, kh_savepoint_verb verb, int level);

/* PostgreSQL has rolled back to that level: tells the engine. Never fails. */
extern void kakehashi_savepoint_rolled_back(KakehashiSession *session, int level);

/* Whether the engine has done so; waits for its answer if there will be one. */
extern bool kakehashi_savepoint_is_rolled_back(KakehashiSession *session);

/* Sees to it that the engine has done so; reports its error. */
extern void kakehashi_savepoint_confirm(KakehashiSession *session);

/* The end of the transaction has taken it along. */
extern void kakehashi_savepoint_forget(KakehashiSession *session);

/* Takes the savepoint of a level away, and those above; of a shared transaction before the next request. */
extern void kakehashi_savepoint_release(KakehashiSession *session, int level);

/* Confirms what was rolled back, and releases its savepoint. */
extern void kakehashi_savepoint_settle(KakehashiSession *session);

/* The same before a request, which finds the engine at session->level. */
extern void kakehashi_savepoint_flush(KakehashiSession *session);

/* ---- joined.c ---- */

/* The session that keeps handle, levels and end of the transaction: this one unless another one of this backend was there before. */
static inline KakehashiSession *
kakehashi_leader(KakehashiSession *session)
{
	return session->leader != NULL ? session->leader : session;
}

/*
 * The session's transaction is the one that token names from now on. It has none yet. False: there is no such transaction of this user.
 */
extern bool kakehashi_joined_continue(KakehashiSession *session, const char *token);

/* PostgreSQL has rolled back to before the transaction was continued. Never fails. */
extern void kakehashi_joined_abandon(KakehashiSession *session);

/* After that: sees to it that nothing of the session's is left in the transaction, and forgets it. Errors: what keeps the engine from it. */
extern void kakehashi_joined_leave(KakehashiSession *session);

/* The transaction has ended for the session, on whatever side. Never fails. */
extern void kakehashi_transaction_forget(KakehashiSession *session);

/* ---- outcome.c ---- */

/* What has become of the transaction whose handle the session knows, as the engine has it now. */
extern kh_transaction_state kakehashi_outcome(KakehashiSession *session);

/*
 * Whether a transaction that others have ended is committed. One that they have prepared has to be decided first: waits for that, and reports 57K01 after
 * kakehashi.commit_timeout. Interruptible.
 */
extern bool kakehashi_outcome_committed(KakehashiSession *session);

/* ---- begin.c ---- */

/* Whether the session's transaction is a long one, or will be when it begins. */
extern bool kakehashi_transaction_is_long(KakehashiSession *session);

/* Reports 25006 if the user's statement changes something and PostgreSQL's transaction is read-only at present. command: for the message. */
extern void kakehashi_check_writable(KakehashiSession *session, const KakehashiStatement *statement,
                                     const char *command);

/*
 * Makes sure that the engine's transaction is at PostgreSQL's nesting level, and fills options for a request in it.
 * owner: see snapshot_owner; NULL: a snapshot of its own.
 */
extern void kakehashi_xact_prepare(KakehashiSession *session, const void *owner, kh_execute_options *options);

/* Handle of the engine's transaction, which begins if there is none: whoever knows it may work in it. */
extern uint64 kakehashi_xact_share(KakehashiSession *session);

/* Asks for the handle of the engine's transaction, which has begun, unless it is known; waits for the answer. */
extern void kakehashi_learn_handle(KakehashiSession *session);

/* Kind and isolation of a transaction of one statement, of those that the engine has: to the statement they are all the same. */
extern void kakehashi_of_one_statement(const KakehashiSession *session, bool read_only, kh_execute_options *options);

/* Reports that the engine has aborted the transaction. */
extern void kakehashi_report_aborted(const KakehashiSession *session);

/* Whether its first request would begin the session's transaction, with nothing to say that takes one of its own. */
extern bool kakehashi_begins_plainly(KakehashiSession *session);

/* ---- held.c: rows of an INSERT that is alone in its transaction ---- */

typedef struct KakehashiHeld KakehashiHeld;

/* Whether nothing of the transaction is on the engine or in local tables, and the engine can have all of it at once. */
extern bool kakehashi_may_hold(KakehashiSession *session);

/*
 * Holds rows back for the commit: they are copied. relid: the foreign table, to be counted for. statement: what inserts them; it has been prepared. owner: see
 * snapshot_owner.
 */
extern void kakehashi_hold(KakehashiSession *session, Oid relid, const KakehashiStatement *statement, const void *owner,
                           const void *rows, uint32 bytes);

/* Sends them as of any other INSERT, and waits for the answer; reports the engine's error. */
extern void kakehashi_held_send(KakehashiSession *session);

/* Sends them with the commit, and waits for the one answer; reports the engine's error, of whichever. Before PostgreSQL commits. */
extern void kakehashi_held_commit(KakehashiSession *session);

extern void kakehashi_held_init(void);

/* ---- xact.c ---- */

extern void kakehashi_xact_init(void);

/* ---- two_phase.c ---- */

/* Whether the parts of so many sessions that have changed something must be prepared before PostgreSQL commits. */
extern bool kakehashi_two_phase_needed(int changed_sessions);

/* Prepares the session's part; reports the engine's error, 57K01, and interrupts. Before PostgreSQL commits. */
extern void kakehashi_two_phase_announce(KakehashiSession *session);
extern void kakehashi_two_phase_prepare(KakehashiSession *session);

/*
 * Decide the session's prepared part, if there is one, as PostgreSQL has decided. They never fail: a warning, and it is resolved later. Who commits
 * waits for the answer until he is interrupted; who rolls back waits for nobody.
 */
extern void kakehashi_two_phase_commit(KakehashiSession *session);
extern void kakehashi_two_phase_abort(KakehashiSession *session);

/* Reports an error unless PREPARE TRANSACTION can be had. */
extern void kakehashi_prepared_check(void);

/* PostgreSQL's prepared transaction will remember that it has a part on the session's server. */
extern void kakehashi_prepared_mark(KakehashiSession *session);

extern void kakehashi_two_phase_init(void);

/* ---- resolve.c ---- */

/*
 * Decides the parts of ended transactions of this database as PostgreSQL's record of them says; resolved may be NULL. Interruptible. False: the endpoint is a
 * standby, and decides nothing before it is promoted.
 */
typedef void (*KakehashiResolved)(const char *global_id, const char *outcome, void *arg);
extern bool kakehashi_two_phase_resolve(KakehashiSession *session, KakehashiResolved resolved, void *arg);

/*
 * Decides a part that somebody waits for, if it is of an ended transaction of this database: sends the decision and waits for nothing. Never fails for
 * what the endpoint says.
 */
extern void kakehashi_two_phase_decide_now(KakehashiSession *session, const char *global_id);

extern void kakehashi_resolve_init(void);

/* ---- prepared.c ---- */

extern void kakehashi_prepared_init(void);

/* ---- deadlock.c ---- */

extern void kakehashi_deadlock_init(void);

/* ---- execute.c ---- */

/* Runs a statement in the session's transaction. parameters may be NULL. The caller ends the call. */
extern KakehashiCall *kakehashi_execute_statement(KakehashiSession *session, KakehashiStatement *statement,
                                                  const void *owner, const void *parameters, uint32 parameters_bytes);

/* The same with rows in a buffer from kakehashi_inbound_take. */
extern KakehashiCall *kakehashi_execute_inbound(KakehashiSession *session, KakehashiStatement *statement,
                                                const void *owner, KakehashiInbound *buffer, uint32 bytes);

/*
 * Runs a change of a command that has ended, as the first of the session's transaction. commits: the engine commits behind it, if it succeeds.
 * timeout_millis: the engine cancels it after that, and not the commit; 0: never.
 */
extern KakehashiCall *kakehashi_execute_held(KakehashiSession *session, KakehashiStatement *statement, uint32 command,
                                             bool commits, uint32 timeout_millis, const void *parameters,
                                             uint32 parameters_bytes);

/* Runs a statement that makes transactions of its own, whatever the session's is. parameters may be NULL. */
extern KakehashiCall *kakehashi_execute_apart(KakehashiSession *session, KakehashiStatement *statement,
                                              const void *parameters, uint32 parameters_bytes);

/*
 * Runs a query of our own, as catalogue look-ups: outside of any transaction, unless the session's transaction has changed
 * the engine's catalogue. Then only that sees its changes, and anybody else would wait for its end.
 */
extern KakehashiCall *kakehashi_execute_read(KakehashiSession *session, KakehashiStatement *statement,
                                             const void *parameters, uint32 parameters_bytes);

/* ---- catalog.c: what the engine knows about its tables ---- */

/* Rows of a table by the engine's statistics; -1 if unknown. */
extern double kakehashi_catalog_rows(KakehashiSession *session, const char *schema, const char *table);
extern void kakehashi_catalog_forget(Oid server_id);
extern void kakehashi_catalog_init(void);

/* Runs a query with text parameters outside of a transaction and hands each row to visit. */
typedef void (*KakehashiRowVisitor)(const kh_batch *batch, uint32 row, void *arg);
extern void kakehashi_catalog_query(KakehashiSession *session, const char *sql, int parameter_count,
                                    const char *const *parameters, int column_count, const Oid *column_types,
                                    KakehashiRowVisitor visit, void *arg);
extern char *kakehashi_batch_text(const kh_batch *batch, uint32 row, uint32 column);

/* ---- statistics.c ---- */

/* Reads the engine's statistics of a foreign table, unless it has done so lately; estimates use them from then on. */
extern void kakehashi_statistics_read(Relation rel, UserMapping *user, const KakehashiOptions *options);

/* What ANALYZE would say of a column, by the engine's statistics. Texts are of arrays, valid until they are read again; NULL: none. */
typedef struct KakehashiColumnEstimates
{
	double null_fraction;
	double distinct; /* as pg_statistic has it: negative ones are a part of the rows */
	int width;       /* bytes */
	const char *common_values;
	const char *common_frequencies;
	const char *histogram;
} KakehashiColumnEstimates;

/* Of a column whose table's statistics have been read; false: there are none that can be used. */
extern bool kakehashi_statistics_column(Oid relid, AttrNumber attnum, KakehashiColumnEstimates *estimates);

/* True if the column is the first of an index on the engine; false if nothing was read. */
extern bool kakehashi_leads_index(Oid relid, AttrNumber attnum);
/* They are read again when they are wanted again. */
extern void kakehashi_statistics_forget(Oid server_id);
extern void kakehashi_statistics_init(void);

#endif /* KAKEHASHI_TRANSACTION_H */

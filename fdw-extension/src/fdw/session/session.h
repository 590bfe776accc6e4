/*
 * Sessions of a backend with endpoints, their statements and requests.
 *
 * Who owns what, and until when:
 *
 *   KakehashiSession    CacheMemoryContext   until disconnect, invalidation outside a transaction, or backend exit
 *   KakehashiStatement  its session          until evicted (LRU) or the session ends; pinned while a call uses it
 *   KakehashiCall       TopTransactionContext; its response slot until kakehashi_call_end, which every call reaches:
 *                       at the latest from the (sub)transaction callbacks in xact.c
 *   scan/modify state   the executor's query context
 */
#ifndef KAKEHASHI_SESSION_H
#define KAKEHASHI_SESSION_H

#include "fdw/base/base.h"

#include "datatype/timestamp.h"

/* ---- settings.c ---- */

typedef enum KakehashiCommitResponse
{
	KAKEHASHI_COMMIT_STORED = KH_STORED,
	KAKEHASHI_COMMIT_AVAILABLE = KH_AVAILABLE
} KakehashiCommitResponse;

typedef enum KakehashiTransactionKind
{
	KAKEHASHI_KIND_OCC = KH_OCC,
	KAKEHASHI_KIND_LTX = KH_LTX,
	KAKEHASHI_KIND_RTX = KH_RTX,
	KAKEHASHI_KIND_AUTO
} KakehashiTransactionKind;

extern int kakehashi_commit_response;
extern bool kakehashi_atomic_commit;
extern int kakehashi_commit_timeout; /* milliseconds: longest wait for an endpoint at each phase; 0: for ever */
extern int kakehashi_transaction_kind;
extern int kakehashi_transaction_priority;
extern int kakehashi_transaction_timeout; /* milliseconds; 0: none */
extern char *kakehashi_transaction_label;
extern char *kakehashi_write_preserve; /* these three: names of the engine's tables, separated by commas */
extern char *kakehashi_read_areas_include;
extern char *kakehashi_read_areas_exclude;

extern bool kakehashi_direct_reads;
extern bool kakehashi_column_statistics;
extern int kakehashi_push_down; /* KakehashiPushed */
extern bool kakehashi_explain_remote_plan;

extern void kakehashi_settings_init(void);

/* ---- session_cache.c, statement.c ---- */

/* One is filled while the engine reads the other. */
#define KAKEHASHI_INBOUND_BUFFERS 2

/* Length of these, and of a batch of rows. A row that is longer goes alone, in a buffer that is granted for it. */
#define KAKEHASHI_INBOUND_BYTES (4 * 1024 * 1024)

/*
 * A buffer of the arena for rows on the way to the engine, granted until the session ends. The endpoint reads it until the
 * final frame of call; then it is free.
 */
typedef struct KakehashiInbound
{
	void *memory; /* NULL: not granted */
	uint64 offset;
	uint32 bytes;
	bool taken; /* by who is about to send it */
	struct KakehashiCall *call;
} KakehashiInbound;

/*
 * Name of a prepared transaction: kakehashi/<system identifier>/<database>/<full transaction id>/<user mapping>/<timeline>/<position of PostgreSQL's log behind
 * the record that has the id>. Those of versions before end with the user mapping.
 */
#define KAKEHASHI_GLOBAL_ID_FORMAT "kakehashi/" UINT64_FORMAT "/%u/" UINT64_FORMAT "/%u"
#define KAKEHASHI_GLOBAL_ID_PLACE_FORMAT "/%u/" UINT64_FORMAT

/* The longest one, with its end. */
#define KAKEHASHI_GLOBAL_ID_BYTES 128

typedef struct KakehashiSession
{
	Oid mapping_id; /* hash key; first */
	Oid server_id;
	Oid user_id; /* of the mapping; InvalidOid: PUBLIC */
	char server_name[NAMEDATALEN];
	uint32 server_hash; /* syscache hash values, for invalidation */
	uint32 mapping_hash;

	kh_session *ipc;  /* NULL: not attached */
	bool invalidated; /* options changed: detach at the end of the transaction */
	bool keep;        /* keep_connections */
	int lease_millis;
	bool named_by_option;         /* application_name is the server's, whatever the backend's is */
	char shown_name[NAMEDATALEN]; /* what the endpoint has been told otherwise */
	Oid role_id;                  /* whom the endpoint has been told that it works for; InvalidOid: nobody yet */
	bool monitors;                /* and whether that role may see what others do */
	bool asks_always;             /* its role on the engine may be another one: nothing is read without a request */

	/*
	 * Transaction on the engine. level is the nesting level the engine knows of: 0 none, 1 a transaction, n + 1 with
	 * savepoints 1..n. rollback_level, if not 0, is the outermost level that PostgreSQL has rolled back and the engine
	 * has not been told about; this happens with the next request.
	 */
	uint64 handle; /* 0 while level > 0: begun by a call whose final frame has not been seen */
	int level;
	int rollback_level;
	int release_level; /* of a shared transaction: outermost level that the engine still has, above level; 0: none */
	kh_call *rollback_call; /* rollback_level of a shared transaction: the request, not answered yet; NULL: none */
	bool rolled_back;       /* the engine has confirmed it */
	bool is_long;           /* while level > 0: it was begun as a long transaction */
	bool is_read_only;      /* while level > 0: it was begun as one that changes nothing */
	const char
		*preserves; /* while a request may begin one: a table that it alone is about to write; NULL: nobody knows */
	bool wrote;
	bool locked;          /* it may have locked rows by a query */
	bool undurable_reads; /* it may have read what a crash could take back */
	uint64 rows_written;
	CommandId changed_in; /* of an engine without commands: the last one that has changed something, plus 1; 0: none */
	bool defined;         /* the transaction has changed the engine's catalogue */
	bool committing;      /* its commit has been requested, and not answered */
	bool lost;            /* the endpoint died under a transaction */
	uint64 damaged_queue; /* of the session before, see kh_attach_options; 0: none */
	bool aborted;         /* the engine has ended the transaction by itself */
	bool shared;          /* others may work in it, and end it: its handle is known */
	bool prepared;        /* a statement of this session has prepared it */
	char global_id[KAKEHASHI_GLOBAL_ID_BYTES]; /* of its prepared part, until that is decided; empty: none */
	XLogRecPtr announced; /* where PostgreSQL's log has the id of the transaction that uses it; invalid: it need not */
	bool undecided;       /* parts of ended transactions may be left: whoever uses the session next decides them */
	/*
	 * Of a transaction that others have begun, see joined.c. leader: the session of this backend that is in the same transaction already, and keeps handle, levels
	 * and end for both; NULL: this one does. joined_level: PostgreSQL's nesting level whose rollback leaves the transaction; 0: it was begun here. leaving: that has
	 * happened, and the engine has not confirmed it.
	 */
	struct KakehashiSession *leader;
	int joined_level;
	bool leaving;
	int rows_level;                    /* nesting level of the rows that are being sent; 0: the present one */
	struct KakehashiHeld *held;        /* rows that go with the commit, see held.c; NULL: none */
	const void *snapshot_owner;        /* PostgreSQL's snapshot that the engine's stands for, see snapshot.c */
	char time_zone[TZ_STRLEN_MAX + 1]; /* that the engine's session was set to; empty: not yet */

	dlist_head calls;          /* of KakehashiCall */
	HTAB *statements;          /* by text and types; NULL when not attached */
	dlist_head statements_lru; /* most recently used first */
	Bitmapset *statement_ids;  /* in use on the engine */
	bool waits_reserved;       /* waits_statement is the number of the query of deadlock.c, which is in statement_ids */
	bool waits_prepared;       /* the engine has it */
	uint32 waits_statement;

	KakehashiInbound inbound[KAKEHASHI_INBOUND_BUFFERS + 1]; /* the last one for a long row */
	uint64 inbound_bytes;                                    /* sent in them by the transaction */
} KakehashiSession;

typedef struct KakehashiStatement
{
	const char *sql;
	const Oid *types;           /* as asked for; InvalidOid: the engine says it */
	const Oid *parameter_types; /* as the engine has said */
	int type_count;
	dlist_node lru;
	uint32 id;
	int pins;  /* calls using it */
	bool gone; /* its number is another's: it ends with the last of these calls */
	kh_statement_kind kind;
	bool may_lock; /* a query that has, perhaps, FOR UPDATE or one of its relatives */
	int column_count;
	kh_column *columns;
	bool described_now; /* since the last look-up */
	kh_direct *direct;  /* how its row is read without a request; NULL: it is not */
	Oid direct_role;    /* whose rights were asked for that */
	MemoryContextCallback direct_end;
	MemoryContext context;
} KakehashiStatement;

/* Session of the user's mapping, attached. Errors: 08001, 08P01, 28000, 42704 no mapping. */
extern KakehashiSession *kakehashi_session_get(UserMapping *user);
extern HTAB *kakehashi_session_table(void); /* by mapping; NULL before the first session */
extern void kakehashi_session_detach(KakehashiSession *session);

/* Statement with this text, prepared on the engine; valid until the next look-up unless a call pins it. */
extern KakehashiStatement *kakehashi_statement_get(KakehashiSession *session, const char *sql, const Oid *types,
                                                   int type_count);
/* Gives the query of deadlock.c a number, without making room for it; false if there is none. */
extern bool kakehashi_statement_reserve(KakehashiSession *session);
/* Pins the statement until the call has ended. */
extern void kakehashi_statement_use(KakehashiStatement *statement, struct KakehashiCall *call);
/* The same statement prepared once more, unless the last look-up has just done so. */
extern KakehashiStatement *kakehashi_statement_renew(KakehashiSession *session, KakehashiStatement *statement);
extern void kakehashi_statement_forget(KakehashiSession *session, KakehashiStatement *statement);
extern void kakehashi_statements_drop(KakehashiSession *session);
extern int kakehashi_statements_count(KakehashiSession *session);

/* ---- engine.c: what an engine can do ---- */

static inline bool
kakehashi_engine_has(uint64 set, int bit)
{
	return ((set >> bit) & 1) != 0;
}

/* The session has attached; plans that were made for another engine are made again. Errors: 0A000 if it can do less. */
extern void kakehashi_engine_learn(const KakehashiSession *session);

/* What the server's endpoint has said last in this process, or NULL: nothing yet. */
extern const kh_engine *kakehashi_engine(Oid server_id);

/*
 * Attaches for the user if nothing is known yet; InvalidOid: the current one. If that fails, the engine is taken for the embedded one until an endpoint
 * says what it has.
 */
extern void kakehashi_engine_know(Oid server_id, Oid user_id);

/* These do so for the current user. */
extern bool kakehashi_server_can(Oid server_id, kh_capability capability);
extern bool kakehashi_server_computes(Oid server_id, kh_computation computation);
extern bool kakehashi_server_computes_all(Oid server_id);

/* Whether an engine is known that keeps its rows elsewhere, or none is known. */
extern bool kakehashi_engines_may_refuse(void);

/* Report 0A000, which names the engine and what it lacks. */
extern void kakehashi_server_require(Oid server_id, kh_capability capability);
extern void kakehashi_require(const KakehashiSession *session, kh_capability capability);
extern bool kakehashi_can(const KakehashiSession *session, kh_capability capability);

/* ---- pushed.c ---- */

/* What plans leave to engines, each value less. */
typedef enum KakehashiPushed
{
	KAKEHASHI_PUSH_ALL,
	KAKEHASHI_PUSH_TABLES, /* no joins, and no queries within others */
	KAKEHASHI_PUSH_ROWS    /* besides, no groups */
} KakehashiPushed;

/* By the setting, or for the statement that is being planned: the lesser. */
extern KakehashiPushed kakehashi_pushed(void);

/* For the statement that is being planned; returns what was set before. */
extern KakehashiPushed kakehashi_set_pushed(KakehashiPushed pushed);

/* Computations that plans do not leave to engines, whatever these can do. */
extern uint64 kakehashi_withheld(void);

/* ---- type_form.c ---- */

/* True if the engine keeps values of the type as PostgreSQL does. */
extern bool kakehashi_keeps_type(const kh_engine *engine, Oid type);

/* True if both types have the same form in memory: equal, or both of text, varchar, bpchar. */
extern bool kakehashi_same_form(Oid local, Oid remote);

extern const char *kakehashi_type_name(Oid type);

/* ---- call.c ---- */

/*
 * Longest sleep without a look at interrupts. A signal ends the sleep early; only one that arrives just before it does
 * not, and then cancel still takes effect well within 100 ms.
 */
#define KAKEHASHI_WAIT_SLICE_NANOS INT64CONST(40000000)

/* What requests have cost, in this process, and of those only that were measured. */
typedef struct KakehashiCost
{
	bool timed; /* waits are timed, which takes two looks at the clock for each batch */
	uint64 requests;
	uint64 rows;
	uint64 batches;
	uint64 bytes; /* of the batches */
	instr_time waited;
	uint64 execution_nanos; /* of requests whose end was seen, at the endpoint */
	uint64 ended;           /* these requests */
	uint64 changed;         /* rows that they have changed */
	uint64 direct_reads;    /* without a request */
	const char *
		request_reason; /* why the last request was one, in a session that may read directly; NULL: it may not, or there was none */
} KakehashiCost;

/* What the owner of what a call uses is told. */
typedef enum KakehashiCallEvent
{
	KAKEHASHI_CALL_FINISHED, /* the final frame is there: the endpoint reads the call's buffer no more */
	KAKEHASHI_CALL_STALE,    /* the engine has no such statement, or its result is another one by now */
	KAKEHASHI_CALL_ENDED     /* the call gives everything back */
} KakehashiCallEvent;

typedef struct KakehashiCall
{
	dlist_node node; /* in session->calls, while ipc is not NULL */
	KakehashiSession *session;
	kh_call *ipc;                                                         /* NULL: ended, perhaps by a rollback */
	KakehashiStatement *statement;                                        /* pinned; may be NULL */
	void (*on_end)(struct KakehashiCall *call, KakehashiCallEvent event); /* NULL: it uses nothing */
	const char *sql;                                                      /* for error messages; may be NULL */
	SubTransactionId subid;
	bool rowless;        /* no rows will come: waiting for the end costs no memory */
	bool in_transaction; /* its final frame speaks of the session's transaction */
	bool finished;
	bool settled;   /* ended for its slot; rows_affected is what its owner will ask for */
	bool tentative; /* nobody has asked for it yet: data exceptions are no errors, see kakehashi_call_failed() */
	uint64 rows_affected;
	TimestampTz look_at; /* when to look at the next time what the wait is for, see deadlock.c; 0: not known yet */
	KakehashiCost *cost; /* NULL: nobody asks; outlives the call's use */
} KakehashiCall;

/*
 * What each wait for an endpoint looks at before every slice of its time: interrupts, and whether the postmaster is there. Who waits for what only
 * PostgreSQL's next start decides would keep that from starting.
 */
extern void kakehashi_check_wait(void);

/*
 * Sees to it that a request can be sent: waits for the answers of those that were canceled and of batches on their way, whose
 * errors it reports. If results that are being read hold all slots there is nothing to wait for: the request is refused.
 */
extern void kakehashi_call_make_room(KakehashiSession *session);

/* A call for a request that is about to be sent. Whoever needs memory for it takes that before it sends the request. */
extern KakehashiCall *kakehashi_call_new(KakehashiSession *session, const char *sql);

/* Gives the call the result of kh_send_*; reports error if it is NULL. Takes no memory otherwise. Returns the call. */
extern KakehashiCall *kakehashi_call_sent(KakehashiCall *call, kh_call *ipc, const kh_error *error);

/* A tentative call has ended without all of its rows. */
extern bool kakehashi_call_failed(const KakehashiCall *call);

/* From now on the call is measured; cost NULL: it is not. */
extern void kakehashi_call_measure(KakehashiCall *call, KakehashiCost *cost);

/* Waits for the next batch; false at the end. Interruptible; reports the engine's error. */
extern bool kakehashi_call_next_batch(KakehashiCall *call, kh_batch *batch);

/* True if the next batch, the end or a failure has come, within the time at most; reports nothing of the call. */
extern bool kakehashi_call_is_ready(KakehashiCall *call, int64 timeout_nanos);

/* Waits for the end, releasing all batches. The result is valid until kakehashi_call_end. */
extern const kh_result *kakehashi_call_finish(KakehashiCall *call);

/* Waits for the end, and leaves it to the caller to look whether the request has failed. For requests without rows and transaction. */
extern const kh_result *kakehashi_call_answer(KakehashiCall *call);

/* Gives the slot back; cancels if need be; never blocks or fails. */
extern void kakehashi_call_end(KakehashiCall *call);

/* Waits for the end and ends it: for requests whose only interesting answer is that they succeeded. */
extern uint64 kakehashi_call_complete(KakehashiCall *call);

/* ---- table_activity.c ---- */

/* Adds to what this backend has asked of a foreign table; InvalidOid: of none in particular. */
extern void kakehashi_count(Oid relid, const KakehashiCost *cost);

/* Takes the memory for that. */
extern void kakehashi_count_later(Oid relid);

/* ---- callbacks.c ---- */

/*
 * What other parts do when something happens to a session. They stand above it, and register when the library is loaded. Any may be NULL; all but
 * transaction_ended may report errors.
 */
typedef struct KakehashiCallbacks
{
	dlist_node node;

	/* The session is there, and can be asked. */
	void (*attached)(KakehashiSession *session);

	/* A session outside of a transaction is used again, and may have parts of transactions that are not decided. */
	void (*undecided)(KakehashiSession *session);

	/* What the transaction has done still stands in the session. */
	void (*transaction_ended)(KakehashiSession *session);

	/* Before a request of a statement whose snapshot is that of the command. */
	void (*before_snapshot)(CommandId command);

	/* Before a request in the session's transaction, which perhaps begins with it. */
	void (*before_request)(KakehashiSession *session);

	/* After each slice of time that somebody waits for a call. */
	void (*long_wait)(KakehashiCall *call);
} KakehashiCallbacks;

/* callbacks stay where they are. */
extern void kakehashi_callbacks_register(KakehashiCallbacks *callbacks);

extern void kakehashi_tell_attached(KakehashiSession *session);
extern void kakehashi_tell_undecided(KakehashiSession *session);
extern void kakehashi_tell_transaction_ended(KakehashiSession *session);
extern void kakehashi_tell_before_snapshot(CommandId command);
extern void kakehashi_tell_before_request(KakehashiSession *session);
extern void kakehashi_tell_long_wait(KakehashiCall *call);

/* ---- report.c ---- */

/* Within ereport: the statement as context of the error, without its middle if it is long. Returns 0. */
extern int kakehashi_sql_context(const char *sql);

pg_noreturn extern void kakehashi_report_error(const kh_error *error, KakehashiSession *session, const char *sql);
/* For errcode(). */
extern int kakehashi_errcode(kh_error_code code);
pg_noreturn extern void kakehashi_report_lost(KakehashiSession *session, const kh_error *error, const char *sql);

/* ---- snapshot.c ---- */

/* Names the snapshot of a running statement; the name dies with the outermost statement that uses the snapshot. */
extern const void *kakehashi_snapshot_owner(EState *estate);

/* Before a request of a statement that began long ago: the engine gets what its snapshot sees. owner: see above. */
extern void kakehashi_snapshot_settle(const void *owner);

/* ---- inbound.c ---- */

/* Length of a batch that is not a long row alone. */
extern uint32 kakehashi_inbound_bytes(const KakehashiSession *session);

/* A buffer of at least so many bytes, and kakehashi_inbound_bytes, that the endpoint does not read. */
extern KakehashiInbound *kakehashi_inbound_take(KakehashiSession *session, uint32 bytes);
extern void kakehashi_inbound_finished(KakehashiCall *call);
extern void kakehashi_inbound_abandoned(KakehashiCall *call);
extern void kakehashi_inbound_forget(KakehashiSession *session);

/* The end of a transaction, when no call is left: gives the buffers back unless the next one may want them. Never fails. */
extern void kakehashi_inbound_settle(KakehashiSession *session);

#endif /* KAKEHASHI_SESSION_H */

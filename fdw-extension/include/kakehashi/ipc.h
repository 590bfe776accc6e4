/*
 * Client side of the bridge: one session with a local endpoint.
 *
 * Knows no PostgreSQL header, allocates with malloc, never prints, never exits, installs no signal handler, and does not
 * jump. Everything that can fail returns a status and fills a kh_error. A session is used by one thread; the queue it
 * appends to is shared with other processes.
 *
 * See ipc-endpoint/protocol/PROTOCOL.md for what crosses the memory, and in which order.
 */
#ifndef KAKEHASHI_IPC_H
#define KAKEHASHI_IPC_H

#include "capabilities.h"
#include "error_codes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts are UTF-8, NUL-terminated, cut at the capacity on a character boundary. Empty means absent. */
typedef struct kh_error
{
	char sqlstate[6];
	uint32_t number;    /* of errors.txt */
	uint32_t position;  /* character in the statement, from 1; 0: none */
	bool from_endpoint; /* false: found on this side */
	char message[1024];
	char detail[1024];
	char hint[512];
	char schema_name[64];
	char table_name[64];
	char column_name[64];
	char constraint_name[64];
} kh_error;

typedef struct kh_session kh_session;

/* A request that has been sent and whose response slot is not yet given back. Owned by the session. */
typedef struct kh_call kh_call;

typedef struct kh_attach_options
{
	const char *runtime_directory;
	const char *application_name;
	const char *user_name; /* NULL: the OS user */
	/* Prepared by SASLprep (RFC 4013); proved, never sent. NULL or empty: peer authentication. */
	const char *password;
	/* OS user that the endpoint has to run as, by name or number; NULL: this process's own. */
	const char *required_peer;
	int timeout_millis;
	/* NULL, or asked every few milliseconds while kh_attach waits; true gives up with 57014. Must return. */
	bool (*interrupted)(void);
	const char *client_version; /* NULL, or for the endpoint's message when versions differ */
	uint64_t damaged_queue;     /* what kh_session_damaged_queue() said of an earlier session; 0: nothing */
} kh_attach_options;

/* What the endpoint published at attach; see Attached in messages.xml. */
typedef struct kh_limits
{
	uint32_t slots;
	uint32_t max_batch_bytes;
	uint32_t max_frame_bytes;
	uint32_t max_statements;
	uint32_t channel_window;
	uint32_t spin_nanos;
	uint64_t lease_nanos;
} kh_limits;

/* Longest name of an engine, with its end. */
#define KH_ENGINE_NAME_BYTES 64

/*
 * What the endpoint's engine can do, as it said at attach: sets of kh_capability, kh_computation and kh_stored_type as bits. One that says nothing has
 * the embedded engine's, which is everything.
 */
typedef struct kh_engine
{
	char name[KH_ENGINE_NAME_BYTES];
	uint64_t capabilities;
	uint64_t computations;
	uint64_t stored_types;
	uint64_t longest_row_bytes;      /* 0: what a row batch can have */
	uint64_t most_transaction_bytes; /* 0: as much as there is memory */
} kh_engine;

typedef enum kh_transaction_state
{
	KH_TX_NONE = 0,
	KH_TX_ACTIVE = 1,
	KH_TX_COMMITTED = 2,
	KH_TX_ABORTED = 3,
	KH_TX_PREPARED = 4,
	KH_TX_UNKNOWN = 5
} kh_transaction_state;

typedef enum kh_transaction_kind
{
	KH_OCC = 0,
	KH_LTX = 1,
	KH_RTX = 2
} kh_transaction_kind;
typedef enum kh_isolation
{
	KH_READ_COMMITTED = 0,
	KH_REPEATABLE_READ = 1,
	KH_SERIALIZABLE = 2
} kh_isolation;
typedef enum kh_commit_response
{
	KH_STORED = 0,
	KH_AVAILABLE = 1
} kh_commit_response;
typedef enum kh_action
{
	KH_AUTO_COMMIT = 0,
	KH_BEGIN = 1,
	KH_CONTINUE = 2
} kh_action;
typedef enum kh_statement_kind
{
	KH_QUERY = 0,
	KH_DML = 1,
	KH_DDL = 2
} kh_statement_kind;

typedef struct kh_execute_options
{
	kh_action action;
	kh_transaction_kind kind;     /* with KH_BEGIN, KH_AUTO_COMMIT */
	kh_isolation isolation;       /* with KH_BEGIN, KH_AUTO_COMMIT */
	kh_commit_response response;  /* with KH_AUTO_COMMIT, commit_after */
	uint64_t handle;              /* with KH_CONTINUE */
	uint64_t lease_nanos;         /* with KH_BEGIN; 0: the endpoint's default */
	uint32_t timeout_millis;      /* 0: none */
	uint32_t lock_timeout_millis; /* of each wait for a lock; 0: the endpoint's */
	uint32_t command;             /* number of the client's command, see PROTOCOL.md; 0: one of its own */
	bool new_snapshot;
	bool commit_after;
} kh_execute_options;

/*
 * The final frame of a call, decoded. For Prepared, columns and parameters point into memory of the call,
 * valid until kh_call_end().
 */
typedef struct kh_column
{
	uint32_t type_oid;
	int32_t type_modifier;
	char name[64];
} kh_column;

typedef struct kh_result
{
	bool failed; /* then error is set */
	kh_transaction_state transaction_state;
	bool undurable_reads; /* the transaction has read what a crash could take back */
	uint64_t transaction_handle;
	uint64_t lease_deadline_nanos;
	uint64_t rows_affected;
	uint64_t execution_nanos; /* from the request's arrival at the endpoint to this frame, as the endpoint says */
	kh_statement_kind statement_kind;
	uint32_t parameter_count;
	const uint32_t *parameter_type_oids;
	uint32_t column_count;
	const kh_column *columns;
	const void *direct_read; /* of a prepared statement, for kh_direct_create; NULL: there is none */
	uint32_t direct_read_bytes;
	kh_error error;
} kh_result;

/*
 * A checked row batch in shared memory: header and every offset lie within bytes; see kh_batch_check. Words of by-reference columns are offsets from base.
 */
typedef struct kh_batch
{
	const unsigned char *base;
	uint32_t bytes;
	uint32_t row_count;
	uint32_t column_count;
	uint32_t row_stride;
	uint32_t rows_offset;
	uint32_t heap_offset;
} kh_batch;

typedef enum kh_wait
{
	KH_WAIT_BATCH,       /* kh_call_batch has one */
	KH_WAIT_FINISHED,    /* kh_call_result is complete, no batch is left */
	KH_WAIT_TIMEOUT,     /* nothing happened within the given time, or a signal came */
	KH_WAIT_DISCONNECTED /* the endpoint is gone: kh_detach is all that is left */
} kh_wait;

/* ---- session ---- */

/* Attaches; NULL and error on failure (08001, 08P01, 28000, 53300, ...). Waits at most timeout_millis. */
extern kh_session *kh_attach(const kh_attach_options *options, kh_error *error);

/* Ends the session and frees everything, also after a disconnect. Every outstanding call becomes invalid. */
extern void kh_detach(kh_session *session);

/* False once the attach socket has reported that the endpoint is gone. One system call. */
extern bool kh_session_alive(kh_session *session);
extern const kh_limits *kh_session_limits(const kh_session *session);
extern const kh_engine *kh_session_engine(const kh_session *session);
extern uint64_t kh_session_id(const kh_session *session);
extern uint64_t kh_session_incarnation(const kh_session *session);

/*
 * The request queue, if the session has ended because it could not append to it; else 0. To be told to the endpoint by the next
 * kh_attach, which gets another queue then.
 */
extern uint64_t kh_session_damaged_queue(const kh_session *session);

/* Descriptor of the attach socket: readable means the endpoint has ended. Not to be read or closed by the caller. */
extern int kh_session_socket(const kh_session *session);

/* Response slots in use, for leak tests. */
extern uint32_t kh_session_calls(const kh_session *session);

/* Requests that can be sent now, as far as slots go. No system call. */
extern uint32_t kh_session_free_slots(kh_session *session);

typedef enum kh_room
{
	KH_ROOM_FREE, /* a slot is free */
	KH_ROOM_SOON, /* a request that was ended has not been answered yet */
	KH_ROOM_NONE, /* calls that have not ended hold all of them */
	KH_ROOM_LOST  /* the endpoint is gone: kh_detach is all that is left */
} kh_room;

/* Waits, for that time at most, for a slot of a request that was ended before its answer; early when a signal handler ran. */
extern kh_room kh_session_await_slot(kh_session *session, int64_t timeout_nanos, kh_error *error);

/* ---- requests: NULL and error on failure; nothing was sent then ---- */

extern kh_call *kh_send_prepare(kh_session *session, uint32_t statement_id, const char *sql,
                                const uint32_t *parameter_type_oids, uint32_t parameter_count, kh_error *error);

/* Whether a statement of that length is short enough for kh_send_prepare. */
extern bool kh_prepare_fits(const kh_session *session, size_t sql_bytes, uint32_t parameter_count);

/* The same with the statement in a granted buffer, which must not be touched until the call has finished. */
extern kh_call *kh_send_prepare_inbound(kh_session *session, uint32_t statement_id, uint64_t arena_offset,
                                        uint32_t sql_bytes, const uint32_t *parameter_type_oids,
                                        uint32_t parameter_count, kh_error *error);

/* parameters: a row batch built with kh_batch_writer, or NULL. Copied before the call returns. */
extern kh_call *kh_send_execute(kh_session *session, uint32_t statement_id, const kh_execute_options *options,
                                const void *parameters, uint32_t parameters_bytes, kh_error *error);

/* The same with parameters in a granted buffer, which must not be touched until the call has finished. */
extern kh_call *kh_send_execute_inbound(kh_session *session, uint32_t statement_id, const kh_execute_options *options,
                                        uint64_t arena_offset, uint32_t bytes, kh_error *error);

/*
 * Calls a procedure of an application; no statement has to be prepared. procedure: as SQL names it, 1 to 1,024 bytes. parameters: a row batch
 * of one row of values of these types, or NULL. shape 0: the first batch describes the columns (name, type, modifier, shape), one row each;
 * a shape of an earlier description: the batches have rows alone, and the call fails with 55K02 before it runs if they would have others.
 */
extern kh_call *kh_send_invoke(kh_session *session, const char *procedure, const uint32_t *parameter_type_oids,
                               uint32_t parameter_count, uint32_t shape, const kh_execute_options *options,
                               const void *parameters, uint32_t parameters_bytes, kh_error *error);

/* How a transaction begins. Texts: UTF-8, NULL: empty; tables as SQL names them, separated by commas. */
typedef struct kh_begin_options
{
	kh_transaction_kind kind;
	kh_isolation isolation;
	uint64_t lease_nanos;   /* 0: the endpoint's default */
	uint64_t timeout_nanos; /* 0: none; the transaction is rolled back with 25P04 after it */
	int32_t priority;       /* of a long transaction: greater ones go first */
	const char *label;
	const char *write_preserve; /* tables that a long transaction may write */
	const char *read_include;   /* tables that it may read; empty: all */
	const char *read_exclude;   /* tables that it does not read */
	bool deferrable; /* read-only and serializable: the first statement waits for a snapshot that makes nobody fail */
} kh_begin_options;

extern kh_call *kh_send_begin(kh_session *session, const kh_begin_options *options, kh_error *error);
extern kh_call *kh_send_commit(kh_session *session, uint64_t handle, kh_commit_response response, kh_error *error);
extern kh_call *kh_send_rollback(kh_session *session, uint64_t handle, kh_error *error);

/*
 * Two-phase commit. global_id: 1 to 200 bytes of UTF-8. Once prepared (final state KH_TX_PREPARED), the transaction no longer
 * belongs to the handle or the session: it survives both and the endpoint, until one of the other two names its global id.
 */
extern kh_call *kh_send_prepare_transaction(kh_session *session, uint64_t handle, const char *global_id,
                                            kh_error *error);
extern kh_call *kh_send_commit_prepared(kh_session *session, const char *global_id, kh_commit_response response,
                                        kh_error *error);
extern kh_call *kh_send_rollback_prepared(kh_session *session, const char *global_id, kh_error *error);

typedef enum kh_savepoint_verb
{
	KH_SAVEPOINT,
	KH_RELEASE_SAVEPOINT,
	KH_ROLLBACK_TO_SAVEPOINT
} kh_savepoint_verb;
extern kh_call *kh_send_savepoint(kh_session *session, kh_savepoint_verb verb, uint64_t handle, uint32_t level,
                                  kh_error *error);
extern kh_call *kh_send_ping(kh_session *session, const void *payload, uint32_t bytes, kh_error *error);
extern kh_call *kh_send_query_outcome(kh_session *session, uint64_t handle, kh_error *error);
/* Asks what runs in a transaction of whatever session to end; final state KH_TX_UNKNOWN: there is none, or it is another user's. */
extern kh_call *kh_send_cancel_transaction(kh_session *session, uint64_t handle, kh_error *error);
/* Asks for the text that names an open transaction outside of its session; see kh_call_token. handle 0: the one that the session began or joined last. */
extern kh_call *kh_send_export_transaction(kh_session *session, uint64_t handle, kh_error *error);

/* Joins an open transaction of the same user; the final frame has its handle, state and lease. token: UTF-8, whatever somebody takes for one. */
extern kh_call *kh_send_continue_transaction(kh_session *session, const char *token, kh_error *error);
extern kh_call *kh_send_acquire_buffers(kh_session *session, uint16_t count, uint32_t buffer_bytes, kh_error *error);

/* Its SQLSTATE in the table of errors, five characters. */
extern const char *kh_sqlstate(kh_error_code code);

/* ---- requests without an answer ---- */

extern bool kh_post_commit(kh_session *session, uint64_t handle, kh_error *error);
extern bool kh_post_rollback(kh_session *session, uint64_t handle, kh_error *error);
extern bool kh_post_commit_prepared(kh_session *session, const char *global_id, kh_commit_response response,
                                    kh_error *error);
extern bool kh_post_rollback_prepared(kh_session *session, const char *global_id, kh_error *error);
extern bool kh_post_rollback_to_savepoint(kh_session *session, uint64_t handle, uint32_t level, kh_error *error);
extern bool kh_post_close_statement(kh_session *session, uint32_t statement_id, kh_error *error);
extern bool kh_post_cancel(kh_call *call, kh_error *error);
extern bool kh_post_application_name(kh_session *session, const char *name, kh_error *error);

/* For whom the requests from now on are: what the engine's tables show depends on it. monitors: that role may see what all do. */
extern bool kh_post_role(kh_session *session, const char *role, bool monitors, kh_error *error);

/* Gives all inbound buffers of the session back; none may be in use by a call. */
extern bool kh_post_release_buffers(kh_session *session, kh_error *error);

/* ---- response of one call ---- */

/*
 * Waits until there is a batch, the end, or timeout_nanos have passed (0: only look; no system call). Spins at most the published time, then sleeps.
 * Returns KH_WAIT_TIMEOUT early when a signal handler ran. A malformed response sets error and returns KH_WAIT_DISCONNECTED.
 */
extern kh_wait kh_call_wait(kh_call *call, int64_t timeout_nanos, kh_error *error);

/*
 * The oldest batch that has not been released; valid until kh_call_release. False if there is none now. Of a shared call: a
 * batch that is this process's, valid until the next one is asked for; false without an error if others were quicker.
 */
extern bool kh_call_batch(kh_call *call, kh_batch *batch, kh_error *error);

/* Gives the oldest batch back to the endpoint. Its memory must not be touched afterwards. */
extern void kh_call_release(kh_call *call);

/* After KH_WAIT_FINISHED: the final frame. */
extern const kh_result *kh_call_result(kh_call *call);

/* Of a request with KH_BEGIN, also if its answer never comes: handle of its transaction; 0: the endpoint has not been seen to begin it. */
extern uint64_t kh_call_begun(const kh_call *call);

/* After KH_WAIT_FINISHED of a ping: what came back, valid until kh_call_end; NULL for other calls. */
extern const void *kh_call_payload(const kh_call *call, uint32_t *bytes);

/* After KH_WAIT_FINISHED of kh_send_export_transaction: the token, valid until kh_call_end; NULL if that has failed, and for other calls. */
extern const char *kh_call_token(const kh_call *call);

/* Granted inbound buffers, after kh_send_acquire_buffers has finished: writable memory of the arena. */
extern void *kh_inbound_buffer(kh_call *call, uint32_t index, uint64_t *arena_offset, uint32_t *bytes);

/*
 * Gives the slot back. If the call has not finished it is canceled first, and its slot is free again once the endpoint
 * has answered (collected by later calls of the session); never blocks.
 */
extern void kh_call_end(kh_call *call);

/* ---- one response read by several processes ---- */

/*
 * Memory that several processes of one OS user have mapped, aligned to 8. The process that has sent the request is its
 * owner; others attach to its call. Each batch goes to exactly one of them, as a copy.
 */
typedef struct kh_share kh_share;

extern size_t kh_share_bytes(const kh_session *session);

/*
 * The owner: from here on kh_call_batch takes the next batch that no process has taken, and kh_call_release does nothing.
 * memory has kh_share_bytes. Before the first batch is read.
 */
extern bool kh_call_share(kh_call *call, void *memory, kh_error *error);

/*
 * The owner: what is still to come is read by nobody; returns once no process touches the response any more. Then the memory
 * may go. kh_call_end does the same, and does not touch the memory: for when all others are known to have gone.
 */
extern void kh_call_unshare(kh_call *call);

/*
 * Another process: maps what it needs to read the call. Only kh_call_wait, kh_call_batch, kh_call_release and
 * kh_call_result may be used on *call, and kh_session_alive and kh_detach on the session. NULL and error on failure.
 */
extern kh_session *kh_borrow(kh_share *memory, kh_call **call, kh_error *error);

/* ---- row batches ---- */

/* Checks header and sizes against bytes. Column values are checked by kh_batch_value. */
extern bool kh_batch_check(const void *base, uint32_t bytes, kh_batch *batch, kh_error *error);

static inline bool
kh_batch_is_null(const kh_batch *batch, uint32_t row, uint32_t column)
{
	const uint64_t *words = (const uint64_t *) (batch->base + batch->rows_offset + (size_t) row * batch->row_stride);

	return (words[column >> 6] >> (column & 63)) & 1;
}

static inline uint64_t
kh_batch_word(const kh_batch *batch, uint32_t row, uint32_t column)
{
	const uint64_t *words = (const uint64_t *) (batch->base + batch->rows_offset + (size_t) row * batch->row_stride);

	return words[((batch->column_count + 63) >> 6) + column];
}

/*
 * Pointer to the value of a by-reference column. fixed_bytes: length of a fixed-length type (16 for uuid and interval), or 0 for a varlena, whose
 * header is read once and checked. NULL if the offset or the length leaves the batch.
 */
static inline const void *
kh_batch_value(const kh_batch *batch, uint64_t word, uint32_t fixed_bytes)
{
	/* A varlena's header, little-endian: length with header << 2; both low bits are 0 when neither compressed nor short. */
	const uint32_t header_bytes = 4;
	uint32_t needed = fixed_bytes > 0 ? fixed_bytes : header_bytes;
	const unsigned char *value;
	uint32_t header;
	uint64_t left;

	if (word < batch->heap_offset || word % 8 != 0 || word >= batch->bytes)
		return NULL;
	left = batch->bytes - word;
	if (needed > left)
		return NULL;
	value = batch->base + word;
	if (fixed_bytes > 0)
		return value;
	header = __atomic_load_n((const uint32_t *) value, __ATOMIC_RELAXED);
	if ((header & 3) != 0 || header >> 2 < header_bytes || header >> 2 > left)
		return NULL;
	return value;
}

/* Builds a row batch in memory of the caller. Zero-initialise; kh_batch_writer_free ends it. */
typedef struct kh_batch_writer
{
	unsigned char *data;
	uint32_t capacity;
	uint32_t column_count;
	uint32_t row_stride;
	uint32_t row_count;
	uint32_t row_capacity; /* rows for which room is reserved before the heap */
	uint32_t heap_bytes;
	uint32_t max_bytes;
	uint32_t longest_bytes;  /* of a batch of one row */
	bool out_of_memory;      /* a value was not refused because it is too long */
	bool fixed;              /* data is not ours to grow: a granted buffer */
	uint32_t row_heap_bytes; /* heap_bytes before the last row */
} kh_batch_writer;

/*
 * row_capacity: the most rows of one batch; the writer lowers it when rows alone would take more than half of max_bytes.
 * max_bytes: the longest batch; memory is taken as values come. Fails with 54000 when not even one row fits.
 */

extern bool kh_batch_writer_init(kh_batch_writer *writer, uint32_t column_count, uint32_t row_capacity,
                                 uint32_t max_bytes, kh_error *error);
extern bool kh_batch_writer_init_fixed(kh_batch_writer *writer, void *memory, uint32_t bytes, uint32_t column_count,
                                       uint32_t row_capacity, kh_error *error);
extern void kh_batch_writer_reset(kh_batch_writer *writer);

/*
 * A row that is alone in its batch may make it so long; no other row follows it then. Without this, and not below max_bytes, it is
 * max_bytes. Not for granted buffers, which do not grow.
 */
extern void kh_batch_writer_allow_long_row(kh_batch_writer *writer, uint32_t longest_bytes);

/*
 * False without an error when the row or its values do not fit into max_bytes: drop the row, send what there is, reset,
 * repeat. Every column of a new row is null until it is set, once.
 */
extern bool kh_batch_writer_add_row(kh_batch_writer *writer);
extern void kh_batch_writer_set_null(kh_batch_writer *writer, uint32_t column);
extern void kh_batch_writer_set_word(kh_batch_writer *writer, uint32_t column, uint64_t word);
extern bool kh_batch_writer_set_value(kh_batch_writer *writer, uint32_t column, const void *value, uint32_t bytes);
/* varlena from payload: writes the 4-byte header itself. */
extern bool kh_batch_writer_set_varlena(kh_batch_writer *writer, uint32_t column, const void *payload,
                                        uint32_t payload_bytes);
/* Takes the last row back (after a value did not fit). */
extern void kh_batch_writer_drop_row(kh_batch_writer *writer);
/* Completes the header; returns the length in bytes. */
extern uint32_t kh_batch_writer_finish(kh_batch_writer *writer);
extern void kh_batch_writer_free(kh_batch_writer *writer);

/* ---- direct reads ---- */

/* How a statement's rows are found in the store's memory. One thread uses it at a time. */
typedef struct kh_direct kh_direct;

/* Most rows of a range; longer ones are asked for. */
#define KH_DIRECT_RANGE_ROWS 1000

typedef enum kh_direct_answer
{
	KH_DIRECT_ROW,    /* the writer has the row */
	KH_DIRECT_NO_ROW, /* there is none */
	KH_DIRECT_ASK,    /* this time a request has to answer */
	KH_DIRECT_STALE   /* it does not hold any more: the statement has to be prepared again for another one */
} kh_direct_answer;

/* Whether the endpoint has given the session the store's memory. */
extern bool kh_session_reads_directly(const kh_session *session);

/* From kh_result.direct_read; to be freed. NULL: requests answer the statement. */
extern kh_direct *kh_direct_create(const kh_session *session, const void *ticket, uint32_t bytes);
extern void kh_direct_free(kh_direct *read);

/* Whether a row of parameters may have several rows, up to KH_DIRECT_RANGE_ROWS; the writers of the following have room for as many then. */
extern bool kh_direct_is_range(const kh_direct *read);

/*
 * Reads the newest committed row, as a statement of a READ COMMITTED transaction may that has changed nothing. parameters: one row,
 * of the statement's types. to: a writer of the result's columns, with room for one row.
 */
extern kh_direct_answer kh_direct_read(const kh_session *session, const kh_direct *read, const kh_batch *parameters,
                                       kh_batch_writer *to);

/*
 * The same for several rows of parameters, in their order, as of one moment. to: with room for as many rows; what is there afterwards counts only with
 * KH_DIRECT_ROW. KH_DIRECT_NO_ROW: none of them is there.
 */
extern kh_direct_answer kh_direct_read_rows(const kh_session *session, const kh_direct *read,
                                            const kh_batch *parameters, kh_batch_writer *to);

#endif /* KAKEHASHI_IPC_H */

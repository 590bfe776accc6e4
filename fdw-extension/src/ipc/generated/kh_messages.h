/* Generated from ipc-endpoint/protocol/schema/messages.xml by "make generate". Do not edit. */
/* clang-format off */

/* Messages of the protocol: structs and bounds-checked codecs. */
#ifndef KAKEHASHI_MESSAGES_H
#define KAKEHASHI_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a frame, not NUL-terminated; decoded ones are valid as long as the frame. Text is checked to be UTF-8. */
typedef struct kh_text
{
	const char *data;
	uint32_t	bytes;
} kh_text;

typedef struct kh_bytes
{
	const unsigned char *data;
	uint32_t	bytes;
} kh_bytes;

/* Entries of a decoded group that have not been visited yet; the whole group has been checked. */
typedef struct kh_group
{
	const unsigned char *at;
	size_t		bytes;
	uint16_t	count;
	uint16_t	block_bytes;
	uint16_t	version;
} kh_group;

typedef struct kh_message_header
{
	uint16_t	block_bytes;
	uint16_t	template_id;
	uint16_t	schema_id;
	uint16_t	version;
} kh_message_header;

#define KH_MESSAGE_HEADER_BYTES 8

/* Reads the header of any message; false when the frame is too short or of another schema. */
extern bool kh_message_header_decode(const void *frame, size_t bytes, kh_message_header *out);

/*
 * kh_<message>_decode: true if the frame is one whole valid message of that kind; out is undefined otherwise. Reads no
 * byte at or after bytes, and takes what newer versions have appended as absent. The frame must be private memory:
 * pointers in out lead into it.
 *
 * kh_<message>_encode: bytes written, or 0 when the message does not fit into capacity or a value exceeds its limit.
 *
 * kh_<message>_<group>_next: the next entry, or false after the last one.
 */

#define KH_SCHEMA_ID 1
#define KH_SCHEMA_VERSION 9

enum
{
	KH_CLIENT_KIND_POSTGRESQL_BACKEND = 1,
	KH_CLIENT_KIND_JAVA_CLIENT = 2,
};

enum
{
	KH_COMMIT_RESPONSE_STORED = 0,	/* survives power loss */
	KH_COMMIT_RESPONSE_AVAILABLE = 1,	/* visible to others */
};

enum
{
	KH_ISOLATION_LEVEL_READ_COMMITTED = 0,
	KH_ISOLATION_LEVEL_REPEATABLE_READ = 1,
	KH_ISOLATION_LEVEL_SERIALIZABLE = 2,
};

enum
{
	KH_SEVERITY_ERROR = 0,
	KH_SEVERITY_FATAL = 1,	/* the session is over */
};

enum
{
	KH_STATEMENT_KIND_QUERY = 0,	/* returns rows, changes nothing */
	KH_STATEMENT_KIND_DML = 1,	/* changes rows; returns rows only with RETURNING */
	KH_STATEMENT_KIND_DDL = 2,	/* changes the catalogue */
};

enum
{
	KH_TRANSACTION_ACTION_AUTO_COMMIT = 0,
	KH_TRANSACTION_ACTION_BEGIN = 1,
	KH_TRANSACTION_ACTION_CONTINUE = 2,
};

enum
{
	KH_TRANSACTION_KIND_OCC = 0,	/* short optimistic */
	KH_TRANSACTION_KIND_LTX = 1,	/* long, declared writes */
	KH_TRANSACTION_KIND_RTX = 2,	/* read-only */
};

enum
{
	KH_TRANSACTION_STATE_NONE = 0,	/* no transaction is open */
	KH_TRANSACTION_STATE_ACTIVE = 1,
	KH_TRANSACTION_STATE_COMMITTED = 2,
	KH_TRANSACTION_STATE_ABORTED = 3,
	KH_TRANSACTION_STATE_PREPARED = 4,
	KH_TRANSACTION_STATE_UNKNOWN = 5,	/* the registry has no such handle (any more) */
};

enum
{
	KH_VALUE_KIND_WORD = 1,
	KH_VALUE_KIND_FLOAT4 = 2,
	KH_VALUE_KIND_FLOAT8 = 3,
	KH_VALUE_KIND_VARLENA = 4,
	KH_VALUE_KIND_FIXED16 = 5,
	KH_VALUE_KIND_PARAMETER = 6,
};

enum
{
	KH_EXECUTE_FLAGS_NEW_SNAPSHOT = 0x1,
	KH_EXECUTE_FLAGS_COMMIT_AFTER = 0x2,
};

enum
{
	KH_KEY_FLAGS_NULLABLE = 0x1,
	KH_KEY_FLAGS_DESCENDING = 0x2,
	KH_KEY_FLAGS_LOWER = 0x4,
	KH_KEY_FLAGS_UPPER = 0x8,
	KH_KEY_FLAGS_EXCLUSIVE = 0x10,
	KH_KEY_FLAGS_UNBOUND = 0x20,
	KH_KEY_FLAGS_RANGED = 0x40,
	KH_KEY_FLAGS_REVERSE = 0x80,
};

#define KH_ATTACH_TEMPLATE_ID 1

/* First message of a client on the socket. */
typedef struct kh_attach_message
{
	uint32_t	layout_version;
	uint32_t	process_id;	/* as the client sees itself; for display */
	uint64_t	process_start_ticks;	/* /proc/self/stat field 22 */
	uint64_t	pid_namespace;	/* inode of /proc/self/ns/pid */
	uint8_t	client_kind;
	uint64_t	damaged_queue;	/* queueNumber of a queue that this client could not append to: it gets another one; 0: none */
	kh_text	application_name;
	kh_text	user_name;	/* user on the engine; empty: the OS user */
	kh_text	password;	/* always empty since version 5: passwords are proved */
	kh_text	client_version;	/* for the message when versions differ */
	kh_text	authentication;	/* the client's first message of SCRAM-SHA-256; empty: peer authentication */
} kh_attach_message;

extern bool kh_attach_decode(const void *frame, size_t bytes, kh_attach_message *out);
extern size_t kh_attach_encode(const kh_attach_message *message, void *frame, size_t capacity);

#define KH_ATTACHED_TEMPLATE_ID 2

/* The session and every limit the client needs. */
typedef struct kh_attached_message
{
	uint64_t	session_id;
	uint64_t	incarnation;
	uint64_t	mailbox_offset;	/* of the session's mailbox in the mailbox file */
	uint64_t	mailbox_file_bytes;
	uint64_t	arena_file_bytes;
	uint32_t	slots_per_mailbox;
	uint32_t	slot_bytes;
	uint32_t	frame_offset;	/* of the final frame within a slot */
	uint32_t	frame_area_bytes;
	uint32_t	inline_offset;	/* of the inline batch within a slot */
	uint32_t	inline_bytes;
	uint32_t	channel_window;	/* entries of a slot's descriptor ring */
	uint32_t	arena_block_bytes;
	uint32_t	max_batch_bytes;	/* longest row batch, either direction */
	uint32_t	max_frame_bytes;	/* longest request */
	uint32_t	max_statements;	/* prepared statements per session */
	uint32_t	queue_block_bytes;	/* block size of the queue's files */
	uint32_t	spin_nanos;	/* longest spin of a waiting client before it sleeps */
	uint64_t	lease_nanos;	/* default lease of a transaction */
	uint32_t	reserved_slots;	/* slots 0 to reservedSlots - 1 have their memory; the client reserves that of another one before it uses it */
	uint64_t	queue_number;	/* of the queue; no other queue of this endpoint or another one has it */
	uint64_t	capabilities;	/* what the engine does: bits of capabilities.txt */
	uint64_t	computations;	/* what it computes exactly as PostgreSQL */
	uint64_t	stored_types;	/* what it keeps without loss */
	uint64_t	longest_row_bytes;	/* longest row that it keeps; 0: what a row batch can have */
	uint64_t	most_transaction_bytes;	/* most that one transaction may change; 0: as much as there is memory */
	kh_text	queue_name;	/* directory below queues/ */
	kh_text	principal;	/* file name below mailboxes/ and arena/ */
	kh_text	endpoint_version;
	kh_text	authentication;	/* the endpoint's final message of SCRAM-SHA-256; empty: peer authentication */
	kh_text	engine;	/* name of the engine, 1 to 63 bytes; absent: the embedded one, which has everything */
} kh_attached_message;

extern bool kh_attached_decode(const void *frame, size_t bytes, kh_attached_message *out);
extern size_t kh_attached_encode(const kh_attached_message *message, void *frame, size_t capacity);

#define KH_AUTHENTICATION_CHALLENGE_TEMPLATE_ID 3

/* Asks a client that has attached with a message of SCRAM-SHA-256 for a proof. */
typedef struct kh_authentication_challenge_message
{
	kh_text	message;	/* the endpoint's first message, at most 1024 bytes */
} kh_authentication_challenge_message;

extern bool kh_authentication_challenge_decode(const void *frame, size_t bytes, kh_authentication_challenge_message *out);
extern size_t kh_authentication_challenge_encode(const kh_authentication_challenge_message *message, void *frame, size_t capacity);

#define KH_AUTHENTICATION_RESPONSE_TEMPLATE_ID 4

/* The proof. */
typedef struct kh_authentication_response_message
{
	kh_text	message;	/* the client's final message, at most 1024 bytes */
} kh_authentication_response_message;

extern bool kh_authentication_response_decode(const void *frame, size_t bytes, kh_authentication_response_message *out);
extern size_t kh_authentication_response_encode(const kh_authentication_response_message *message, void *frame, size_t capacity);

#define KH_BEGIN_TEMPLATE_ID 10

typedef struct kh_begin_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint8_t	kind;
	uint8_t	isolation;
	uint64_t	lease_nanos;	/* 0: the endpoint's default */
	kh_text	label;
} kh_begin_message;

extern bool kh_begin_decode(const void *frame, size_t bytes, kh_begin_message *out);
extern size_t kh_begin_encode(const kh_begin_message *message, void *frame, size_t capacity);

#define KH_COMMIT_TEMPLATE_ID 11

typedef struct kh_commit_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint8_t	response;
	uint64_t	transaction_handle;
} kh_commit_message;

extern bool kh_commit_decode(const void *frame, size_t bytes, kh_commit_message *out);
extern size_t kh_commit_encode(const kh_commit_message *message, void *frame, size_t capacity);

#define KH_ROLLBACK_TEMPLATE_ID 12

typedef struct kh_rollback_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint64_t	transaction_handle;
} kh_rollback_message;

extern bool kh_rollback_decode(const void *frame, size_t bytes, kh_rollback_message *out);
extern size_t kh_rollback_encode(const kh_rollback_message *message, void *frame, size_t capacity);

#define KH_SAVEPOINT_TEMPLATE_ID 13

typedef struct kh_savepoint_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint64_t	transaction_handle;
	uint32_t	level;
} kh_savepoint_message;

extern bool kh_savepoint_decode(const void *frame, size_t bytes, kh_savepoint_message *out);
extern size_t kh_savepoint_encode(const kh_savepoint_message *message, void *frame, size_t capacity);

#define KH_RELEASE_SAVEPOINT_TEMPLATE_ID 14

typedef struct kh_release_savepoint_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint64_t	transaction_handle;
	uint32_t	level;
} kh_release_savepoint_message;

extern bool kh_release_savepoint_decode(const void *frame, size_t bytes, kh_release_savepoint_message *out);
extern size_t kh_release_savepoint_encode(const kh_release_savepoint_message *message, void *frame, size_t capacity);

#define KH_ROLLBACK_TO_SAVEPOINT_TEMPLATE_ID 15

typedef struct kh_rollback_to_savepoint_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint64_t	transaction_handle;
	uint32_t	level;
} kh_rollback_to_savepoint_message;

extern bool kh_rollback_to_savepoint_decode(const void *frame, size_t bytes, kh_rollback_to_savepoint_message *out);
extern size_t kh_rollback_to_savepoint_encode(const kh_rollback_to_savepoint_message *message, void *frame, size_t capacity);

#define KH_PREPARE_TRANSACTION_TEMPLATE_ID 16

/* First phase of a two-phase commit; answered by Completed with PREPARED. */
typedef struct kh_prepare_transaction_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint64_t	transaction_handle;
	kh_text	global_id;	/* 1 to 200 bytes, unique among the prepared transactions */
} kh_prepare_transaction_message;

extern bool kh_prepare_transaction_decode(const void *frame, size_t bytes, kh_prepare_transaction_message *out);
extern size_t kh_prepare_transaction_encode(const kh_prepare_transaction_message *message, void *frame, size_t capacity);

#define KH_COMMIT_PREPARED_TEMPLATE_ID 17

/* Second phase; by any session of the owner. */
typedef struct kh_commit_prepared_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint8_t	response;
	kh_text	global_id;
} kh_commit_prepared_message;

extern bool kh_commit_prepared_decode(const void *frame, size_t bytes, kh_commit_prepared_message *out);
extern size_t kh_commit_prepared_encode(const kh_commit_prepared_message *message, void *frame, size_t capacity);

#define KH_ROLLBACK_PREPARED_TEMPLATE_ID 18

/* Second phase, the other way. */
typedef struct kh_rollback_prepared_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	kh_text	global_id;
} kh_rollback_prepared_message;

extern bool kh_rollback_prepared_decode(const void *frame, size_t bytes, kh_rollback_prepared_message *out);
extern size_t kh_rollback_prepared_encode(const kh_rollback_prepared_message *message, void *frame, size_t capacity);

#define KH_BEGIN_TRANSACTION_TEMPLATE_ID 19

/* Begin with every option. */
typedef struct kh_begin_transaction_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint8_t	kind;
	uint8_t	isolation;
	uint64_t	lease_nanos;	/* 0: the endpoint's default */
	uint64_t	timeout_nanos;	/* 0: none; the transaction is rolled back with 25P04 after it */
	int32_t	priority;	/* LTX: greater ones go first */
	uint8_t	deferrable;	/* RTX with SERIALIZABLE: 1: the first statement waits for a snapshot that needs no watching; 0: it does not */
	kh_text	label;
	kh_text	write_preserve;	/* LTX: tables that it may write, as SQL names them, separated by commas */
	kh_text	read_include;	/* LTX: tables that it may read; empty: all */
	kh_text	read_exclude;	/* LTX: tables that it does not read */
} kh_begin_transaction_message;

extern bool kh_begin_transaction_decode(const void *frame, size_t bytes, kh_begin_transaction_message *out);
extern size_t kh_begin_transaction_encode(const kh_begin_transaction_message *message, void *frame, size_t capacity);

#define KH_PREPARE_TEMPLATE_ID 20

typedef struct kh_prepare_parameter_types
{
	uint32_t	type_oid;	/* 0: infer */
} kh_prepare_parameter_types;

typedef struct kh_prepare_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint32_t	statement_id;
	uint64_t	sql_offset;	/* of a granted buffer in the arena file; only with sqlBytes > 0 */
	uint32_t	sql_bytes;	/* 0: the statement is inline; else it is this long, in UTF-8, and sql is empty */
	kh_text	sql;
	const kh_prepare_parameter_types *parameter_types;	/* to encode: parameter_types_count entries */
	uint16_t	parameter_types_count;
	kh_group	parameter_types_group;	/* decoded: for kh_prepare_parameter_types_next */
} kh_prepare_message;

extern bool kh_prepare_decode(const void *frame, size_t bytes, kh_prepare_message *out);
extern size_t kh_prepare_encode(const kh_prepare_message *message, void *frame, size_t capacity);
extern bool kh_prepare_parameter_types_next(kh_group *group, kh_prepare_parameter_types *out);

#define KH_EXECUTE_TEMPLATE_ID 21

typedef struct kh_execute_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint16_t	flags;
	uint32_t	statement_id;
	uint64_t	transaction_handle;	/* with CONTINUE */
	uint64_t	lease_nanos;	/* with BEGIN; 0: the endpoint's default */
	uint64_t	inbound_offset;	/* of a granted buffer in the arena file; only with inboundBytes > 0 */
	uint32_t	inbound_bytes;	/* 0: parameters are inline */
	uint32_t	timeout_millis;	/* 0: none; the statement is canceled with 57014 after it */
	uint8_t	action;
	uint8_t	kind;	/* with BEGIN and AUTO_COMMIT */
	uint8_t	isolation;	/* with BEGIN and AUTO_COMMIT */
	uint8_t	response;	/* with AUTO_COMMIT and commitAfter */
	uint32_t	command;	/* number of the client's command; 0: the statement is a command of its own */
	uint32_t	lock_timeout_millis;	/* longest wait for one lock, of a table or a row, then 55P03; 0: the endpoint's setting */
	kh_bytes	parameters;	/* row batch, its own offsets relative to its start; empty: no parameters */
} kh_execute_message;

extern bool kh_execute_decode(const void *frame, size_t bytes, kh_execute_message *out);
extern size_t kh_execute_encode(const kh_execute_message *message, void *frame, size_t capacity);

#define KH_CLOSE_STATEMENT_TEMPLATE_ID 22

typedef struct kh_close_statement_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint32_t	statement_id;
} kh_close_statement_message;

extern bool kh_close_statement_decode(const void *frame, size_t bytes, kh_close_statement_message *out);
extern size_t kh_close_statement_encode(const kh_close_statement_message *message, void *frame, size_t capacity);

#define KH_CANCEL_TEMPLATE_ID 23

/* Cancels one outstanding request of the session; that request still gets its final frame. */
typedef struct kh_cancel_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint64_t	target_request_id;
} kh_cancel_message;

extern bool kh_cancel_decode(const void *frame, size_t bytes, kh_cancel_message *out);
extern size_t kh_cancel_encode(const kh_cancel_message *message, void *frame, size_t capacity);

#define KH_ACQUIRE_BUFFERS_TEMPLATE_ID 24

typedef struct kh_acquire_buffers_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint16_t	count;
	uint32_t	buffer_bytes;
} kh_acquire_buffers_message;

extern bool kh_acquire_buffers_decode(const void *frame, size_t bytes, kh_acquire_buffers_message *out);
extern size_t kh_acquire_buffers_encode(const kh_acquire_buffers_message *message, void *frame, size_t capacity);

#define KH_RELEASE_BUFFERS_TEMPLATE_ID 25

/* Gives all inbound buffers of the session back. */
typedef struct kh_release_buffers_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
} kh_release_buffers_message;

extern bool kh_release_buffers_decode(const void *frame, size_t bytes, kh_release_buffers_message *out);
extern size_t kh_release_buffers_encode(const kh_release_buffers_message *message, void *frame, size_t capacity);

#define KH_PING_TEMPLATE_ID 26

typedef struct kh_ping_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	kh_bytes	payload;
} kh_ping_message;

extern bool kh_ping_decode(const void *frame, size_t bytes, kh_ping_message *out);
extern size_t kh_ping_encode(const kh_ping_message *message, void *frame, size_t capacity);

#define KH_QUERY_OUTCOME_TEMPLATE_ID 27

/* What became of a transaction; answered by Completed. */
typedef struct kh_query_outcome_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint64_t	transaction_handle;
} kh_query_outcome_message;

extern bool kh_query_outcome_decode(const void *frame, size_t bytes, kh_query_outcome_message *out);
extern size_t kh_query_outcome_encode(const kh_query_outcome_message *message, void *frame, size_t capacity);

#define KH_CANCEL_TRANSACTION_TEMPLATE_ID 28

/* Cancels what runs in a transaction, whatever session sent it; answered by Completed with the transaction's state. */
typedef struct kh_cancel_transaction_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint64_t	transaction_handle;
} kh_cancel_transaction_message;

extern bool kh_cancel_transaction_decode(const void *frame, size_t bytes, kh_cancel_transaction_message *out);
extern size_t kh_cancel_transaction_encode(const kh_cancel_transaction_message *message, void *frame, size_t capacity);

#define KH_SET_APPLICATION_NAME_TEMPLATE_ID 29

/* What the client calls itself from now on, in place of what it said at attach. */
typedef struct kh_set_application_name_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	kh_text	application_name;
} kh_set_application_name_message;

extern bool kh_set_application_name_decode(const void *frame, size_t bytes, kh_set_application_name_message *out);
extern size_t kh_set_application_name_encode(const kh_set_application_name_message *message, void *frame, size_t capacity);

#define KH_SET_ROLE_TEMPLATE_ID 30

/* Whom the client works for from now on, as far as that decides what it may see of others. */
typedef struct kh_set_role_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint8_t	monitors;	/* 1: that role may see what all others do */
	kh_text	role;	/* a role of PostgreSQL */
} kh_set_role_message;

extern bool kh_set_role_decode(const void *frame, size_t bytes, kh_set_role_message *out);
extern size_t kh_set_role_encode(const kh_set_role_message *message, void *frame, size_t capacity);

#define KH_EXPORT_TRANSACTION_TEMPLATE_ID 31

/* Asks for the name of an open transaction outside of its session; answered by TransactionToken. */
typedef struct kh_export_transaction_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint64_t	transaction_handle;	/* 0: the one that the session began or joined last */
} kh_export_transaction_message;

extern bool kh_export_transaction_decode(const void *frame, size_t bytes, kh_export_transaction_message *out);
extern size_t kh_export_transaction_encode(const kh_export_transaction_message *message, void *frame, size_t capacity);

#define KH_CONTINUE_TRANSACTION_TEMPLATE_ID 32

/* The session joins an open transaction of its user; answered by Completed with its handle, state and lease. */
typedef struct kh_continue_transaction_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	kh_text	token;	/* of TransactionToken */
} kh_continue_transaction_message;

extern bool kh_continue_transaction_decode(const void *frame, size_t bytes, kh_continue_transaction_message *out);
extern size_t kh_continue_transaction_encode(const kh_continue_transaction_message *message, void *frame, size_t capacity);

#define KH_INVOKE_TEMPLATE_ID 33

typedef struct kh_invoke_parameter_types
{
	uint32_t	type_oid;	/* of the value; 0: the procedure says it, and the value is null */
} kh_invoke_parameter_types;

/* Calls a procedure without a statement prepared before; otherwise as Execute. */
typedef struct kh_invoke_message
{
	uint64_t	session_id;
	uint64_t	request_id;
	uint16_t	slot;
	uint16_t	flags;
	uint32_t	shape;	/* of the rows that the client expects; 0: the first batch describes the columns */
	uint64_t	transaction_handle;	/* with CONTINUE */
	uint64_t	lease_nanos;	/* with BEGIN; 0: the endpoint's default */
	uint64_t	inbound_offset;	/* of a granted buffer in the arena file; only with inboundBytes > 0 */
	uint32_t	inbound_bytes;	/* 0: parameters are inline */
	uint32_t	timeout_millis;	/* 0: none; the call is canceled with 57014 after it */
	uint8_t	action;
	uint8_t	kind;	/* with BEGIN and AUTO_COMMIT */
	uint8_t	isolation;	/* with BEGIN and AUTO_COMMIT */
	uint8_t	response;	/* with AUTO_COMMIT and commitAfter */
	uint32_t	command;	/* number of the client's command; 0: the call is a command of its own */
	uint32_t	lock_timeout_millis;	/* longest wait for one lock, then 55P03; 0: the endpoint's setting */
	kh_text	procedure;	/* its name as SQL writes it, at most 1024 bytes */
	kh_bytes	parameters;	/* row batch of one row; empty: no parameters */
	const kh_invoke_parameter_types *parameter_types;	/* to encode: parameter_types_count entries */
	uint16_t	parameter_types_count;
	kh_group	parameter_types_group;	/* decoded: for kh_invoke_parameter_types_next */
} kh_invoke_message;

extern bool kh_invoke_decode(const void *frame, size_t bytes, kh_invoke_message *out);
extern size_t kh_invoke_encode(const kh_invoke_message *message, void *frame, size_t capacity);
extern bool kh_invoke_parameter_types_next(kh_group *group, kh_invoke_parameter_types *out);

#define KH_COMPLETED_TEMPLATE_ID 40

/* Final frame of a request that succeeded. */
typedef struct kh_completed_message
{
	uint64_t	request_id;
	uint64_t	transaction_handle;
	uint64_t	lease_deadline_nanos;
	uint64_t	rows_affected;	/* DML: rows changed; QUERY: rows sent */
	uint8_t	transaction_state;
	uint8_t	undurable_reads;	/* 1: the transaction has read what is not durable yet */
} kh_completed_message;

extern bool kh_completed_decode(const void *frame, size_t bytes, kh_completed_message *out);
extern size_t kh_completed_encode(const kh_completed_message *message, void *frame, size_t capacity);

#define KH_FAILED_TEMPLATE_ID 41

/* Final frame of a request that failed; on the socket: attach refused. */
typedef struct kh_failed_message
{
	uint64_t	request_id;
	uint64_t	transaction_handle;
	uint64_t	lease_deadline_nanos;
	uint32_t	error_number;	/* of errors.txt */
	uint32_t	position;	/* character in the statement, from 1; 0: none */
	uint32_t	sqlstate;	/* five characters, six bits each, as PostgreSQL's MAKE_SQLSTATE packs them */
	uint8_t	transaction_state;
	uint8_t	severity;
	kh_text	message;
	kh_text	detail;
	kh_text	hint;
	kh_text	schema_name;
	kh_text	table_name;
	kh_text	column_name;
	kh_text	constraint_name;
} kh_failed_message;

extern bool kh_failed_decode(const void *frame, size_t bytes, kh_failed_message *out);
extern size_t kh_failed_encode(const kh_failed_message *message, void *frame, size_t capacity);

#define KH_PREPARED_TEMPLATE_ID 42

typedef struct kh_prepared_parameters
{
	uint32_t	type_oid;
} kh_prepared_parameters;

typedef struct kh_prepared_columns
{
	uint32_t	type_oid;
	int32_t	type_modifier;	/* PostgreSQL's atttypmod; -1: none */
	kh_text	name;
} kh_prepared_columns;

typedef struct kh_prepared_message
{
	uint64_t	request_id;
	uint64_t	transaction_handle;
	uint64_t	lease_deadline_nanos;
	uint32_t	statement_id;
	uint8_t	transaction_state;
	uint8_t	kind;
	kh_bytes	direct_read;	/* a DirectRead; empty: only requests answer the statement */
	const kh_prepared_parameters *parameters;	/* to encode: parameters_count entries */
	uint16_t	parameters_count;
	kh_group	parameters_group;	/* decoded: for kh_prepared_parameters_next */
	const kh_prepared_columns *columns;	/* to encode: columns_count entries */
	uint16_t	columns_count;
	kh_group	columns_group;	/* decoded: for kh_prepared_columns_next */
} kh_prepared_message;

extern bool kh_prepared_decode(const void *frame, size_t bytes, kh_prepared_message *out);
extern size_t kh_prepared_encode(const kh_prepared_message *message, void *frame, size_t capacity);
extern bool kh_prepared_parameters_next(kh_group *group, kh_prepared_parameters *out);
extern bool kh_prepared_columns_next(kh_group *group, kh_prepared_columns *out);

#define KH_BUFFERS_GRANTED_TEMPLATE_ID 43

typedef struct kh_buffers_granted_buffers
{
	uint64_t	arena_offset;
} kh_buffers_granted_buffers;

typedef struct kh_buffers_granted_message
{
	uint64_t	request_id;
	uint32_t	buffer_bytes;
	const kh_buffers_granted_buffers *buffers;	/* to encode: buffers_count entries */
	uint16_t	buffers_count;
	kh_group	buffers_group;	/* decoded: for kh_buffers_granted_buffers_next */
} kh_buffers_granted_message;

extern bool kh_buffers_granted_decode(const void *frame, size_t bytes, kh_buffers_granted_message *out);
extern size_t kh_buffers_granted_encode(const kh_buffers_granted_message *message, void *frame, size_t capacity);
extern bool kh_buffers_granted_buffers_next(kh_group *group, kh_buffers_granted_buffers *out);

#define KH_PONG_TEMPLATE_ID 44

typedef struct kh_pong_message
{
	uint64_t	request_id;
	kh_bytes	payload;
} kh_pong_message;

extern bool kh_pong_decode(const void *frame, size_t bytes, kh_pong_message *out);
extern size_t kh_pong_encode(const kh_pong_message *message, void *frame, size_t capacity);

#define KH_TRANSACTION_TOKEN_TEMPLATE_ID 45

typedef struct kh_transaction_token_message
{
	uint64_t	request_id;
	uint64_t	transaction_handle;
	uint64_t	lease_deadline_nanos;
	uint8_t	transaction_state;
	kh_text	token;	/* 32 hexadecimal digits */
} kh_transaction_token_message;

extern bool kh_transaction_token_decode(const void *frame, size_t bytes, kh_transaction_token_message *out);
extern size_t kh_transaction_token_encode(const kh_transaction_token_message *message, void *frame, size_t capacity);

#define KH_DIRECT_READ_TEMPLATE_ID 46

typedef struct kh_direct_read_keys
{
	uint16_t	parameter;	/* from 0 */
	uint16_t	column;	/* StorePageColumn */
	uint8_t	kind;
	uint8_t	flags;
	uint64_t	dictionary_cell;	/* offset of a StoreDictionary; 0: there is none */
} kh_direct_read_keys;

typedef struct kh_direct_read_columns
{
	uint16_t	column;	/* StorePageColumn; of the kind PARAMETER the parameter whose word it is, from 0 */
	uint8_t	kind;
	uint8_t	is_missing_null;	/* 1: rows of a page in which it has no place have null; 0: they have what only requests know */
	uint64_t	dictionary_cell;	/* offset of a StoreDictionary; 0: there is none */
} kh_direct_read_columns;

/* Part of Prepared: how the rows of a statement are found in the store's memory, by equality with a whole unique key, or in a range of an index. */
typedef struct kh_direct_read_message
{
	uint64_t	definitions;	/* StoreHead.definitions for which this holds */
	uint64_t	table_cell;	/* offset of a StoreTable in the memory */
	uint64_t	table_generation;
	uint64_t	index_cell;	/* offset of a StoreIndex */
	uint64_t	index_generation;
	uint32_t	page_rows;	/* rows of a page */
	const kh_direct_read_keys *keys;	/* to encode: keys_count entries */
	uint16_t	keys_count;
	kh_group	keys_group;	/* decoded: for kh_direct_read_keys_next */
	const kh_direct_read_columns *columns;	/* to encode: columns_count entries */
	uint16_t	columns_count;
	kh_group	columns_group;	/* decoded: for kh_direct_read_columns_next */
} kh_direct_read_message;

extern bool kh_direct_read_decode(const void *frame, size_t bytes, kh_direct_read_message *out);
extern size_t kh_direct_read_encode(const kh_direct_read_message *message, void *frame, size_t capacity);
extern bool kh_direct_read_keys_next(kh_group *group, kh_direct_read_keys *out);
extern bool kh_direct_read_columns_next(kh_group *group, kh_direct_read_columns *out);

#endif

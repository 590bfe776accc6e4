#include "samples.h"

#include <stdlib.h>
#include <string.h>

#define TEXT(literal)                                                                                                  \
	{                                                                                                                  \
		.data = (literal), .bytes = sizeof(literal) - 1                                                                \
	}
#define BYTES(literal)                                                                                                 \
	{                                                                                                                  \
		.data = (const unsigned char *) (literal), .bytes = sizeof(literal) - 1                                        \
	}
#define REQUEST .session_id = 0x1122334455667788, .request_id = 0x99AABBCCDDEEFF, .slot = 0x1234
#define ANSWER .request_id = 77, .transaction_handle = 0x0001000200030004, .lease_deadline_nanos = 5000000000

#define SIMPLE(name, ...)                                                                                              \
	static size_t round_trip_##name(const void *frame, size_t bytes, void *out, size_t capacity)                       \
	{                                                                                                                  \
		kh_##name##_message message;                                                                                   \
                                                                                                                       \
		return kh_##name##_decode(frame, bytes, &message) ? kh_##name##_encode(&message, out, capacity) : 0;           \
	}                                                                                                                  \
	static size_t example_##name(void *out, size_t capacity)                                                           \
	{                                                                                                                  \
		static const kh_##name##_message message = {__VA_ARGS__};                                                      \
                                                                                                                       \
		return kh_##name##_encode(&message, out, capacity);                                                            \
	}

SIMPLE(attach, .layout_version = 1, .process_id = 4711, .process_start_ticks = 123456789, .pid_namespace = 4026531836,
       .client_kind = KH_CLIENT_KIND_POSTGRESQL_BACKEND, .damaged_queue = 77, .application_name = TEXT("psql"),
       .user_name = TEXT("alice"), .client_version = TEXT("1.0.0"),
       .authentication = TEXT("n,,n=alice,r=rOprNGfwEbeRWgbNEkqO"))
SIMPLE(attached, .session_id = 9, .incarnation = 8, .mailbox_offset = 65536, .mailbox_file_bytes = 1 << 20,
       .arena_file_bytes = 1 << 24, .slots_per_mailbox = 8, .slot_bytes = 16384, .frame_offset = 1024,
       .frame_area_bytes = 4096, .inline_offset = 8192, .inline_bytes = 8192, .channel_window = 8,
       .arena_block_bytes = 65536, .max_batch_bytes = 1 << 20, .max_frame_bytes = 32768, .max_statements = 1024,
       .queue_block_bytes = 1 << 20, .spin_nanos = 20000, .lease_nanos = 60000000000, .reserved_slots = 4,
       .queue_number = 78, .capabilities = 0x1FFFFFFBF, .computations = 0x1FFFFFFB, .stored_types = 0x3FFFFF,
       .longest_row_bytes = 1 << 30, .most_transaction_bytes = UINT64_C(1) << 40, .queue_name = TEXT("0-0"),
       .principal = TEXT("1000"), .endpoint_version = TEXT("1.0.0"),
       .authentication = TEXT("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="), .engine = TEXT("pgwire"))
SIMPLE(authentication_challenge, .message = TEXT("r=rOprNGfwEbeRWgbNEkqO,s=W22Z,i=4096"))
SIMPLE(authentication_response, .message = TEXT("c=biws,r=rOprNGfwEbeRWgbNEkqO,p=dHzb"))
SIMPLE(begin, REQUEST, .kind = KH_TRANSACTION_KIND_LTX, .isolation = KH_ISOLATION_LEVEL_SERIALIZABLE, .lease_nanos = 7,
       .label = TEXT("load"))
SIMPLE(begin_transaction, REQUEST, .kind = KH_TRANSACTION_KIND_LTX, .isolation = KH_ISOLATION_LEVEL_SERIALIZABLE,
       .lease_nanos = 7, .timeout_nanos = 60000000000, .priority = -3, .label = TEXT("load"),
       .write_preserve = TEXT("orders, archive.lines"), .read_include = TEXT("customers"),
       .read_exclude = TEXT("audit"))
SIMPLE(commit, REQUEST, .response = KH_COMMIT_RESPONSE_AVAILABLE, .transaction_handle = 42)
SIMPLE(rollback, REQUEST, .transaction_handle = 42)
SIMPLE(savepoint, REQUEST, .transaction_handle = 42, .level = 3)
SIMPLE(release_savepoint, REQUEST, .transaction_handle = 42, .level = 3)
SIMPLE(rollback_to_savepoint, REQUEST, .transaction_handle = 42, .level = 3)
SIMPLE(prepare_transaction, REQUEST, .transaction_handle = 42, .global_id = TEXT("7364/5/981"))
SIMPLE(commit_prepared, REQUEST, .response = KH_COMMIT_RESPONSE_AVAILABLE, .global_id = TEXT("7364/5/981"))
SIMPLE(rollback_prepared, REQUEST, .global_id = TEXT("7364/5/981"))
SIMPLE(execute, REQUEST, .flags = KH_EXECUTE_FLAGS_NEW_SNAPSHOT | KH_EXECUTE_FLAGS_COMMIT_AFTER, .statement_id = 5,
       .transaction_handle = 42, .lease_nanos = 1, .inbound_offset = 65536, .inbound_bytes = 128, .timeout_millis = 250,
       .command = 7, .lock_timeout_millis = 100, .action = KH_TRANSACTION_ACTION_CONTINUE,
       .kind = KH_TRANSACTION_KIND_RTX, .isolation = KH_ISOLATION_LEVEL_REPEATABLE_READ,
       .response = KH_COMMIT_RESPONSE_AVAILABLE, .parameters = BYTES("\0\1\2\3\4\5\6\7"))
SIMPLE(close_statement, REQUEST, .statement_id = 5)
SIMPLE(cancel, REQUEST, .target_request_id = 76)
SIMPLE(acquire_buffers, REQUEST, .count = 2, .buffer_bytes = 131072)
SIMPLE(release_buffers, REQUEST)
SIMPLE(ping, REQUEST, .payload = BYTES("ping"))
SIMPLE(query_outcome, REQUEST, .transaction_handle = 42)
SIMPLE(cancel_transaction, REQUEST, .transaction_handle = 42)
SIMPLE(set_application_name, REQUEST, .application_name = TEXT("psql"))
SIMPLE(set_role, REQUEST, .monitors = 1, .role = TEXT("clerk"))
SIMPLE(export_transaction, REQUEST, .transaction_handle = 4)
SIMPLE(continue_transaction, REQUEST, .token = TEXT("00112233445566778899aabbccddeeff"))
SIMPLE(completed, ANSWER, .rows_affected = 10, .transaction_state = KH_TRANSACTION_STATE_COMMITTED,
       .undurable_reads = 1)
SIMPLE(failed, ANSWER, .error_number = 1202, .position = 15, .sqlstate = 0x1234,
       .transaction_state = KH_TRANSACTION_STATE_ABORTED, .severity = KH_SEVERITY_FATAL, .message = TEXT("duplicate"),
       .detail = TEXT("d"), .hint = TEXT("h"), .schema_name = TEXT("public"), .table_name = TEXT("t"),
       .column_name = TEXT("c"), .constraint_name = TEXT("t_pkey"))
SIMPLE(pong, .request_id = 77, .payload = BYTES("pong"))
SIMPLE(transaction_token, ANSWER, .transaction_state = KH_TRANSACTION_STATE_ACTIVE,
       .token = TEXT("00112233445566778899aabbccddeeff"))

/* Entries of a decoded group, as an array to encode; freed by the caller. */
#define COLLECT(message, group, type)                                                                                  \
	type *group = calloc((size_t) (message)->group##_count + 1, sizeof(type));                                         \
	kh_group group##_cursor = (message)->group##_group;                                                                \
                                                                                                                       \
	for (size_t i = 0; type##_next(&group##_cursor, &group[i]); i++)                                                   \
		;                                                                                                              \
	(message)->group = group

static size_t
round_trip_prepare(const void *frame, size_t bytes, void *out, size_t capacity)
{
	kh_prepare_message message;
	size_t n;

	if (!kh_prepare_decode(frame, bytes, &message))
		return 0;
	COLLECT(&message, parameter_types, kh_prepare_parameter_types);
	n = kh_prepare_encode(&message, out, capacity);
	free(parameter_types);
	return n;
}

static size_t
example_prepare(void *out, size_t capacity)
{
	static const kh_prepare_parameter_types types[] = {{.type_oid = 23}, {.type_oid = 0}, {.type_oid = 25}};
	static const kh_prepare_message message = {
		REQUEST,
		.statement_id = 5,
		.sql_offset = 65536,
		.sql_bytes = 128,
		.parameter_types = types,
		.parameter_types_count = 3,
		.sql = TEXT("SELECT * FROM t WHERE a = $1 AND b = $2 AND c = $3"),
	};

	return kh_prepare_encode(&message, out, capacity);
}

static size_t
round_trip_invoke(const void *frame, size_t bytes, void *out, size_t capacity)
{
	kh_invoke_message message;
	size_t n;

	if (!kh_invoke_decode(frame, bytes, &message))
		return 0;
	COLLECT(&message, parameter_types, kh_invoke_parameter_types);
	n = kh_invoke_encode(&message, out, capacity);
	free(parameter_types);
	return n;
}

static size_t
example_invoke(void *out, size_t capacity)
{
	static const kh_invoke_parameter_types types[] = {{.type_oid = 20}, {.type_oid = 25}};
	static const kh_invoke_message message = {
		REQUEST,
		.flags = KH_EXECUTE_FLAGS_NEW_SNAPSHOT | KH_EXECUTE_FLAGS_COMMIT_AFTER,
		.shape = 12345,
		.transaction_handle = 42,
		.lease_nanos = 1,
		.inbound_offset = 65536,
		.inbound_bytes = 128,
		.timeout_millis = 250,
		.action = KH_TRANSACTION_ACTION_CONTINUE,
		.kind = KH_TRANSACTION_KIND_RTX,
		.isolation = KH_ISOLATION_LEVEL_REPEATABLE_READ,
		.response = KH_COMMIT_RESPONSE_AVAILABLE,
		.command = 7,
		.lock_timeout_millis = 100,
		.parameter_types = types,
		.parameter_types_count = 2,
		.procedure = TEXT("shop.place"),
		.parameters = BYTES("\0\1\2\3\4\5\6\7"),
	};

	return kh_invoke_encode(&message, out, capacity);
}

static size_t
round_trip_prepared(const void *frame, size_t bytes, void *out, size_t capacity)
{
	kh_prepared_message message;
	size_t n;

	if (!kh_prepared_decode(frame, bytes, &message))
		return 0;
	COLLECT(&message, parameters, kh_prepared_parameters);
	COLLECT(&message, columns, kh_prepared_columns);
	n = kh_prepared_encode(&message, out, capacity);
	free(parameters);
	free(columns);
	return n;
}

static size_t
example_prepared(void *out, size_t capacity)
{
	static const kh_prepared_parameters parameters[] = {{.type_oid = 23}};
	static const kh_prepared_columns columns[] = {
		{.type_oid = 23, .type_modifier = -1, .name = TEXT("id")},
		{.type_oid = 1043, .type_modifier = 24, .name = TEXT("\xE6\xA9\x8B")},
	};
	static const kh_prepared_message message = {
		ANSWER,
		.statement_id = 5,
		.transaction_state = KH_TRANSACTION_STATE_ACTIVE,
		.kind = KH_STATEMENT_KIND_DML,
		.parameters = parameters,
		.parameters_count = 1,
		.columns = columns,
		.columns_count = 2,
		.direct_read = BYTES("direct"),
	};

	return kh_prepared_encode(&message, out, capacity);
}

static size_t
round_trip_direct_read(const void *frame, size_t bytes, void *out, size_t capacity)
{
	kh_direct_read_message message;
	size_t n;

	if (!kh_direct_read_decode(frame, bytes, &message))
		return 0;
	COLLECT(&message, keys, kh_direct_read_keys);
	COLLECT(&message, columns, kh_direct_read_columns);
	n = kh_direct_read_encode(&message, out, capacity);
	free(keys);
	free(columns);
	return n;
}

static size_t
example_direct_read(void *out, size_t capacity)
{
	static const kh_direct_read_keys keys[] = {
		{.parameter = 0, .column = 1, .kind = KH_VALUE_KIND_WORD, .flags = KH_KEY_FLAGS_NULLABLE}};
	static const kh_direct_read_columns columns[] = {
		{.column = 1, .kind = KH_VALUE_KIND_WORD, .is_missing_null = 1},
		{.column = 2, .kind = KH_VALUE_KIND_VARLENA, .dictionary_cell = 4224},
	};
	static const kh_direct_read_message message = {
		.definitions = 7,
		.table_cell = 4096,
		.table_generation = 2,
		.index_cell = 4160,
		.index_generation = 4,
		.page_rows = 512,
		.keys = keys,
		.keys_count = 1,
		.columns = columns,
		.columns_count = 2,
	};

	return kh_direct_read_encode(&message, out, capacity);
}

static size_t
round_trip_buffers_granted(const void *frame, size_t bytes, void *out, size_t capacity)
{
	kh_buffers_granted_message message;
	size_t n;

	if (!kh_buffers_granted_decode(frame, bytes, &message))
		return 0;
	COLLECT(&message, buffers, kh_buffers_granted_buffers);
	n = kh_buffers_granted_encode(&message, out, capacity);
	free(buffers);
	return n;
}

static size_t
example_buffers_granted(void *out, size_t capacity)
{
	static const kh_buffers_granted_buffers buffers[] = {{.arena_offset = 0}, {.arena_offset = 131072}};
	static const kh_buffers_granted_message message = {
		.request_id = 77,
		.buffer_bytes = 131072,
		.buffers = buffers,
		.buffers_count = 2,
	};

	return kh_buffers_granted_encode(&message, out, capacity);
}

#define ENTRY(lower, upper)                                                                                            \
	{                                                                                                                  \
#lower, KH_##upper##_TEMPLATE_ID, round_trip_##lower, example_##lower                                          \
	}

const sample samples[SAMPLE_COUNT] = {
	ENTRY(attach, ATTACH),
	ENTRY(attached, ATTACHED),
	ENTRY(begin, BEGIN),
	ENTRY(begin_transaction, BEGIN_TRANSACTION),
	ENTRY(commit, COMMIT),
	ENTRY(rollback, ROLLBACK),
	ENTRY(savepoint, SAVEPOINT),
	ENTRY(release_savepoint, RELEASE_SAVEPOINT),
	ENTRY(rollback_to_savepoint, ROLLBACK_TO_SAVEPOINT),
	ENTRY(prepare_transaction, PREPARE_TRANSACTION),
	ENTRY(commit_prepared, COMMIT_PREPARED),
	ENTRY(rollback_prepared, ROLLBACK_PREPARED),
	ENTRY(prepare, PREPARE),
	ENTRY(execute, EXECUTE),
	ENTRY(invoke, INVOKE),
	ENTRY(close_statement, CLOSE_STATEMENT),
	ENTRY(cancel, CANCEL),
	ENTRY(acquire_buffers, ACQUIRE_BUFFERS),
	ENTRY(release_buffers, RELEASE_BUFFERS),
	ENTRY(ping, PING),
	ENTRY(query_outcome, QUERY_OUTCOME),
	ENTRY(cancel_transaction, CANCEL_TRANSACTION),
	ENTRY(set_application_name, SET_APPLICATION_NAME),
	ENTRY(set_role, SET_ROLE),
	ENTRY(export_transaction, EXPORT_TRANSACTION),
	ENTRY(continue_transaction, CONTINUE_TRANSACTION),
	ENTRY(authentication_challenge, AUTHENTICATION_CHALLENGE),
	ENTRY(authentication_response, AUTHENTICATION_RESPONSE),
	ENTRY(completed, COMPLETED),
	ENTRY(failed, FAILED),
	ENTRY(prepared, PREPARED),
	ENTRY(direct_read, DIRECT_READ),
	ENTRY(buffers_granted, BUFFERS_GRANTED),
	ENTRY(pong, PONG),
	ENTRY(transaction_token, TRANSACTION_TOKEN),
};

const sample *
sample_of_template(uint16_t template_id)
{
	for (size_t i = 0; i < SAMPLE_COUNT; i++)
	{
		if (samples[i].template_id == template_id)
			return &samples[i];
	}
	return NULL;
}

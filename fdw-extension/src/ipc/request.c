/*
 * Requests: arguments to a frame, the frame into the queue, the endpoint awake.
 */
#include "session_internal.h"

#include <stdlib.h>
#include <string.h>

/* Longest block and header of a Prepare message, with room for versions to come. */
#define PREPARE_OVERHEAD_BYTES 256

/* Longest text or bytes in any message: maxValue in messages.xml. */
#define MAX_VAR_DATA_BYTES (1024 * 1024)

bool
kh_is_damage(const kh_error *error)
{
	return strncmp(error->sqlstate, "53", 2) != 0 && strncmp(error->sqlstate, "54", 2) != 0;
}

/* Appends the frame of that many bytes in session->request; 0: it was too long to encode. */
static bool
send_frame(kh_session *session, size_t bytes, kh_error *error)
{
	kh_error failure;

	if (session->broken)
		return kh_fail(error, KH_E_CONNECTION_FAILURE, "connection to the endpoint was lost");
	if (bytes == 0)
	{
		kh_fail(error, KH_E_LIMIT_EXCEEDED, "request is longer than the endpoint accepts");
		kh_set_detail(error, "A request has at most %u bytes, and a text in it 1 MiB.",
		              session->published.limits.max_frame_bytes);
		return false;
	}
	if (!kh_queue_append(session->queue, session->request, (uint32_t) bytes, &failure))
	{
		/* Whoever shares the queue has it no better. The session ends; the next one gets another queue. */
		if (kh_is_damage(&failure))
			session->broken = session->queue_damaged = true;
		if (error != NULL)
			*error = failure;
		return false;
	}
	kh_doorbell_ring(session, false);
	return true;
}

/* Sends a request that has a slot; it is given back when sending fails. */
static kh_call *
send_call(kh_call *call, size_t bytes, kh_error *error)
{
	if (send_frame(call->session, bytes, error))
		return call;
	kh_call_unused(call);
	return NULL;
}

/* What a request without a call begins with. */
#define KH_REQUEST_WITHOUT_CALL(session)                                                                               \
	.session_id = (session)->published.session_id, .request_id = (session)->next_request_id++, .slot = KH_NO_SLOT

#define KH_ENCODE(session, name, message)                                                                              \
	kh_##name##_encode(&(message), (session)->request, (session)->published.limits.max_frame_bytes)

/* Enters a call into the message, and sends that. */
#define KH_SEND_OF(session, call, name, message, error)                                                                \
	do                                                                                                                 \
	{                                                                                                                  \
		(message).session_id = (session)->published.session_id;                                                        \
		(message).request_id = (call)->request_id;                                                                     \
		(message).slot = (call)->slot_number;                                                                          \
		return send_call(call, KH_ENCODE(session, name, message), error);                                              \
	} while (0)

/* Takes a call, enters it into the message, and sends that; the call, or NULL. Every request begins with these fields. */
#define KH_SEND(session, name, message, error)                                                                         \
	do                                                                                                                 \
	{                                                                                                                  \
		kh_call *call_ = kh_call_begin(session, error);                                                                \
                                                                                                                       \
		if (call_ == NULL)                                                                                             \
			return NULL;                                                                                               \
		KH_SEND_OF(session, call_, name, message, error);                                                              \
	} while (0)

static kh_call *
send_prepare(kh_session *session, kh_prepare_message *message, kh_error *error)
{
	KH_SEND(session, prepare, *message, error);
}

bool
kh_prepare_fits(const kh_session *session, size_t sql_bytes, uint32_t parameter_count)
{
	return sql_bytes <= MAX_VAR_DATA_BYTES &&
	       sql_bytes + (size_t) parameter_count * sizeof(uint32_t) + PREPARE_OVERHEAD_BYTES <=
	           session->published.limits.max_frame_bytes;
}

static kh_call *
prepare_with_types(kh_session *session, kh_prepare_message *message, const uint32_t *parameter_type_oids,
                   uint32_t parameter_count, kh_error *error)
{
	kh_prepare_parameter_types *types = calloc((size_t) parameter_count + 1, sizeof(*types));
	kh_call *call = NULL;

	message->parameter_types = types;
	message->parameter_types_count = (uint16_t) parameter_count;

	if (types == NULL)
		kh_fail_system(error, ENOMEM, KH_E_OUT_OF_MEMORY, "could not send a statement");
	else if (parameter_count >= UINT16_MAX)
		kh_fail(error, KH_E_LIMIT_EXCEEDED, "a statement has at most %d parameters, not %u", UINT16_MAX - 1,
		        parameter_count);
	else
	{
		for (uint32_t i = 0; i < parameter_count; i++)
			types[i].type_oid = parameter_type_oids[i];
		call = send_prepare(session, message, error);
	}
	free(types);
	return call;
}

kh_call *
kh_send_prepare(kh_session *session, uint32_t statement_id, const char *sql, const uint32_t *parameter_type_oids,
                uint32_t parameter_count, kh_error *error)
{
	size_t sql_bytes = strlen(sql);
	kh_prepare_message message = {
		.statement_id = statement_id,
		.sql = {.data = sql, .bytes = sql_bytes <= UINT32_MAX ? (uint32_t) sql_bytes : UINT32_MAX},
	};

	return prepare_with_types(session, &message, parameter_type_oids, parameter_count, error);
}

kh_call *
kh_send_prepare_inbound(kh_session *session, uint32_t statement_id, uint64_t arena_offset, uint32_t sql_bytes,
                        const uint32_t *parameter_type_oids, uint32_t parameter_count, kh_error *error)
{
	kh_prepare_message message = {
		.statement_id = statement_id,
		.sql_offset = arena_offset,
		.sql_bytes = sql_bytes,
	};

	return prepare_with_types(session, &message, parameter_type_oids, parameter_count, error);
}

static kh_call *
send_execute(kh_session *session, kh_execute_message *message, const kh_execute_options *options, kh_error *error)
{
	message->flags = (uint16_t) ((options->new_snapshot ? KH_EXECUTE_FLAGS_NEW_SNAPSHOT : 0) |
	                             (options->commit_after ? KH_EXECUTE_FLAGS_COMMIT_AFTER : 0));
	message->transaction_handle = options->handle;
	message->lease_nanos = options->lease_nanos;
	message->timeout_millis = options->timeout_millis;
	message->command = options->command;
	message->lock_timeout_millis = options->lock_timeout_millis;
	message->action = (uint8_t) options->action;
	message->kind = (uint8_t) options->kind;
	message->isolation = (uint8_t) options->isolation;
	message->response = (uint8_t) options->response;
	KH_SEND(session, execute, *message, error);
}

kh_call *
kh_send_execute(kh_session *session, uint32_t statement_id, const kh_execute_options *options, const void *parameters,
                uint32_t parameters_bytes, kh_error *error)
{
	kh_execute_message message = {
		.statement_id = statement_id,
		.parameters = {.data = parameters, .bytes = parameters != NULL ? parameters_bytes : 0},
	};

	return send_execute(session, &message, options, error);
}

kh_call *
kh_send_execute_inbound(kh_session *session, uint32_t statement_id, const kh_execute_options *options,
                        uint64_t arena_offset, uint32_t bytes, kh_error *error)
{
	kh_execute_message message = {
		.statement_id = statement_id,
		.inbound_offset = arena_offset,
		.inbound_bytes = bytes,
	};

	return send_execute(session, &message, options, error);
}

/* Longest name of a procedure in a request. */
#define MAX_PROCEDURE_BYTES 1024

static kh_call *
send_invoke(kh_session *session, kh_invoke_message *message, kh_error *error)
{
	KH_SEND(session, invoke, *message, error);
}

kh_call *
kh_send_invoke(kh_session *session, const char *procedure, const uint32_t *parameter_type_oids,
               uint32_t parameter_count, uint32_t shape, const kh_execute_options *options, const void *parameters,
               uint32_t parameters_bytes, kh_error *error)
{
	size_t name_bytes = strlen(procedure);
	kh_invoke_parameter_types *types;
	kh_invoke_message message = {
		.flags = (uint16_t) ((options->new_snapshot ? KH_EXECUTE_FLAGS_NEW_SNAPSHOT : 0) |
	                         (options->commit_after ? KH_EXECUTE_FLAGS_COMMIT_AFTER : 0)),
		.shape = shape,
		.transaction_handle = options->handle,
		.lease_nanos = options->lease_nanos,
		.timeout_millis = options->timeout_millis,
		.command = options->command,
		.lock_timeout_millis = options->lock_timeout_millis,
		.action = (uint8_t) options->action,
		.kind = (uint8_t) options->kind,
		.isolation = (uint8_t) options->isolation,
		.response = (uint8_t) options->response,
		.parameters = {.data = parameters, .bytes = parameters != NULL ? parameters_bytes : 0},
	};
	kh_call *call;

	if (name_bytes == 0 || name_bytes > MAX_PROCEDURE_BYTES)
	{
		kh_fail(error, KH_E_INVALID_NAME, "name of a procedure has 1 to %d bytes, not %zu", MAX_PROCEDURE_BYTES,
		        name_bytes);
		return NULL;
	}
	if (parameter_count >= UINT16_MAX)
	{
		kh_fail(error, KH_E_LIMIT_EXCEEDED, "a call has at most %d parameters, not %u", UINT16_MAX - 1,
		        parameter_count);
		return NULL;
	}
	types = calloc((size_t) parameter_count + 1, sizeof(*types));
	if (types == NULL)
	{
		kh_fail_system(error, ENOMEM, KH_E_OUT_OF_MEMORY, "could not send a call");
		return NULL;
	}
	for (uint32_t i = 0; i < parameter_count; i++)
		types[i].type_oid = parameter_type_oids[i];
	message.procedure = (kh_text){.data = procedure, .bytes = (uint32_t) name_bytes};
	message.parameter_types = types;
	message.parameter_types_count = (uint16_t) parameter_count;
	call = send_invoke(session, &message, error);
	free(types);
	return call;
}

static kh_text
text_of(const char *string)
{
	return (kh_text){.data = string, .bytes = string != NULL ? (uint32_t) strlen(string) : 0};
}

kh_call *
kh_send_begin(kh_session *session, const kh_begin_options *options, kh_error *error)
{
	kh_begin_transaction_message message = {
		.kind = (uint8_t) options->kind,
		.isolation = (uint8_t) options->isolation,
		.lease_nanos = options->lease_nanos,
		.timeout_nanos = options->timeout_nanos,
		.priority = options->priority,
		.deferrable = options->deferrable ? 1 : 0,
		.label = text_of(options->label),
		.write_preserve = text_of(options->write_preserve),
		.read_include = text_of(options->read_include),
		.read_exclude = text_of(options->read_exclude),
	};

	KH_SEND(session, begin_transaction, message, error);
}

kh_call *
kh_send_commit(kh_session *session, uint64_t handle, kh_commit_response response, kh_error *error)
{
	kh_commit_message message = {
		.response = (uint8_t) response,
		.transaction_handle = handle,
	};

	KH_SEND(session, commit, message, error);
}

kh_call *
kh_send_rollback(kh_session *session, uint64_t handle, kh_error *error)
{
	kh_rollback_message message = {.transaction_handle = handle};

	KH_SEND(session, rollback, message, error);
}

/* strlen as a field's length; what is longer than a message fails to encode. */
static uint32_t
text_bytes(const char *text)
{
	size_t bytes = strlen(text);

	return bytes <= UINT32_MAX ? (uint32_t) bytes : UINT32_MAX;
}

kh_call *
kh_send_prepare_transaction(kh_session *session, uint64_t handle, const char *global_id, kh_error *error)
{
	kh_prepare_transaction_message message = {
		.transaction_handle = handle,
		.global_id = {.data = global_id, .bytes = text_bytes(global_id)},
	};

	KH_SEND(session, prepare_transaction, message, error);
}

kh_call *
kh_send_commit_prepared(kh_session *session, const char *global_id, kh_commit_response response, kh_error *error)
{
	kh_commit_prepared_message message = {
		.response = (uint8_t) response,
		.global_id = {.data = global_id, .bytes = text_bytes(global_id)},
	};

	KH_SEND(session, commit_prepared, message, error);
}

kh_call *
kh_send_rollback_prepared(kh_session *session, const char *global_id, kh_error *error)
{
	kh_rollback_prepared_message message = {.global_id = {.data = global_id, .bytes = text_bytes(global_id)}};

	KH_SEND(session, rollback_prepared, message, error);
}

kh_call *
kh_send_savepoint(kh_session *session, kh_savepoint_verb verb, uint64_t handle, uint32_t level, kh_error *error)
{
	kh_savepoint_message set = {.transaction_handle = handle, .level = level};
	kh_release_savepoint_message release = {.transaction_handle = handle, .level = level};
	kh_rollback_to_savepoint_message rollback = {.transaction_handle = handle, .level = level};

	switch (verb)
	{
		case KH_SAVEPOINT:
			KH_SEND(session, savepoint, set, error);
		case KH_RELEASE_SAVEPOINT:
			KH_SEND(session, release_savepoint, release, error);
		case KH_ROLLBACK_TO_SAVEPOINT:
			KH_SEND(session, rollback_to_savepoint, rollback, error);
	}
	kh_fail(error, KH_E_INTERNAL_ERROR, "no such savepoint request: %d", (int) verb);
	return NULL;
}

kh_call *
kh_send_ping(kh_session *session, const void *payload, uint32_t bytes, kh_error *error)
{
	kh_ping_message message = {.payload = {.data = payload, .bytes = bytes}};

	KH_SEND(session, ping, message, error);
}

kh_call *
kh_send_query_outcome(kh_session *session, uint64_t handle, kh_error *error)
{
	kh_query_outcome_message message = {.transaction_handle = handle};

	KH_SEND(session, query_outcome, message, error);
}

kh_call *
kh_send_cancel_transaction(kh_session *session, uint64_t handle, kh_error *error)
{
	kh_cancel_transaction_message message = {.transaction_handle = handle};

	KH_SEND(session, cancel_transaction, message, error);
}

kh_call *
kh_send_export_transaction(kh_session *session, uint64_t handle, kh_error *error)
{
	kh_export_transaction_message message = {.transaction_handle = handle};

	KH_SEND(session, export_transaction, message, error);
}

kh_call *
kh_send_continue_transaction(kh_session *session, const char *token, kh_error *error)
{
	kh_continue_transaction_message message = {.token = {.data = token, .bytes = text_bytes(token)}};

	KH_SEND(session, continue_transaction, message, error);
}

kh_call *
kh_send_acquire_buffers(kh_session *session, uint16_t count, uint32_t buffer_bytes, kh_error *error)
{
	kh_acquire_buffers_message message = {.count = count, .buffer_bytes = buffer_bytes};
	kh_call *call = kh_call_begin(session, error);

	if (call == NULL)
		return NULL;
	/* Before they are granted: what is granted and not known would be nobody's until the session ends. */
	call->buffers = calloc((size_t) count + 1, sizeof(*call->buffers));
	if (call->buffers == NULL)
	{
		kh_fail_system(error, ENOMEM, KH_E_OUT_OF_MEMORY, "could not ask for %u buffers", (unsigned) count);
		kh_call_unused(call);
		return NULL;
	}
	call->buffer_room = count;
	KH_SEND_OF(session, call, acquire_buffers, message, error);
}

bool
kh_post_commit(kh_session *session, uint64_t handle, kh_error *error)
{
	kh_commit_message message = {
		KH_REQUEST_WITHOUT_CALL(session),
		.response = KH_COMMIT_RESPONSE_AVAILABLE,
		.transaction_handle = handle,
	};

	return send_frame(session, KH_ENCODE(session, commit, message), error);
}

bool
kh_post_rollback(kh_session *session, uint64_t handle, kh_error *error)
{
	kh_rollback_message message = {KH_REQUEST_WITHOUT_CALL(session), .transaction_handle = handle};

	return send_frame(session, KH_ENCODE(session, rollback, message), error);
}

bool
kh_post_commit_prepared(kh_session *session, const char *global_id, kh_commit_response response, kh_error *error)
{
	kh_commit_prepared_message message = {
		KH_REQUEST_WITHOUT_CALL(session),
		.response = (uint8_t) response,
		.global_id = {.data = global_id, .bytes = text_bytes(global_id)},
	};

	return send_frame(session, KH_ENCODE(session, commit_prepared, message), error);
}

bool
kh_post_rollback_prepared(kh_session *session, const char *global_id, kh_error *error)
{
	kh_rollback_prepared_message message = {
		KH_REQUEST_WITHOUT_CALL(session),
		.global_id = {.data = global_id, .bytes = text_bytes(global_id)},
	};

	return send_frame(session, KH_ENCODE(session, rollback_prepared, message), error);
}

bool
kh_post_rollback_to_savepoint(kh_session *session, uint64_t handle, uint32_t level, kh_error *error)
{
	kh_rollback_to_savepoint_message message = {KH_REQUEST_WITHOUT_CALL(session), .transaction_handle = handle,
	                                            .level = level};

	return send_frame(session, KH_ENCODE(session, rollback_to_savepoint, message), error);
}

bool
kh_post_close_statement(kh_session *session, uint32_t statement_id, kh_error *error)
{
	kh_close_statement_message message = {KH_REQUEST_WITHOUT_CALL(session), .statement_id = statement_id};

	return send_frame(session, KH_ENCODE(session, close_statement, message), error);
}

bool
kh_post_cancel(kh_call *call, kh_error *error)
{
	kh_session *session = call->session;
	kh_cancel_message message = {KH_REQUEST_WITHOUT_CALL(session), .target_request_id = call->request_id};

	return send_frame(session, KH_ENCODE(session, cancel, message), error);
}

bool
kh_post_application_name(kh_session *session, const char *name, kh_error *error)
{
	kh_set_application_name_message message = {KH_REQUEST_WITHOUT_CALL(session), .application_name = text_of(name)};

	return send_frame(session, KH_ENCODE(session, set_application_name, message), error);
}

bool
kh_post_role(kh_session *session, const char *role, bool monitors, kh_error *error)
{
	kh_set_role_message message = {KH_REQUEST_WITHOUT_CALL(session), .monitors = monitors, .role = text_of(role)};

	return send_frame(session, KH_ENCODE(session, set_role, message), error);
}

bool
kh_post_release_buffers(kh_session *session, kh_error *error)
{
	kh_release_buffers_message message = {KH_REQUEST_WITHOUT_CALL(session)};

	return send_frame(session, KH_ENCODE(session, release_buffers, message), error);
}

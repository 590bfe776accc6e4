/*
 * The final frame of a call: copied out of shared memory once, then decoded.
 */
#include "session_internal.h"

#include <stdlib.h>
#include <string.h>

static void
set_transaction(kh_result *result, uint8_t state, uint64_t handle, uint64_t lease_deadline_nanos)
{
	result->transaction_state = (kh_transaction_state) state;
	result->transaction_handle = handle;
	result->lease_deadline_nanos = lease_deadline_nanos;
}

/* Five characters of six bits each, the first in the lowest bits, as PostgreSQL packs them. */
static void
unpack_sqlstate(uint32_t packed, char *text)
{
	for (int i = 0; i < 5; i++)
	{
		char c = (char) ((packed >> (6 * i) & 0x3F) + '0');

		text[i] = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ? c : '?';
	}
	text[5] = '\0';
	if (strchr(text, '?') != NULL || strncmp(text, "00", 2) == 0)
		memcpy(text, "XX000", 6);
}

void
kh_final_error(const kh_failed_message *failed, kh_error *error)
{
	memset(error, 0, sizeof(*error));
	unpack_sqlstate(failed->sqlstate, error->sqlstate);
	error->number = failed->error_number;
	error->position = failed->position;
	error->from_endpoint = true;
	kh_copy_text(error->message, sizeof(error->message), failed->message.data, failed->message.bytes);
	kh_copy_text(error->detail, sizeof(error->detail), failed->detail.data, failed->detail.bytes);
	kh_copy_text(error->hint, sizeof(error->hint), failed->hint.data, failed->hint.bytes);
	kh_copy_text(error->schema_name, sizeof(error->schema_name), failed->schema_name.data, failed->schema_name.bytes);
	kh_copy_text(error->table_name, sizeof(error->table_name), failed->table_name.data, failed->table_name.bytes);
	kh_copy_text(error->column_name, sizeof(error->column_name), failed->column_name.data, failed->column_name.bytes);
	kh_copy_text(error->constraint_name, sizeof(error->constraint_name), failed->constraint_name.data,
	             failed->constraint_name.bytes);
}

static bool
decode_completed(kh_call *call, size_t bytes)
{
	kh_completed_message completed;

	if (!kh_completed_decode(call->frame, bytes, &completed) || completed.request_id != call->request_id)
		return false;
	set_transaction(&call->result, completed.transaction_state, completed.transaction_handle,
	                completed.lease_deadline_nanos);
	call->result.rows_affected = completed.rows_affected;
	call->result.undurable_reads = completed.undurable_reads == 1;
	return true;
}

static bool
decode_failed(kh_call *call, size_t bytes)
{
	kh_failed_message failed;

	if (!kh_failed_decode(call->frame, bytes, &failed) || failed.request_id != call->request_id)
		return false;
	set_transaction(&call->result, failed.transaction_state, failed.transaction_handle, failed.lease_deadline_nanos);
	call->result.failed = true;
	kh_final_error(&failed, &call->result.error);
	return true;
}

/* The request succeeded over there, but its description does not fit into our memory. */
static void
fail_for_memory(kh_call *call)
{
	call->result.failed = true;
	kh_fail_system(&call->result.error, ENOMEM, KH_E_OUT_OF_MEMORY, "could not read the endpoint's answer");
}

static bool
decode_prepared(kh_call *call, size_t bytes)
{
	kh_prepared_message prepared;
	kh_prepared_parameters parameter;
	kh_prepared_columns column;

	if (!kh_prepared_decode(call->frame, bytes, &prepared) || prepared.request_id != call->request_id)
		return false;
	set_transaction(&call->result, prepared.transaction_state, prepared.transaction_handle,
	                prepared.lease_deadline_nanos);
	/* One more than needed, as calloc(0) may be NULL. */
	call->columns = calloc((size_t) prepared.columns_count + 1, sizeof(*call->columns));
	call->parameter_type_oids = calloc((size_t) prepared.parameters_count + 1, sizeof(*call->parameter_type_oids));
	if (call->columns == NULL || call->parameter_type_oids == NULL)
	{
		fail_for_memory(call);
		return true;
	}
	call->result.statement_kind = (kh_statement_kind) prepared.kind;
	for (uint32_t i = 0; kh_prepared_parameters_next(&prepared.parameters_group, &parameter); i++)
		call->parameter_type_oids[i] = parameter.type_oid;
	for (uint32_t i = 0; kh_prepared_columns_next(&prepared.columns_group, &column); i++)
	{
		call->columns[i].type_oid = column.type_oid;
		call->columns[i].type_modifier = column.type_modifier;
		kh_copy_text(call->columns[i].name, sizeof(call->columns[i].name), column.name.data, column.name.bytes);
	}
	call->result.parameter_count = prepared.parameters_count;
	call->result.parameter_type_oids = call->parameter_type_oids;
	call->result.column_count = prepared.columns_count;
	call->result.columns = call->columns;
	/* In the frame, which stays until the call is used again. */
	call->result.direct_read = prepared.direct_read.bytes > 0 ? prepared.direct_read.data : NULL;
	call->result.direct_read_bytes = prepared.direct_read.bytes;
	return true;
}

static bool
decode_granted(kh_call *call, size_t bytes)
{
	uint64_t arena_bytes = call->session->published.arena_file_bytes;
	kh_buffers_granted_message granted;
	kh_buffers_granted_buffers buffer;

	if (!kh_buffers_granted_decode(call->frame, bytes, &granted) || granted.request_id != call->request_id)
		return false;
	/* Room for what was asked for is there since then. */
	if (granted.buffers_count > call->buffer_room)
		return false;
	while (kh_buffers_granted_buffers_next(&granted.buffers_group, &buffer))
	{
		if (buffer.arena_offset % 8 != 0 || buffer.arena_offset > arena_bytes ||
		    granted.buffer_bytes > arena_bytes - buffer.arena_offset)
			return false;
		call->buffers[call->buffer_count++] = buffer.arena_offset;
	}
	call->buffer_bytes = granted.buffer_bytes;
	return true;
}

static bool
decode_pong(kh_call *call, size_t bytes)
{
	kh_pong_message pong;

	if (!kh_pong_decode(call->frame, bytes, &pong) || pong.request_id != call->request_id)
		return false;
	call->payload = pong.payload.data;
	call->payload_bytes = pong.payload.bytes;
	return true;
}

/* Letters and digits alone, so that it can stand in a URL, a header and a statement as it is. */
static bool
decode_token(kh_call *call, size_t bytes)
{
	kh_transaction_token_message answer;

	if (!kh_transaction_token_decode(call->frame, bytes, &answer) || answer.request_id != call->request_id ||
	    answer.token.bytes == 0 || answer.token.bytes >= sizeof(call->token))
		return false;
	for (uint32_t i = 0; i < answer.token.bytes; i++)
	{
		if (strchr("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", answer.token.data[i]) == NULL ||
		    answer.token.data[i] == '\0')
			return false;
	}
	set_transaction(&call->result, answer.transaction_state, answer.transaction_handle, answer.lease_deadline_nanos);
	memcpy(call->token, answer.token.data, answer.token.bytes);
	call->token[answer.token.bytes] = '\0';
	return true;
}

static bool
decode(kh_call *call, size_t bytes)
{
	kh_message_header header;

	if (!kh_message_header_decode(call->frame, bytes, &header))
		return false;
	switch (header.template_id)
	{
		case KH_COMPLETED_TEMPLATE_ID:
			return decode_completed(call, bytes);
		case KH_FAILED_TEMPLATE_ID:
			return decode_failed(call, bytes);
		case KH_PREPARED_TEMPLATE_ID:
			return decode_prepared(call, bytes);
		case KH_BUFFERS_GRANTED_TEMPLATE_ID:
			return decode_granted(call, bytes);
		case KH_PONG_TEMPLATE_ID:
			return decode_pong(call, bytes);
		case KH_TRANSACTION_TOKEN_TEMPLATE_ID:
			return decode_token(call, bytes);
		default:
			return false;
	}
}

/* Where the final frame of that length lies: in the slot, or where the slot says if it is longer than its area. */
static const unsigned char *
locate(const kh_call *call, uint32_t bytes)
{
	const kh_published *published = &call->session->published;
	const unsigned char *area = (const unsigned char *) call->slot + published->frame_offset;
	uint64_t offset;

	if (bytes <= published->frame_area_bytes)
		return area;
	memcpy(&offset, area, sizeof(offset));
	return offset != KH_INLINE_OFFSET ? kh_batch_locate(call, offset, bytes) : NULL;
}

/* Room for a copy; kept for the next call of the slot unless it is long. */
static bool
make_room(kh_call *call, uint32_t bytes)
{
	uint32_t room = call->session->published.frame_area_bytes;
	unsigned char *frame;

	if (bytes > room)
		room = bytes;
	if (call->frame != NULL && call->frame_room >= room)
		return true;
	frame = malloc((size_t) room + 1);
	if (frame == NULL)
		return false;
	free(call->frame);
	call->frame = frame;
	call->frame_room = room;
	return true;
}

bool
kh_final_reserve(kh_call *call, kh_error *error)
{
	return make_room(call, 0) ||
	       kh_fail_system(error, ENOMEM, KH_E_OUT_OF_MEMORY, "could not send a request to the endpoint");
}

bool
kh_final_decode(kh_call *call, kh_error *error)
{
	uint32_t bytes = kh_load_relaxed(&call->slot->frame_bytes);
	const unsigned char *frame = locate(call, bytes);

	if (frame == NULL)
	{
		kh_session_violated(call->session, error, "a final frame lies outside of the shared memory");
		return false;
	}
	if (!make_room(call, bytes))
	{
		fail_for_memory(call);
		return true;
	}
	memcpy(call->frame, frame, bytes);
	call->result.execution_nanos = kh_load_relaxed(&call->slot->execution_nanos);
	if (decode(call, bytes))
		return true;
	kh_session_violated(call->session, error, "a final frame is malformed");
	return false;
}

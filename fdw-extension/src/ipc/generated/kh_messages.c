/* Generated from ipc-endpoint/protocol/schema/messages.xml by "make generate". Do not edit. */
/* clang-format off */

/* Decoders and encoders; see kh_messages.h. */

#include "kh_messages.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the protocol is little-endian, and so must be the machine"
#endif

/* What has not been read of a frame. left never exceeds the bytes that exist at at. */
typedef struct reader
{
	const unsigned char *at;
	size_t		left;
	uint16_t	version;	/* of the writer */
} reader;

/* What has been written of a frame. used <= capacity. */
typedef struct writer
{
	unsigned char *frame;
	size_t		capacity;
	size_t		used;
} writer;

#define ACCESSORS(suffix, type) \
	static inline type get_##suffix(const unsigned char *at) \
	{ \
		type		value; \
 \
		memcpy(&value, at, sizeof(value)); \
		return value; \
	} \
	static inline void put_##suffix(unsigned char *at, type value) \
	{ \
		memcpy(at, &value, sizeof(value)); \
	}

/* The next n bytes, or NULL when there are fewer. */
static const unsigned char *
take(reader *r, size_t n)
{
	const unsigned char *at = r->at;

	if (r->left < n)
		return NULL;
	r->at += n;
	r->left -= n;
	return at;
}

/* Room for n bytes, or NULL when it does not fit. */
static unsigned char *
claim(writer *w, size_t n)
{
	unsigned char *at = w->frame + w->used;

	if (w->capacity - w->used < n)
		return NULL;
	w->used += n;
	return at;
}

/* RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
static bool
is_utf8(const unsigned char *at, size_t n)
{
	const unsigned char *end = at + n;

	while (at < end)
	{
		unsigned char lead = *at++;
		unsigned char low = 0x80;
		unsigned char high = 0xBF;
		int			more;

		if (lead < 0x80)
			continue;
		if (lead >= 0xC2 && lead <= 0xDF)
			more = 1;
		else if (lead >= 0xE0 && lead <= 0xEF)
			more = 2;
		else if (lead >= 0xF0 && lead <= 0xF4)
			more = 3;
		else
			return false;
		if (lead == 0xE0)
			low = 0xA0;
		else if (lead == 0xED)
			high = 0x9F;
		else if (lead == 0xF0)
			low = 0x90;
		else if (lead == 0xF4)
			high = 0x8F;
		for (; more > 0; more--, at++)
		{
			if (at == end || *at < low || *at > high)
				return false;
			low = 0x80;
			high = 0xBF;
		}
	}
	return true;
}

static bool
read_bytes(reader *r, uint32_t max_bytes, const unsigned char **data, uint32_t *bytes)
{
	const unsigned char *length = take(r, sizeof(uint32_t));

	if (length == NULL)
		return false;
	memcpy(bytes, length, sizeof(*bytes));
	if (*bytes > max_bytes)
		return false;
	*data = take(r, *bytes);
	return *data != NULL;
}

static bool
write_bytes(writer *w, uint32_t max_bytes, const void *data, uint32_t bytes)
{
	unsigned char *at;

	if (bytes > max_bytes || (at = claim(w, sizeof(bytes))) == NULL)
		return false;
	memcpy(at, &bytes, sizeof(bytes));
	if ((at = claim(w, bytes)) == NULL)
		return false;
	if (bytes > 0)
		memcpy(at, data, bytes);
	return true;
}

bool
kh_message_header_decode(const void *frame, size_t bytes, kh_message_header *out)
{
	if (bytes < KH_MESSAGE_HEADER_BYTES)
		return false;
	memcpy(&out->block_bytes, frame, 2);
	memcpy(&out->template_id, (const unsigned char *) frame + 2, 2);
	memcpy(&out->schema_id, (const unsigned char *) frame + 4, 2);
	memcpy(&out->version, (const unsigned char *) frame + 6, 2);
	return out->schema_id == KH_SCHEMA_ID && out->version != 0;
}

/* The block of the expected message, at least of the length that its writer's version has; or NULL. */
static const unsigned char *
begin_read(reader *r, const void *frame, size_t bytes, uint16_t template_id, size_t *block_bytes)
{
	kh_message_header header;

	if (!kh_message_header_decode(frame, bytes, &header) || header.template_id != template_id)
		return NULL;
	r->at = (const unsigned char *) frame + KH_MESSAGE_HEADER_BYTES;
	r->left = bytes - KH_MESSAGE_HEADER_BYTES;
	r->version = header.version;
	*block_bytes = header.block_bytes;
	return take(r, header.block_bytes);
}

/* Bytes after the last known part are data that a newer version has appended, or garbage. */
static bool
end_read(const reader *r)
{
	return r->left == 0 || r->version > KH_SCHEMA_VERSION;
}

static unsigned char *
begin_write(writer *w, void *frame, size_t capacity, uint16_t template_id, uint16_t block_bytes)
{
	static const uint16_t schema[2] = {KH_SCHEMA_ID, KH_SCHEMA_VERSION};
	unsigned char *at;

	w->frame = frame;
	w->capacity = capacity;
	w->used = 0;
	if ((at = claim(w, (size_t) KH_MESSAGE_HEADER_BYTES + block_bytes)) == NULL)
		return NULL;
	memcpy(at, &block_bytes, 2);
	memcpy(at + 2, &template_id, 2);
	memcpy(at + 4, schema, 4);
	memset(at + KH_MESSAGE_HEADER_BYTES, 0, block_bytes);
	return at + KH_MESSAGE_HEADER_BYTES;
}

/* Reads the dimensions; the entries follow. */
static bool
begin_read_group(reader *r, kh_group *group)
{
	const unsigned char *dimensions = take(r, 4);

	if (dimensions == NULL)
		return false;
	memcpy(&group->block_bytes, dimensions, 2);
	memcpy(&group->count, dimensions + 2, 2);
	group->at = r->at;
	group->version = r->version;
	return true;
}

/* 65535 is the null value of the count. */
static bool
begin_write_group(writer *w, uint16_t block_bytes, uint16_t count)
{
	unsigned char *dimensions = count == UINT16_MAX ? NULL : claim(w, 4);

	if (dimensions == NULL)
		return false;
	memcpy(dimensions, &block_bytes, 2);
	memcpy(dimensions + 2, &count, 2);
	return true;
}

ACCESSORS(i32, int32_t)
ACCESSORS(u8, uint8_t)
ACCESSORS(u16, uint16_t)
ACCESSORS(u32, uint32_t)
ACCESSORS(u64, uint64_t)

static bool
is_client_kind(uint8_t value)
{
	switch (value)
	{
		case KH_CLIENT_KIND_POSTGRESQL_BACKEND:
		case KH_CLIENT_KIND_JAVA_CLIENT:
			return true;
		default:
			return false;
	}
}

static bool
is_commit_response(uint8_t value)
{
	switch (value)
	{
		case KH_COMMIT_RESPONSE_STORED:
		case KH_COMMIT_RESPONSE_AVAILABLE:
			return true;
		default:
			return false;
	}
}

static bool
is_isolation_level(uint8_t value)
{
	switch (value)
	{
		case KH_ISOLATION_LEVEL_READ_COMMITTED:
		case KH_ISOLATION_LEVEL_REPEATABLE_READ:
		case KH_ISOLATION_LEVEL_SERIALIZABLE:
			return true;
		default:
			return false;
	}
}

static bool
is_severity(uint8_t value)
{
	switch (value)
	{
		case KH_SEVERITY_ERROR:
		case KH_SEVERITY_FATAL:
			return true;
		default:
			return false;
	}
}

static bool
is_statement_kind(uint8_t value)
{
	switch (value)
	{
		case KH_STATEMENT_KIND_QUERY:
		case KH_STATEMENT_KIND_DML:
		case KH_STATEMENT_KIND_DDL:
			return true;
		default:
			return false;
	}
}

static bool
is_transaction_action(uint8_t value)
{
	switch (value)
	{
		case KH_TRANSACTION_ACTION_AUTO_COMMIT:
		case KH_TRANSACTION_ACTION_BEGIN:
		case KH_TRANSACTION_ACTION_CONTINUE:
			return true;
		default:
			return false;
	}
}

static bool
is_transaction_kind(uint8_t value)
{
	switch (value)
	{
		case KH_TRANSACTION_KIND_OCC:
		case KH_TRANSACTION_KIND_LTX:
		case KH_TRANSACTION_KIND_RTX:
			return true;
		default:
			return false;
	}
}

static bool
is_transaction_state(uint8_t value)
{
	switch (value)
	{
		case KH_TRANSACTION_STATE_NONE:
		case KH_TRANSACTION_STATE_ACTIVE:
		case KH_TRANSACTION_STATE_COMMITTED:
		case KH_TRANSACTION_STATE_ABORTED:
		case KH_TRANSACTION_STATE_PREPARED:
		case KH_TRANSACTION_STATE_UNKNOWN:
			return true;
		default:
			return false;
	}
}

static bool
is_value_kind(uint8_t value)
{
	switch (value)
	{
		case KH_VALUE_KIND_WORD:
		case KH_VALUE_KIND_FLOAT4:
		case KH_VALUE_KIND_FLOAT8:
		case KH_VALUE_KIND_VARLENA:
		case KH_VALUE_KIND_FIXED16:
		case KH_VALUE_KIND_PARAMETER:
			return true;
		default:
			return false;
	}
}

bool
kh_attach_decode(const void *frame, size_t bytes, kh_attach_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_ATTACH_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (r->version >= 1 && block_bytes < 25)
		return false;
	if (r->version >= 5 && block_bytes < 33)
		return false;
	out->layout_version = get_u32(block + 0);
	out->process_id = get_u32(block + 4);
	out->process_start_ticks = get_u64(block + 8);
	out->pid_namespace = get_u64(block + 16);
	out->client_kind = get_u8(block + 24);
	if (!is_client_kind(out->client_kind))
		return false;
	if (r->version >= 5)
	{
		out->damaged_queue = get_u64(block + 25);
	}
	else
		out->damaged_queue = 0;
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->application_name.data = (const char *) data;
		out->application_name.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->user_name.data = (const char *) data;
		out->user_name.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->password.data = (const char *) data;
		out->password.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->client_version.data = (const char *) data;
		out->client_version.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (r->version >= 5 && !read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->authentication.data = (const char *) data;
		out->authentication.bytes = n;
	}
	return end_read(r);
}

size_t
kh_attach_encode(const kh_attach_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_ATTACH_TEMPLATE_ID, 33);

	if (block == NULL)
		return 0;
	put_u32(block + 0, message->layout_version);
	put_u32(block + 4, message->process_id);
	put_u64(block + 8, message->process_start_ticks);
	put_u64(block + 16, message->pid_namespace);
	put_u8(block + 24, message->client_kind);
	put_u64(block + 25, message->damaged_queue);
	if (!write_bytes(w, 1048576, message->application_name.data, message->application_name.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->user_name.data, message->user_name.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->password.data, message->password.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->client_version.data, message->client_version.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->authentication.data, message->authentication.bytes))
		return 0;
	return w->used;
}

bool
kh_attached_decode(const void *frame, size_t bytes, kh_attached_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_ATTACHED_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (r->version >= 1 && block_bytes < 100)
		return false;
	if (r->version >= 5 && block_bytes < 112)
		return false;
	if (r->version >= 8 && block_bytes < 152)
		return false;
	out->session_id = get_u64(block + 0);
	out->incarnation = get_u64(block + 8);
	out->mailbox_offset = get_u64(block + 16);
	out->mailbox_file_bytes = get_u64(block + 24);
	out->arena_file_bytes = get_u64(block + 32);
	out->slots_per_mailbox = get_u32(block + 40);
	out->slot_bytes = get_u32(block + 44);
	out->frame_offset = get_u32(block + 48);
	out->frame_area_bytes = get_u32(block + 52);
	out->inline_offset = get_u32(block + 56);
	out->inline_bytes = get_u32(block + 60);
	out->channel_window = get_u32(block + 64);
	out->arena_block_bytes = get_u32(block + 68);
	out->max_batch_bytes = get_u32(block + 72);
	out->max_frame_bytes = get_u32(block + 76);
	out->max_statements = get_u32(block + 80);
	out->queue_block_bytes = get_u32(block + 84);
	out->spin_nanos = get_u32(block + 88);
	out->lease_nanos = get_u64(block + 92);
	if (r->version >= 5)
	{
		out->reserved_slots = get_u32(block + 100);
	}
	else
		out->reserved_slots = 0;
	if (r->version >= 5)
	{
		out->queue_number = get_u64(block + 104);
	}
	else
		out->queue_number = 0;
	if (r->version >= 8)
	{
		out->capabilities = get_u64(block + 112);
	}
	else
		out->capabilities = 0;
	if (r->version >= 8)
	{
		out->computations = get_u64(block + 120);
	}
	else
		out->computations = 0;
	if (r->version >= 8)
	{
		out->stored_types = get_u64(block + 128);
	}
	else
		out->stored_types = 0;
	if (r->version >= 8)
	{
		out->longest_row_bytes = get_u64(block + 136);
	}
	else
		out->longest_row_bytes = 0;
	if (r->version >= 8)
	{
		out->most_transaction_bytes = get_u64(block + 144);
	}
	else
		out->most_transaction_bytes = 0;
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->queue_name.data = (const char *) data;
		out->queue_name.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->principal.data = (const char *) data;
		out->principal.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->endpoint_version.data = (const char *) data;
		out->endpoint_version.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (r->version >= 5 && !read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->authentication.data = (const char *) data;
		out->authentication.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (r->version >= 8 && !read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->engine.data = (const char *) data;
		out->engine.bytes = n;
	}
	return end_read(r);
}

size_t
kh_attached_encode(const kh_attached_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_ATTACHED_TEMPLATE_ID, 152);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->incarnation);
	put_u64(block + 16, message->mailbox_offset);
	put_u64(block + 24, message->mailbox_file_bytes);
	put_u64(block + 32, message->arena_file_bytes);
	put_u32(block + 40, message->slots_per_mailbox);
	put_u32(block + 44, message->slot_bytes);
	put_u32(block + 48, message->frame_offset);
	put_u32(block + 52, message->frame_area_bytes);
	put_u32(block + 56, message->inline_offset);
	put_u32(block + 60, message->inline_bytes);
	put_u32(block + 64, message->channel_window);
	put_u32(block + 68, message->arena_block_bytes);
	put_u32(block + 72, message->max_batch_bytes);
	put_u32(block + 76, message->max_frame_bytes);
	put_u32(block + 80, message->max_statements);
	put_u32(block + 84, message->queue_block_bytes);
	put_u32(block + 88, message->spin_nanos);
	put_u64(block + 92, message->lease_nanos);
	put_u32(block + 100, message->reserved_slots);
	put_u64(block + 104, message->queue_number);
	put_u64(block + 112, message->capabilities);
	put_u64(block + 120, message->computations);
	put_u64(block + 128, message->stored_types);
	put_u64(block + 136, message->longest_row_bytes);
	put_u64(block + 144, message->most_transaction_bytes);
	if (!write_bytes(w, 1048576, message->queue_name.data, message->queue_name.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->principal.data, message->principal.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->endpoint_version.data, message->endpoint_version.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->authentication.data, message->authentication.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->engine.data, message->engine.bytes))
		return 0;
	return w->used;
}

bool
kh_authentication_challenge_decode(const void *frame, size_t bytes, kh_authentication_challenge_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_AUTHENTICATION_CHALLENGE_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->message.data = (const char *) data;
		out->message.bytes = n;
	}
	return end_read(r);
}

size_t
kh_authentication_challenge_encode(const kh_authentication_challenge_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_AUTHENTICATION_CHALLENGE_TEMPLATE_ID, 0);

	if (block == NULL)
		return 0;
	if (!write_bytes(w, 1048576, message->message.data, message->message.bytes))
		return 0;
	return w->used;
}

bool
kh_authentication_response_decode(const void *frame, size_t bytes, kh_authentication_response_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_AUTHENTICATION_RESPONSE_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->message.data = (const char *) data;
		out->message.bytes = n;
	}
	return end_read(r);
}

size_t
kh_authentication_response_encode(const kh_authentication_response_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_AUTHENTICATION_RESPONSE_TEMPLATE_ID, 0);

	if (block == NULL)
		return 0;
	if (!write_bytes(w, 1048576, message->message.data, message->message.bytes))
		return 0;
	return w->used;
}

bool
kh_begin_decode(const void *frame, size_t bytes, kh_begin_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_BEGIN_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 28)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->kind = get_u8(block + 18);
	if (!is_transaction_kind(out->kind))
		return false;
	out->isolation = get_u8(block + 19);
	if (!is_isolation_level(out->isolation))
		return false;
	out->lease_nanos = get_u64(block + 20);
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->label.data = (const char *) data;
		out->label.bytes = n;
	}
	return end_read(r);
}

size_t
kh_begin_encode(const kh_begin_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_BEGIN_TEMPLATE_ID, 28);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u8(block + 18, message->kind);
	put_u8(block + 19, message->isolation);
	put_u64(block + 20, message->lease_nanos);
	if (!write_bytes(w, 1048576, message->label.data, message->label.bytes))
		return 0;
	return w->used;
}

bool
kh_commit_decode(const void *frame, size_t bytes, kh_commit_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_COMMIT_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 27)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->response = get_u8(block + 18);
	if (!is_commit_response(out->response))
		return false;
	out->transaction_handle = get_u64(block + 19);
	return end_read(r);
}

size_t
kh_commit_encode(const kh_commit_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_COMMIT_TEMPLATE_ID, 27);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u8(block + 18, message->response);
	put_u64(block + 19, message->transaction_handle);
	return w->used;
}

bool
kh_rollback_decode(const void *frame, size_t bytes, kh_rollback_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_ROLLBACK_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 26)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->transaction_handle = get_u64(block + 18);
	return end_read(r);
}

size_t
kh_rollback_encode(const kh_rollback_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_ROLLBACK_TEMPLATE_ID, 26);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u64(block + 18, message->transaction_handle);
	return w->used;
}

bool
kh_savepoint_decode(const void *frame, size_t bytes, kh_savepoint_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_SAVEPOINT_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 30)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->transaction_handle = get_u64(block + 18);
	out->level = get_u32(block + 26);
	return end_read(r);
}

size_t
kh_savepoint_encode(const kh_savepoint_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_SAVEPOINT_TEMPLATE_ID, 30);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u64(block + 18, message->transaction_handle);
	put_u32(block + 26, message->level);
	return w->used;
}

bool
kh_release_savepoint_decode(const void *frame, size_t bytes, kh_release_savepoint_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_RELEASE_SAVEPOINT_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 30)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->transaction_handle = get_u64(block + 18);
	out->level = get_u32(block + 26);
	return end_read(r);
}

size_t
kh_release_savepoint_encode(const kh_release_savepoint_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_RELEASE_SAVEPOINT_TEMPLATE_ID, 30);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u64(block + 18, message->transaction_handle);
	put_u32(block + 26, message->level);
	return w->used;
}

bool
kh_rollback_to_savepoint_decode(const void *frame, size_t bytes, kh_rollback_to_savepoint_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_ROLLBACK_TO_SAVEPOINT_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 30)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->transaction_handle = get_u64(block + 18);
	out->level = get_u32(block + 26);
	return end_read(r);
}

size_t
kh_rollback_to_savepoint_encode(const kh_rollback_to_savepoint_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_ROLLBACK_TO_SAVEPOINT_TEMPLATE_ID, 30);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u64(block + 18, message->transaction_handle);
	put_u32(block + 26, message->level);
	return w->used;
}

bool
kh_prepare_transaction_decode(const void *frame, size_t bytes, kh_prepare_transaction_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_PREPARE_TRANSACTION_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 26)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->transaction_handle = get_u64(block + 18);
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->global_id.data = (const char *) data;
		out->global_id.bytes = n;
	}
	return end_read(r);
}

size_t
kh_prepare_transaction_encode(const kh_prepare_transaction_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_PREPARE_TRANSACTION_TEMPLATE_ID, 26);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u64(block + 18, message->transaction_handle);
	if (!write_bytes(w, 1048576, message->global_id.data, message->global_id.bytes))
		return 0;
	return w->used;
}

bool
kh_commit_prepared_decode(const void *frame, size_t bytes, kh_commit_prepared_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_COMMIT_PREPARED_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 19)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->response = get_u8(block + 18);
	if (!is_commit_response(out->response))
		return false;
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->global_id.data = (const char *) data;
		out->global_id.bytes = n;
	}
	return end_read(r);
}

size_t
kh_commit_prepared_encode(const kh_commit_prepared_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_COMMIT_PREPARED_TEMPLATE_ID, 19);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u8(block + 18, message->response);
	if (!write_bytes(w, 1048576, message->global_id.data, message->global_id.bytes))
		return 0;
	return w->used;
}

bool
kh_rollback_prepared_decode(const void *frame, size_t bytes, kh_rollback_prepared_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_ROLLBACK_PREPARED_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 18)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->global_id.data = (const char *) data;
		out->global_id.bytes = n;
	}
	return end_read(r);
}

size_t
kh_rollback_prepared_encode(const kh_rollback_prepared_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_ROLLBACK_PREPARED_TEMPLATE_ID, 18);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	if (!write_bytes(w, 1048576, message->global_id.data, message->global_id.bytes))
		return 0;
	return w->used;
}

bool
kh_begin_transaction_decode(const void *frame, size_t bytes, kh_begin_transaction_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_BEGIN_TRANSACTION_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (r->version >= 1 && block_bytes < 40)
		return false;
	if (r->version >= 5 && block_bytes < 41)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->kind = get_u8(block + 18);
	if (!is_transaction_kind(out->kind))
		return false;
	out->isolation = get_u8(block + 19);
	if (!is_isolation_level(out->isolation))
		return false;
	out->lease_nanos = get_u64(block + 20);
	out->timeout_nanos = get_u64(block + 28);
	out->priority = get_i32(block + 36);
	if (r->version >= 5)
	{
		out->deferrable = get_u8(block + 40);
	}
	else
		out->deferrable = 0;
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->label.data = (const char *) data;
		out->label.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->write_preserve.data = (const char *) data;
		out->write_preserve.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->read_include.data = (const char *) data;
		out->read_include.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->read_exclude.data = (const char *) data;
		out->read_exclude.bytes = n;
	}
	return end_read(r);
}

size_t
kh_begin_transaction_encode(const kh_begin_transaction_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_BEGIN_TRANSACTION_TEMPLATE_ID, 41);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u8(block + 18, message->kind);
	put_u8(block + 19, message->isolation);
	put_u64(block + 20, message->lease_nanos);
	put_u64(block + 28, message->timeout_nanos);
	put_i32(block + 36, message->priority);
	put_u8(block + 40, message->deferrable);
	if (!write_bytes(w, 1048576, message->label.data, message->label.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->write_preserve.data, message->write_preserve.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->read_include.data, message->read_include.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->read_exclude.data, message->read_exclude.bytes))
		return 0;
	return w->used;
}

static bool
read_prepare_parameter_types(reader *r, uint16_t block_bytes, kh_prepare_parameter_types *out)
{
	const unsigned char *block = take(r, block_bytes);

	if (block == NULL)
		return false;
	if (block_bytes < 4)
		return false;
	out->type_oid = get_u32(block + 0);
	return true;
}

static bool
read_prepare_parameter_types_group(reader *r, kh_group *group)
{
	kh_prepare_parameter_types entry;

	if (!begin_read_group(r, group))
		return false;
	for (uint16_t i = 0; i < group->count; i++)
	{
		if (!read_prepare_parameter_types(r, group->block_bytes, &entry))
			return false;
	}
	group->bytes = (size_t) (r->at - group->at);
	return true;
}

bool
kh_prepare_parameter_types_next(kh_group *group, kh_prepare_parameter_types *out)
{
	reader		r = {group->at, group->bytes, group->version};

	if (group->count == 0 || !read_prepare_parameter_types(&r, group->block_bytes, out))
		return false;
	group->count--;
	group->at = r.at;
	group->bytes = r.left;
	return true;
}

bool
kh_prepare_decode(const void *frame, size_t bytes, kh_prepare_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_PREPARE_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (r->version >= 1 && block_bytes < 22)
		return false;
	if (r->version >= 5 && block_bytes < 34)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->statement_id = get_u32(block + 18);
	if (r->version >= 5)
	{
		out->sql_offset = get_u64(block + 22);
	}
	else
		out->sql_offset = 0;
	if (r->version >= 5)
	{
		out->sql_bytes = get_u32(block + 30);
	}
	else
		out->sql_bytes = 0;
	if (!read_prepare_parameter_types_group(r, &out->parameter_types_group))
		return false;
	out->parameter_types_count = out->parameter_types_group.count;
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->sql.data = (const char *) data;
		out->sql.bytes = n;
	}
	return end_read(r);
}

size_t
kh_prepare_encode(const kh_prepare_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_PREPARE_TEMPLATE_ID, 34);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u32(block + 18, message->statement_id);
	put_u64(block + 22, message->sql_offset);
	put_u32(block + 30, message->sql_bytes);
	if (!begin_write_group(w, 4, message->parameter_types_count))
		return 0;
	for (uint16_t i = 0; i < message->parameter_types_count; i++)
	{
		const kh_prepare_parameter_types *entry = &message->parameter_types[i];

		if ((block = claim(w, 4)) == NULL)
			return 0;
		memset(block, 0, 4);
		put_u32(block + 0, entry->type_oid);
	}
	if (!write_bytes(w, 1048576, message->sql.data, message->sql.bytes))
		return 0;
	return w->used;
}

bool
kh_execute_decode(const void *frame, size_t bytes, kh_execute_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_EXECUTE_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (r->version >= 1 && block_bytes < 60)
		return false;
	if (r->version >= 2 && block_bytes < 64)
		return false;
	if (r->version >= 4 && block_bytes < 68)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->flags = get_u16(block + 18);
	if ((out->flags & ~0x3u) != 0 && r->version <= KH_SCHEMA_VERSION)
		return false;
	out->flags &= 0x3u;
	out->statement_id = get_u32(block + 20);
	out->transaction_handle = get_u64(block + 24);
	out->lease_nanos = get_u64(block + 32);
	out->inbound_offset = get_u64(block + 40);
	out->inbound_bytes = get_u32(block + 48);
	out->timeout_millis = get_u32(block + 52);
	out->action = get_u8(block + 56);
	if (!is_transaction_action(out->action))
		return false;
	out->kind = get_u8(block + 57);
	if (!is_transaction_kind(out->kind))
		return false;
	out->isolation = get_u8(block + 58);
	if (!is_isolation_level(out->isolation))
		return false;
	out->response = get_u8(block + 59);
	if (!is_commit_response(out->response))
		return false;
	if (r->version >= 2)
	{
		out->command = get_u32(block + 60);
	}
	else
		out->command = 0;
	if (r->version >= 4)
	{
		out->lock_timeout_millis = get_u32(block + 64);
	}
	else
		out->lock_timeout_millis = 0;
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		out->parameters.data = (const unsigned char *) data;
		out->parameters.bytes = n;
	}
	return end_read(r);
}

size_t
kh_execute_encode(const kh_execute_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_EXECUTE_TEMPLATE_ID, 68);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u16(block + 18, message->flags);
	put_u32(block + 20, message->statement_id);
	put_u64(block + 24, message->transaction_handle);
	put_u64(block + 32, message->lease_nanos);
	put_u64(block + 40, message->inbound_offset);
	put_u32(block + 48, message->inbound_bytes);
	put_u32(block + 52, message->timeout_millis);
	put_u8(block + 56, message->action);
	put_u8(block + 57, message->kind);
	put_u8(block + 58, message->isolation);
	put_u8(block + 59, message->response);
	put_u32(block + 60, message->command);
	put_u32(block + 64, message->lock_timeout_millis);
	if (!write_bytes(w, 1048576, message->parameters.data, message->parameters.bytes))
		return 0;
	return w->used;
}

bool
kh_close_statement_decode(const void *frame, size_t bytes, kh_close_statement_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_CLOSE_STATEMENT_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 22)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->statement_id = get_u32(block + 18);
	return end_read(r);
}

size_t
kh_close_statement_encode(const kh_close_statement_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_CLOSE_STATEMENT_TEMPLATE_ID, 22);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u32(block + 18, message->statement_id);
	return w->used;
}

bool
kh_cancel_decode(const void *frame, size_t bytes, kh_cancel_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_CANCEL_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 26)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->target_request_id = get_u64(block + 18);
	return end_read(r);
}

size_t
kh_cancel_encode(const kh_cancel_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_CANCEL_TEMPLATE_ID, 26);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u64(block + 18, message->target_request_id);
	return w->used;
}

bool
kh_acquire_buffers_decode(const void *frame, size_t bytes, kh_acquire_buffers_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_ACQUIRE_BUFFERS_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 24)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->count = get_u16(block + 18);
	out->buffer_bytes = get_u32(block + 20);
	return end_read(r);
}

size_t
kh_acquire_buffers_encode(const kh_acquire_buffers_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_ACQUIRE_BUFFERS_TEMPLATE_ID, 24);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u16(block + 18, message->count);
	put_u32(block + 20, message->buffer_bytes);
	return w->used;
}

bool
kh_release_buffers_decode(const void *frame, size_t bytes, kh_release_buffers_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_RELEASE_BUFFERS_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 18)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	return end_read(r);
}

size_t
kh_release_buffers_encode(const kh_release_buffers_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_RELEASE_BUFFERS_TEMPLATE_ID, 18);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	return w->used;
}

bool
kh_ping_decode(const void *frame, size_t bytes, kh_ping_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_PING_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 18)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		out->payload.data = (const unsigned char *) data;
		out->payload.bytes = n;
	}
	return end_read(r);
}

size_t
kh_ping_encode(const kh_ping_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_PING_TEMPLATE_ID, 18);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	if (!write_bytes(w, 1048576, message->payload.data, message->payload.bytes))
		return 0;
	return w->used;
}

bool
kh_query_outcome_decode(const void *frame, size_t bytes, kh_query_outcome_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_QUERY_OUTCOME_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 26)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->transaction_handle = get_u64(block + 18);
	return end_read(r);
}

size_t
kh_query_outcome_encode(const kh_query_outcome_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_QUERY_OUTCOME_TEMPLATE_ID, 26);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u64(block + 18, message->transaction_handle);
	return w->used;
}

bool
kh_cancel_transaction_decode(const void *frame, size_t bytes, kh_cancel_transaction_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_CANCEL_TRANSACTION_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 26)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->transaction_handle = get_u64(block + 18);
	return end_read(r);
}

size_t
kh_cancel_transaction_encode(const kh_cancel_transaction_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_CANCEL_TRANSACTION_TEMPLATE_ID, 26);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u64(block + 18, message->transaction_handle);
	return w->used;
}

bool
kh_set_application_name_decode(const void *frame, size_t bytes, kh_set_application_name_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_SET_APPLICATION_NAME_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 18)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->application_name.data = (const char *) data;
		out->application_name.bytes = n;
	}
	return end_read(r);
}

size_t
kh_set_application_name_encode(const kh_set_application_name_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_SET_APPLICATION_NAME_TEMPLATE_ID, 18);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	if (!write_bytes(w, 1048576, message->application_name.data, message->application_name.bytes))
		return 0;
	return w->used;
}

bool
kh_set_role_decode(const void *frame, size_t bytes, kh_set_role_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_SET_ROLE_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 19)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->monitors = get_u8(block + 18);
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->role.data = (const char *) data;
		out->role.bytes = n;
	}
	return end_read(r);
}

size_t
kh_set_role_encode(const kh_set_role_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_SET_ROLE_TEMPLATE_ID, 19);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u8(block + 18, message->monitors);
	if (!write_bytes(w, 1048576, message->role.data, message->role.bytes))
		return 0;
	return w->used;
}

bool
kh_export_transaction_decode(const void *frame, size_t bytes, kh_export_transaction_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_EXPORT_TRANSACTION_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 26)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->transaction_handle = get_u64(block + 18);
	return end_read(r);
}

size_t
kh_export_transaction_encode(const kh_export_transaction_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_EXPORT_TRANSACTION_TEMPLATE_ID, 26);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u64(block + 18, message->transaction_handle);
	return w->used;
}

bool
kh_continue_transaction_decode(const void *frame, size_t bytes, kh_continue_transaction_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_CONTINUE_TRANSACTION_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 18)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->token.data = (const char *) data;
		out->token.bytes = n;
	}
	return end_read(r);
}

size_t
kh_continue_transaction_encode(const kh_continue_transaction_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_CONTINUE_TRANSACTION_TEMPLATE_ID, 18);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	if (!write_bytes(w, 1048576, message->token.data, message->token.bytes))
		return 0;
	return w->used;
}

static bool
read_invoke_parameter_types(reader *r, uint16_t block_bytes, kh_invoke_parameter_types *out)
{
	const unsigned char *block = take(r, block_bytes);

	if (block == NULL)
		return false;
	if (block_bytes < 4)
		return false;
	out->type_oid = get_u32(block + 0);
	return true;
}

static bool
read_invoke_parameter_types_group(reader *r, kh_group *group)
{
	kh_invoke_parameter_types entry;

	if (!begin_read_group(r, group))
		return false;
	for (uint16_t i = 0; i < group->count; i++)
	{
		if (!read_invoke_parameter_types(r, group->block_bytes, &entry))
			return false;
	}
	group->bytes = (size_t) (r->at - group->at);
	return true;
}

bool
kh_invoke_parameter_types_next(kh_group *group, kh_invoke_parameter_types *out)
{
	reader		r = {group->at, group->bytes, group->version};

	if (group->count == 0 || !read_invoke_parameter_types(&r, group->block_bytes, out))
		return false;
	group->count--;
	group->at = r.at;
	group->bytes = r.left;
	return true;
}

bool
kh_invoke_decode(const void *frame, size_t bytes, kh_invoke_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_INVOKE_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 68)
		return false;
	out->session_id = get_u64(block + 0);
	out->request_id = get_u64(block + 8);
	out->slot = get_u16(block + 16);
	out->flags = get_u16(block + 18);
	if ((out->flags & ~0x3u) != 0 && r->version <= KH_SCHEMA_VERSION)
		return false;
	out->flags &= 0x3u;
	out->shape = get_u32(block + 20);
	out->transaction_handle = get_u64(block + 24);
	out->lease_nanos = get_u64(block + 32);
	out->inbound_offset = get_u64(block + 40);
	out->inbound_bytes = get_u32(block + 48);
	out->timeout_millis = get_u32(block + 52);
	out->action = get_u8(block + 56);
	if (!is_transaction_action(out->action))
		return false;
	out->kind = get_u8(block + 57);
	if (!is_transaction_kind(out->kind))
		return false;
	out->isolation = get_u8(block + 58);
	if (!is_isolation_level(out->isolation))
		return false;
	out->response = get_u8(block + 59);
	if (!is_commit_response(out->response))
		return false;
	out->command = get_u32(block + 60);
	out->lock_timeout_millis = get_u32(block + 64);
	if (!read_invoke_parameter_types_group(r, &out->parameter_types_group))
		return false;
	out->parameter_types_count = out->parameter_types_group.count;
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->procedure.data = (const char *) data;
		out->procedure.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		out->parameters.data = (const unsigned char *) data;
		out->parameters.bytes = n;
	}
	return end_read(r);
}

size_t
kh_invoke_encode(const kh_invoke_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_INVOKE_TEMPLATE_ID, 68);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->session_id);
	put_u64(block + 8, message->request_id);
	put_u16(block + 16, message->slot);
	put_u16(block + 18, message->flags);
	put_u32(block + 20, message->shape);
	put_u64(block + 24, message->transaction_handle);
	put_u64(block + 32, message->lease_nanos);
	put_u64(block + 40, message->inbound_offset);
	put_u32(block + 48, message->inbound_bytes);
	put_u32(block + 52, message->timeout_millis);
	put_u8(block + 56, message->action);
	put_u8(block + 57, message->kind);
	put_u8(block + 58, message->isolation);
	put_u8(block + 59, message->response);
	put_u32(block + 60, message->command);
	put_u32(block + 64, message->lock_timeout_millis);
	if (!begin_write_group(w, 4, message->parameter_types_count))
		return 0;
	for (uint16_t i = 0; i < message->parameter_types_count; i++)
	{
		const kh_invoke_parameter_types *entry = &message->parameter_types[i];

		if ((block = claim(w, 4)) == NULL)
			return 0;
		memset(block, 0, 4);
		put_u32(block + 0, entry->type_oid);
	}
	if (!write_bytes(w, 1048576, message->procedure.data, message->procedure.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->parameters.data, message->parameters.bytes))
		return 0;
	return w->used;
}

bool
kh_completed_decode(const void *frame, size_t bytes, kh_completed_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_COMPLETED_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (r->version >= 1 && block_bytes < 33)
		return false;
	if (r->version >= 3 && block_bytes < 34)
		return false;
	out->request_id = get_u64(block + 0);
	out->transaction_handle = get_u64(block + 8);
	out->lease_deadline_nanos = get_u64(block + 16);
	out->rows_affected = get_u64(block + 24);
	out->transaction_state = get_u8(block + 32);
	if (!is_transaction_state(out->transaction_state))
		return false;
	if (r->version >= 3)
	{
		out->undurable_reads = get_u8(block + 33);
	}
	else
		out->undurable_reads = 0;
	return end_read(r);
}

size_t
kh_completed_encode(const kh_completed_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_COMPLETED_TEMPLATE_ID, 34);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->request_id);
	put_u64(block + 8, message->transaction_handle);
	put_u64(block + 16, message->lease_deadline_nanos);
	put_u64(block + 24, message->rows_affected);
	put_u8(block + 32, message->transaction_state);
	put_u8(block + 33, message->undurable_reads);
	return w->used;
}

bool
kh_failed_decode(const void *frame, size_t bytes, kh_failed_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_FAILED_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 38)
		return false;
	out->request_id = get_u64(block + 0);
	out->transaction_handle = get_u64(block + 8);
	out->lease_deadline_nanos = get_u64(block + 16);
	out->error_number = get_u32(block + 24);
	out->position = get_u32(block + 28);
	out->sqlstate = get_u32(block + 32);
	out->transaction_state = get_u8(block + 36);
	if (!is_transaction_state(out->transaction_state))
		return false;
	out->severity = get_u8(block + 37);
	if (!is_severity(out->severity))
		return false;
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->message.data = (const char *) data;
		out->message.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->detail.data = (const char *) data;
		out->detail.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->hint.data = (const char *) data;
		out->hint.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->schema_name.data = (const char *) data;
		out->schema_name.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->table_name.data = (const char *) data;
		out->table_name.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->column_name.data = (const char *) data;
		out->column_name.bytes = n;
	}
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->constraint_name.data = (const char *) data;
		out->constraint_name.bytes = n;
	}
	return end_read(r);
}

size_t
kh_failed_encode(const kh_failed_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_FAILED_TEMPLATE_ID, 38);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->request_id);
	put_u64(block + 8, message->transaction_handle);
	put_u64(block + 16, message->lease_deadline_nanos);
	put_u32(block + 24, message->error_number);
	put_u32(block + 28, message->position);
	put_u32(block + 32, message->sqlstate);
	put_u8(block + 36, message->transaction_state);
	put_u8(block + 37, message->severity);
	if (!write_bytes(w, 1048576, message->message.data, message->message.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->detail.data, message->detail.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->hint.data, message->hint.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->schema_name.data, message->schema_name.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->table_name.data, message->table_name.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->column_name.data, message->column_name.bytes))
		return 0;
	if (!write_bytes(w, 1048576, message->constraint_name.data, message->constraint_name.bytes))
		return 0;
	return w->used;
}

static bool
read_prepared_parameters(reader *r, uint16_t block_bytes, kh_prepared_parameters *out)
{
	const unsigned char *block = take(r, block_bytes);

	if (block == NULL)
		return false;
	if (block_bytes < 4)
		return false;
	out->type_oid = get_u32(block + 0);
	return true;
}

static bool
read_prepared_parameters_group(reader *r, kh_group *group)
{
	kh_prepared_parameters entry;

	if (!begin_read_group(r, group))
		return false;
	for (uint16_t i = 0; i < group->count; i++)
	{
		if (!read_prepared_parameters(r, group->block_bytes, &entry))
			return false;
	}
	group->bytes = (size_t) (r->at - group->at);
	return true;
}

bool
kh_prepared_parameters_next(kh_group *group, kh_prepared_parameters *out)
{
	reader		r = {group->at, group->bytes, group->version};

	if (group->count == 0 || !read_prepared_parameters(&r, group->block_bytes, out))
		return false;
	group->count--;
	group->at = r.at;
	group->bytes = r.left;
	return true;
}

static bool
read_prepared_columns(reader *r, uint16_t block_bytes, kh_prepared_columns *out)
{
	const unsigned char *block = take(r, block_bytes);

	if (block == NULL)
		return false;
	if (block_bytes < 8)
		return false;
	out->type_oid = get_u32(block + 0);
	out->type_modifier = get_i32(block + 4);
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->name.data = (const char *) data;
		out->name.bytes = n;
	}
	return true;
}

static bool
read_prepared_columns_group(reader *r, kh_group *group)
{
	kh_prepared_columns entry;

	if (!begin_read_group(r, group))
		return false;
	for (uint16_t i = 0; i < group->count; i++)
	{
		if (!read_prepared_columns(r, group->block_bytes, &entry))
			return false;
	}
	group->bytes = (size_t) (r->at - group->at);
	return true;
}

bool
kh_prepared_columns_next(kh_group *group, kh_prepared_columns *out)
{
	reader		r = {group->at, group->bytes, group->version};

	if (group->count == 0 || !read_prepared_columns(&r, group->block_bytes, out))
		return false;
	group->count--;
	group->at = r.at;
	group->bytes = r.left;
	return true;
}

bool
kh_prepared_decode(const void *frame, size_t bytes, kh_prepared_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_PREPARED_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 30)
		return false;
	out->request_id = get_u64(block + 0);
	out->transaction_handle = get_u64(block + 8);
	out->lease_deadline_nanos = get_u64(block + 16);
	out->statement_id = get_u32(block + 24);
	out->transaction_state = get_u8(block + 28);
	if (!is_transaction_state(out->transaction_state))
		return false;
	out->kind = get_u8(block + 29);
	if (!is_statement_kind(out->kind))
		return false;
	if (!read_prepared_parameters_group(r, &out->parameters_group))
		return false;
	out->parameters_count = out->parameters_group.count;
	if (!read_prepared_columns_group(r, &out->columns_group))
		return false;
	out->columns_count = out->columns_group.count;
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (r->version >= 9 && !read_bytes(r, 1048576, &data, &n))
			return false;
		out->direct_read.data = (const unsigned char *) data;
		out->direct_read.bytes = n;
	}
	return end_read(r);
}

size_t
kh_prepared_encode(const kh_prepared_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_PREPARED_TEMPLATE_ID, 30);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->request_id);
	put_u64(block + 8, message->transaction_handle);
	put_u64(block + 16, message->lease_deadline_nanos);
	put_u32(block + 24, message->statement_id);
	put_u8(block + 28, message->transaction_state);
	put_u8(block + 29, message->kind);
	if (!begin_write_group(w, 4, message->parameters_count))
		return 0;
	for (uint16_t i = 0; i < message->parameters_count; i++)
	{
		const kh_prepared_parameters *entry = &message->parameters[i];

		if ((block = claim(w, 4)) == NULL)
			return 0;
		memset(block, 0, 4);
		put_u32(block + 0, entry->type_oid);
	}
	if (!begin_write_group(w, 8, message->columns_count))
		return 0;
	for (uint16_t i = 0; i < message->columns_count; i++)
	{
		const kh_prepared_columns *entry = &message->columns[i];

		if ((block = claim(w, 8)) == NULL)
			return 0;
		memset(block, 0, 8);
		put_u32(block + 0, entry->type_oid);
		put_i32(block + 4, entry->type_modifier);
		if (!write_bytes(w, 1048576, entry->name.data, entry->name.bytes))
			return 0;
	}
	if (!write_bytes(w, 1048576, message->direct_read.data, message->direct_read.bytes))
		return 0;
	return w->used;
}

static bool
read_buffers_granted_buffers(reader *r, uint16_t block_bytes, kh_buffers_granted_buffers *out)
{
	const unsigned char *block = take(r, block_bytes);

	if (block == NULL)
		return false;
	if (block_bytes < 8)
		return false;
	out->arena_offset = get_u64(block + 0);
	return true;
}

static bool
read_buffers_granted_buffers_group(reader *r, kh_group *group)
{
	kh_buffers_granted_buffers entry;

	if (!begin_read_group(r, group))
		return false;
	for (uint16_t i = 0; i < group->count; i++)
	{
		if (!read_buffers_granted_buffers(r, group->block_bytes, &entry))
			return false;
	}
	group->bytes = (size_t) (r->at - group->at);
	return true;
}

bool
kh_buffers_granted_buffers_next(kh_group *group, kh_buffers_granted_buffers *out)
{
	reader		r = {group->at, group->bytes, group->version};

	if (group->count == 0 || !read_buffers_granted_buffers(&r, group->block_bytes, out))
		return false;
	group->count--;
	group->at = r.at;
	group->bytes = r.left;
	return true;
}

bool
kh_buffers_granted_decode(const void *frame, size_t bytes, kh_buffers_granted_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_BUFFERS_GRANTED_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 12)
		return false;
	out->request_id = get_u64(block + 0);
	out->buffer_bytes = get_u32(block + 8);
	if (!read_buffers_granted_buffers_group(r, &out->buffers_group))
		return false;
	out->buffers_count = out->buffers_group.count;
	return end_read(r);
}

size_t
kh_buffers_granted_encode(const kh_buffers_granted_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_BUFFERS_GRANTED_TEMPLATE_ID, 12);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->request_id);
	put_u32(block + 8, message->buffer_bytes);
	if (!begin_write_group(w, 8, message->buffers_count))
		return 0;
	for (uint16_t i = 0; i < message->buffers_count; i++)
	{
		const kh_buffers_granted_buffers *entry = &message->buffers[i];

		if ((block = claim(w, 8)) == NULL)
			return 0;
		memset(block, 0, 8);
		put_u64(block + 0, entry->arena_offset);
	}
	return w->used;
}

bool
kh_pong_decode(const void *frame, size_t bytes, kh_pong_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_PONG_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 8)
		return false;
	out->request_id = get_u64(block + 0);
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		out->payload.data = (const unsigned char *) data;
		out->payload.bytes = n;
	}
	return end_read(r);
}

size_t
kh_pong_encode(const kh_pong_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_PONG_TEMPLATE_ID, 8);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->request_id);
	if (!write_bytes(w, 1048576, message->payload.data, message->payload.bytes))
		return 0;
	return w->used;
}

bool
kh_transaction_token_decode(const void *frame, size_t bytes, kh_transaction_token_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_TRANSACTION_TOKEN_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 25)
		return false;
	out->request_id = get_u64(block + 0);
	out->transaction_handle = get_u64(block + 8);
	out->lease_deadline_nanos = get_u64(block + 16);
	out->transaction_state = get_u8(block + 24);
	if (!is_transaction_state(out->transaction_state))
		return false;
	{
		const unsigned char *data = NULL;
		uint32_t	n = 0;

		if (!read_bytes(r, 1048576, &data, &n))
			return false;
		if (!is_utf8(data, n))
			return false;
		out->token.data = (const char *) data;
		out->token.bytes = n;
	}
	return end_read(r);
}

size_t
kh_transaction_token_encode(const kh_transaction_token_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_TRANSACTION_TOKEN_TEMPLATE_ID, 25);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->request_id);
	put_u64(block + 8, message->transaction_handle);
	put_u64(block + 16, message->lease_deadline_nanos);
	put_u8(block + 24, message->transaction_state);
	if (!write_bytes(w, 1048576, message->token.data, message->token.bytes))
		return 0;
	return w->used;
}

static bool
read_direct_read_keys(reader *r, uint16_t block_bytes, kh_direct_read_keys *out)
{
	const unsigned char *block = take(r, block_bytes);

	if (block == NULL)
		return false;
	if (block_bytes < 14)
		return false;
	out->parameter = get_u16(block + 0);
	out->column = get_u16(block + 2);
	out->kind = get_u8(block + 4);
	if (!is_value_kind(out->kind))
		return false;
	out->flags = get_u8(block + 5);
	if ((out->flags & ~0xffu) != 0 && r->version <= KH_SCHEMA_VERSION)
		return false;
	out->flags &= 0xffu;
	out->dictionary_cell = get_u64(block + 6);
	return true;
}

static bool
read_direct_read_keys_group(reader *r, kh_group *group)
{
	kh_direct_read_keys entry;

	if (!begin_read_group(r, group))
		return false;
	for (uint16_t i = 0; i < group->count; i++)
	{
		if (!read_direct_read_keys(r, group->block_bytes, &entry))
			return false;
	}
	group->bytes = (size_t) (r->at - group->at);
	return true;
}

bool
kh_direct_read_keys_next(kh_group *group, kh_direct_read_keys *out)
{
	reader		r = {group->at, group->bytes, group->version};

	if (group->count == 0 || !read_direct_read_keys(&r, group->block_bytes, out))
		return false;
	group->count--;
	group->at = r.at;
	group->bytes = r.left;
	return true;
}

static bool
read_direct_read_columns(reader *r, uint16_t block_bytes, kh_direct_read_columns *out)
{
	const unsigned char *block = take(r, block_bytes);

	if (block == NULL)
		return false;
	if (block_bytes < 12)
		return false;
	out->column = get_u16(block + 0);
	out->kind = get_u8(block + 2);
	if (!is_value_kind(out->kind))
		return false;
	out->is_missing_null = get_u8(block + 3);
	out->dictionary_cell = get_u64(block + 4);
	return true;
}

static bool
read_direct_read_columns_group(reader *r, kh_group *group)
{
	kh_direct_read_columns entry;

	if (!begin_read_group(r, group))
		return false;
	for (uint16_t i = 0; i < group->count; i++)
	{
		if (!read_direct_read_columns(r, group->block_bytes, &entry))
			return false;
	}
	group->bytes = (size_t) (r->at - group->at);
	return true;
}

bool
kh_direct_read_columns_next(kh_group *group, kh_direct_read_columns *out)
{
	reader		r = {group->at, group->bytes, group->version};

	if (group->count == 0 || !read_direct_read_columns(&r, group->block_bytes, out))
		return false;
	group->count--;
	group->at = r.at;
	group->bytes = r.left;
	return true;
}

bool
kh_direct_read_decode(const void *frame, size_t bytes, kh_direct_read_message *out)
{
	reader		cursor;
	reader	   *r = &cursor;
	size_t		block_bytes;
	const unsigned char *block = begin_read(r, frame, bytes, KH_DIRECT_READ_TEMPLATE_ID, &block_bytes);

	if (block == NULL)
		return false;
	memset(out, 0, sizeof(*out));
	if (block_bytes < 44)
		return false;
	out->definitions = get_u64(block + 0);
	out->table_cell = get_u64(block + 8);
	out->table_generation = get_u64(block + 16);
	out->index_cell = get_u64(block + 24);
	out->index_generation = get_u64(block + 32);
	out->page_rows = get_u32(block + 40);
	if (!read_direct_read_keys_group(r, &out->keys_group))
		return false;
	out->keys_count = out->keys_group.count;
	if (!read_direct_read_columns_group(r, &out->columns_group))
		return false;
	out->columns_count = out->columns_group.count;
	return end_read(r);
}

size_t
kh_direct_read_encode(const kh_direct_read_message *message, void *frame, size_t capacity)
{
	writer		cursor;
	writer	   *w = &cursor;
	unsigned char *block = begin_write(w, frame, capacity, KH_DIRECT_READ_TEMPLATE_ID, 44);

	if (block == NULL)
		return 0;
	put_u64(block + 0, message->definitions);
	put_u64(block + 8, message->table_cell);
	put_u64(block + 16, message->table_generation);
	put_u64(block + 24, message->index_cell);
	put_u64(block + 32, message->index_generation);
	put_u32(block + 40, message->page_rows);
	if (!begin_write_group(w, 14, message->keys_count))
		return 0;
	for (uint16_t i = 0; i < message->keys_count; i++)
	{
		const kh_direct_read_keys *entry = &message->keys[i];

		if ((block = claim(w, 14)) == NULL)
			return 0;
		memset(block, 0, 14);
		put_u16(block + 0, entry->parameter);
		put_u16(block + 2, entry->column);
		put_u8(block + 4, entry->kind);
		put_u8(block + 5, entry->flags);
		put_u64(block + 6, entry->dictionary_cell);
	}
	if (!begin_write_group(w, 12, message->columns_count))
		return 0;
	for (uint16_t i = 0; i < message->columns_count; i++)
	{
		const kh_direct_read_columns *entry = &message->columns[i];

		if ((block = claim(w, 12)) == NULL)
			return 0;
		memset(block, 0, 12);
		put_u16(block + 0, entry->column);
		put_u8(block + 2, entry->kind);
		put_u8(block + 3, entry->is_missing_null);
		put_u64(block + 4, entry->dictionary_cell);
	}
	return w->used;
}

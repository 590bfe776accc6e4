/*
 * The endpoint's answer to Attach. Everything that is later used as a length or an offset is checked here, once.
 */
#include "session_internal.h"

#include <string.h>

/* Longest spin that is accepted: beyond it a waiting client would only burn its processor. */
#define MAX_SPIN_NANOS 10000000

static bool
senseless(kh_error *error, const char *what)
{
	return kh_fail(error, KH_E_MALFORMED_MESSAGE, "the endpoint published impossible limits: %s", what);
}

/* A name of one file: no path, not hidden. */
static bool
take_name(char *to, size_t capacity, kh_text name)
{
	if (name.bytes == 0 || name.bytes >= capacity || name.data[0] == '.' ||
	    memchr(name.data, '/', name.bytes) != NULL || memchr(name.data, '\0', name.bytes) != NULL)
		return false;
	kh_copy_text(to, capacity, name.data, name.bytes);
	return true;
}

/* [offset, offset + bytes) within [from, to), aligned to 8. */
static bool
fits(uint64_t offset, uint64_t bytes, uint64_t from, uint64_t to)
{
	return offset % 8 == 0 && offset >= from && offset <= to && bytes <= to - offset;
}

static bool
take_slots(const kh_attached_message *attached, kh_published *published, kh_error *error)
{
	uint64_t ring_end = KH_RESPONSE_SLOT_BYTES + (uint64_t) KH_BATCH_DESCRIPTOR_BYTES * attached->channel_window;
	uint64_t frame_end = (uint64_t) attached->frame_offset + attached->frame_area_bytes;
	uint64_t inline_end = (uint64_t) attached->inline_offset + attached->inline_bytes;

	if (attached->slots_per_mailbox == 0 || attached->slots_per_mailbox >= KH_NO_SLOT)
		return senseless(error, "slotsPerMailbox");
	if (attached->reserved_slots == 0 || attached->reserved_slots > attached->slots_per_mailbox)
		return senseless(error, "reservedSlots");
	if (attached->channel_window == 0 || attached->channel_window > 65536)
		return senseless(error, "channelWindow");
	if (attached->slot_bytes % 8 != 0 ||
	    !fits(attached->frame_offset, attached->frame_area_bytes, ring_end, attached->slot_bytes) ||
	    !fits(attached->inline_offset, attached->inline_bytes, ring_end, attached->slot_bytes))
		return senseless(error, "slotBytes, frameOffset or inlineOffset");
	if (attached->frame_area_bytes < sizeof(uint64_t))
		return senseless(error, "frameAreaBytes");
	if (attached->frame_offset < inline_end && attached->inline_offset < frame_end)
		return senseless(error, "frame and inline area overlap");
	if (!fits(attached->mailbox_offset, (uint64_t) attached->slots_per_mailbox * attached->slot_bytes, 0,
	          attached->mailbox_file_bytes))
		return senseless(error, "mailboxOffset");
	published->mailbox_offset = attached->mailbox_offset;
	published->slot_bytes = attached->slot_bytes;
	published->reserved_slots = attached->reserved_slots;
	published->queue_number = attached->queue_number;
	published->frame_offset = attached->frame_offset;
	published->frame_area_bytes = attached->frame_area_bytes;
	published->inline_offset = attached->inline_offset;
	published->inline_bytes = attached->inline_bytes;
	return true;
}

static bool
take_limits(const kh_attached_message *attached, kh_published *published, kh_error *error)
{
	if (attached->arena_file_bytes == 0 || attached->arena_file_bytes > INT64_MAX / 2 ||
	    attached->arena_block_bytes == 0 || attached->arena_block_bytes % 8 != 0)
		return senseless(error, "arenaFileBytes or arenaBlockBytes");
	if (attached->max_frame_bytes < 256 || attached->max_frame_bytes > attached->queue_block_bytes)
		return senseless(error, "maxFrameBytes");
	if (attached->spin_nanos > MAX_SPIN_NANOS)
		return senseless(error, "spinNanos");
	published->session_id = attached->session_id;
	published->incarnation = attached->incarnation;
	published->arena_file_bytes = attached->arena_file_bytes;
	published->arena_block_bytes = attached->arena_block_bytes;
	published->queue_block_bytes = attached->queue_block_bytes;
	published->limits = (kh_limits){
		.slots = attached->slots_per_mailbox,
		.max_batch_bytes = attached->max_batch_bytes,
		.max_frame_bytes = attached->max_frame_bytes,
		.max_statements = attached->max_statements,
		.channel_window = attached->channel_window,
		.spin_nanos = attached->spin_nanos,
		.lease_nanos = attached->lease_nanos,
	};
	return true;
}

/* Bits that are not known here are left out: who asks for a capability knows it. */
static uint64_t
known_bits(uint64_t bits, int count)
{
	return count == 64 ? bits : bits & ((UINT64_C(1) << count) - 1);
}

static bool
take_engine(const kh_attached_message *attached, kh_published *published, kh_error *error)
{
	kh_engine *engine = &published->engine;

	if (attached->engine.bytes == 0)
	{
		*engine = (kh_engine){
			.name = "embedded",
			.capabilities = known_bits(UINT64_MAX, KH_CAPABILITY_COUNT),
			.computations = known_bits(UINT64_MAX, KH_COMPUTATION_COUNT),
			.stored_types = known_bits(UINT64_MAX, KH_STORED_TYPE_COUNT),
		};
		return true;
	}
	if (attached->engine.bytes >= sizeof(engine->name) ||
	    memchr(attached->engine.data, '\0', attached->engine.bytes) != NULL)
		return senseless(error, "engine");
	kh_copy_text(engine->name, sizeof(engine->name), attached->engine.data, attached->engine.bytes);
	engine->capabilities = known_bits(attached->capabilities, KH_CAPABILITY_COUNT);
	engine->computations = known_bits(attached->computations, KH_COMPUTATION_COUNT);
	engine->stored_types = known_bits(attached->stored_types, KH_STORED_TYPE_COUNT);
	engine->longest_row_bytes = attached->longest_row_bytes;
	engine->most_transaction_bytes = attached->most_transaction_bytes;
	return true;
}

static bool
other_version(const void *frame, size_t bytes, kh_error *error)
{
	kh_message_header header;

	if (!kh_message_header_decode(frame, bytes, &header))
		return kh_fail(error, KH_E_VERSION_MISMATCH, "the endpoint's answer is not of protocol %d", KH_SCHEMA_ID);
	if (header.version != KH_SCHEMA_VERSION)
	{
		kh_fail(error, KH_E_VERSION_MISMATCH, "the endpoint speaks protocol version %u, this client version %d",
		        header.version, KH_SCHEMA_VERSION);
		kh_set_hint(error, "Install the extension and the endpoint from the same release.");
		return false;
	}
	return kh_fail(error, KH_E_MALFORMED_MESSAGE,
	               "the endpoint's answer is not a valid message (template %u, %zu bytes)", header.template_id, bytes);
}

bool
kh_attach_response(const void *frame, size_t bytes, kh_published *published, kh_error *error)
{
	kh_attached_message attached;
	kh_failed_message failed;

	if (kh_failed_decode(frame, bytes, &failed))
	{
		if (error != NULL)
			kh_final_error(&failed, error);
		return false;
	}
	if (!kh_attached_decode(frame, bytes, &attached))
		return other_version(frame, bytes, error);
	memset(published, 0, sizeof(*published));
	if (!take_slots(&attached, published, error) || !take_limits(&attached, published, error) ||
	    !take_engine(&attached, published, error))
		return false;
	if (!take_name(published->queue_name, sizeof(published->queue_name), attached.queue_name) ||
	    !take_name(published->principal, sizeof(published->principal), attached.principal))
		return senseless(error, "queueName or principal");
	return true;
}

/* Generated from ipc-endpoint/protocol/schema/layouts.xml by "make generate". Do not edit. */
/* clang-format off */

/* Layouts of mapped memory; orderings are in PROTOCOL.md. */
#ifndef KAKEHASHI_LAYOUTS_H
#define KAKEHASHI_LAYOUTS_H

#include <stddef.h>
#include <stdint.h>

#define KH_LAYOUT_VERSION 1

#define KH_CONTROL_PAGE_BYTES 4096
#define KH_CONTROL_PAGE_MAGIC_OFFSET 0
#define KH_CONTROL_PAGE_LAYOUT_VERSION_OFFSET 8
#define KH_CONTROL_PAGE_PROTOCOL_VERSION_OFFSET 12
#define KH_CONTROL_PAGE_INCARNATION_OFFSET 16
#define KH_CONTROL_PAGE_PROCESS_ID_OFFSET 24
#define KH_CONTROL_PAGE_STATE_OFFSET 28
#define KH_CONTROL_PAGE_HEARTBEAT_NANOS_OFFSET 128
#define KH_CONTROL_PAGE_SESSIONS_OFFSET 136
#define KH_CONTROL_PAGE_MAILBOXES_OFFSET 140
#define KH_CONTROL_PAGE_REQUESTS_OFFSET 144
#define KH_CONTROL_PAGE_ARENA_BLOCKS_OFFSET 148
#define KH_CONTROL_PAGE_QUEUES_OFFSET 152
#define KH_CONTROL_PAGE_WATCHED_CHANNELS_OFFSET 156
#define KH_CONTROL_PAGE_TRANSACTIONS_OFFSET 160
#define KH_CONTROL_PAGE_CROWDED_OFFSET 256

/* Facts of one incarnation; written by the endpoint alone. */
typedef struct kh_control_page
{
	uint64_t	magic;	/* 0x31304948534b4b4b: the bytes KKKSHI01 */
	uint32_t	layout_version;
	uint32_t	protocol_version;
	uint64_t	incarnation;
	uint32_t	process_id;	/* as the endpoint sees itself; for display */
	uint32_t	state;	/* 0 starting, 1 ready, 2 stopping, 3 stopped; written last (release) */
	unsigned char padding_32[96];
	uint64_t	heartbeat_nanos;	/* CLOCK_MONOTONIC, about once a second; for display, liveness is the socket */
	uint32_t	sessions;	/* attached now */
	uint32_t	mailboxes;	/* in use, also of sessions whose last response still runs; this and the following about once a second, for display */
	uint32_t	requests;	/* whose final frame has not been sent */
	uint32_t	arena_blocks;	/* in use, of all arenas */
	uint32_t	queues;	/* request queues */
	uint32_t	watched_channels;	/* responses that wait for their readers */
	uint32_t	transactions;	/* open, with a handle */
	unsigned char padding_164[92];
	uint32_t	crowded;	/* 1: so many sessions ask that who waits sleeps at once; a hint */
	unsigned char padding_260[3836];
} kh_control_page;

_Static_assert(sizeof(kh_control_page) == KH_CONTROL_PAGE_BYTES, "schema");
_Static_assert(offsetof(kh_control_page, magic) == KH_CONTROL_PAGE_MAGIC_OFFSET, "schema");
_Static_assert(offsetof(kh_control_page, layout_version) == KH_CONTROL_PAGE_LAYOUT_VERSION_OFFSET, "schema");
_Static_assert(offsetof(kh_control_page, protocol_version) == KH_CONTROL_PAGE_PROTOCOL_VERSION_OFFSET, "schema");
_Static_assert(offsetof(kh_control_page, incarnation) == KH_CONTROL_PAGE_INCARNATION_OFFSET, "schema");
_Static_assert(offsetof(kh_control_page, process_id) == KH_CONTROL_PAGE_PROCESS_ID_OFFSET, "schema");
_Static_assert(offsetof(kh_control_page, state) == KH_CONTROL_PAGE_STATE_OFFSET, "schema");
_Static_assert(offsetof(kh_control_page, heartbeat_nanos) == KH_CONTROL_PAGE_HEARTBEAT_NANOS_OFFSET, "schema");
_Static_assert(offsetof(kh_control_page, sessions) == KH_CONTROL_PAGE_SESSIONS_OFFSET, "schema");
_Static_assert(offsetof(kh_control_page, mailboxes) == KH_CONTROL_PAGE_MAILBOXES_OFFSET, "schema");
_Static_assert(offsetof(kh_control_page, requests) == KH_CONTROL_PAGE_REQUESTS_OFFSET, "schema");
_Static_assert(offsetof(kh_control_page, arena_blocks) == KH_CONTROL_PAGE_ARENA_BLOCKS_OFFSET, "schema");
_Static_assert(offsetof(kh_control_page, queues) == KH_CONTROL_PAGE_QUEUES_OFFSET, "schema");
_Static_assert(offsetof(kh_control_page, watched_channels) == KH_CONTROL_PAGE_WATCHED_CHANNELS_OFFSET, "schema");
_Static_assert(offsetof(kh_control_page, transactions) == KH_CONTROL_PAGE_TRANSACTIONS_OFFSET, "schema");
_Static_assert(offsetof(kh_control_page, crowded) == KH_CONTROL_PAGE_CROWDED_OFFSET, "schema");

#define KH_DOORBELL_PAGE_BYTES 4096
#define KH_DOORBELL_PAGE_BELL_OFFSET 0
#define KH_DOORBELL_PAGE_SLEEPING_OFFSET 128
#define KH_DOORBELL_PAGE_RELEASED_OFFSET 256

/* The word the endpoint sleeps on. */
typedef struct kh_doorbell_page
{
	uint32_t	bell;	/* futex; clients add 1 */
	unsigned char padding_4[124];
	uint32_t	sleeping;	/* 1 while the endpoint sleeps or is about to */
	unsigned char padding_132[124];
	uint32_t	released;	/* 1: a waited-for batch was released; the endpoint clears it */
	unsigned char padding_260[3836];
} kh_doorbell_page;

_Static_assert(sizeof(kh_doorbell_page) == KH_DOORBELL_PAGE_BYTES, "schema");
_Static_assert(offsetof(kh_doorbell_page, bell) == KH_DOORBELL_PAGE_BELL_OFFSET, "schema");
_Static_assert(offsetof(kh_doorbell_page, sleeping) == KH_DOORBELL_PAGE_SLEEPING_OFFSET, "schema");
_Static_assert(offsetof(kh_doorbell_page, released) == KH_DOORBELL_PAGE_RELEASED_OFFSET, "schema");

#define KH_RESPONSE_SLOT_BYTES 384
#define KH_RESPONSE_SLOT_CONSUMED_OFFSET 0
#define KH_RESPONSE_SLOT_CLIENT_SLEEPING_OFFSET 8
#define KH_RESPONSE_SLOT_PRODUCER_WAITING_OFFSET 128
#define KH_RESPONSE_SLOT_EVENT_OFFSET 256
#define KH_RESPONSE_SLOT_FRAME_BYTES_OFFSET 260
#define KH_RESPONSE_SLOT_PRODUCED_OFFSET 264
#define KH_RESPONSE_SLOT_STATUS_OFFSET 272
#define KH_RESPONSE_SLOT_EXECUTION_NANOS_OFFSET 280

/* Head of a response slot; ring, frame area and inline area follow. */
typedef struct kh_response_slot
{
	uint64_t	consumed;
	uint32_t	client_sleeping;
	unsigned char padding_12[116];
	uint32_t	producer_waiting;
	unsigned char padding_132[124];
	uint32_t	event;	/* futex; the endpoint adds 1 */
	uint32_t	frame_bytes;
	uint64_t	produced;
	uint64_t	status;	/* requestId << 1 | finished */
	uint64_t	execution_nanos;	/* of the finished request: from its arrival to its final frame */
	unsigned char padding_288[96];
} kh_response_slot;

_Static_assert(sizeof(kh_response_slot) == KH_RESPONSE_SLOT_BYTES, "schema");
_Static_assert(offsetof(kh_response_slot, consumed) == KH_RESPONSE_SLOT_CONSUMED_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, client_sleeping) == KH_RESPONSE_SLOT_CLIENT_SLEEPING_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, producer_waiting) == KH_RESPONSE_SLOT_PRODUCER_WAITING_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, event) == KH_RESPONSE_SLOT_EVENT_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, frame_bytes) == KH_RESPONSE_SLOT_FRAME_BYTES_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, produced) == KH_RESPONSE_SLOT_PRODUCED_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, status) == KH_RESPONSE_SLOT_STATUS_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, execution_nanos) == KH_RESPONSE_SLOT_EXECUTION_NANOS_OFFSET, "schema");

#define KH_BATCH_DESCRIPTOR_BYTES 32
#define KH_BATCH_DESCRIPTOR_OFFSET_OFFSET 0
#define KH_BATCH_DESCRIPTOR_BYTES_OFFSET 8
#define KH_BATCH_DESCRIPTOR_ROW_COUNT_OFFSET 12

/* Entry of a slot's ring, at 384 + 32 * (n % channelWindow). */
typedef struct kh_batch_descriptor
{
	uint64_t	offset;	/* in the arena file; all ones: the slot's inline area */
	uint32_t	bytes;
	uint32_t	row_count;
	unsigned char padding_16[16];
} kh_batch_descriptor;

_Static_assert(sizeof(kh_batch_descriptor) == KH_BATCH_DESCRIPTOR_BYTES, "schema");
_Static_assert(offsetof(kh_batch_descriptor, offset) == KH_BATCH_DESCRIPTOR_OFFSET_OFFSET, "schema");
_Static_assert(offsetof(kh_batch_descriptor, bytes) == KH_BATCH_DESCRIPTOR_BYTES_OFFSET, "schema");
_Static_assert(offsetof(kh_batch_descriptor, row_count) == KH_BATCH_DESCRIPTOR_ROW_COUNT_OFFSET, "schema");

#define KH_ROW_BATCH_HEADER_BYTES 32
#define KH_ROW_BATCH_HEADER_BATCH_BYTES_OFFSET 0
#define KH_ROW_BATCH_HEADER_ROW_COUNT_OFFSET 4
#define KH_ROW_BATCH_HEADER_COLUMN_COUNT_OFFSET 8
#define KH_ROW_BATCH_HEADER_ROW_STRIDE_OFFSET 12
#define KH_ROW_BATCH_HEADER_ROWS_OFFSET_OFFSET 16
#define KH_ROW_BATCH_HEADER_HEAP_OFFSET_OFFSET 20

typedef struct kh_row_batch_header
{
	uint32_t	batch_bytes;
	uint32_t	row_count;
	uint32_t	column_count;
	uint32_t	row_stride;
	uint32_t	rows_offset;
	uint32_t	heap_offset;
	unsigned char padding_24[8];
} kh_row_batch_header;

_Static_assert(sizeof(kh_row_batch_header) == KH_ROW_BATCH_HEADER_BYTES, "schema");
_Static_assert(offsetof(kh_row_batch_header, batch_bytes) == KH_ROW_BATCH_HEADER_BATCH_BYTES_OFFSET, "schema");
_Static_assert(offsetof(kh_row_batch_header, row_count) == KH_ROW_BATCH_HEADER_ROW_COUNT_OFFSET, "schema");
_Static_assert(offsetof(kh_row_batch_header, column_count) == KH_ROW_BATCH_HEADER_COLUMN_COUNT_OFFSET, "schema");
_Static_assert(offsetof(kh_row_batch_header, row_stride) == KH_ROW_BATCH_HEADER_ROW_STRIDE_OFFSET, "schema");
_Static_assert(offsetof(kh_row_batch_header, rows_offset) == KH_ROW_BATCH_HEADER_ROWS_OFFSET_OFFSET, "schema");
_Static_assert(offsetof(kh_row_batch_header, heap_offset) == KH_ROW_BATCH_HEADER_HEAP_OFFSET_OFFSET, "schema");

#endif

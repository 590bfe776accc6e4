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
#define KH_RESPONSE_SLOT_DIRECT_READS_OFFSET 16
#define KH_RESPONSE_SLOT_PRODUCER_WAITING_OFFSET 128
#define KH_RESPONSE_SLOT_EVENT_OFFSET 256
#define KH_RESPONSE_SLOT_FRAME_BYTES_OFFSET 260
#define KH_RESPONSE_SLOT_PRODUCED_OFFSET 264
#define KH_RESPONSE_SLOT_STATUS_OFFSET 272
#define KH_RESPONSE_SLOT_EXECUTION_NANOS_OFFSET 280
#define KH_RESPONSE_SLOT_TRANSACTION_HANDLE_OFFSET 288
#define KH_RESPONSE_SLOT_TRANSACTION_REQUEST_OFFSET 296

/* Head of a response slot; ring, frame area and inline area follow. */
typedef struct kh_response_slot
{
	uint64_t	consumed;
	uint32_t	client_sleeping;
	unsigned char padding_12[4];
	uint64_t	direct_reads;	/* of the session's first slot: rows that it has looked for in the store's memory; for display */
	unsigned char padding_24[104];
	uint32_t	producer_waiting;
	unsigned char padding_132[124];
	uint32_t	event;	/* futex; the endpoint adds 1 */
	uint32_t	frame_bytes;
	uint64_t	produced;
	uint64_t	status;	/* requestId << 1 | finished */
	uint64_t	execution_nanos;	/* of the finished request: from its arrival to its final frame */
	uint64_t	transaction_handle;	/* that the last request with BEGIN has begun */
	uint64_t	transaction_request;	/* requestId of that one; written after the handle, and before anything runs in the transaction */
	unsigned char padding_304[80];
} kh_response_slot;

_Static_assert(sizeof(kh_response_slot) == KH_RESPONSE_SLOT_BYTES, "schema");
_Static_assert(offsetof(kh_response_slot, consumed) == KH_RESPONSE_SLOT_CONSUMED_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, client_sleeping) == KH_RESPONSE_SLOT_CLIENT_SLEEPING_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, direct_reads) == KH_RESPONSE_SLOT_DIRECT_READS_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, producer_waiting) == KH_RESPONSE_SLOT_PRODUCER_WAITING_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, event) == KH_RESPONSE_SLOT_EVENT_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, frame_bytes) == KH_RESPONSE_SLOT_FRAME_BYTES_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, produced) == KH_RESPONSE_SLOT_PRODUCED_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, status) == KH_RESPONSE_SLOT_STATUS_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, execution_nanos) == KH_RESPONSE_SLOT_EXECUTION_NANOS_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, transaction_handle) == KH_RESPONSE_SLOT_TRANSACTION_HANDLE_OFFSET, "schema");
_Static_assert(offsetof(kh_response_slot, transaction_request) == KH_RESPONSE_SLOT_TRANSACTION_REQUEST_OFFSET, "schema");

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

#define KH_STORE_HEAD_BYTES 4096
#define KH_STORE_HEAD_MAGIC_OFFSET 0
#define KH_STORE_HEAD_BASE_OFFSET 8
#define KH_STORE_HEAD_RESERVED_BYTES_OFFSET 16
#define KH_STORE_HEAD_FILE_BYTES_OFFSET 128
#define KH_STORE_HEAD_MOVED_OFFSET 256
#define KH_STORE_HEAD_DURABLE_OFFSET 384
#define KH_STORE_HEAD_COMMON_OFFSET 512
#define KH_STORE_HEAD_DEFINITIONS_OFFSET 640
#define KH_STORE_HEAD_COLLECTED_OFFSET 768

/* Begin of the store's shared memory, for direct reads; cells of 64 bytes follow. */
typedef struct kh_store_head
{
	uint64_t	magic;	/* 0x313053544f52534b: the bytes KSROTS01; written last (release), 0 once the endpoint has closed */
	uint64_t	base;	/* address of this byte in the endpoint: an address less this is an offset in the memory */
	uint64_t	reserved_bytes;	/* the memory is never longer */
	unsigned char padding_24[104];
	uint64_t	file_bytes;	/* bytes that may be touched; only grows */
	unsigned char padding_136[120];
	uint64_t	moved;	/* grows before the memory of freed index nodes becomes something else */
	unsigned char padding_264[120];
	uint64_t	durable;	/* timestamp up to which commits are durable */
	unsigned char padding_392[120];
	uint64_t	common;	/* timestamp of the last commit that all that is read depends on */
	unsigned char padding_520[120];
	uint64_t	definitions;	/* grows when tables, rights or roles have changed */
	unsigned char padding_648[120];
	uint64_t	collected;	/* grows before versions go, and entries of them: a state as of an earlier timestamp may lack rows */
	unsigned char padding_776[3320];
} kh_store_head;

_Static_assert(sizeof(kh_store_head) == KH_STORE_HEAD_BYTES, "schema");
_Static_assert(offsetof(kh_store_head, magic) == KH_STORE_HEAD_MAGIC_OFFSET, "schema");
_Static_assert(offsetof(kh_store_head, base) == KH_STORE_HEAD_BASE_OFFSET, "schema");
_Static_assert(offsetof(kh_store_head, reserved_bytes) == KH_STORE_HEAD_RESERVED_BYTES_OFFSET, "schema");
_Static_assert(offsetof(kh_store_head, file_bytes) == KH_STORE_HEAD_FILE_BYTES_OFFSET, "schema");
_Static_assert(offsetof(kh_store_head, moved) == KH_STORE_HEAD_MOVED_OFFSET, "schema");
_Static_assert(offsetof(kh_store_head, durable) == KH_STORE_HEAD_DURABLE_OFFSET, "schema");
_Static_assert(offsetof(kh_store_head, common) == KH_STORE_HEAD_COMMON_OFFSET, "schema");
_Static_assert(offsetof(kh_store_head, definitions) == KH_STORE_HEAD_DEFINITIONS_OFFSET, "schema");
_Static_assert(offsetof(kh_store_head, collected) == KH_STORE_HEAD_COLLECTED_OFFSET, "schema");

#define KH_STORE_INDEX_BYTES 64
#define KH_STORE_INDEX_GENERATION_OFFSET 0
#define KH_STORE_INDEX_ROOT_OFFSET 8

/* Cell of an index. */
typedef struct kh_store_index
{
	uint64_t	generation;	/* odd: there is nothing to be read; only grows, whatever the cell is used for */
	uint64_t	root;	/* address of a StoreNode */
	unsigned char padding_16[48];
} kh_store_index;

_Static_assert(sizeof(kh_store_index) == KH_STORE_INDEX_BYTES, "schema");
_Static_assert(offsetof(kh_store_index, generation) == KH_STORE_INDEX_GENERATION_OFFSET, "schema");
_Static_assert(offsetof(kh_store_index, root) == KH_STORE_INDEX_ROOT_OFFSET, "schema");

#define KH_STORE_TABLE_BYTES 64
#define KH_STORE_TABLE_GENERATION_OFFSET 0
#define KH_STORE_TABLE_VERSION_OFFSET 8
#define KH_STORE_TABLE_PARTS_OFFSET 16
#define KH_STORE_TABLE_PART_COUNT_OFFSET 24

/* Cell of a table. */
typedef struct kh_store_table
{
	uint64_t	generation;	/* as that of StoreIndex */
	uint64_t	version;	/* odd while the following change; only grows within a generation */
	uint64_t	parts;	/* address of addresses of parts: 512 addresses of StorePages each; 0: there is none */
	uint64_t	part_count;
	unsigned char padding_32[32];
} kh_store_table;

_Static_assert(sizeof(kh_store_table) == KH_STORE_TABLE_BYTES, "schema");
_Static_assert(offsetof(kh_store_table, generation) == KH_STORE_TABLE_GENERATION_OFFSET, "schema");
_Static_assert(offsetof(kh_store_table, version) == KH_STORE_TABLE_VERSION_OFFSET, "schema");
_Static_assert(offsetof(kh_store_table, parts) == KH_STORE_TABLE_PARTS_OFFSET, "schema");
_Static_assert(offsetof(kh_store_table, part_count) == KH_STORE_TABLE_PART_COUNT_OFFSET, "schema");

#define KH_STORE_PAGE_BYTES 24
#define KH_STORE_PAGE_VERSION_OFFSET 0
#define KH_STORE_PAGE_STAMPS_OFFSET 8
#define KH_STORE_PAGE_COLUMNS_OFFSET 16

/* Page of rows; StorePageColumns follow. */
typedef struct kh_store_page
{
	uint64_t	version;	/* odd while a writer has the page; only grows */
	uint64_t	stamps;	/* address of a word for each row: who made its version and when; 0: there is no row */
	uint64_t	columns;	/* StorePageColumns */
} kh_store_page;

_Static_assert(sizeof(kh_store_page) == KH_STORE_PAGE_BYTES, "schema");
_Static_assert(offsetof(kh_store_page, version) == KH_STORE_PAGE_VERSION_OFFSET, "schema");
_Static_assert(offsetof(kh_store_page, stamps) == KH_STORE_PAGE_STAMPS_OFFSET, "schema");
_Static_assert(offsetof(kh_store_page, columns) == KH_STORE_PAGE_COLUMNS_OFFSET, "schema");

#define KH_STORE_PAGE_COLUMN_BYTES 16
#define KH_STORE_PAGE_COLUMN_PLACE_OFFSET 0
#define KH_STORE_PAGE_COLUMN_NULLS_OFFSET 8

/* Where a column's values are in a page. */
typedef struct kh_store_page_column
{
	uint64_t	place;	/* address of words, in its low three bits which power of two their bytes are; 0: all rows have the column's missing value */
	uint64_t	nulls;	/* address of null bits; 0: there is no null */
} kh_store_page_column;

_Static_assert(sizeof(kh_store_page_column) == KH_STORE_PAGE_COLUMN_BYTES, "schema");
_Static_assert(offsetof(kh_store_page_column, place) == KH_STORE_PAGE_COLUMN_PLACE_OFFSET, "schema");
_Static_assert(offsetof(kh_store_page_column, nulls) == KH_STORE_PAGE_COLUMN_NULLS_OFFSET, "schema");

#define KH_STORE_NODE_BYTES 32
#define KH_STORE_NODE_VERSION_OFFSET 0
#define KH_STORE_NODE_LEVEL_OFFSET 8
#define KH_STORE_NODE_COUNT_OFFSET 10
#define KH_STORE_NODE_HEAP_START_OFFSET 12
#define KH_STORE_NODE_HEAP_USED_OFFSET 14
#define KH_STORE_NODE_LEFTMOST_OFFSET 16

/* Head of an index node of 8192 bytes; slots follow: head u64, offset u16, length u16 with the highest bit for a long key. */
typedef struct kh_store_node
{
	uint64_t	version;	/* odd while a writer has the node; only grows */
	uint16_t	level;	/* 0: leaf */
	uint16_t	count;	/* slots */
	uint16_t	heap_start;
	uint16_t	heap_used;
	uint64_t	leftmost;	/* address of the child below slot 0 */
	unsigned char padding_24[8];
} kh_store_node;

_Static_assert(sizeof(kh_store_node) == KH_STORE_NODE_BYTES, "schema");
_Static_assert(offsetof(kh_store_node, version) == KH_STORE_NODE_VERSION_OFFSET, "schema");
_Static_assert(offsetof(kh_store_node, level) == KH_STORE_NODE_LEVEL_OFFSET, "schema");
_Static_assert(offsetof(kh_store_node, count) == KH_STORE_NODE_COUNT_OFFSET, "schema");
_Static_assert(offsetof(kh_store_node, heap_start) == KH_STORE_NODE_HEAP_START_OFFSET, "schema");
_Static_assert(offsetof(kh_store_node, heap_used) == KH_STORE_NODE_HEAP_USED_OFFSET, "schema");
_Static_assert(offsetof(kh_store_node, leftmost) == KH_STORE_NODE_LEFTMOST_OFFSET, "schema");

#define KH_STORE_DICTIONARY_BYTES 64
#define KH_STORE_DICTIONARY_GENERATION_OFFSET 0
#define KH_STORE_DICTIONARY_VALUES_OFFSET 8
#define KH_STORE_DICTIONARY_COUNT_OFFSET 16

/* Cell of the values that many rows of a column have. */
typedef struct kh_store_dictionary
{
	uint64_t	generation;	/* as that of StoreIndex */
	uint64_t	values;	/* address of addresses of values by code, each with its header; they stay as long as the table */
	uint64_t	count;	/* of these addresses; written after values (release) */
	unsigned char padding_24[40];
} kh_store_dictionary;

_Static_assert(sizeof(kh_store_dictionary) == KH_STORE_DICTIONARY_BYTES, "schema");
_Static_assert(offsetof(kh_store_dictionary, generation) == KH_STORE_DICTIONARY_GENERATION_OFFSET, "schema");
_Static_assert(offsetof(kh_store_dictionary, values) == KH_STORE_DICTIONARY_VALUES_OFFSET, "schema");
_Static_assert(offsetof(kh_store_dictionary, count) == KH_STORE_DICTIONARY_COUNT_OFFSET, "schema");

#endif

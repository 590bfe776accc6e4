/*
 * The end of a cycle file, and what is published about a message.
 *
 *   word                       written                      read by
 *   header of the message      CAS 0 -> length (release)    tailers (acquire): the message is there
 *   writePosition.position     after the header             appenders, toEnd
 *   writePosition.sequence     after the position           the same: position << shift | sequence
 *   index slots, lastIndex     after both                   moveToIndex
 *
 * A writer may be killed between any two of them. The message exists from its header on, and each later word can be
 * derived from the earlier ones; kh_tail_find does so before anything is appended. Plain stores by the holder of the
 * lock suffice, as only tailers look without it, and they start from the header.
 */
#include "queue_internal.h"

#include <string.h>

static bool
corrupted(const kh_queue *queue, uint64_t position, kh_error *error)
{
	return kh_fail(error, KH_E_DATA_CORRUPTED, "request queue \"%s\" has an impossible header at offset %llu",
	               queue->path, (unsigned long long) position);
}

/*
 * Where to begin: a message and its sequence number, or 0 and -1. The two words belong together if the second has the
 * position (as much of it as fits) of the first; otherwise its writer died between the stores, and the second still
 * describes an earlier message.
 */
static uint64_t
starting_point(const kh_cycle *cycle, int64_t *sequence)
{
	uint32_t shift = cycle->layout.geometry.shift;
	uint64_t position = kh_load_acquire(kh_cycle_word(cycle, cycle->layout.position));
	uint64_t second = kh_load_relaxed(kh_cycle_word(cycle, cycle->layout.position + 8));
	uint64_t fits = UINT64_MAX >> shift;

	*sequence = -1;
	if (position == 0 || second >> shift == 0)
		return 0;
	*sequence = (int64_t) (second & ~(UINT64_MAX << shift));
	return (second >> shift) == (position & fits) ? position : second >> shift;
}

bool
kh_tail_find(const kh_queue *queue, kh_cycle *cycle, kh_tail *tail, kh_error *error)
{
	uint64_t known = kh_load_relaxed(kh_cycle_word(cycle, cycle->layout.position));
	int64_t sequence;
	uint64_t start = starting_point(cycle, &sequence);
	uint64_t at = start;
	uint64_t end = 0; /* of the content of the last message */

	tail->last_position = start;
	tail->sequence = sequence;
	tail->ended = false;
	for (;;)
	{
		uint32_t header;
		uint32_t length;

		if (at % 4 != 0 || !kh_cycle_reserve(queue, cycle, at, at + 4, error))
			return at % 4 != 0 ? corrupted(queue, at, error) : false;
		header = kh_load_acquire(kh_cycle_header(cycle, at));
		length = header & KH_WIRE_LENGTH_MASK;
		/* The file was made with it. */
		if (at == 0 && (header & (KH_WIRE_META | KH_WIRE_INCOMPLETE)) != KH_WIRE_META)
			return corrupted(queue, at, error);
		if (header == KH_WIRE_EOF)
		{
			tail->ended = true;
			break;
		}
		if (header != 0 && (header & KH_WIRE_INCOMPLETE) != 0)
		{
			/* We never publish such headers; nobody has seen a message here. */
			kh_store_release(kh_cycle_header(cycle, at), 0);
			header = 0;
		}
		if (header == 0)
			break;
		if (length > cycle->file_bytes - at - 4 && !kh_cycle_refresh(queue, cycle, error))
			return false;
		if (length > cycle->file_bytes - at - 4)
			return corrupted(queue, at, error);
		if ((header & KH_WIRE_META) == 0 && at != start)
		{
			tail->sequence++;
			tail->last_position = at;
			end = at + 4 + length;
		}
		else if (at == start && start != 0 && (header & KH_WIRE_META) != 0)
			return corrupted(queue, at, error);
		at = kh_wire_align4(at + 4 + length);
	}
	if (at == start && start != 0)
		return corrupted(queue, at, error); /* the last message is not there */
	tail->position = at;
	if (tail->last_position > known || (tail->last_position == known && start != known))
		kh_tail_publish(queue, cycle, tail->last_position, tail->sequence, end);
	return true;
}

/* Gives memory to the page of an index slot, unless it is the one that got it last: consecutive slots share theirs. */
static bool
reserve_slot(const kh_queue *queue, kh_cycle *cycle, uint64_t *known_page, uint64_t position)
{
	kh_cycle page;
	uint64_t from = position & ~(uint64_t) 4095;

	if (from == *known_page)
		return true;
	if (position > cycle->file_bytes - 8)
		return false;
	/* Apart from the window at the tail, and within the file, so that the mapping stays where it is. */
	page = *cycle;
	page.reserved_from = page.reserved_to = 0;
	if (!kh_cycle_reserve(queue, &page, position, position + 8, NULL))
		return false;
	*known_page = from;
	return true;
}

/* Stores position into slot j of the array whose first slot is at slots; "used", before it, is one more than the last. */
static void
set_slot(kh_cycle *cycle, uint64_t slots, uint64_t j, uint64_t position)
{
	uint64_t *used = kh_cycle_word(cycle, slots - 8);

	kh_store_release(kh_cycle_word(cycle, slots + 8 * j), position);
	if (kh_load_relaxed(used) < j + 1)
		kh_store_release(used, j + 1);
}

/* Appends an index document at the tail, zeroed in full; 0 if there is no room for it. */
static uint64_t
append_index_document(const kh_queue *queue, kh_cycle *cycle, uint64_t at)
{
	unsigned char head[64] = {0};
	kh_wire_writer writer = {.at = head, .position = at + 4};
	uint64_t slots;
	uint64_t end;

	kh_wire_put_event(&writer, "index");
	kh_wire_put_aligned_code(&writer, KH_WIRE_CODE_ARRAY, 8);
	kh_wire_put_u64(&writer, cycle->layout.geometry.index_count);
	kh_wire_put_u64(&writer, 0);
	slots = writer.position;
	end = slots + 8 * (uint64_t) cycle->layout.geometry.index_count;
	if (!kh_cycle_reserve(queue, cycle, at, end + KH_TAIL_ZEROS, NULL))
		return 0;
	memset(cycle->map + at + 4, 0, end + KH_TAIL_ZEROS - at - 4);
	memcpy(cycle->map + at + 4, head, slots - at - 4);
	kh_store_release(kh_cycle_header(cycle, at), KH_WIRE_META | (uint32_t) (end - at - 4));
	return at;
}

/* First slot of the index document at a position that came out of the file; 0 if it is none. */
static uint64_t
index_slots(const kh_cycle *cycle, uint64_t document)
{
	kh_wire_reader reader;
	kh_wire_value value;
	size_t end;
	bool meta;

	if (document % 4 != 0 || !kh_wire_document(cycle->map, cycle->file_bytes, document, &meta, &end) || !meta)
		return 0;
	kh_wire_begin(&reader, cycle->map, document + 4, end);
	value = kh_wire_next(&reader);
	if (value.kind != KH_WIRE_ARRAY || value.count != cycle->layout.geometry.index_count || value.offset % 8 != 0)
		return 0;
	return value.offset;
}

/*
 * Enters the message into the index. An entry that cannot be made, for want of memory, is left out: readers go back to
 * an earlier entry and scan.
 */
static void
index_message(const kh_queue *queue, kh_cycle *cycle, uint64_t position, int64_t sequence, uint64_t end)
{
	uint64_t count = cycle->layout.geometry.index_count;
	uint64_t spacing = cycle->layout.geometry.index_spacing;
	uint64_t entry = (uint64_t) sequence / spacing;
	uint64_t first = cycle->layout.index2index + 8 * (entry / count);
	uint64_t *last_index;
	uint64_t document;
	uint64_t slots;

	if (entry / count >= count || !reserve_slot(queue, cycle, &cycle->index2index_page, first))
		return;
	document = kh_load_acquire(kh_cycle_word(cycle, first));
	if (document == 0)
	{
		document = append_index_document(queue, cycle, kh_wire_align4(end));
		if (document == 0)
			return;
		set_slot(cycle, cycle->layout.index2index, entry / count, document);
	}
	slots = index_slots(cycle, document);
	if (slots == 0 || !reserve_slot(queue, cycle, &cycle->index_page, slots + 8 * (entry % count)))
		return;
	set_slot(cycle, slots, entry % count, position);
	last_index = kh_cycle_word(cycle, cycle->layout.last_index); /* the mapping may have moved until here */
	if (kh_load_relaxed(last_index) < (uint64_t) sequence + spacing)
		kh_store_release(last_index, (uint64_t) sequence + spacing);
}

void
kh_tail_publish(const kh_queue *queue, kh_cycle *cycle, uint64_t position, int64_t sequence, uint64_t end)
{
	uint64_t *words = kh_cycle_word(cycle, cycle->layout.position);

	kh_store_release(words, position);
	kh_store_release(words + 1, position << cycle->layout.geometry.shift | (uint64_t) sequence);
	if (end != 0 && (uint64_t) sequence % cycle->layout.geometry.index_spacing == 0 &&
	    kh_load_relaxed(kh_cycle_word(cycle, cycle->layout.last_index)) <= (uint64_t) sequence)
		index_message(queue, cycle, position, sequence, end);
}

bool
kh_tail_terminate(const kh_queue *queue, kh_cycle *cycle, kh_error *error)
{
	static const unsigned char text[4] = {0xC3, 'E', 'O', 'F'};
	kh_tail tail;

	if (!kh_tail_find(queue, cycle, &tail, error))
		return false;
	if (tail.ended)
		return true;
	if (!kh_cycle_reserve(queue, cycle, tail.position, tail.position + 8, error))
		return false;
	memcpy(cycle->map + tail.position + 4, text, sizeof(text));
	kh_store_release(kh_cycle_header(cycle, tail.position), KH_WIRE_EOF);
	return true;
}

/*
 * Tickets of direct reads, and when what was read is an answer.
 *
 * The words that are noted first and looked at last, see StoreHead of the store:
 *
 *   definitions        tables, rights and roles are those that the statement was prepared for
 *   moved              no node's memory has become something else
 *   cells' generation  table and index are there, and are what the ticket means
 *   cells' version     the directory of pages has not been replaced
 *   node's version     the leaf has the same entries
 *   page's version     each page is the same, and the values that its newest versions lead to are
 *
 * A commit is visible before it is durable: what has seen a later one than is durable is no answer.
 */
#include "direct_page.h"
#include "../session_internal.h"

#include <stdlib.h>
#include <string.h>

static bool
is_cell(const kh_store *store, uint64_t offset)
{
	return offset % KH_STORE_TABLE_BYTES == 0 && offset >= KH_STORE_HEAD_BYTES &&
	       offset <= kh_store_bytes(store) - KH_STORE_TABLE_BYTES;
}

static bool
is_cell_or_none(const kh_store *store, uint64_t offset)
{
	return offset == 0 || is_cell(store, offset);
}

bool
kh_session_reads_directly(const kh_session *session)
{
	return session->store.base != NULL;
}

kh_direct *
kh_direct_create(const kh_session *session, const void *ticket, uint32_t bytes)
{
	kh_direct_read_message message;
	kh_direct *read;
	bool is_sound = true;

	if (session->store.base == NULL || !kh_direct_read_decode(ticket, bytes, &message) ||
	    !is_cell(&session->store, message.table_cell) || !is_cell(&session->store, message.index_cell))
		return NULL;
	read = calloc(1, sizeof(*read) + message.keys_count * sizeof(*read->keys) +
	                     message.columns_count * sizeof(*read->columns));
	if (read == NULL)
		return NULL;
	read->definitions = message.definitions;
	read->table_cell = message.table_cell;
	read->table_generation = message.table_generation;
	read->index_cell = message.index_cell;
	read->index_generation = message.index_generation;
	read->page_rows = message.page_rows;
	read->keys = (kh_direct_read_keys *) (read + 1);
	read->columns = (kh_direct_read_columns *) (read->keys + message.keys_count);
	while (read->key_count < message.keys_count &&
	       kh_direct_read_keys_next(&message.keys_group, &read->keys[read->key_count]))
		read->key_count++;
	while (read->column_count < message.columns_count &&
	       kh_direct_read_columns_next(&message.columns_group, &read->columns[read->column_count]))
		read->column_count++;
	for (uint32_t i = 0; i < read->key_count; i++)
		is_sound = is_sound && is_cell_or_none(&session->store, read->keys[i].dictionary_cell);
	for (uint32_t i = 0; i < read->column_count; i++)
		is_sound = is_sound && is_cell_or_none(&session->store, read->columns[i].dictionary_cell);
	if (!is_sound || read->key_count != message.keys_count || read->column_count != message.columns_count ||
	    read->key_count == 0 || !kh_range_create(read))
	{
		kh_direct_free(read);
		return NULL;
	}
	return read;
}

void
kh_direct_free(kh_direct *read)
{
	if (read != NULL)
		kh_range_free(read);
	free(read);
}

bool
kh_direct_holds(const kh_noted *note, const kh_direct *read)
{
	return kh_load_acquire(&note->head->magic) == KH_STORE_MAGIC &&
	       kh_load_acquire(&note->head->definitions) == read->definitions &&
	       kh_load_acquire(&note->table->generation) == read->table_generation &&
	       kh_load_acquire(&note->index->generation) == read->index_generation;
}

kh_noted
kh_direct_note(const kh_store *store, const kh_direct *read)
{
	kh_noted note = {
		.head = kh_store_head_of(store),
		.table = (const kh_store_table *) (const void *) (store->base + read->table_cell),
		.index = (const kh_store_index *) (const void *) (store->base + read->index_cell),
	};

	note.moved = kh_load_acquire(&note.head->moved);
	note.table_version = kh_load_acquire(&note.table->version);
	note.limit = kh_store_bytes(store);
	return note;
}

bool
kh_direct_still(const kh_noted *note, const kh_direct *read)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return kh_load_relaxed(&note->table->version) == note->table_version &&
	       kh_load_relaxed(&note->head->moved) == note->moved && kh_direct_holds(note, read);
}

/*
 * Whether all is as it was, and not later than until: found, KH_FOUND_TORN or KH_FOUND_ELSE. until: the timestamp of the state that is read; it is
 * durable.
 */
static kh_found
confirm(const kh_noted *note, const kh_direct *read, const kh_leaf *leaf, uint64_t newest, uint64_t until,
        kh_found found)
{
	if (!kh_direct_unchanged(leaf->node, leaf->version) || !kh_direct_still(note, read))
		return KH_FOUND_TORN;
	return newest > until || kh_load_acquire(&note->head->common) > until ? KH_FOUND_ELSE : found;
}

/*
 * until: see confirm; noted before the first page is looked at. Several entries may have the key, of which the rows change together: what is later than
 * that is asked for, so all of them are of one state.
 */
static kh_found
try_once(const kh_store *store, const kh_direct *read, const kh_direct_key *key, const kh_noted *note,
         const kh_wanted *wanted, uint64_t until, kh_batch_writer *to)
{
	kh_found found;
	kh_leaf leaf = {0};
	kh_found_row row = {0};
	uint64_t newest = 0;
	uint32_t slot;
	bool is_long;

	if ((note->table_version & 1) != 0)
		return KH_FOUND_TORN;
	found = kh_direct_descend(store, note->limit, note->index, key, &leaf);
	if (found != KH_FOUND)
		return found;
	slot = kh_direct_position(leaf.node, key, &is_long);
	if (is_long)
		return KH_FOUND_ELSE;
	found = KH_FOUND_NOTHING;
	for (; found == KH_FOUND_NOTHING; slot++)
	{
		if (slot >= kh_direct_count(leaf.node))
		{
			if (leaf.may_go_on)
				return KH_FOUND_ELSE;
			break;
		}
		found = kh_direct_entry(leaf.node, slot, key, &row.number);
		if (found != KH_FOUND)
			break;
		found = kh_direct_row(store, note, read, &row, wanted, to, &newest);
	}
	if (found == KH_FOUND_TORN)
		return found;
	return confirm(note, read, &leaf, newest, until, found);
}

/* For display, in the session's first slot, which its first request has made ours. */
static void
count(const kh_session *session, uint32_t reads)
{
	kh_response_slot *slot = (kh_response_slot *) session->mailbox.base;

	if (slot != NULL)
		kh_store_relaxed(&slot->direct_reads, kh_load_relaxed(&slot->direct_reads) + reads);
}

/* Reads the row of one row of parameters, and tries again while others change it. */
static kh_direct_answer
read_row(const kh_session *session, const kh_direct *read, const kh_wanted *wanted, uint64_t until, kh_batch_writer *to)
{
	const kh_store *store = &session->store;
	uint32_t rows = to->row_count;
	kh_direct_key key;
	bool is_null;

	if (!kh_direct_key_make(&key, read->keys, read->key_count, wanted, &is_null))
		return KH_DIRECT_ASK;
	for (int tries = 0; tries < KH_DIRECT_TRIES; tries++)
	{
		kh_noted note = kh_direct_note(store, read);
		kh_found found;

		if (!kh_direct_holds(&note, read))
			return KH_DIRECT_STALE;
		if (is_null)
			return KH_DIRECT_NO_ROW;
		found = try_once(store, read, &key, &note, wanted, until, to);
		if (found == KH_FOUND)
			return KH_DIRECT_ROW;
		if (to->row_count > rows)
			kh_batch_writer_drop_row(to);
		if (found == KH_FOUND_NOTHING)
			return KH_DIRECT_NO_ROW;
		if (found == KH_FOUND_ELSE)
			return KH_DIRECT_ASK;
		kh_relax();
	}
	return KH_DIRECT_ASK;
}

static kh_direct_answer
read_ranges(const kh_session *session, const kh_direct *read, const kh_batch *parameters, kh_batch_writer *to)
{
	kh_direct_answer answer = kh_range_read(&session->store, read, parameters, to);

	if (answer == KH_DIRECT_ROW || answer == KH_DIRECT_NO_ROW)
		count(session, parameters->row_count);
	return answer;
}

kh_direct_answer
kh_direct_read(const kh_session *session, const kh_direct *read, const kh_batch *parameters, kh_batch_writer *to)
{
	kh_wanted wanted = {.parameters = parameters};
	kh_direct_answer answer;

	if (parameters->row_count != 1)
		return KH_DIRECT_ASK;
	if (read->range != NULL)
		return read_ranges(session, read, parameters, to);
	kh_batch_writer_reset(to);
	answer = read_row(session, read, &wanted, kh_load_acquire(&kh_store_head_of(&session->store)->durable), to);
	if (answer == KH_DIRECT_ROW || answer == KH_DIRECT_NO_ROW)
		count(session, 1);
	return answer;
}

/*
 * All of them are as of one timestamp. It was durable at the begin, so what was acknowledged before is there. A row whose newest version is later is
 * asked for. A row that is not there may have gone later, and its entry with it: not if nothing was collected since.
 */
kh_direct_answer
kh_direct_read_rows(const kh_session *session, const kh_direct *read, const kh_batch *parameters, kh_batch_writer *to)
{
	const kh_store_head *head = kh_store_head_of(&session->store);
	uint64_t until = kh_load_acquire(&head->durable);
	bool is_absent = false;

	if (read->range != NULL)
		return read_ranges(session, read, parameters, to);
	kh_batch_writer_reset(to);
	for (uint32_t row = 0; row < parameters->row_count; row++)
	{
		kh_wanted wanted = {.parameters = parameters, .row = row};
		kh_direct_answer answer = read_row(session, read, &wanted, until, to);

		if (answer != KH_DIRECT_ROW && answer != KH_DIRECT_NO_ROW)
			return answer;
		is_absent = is_absent || answer == KH_DIRECT_NO_ROW;
	}
	if (is_absent && kh_load_acquire(&head->collected) > until)
		return KH_DIRECT_ASK;
	count(session, parameters->row_count);
	return to->row_count > 0 ? KH_DIRECT_ROW : KH_DIRECT_NO_ROW;
}

bool
kh_direct_is_range(const kh_direct *read)
{
	return read->range != NULL;
}

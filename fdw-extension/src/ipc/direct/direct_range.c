/*
 * The rows of short ranges of keys, as of one timestamp.
 *
 * The entries of a range lie in several leaves, which are copied one after the other: each as it was at some moment, and each begins where the one
 * before it ended. So an entry that is there all the time is met once. Then the rows are read.
 *
 * The state that is read is that of the timestamp that was durable at the begin. What is in it has entries that are there all the time, if nothing was
 * collected since, which is looked at last: versions that went meanwhile may have taken theirs along. The version of a row that is in it is the newest
 * one, or there is a later one; then the range is asked for. A row may have several entries in the range, of which one has its key.
 */
#include "direct_page.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the entries of one range. */
#define MOST_KEY_BYTES (48 * 1024)

/* A range of some hundred entries is not in so many leaves, but where almost all have been removed. */
#define MOST_LEAVES 32

#define ROW_BYTES 8

typedef struct entry
{
	uint64_t row;
	uint32_t at; /* in keys: the key that the row has to have */
	uint32_t bytes;
} entry;

struct kh_range
{
	uint32_t equal_count;             /* the first keys equal parameters */
	const kh_direct_read_keys *lower; /* NULL: there is none */
	const kh_direct_read_keys *upper;
	bool is_reverse;

	/* What is read. */
	kh_direct_key from; /* the first entry that may be wanted */
	kh_direct_key to;   /* the first one that is not; without bytes: all are */
	uint32_t entry_count;
	uint32_t key_bytes;
	entry entries[KH_DIRECT_RANGE_ROWS];
	unsigned char keys[MOST_KEY_BYTES];
	uint64_t leaf[KH_DIRECT_NODE_BYTES / sizeof(uint64_t)];
};

/* ---- tickets ---- */

static bool
has(const kh_direct_read_keys *column, uint8_t flag)
{
	return (column->flags & flag) != 0;
}

/* Equal columns, the bounds of one more, the others. */
static bool
sort_out(kh_direct *read, struct kh_range *range)
{
	uint32_t i = 0;

	range->is_reverse = has(&read->keys[0], KH_KEY_FLAGS_REVERSE);
	while (i < read->key_count && !has(&read->keys[i], KH_KEY_FLAGS_LOWER | KH_KEY_FLAGS_UPPER | KH_KEY_FLAGS_UNBOUND))
		i++;
	range->equal_count = i;
	if (i < read->key_count && has(&read->keys[i], KH_KEY_FLAGS_LOWER))
		range->lower = &read->keys[i++];
	if (i < read->key_count && has(&read->keys[i], KH_KEY_FLAGS_UPPER))
		range->upper = &read->keys[i++];
	if (range->lower != NULL && range->upper != NULL && range->lower->column != range->upper->column)
		return false;
	while (i < read->key_count && has(&read->keys[i], KH_KEY_FLAGS_UNBOUND))
		i++;
	return i == read->key_count && (range->equal_count > 0 || range->lower != NULL || range->upper != NULL);
}

bool
kh_range_create(kh_direct *read)
{
	if (!has(&read->keys[0], KH_KEY_FLAGS_RANGED))
		return true;
	read->range = malloc(sizeof(*read->range));
	if (read->range == NULL)
		return false;
	read->range->lower = NULL;
	read->range->upper = NULL;
	return sort_out(read, read->range);
}

void
kh_range_free(kh_direct *read)
{
	free(read->range);
}

/* ---- bounds ---- */

/*
 * Adds a bound to the bytes that all entries begin with. is_from: it is where they begin; what descends has the upper bound there. False: it is too long.
 */
static bool
put_bound(kh_direct_key *key, const kh_direct_read_keys *bound, const kh_direct_read_keys *other,
          const kh_wanted *wanted, bool is_from, bool *is_empty)
{
	kh_key_value value;
	bool is_behind = !is_from;

	if (bound == NULL)
	{
		/* Nulls are in no range. */
		if (other != NULL && !kh_direct_key_put_not_null(key, other))
			return false;
	}
	else
	{
		if (!kh_direct_parameter(bound, wanted, &value))
			return false;
		if (value.is_null)
		{
			*is_empty = true;
			return true;
		}
		if (!kh_direct_key_put(key, bound, &value))
			return false;
		is_behind = has(bound, KH_KEY_FLAGS_EXCLUSIVE) == is_from;
	}
	/* Nothing is behind bytes of 0xFF alone: no entry, or all. */
	if (is_behind && !kh_direct_key_to_successor(key) && is_from)
		*is_empty = true;
	return true;
}

/* From where to where entries are wanted. False: the bytes are too many. */
static bool
set_bounds(const kh_direct *read, struct kh_range *range, const kh_wanted *wanted, bool *is_empty)
{
	const kh_direct_read_keys *first = range->lower;
	const kh_direct_read_keys *last = range->upper;

	if (!kh_direct_key_make(&range->from, read->keys, range->equal_count, wanted, is_empty))
		return false;
	if (*is_empty)
		return true;
	range->to = range->from;
	if (has(first != NULL ? first : last != NULL ? last : read->keys, KH_KEY_FLAGS_DESCENDING))
	{
		const kh_direct_read_keys *swapped = first;

		first = last;
		last = swapped;
	}
	if (!put_bound(&range->from, first, last, wanted, true, is_empty) ||
	    !put_bound(&range->to, last, first, wanted, false, is_empty))
		return false;
	kh_direct_key_end(&range->from);
	kh_direct_key_end(&range->to);
	return true;
}

/* ---- entries ---- */

/* Whether a key is behind another one. */
static bool
is_behind(const kh_direct_key *key, const kh_direct_key *other)
{
	uint32_t bytes = key->length < other->length ? key->length : other->length;
	int order = memcmp(key->bytes, other->bytes, bytes);

	return order > 0 || (order == 0 && key->length > other->length);
}

static kh_found
add_entry(struct kh_range *range, uint32_t slot)
{
	entry *added = &range->entries[range->entry_count];
	kh_direct_key whole;
	kh_found found = kh_direct_whole_entry((const unsigned char *) range->leaf, slot, &whole);
	uint64_t big;

	if (found != KH_FOUND)
		return found;
	if (range->entry_count == KH_DIRECT_RANGE_ROWS || whole.length > MOST_KEY_BYTES - range->key_bytes)
		return KH_FOUND_ELSE;
	memcpy(&big, whole.bytes + (whole.length - ROW_BYTES), sizeof(big));
	added->row = __builtin_bswap64(big);
	added->at = range->key_bytes;
	added->bytes = whole.length - ROW_BYTES;
	memcpy(range->keys + added->at, whole.bytes, added->bytes);
	range->key_bytes += added->bytes;
	range->entry_count++;
	return KH_FOUND;
}

/* Takes the entries of the copied leaf from a position on. KH_FOUND: all of them, KH_FOUND_NOTHING: what follows is not wanted. */
static kh_found
take_entries(struct kh_range *range, const kh_direct_key *position)
{
	const unsigned char *leaf = (const unsigned char *) range->leaf;
	uint32_t count = kh_direct_count(leaf);
	bool is_long;
	uint32_t slot = kh_direct_position(leaf, position, &is_long);

	for (; !is_long && slot < count; slot++)
	{
		kh_found found;

		if (range->to.length > 0 && !kh_direct_less(leaf, slot, &range->to, &is_long))
			return is_long ? KH_FOUND_ELSE : KH_FOUND_NOTHING;
		if (is_long)
			break;
		found = add_entry(range, slot);
		if (found != KH_FOUND)
			return found;
	}
	return is_long ? KH_FOUND_ELSE : KH_FOUND;
}

/* Takes the entries of the range. */
static kh_found
walk(const kh_store *store, const kh_noted *note, struct kh_range *range)
{
	kh_direct_key position = range->from;
	kh_direct_key next;

	range->entry_count = 0;
	range->key_bytes = 0;
	for (int leaves = 0; leaves < MOST_LEAVES; leaves++)
	{
		kh_leaf leaf = {.key = &next};
		kh_found found = kh_direct_descend(store, note->limit, note->index, &position, &leaf);

		if (found != KH_FOUND)
			return found;
		memcpy(range->leaf, leaf.node, KH_DIRECT_NODE_BYTES);
		if (!kh_direct_unchanged(leaf.node, leaf.version))
			return KH_FOUND_TORN;
		found = take_entries(range, &position);
		if (found != KH_FOUND)
			return found == KH_FOUND_NOTHING ? KH_FOUND : found;
		if (leaf.fence == KH_FENCE_NONE)
			return KH_FOUND;
		if (leaf.fence == KH_FENCE_LONG)
			return KH_FOUND_ELSE;
		if (range->to.length > 0 && !is_behind(&range->to, &next))
			return KH_FOUND;
		/* Or nodes have been moved meanwhile. */
		if (!is_behind(&next, &position))
			return KH_FOUND_TORN;
		position = next;
	}
	return KH_FOUND_ELSE;
}

/* ---- rows ---- */

static kh_found
read_entry(const kh_store *store, const kh_noted *note, const kh_direct *read, const entry *of, const kh_wanted *wanted,
           kh_batch_writer *to, uint64_t *newest)
{
	kh_found_row row = {.number = of->row, .key = read->range->keys + of->at, .key_bytes = of->bytes};
	uint32_t rows = to->row_count;
	kh_found found = KH_FOUND_TORN;

	for (int tries = 0; tries < KH_DIRECT_TRIES; tries++)
	{
		found = kh_direct_row(store, note, read, &row, wanted, to, newest);
		if (found != KH_FOUND && to->row_count > rows)
			kh_batch_writer_drop_row(to);
		if (found != KH_FOUND_TORN)
			break;
		kh_relax();
	}
	return found;
}

/* Reads the rows of one row of parameters. */
static kh_found
read_range(const kh_store *store, const kh_noted *note, const kh_direct *read, const kh_wanted *wanted,
           kh_batch_writer *to, uint64_t until)
{
	struct kh_range *range = read->range;
	bool is_empty = false;
	uint64_t newest = 0;
	kh_found found;

	if (!set_bounds(read, range, wanted, &is_empty))
		return KH_FOUND_ELSE;
	if (is_empty)
		return KH_FOUND;
	found = walk(store, note, range);
	for (uint32_t i = 0; found == KH_FOUND && i < range->entry_count; i++)
	{
		const entry *of = &range->entries[range->is_reverse ? range->entry_count - 1 - i : i];

		found = read_entry(store, note, read, of, wanted, to, &newest);
		if (found == KH_FOUND_NOTHING)
			found = KH_FOUND;
		if (found == KH_FOUND && newest > until)
			found = KH_FOUND_ELSE;
	}
	return found;
}

static kh_found
try_once(const kh_store *store, const kh_direct *read, const kh_noted *note, const kh_batch *parameters,
         kh_batch_writer *to)
{
	/* Before the first leaf is looked at: what was committed until then has its entries. */
	uint64_t until = kh_load_acquire(&note->head->durable);
	kh_found found = KH_FOUND;

	if ((note->table_version & 1) != 0)
		return KH_FOUND_TORN;
	kh_batch_writer_reset(to);
	for (uint32_t row = 0; found == KH_FOUND && row < parameters->row_count; row++)
	{
		kh_wanted wanted = {.parameters = parameters, .row = row};

		found = read_range(store, note, read, &wanted, to, until);
	}
	if (found == KH_FOUND && !kh_direct_still(note, read))
		return KH_FOUND_TORN;
	if (found == KH_FOUND &&
	    (kh_load_acquire(&note->head->collected) > until || kh_load_acquire(&note->head->common) > until))
		return KH_FOUND_ELSE;
	return found;
}

kh_direct_answer
kh_range_read(const kh_store *store, const kh_direct *read, const kh_batch *parameters, kh_batch_writer *to)
{
	for (int tries = 0; tries < KH_DIRECT_TRIES; tries++)
	{
		kh_noted note = kh_direct_note(store, read);
		kh_found found;

		if (!kh_direct_holds(&note, read))
			return KH_DIRECT_STALE;
		found = try_once(store, read, &note, parameters, to);
		if (found == KH_FOUND)
			return to->row_count > 0 ? KH_DIRECT_ROW : KH_DIRECT_NO_ROW;
		if (found == KH_FOUND_ELSE)
			return KH_DIRECT_ASK;
		kh_relax();
	}
	return KH_DIRECT_ASK;
}

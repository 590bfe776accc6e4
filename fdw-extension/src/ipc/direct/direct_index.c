/*
 * From a key to rows: down a B+-tree whose nodes others change, as the store's OrderedTree does it.
 *
 * The version of a child is read between two looks at its parent's: the first says that the address was a child's, the second that it still
 * was when the child's version was noted. A node that has been freed is told by a greater version as long as its memory is that of nodes; the
 * caller looks at StoreHead.moved for the rest.
 */
#include "direct.h"

#include <string.h>

#define NODE_BYTES KH_DIRECT_NODE_BYTES
#define SLOT_BYTES 12
#define HEAD_BYTES 8
#define CHILD_BYTES 8
#define LONG_KEY 0x8000
#define MOST_SLOTS ((NODE_BYTES - KH_STORE_NODE_BYTES) / SLOT_BYTES)
#define ROW_BYTES 8

/* No tree is so high: what goes deeper has been torn. */
#define MOST_LEVELS 32

static uint16_t
short_at(const unsigned char *at)
{
	return kh_load_relaxed((const uint16_t *) (const void *) at);
}

/* Slots are 12 bytes each, so words in them are not aligned: one may be torn, and is found out later. */
static uint64_t
word_at(const unsigned char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static const unsigned char *
slot_at(const unsigned char *node, uint32_t slot)
{
	return node + KH_STORE_NODE_BYTES + (size_t) slot * SLOT_BYTES;
}

static uint32_t
level(const unsigned char *node)
{
	return short_at(node + KH_STORE_NODE_LEVEL_OFFSET);
}

uint32_t
kh_direct_count(const unsigned char *node)
{
	uint32_t count = short_at(node + KH_STORE_NODE_COUNT_OFFSET);

	return count < MOST_SLOTS ? count : MOST_SLOTS;
}

/* Bytes of a slot's entry behind the child's address; *length: of them, without those that the slot has itself. */
static const unsigned char *
tail(const unsigned char *node, uint32_t slot, uint32_t prefix, uint32_t *length, bool *is_long)
{
	uint32_t offset = short_at(slot_at(node, slot) + HEAD_BYTES);
	uint32_t bytes = short_at(slot_at(node, slot) + HEAD_BYTES + 2);

	*is_long = (bytes & LONG_KEY) != 0;
	bytes &= ~(uint32_t) LONG_KEY;
	if (offset > NODE_BYTES - prefix)
		offset = NODE_BYTES - prefix;
	offset += prefix;
	*length = bytes > HEAD_BYTES ? bytes - HEAD_BYTES : 0;
	if (*length > NODE_BYTES - offset)
		*length = NODE_BYTES - offset;
	return node + offset;
}

/* Order of a slot's key and a key. */
static int
compare(const unsigned char *node, uint32_t slot, uint32_t prefix, const kh_direct_key *key, bool *is_long)
{
	uint64_t head = word_at(slot_at(node, slot));
	uint32_t bytes;
	uint32_t wanted = key->length > HEAD_BYTES ? key->length - HEAD_BYTES : 0;
	const unsigned char *rest;
	int order;

	if (head != key->head)
		return head < key->head ? -1 : 1;
	rest = tail(node, slot, prefix, &bytes, is_long);
	order = memcmp(rest, key->bytes + HEAD_BYTES, bytes < wanted ? bytes : wanted);
	if (order != 0)
		return order;
	/* Equal heads: a key that ends in them is the shorter one. */
	bytes = short_at(slot_at(node, slot) + HEAD_BYTES + 2) & ~(uint32_t) LONG_KEY;
	return bytes < key->length ? -1 : bytes > key->length;
}

uint32_t
kh_direct_position(const unsigned char *node, const kh_direct_key *key, bool *is_long)
{
	uint32_t prefix = level(node) == 0 ? 0 : CHILD_BYTES;
	uint32_t low = 0;
	uint32_t high = kh_direct_count(node);

	*is_long = false;
	while (low < high && !*is_long)
	{
		uint32_t middle = (low + high) / 2;

		if (compare(node, middle, prefix, key, is_long) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Number of slots whose key is not greater. */
static uint32_t
child_slot(const unsigned char *node, const kh_direct_key *key, bool *is_long)
{
	uint32_t position = kh_direct_position(node, key, is_long);

	if (!*is_long && position < kh_direct_count(node) && compare(node, position, CHILD_BYTES, key, is_long) == 0)
		position++;
	return position;
}

/* Whether a slot's key begins with a key, which is a prefix of no other value's. */
static bool
begins(const unsigned char *node, uint32_t slot, uint32_t prefix, const kh_direct_key *key, uint32_t *bytes,
       const unsigned char **rest, bool *is_long)
{
	uint64_t head = word_at(slot_at(node, slot));
	uint32_t wanted = key->length > HEAD_BYTES ? key->length - HEAD_BYTES : 0;
	uint32_t shift = key->length < HEAD_BYTES ? 64 - 8 * key->length : 0;

	*rest = tail(node, slot, prefix, bytes, is_long);
	if (key->length == 0 || (head ^ key->head) >> shift != 0)
		return false;
	return *is_long || (*bytes >= wanted && memcmp(*rest, key->bytes + HEAD_BYTES, wanted) == 0);
}

kh_found
kh_direct_entry(const unsigned char *node, uint32_t slot, const kh_direct_key *key, uint64_t *row)
{
	unsigned char last[HEAD_BYTES + ROW_BYTES];
	const unsigned char *rest;
	uint64_t head;
	uint64_t big;
	uint32_t bytes;
	bool is_long;

	if (!begins(node, slot, 0, key, &bytes, &rest, &is_long))
		return KH_FOUND_NOTHING;
	if (is_long)
		return KH_FOUND_ELSE;
	/* The row's number is behind the key, and may begin in the head. */
	if ((short_at(slot_at(node, slot) + HEAD_BYTES + 2) & ~(uint32_t) LONG_KEY) != key->length + ROW_BYTES)
		return KH_FOUND_TORN;
	if (key->length >= HEAD_BYTES)
	{
		if (bytes != key->length - HEAD_BYTES + ROW_BYTES)
			return KH_FOUND_TORN;
		memcpy(&big, rest + (key->length - HEAD_BYTES), sizeof(big));
	}
	else
	{
		if (bytes != key->length)
			return KH_FOUND_TORN;
		head = __builtin_bswap64(word_at(slot_at(node, slot)));
		memcpy(last, &head, HEAD_BYTES);
		memcpy(last + HEAD_BYTES, rest, bytes);
		memcpy(&big, last + key->length, sizeof(big));
	}
	*row = __builtin_bswap64(big);
	return KH_FOUND;
}

bool
kh_direct_less(const unsigned char *node, uint32_t slot, const kh_direct_key *key, bool *is_long)
{
	*is_long = false;
	return compare(node, slot, 0, key, is_long) < 0;
}

/* The bytes of a slot's key. */
static kh_found
copy_key(const unsigned char *node, uint32_t slot, uint32_t prefix, kh_direct_key *to)
{
	uint32_t length = short_at(slot_at(node, slot) + HEAD_BYTES + 2);
	uint64_t big = __builtin_bswap64(word_at(slot_at(node, slot)));
	const unsigned char *rest;
	uint32_t bytes;
	bool is_long;

	rest = tail(node, slot, prefix, &bytes, &is_long);
	if (is_long || length > KH_DIRECT_KEY_BYTES)
		return KH_FOUND_ELSE;
	memcpy(to->bytes, &big, HEAD_BYTES);
	if (length > HEAD_BYTES)
	{
		/* Not so many in a node that nobody changes. */
		if (bytes != length - HEAD_BYTES)
			return KH_FOUND_TORN;
		memcpy(to->bytes + HEAD_BYTES, rest, bytes);
	}
	to->length = length;
	kh_direct_key_end(to);
	return KH_FOUND;
}

kh_found
kh_direct_whole_entry(const unsigned char *node, uint32_t slot, kh_direct_key *entry)
{
	kh_found found = copy_key(node, slot, 0, entry);

	return found == KH_FOUND && entry->length < ROW_BYTES ? KH_FOUND_TORN : found;
}

bool
kh_direct_unchanged(const unsigned char *version_at, uint64_t version)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return kh_store_word(version_at) == version;
}

/* The version of a node that nobody has now; false: somebody has it. */
static bool
note(const unsigned char *node, uint64_t *version)
{
	*version = kh_load_acquire((const uint64_t *) (const void *) node);
	return (*version & 1) == 0;
}

static uint64_t
child(const unsigned char *node, uint32_t slot)
{
	uint32_t offset;

	if (slot == 0)
		return kh_store_word(node + KH_STORE_NODE_LEFTMOST_OFFSET);
	offset = short_at(slot_at(node, slot - 1) + HEAD_BYTES);
	return word_at(node + (offset < NODE_BYTES - CHILD_BYTES ? offset : NODE_BYTES - CHILD_BYTES));
}

static const unsigned char *
node_at(const kh_store *store, uint64_t limit, uint64_t address)
{
	return address % 8 == 0 ? kh_store_at(store, limit, address, NODE_BYTES) : NULL;
}

kh_found
kh_direct_descend(const kh_store *store, uint64_t limit, const kh_store_index *index, const kh_direct_key *key,
                  kh_leaf *leaf)
{
	uint64_t root = kh_load_acquire(&index->root);
	const unsigned char *node = node_at(store, limit, root);
	uint64_t version;

	leaf->may_go_on = false;
	leaf->fence = KH_FENCE_NONE;
	if (node == NULL || !note(node, &version) || kh_load_acquire(&index->root) != root)
		return KH_FOUND_TORN;
	for (int levels = 0; level(node) != 0; levels++)
	{
		const unsigned char *next;
		const unsigned char *rest;
		uint64_t next_version;
		uint32_t slot;
		uint32_t bytes;
		bool is_long;

		slot = child_slot(node, key, &is_long);
		if (is_long)
			return kh_direct_unchanged(node, version) ? KH_FOUND_ELSE : KH_FOUND_TORN;
		if (slot < kh_direct_count(node))
		{
			leaf->may_go_on = begins(node, slot, CHILD_BYTES, key, &bytes, &rest, &is_long);
			if (leaf->key != NULL)
				leaf->fence = copy_key(node, slot, CHILD_BYTES, leaf->key) == KH_FOUND ? KH_FENCE_KEY : KH_FENCE_LONG;
		}
		next = node_at(store, limit, child(node, slot));
		if (!kh_direct_unchanged(node, version) || next == NULL || levels == MOST_LEVELS ||
		    !note(next, &next_version) || !kh_direct_unchanged(node, version))
			return KH_FOUND_TORN;
		node = next;
		version = next_version;
	}
	leaf->node = node;
	leaf->version = version;
	return KH_FOUND;
}

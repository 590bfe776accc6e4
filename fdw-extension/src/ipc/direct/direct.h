/*
 * Direct reads: a statement's row out of the store's memory, without a request.
 *
 * Nothing is written there and nothing latched. What is read may be torn, or be something else by now: every address and length is
 * cut to the memory before it is used, and nothing is believed before the words have been looked at again that change first.
 *
 *   direct.c        tickets, and what makes an answer of what was read
 *   direct_range.c  the rows of a range of keys
 *   direct_index.c  from a key to rows
 *   direct_page.c   from a row to its values
 *   direct_numeric.c  numbers that lie in a word
 *   direct_key.c    the bytes of a key
 */
#ifndef KAKEHASHI_DIRECT_H
#define KAKEHASHI_DIRECT_H

#include "../store.h"

#include "../generated/kh_messages.h"
#include "kakehashi/ipc.h"

/* Longest bytes of a key, with the row's number behind them. Longer keys are asked for. */
#define KH_DIRECT_KEY_BYTES 512

#define KH_DIRECT_NODE_BYTES 8192

/* Longest value that lies in shared memory. */
#define KH_DIRECT_VALUE_BYTES (32 * 1024)

/* What is found of one row. */
typedef enum kh_found
{
	KH_FOUND,
	KH_FOUND_NOTHING,
	KH_FOUND_ELSE, /* not for sure: a request knows */
	KH_FOUND_TORN  /* something has changed: look again */
} kh_found;

typedef struct kh_direct_key
{
	unsigned char bytes[KH_DIRECT_KEY_BYTES];
	uint32_t length;
	uint64_t head; /* the first eight bytes as a number */
} kh_direct_key;

/* What is said of the key where the next leaf begins. */
typedef enum kh_fence
{
	KH_FENCE_NONE, /* there is no next leaf */
	KH_FENCE_KEY,
	KH_FENCE_LONG /* it has more bytes than are kept here */
} kh_fence;

/* A leaf that has been gone down to. */
typedef struct kh_leaf
{
	const unsigned char *node;
	uint64_t version;
	bool may_go_on;     /* the next leaf may have entries of the key, too */
	kh_direct_key *key; /* receives the fence's; NULL: nobody wants to know it, and fence says nothing */
	kh_fence fence;
} kh_leaf;

/* A value of a key's column, as the parameter or the row has it: a word, or bytes. */
typedef struct kh_key_value
{
	bool is_null;
	uint64_t word;
	const unsigned char *bytes;
	uint32_t length;
} kh_key_value;

/* One row of a statement's parameters. */
typedef struct kh_wanted
{
	const kh_batch *parameters;
	uint32_t row;
} kh_wanted;

/* The bytes that entries of an index begin with; false: they are too many, or a value is null and no row has it. */
extern bool kh_direct_key_make(kh_direct_key *key, const kh_direct_read_keys *columns, uint32_t count,
                               const kh_wanted *wanted, bool *is_null);

/* Steps of that. Of a key that is made by them nothing is used before kh_direct_key_end(). False: there are too many bytes. */
extern bool kh_direct_key_put(kh_direct_key *key, const kh_direct_read_keys *column, const kh_key_value *value);
extern bool kh_direct_key_put_not_null(kh_direct_key *key, const kh_direct_read_keys *column);
extern void kh_direct_key_end(kh_direct_key *key);

/* The first bytes that are greater than all that begin with the key. False: there are none. */
extern bool kh_direct_key_to_successor(kh_direct_key *key);

/* The value of a key's parameter; false: there is none. */
extern bool kh_direct_parameter(const kh_direct_read_keys *column, const kh_wanted *wanted, kh_key_value *value);

/* Goes down to the leaf where the key's entries begin. KH_FOUND, KH_FOUND_TORN or KH_FOUND_ELSE. */
extern kh_found kh_direct_descend(const kh_store *store, uint64_t limit, const kh_store_index *index,
                                  const kh_direct_key *key, kh_leaf *leaf);

/* The first slot of a node whose key is not less. */
extern uint32_t kh_direct_position(const unsigned char *node, const kh_direct_key *key, bool *is_long);

/* The row of a slot if its entry begins with the key. KH_FOUND, KH_FOUND_NOTHING or KH_FOUND_ELSE. */
extern kh_found kh_direct_entry(const unsigned char *node, uint32_t slot, const kh_direct_key *key, uint64_t *row);

extern uint32_t kh_direct_count(const unsigned char *node);

/* Whether the entry of a leaf's slot is less than a key. */
extern bool kh_direct_less(const unsigned char *node, uint32_t slot, const kh_direct_key *key, bool *is_long);

/* The whole entry of a leaf's slot: key, and the row's number behind it. KH_FOUND, KH_FOUND_ELSE: it is too long, or KH_FOUND_TORN. */
extern kh_found kh_direct_whole_entry(const unsigned char *node, uint32_t slot, kh_direct_key *entry);

/* Whether a leaf, or a page, is as it was when its version was noted. */
extern bool kh_direct_unchanged(const unsigned char *version_at, uint64_t version);

#endif /* KAKEHASHI_DIRECT_H */

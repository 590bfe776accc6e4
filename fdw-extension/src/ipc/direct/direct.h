/*
 * Direct reads: a statement's row out of the store's memory, without a request.
 *
 * Nothing is written there and nothing latched. What is read may be torn, or be something else by now: every address and length is
 * cut to the memory before it is used, and nothing is believed before the words have been looked at again that change first.
 *
 *   direct.c        tickets, and what makes an answer of what was read
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

/* A leaf that has been gone down to. */
typedef struct kh_leaf
{
	const unsigned char *node;
	uint64_t version;
	bool may_go_on; /* the next leaf may have entries of the key, too */
} kh_leaf;

/* One row of a statement's parameters. */
typedef struct kh_wanted
{
	const kh_batch *parameters;
	uint32_t row;
} kh_wanted;

/* The bytes that entries of an index begin with; false: they are too many, or a value is null and no row has it. */
extern bool kh_direct_key_make(kh_direct_key *key, const kh_direct_read_keys *columns, uint32_t count,
                               const kh_wanted *wanted, bool *is_null);

/* Goes down to the leaf where the key's entries begin. KH_FOUND, KH_FOUND_TORN or KH_FOUND_ELSE. */
extern kh_found kh_direct_descend(const kh_store *store, uint64_t limit, const kh_store_index *index,
                                  const kh_direct_key *key, kh_leaf *leaf);

/* The first slot of a node whose key is not less. */
extern uint32_t kh_direct_position(const unsigned char *node, const kh_direct_key *key, bool *is_long);

/* The row of a slot if its entry begins with the key. KH_FOUND, KH_FOUND_NOTHING or KH_FOUND_ELSE. */
extern kh_found kh_direct_entry(const unsigned char *node, uint32_t slot, const kh_direct_key *key, uint64_t *row);

extern uint32_t kh_direct_count(const unsigned char *node);

/* Whether a leaf, or a page, is as it was when its version was noted. */
extern bool kh_direct_unchanged(const unsigned char *version_at, uint64_t version);

#endif /* KAKEHASHI_DIRECT_H */

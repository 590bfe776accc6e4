/*
 * What a ticket says, decoded, and reading one row of it.
 */
#ifndef KAKEHASHI_DIRECT_PAGE_H
#define KAKEHASHI_DIRECT_PAGE_H

#include "direct.h"

struct kh_direct
{
	uint64_t definitions;
	uint64_t table_cell; /* offset; checked */
	uint64_t table_generation;
	uint64_t index_cell;
	uint64_t index_generation;
	uint32_t page_rows;
	uint32_t key_count;
	uint32_t column_count;
	kh_direct_read_keys *keys;
	kh_direct_read_columns *columns;
	struct kh_range *range; /* NULL: the keys are a whole unique key, and equal parameters */
};

/* What is noted first. */
typedef struct kh_noted
{
	const kh_store_head *head;
	const kh_store_table *table;
	const kh_store_index *index;
	uint64_t moved;
	uint64_t table_version;
	uint64_t limit;
} kh_noted;

extern kh_noted kh_direct_note(const kh_store *store, const kh_direct *read);

/* Whether the ticket holds. */
extern bool kh_direct_holds(const kh_noted *note, const kh_direct *read);

/* Whether it still does, and what was read meanwhile was neither moved nor replaced. */
extern bool kh_direct_still(const kh_noted *note, const kh_direct *read);

/* Tries of what others are changing, before a request is cheaper. */
#define KH_DIRECT_TRIES 16

/* ---- direct_range.c ---- */

/* What a ticket of a range needs; false: it is not sound, or there is no memory. */
extern bool kh_range_create(kh_direct *read);
extern void kh_range_free(kh_direct *read);

/* The rows of all ranges, in the order of the parameters, as of one timestamp. */
extern kh_direct_answer kh_range_read(const kh_store *store, const kh_direct *read, const kh_batch *parameters,
                                      kh_batch_writer *to);

/* ---- direct_page.c ---- */

/* A row of the index. */
typedef struct kh_found_row
{
	uint64_t number;
	const unsigned char *key; /* the bytes that its key has to have; NULL: it has to equal the parameters */
	uint32_t key_bytes;
} kh_found_row;

/*
 * Adds the newest version of a row to to. KH_FOUND; KH_FOUND_NOTHING: it is deleted, or has another key; KH_FOUND_ELSE; KH_FOUND_TORN.
 * newest: raised to the timestamp of what was seen.
 */
extern kh_found kh_direct_row(const kh_store *store, const kh_noted *note, const kh_direct *read,
                              const kh_found_row *row, const kh_wanted *wanted, kh_batch_writer *to, uint64_t *newest);

/* Longest numeric that lies in a word. */
#define KH_DIRECT_NUMERIC_BYTES 16

/* Writes a numeric that lies in a word, as PostgreSQL has it behind a varlena's header; returns the bytes, at most KH_DIRECT_NUMERIC_BYTES. */
extern uint32_t kh_direct_numeric(uint64_t word, unsigned char *to);

#endif /* KAKEHASHI_DIRECT_PAGE_H */

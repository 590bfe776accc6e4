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
};

/*
 * Adds the newest version of a row to to. KH_FOUND; KH_FOUND_NOTHING: it is deleted, or has another key; KH_FOUND_ELSE; KH_FOUND_TORN.
 * newest: raised to the timestamp of what was seen.
 */
extern kh_found kh_direct_row(const kh_store *store, uint64_t limit, const kh_store_table *table, const kh_direct *read,
                              uint64_t row, const kh_wanted *wanted, kh_batch_writer *to, uint64_t *newest);

/* Longest numeric that lies in a word. */
#define KH_DIRECT_NUMERIC_BYTES 16

/* Writes a numeric that lies in a word, as PostgreSQL has it behind a varlena's header; returns the bytes, at most KH_DIRECT_NUMERIC_BYTES. */
extern uint32_t kh_direct_numeric(uint64_t word, unsigned char *to);

#endif /* KAKEHASHI_DIRECT_PAGE_H */

/*
 * The store's memory as an endpoint has left it, from the file that "kh_direct RUNTIME_DIRECTORY record" has written: 600 rows, of which some are
 * deleted and most have changed. Accesses outside of it end the process.
 */
#ifndef KAKEHASHI_FIXTURE_STORE_H
#define KAKEHASHI_FIXTURE_STORE_H

#include "session_internal.h"

#include "direct/direct_page.h"

#define FIXTURE_STORE_ROWS 600

/* A session that reads it, as it was recorded; the same one each time. */
extern kh_session *fixture_store(void);

/* What is at an address of the endpoint's, for writing; and the word there. */
extern unsigned char *fixture_store_at(uint64_t address);
extern uint64_t fixture_store_word(uint64_t address);

/* The head of the store, and the cells of a ticket, for writing. */
extern kh_store_head *fixture_store_head(void);
extern kh_store_table *fixture_store_table(const kh_direct *read);
extern kh_store_index *fixture_store_tree(const kh_direct *read);

/* Address of the table's first page. Rows are where they were inserted, in order. */
extern uint64_t fixture_store_page(const kh_direct *read);

/* The recorded ticket; to be freed by kh_direct_free. */
extern kh_direct *fixture_store_ticket(void);

/*
 * A ticket for a range of ids. Flags of the lower and the upper bound, whose parameters are the first and the second one; 0: there is no such bound. More flags
 * of the first one. NULL: the store has been changed so that there is none.
 */
extern kh_direct *fixture_store_range(uint8_t lower, uint8_t upper, uint8_t of_first);

/* Number of pieces of 64 bytes that have been recorded. */
extern uint32_t fixture_store_lines(void);

/* A piece, for writing: what is written is gone with the next fixture_store(). */
extern unsigned char *fixture_store_line(uint32_t line);

/* Reads a row by its key. */
extern kh_direct_answer fixture_store_read(const kh_direct *read, int64_t id, kh_batch *row);

#endif /* KAKEHASHI_FIXTURE_STORE_H */

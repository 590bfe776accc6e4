/*
 * A queue directory as the library makes it, and a reader of its messages, for tests without Java.
 */
#ifndef KAKEHASHI_FIXTURE_H
#define KAKEHASHI_FIXTURE_H

#include "queue_internal.h"

#include "test.h"

#define FIXTURE_BLOCK (64 * 1024)

/* Writes metadata.cq4t, byte for byte what the library writes for these settings, into a new directory. */
extern void fixture_make(const char *directory, const char *format, uint32_t roll_millis);

/* The same into memory; returns the bytes in use. base: 4096 bytes, zeroed. */
extern size_t fixture_table(unsigned char *base, const char *format, uint32_t roll_millis);

/* A fresh queue of one-second cycles with small indexes (TEST4_SECONDLY), in the test's directory. */
extern kh_queue *fixture_queue(void);

/* The same in a directory that is not there. */
extern kh_queue *fixture_queue_in(const char *directory);
extern kh_queue *fixture_open(const char *directory);
extern const char *fixture_directory(void);

/* Puts the highest listed cycle n cycles ahead, so that the next append rolls without waiting for the clock. */
extern void fixture_advance(kh_queue *queue, int64_t n);

typedef void (*fixture_visitor)(void *context, const unsigned char *message, uint32_t bytes);

/*
 * Visits every message of every cycle file in order, and checks on the way: complete headers, positions and sequence
 * numbers that agree with the headers, index entries that point at the right messages, an EOF in each file but the last.
 * Returns the number of messages. With the queue at rest.
 */
extern long fixture_read(const char *directory, fixture_visitor visit, void *context);

#endif /* KAKEHASHI_FIXTURE_H */

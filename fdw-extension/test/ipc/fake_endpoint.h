/*
 * The endpoint's half of the protocol on a thread, for tests of the client without Java: attach, queue, mailbox, arena,
 * doorbell, with the orderings of PROTOCOL.md. Execute's statement id says how it answers.
 */
#ifndef KAKEHASHI_FAKE_ENDPOINT_H
#define KAKEHASHI_FAKE_ENDPOINT_H

#include <stdbool.h>

/* Statement ids; any smaller one is the number of batches in the arena, each with one row of one column. */
enum
{
	FAKE_INLINE = 1000,        /* one inline batch and the final frame, one event */
	FAKE_FAILED = 1001,        /* error 23505 */
	FAKE_SILENT = 1002,        /* nothing until Cancel */
	FAKE_DIES = 1003,          /* the socket closes */
	FAKE_OVERFLOWS = 1004,     /* more batches than the window */
	FAKE_OUTSIDE = 1005,       /* a batch beyond the arena */
	FAKE_GARBAGE_FRAME = 1006, /* a final frame that is none */
	FAKE_LONG_FRAME = 1007,    /* a final frame outside of the arena */
	FAKE_CLEARS = 1008,        /* the socket closes, and the slot is cleared for another session */
	FAKE_BEGINS = 1009         /* a transaction, and the socket closes */
};

typedef enum fake_answer
{
	FAKE_ATTACHES,
	FAKE_REFUSES,
	FAKE_SENDS_GARBAGE,
	FAKE_SENDS_NOTHING,
	/* Of those who ask for the proof of a password. */
	FAKE_KNOWS_THE_PASSWORD, /* "pencil" */
	FAKE_KNOWS_NO_PASSWORD,  /* takes any proof, and has none */
	FAKE_SIGNS_WITH_ZEROS,   /* of no key */
	FAKE_CHANGES_THE_NONCE,
	FAKE_ASKS_FOR_4095_ITERATIONS,
	FAKE_ASKS_FOR_1000001_ITERATIONS,
	FAKE_ASKS_FOR_1000000_ITERATIONS,
	FAKE_ASKS_WITH_A_LONG_MESSAGE
} fake_answer;

/* What ContinueTransaction has to say. */
#define FAKE_TOKEN "00112233445566778899aabbccddeeff"

#define FAKE_SLOTS 4
#define FAKE_RESERVED_SLOTS 2
#define FAKE_WINDOW 4

/* Makes the files in directory and starts the thread. */
extern void fake_start(const char *directory, fake_answer answer);
extern void fake_stop(void);

/* Whether the text came over the socket, before fake_stop. */
extern bool fake_received(const char *text);

/* Lets the lock of the directory go, as the end of the process does. */
extern void fake_unlock(void);

/* Says whether who waits should sleep at once; between fake_start and fake_stop. */
extern void fake_crowded(bool crowded);

#endif /* KAKEHASHI_FAKE_ENDPOINT_H */

/*
 * Readers of what others write, over bytes: called by the fuzzer, and by the test of the corpora. Each may refuse its input or take it; the
 * sanitizers and the checks within say whether it went wrong.
 */
#ifndef KAKEHASHI_TARGET_H
#define KAKEHASHI_TARGET_H

#include "kakehashi/ipc.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct fuzz_target
{
	const char *name;
	/* bytes: exactly n of them, aligned to 8. True: taken. */
	bool (*run)(const unsigned char *bytes, size_t n);
} fuzz_target;

/* Ends with one without a name. */
extern const fuzz_target fuzz_targets[];

/* NULL: there is none of that name. */
extern const fuzz_target *fuzz_target_named(const char *name);

/* Touches every byte that the batch claims to have. */
extern unsigned read_whole_batch(const kh_batch *batch);

#endif /* KAKEHASHI_TARGET_H */

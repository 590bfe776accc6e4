/*
 * Unit tests of src/ipc: a list of functions per file, one line of output per test.
 *
 * Each test runs in the same process and has its own directory, which is removed when it passes. A check that fails
 * leaves the test.
 */
#ifndef KAKEHASHI_TEST_H
#define KAKEHASHI_TEST_H

#include "platform.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct test_case
{
	const char *name;
	void (*run)(void);
} test_case;

#define TEST(function)                                                                                                 \
	{                                                                                                                  \
		.name = #function, .run = function                                                                             \
	}

/* Ends with a case without a name. */
extern const test_case batch_tests[];
extern const test_case codec_tests[];
extern const test_case peer_tests[];
extern const test_case queue_tests[];
extern const test_case repair_tests[];
extern const test_case scram_tests[];
extern const test_case lock_tests[];
extern const test_case space_tests[];
extern const test_case session_tests[];
extern const test_case share_tests[];
extern const test_case token_tests[];
extern const test_case memory_tests[];
extern const test_case crash_tests[];
extern const test_case direct_tests[];
extern const test_case direct_range_tests[];
extern const test_case fuzz_tests[];
extern const test_case corpus_tests[];

extern void test_fail(const char *file, int line, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

#define CHECK(condition)                                                                                               \
	do                                                                                                                 \
	{                                                                                                                  \
		if (!(condition))                                                                                              \
			test_fail(__FILE__, __LINE__, "%s", #condition);                                                           \
	} while (0)

#define CHECK_EQUAL(expected, actual)                                                                                  \
	do                                                                                                                 \
	{                                                                                                                  \
		long long expected_ = (long long) (expected);                                                                  \
		long long actual_ = (long long) (actual);                                                                      \
                                                                                                                       \
		if (expected_ != actual_)                                                                                      \
			test_fail(__FILE__, __LINE__, "%s is %lld, not %s = %lld", #actual, actual_, #expected, expected_);        \
	} while (0)

#define CHECK_TEXT(expected, actual)                                                                                   \
	do                                                                                                                 \
	{                                                                                                                  \
		if (strcmp(expected, actual) != 0)                                                                             \
			test_fail(__FILE__, __LINE__, "%s is \"%s\", not \"%s\"", #actual, actual, expected);                      \
	} while (0)

/* Leaves the test as passed, with a reason on its line. */
extern void test_skip(const char *reason) __attribute__((noreturn));

/* A fresh directory on tmpfs, as in production. The same one during a test. */
extern const char *test_directory(void);

/* Reproducible randomness: the seed is printed, and taken from KAKEHASHI_TEST_SEED if that is set. */
extern uint64_t test_seed(void);
extern uint64_t test_random(uint64_t *state);

#endif /* KAKEHASHI_TEST_H */

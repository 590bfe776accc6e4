/*
 * Each allocation fails once: of memory, of a mapping, of a file's length or blocks. The caller is told, and nothing of it stays: the
 * same again succeeds, in the same session and queue. Memory that is lost is found by the sanitizer when the process ends.
 *
 * The linker leads all calls of these functions here (--wrap). Only those of a thread that counts fail.
 */
#include "fake_endpoint.h"
#include "fixture.h"
#include "session_internal.h"
#include "test.h"

#include "kakehashi/ipc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LIMIT (INT64_C(30) * 1000000000)

extern void *__real_malloc(size_t bytes);
extern void *__real_calloc(size_t count, size_t bytes);
extern void *__real_realloc(void *memory, size_t bytes);
extern char *__real_strdup(const char *text);
extern char *__real_realpath(const char *path, char *resolved);
extern void *__real_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset);
extern void *__real_mremap(void *old, size_t old_bytes, size_t bytes, int flags);
extern int __real_ftruncate(int fd, off_t bytes);
extern int __real_fallocate(int fd, int mode, off_t offset, off_t bytes);

/* Allocations until one fails, that one included; 0: none does. */
static _Thread_local long left;
static kh_error error;

/* The request that has failed last had been sent before: the endpoint has done it. */
static bool sent;

static bool
fails_now(int why)
{
	if (left == 0 || --left > 0)
		return false;
	errno = why;
	return true;
}

void *
__wrap_malloc(size_t bytes)
{
	return fails_now(ENOMEM) ? NULL : __real_malloc(bytes);
}

void *
__wrap_calloc(size_t count, size_t bytes)
{
	return fails_now(ENOMEM) ? NULL : __real_calloc(count, bytes);
}

void *
__wrap_realloc(void *memory, size_t bytes)
{
	return fails_now(ENOMEM) ? NULL : __real_realloc(memory, bytes);
}

char *
__wrap_strdup(const char *text)
{
	return fails_now(ENOMEM) ? NULL : __real_strdup(text);
}

char *
__wrap_realpath(const char *path, char *resolved)
{
	return fails_now(ENOMEM) ? NULL : __real_realpath(path, resolved);
}

void *
__wrap_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return fails_now(ENOMEM) ? MAP_FAILED : __real_mmap(address, bytes, protection, flags, fd, offset);
}

void *
__wrap_mremap(void *old, size_t old_bytes, size_t bytes, int flags)
{
	return fails_now(ENOMEM) ? MAP_FAILED : __real_mremap(old, old_bytes, bytes, flags);
}

int
__wrap_ftruncate(int fd, off_t bytes)
{
	return fails_now(ENOSPC) ? -1 : __real_ftruncate(fd, bytes);
}

int
__wrap_fallocate(int fd, int mode, off_t offset, off_t bytes)
{
	return fails_now(ENOSPC) ? -1 : __real_fallocate(fd, mode, offset, bytes);
}

/* That of memory, or of a file system in memory. */
static void
expect_want(const char *what, long n)
{
	if (strcmp(error.sqlstate, "53200") != 0 && strcmp(error.sqlstate, "53100") != 0)
		test_fail(__FILE__, __LINE__, "allocation %ld of %s: %s %s", n, what, error.sqlstate, error.message);
}

/* ---- requests of a session ---- */

/* Whether the request has succeeded; else with its error. All its rows are read. */
static bool
complete(kh_call *call)
{
	kh_batch batch;
	kh_wait found;
	bool success;

	sent = call != NULL;
	if (call == NULL)
		return false;
	while ((found = kh_call_wait(call, LIMIT, &error)) == KH_WAIT_BATCH)
	{
		error.message[0] = '\0';
		if (!kh_call_batch(call, &batch, &error))
		{
			if (error.message[0] == '\0')
				continue;
			kh_call_end(call);
			return false;
		}
		kh_call_release(call);
	}
	if (found != KH_WAIT_FINISHED)
		test_fail(__FILE__, __LINE__, "%s %s", error.sqlstate, error.message);
	success = !kh_call_result(call)->failed;
	if (!success)
		error = kh_call_result(call)->error;
	kh_call_end(call);
	return success;
}

static bool
ping(kh_session *session)
{
	return complete(kh_send_ping(session, "x", 1, &error));
}

/* The final frame is longer than its area. */
static bool
ping_long(kh_session *session)
{
	static const unsigned char payload[12000];

	return complete(kh_send_ping(session, payload, sizeof(payload), &error));
}

static bool
prepare(kh_session *session)
{
	static const uint32_t types[] = {0, 20};

	return complete(kh_send_prepare(session, 3, "SELECT 1", types, 2, &error));
}

static bool
read_rows(kh_session *session)
{
	kh_execute_options options = {.action = KH_BEGIN};

	return complete(kh_send_execute(session, 20, &options, NULL, 0, &error));
}

static bool
read_shared_rows(kh_session *session)
{
	static _Alignas(8) unsigned char memory[4096 * 2];
	kh_execute_options options = {.action = KH_BEGIN};
	kh_call *call = kh_send_execute(session, 20, &options, NULL, 0, &error);
	kh_call *borrowed;
	kh_session *borrower;

	CHECK(kh_share_bytes(session) <= sizeof(memory));
	if (call == NULL)
		return false;
	if (!kh_call_share(call, memory, &error))
	{
		kh_call_end(call);
		return false;
	}
	borrower = kh_borrow((kh_share *) memory, &borrowed, &error);
	if (borrower == NULL)
	{
		kh_call_unshare(call);
		kh_call_end(call);
		return false;
	}
	kh_detach(borrower);
	return complete(call);
}

static bool
call_procedure(kh_session *session)
{
	static const uint32_t types[] = {20, 20};
	kh_execute_options options = {.action = KH_CONTINUE, .handle = 42};
	kh_batch_writer writer;
	kh_call *call;
	uint32_t bytes;

	if (!kh_batch_writer_init(&writer, 2, 1, 4096, &error))
		return false;
	CHECK(kh_batch_writer_add_row(&writer));
	kh_batch_writer_set_word(&writer, 0, 3);
	kh_batch_writer_set_word(&writer, 1, 4);
	bytes = kh_batch_writer_finish(&writer);
	call = kh_send_invoke(session, "sum", types, 2, 0, &options, writer.data, bytes, &error);
	kh_batch_writer_free(&writer);
	return complete(call);
}

static bool
acquire_buffers(kh_session *session)
{
	return complete(kh_send_acquire_buffers(session, 2, 8192, &error));
}

/* More requests than slots that keep their memory. */
static bool
use_all_slots(kh_session *session)
{
	kh_call *calls[FAKE_SLOTS] = {0};
	bool success = true;

	for (int i = 0; i < FAKE_SLOTS && success; i++)
		success = (calls[i] = kh_send_ping(session, "x", 1, &error)) != NULL;
	for (int i = 0; i < FAKE_SLOTS; i++)
	{
		kh_error first = error;

		if (calls[i] != NULL && !complete(calls[i]))
			success = false;
		else
			error = first;
	}
	return success;
}

static bool
build_rows(kh_session *session)
{
	static const char text[700];
	kh_batch_writer writer;
	bool success = true;

	(void) session;
	if (!kh_batch_writer_init(&writer, 1, 100, 1 << 20, &error))
		return false;
	for (int i = 0; i < 100 && success; i++)
	{
		CHECK(kh_batch_writer_add_row(&writer));
		success = kh_batch_writer_set_value(&writer, 0, text, sizeof(text));
	}
	if (success)
		CHECK(kh_batch_writer_finish(&writer) > 100 * sizeof(text));
	else
	{
		CHECK(writer.out_of_memory);
		kh_fail_system(&error, ENOMEM, KH_E_OUT_OF_MEMORY, "could not build rows");
		/* What was there before is there still. */
		kh_batch_writer_drop_row(&writer);
		CHECK(kh_batch_writer_add_row(&writer) && kh_batch_writer_set_value(&writer, 0, text, sizeof(text)));
	}
	kh_batch_writer_free(&writer);
	return success;
}

static const struct
{
	const char *name;
	bool (*run)(kh_session *session);
	bool is_told; /* once it has been sent its answer needs no memory, as that of a commit */
} requests[] = {
	{"a ping", ping, true},
	{"a long answer", ping_long, false},
	{"a prepared statement", prepare, false},
	{"a query", read_rows, true},
	{"a query that others read", read_shared_rows, false},
	{"a call", call_procedure, false},
	{"buffers", acquire_buffers, true},
	{"many requests", use_all_slots, false},
	{"rows", build_rows, false},
};

/* An allocation of attach fails, or of a request; then the request is made again. False: none has failed. */
static bool
run_session(long n)
{
	kh_attach_options options = {
		.runtime_directory = test_directory(), .application_name = "test", .timeout_millis = 30000};
	char command[400];
	kh_session *session;

	snprintf(command, sizeof(command), "rm -rf %s/*", test_directory());
	CHECK(system(command) == 0);
	fake_start(test_directory(), FAKE_ATTACHES);
	left = n;
	session = kh_attach(&options, &error);
	if (session == NULL)
		expect_want("attach", n);
	for (size_t i = 0; session != NULL && i < sizeof(requests) / sizeof(requests[0]); i++)
	{
		if (requests[i].run(session))
			continue;
		CHECK_EQUAL(0, left);
		expect_want(requests[i].name, n);
		CHECK(!sent || !requests[i].is_told);
		CHECK(kh_session_alive(session));
		CHECK_EQUAL(0, kh_session_damaged_queue(session));
		if (!requests[i].run(session))
			test_fail(__FILE__, __LINE__, "%s after allocation %ld failed: %s %s", requests[i].name, n, error.sqlstate,
			          error.message);
	}
	if (session != NULL)
		CHECK_EQUAL(0, kh_session_calls(session));
	n = left;
	left = 0;
	kh_detach(session);
	fake_stop();
	return n == 0;
}

static void
should_survive_each_allocation_of_a_session(void)
{
	long n = 1;

	while (run_session(n))
		n++;
	printf("# %ld allocations\n", n - 1);
	CHECK(n > 20);
}

/* ---- a queue ---- */

static bool
roll(kh_queue *queue, int64_t cycle)
{
	bool success;

	if (!kh_lock_take(queue, &error))
		return false;
	success = kh_roll(queue, cycle, &error);
	kh_lock_release(queue);
	return success;
}

static void
ignore_message(void *context, const unsigned char *message, uint32_t bytes)
{
	(void) context;
	(void) message;
	(void) bytes;
}

/* Opens a queue, appends over several files, and reads what has been appended. False: no allocation has failed. */
static bool
run_queue(long n)
{
	static const unsigned char message[20000];
	int64_t first = (int64_t) time(NULL) + 3600;
	char command[400];
	kh_queue *queue;
	long appended = 0;

	snprintf(command, sizeof(command), "rm -rf %s/*", test_directory());
	CHECK(system(command) == 0);
	fixture_make(fixture_directory(), "yyyyMMdd-HHmmss'T4'", 1000);
	left = n;
	queue = kh_queue_open(fixture_directory(), FIXTURE_BLOCK, &error);
	if (queue == NULL)
	{
		expect_want("opening a queue", n);
		queue = fixture_open(fixture_directory());
	}
	for (int i = 0; i < 40; i++)
	{
		if (i % 10 == 0 && !roll(queue, first + i))
		{
			expect_want("a roll", n);
			if (!roll(queue, first + i))
				test_fail(__FILE__, __LINE__, "a roll after allocation %ld failed: %s", n, error.message);
		}
		if (!kh_queue_append(queue, message, (uint32_t) (i % 10 * 2000 + 1), &error))
		{
			CHECK_EQUAL(0, left);
			expect_want("an append", n);
			if (!kh_queue_append(queue, message, (uint32_t) (i % 10 * 2000 + 1), &error))
				test_fail(__FILE__, __LINE__, "an append after allocation %ld failed: %s", n, error.message);
		}
		appended++;
	}
	n = left;
	left = 0;
	kh_queue_close(queue);
	CHECK_EQUAL(appended, fixture_read(fixture_directory(), ignore_message, NULL));
	return n == 0;
}

static void
should_survive_each_allocation_of_a_queue(void)
{
	long n = 1;

	while (run_queue(n))
		n++;
	printf("# %ld allocations\n", n - 1);
	CHECK(n > 20);
}

const test_case memory_tests[] = {
	TEST(should_survive_each_allocation_of_a_session),
	TEST(should_survive_each_allocation_of_a_queue),
	{0},
};

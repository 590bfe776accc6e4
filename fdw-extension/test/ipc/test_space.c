/*
 * A full tmpfs is an error with 53100, never a SIGBUS, and the queue goes on when there is room again. In a mount
 * namespace of a child, where a tmpfs of one MiB can be mounted.
 */
#include "fixture.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TMPFS_BYTES "1m"

/* Exit codes of the child. */
enum
{
	CHILD_PASSED = 0,
	CHILD_FAILED = 1,
	CHILD_CANNOT_MOUNT = 77
};

static bool
mount_small(const char *directory)
{
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", directory, "tmpfs", 0, "size=" TMPFS_BYTES) == 0;
}

/* Appends until the first failure; the number of messages. */
static long
fill_up(kh_queue *queue, kh_error *error)
{
	static unsigned char message[5000];
	long n = 0;

	while (n < 100000 && kh_queue_append(queue, message, sizeof(message), error))
		n++;
	return n;
}

static void
count(void *context, const unsigned char *message, uint32_t bytes)
{
	(void) message;
	(void) bytes;
	++*(long *) context;
}

/* Takes memory without the queue's doing, at most pages of it; whether the file system is full. */
static bool
take_pages(const char *path, int pages)
{
	static char block[4096];
	FILE *file = fopen(path, "wb");
	bool full;

	if (file == NULL)
		return true;
	setvbuf(file, NULL, _IONBF, 0);
	while (pages-- > 0 && fwrite(block, sizeof(block), 1, file) == 1)
		;
	full = ferror(file) != 0;
	fclose(file);
	return full;
}

static int
fail(const char *what, const kh_error *error)
{
	printf("# %s: %s %s\n", what, error->sqlstate, error->message);
	return CHILD_FAILED;
}

static int
run_full(const char *mounted)
{
	char directory[400];
	char ballast[400];
	char rest[400];
	kh_error error = {0};
	kh_queue *queue;
	long written;
	long seen = 0;

	snprintf(directory, sizeof(directory), "%s/queue", mounted);
	snprintf(ballast, sizeof(ballast), "%s/ballast", mounted);
	snprintf(rest, sizeof(rest), "%s/rest", mounted);
	fixture_make(directory, "yyyyMMdd-HHmm'H'", 1800000);
	queue = fixture_open(directory);
	(void) take_pages(ballast, 64);
	written = fill_up(queue, &error);
	if (written < 100 || strcmp(error.sqlstate, "53100") != 0)
		return fail("queue filled up", &error);
	/* Also small messages fail or succeed, but never crash, with not one page left; and so does a roll. */
	if (!take_pages(rest, 1000))
		return fail("could not fill the file system", &error);
	while (kh_queue_append(queue, "0123456789", 10, &error))
		written++;
	if (strcmp(error.sqlstate, "53100") != 0)
		return fail("small messages", &error);
	if (kh_lock_take(queue, &error) && kh_roll(queue, queue->open.number + 1, &error))
		return fail("rolled without memory", &error);
	if (strcmp(error.sqlstate, "53100") != 0)
		return fail("roll", &error);
	kh_lock_release(queue);
	if (unlink(ballast) != 0 || !kh_queue_append(queue, "again", 5, &error))
		return fail("append after room was made", &error);
	kh_queue_close(queue);
	if (fixture_read(directory, count, &seen) != written + 1 || seen != written + 1)
		return fail("messages are missing", &error);
	return CHILD_PASSED;
}

/* Whatever the clock says: the file of the cycle before has room. */
static int
run_full_at_the_turn(const char *mounted)
{
	char directory[400];
	char rest[400];
	kh_error error = {0};
	kh_queue *queue;
	int64_t first;
	long written = 1;
	long seen = 0;

	snprintf(directory, sizeof(directory), "%s/queue", mounted);
	snprintf(rest, sizeof(rest), "%s/rest", mounted);
	fixture_make(directory, "yyyyMMdd-HHmmss'T4'", 1000);
	queue = fixture_open(directory);
	if (!kh_queue_append(queue, "first", 5, &error))
		return fail("first message", &error);
	if (!take_pages(rest, 1000))
		return fail("could not fill the file system", &error);
	first = queue->open.number;
	for (time_t begin = time(NULL); time(NULL) < begin + 3; usleep(20000), written++)
	{
		if (!kh_queue_append(queue, "0123456789", 10, &error))
			return fail("append on a full file system", &error);
	}
	if (queue->open.number != first)
		return fail("a file was made without room for it", &error);
	/* Another process, which has no file open yet. */
	kh_queue_close(queue);
	queue = fixture_open(directory);
	if (!kh_queue_append(queue, "other", 5, &error) || queue->open.number != first)
		return fail("append by another process", &error);
	if (unlink(rest) != 0 || !kh_queue_append(queue, "again", 5, &error) || queue->open.number == first)
		return fail("append after room was made", &error);
	kh_queue_close(queue);
	if (fixture_read(directory, count, &seen) != written + 2 || seen != written + 2)
		return fail("messages are missing", &error);
	return CHILD_PASSED;
}

static void
in_small_file_system(int (*run)(const char *mounted))
{
	const char *directory = test_directory();
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	CHECK(child >= 0);
	if (child == 0)
	{
		int code = mount_small(directory) ? run(directory) : CHILD_CANNOT_MOUNT;

		fflush(stdout);
		_exit(code);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status));
	if (WEXITSTATUS(status) == CHILD_CANNOT_MOUNT)
		test_skip("cannot mount a tmpfs here");
	CHECK_EQUAL(CHILD_PASSED, WEXITSTATUS(status));
}

static void
should_report_a_full_file_system_and_go_on_later(void)
{
	in_small_file_system(run_full);
}

static void
should_go_on_in_the_old_file_when_there_is_no_room_for_the_next(void)
{
	in_small_file_system(run_full_at_the_turn);
}

const test_case space_tests[] = {
	TEST(should_report_a_full_file_system_and_go_on_later),
	TEST(should_go_on_in_the_old_file_when_there_is_no_room_for_the_next),
	{0},
};

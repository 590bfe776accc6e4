/*
 * A full tmpfs is an error with 53100, never a SIGBUS, and the queue goes on when there is room again. In a mount
 * namespace of a child, where a tmpfs of one MiB can be mounted.
 */
#include "fixture.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
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

static void
should_report_a_full_file_system_and_go_on_later(void)
{
	const char *directory = test_directory();
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	CHECK(child >= 0);
	if (child == 0)
	{
		int code = mount_small(directory) ? run_full(directory) : CHILD_CANNOT_MOUNT;

		fflush(stdout);
		_exit(code);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status));
	if (WEXITSTATUS(status) == CHILD_CANNOT_MOUNT)
		test_skip("cannot mount a tmpfs here");
	CHECK_EQUAL(CHILD_PASSED, WEXITSTATUS(status));
}

const test_case space_tests[] = {
	TEST(should_report_a_full_file_system_and_go_on_later),
	{0},
};

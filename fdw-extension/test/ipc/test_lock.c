#include "fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static kh_error error;

/* A second is what is promised; the rest is for a busy machine. */
#define LIMIT_NANOS INT64_C(10000000000)

/* A child that takes the lock and says so, then waits to be ended. */
static pid_t
fork_holder(void)
{
	int said[2];
	char byte;
	pid_t child;

	CHECK(pipe(said) == 0);
	child = fork();
	CHECK(child >= 0);
	if (child == 0)
	{
		kh_queue *queue;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		queue = kh_queue_open(fixture_directory(), FIXTURE_BLOCK, &error);
		if (queue == NULL || !kh_lock_take(queue, &error) || write(said[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(said[1]);
	CHECK(read(said[0], &byte, 1) == 1);
	close(said[0]);
	return child;
}

/* Appends and returns the time it took; checks that it succeeded. */
static int64_t
timed_append(kh_queue *queue)
{
	int64_t began = kh_now_nanos();

	if (!kh_queue_append(queue, "x", 1, &error))
		test_fail(__FILE__, __LINE__, "%s", error.message);
	return kh_now_nanos() - began;
}

static void
should_take_the_lock_of_a_process_that_is_gone(void)
{
	kh_queue *queue = fixture_queue();
	pid_t child = fork_holder();

	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	CHECK(timed_append(queue) < LIMIT_NANOS);
	CHECK_EQUAL(KH_LOCK_FREE, kh_load_relaxed(queue->table.write_lock));
	kh_queue_close(queue);
}

static void
should_take_the_lock_of_a_zombie(void)
{
	kh_queue *queue = fixture_queue();
	pid_t child = fork_holder();
	siginfo_t status;
	int64_t took;

	kill(child, SIGKILL);
	CHECK(waitid(P_PID, (id_t) child, &status, WEXITED | WNOWAIT) == 0);
	took = timed_append(queue);
	waitpid(child, NULL, 0);
	CHECK(took < LIMIT_NANOS);
	kh_queue_close(queue);
}

static void
should_take_the_lock_of_an_earlier_process_with_a_reused_pid(void)
{
	kh_queue *queue = fixture_queue();
	uint64_t start = queue->self >> 32;

	/* Our parent lives, but did not start then. */
	kh_store_release(queue->table.write_lock, (start ^ 0x1555) << 32 | (uint32_t) getppid());
	CHECK(timed_append(queue) < LIMIT_NANOS);
	kh_queue_close(queue);
}

static void
should_not_take_the_lock_of_a_living_process(void)
{
	kh_queue *queue = fixture_queue();
	pid_t child = fork_holder();
	uint64_t word = kh_load_relaxed(queue->table.write_lock);
	bool appended = kh_queue_append(queue, "x", 1, &error);
	uint64_t after = kh_load_relaxed(queue->table.write_lock);

	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	CHECK(!appended);
	CHECK_TEXT("55P03", error.sqlstate);
	CHECK_EQUAL(word, after);
	CHECK(timed_append(queue) < LIMIT_NANOS);
	kh_queue_close(queue);
}

static void
should_not_take_the_lock_of_a_living_java_process(void)
{
	kh_queue *queue = fixture_queue();

	/* Java writes a pid without a start time. */
	kh_store_release(queue->table.write_lock, (uint32_t) getppid());
	CHECK(!kh_queue_append(queue, "x", 1, &error));
	CHECK_EQUAL(getppid(), kh_load_relaxed(queue->table.write_lock));
	kh_queue_close(queue);
}

static void
should_not_release_a_lock_that_was_taken_away(void)
{
	kh_queue *queue = fixture_queue();

	CHECK(kh_lock_take(queue, &error));
	kh_store_release(queue->table.write_lock, 4711);
	kh_lock_release(queue);
	CHECK_EQUAL(4711, kh_load_relaxed(queue->table.write_lock));
	kh_queue_close(queue);
}

const test_case lock_tests[] = {
	TEST(should_take_the_lock_of_a_process_that_is_gone),
	TEST(should_take_the_lock_of_a_zombie),
	TEST(should_take_the_lock_of_an_earlier_process_with_a_reused_pid),
	TEST(should_not_take_the_lock_of_a_living_process),
	TEST(should_not_take_the_lock_of_a_living_java_process),
	TEST(should_not_release_a_lock_that_was_taken_away),
	{0},
};

/*
 * Appenders killed at random moments. What was acknowledged must be there, once, whole, and in order; at most the one
 * message in flight of a killed appender may be there, too. The others must go on within a second.
 */
#include "fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define APPENDERS 3
#define KILLS 50
#define LIVES (APPENDERS + KILLS)
#define MAX_PAYLOAD 600

/* A second is what is promised, and the slowest is printed; the rest is for a busy machine. */
#define LIMIT_NANOS INT64_C(10000000000)

/* Shared with the children: the number of acknowledged messages of each life. */
static uint64_t *acknowledged;

typedef struct crash_message
{
	uint32_t life;
	uint32_t bytes;  /* of payload */
	uint64_t number; /* from 1, per life */
	uint64_t checksum;
	unsigned char payload[MAX_PAYLOAD];
} crash_message;

#define HEAD_BYTES offsetof(crash_message, payload)

static uint64_t
checksum(const crash_message *message)
{
	uint64_t sum = message->number * 31 + message->life;

	for (uint32_t i = 0; i < message->bytes; i++)
		sum = sum * 131 + message->payload[i];
	return sum;
}

/* Appends until it is killed; now and then it rolls, too, as if the clock had moved on. */
static void
appender_main(const char *directory, uint32_t life, uint64_t seed)
{
	kh_error error;
	kh_queue *queue = kh_queue_open(directory, FIXTURE_BLOCK, &error);
	crash_message message = {.life = life};

	while (queue != NULL)
	{
		message.number++;
		message.bytes = (uint32_t) (test_random(&seed) % MAX_PAYLOAD);
		memset(message.payload, (int) test_random(&seed), message.bytes);
		message.checksum = checksum(&message);
		if (!kh_queue_append(queue, &message, (uint32_t) (HEAD_BYTES + message.bytes), &error))
			break;
		kh_store_release(&acknowledged[life], message.number);
		if (test_random(&seed) % 1000 == 0)
		{
			if (!kh_lock_take(queue, &error) ||
			    !kh_roll(queue, kh_table_highest(&queue->table) + 1 + (int64_t) (test_random(&seed) % 2), &error))
				break;
			kh_lock_release(queue);
		}
	}
	printf("# appender %u: %s %s\n", life, error.sqlstate, error.message);
	fflush(stdout);
	_exit(1);
}

static pid_t
start_appender(const char *directory, uint32_t life, uint64_t seed)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	CHECK(child >= 0);
	if (child == 0)
	{
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* also when the test fails */
		appender_main(directory, life, seed + life);
	}
	return child;
}

static uint64_t
progress(const uint32_t *lives, int except)
{
	uint64_t sum = 0;

	for (int i = 0; i < APPENDERS; i++)
		sum += i == except ? 0 : kh_load_acquire(&acknowledged[lives[i]]);
	return sum;
}

/* Time until one of the others has had a message acknowledged after now. */
static int64_t
await_progress(const uint32_t *lives, int except)
{
	uint64_t before = progress(lives, except);
	int64_t began = kh_now_nanos();
	int64_t took = 0;
	/* One that was just about to finish proves nothing: wait for a few more. */
	while (progress(lives, except) < before + 10 && took < LIMIT_NANOS)
		took = kh_now_nanos() - began;
	return took;
}

typedef struct verification
{
	uint64_t seen[LIVES];
} verification;

static void
verify(void *context, const unsigned char *bytes, uint32_t n)
{
	verification *v = context;
	crash_message message;

	CHECK(n >= HEAD_BYTES && n <= sizeof(message));
	memcpy(&message, bytes, n);
	CHECK_EQUAL(n, HEAD_BYTES + message.bytes);
	CHECK(message.life < LIVES);
	CHECK(message.checksum == checksum(&message));
	CHECK_EQUAL(v->seen[message.life] + 1, message.number);
	v->seen[message.life] = message.number;
}

static void
kill_and_reap(pid_t child)
{
	int status;

	kill(child, SIGKILL);
	CHECK(waitpid(child, &status, 0) == child);
	/* Not ended by itself: that would have been an error of an append. */
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void
should_lose_nothing_when_appenders_are_killed(void)
{
	const char *directory = fixture_directory();
	uint64_t seed = test_seed();
	uint64_t random = seed;
	pid_t children[APPENDERS];
	uint32_t lives[APPENDERS];
	uint32_t next_life = 0;
	static verification v;
	int64_t slowest = 0;
	long messages;

	fixture_make(directory, "yyyyMMdd-HHmm", 60000);
	acknowledged = mmap(NULL, LIVES * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(acknowledged != MAP_FAILED);
	for (int i = 0; i < APPENDERS; i++)
		children[i] = start_appender(directory, lives[i] = next_life++, seed);
	for (int kills = 0; kills < KILLS; kills++)
	{
		int victim = (int) (test_random(&random) % APPENDERS);
		struct timespec moment = {.tv_nsec = (long) (test_random(&random) % 6000000)};
		int64_t took;

		nanosleep(&moment, NULL); /* the moment of the kill is what is random */
		kill_and_reap(children[victim]);
		took = await_progress(lives, victim);
		slowest = took > slowest ? took : slowest;
		children[victim] = start_appender(directory, lives[victim] = next_life++, seed);
	}
	for (int i = 0; i < APPENDERS; i++)
		kill_and_reap(children[i]);
	{
		/*
		 * Repairs what the last ones left, so that the reader finds a queue at rest: behind all files, also one two cycles
		 * on whose maker died before it listed it.
		 */
		kh_queue *queue = fixture_open(directory);

		CHECK(kh_lock_take(queue, NULL));
		CHECK(kh_roll(queue, kh_table_highest(&queue->table) + 3, NULL));
		kh_lock_release(queue);
		kh_queue_close(queue);
	}
	messages = fixture_read(directory, verify, &v);
	printf("# %ld messages, slowest recovery %lld us\n", messages, (long long) slowest / 1000);
	for (uint32_t life = 0; life < next_life; life++)
	{
		CHECK(v.seen[life] >= acknowledged[life]);
		CHECK(v.seen[life] <= acknowledged[life] + 1);
	}
	munmap(acknowledged, LIVES * sizeof(uint64_t));
	CHECK(slowest < LIMIT_NANOS);
}

const test_case crash_tests[] = {
	TEST(should_lose_nothing_when_appenders_are_killed),
	{0},
};

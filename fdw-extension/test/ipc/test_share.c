/*
 * One response read by several processes: each batch comes out exactly once, whoever comes, goes or sleeps.
 */
#include "fake_endpoint.h"
#include "test.h"

#include "kakehashi/ipc.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT (INT64_C(30) * 1000000000)
#define BATCHES 700
#define READERS 4
#define ROUNDS 12

/* Shared with the children. */
typedef struct board
{
	uint32_t seen[BATCHES];
	uint32_t waits; /* a reader is about to */
	_Alignas(8) unsigned char share[4096 * 2];
} board;

static kh_error error;

static board *
make_board(void)
{
	board *made = mmap(NULL, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(made != MAP_FAILED);
	return made;
}

static kh_session *
begin(void)
{
	kh_attach_options options = {
		.runtime_directory = test_directory(), .application_name = "test", .timeout_millis = 30000};
	kh_session *session;

	fake_start(test_directory(), FAKE_ATTACHES);
	session = kh_attach(&options, &error);
	if (session == NULL)
		test_fail(__FILE__, __LINE__, "%s", error.message);
	return session;
}

static kh_call *
execute(kh_session *session, uint32_t statement)
{
	kh_execute_options options = {.action = KH_BEGIN};
	kh_call *call = kh_send_execute(session, statement, &options, NULL, 0, &error);

	if (call == NULL)
		test_fail(__FILE__, __LINE__, "%s", error.message);
	return call;
}

/* Reads until the end, or that many batches; ends of naps are up to chance. */
static kh_wait
read_some(board *board, kh_call *call, uint32_t most, uint64_t *random)
{
	kh_wait found = KH_WAIT_BATCH;

	for (uint32_t n = 0; n < most && (found = kh_call_wait(call, LIMIT, &error)) == KH_WAIT_BATCH;)
	{
		kh_batch batch;
		uint64_t number;

		error.message[0] = '\0';
		if (!kh_call_batch(call, &batch, &error))
		{
			if (error.message[0] != '\0')
				test_fail(__FILE__, __LINE__, "%s", error.message);
			continue;
		}
		n++;
		if (test_random(random) % 16 == 0)
			usleep((useconds_t) (test_random(random) % 300));
		/* After the nap: what was drawn is ours, whatever the endpoint has written since. */
		number = kh_batch_word(&batch, 0, 0);
		CHECK(number < BATCHES);
		__atomic_fetch_add(&board->seen[number], 1, __ATOMIC_RELAXED);
		kh_call_release(call);
	}
	return found;
}

/* A child that attaches to the call, reads, and exits with 0. */
static pid_t
start_reader(board *board, uint32_t most, uint64_t seed)
{
	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0)
	{
		kh_call *call;
		kh_session *session = kh_borrow((kh_share *) board->share, &call, &error);
		kh_wait found;

		if (session == NULL)
			test_fail(__FILE__, __LINE__, "%s", error.message);
		CHECK(kh_session_alive(session));
		found = read_some(board, call, most, &seed);
		CHECK(found == KH_WAIT_FINISHED || (found == KH_WAIT_BATCH && most < BATCHES));
		kh_detach(session);
		_exit(0);
	}
	return child;
}

static void
expect_exit(pid_t child)
{
	int status;

	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void
share(board *board, kh_session *session, kh_call *call)
{
	CHECK(kh_share_bytes(session) <= sizeof(board->share));
	CHECK(kh_call_share(call, board->share, &error));
}

static void
should_give_each_batch_to_one_process(void)
{
	kh_session *session = begin();
	uint64_t random = test_seed();

	for (int round = 0; round < ROUNDS; round++)
	{
		board *board = make_board();
		uint32_t count = (uint32_t) (test_random(&random) % BATCHES);
		kh_call *call = execute(session, count);
		pid_t readers[READERS];

		share(board, session, call);
		for (int i = 0; i < READERS; i++)
			readers[i] =
				start_reader(board, i == 0 ? (uint32_t) (test_random(&random) % 50) : BATCHES, test_random(&random));
		CHECK_EQUAL(KH_WAIT_FINISHED, read_some(board, call, BATCHES, &random));
		CHECK(!kh_call_result(call)->failed);
		for (int i = 0; i < READERS; i++)
			expect_exit(readers[i]);
		for (uint32_t i = 0; i < BATCHES; i++)
			CHECK_EQUAL(i < count ? 1 : 0, board->seen[i]);
		kh_call_unshare(call);
		kh_call_end(call);
		CHECK_EQUAL(0, kh_session_calls(session));
		munmap(board, sizeof(*board));
	}
	kh_detach(session);
	fake_stop();
}

static void
should_go_on_when_the_owner_does_not_read(void)
{
	kh_session *session = begin();
	board *board = make_board();
	kh_call *call = execute(session, BATCHES - 1);
	uint64_t random = test_seed();
	pid_t readers[2];

	share(board, session, call);
	for (int i = 0; i < 2; i++)
		readers[i] = start_reader(board, BATCHES, test_random(&random));
	for (int i = 0; i < 2; i++)
		expect_exit(readers[i]);
	CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(call, LIMIT, &error));
	CHECK_EQUAL(BATCHES - 1, kh_call_result(call)->rows_affected);
	kh_call_end(call);
	CHECK_EQUAL(0, kh_session_calls(session));
	munmap(board, sizeof(*board));
	kh_detach(session);
	fake_stop();
}

static void
should_end_the_readers_when_the_owner_stops(void)
{
	kh_session *session = begin();
	uint64_t random = test_seed();

	for (int round = 0; round < ROUNDS; round++)
	{
		board *board = make_board();
		kh_call *call = execute(session, round % 2 == 0 ? BATCHES - 1 : FAKE_SILENT);
		pid_t readers[READERS];
		kh_call *ping;

		share(board, session, call);
		for (int i = 0; i < READERS; i++)
			readers[i] = start_reader(board, BATCHES, test_random(&random));
		usleep((useconds_t) (test_random(&random) % 3000));
		kh_call_unshare(call);
		/* From here on the slot may serve another request, also while the readers still look. */
		kh_call_end(call);
		ping = kh_send_ping(session, "x", 1, &error);
		CHECK(ping != NULL);
		CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(ping, LIMIT, &error));
		kh_call_end(ping);
		for (int i = 0; i < READERS; i++)
			expect_exit(readers[i]);
		for (uint32_t i = 0; i < BATCHES; i++)
			CHECK(board->seen[i] <= 1);
		munmap(board, sizeof(*board));
	}
	kh_detach(session);
	fake_stop();
}

/* What another process does with the call; borrower is NULL if it could not attach. */
typedef void (*reader_body)(board *board, kh_session *borrower, kh_call *call);

/* Runs one other process beside a call that answers as statement says; meanwhile may be NULL. */
static void
with_reader(uint32_t statement, reader_body body, void (*before)(void), void (*meanwhile)(board *board))
{
	kh_session *session = begin();
	board *board = make_board();
	kh_call *call = execute(session, statement);
	pid_t child;

	share(board, session, call);
	if (before != NULL)
		before();
	child = fork();
	CHECK(child >= 0);
	if (child == 0)
	{
		kh_call *borrowed = NULL;
		kh_session *borrower = kh_borrow((kh_share *) board->share, &borrowed, &error);

		body(board, borrower, borrowed);
		kh_detach(borrower);
		_exit(0);
	}
	if (meanwhile != NULL)
		meanwhile(board);
	expect_exit(child);
	if (statement == FAKE_FAILED)
		body(board, session, call);
	kh_call_end(call);
	munmap(board, sizeof(*board));
	kh_detach(session);
	fake_stop();
}

static void
see_the_failure(board *board, kh_session *session, kh_call *call)
{
	(void) board;
	CHECK(session != NULL);
	CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(call, LIMIT, &error));
	CHECK_TEXT("23505", kh_call_result(call)->error.sqlstate);
}

static void
should_report_a_failure_to_every_process(void)
{
	with_reader(FAKE_FAILED, see_the_failure, NULL, NULL);
}

static void
see_the_end(board *board, kh_session *session, kh_call *call)
{
	CHECK(session != NULL && kh_session_alive(session));
	__atomic_store_n(&board->waits, 1, __ATOMIC_RELEASE);
	CHECK_EQUAL(KH_WAIT_DISCONNECTED, kh_call_wait(call, LIMIT, &error));
	CHECK_TEXT("08006", error.sqlstate);
}

static void
end_the_endpoint(board *board)
{
	while (__atomic_load_n(&board->waits, __ATOMIC_ACQUIRE) == 0)
		usleep(1000);
	fake_unlock();
}

static void
should_tell_borrowers_that_the_endpoint_has_gone(void)
{
	with_reader(FAKE_SILENT, see_the_end, NULL, end_the_endpoint);
}

static void
see_other_files(board *board, kh_session *session, kh_call *call)
{
	(void) board;
	(void) call;
	CHECK(session == NULL);
	CHECK_TEXT("08001", error.sqlstate);
}

static void
replace_the_doorbell(void)
{
	char from[400];
	char to[440];
	FILE *other;

	snprintf(from, sizeof(from), "%s/doorbell", test_directory());
	snprintf(to, sizeof(to), "%s.old", from);
	CHECK(rename(from, to) == 0);
	other = fopen(from, "w");
	CHECK(other != NULL && ftruncate(fileno(other), 4096) == 0);
	fclose(other);
}

static void
should_refuse_files_of_another_incarnation(void)
{
	with_reader(FAKE_SILENT, see_other_files, replace_the_doorbell, NULL);
}

const test_case share_tests[] = {TEST(should_give_each_batch_to_one_process),
                                 TEST(should_go_on_when_the_owner_does_not_read),
                                 TEST(should_end_the_readers_when_the_owner_stops),
                                 TEST(should_report_a_failure_to_every_process),
                                 TEST(should_tell_borrowers_that_the_endpoint_has_gone),
                                 TEST(should_refuse_files_of_another_incarnation),
                                 {.name = NULL}};

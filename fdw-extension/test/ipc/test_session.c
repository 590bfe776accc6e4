#include "fake_endpoint.h"
#include "session_internal.h"
#include "test.h"

#include "kakehashi/ipc.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

/* For what takes microseconds on an idle machine; a busy one must not fail a test. */
#define LIMIT (30 * SECOND)

static kh_error error;

static kh_session *
attach(int timeout_millis)
{
	kh_attach_options options = {
		.runtime_directory = test_directory(), .application_name = "test", .timeout_millis = timeout_millis};

	return kh_attach(&options, &error);
}

static kh_session *
begin(void)
{
	kh_session *session;

	fake_start(test_directory(), FAKE_ATTACHES);
	session = attach(30000);
	if (session == NULL)
		test_fail(__FILE__, __LINE__, "%s", error.message);
	return session;
}

static void
end(kh_session *session)
{
	kh_detach(session);
	fake_stop();
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

static void
should_tell_what_the_engine_can_do(void)
{
	kh_session *session = begin();
	const kh_engine *engine = kh_session_engine(session);

	CHECK_TEXT("fake", engine->name);
	/* Bits that are not known here are left out. */
	CHECK(engine->capabilities == ((UINT64_C(1) << KH_CAPABILITY_COUNT) - 1) - (UINT64_C(1) << KH_CAN_SAVEPOINTS));
	CHECK(engine->computations == UINT64_C(1) << KH_COMPUTES_JOINS);
	CHECK(engine->stored_types == UINT64_C(1) << KH_KEEPS_UUID);
	CHECK(engine->longest_row_bytes == 4000);
	CHECK(engine->most_transaction_bytes == 5000);
	end(session);
}

static void
should_answer_a_ping(void)
{
	kh_session *session = begin();

	for (int i = 0; i < 200; i++)
	{
		kh_call *call = kh_send_ping(session, &i, sizeof(i), &error);
		uint32_t bytes;

		CHECK(call != NULL);
		CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(call, LIMIT, &error));
		CHECK(memcmp(kh_call_payload(call, &bytes), &i, 4) == 0 && bytes == 4);
		kh_call_end(call);
	}
	CHECK_EQUAL(0, kh_session_calls(session));
	end(session);
}

static void
should_read_final_frames_longer_than_their_area(void)
{
	static unsigned char payload[12000];
	kh_session *session = begin();

	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (unsigned char) (i % 251);
	for (uint32_t sent = 1000; sent <= sizeof(payload); sent += 1000)
	{
		kh_call *call = kh_send_ping(session, payload, sent, &error);
		uint32_t bytes;

		CHECK(call != NULL);
		if (kh_call_wait(call, LIMIT, &error) != KH_WAIT_FINISHED)
			test_fail(__FILE__, __LINE__, "%s", error.message);
		CHECK(memcmp(kh_call_payload(call, &bytes), payload, sent) == 0);
		CHECK_EQUAL(sent, bytes);
		kh_call_end(call);
	}
	end(session);
}

static void
should_describe_a_prepared_statement(void)
{
	kh_session *session = begin();
	static const uint32_t types[] = {0, 20};
	kh_call *call = kh_send_prepare(session, 3, "SELECT 1", types, 2, &error);
	const kh_result *result;

	CHECK(call != NULL);
	CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(call, LIMIT, &error));
	result = kh_call_result(call);
	CHECK(!result->failed);
	CHECK_EQUAL(2, result->parameter_count);
	CHECK_EQUAL(25, result->parameter_type_oids[0]);
	CHECK_EQUAL(1, result->column_count);
	CHECK_TEXT("id", result->columns[0].name);
	kh_call_end(call);
	end(session);
}

/* Reads all batches, checks the numbers in them; the number of batches. */
static uint32_t
read_all(kh_call *call)
{
	uint32_t n = 0;
	kh_wait found;

	while ((found = kh_call_wait(call, LIMIT, &error)) == KH_WAIT_BATCH)
	{
		kh_batch batch;

		CHECK(kh_call_batch(call, &batch, &error));
		CHECK_EQUAL(n, kh_batch_word(&batch, 0, 0));
		kh_call_release(call);
		n++;
	}
	if (found != KH_WAIT_FINISHED)
		test_fail(__FILE__, __LINE__, "wait %d: %s", (int) found, error.message);
	return n;
}

static void
should_read_more_batches_than_the_window_holds(void)
{
	kh_session *session = begin();

	for (uint32_t count = 0; count < 300; count += 37)
	{
		kh_call *call = execute(session, count);

		CHECK_EQUAL(count, read_all(call));
		CHECK_EQUAL(count, kh_call_result(call)->rows_affected);
		CHECK_EQUAL(KH_TX_ACTIVE, kh_call_result(call)->transaction_state);
		CHECK_EQUAL(42, kh_call_result(call)->transaction_handle);
		kh_call_end(call);
	}
	end(session);
}

static void
should_read_an_inline_batch(void)
{
	kh_session *session = begin();
	kh_call *call = execute(session, FAKE_INLINE);
	kh_batch batch;

	CHECK_EQUAL(KH_WAIT_BATCH, kh_call_wait(call, LIMIT, &error));
	CHECK(kh_call_batch(call, &batch, &error));
	CHECK_EQUAL(7, kh_batch_word(&batch, 0, 0));
	kh_call_release(call);
	CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(call, 0, &error));
	kh_call_end(call);
	end(session);
}

static void
should_report_the_endpoints_error(void)
{
	kh_session *session = begin();
	kh_call *call = execute(session, FAKE_FAILED);

	CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(call, LIMIT, &error));
	CHECK(kh_call_result(call)->failed && kh_call_result(call)->error.from_endpoint);
	CHECK_TEXT("23505", kh_call_result(call)->error.sqlstate);
	CHECK_TEXT("duplicate key", kh_call_result(call)->error.message);
	kh_call_end(call);
	end(session);
}

/* Calls sum(1, 2, ... count) in a transaction. */
static kh_call *
invoke(kh_session *session, const char *procedure, uint64_t transaction, uint32_t count)
{
	static _Alignas(8) unsigned char memory[1024];
	static uint32_t types[UINT16_MAX + 1];
	kh_execute_options options = {.action = KH_CONTINUE, .handle = transaction};
	kh_batch_writer writer;
	uint32_t bytes = 0;

	if (count > 0 && count < 100)
	{
		CHECK(kh_batch_writer_init_fixed(&writer, memory, sizeof(memory), count, 1, &error));
		CHECK(kh_batch_writer_add_row(&writer));
		for (uint32_t i = 0; i < count; i++)
			kh_batch_writer_set_word(&writer, i, i + 1);
		bytes = kh_batch_writer_finish(&writer);
	}
	for (uint32_t i = 0; i < count; i++)
		types[i] = 20;
	return kh_send_invoke(session, procedure, types, count, 0, &options, bytes > 0 ? memory : NULL, bytes, &error);
}

static void
should_call_procedures_without_preparing_them(void)
{
	kh_session *session = begin();

	for (uint32_t count = 0; count <= 20; count += 4)
	{
		kh_call *call = invoke(session, "sum", 42, count);
		kh_batch batch;

		CHECK(call != NULL);
		CHECK_EQUAL(KH_WAIT_BATCH, kh_call_wait(call, LIMIT, &error));
		CHECK(kh_call_batch(call, &batch, &error));
		CHECK_EQUAL(count * (count + 1) / 2, kh_batch_word(&batch, 0, 0));
		kh_call_release(call);
		CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(call, LIMIT, &error));
		CHECK_EQUAL(1, kh_call_result(call)->rows_affected);
		kh_call_end(call);
	}
	CHECK_EQUAL(0, kh_session_calls(session));
	end(session);
}

static void
should_report_what_calls_are_refused_for(void)
{
	kh_session *session = begin();
	char name[1025 + 1];
	kh_call *call;

	/* By the endpoint. */
	call = invoke(session, "product", 42, 1);
	CHECK(call != NULL);
	CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(call, LIMIT, &error));
	CHECK_TEXT("42883", kh_call_result(call)->error.sqlstate);
	kh_call_end(call);
	call = invoke(session, "sum", 41, 1);
	CHECK(call != NULL);
	CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(call, LIMIT, &error));
	CHECK_TEXT("25901", kh_call_result(call)->error.sqlstate);
	kh_call_end(call);
	/* Here: nothing is sent, and no slot is taken. */
	CHECK(invoke(session, "", 42, 1) == NULL);
	CHECK_TEXT("42602", error.sqlstate);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	CHECK(invoke(session, name, 42, 1) == NULL);
	CHECK_TEXT("42602", error.sqlstate);
	CHECK(invoke(session, "sum", 42, UINT16_MAX) == NULL);
	CHECK_TEXT("54000", error.sqlstate);
	name[sizeof(name) - 2] = '\0';
	call = invoke(session, name, 42, 1);
	CHECK(call != NULL);
	CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(call, LIMIT, &error));
	CHECK_TEXT("42883", kh_call_result(call)->error.sqlstate);
	kh_call_end(call);
	CHECK_EQUAL(0, kh_session_calls(session));
	end(session);
}

static void
should_take_back_slots_of_abandoned_calls(void)
{
	kh_session *session = begin();

	for (int i = 0; i < 40; i++)
	{
		kh_call *call = execute(session, i % 2 == 0 ? FAKE_SILENT : 999);

		if (i % 2 != 0)
			CHECK_EQUAL(KH_WAIT_BATCH, kh_call_wait(call, LIMIT, &error));
		kh_call_end(call);
		call = kh_send_ping(session, "x", 1, &error);
		CHECK(call != NULL);
		CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(call, LIMIT, &error));
		kh_call_end(call);
	}
	CHECK_EQUAL(0, kh_session_calls(session));
	end(session);
}

static void
should_refuse_more_calls_than_slots(void)
{
	kh_session *session = begin();
	kh_call *calls[FAKE_SLOTS];

	for (int i = 0; i < FAKE_SLOTS; i++)
		CHECK((calls[i] = kh_send_ping(session, "x", 1, &error)) != NULL);
	CHECK(kh_send_ping(session, "x", 1, &error) == NULL);
	CHECK_TEXT("53000", error.sqlstate);
	for (int i = 0; i < FAKE_SLOTS; i++)
	{
		CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(calls[i], LIMIT, &error));
		kh_call_end(calls[i]);
	}
	CHECK_EQUAL(0, kh_session_calls(session));
	end(session);
}

/* Memory of the mailboxes' file. */
static int64_t
mailbox_bytes(void)
{
	char path[400];
	struct stat status;

	snprintf(path, sizeof(path), "%s/mailboxes/1000", test_directory());
	CHECK(stat(path, &status) == 0);
	return (int64_t) status.st_blocks * 512;
}

static void
should_take_memory_for_further_slots_while_they_are_used(void)
{
	kh_session *session = begin();
	int64_t before = mailbox_bytes();
	kh_call *calls[FAKE_SLOTS];
	int64_t unused = 0;

	for (int round = 0; round < 3; round++)
	{
		for (int i = 0; i < FAKE_SLOTS; i++)
			calls[i] = execute(session, FAKE_INLINE);
		CHECK(mailbox_bytes() > before && mailbox_bytes() > unused);
		for (int i = 0; i < FAKE_SLOTS; i++)
		{
			kh_batch batch;

			CHECK_EQUAL(KH_WAIT_BATCH, kh_call_wait(calls[i], LIMIT, &error));
			CHECK(kh_call_batch(calls[i], &batch, &error));
			CHECK_EQUAL(7, kh_batch_word(&batch, 0, 0));
			kh_call_release(calls[i]);
			CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(calls[i], LIMIT, &error));
			kh_call_end(calls[i]);
		}
		/* What stays are the heads of the slots. */
		if (round > 0)
			CHECK_EQUAL(unused, mailbox_bytes());
		unused = mailbox_bytes();
	}
	CHECK_EQUAL(0, kh_session_calls(session));
	end(session);
}

static void
should_return_within_the_timeout(void)
{
	kh_session *session = begin();
	kh_call *call = execute(session, FAKE_SILENT);
	int64_t began = kh_now_nanos();

	CHECK_EQUAL(KH_WAIT_TIMEOUT, kh_call_wait(call, SECOND / 10, &error));
	CHECK(kh_now_nanos() - began >= SECOND / 10 && kh_now_nanos() - began < LIMIT);
	CHECK_EQUAL(KH_WAIT_TIMEOUT, kh_call_wait(call, 0, &error));
	kh_call_end(call);
	end(session);
}

/* Who does not spin learns nothing of how long a spin should be. */
static void
should_not_spin_while_the_endpoint_says_that_many_ask(void)
{
	kh_session *session = begin();
	kh_call *call = execute(session, FAKE_SILENT);
	uint32_t longest = kh_session_limits(session)->spin_nanos;

	fake_crowded(true);
	CHECK_EQUAL(KH_WAIT_TIMEOUT, kh_call_wait(call, SECOND / 20, &error));
	CHECK_EQUAL(longest, session->spin_nanos);
	fake_crowded(false);
	CHECK_EQUAL(KH_WAIT_TIMEOUT, kh_call_wait(call, SECOND / 20, &error));
	CHECK_EQUAL(longest / 2, session->spin_nanos);
	kh_call_end(call);
	end(session);
}

static void
ignore(int signal)
{
	(void) signal;
}

static void
should_return_early_when_a_signal_comes(void)
{
	struct sigaction action = {.sa_handler = ignore};
	struct itimerval timer = {.it_value = {.tv_usec = 50000}, .it_interval = {.tv_usec = 50000}};
	sigset_t alarm_only;
	kh_session *session;
	kh_call *call;
	int64_t began;

	/* The endpoint's thread inherits the mask: the signal is for us. */
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
	session = begin();
	pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
	call = execute(session, FAKE_SILENT);
	CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &timer, NULL) == 0);
	began = kh_now_nanos();
	CHECK_EQUAL(KH_WAIT_TIMEOUT, kh_call_wait(call, 2 * LIMIT, &error));
	CHECK(kh_now_nanos() - began < LIMIT);
	timer = (struct itimerval){0};
	setitimer(ITIMER_REAL, &timer, NULL);
	signal(SIGALRM, SIG_DFL);
	kh_call_end(call);
	end(session);
}

static void
should_notice_the_end_of_the_endpoint_while_waiting(void)
{
	kh_session *session = begin();
	kh_call *call = execute(session, FAKE_DIES);
	int64_t began = kh_now_nanos();

	CHECK_EQUAL(KH_WAIT_DISCONNECTED, kh_call_wait(call, 2 * LIMIT, &error));
	CHECK(kh_now_nanos() - began < LIMIT);
	CHECK_TEXT("08006", error.sqlstate);
	CHECK(!kh_session_alive(session));
	kh_call_end(call);
	CHECK(kh_send_ping(session, "x", 1, &error) == NULL);
	CHECK_TEXT("08006", error.sqlstate);
	end(session);
}

static void
should_know_what_an_endpoint_that_has_ended_had_begun(void)
{
	kh_session *session = begin();
	kh_call *call = execute(session, FAKE_BEGINS);

	CHECK_EQUAL(KH_WAIT_DISCONNECTED, kh_call_wait(call, LIMIT, &error));
	CHECK_EQUAL(4711, kh_call_begun(call));
	kh_call_end(call);
	end(session);
}

static void
should_not_take_what_another_request_has_begun_for_its_own(void)
{
	kh_session *session = begin();
	kh_call *call = execute(session, 1);

	CHECK_EQUAL(1, read_all(call));
	call->slot->transaction_handle = 4711;
	call->slot->transaction_request = call->request_id - 1;
	CHECK_EQUAL(0, kh_call_begun(call));
	kh_call_end(call);
	end(session);
}

/* An endpoint that stops gives the memory of its sessions back while their clients wait. */
static void
should_notice_the_end_of_a_session_whose_memory_is_cleared(void)
{
	kh_session *session = begin();
	kh_call *call = execute(session, FAKE_INLINE);
	kh_batch batch;

	CHECK_EQUAL(KH_WAIT_BATCH, kh_call_wait(call, LIMIT, &error));
	CHECK(kh_call_batch(call, &batch, &error));
	kh_call_release(call);
	CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(call, LIMIT, &error));
	kh_call_end(call);
	call = execute(session, FAKE_CLEARS);
	CHECK_EQUAL(KH_WAIT_DISCONNECTED, kh_call_wait(call, LIMIT, &error));
	CHECK_TEXT("08006", error.sqlstate);
	CHECK(!kh_session_alive(session));
	kh_call_end(call);
	end(session);
}

static void
should_disconnect_from_an_endpoint_that_violates_the_protocol(void)
{
	static const uint32_t violations[] = {FAKE_OVERFLOWS, FAKE_OUTSIDE, FAKE_GARBAGE_FRAME, FAKE_LONG_FRAME};

	for (size_t i = 0; i < 4; i++)
	{
		kh_session *session;
		kh_call *call;
		kh_wait found;
		kh_batch batch;
		char path[400];

		if (i > 0)
		{
			/* A fresh runtime directory for each. */
			snprintf(path, sizeof(path), "rm -rf %s/*", test_directory());
			CHECK(system(path) == 0);
		}
		session = begin();
		call = execute(session, violations[i]);
		found = kh_call_wait(call, LIMIT, &error);
		if (found == KH_WAIT_BATCH)
			CHECK(!kh_call_batch(call, &batch, &error));
		else
			CHECK_EQUAL(KH_WAIT_DISCONNECTED, found);
		CHECK_TEXT("08P01", error.sqlstate);
		CHECK(!kh_session_alive(session));
		kh_call_end(call);
		end(session);
	}
}

static void
should_grant_inbound_buffers(void)
{
	kh_session *session = begin();
	kh_call *call = kh_send_acquire_buffers(session, 2, 8192, &error);
	uint64_t offset;
	uint32_t bytes;
	void *buffer;

	CHECK(call != NULL);
	CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(call, LIMIT, &error));
	buffer = kh_inbound_buffer(call, 1, &offset, &bytes);
	CHECK(buffer != NULL && offset == 40960 && bytes == 8192);
	memset(buffer, 1, bytes);
	CHECK(kh_inbound_buffer(call, 2, &offset, &bytes) == NULL);
	kh_call_end(call);
	end(session);
}

static void
should_refuse_requests_longer_than_the_limit(void)
{
	kh_session *session = begin();
	char *sql = malloc(20001);

	memset(sql, 'x', 20000);
	sql[20000] = '\0';
	CHECK(kh_send_prepare(session, 1, sql, NULL, 0, &error) == NULL);
	CHECK_TEXT("54000", error.sqlstate);
	CHECK_EQUAL(0, kh_session_calls(session));
	free(sql);
	end(session);
}

static void
expect_refusal(fake_answer answer, int timeout_millis, const char *sqlstate)
{
	fake_start(test_directory(), answer);
	CHECK(attach(timeout_millis) == NULL);
	CHECK_TEXT(sqlstate, error.sqlstate);
	fake_stop();
}

static void
should_pass_on_the_reason_of_a_refused_attach(void)
{
	expect_refusal(FAKE_REFUSES, 30000, "53300");
	CHECK_TEXT("no more sessions", error.message);
}

static void
should_refuse_an_answer_that_is_garbage(void)
{
	expect_refusal(FAKE_SENDS_GARBAGE, 30000, "08P01");
}

static void
should_give_up_attaching_after_the_timeout(void)
{
	int64_t began = kh_now_nanos();

	expect_refusal(FAKE_SENDS_NOTHING, 200, "08001");
	CHECK(kh_now_nanos() - began < LIMIT);
}

static void
should_say_when_no_endpoint_is_there(void)
{
	CHECK(attach(1000) == NULL);
	CHECK_TEXT("08001", error.sqlstate);
	CHECK(error.hint[0] != '\0');
}

const test_case session_tests[] = {
	TEST(should_tell_what_the_engine_can_do),
	TEST(should_answer_a_ping),
	TEST(should_read_final_frames_longer_than_their_area),
	TEST(should_describe_a_prepared_statement),
	TEST(should_read_more_batches_than_the_window_holds),
	TEST(should_read_an_inline_batch),
	TEST(should_report_the_endpoints_error),
	TEST(should_call_procedures_without_preparing_them),
	TEST(should_report_what_calls_are_refused_for),
	TEST(should_take_back_slots_of_abandoned_calls),
	TEST(should_refuse_more_calls_than_slots),
	TEST(should_take_memory_for_further_slots_while_they_are_used),
	TEST(should_return_within_the_timeout),
	TEST(should_not_spin_while_the_endpoint_says_that_many_ask),
	TEST(should_return_early_when_a_signal_comes),
	TEST(should_notice_the_end_of_the_endpoint_while_waiting),
	TEST(should_know_what_an_endpoint_that_has_ended_had_begun),
	TEST(should_not_take_what_another_request_has_begun_for_its_own),
	TEST(should_notice_the_end_of_a_session_whose_memory_is_cleared),
	TEST(should_disconnect_from_an_endpoint_that_violates_the_protocol),
	TEST(should_grant_inbound_buffers),
	TEST(should_refuse_requests_longer_than_the_limit),
	TEST(should_pass_on_the_reason_of_a_refused_attach),
	TEST(should_refuse_an_answer_that_is_garbage),
	TEST(should_give_up_attaching_after_the_timeout),
	TEST(should_say_when_no_endpoint_is_there),
	{0},
};

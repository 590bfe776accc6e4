/*
 * Transactions named outside of their sessions.
 */
#include "fake_endpoint.h"
#include "test.h"

#include "kakehashi/ipc.h"

#include <stdio.h>
#include <stdlib.h>

/* For what takes microseconds on an idle machine; a busy one must not fail a test. */
#define LIMIT INT64_C(30000000000)

static kh_error error;

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

static void
end(kh_session *session)
{
	kh_detach(session);
	fake_stop();
}

static void
should_read_the_token_of_a_transaction(void)
{
	kh_session *session = begin();
	kh_call *call;

	for (uint64_t digits = 1; digits < 64; digits += 31)
	{
		call = kh_send_export_transaction(session, digits, &error);
		CHECK(call != NULL);
		CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(call, LIMIT, &error));
		CHECK_EQUAL(digits, strlen(kh_call_token(call)));
		CHECK_EQUAL(digits, strspn(kh_call_token(call), "a"));
		CHECK_EQUAL(KH_TX_ACTIVE, kh_call_result(call)->transaction_state);
		CHECK_EQUAL(digits, kh_call_result(call)->transaction_handle);
		CHECK_EQUAL(9, kh_call_result(call)->lease_deadline_nanos);
		kh_call_end(call);
	}
	/* The slot's next call has none. */
	call = kh_send_ping(session, "", 0, &error);
	CHECK(call != NULL && kh_call_wait(call, LIMIT, &error) == KH_WAIT_FINISHED && kh_call_token(call) == NULL);
	kh_call_end(call);
	end(session);
}

static void
should_disconnect_from_an_endpoint_whose_token_is_none(void)
{
	static const uint64_t wrong[] = {0, 64, 65, 100};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
	{
		kh_session *session;
		kh_call *call;

		/* A fresh runtime directory for each. */
		if (i > 0)
		{
			char path[400];

			snprintf(path, sizeof(path), "rm -rf %s/*", test_directory());
			CHECK(system(path) == 0);
		}
		session = begin();
		call = kh_send_export_transaction(session, wrong[i], &error);
		CHECK(call != NULL);
		CHECK_EQUAL(KH_WAIT_DISCONNECTED, kh_call_wait(call, LIMIT, &error));
		CHECK_TEXT("08P01", error.sqlstate);
		CHECK(kh_call_token(call) == NULL);
		kh_call_end(call);
		end(session);
	}
}

static void
should_continue_a_transaction_by_its_token_alone(void)
{
	static const char *const others[] = {"", "00112233445566778899aabbccddeefe", FAKE_TOKEN "0"};
	kh_session *session = begin();
	kh_call *call = kh_send_continue_transaction(session, FAKE_TOKEN, &error);

	CHECK(call != NULL);
	CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(call, LIMIT, &error));
	CHECK(!kh_call_result(call)->failed);
	CHECK_EQUAL(4711, kh_call_result(call)->transaction_handle);
	CHECK_EQUAL(KH_TX_ACTIVE, kh_call_result(call)->transaction_state);
	kh_call_end(call);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
	{
		call = kh_send_continue_transaction(session, others[i], &error);
		CHECK(call != NULL);
		CHECK_EQUAL(KH_WAIT_FINISHED, kh_call_wait(call, LIMIT, &error));
		CHECK(kh_call_result(call)->failed);
		CHECK_TEXT("25P01", kh_call_result(call)->error.sqlstate);
		kh_call_end(call);
	}
	end(session);
}

const test_case token_tests[] = {
	TEST(should_read_the_token_of_a_transaction),
	TEST(should_disconnect_from_an_endpoint_whose_token_is_none),
	TEST(should_continue_a_transaction_by_its_token_alone),
	{0},
};

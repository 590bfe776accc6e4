/*
 * Whom a client trusts to be the endpoint. Nothing is sent to another: the fake endpoint would answer.
 */
#include "fake_endpoint.h"
#include "test.h"

#include "kakehashi/ipc.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nobody's number in practice. */
#define ANOTHER "54321"

static kh_error error;

static kh_session *
attach_to(const char *directory, const char *peer)
{
	kh_attach_options options = {
		.runtime_directory = directory, .application_name = "test", .timeout_millis = 30000, .required_peer = peer};

	return kh_attach(&options, &error);
}

static void
check_refused(const char *directory, const char *peer, const char *sqlstate, const char *part)
{
	CHECK(attach_to(directory, peer) == NULL);
	CHECK_TEXT(sqlstate, error.sqlstate);
	if (strstr(error.message, part) == NULL)
		test_fail(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", error.message, part);
}

static void
should_attach_to_an_endpoint_of_the_named_user(void)
{
	char own[32];
	kh_session *session;

	snprintf(own, sizeof(own), "%u", (unsigned) geteuid());
	fake_start(test_directory(), FAKE_ATTACHES);
	session = attach_to(test_directory(), own);
	if (session == NULL)
		test_fail(__FILE__, __LINE__, "%s", error.message);
	kh_detach(session);
	fake_stop();
}

static void
should_refuse_an_endpoint_of_another_user(void)
{
	fake_start(test_directory(), FAKE_ATTACHES);
	check_refused(test_directory(), ANOTHER, "28000", "not to \"" ANOTHER "\"");
	CHECK(strstr(error.hint, "requirepeer") != NULL);
	check_refused(test_directory(), "no such user", "08001", "does not exist");
	check_refused(test_directory(), "-1", "08001", "does not exist");
	fake_stop();
}

static void
should_refuse_a_directory_that_others_may_change(void)
{
	fake_start(test_directory(), FAKE_ATTACHES);
	CHECK(chmod(test_directory(), 0777) == 0);
	check_refused(test_directory(), NULL, "28000", "may be changed by other OS users");
	/* Sticky or not: others could make what is not there yet. */
	CHECK(chmod(test_directory(), 01777) == 0);
	check_refused(test_directory(), NULL, "28000", "may be changed by other OS users");
	CHECK(chmod(test_directory(), 0700) == 0);
	fake_stop();
}

static void
should_refuse_a_directory_below_one_that_others_may_change(void)
{
	char below[4096];
	char link[4096];

	snprintf(below, sizeof(below), "%s/run", test_directory());
	snprintf(link, sizeof(link), "%s/link", test_directory());
	CHECK(mkdir(below, 0700) == 0 && symlink("run", link) == 0);
	CHECK(chmod(test_directory(), 0770) == 0);
	check_refused(below, NULL, "28000", "leads to the endpoint");
	check_refused(link, NULL, "28000", "leads to the endpoint");
	/* There nobody can move what is another's: only the endpoint is missing. */
	CHECK(chmod(test_directory(), 01777) == 0);
	check_refused(below, NULL, "08001", "could not connect");
	CHECK(chmod(test_directory(), 0700) == 0);
}

static void
should_refuse_who_listens_in_the_directory_of_another(void)
{
	if (geteuid() != 0)
		test_skip("only root can give a directory to another user");
	fake_start(test_directory(), FAKE_ATTACHES);
	CHECK(chown(test_directory(), 54321, (gid_t) -1) == 0);
	check_refused(test_directory(), NULL, "28000", "runtime directory");
	check_refused(test_directory(), ANOTHER, "28000", "endpoint at");
	CHECK(chown(test_directory(), 0, (gid_t) -1) == 0);
	fake_stop();
}

const test_case peer_tests[] = {
	TEST(should_attach_to_an_endpoint_of_the_named_user),
	TEST(should_refuse_an_endpoint_of_another_user),
	TEST(should_refuse_a_directory_that_others_may_change),
	TEST(should_refuse_a_directory_below_one_that_others_may_change),
	TEST(should_refuse_who_listens_in_the_directory_of_another),
	{0},
};

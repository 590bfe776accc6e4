/*
 * kh_ping RUNTIME_DIRECTORY [COUNT [BYTES [ways|stay]]]: what does a session cost, and one request, from append to answer? Attaches and
 * detaches a few hundred times, then attaches, warms up, pings COUNT times one after the other, checks each answer, and prints
 * the distributions in nanoseconds.
 */
#include "platform.h"

#include "kakehashi/ipc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *) a;
	int64_t y = *(const int64_t *) b;

	return (x > y) - (x < y);
}

/* arrived: NULL, or takes the time that a BareEndpoint puts into its answer. */
static bool
ping(kh_session *session, const unsigned char *payload, uint32_t bytes, int64_t *arrived, kh_error *error)
{
	kh_call *call = kh_send_ping(session, payload, bytes, error);
	kh_wait found = KH_WAIT_TIMEOUT;
	const void *answer;
	uint32_t answer_bytes;
	bool same;

	if (call == NULL)
		return false;
	while (found == KH_WAIT_TIMEOUT)
		found = kh_call_wait(call, 1000000000, error);
	if (found != KH_WAIT_FINISHED)
	{
		kh_call_end(call);
		return false;
	}
	if (kh_call_result(call)->failed)
	{
		*error = kh_call_result(call)->error;
		kh_call_end(call);
		return false;
	}
	answer = kh_call_payload(call, &answer_bytes);
	same = answer_bytes == bytes && (arrived != NULL || memcmp(answer, payload, bytes) == 0);
	if (same && arrived != NULL)
		memcpy(arrived, answer, sizeof(*arrived));
	kh_call_end(call);
	if (!same)
		snprintf(error->message, sizeof(error->message), "the answer differs from what was sent");
	return same;
}

/* there: NULL, or takes the times of the ways to the endpoint; the ways back are the rest. */
static bool
run(kh_session *session, int64_t *nanos, int64_t *there, long count, uint32_t bytes, kh_error *error)
{
	unsigned char payload[4096];

	for (long i = -1000; i < count; i++)
	{
		int64_t began;
		int64_t ended;
		int64_t arrived = 0;

		memset(payload, (int) i, bytes);
		began = kh_now_nanos();
		if (!ping(session, payload, bytes, there != NULL ? &arrived : NULL, error))
			return false;
		ended = kh_now_nanos();
		if (i >= 0)
			nanos[i] = ended - began;
		if (i >= 0 && there != NULL)
			there[i] = arrived - began;
	}
	return true;
}

#define ATTACHES 300

/* Prints how long attach takes, up to the session that can send. */
static bool
attach_often(const kh_attach_options *options, kh_error *error)
{
	int64_t nanos[ATTACHES];

	for (int i = 0; i < ATTACHES; i++)
	{
		int64_t began = kh_now_nanos();
		kh_session *session = kh_attach(options, error);

		nanos[i] = kh_now_nanos() - began;
		if (session == NULL)
			return false;
		kh_detach(session);
	}
	qsort(nanos, ATTACHES, sizeof(*nanos), compare);
	printf("%d attaches: p50 %lld ns, p90 %lld ns, p99 %lld ns\n", ATTACHES, (long long) nanos[ATTACHES / 2],
	       (long long) nanos[ATTACHES * 9 / 10], (long long) nanos[ATTACHES * 99 / 100]);
	return true;
}

static void
report(const char *what, int64_t *nanos, long count, uint32_t bytes)
{
	qsort(nanos, (size_t) count, sizeof(*nanos), compare);
	printf("%ld pings of %u bytes, %s: p50 %lld ns, p90 %lld ns, p99 %lld ns, p99.9 %lld ns, max %lld ns\n", count,
	       bytes, what, (long long) nanos[count / 2], (long long) nanos[count * 9 / 10],
	       (long long) nanos[count * 99 / 100], (long long) nanos[count * 999 / 1000], (long long) nanos[count - 1]);
}

static void
report_ways(int64_t *nanos, int64_t *there, long count, uint32_t bytes)
{
	/* The ways back take the place of the round trips, which have been reported. */
	for (long i = 0; i < count; i++)
		nanos[i] -= there[i];
	report("one way to the endpoint", there, count, bytes);
	report("one way back", nanos, count, bytes);
}

int
main(int argc, char **argv)
{
	kh_attach_options options = {.application_name = "kh_ping", .timeout_millis = 5000};
	long count = argc > 2 ? strtol(argv[2], NULL, 10) : 10000;
	uint32_t bytes = argc > 3 ? (uint32_t) strtoul(argv[3], NULL, 10) : 64;
	kh_error error = {0};
	kh_session *session;
	bool ways = argc > 4 && strcmp(argv[4], "ways") == 0;
	bool stay = argc > 4 && strcmp(argv[4], "stay") == 0;
	int64_t *nanos;
	int64_t *there = NULL;
	int64_t *trips = NULL;

	if (argc < 2 || count < 1 || bytes < sizeof(int64_t) || bytes > 4096 || (argc > 4 && !ways && !stay))
	{
		fprintf(stderr, "usage: kh_ping RUNTIME_DIRECTORY [COUNT [BYTES [ways|stay]]]\n"
		                "REQUIREPEER: OS user of the endpoint, if another\n"
		                "ways: times of both ways, too; needs a BareEndpoint (module benchmarks)\n"
		                "stay: the session stays attached until the end of standard input\n");
		return 2;
	}
	options.runtime_directory = argv[1];
	options.required_peer = getenv("REQUIREPEER");
	nanos = calloc((size_t) count, sizeof(*nanos));
	if (ways)
	{
		there = calloc((size_t) count, sizeof(*there));
		trips = calloc((size_t) count, sizeof(*trips));
	}
	session = attach_often(&options, &error) ? kh_attach(&options, &error) : NULL;
	if (nanos == NULL || (ways && (there == NULL || trips == NULL)) || session == NULL ||
	    !run(session, nanos, there, count, bytes, &error))
	{
		fprintf(stderr, "%s: %s %s\n", error.sqlstate, error.message, error.detail);
		kh_detach(session);
		free(nanos);
		free(there);
		free(trips);
		return 1;
	}
	if (ways)
		memcpy(trips, nanos, (size_t) count * sizeof(*trips));
	report("there and back", nanos, count, bytes);
	if (ways)
		report_ways(trips, there, count, bytes);
	if (stay)
	{
		fflush(stdout);
		while (getchar() != EOF)
			continue;
	}
	kh_detach(session);
	free(nanos);
	free(there);
	free(trips);
	return 0;
}

/*
 * kh_append DIRECTORY BLOCK_BYTES COUNT SEED [NANOS]: appends numbered messages to a queue, for tests with the library on
 * the other side. Message n, from 0: its number (8 bytes), then bytes that follow from it and the seed; NANOS apart.
 */
#include "platform.h"

#include "queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
main(int argc, char **argv)
{
	static unsigned char message[4096];
	kh_error error;
	kh_queue *queue;
	uint64_t seed;
	struct timespec pause = {0};

	if (argc < 5)
	{
		fprintf(stderr, "usage: kh_append DIRECTORY BLOCK_BYTES COUNT SEED [NANOS]\n");
		return 2;
	}
	seed = strtoull(argv[4], NULL, 10);
	pause.tv_nsec = argc > 5 ? strtol(argv[5], NULL, 10) : 0;
	queue = kh_queue_open(argv[1], (uint32_t) strtoul(argv[2], NULL, 10), &error);
	if (queue == NULL)
	{
		fprintf(stderr, "%s: %s\n", error.sqlstate, error.message);
		return 1;
	}
	for (uint64_t n = 0, count = strtoull(argv[3], NULL, 10); n < count; n++)
	{
		uint32_t bytes = 8 + (uint32_t) ((n * 7919 + seed) % 2000);

		memcpy(message, &n, 8);
		for (uint32_t i = 8; i < bytes; i++)
			message[i] = (unsigned char) (n * 31 + i + seed);
		if (!kh_queue_append(queue, message, bytes, &error))
		{
			fprintf(stderr, "message %llu: %s: %s\n", (unsigned long long) n, error.sqlstate, error.message);
			return 1;
		}
		if (pause.tv_nsec > 0)
			nanosleep(&pause, NULL);
	}
	kh_queue_close(queue);
	return 0;
}

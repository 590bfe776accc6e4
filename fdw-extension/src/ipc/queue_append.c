#include "queue_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIN_BLOCK_BYTES (64 * 1024)
#define MAX_OVERLAP_BYTES (1024 * 1024 * 1024)

/* Room for headers and zeros next to the longest message. */
#define MESSAGE_SLACK 64

/* A cycle that has ended although it is the current one (the clock was set back): use the next. */
#define MAX_ROLLS 4

/* As the library computes it. */
static uint64_t
overlap_of(uint64_t block_bytes)
{
	uint64_t overlap = block_bytes < 64 * 1024 ? block_bytes : block_bytes < 256 * 1024 ? 64 * 1024 : block_bytes / 4;

	return overlap < MAX_OVERLAP_BYTES ? overlap : MAX_OVERLAP_BYTES;
}

kh_queue *
kh_queue_open(const char *directory, uint32_t block_bytes, kh_error *error)
{
	kh_queue *queue;

	if (block_bytes < MIN_BLOCK_BYTES || block_bytes % MIN_BLOCK_BYTES != 0)
	{
		kh_fail(error, KH_E_MALFORMED_MESSAGE, "block size of a queue must be a multiple of %d, but is %u",
		        MIN_BLOCK_BYTES, block_bytes);
		return NULL;
	}
	queue = calloc(1, sizeof(*queue));
	if (queue == NULL)
	{
		kh_fail_system(error, ENOMEM, KH_E_OUT_OF_MEMORY, "could not open request queue \"%s\"", directory);
		return NULL;
	}
	snprintf(queue->path, sizeof(queue->path), "%s", directory);
	queue->block_bytes = block_bytes;
	queue->overlap_bytes = overlap_of(block_bytes);
	queue->open.fd = -1;
	queue->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (queue->directory < 0)
	{
		kh_fail_system(error, errno, KH_E_CANNOT_CONNECT, "could not open request queue \"%s\"", directory);
		kh_queue_close(queue);
		return NULL;
	}
	if (!kh_lock_self(&queue->self, error) || !kh_table_open(queue->directory, directory, &queue->table, error))
	{
		kh_queue_close(queue);
		return NULL;
	}
	return queue;
}

void
kh_queue_close(kh_queue *queue)
{
	if (queue == NULL)
		return;
	kh_cycle_close(&queue->open);
	kh_table_close(&queue->table);
	if (queue->directory >= 0)
		close(queue->directory);
	free(queue);
}

uint32_t
kh_queue_max_message_bytes(const kh_queue *queue)
{
	return (uint32_t) queue->overlap_bytes - MESSAGE_SLACK;
}

/* Cycle of the wall clock, but none before the highest that exists: the clock may have been set back. */
static int64_t
current_cycle(const kh_queue *queue)
{
	struct timespec now;
	int64_t millis;
	int64_t cycle;
	int64_t highest = kh_table_highest(&queue->table);

	clock_gettime(CLOCK_REALTIME, &now);
	millis = (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000 - queue->table.layout.epoch_millis;
	cycle = millis / queue->table.layout.roll_millis;
	return cycle > highest ? cycle : highest;
}

static bool
open_cycle(kh_queue *queue, int64_t cycle, kh_error *error)
{
	return (queue->open.fd >= 0 && queue->open.number == cycle) || kh_roll(queue, cycle, error);
}

/*
 * The file system has no room for another file. The one of the highest cycle may have some, and readers do not leave it before
 * it has ended: messages go there until another file can be made.
 */
static bool
open_highest(kh_queue *queue, int64_t highest, kh_tail *tail)
{
	kh_error error;

	return highest >= 0 && open_cycle(queue, highest, &error) && kh_tail_find(queue, &queue->open, tail, &error) &&
	       !tail->ended;
}

/* The open cycle is the current one, or one before if there is no room for it, and has not ended; tail is its tail. */
static bool
open_current(kh_queue *queue, kh_tail *tail, kh_error *error)
{
	int64_t highest = kh_table_highest(&queue->table);
	int64_t cycle = current_cycle(queue);

	for (int i = 0; i < MAX_ROLLS; i++, cycle++)
	{
		kh_error failure;

		if (!open_cycle(queue, cycle, &failure))
		{
			if (i == 0 && cycle > highest && strcmp(failure.sqlstate, "53100") == 0 &&
			    open_highest(queue, highest, tail))
				return true;
			if (error != NULL)
				*error = failure;
			return false;
		}
		if (!kh_tail_find(queue, &queue->open, tail, error))
			return false;
		if (!tail->ended)
			return true;
	}
	return kh_fail(error, KH_E_DATA_CORRUPTED, "request queue \"%s\" has ended cycles after the current one",
	               queue->path);
}

static bool
append_locked(kh_queue *queue, const void *message, uint32_t bytes, kh_error *error)
{
	kh_cycle *cycle = &queue->open;
	kh_tail tail;
	uint64_t end;
	uint32_t header = 0;
	uint64_t count;

	if (kh_load_acquire(queue->table.append_lock) != KH_LOCK_FREE)
		return kh_fail(error, KH_E_LOCK_NOT_AVAILABLE, "could not append to request queue \"%s\": appends are locked",
		               queue->path);
	if (!open_current(queue, &tail, error))
		return false;
	count = cycle->layout.geometry.index_count;
	if ((uint64_t) (tail.sequence + 1) >= count * count * cycle->layout.geometry.index_spacing)
		return kh_fail(error, KH_E_LIMIT_EXCEEDED, "request queue \"%s\" is full until its next cycle", queue->path);
	end = tail.position + 4 + bytes;
	if (!kh_cycle_reserve(queue, cycle, tail.position, end + KH_TAIL_ZEROS + 4, error))
		return false;
	memcpy(cycle->map + tail.position + 4, message, bytes);
	/* Bytes of a killed writer may lie behind; the next reader would take them for a header. */
	memset(cycle->map + end, 0, KH_TAIL_ZEROS);
	if (!__atomic_compare_exchange_n(kh_cycle_header(cycle, tail.position), &header, bytes, false, __ATOMIC_RELEASE,
	                                 __ATOMIC_RELAXED))
		return kh_fail(error, KH_E_DATA_CORRUPTED, "somebody wrote to request queue \"%s\" without its lock",
		               queue->path);
	kh_tail_publish(queue, cycle, tail.position, tail.sequence + 1, end);
	return true;
}

bool
kh_queue_append(kh_queue *queue, const void *message, uint32_t bytes, kh_error *error)
{
	bool appended;

	if (bytes == 0 || bytes > kh_queue_max_message_bytes(queue))
		return kh_fail(error, KH_E_LIMIT_EXCEEDED,
		               "message of %u bytes does not fit into request queue \"%s\" (at most %u)", bytes, queue->path,
		               kh_queue_max_message_bytes(queue));
	if (!kh_lock_take(queue, error))
		return false;
	appended = append_locked(queue, message, bytes, error);
	kh_lock_release(queue);
	return appended;
}

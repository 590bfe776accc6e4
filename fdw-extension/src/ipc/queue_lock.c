/*
 * The write lock of a queue: one word of its table, free or naming its holder.
 *
 *   bits 0..31   pid of the holder (all that Java looks at)
 *   bits 32..62  start time of that process in clock ticks, so that a reused pid is not taken for the holder
 *
 * Taken by CAS free -> self, released by CAS self -> free. A holder that is dead (no such process, a zombie, or another
 * process with its pid) is replaced by CAS holder -> self; of several that try only one succeeds. A live holder is never
 * replaced. What the dead one left half-done is repaired by kh_tail_find, which every append runs anyway.
 */
#include "queue_internal.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Appends take less than this unless the holder lost the processor. */
#define SPIN_NANOS 2000

/* A holder is looked up only after it has had time to finish; then every so often. */
#define CHECK_NANOS 1000000

/* A live holder that takes longer is stopped. It may go on later, so its lock cannot be taken. */
#define TIMEOUT_NANOS 2000000000

#define START_MASK 0x7FFFFFFFu

/* State and start time of a process; false when there is none. */
static bool
read_process(uint32_t pid, char *state, uint64_t *start_ticks)
{
	char path[32];
	char text[1024];
	char *at;
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	do
		fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return false;
	do
		n = read(fd, text, sizeof(text) - 1);
	while (n < 0 && errno == EINTR);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	/* Field 2 is the name in parentheses, which may hold anything; fields are counted from its end. */
	at = strrchr(text, ')');
	if (at == NULL || at[1] != ' ')
		return false;
	*state = at[2];
	for (int field = 2; field < 22 && at != NULL; field++)
		at = strchr(at + 1, ' ');
	if (at == NULL)
		return false;
	*start_ticks = strtoull(at + 1, NULL, 10);
	return true;
}

bool
kh_lock_self(uint64_t *self, kh_error *error)
{
	char state;
	uint64_t start_ticks;

	if (!read_process((uint32_t) getpid(), &state, &start_ticks))
		return kh_fail(error, KH_E_CANNOT_CONNECT, "could not read /proc/self/stat");
	*self = (start_ticks & START_MASK) << 32 | (uint32_t) getpid();
	return true;
}

static bool
is_dead(uint64_t holder)
{
	uint32_t pid = (uint32_t) holder;
	uint64_t tag = holder >> 32;
	uint64_t start_ticks;
	char state;

	if (pid == 0 || pid > INT32_MAX)
		return true; /* nobody's: garbage */
	if (kill((pid_t) pid, 0) != 0 && errno == ESRCH)
		return true;
	/* A process that we may not see is taken for alive; one that has just gone is found by the next kill(). */
	if (!read_process(pid, &state, &start_ticks))
		return false;
	return state == 'Z' || state == 'X' || (tag != 0 && tag != (start_ticks & START_MASK));
}

static void
pause_waiting(int64_t waited_nanos)
{
	const struct timespec nap = {.tv_nsec = 50000};

	if (waited_nanos < SPIN_NANOS)
	{
		for (int i = 0; i < 16; i++)
			kh_relax();
	}
	else if (waited_nanos < CHECK_NANOS)
		sched_yield();
	else
		nanosleep(&nap, NULL);
}

bool
kh_lock_take(kh_queue *queue, kh_error *error)
{
	uint64_t *word = queue->table.write_lock;
	int64_t began;
	int64_t checked;
	uint64_t holder;

	if (kh_load_relaxed(word) == KH_LOCK_FREE && kh_compare_and_set(word, KH_LOCK_FREE, queue->self))
		return true;
	began = checked = kh_now_nanos();
	for (;;)
	{
		int64_t now;

		holder = kh_load_relaxed(word);
		if (holder == KH_LOCK_FREE)
		{
			if (kh_compare_and_set(word, KH_LOCK_FREE, queue->self))
				return true;
			continue;
		}
		now = kh_now_nanos();
		if (now - checked >= CHECK_NANOS)
		{
			checked = now;
			if (is_dead(holder) && kh_compare_and_set(word, holder, queue->self))
				return true;
			if (now - began > TIMEOUT_NANOS)
				break;
		}
		pause_waiting(now - began);
	}
	kh_fail(error, KH_E_LOCK_NOT_AVAILABLE, "could not lock request queue \"%s\" within %d ms", queue->path,
	        (int) (TIMEOUT_NANOS / 1000000));
	kh_set_detail(error, "Process %u holds the lock and does not go on.", (uint32_t) holder);
	kh_set_hint(error, "If that process is stopped, continue or end it.");
	return false;
}

void
kh_lock_release(kh_queue *queue)
{
	/* Fails only if somebody took the lock away from a live process; then it is not ours to release. */
	(void) kh_compare_and_set(queue->table.write_lock, queue->self, KH_LOCK_FREE);
}

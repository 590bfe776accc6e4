/* The trace of disk_trace: events in their order, mapped files, and the end of the process. */
#include "trace.h"

#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define PAGE 4096

int trace = -1;
dev_t device;
dev_t marks_device;
ino_t marks;
const char *counted_part;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t events_left = INT64_MAX;
static uint64_t next_sync = 1;

struct map
{
	char *at;
	size_t bytes;
	char *copy;
	uint64_t offset;
	ino_t file;
};
static struct map *maps;
static size_t map_count;
static size_t map_room;

int
enter(void)
{
	pthread_mutex_lock(&lock);
	return errno;
}

void
leave(void)
{
	int error = errno;

	pthread_mutex_unlock(&lock);
	errno = error;
}

void
fail(const char *what)
{
	dprintf(2, "disk_trace: %s: %s\n", what, strerror(errno));
	abort();
}

static void
put(enum kind kind, ino_t file, uint64_t a, uint64_t b, const void *bytes, size_t count)
{
	struct header header = {(uint32_t) count, kind, file, a, b};
	struct iovec parts[2] = {{&header, sizeof(header)}, {(void *) bytes, count}};

	if (syscall(SYS_writev, trace, parts, 2) != (long) (sizeof(header) + count))
		fail("could not write the trace");
}

/* Finds stores into mapped files, a page at a time. */
static void
sample(void)
{
	for (size_t m = 0; m < map_count; m++)
	{
		struct map *map = &maps[m];

		for (size_t from = 0; from < map->bytes; from += PAGE)
		{
			size_t count = map->bytes - from < PAGE ? map->bytes - from : PAGE;
			size_t first = 0;
			size_t last = count;

			if (memcmp(map->at + from, map->copy + from, count) == 0)
				continue;
			/* Others store meanwhile: what is written down is what was copied. */
			char now[PAGE];
			memcpy(now, map->at + from, count);
			while (first < count && now[first] == map->copy[from + first])
				first++;
			while (last > first && now[last - 1] == map->copy[from + last - 1])
				last--;
			if (first == last)
				continue;
			memcpy(map->copy + from + first, now + first, last - first);
			put(WRITE, map->file, map->offset + from + first, 0, now + first, last - first);
		}
	}
}

/* Counts what the process may still do, and ends it. Nobody changes anything before the end: changes need the lock. */
void
count_down(void)
{
	if (--events_left > 0)
		return;
	sample();
	kill(getpid(), SIGKILL);
	pause();
}

void
event(enum kind kind, ino_t file, uint64_t a, uint64_t b, const void *bytes, size_t count)
{
	sample();
	put(kind, file, a, b, bytes, count);
	if (counted_part == NULL)
		count_down();
}

void
strange(const char *what)
{
	event(STRANGE, 0, 0, 0, what, strlen(what));
}

uint64_t
next_synchronisation(void)
{
	return next_sync++;
}

void
add_map(char *at, size_t bytes, uint64_t offset, const struct stat *is)
{
	uint64_t length = (uint64_t) is->st_size;
	size_t within = offset >= length ? 0 : length - offset < bytes ? length - offset : bytes;

	if (map_count == map_room)
	{
		map_room = map_room == 0 ? 64 : 2 * map_room;
		struct map *more = realloc(maps, map_room * sizeof(struct map));

		if (more == NULL)
			fail("no memory");
		maps = more;
	}
	struct map map = {at, within, malloc(within + 1), offset, is->st_ino};
	if (map.copy == NULL)
		fail("no memory");
	memcpy(map.copy, at, within);
	/* A killed process may have stored what nobody has seen. */
	event(WRITE, is->st_ino, offset, 0, map.copy, within);
	maps[map_count++] = map;
}

void
shorten_maps(ino_t file, uint64_t length)
{
	for (size_t m = 0; m < map_count; m++)
		if (maps[m].file == file && maps[m].offset + maps[m].bytes > length)
			maps[m].bytes = length > maps[m].offset ? length - maps[m].offset : 0;
}

void
remove_maps(const char *at, size_t bytes)
{
	for (size_t m = 0; m < map_count; m++)
		if (maps[m].at >= at && maps[m].at < at + bytes)
		{
			sample();
			free(maps[m].copy);
			maps[m] = maps[--map_count];
			m--;
		}
}

bool
has_maps(void)
{
	return map_count > 0;
}

ino_t
mapped_file(const char *at)
{
	ino_t file = 0;

	for (size_t m = 0; m < map_count; m++)
		if (at >= maps[m].at && at < maps[m].at + maps[m].bytes)
			file = maps[m].file;
	return file;
}

static int
visit(const char *path, const struct stat *is, int kind, struct FTW *at)
{
	(void) path;
	(void) kind;
	(void) at;
	learn(is->st_ino);
	return 0;
}

__attribute__((constructor)) static void
begin(void)
{
	const char *root = getenv("KAKEHASHI_TRACE_ROOT");
	const char *file = getenv("KAKEHASHI_TRACE_FILE");
	const char *mark_file = getenv("KAKEHASHI_TRACE_MARKS");
	const char *events = getenv("KAKEHASHI_TRACE_EVENTS");
	struct stat is;

	if (root == NULL || file == NULL || mark_file == NULL)
		return;
	know_none();
	if (stat(mark_file, &is) != 0)
		fail(mark_file);
	marks = is.st_ino;
	marks_device = is.st_dev;
	if (stat(root, &is) != 0)
		fail(root);
	device = is.st_dev;
	if (nftw(root, visit, 16, FTW_PHYS) != 0)
		fail(root);
	if (events != NULL)
		events_left = atoll(events);
	counted_part = getenv("KAKEHASHI_TRACE_PART");
	ino_t root_file = is.st_ino;
	int opened = (int) syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (opened < 0 || fstat(opened, &is) != 0)
		fail(file);
	trace = opened;
	next_sync = (uint64_t) is.st_size + 1;
	put(is.st_size == 0 ? ROOT : PROCESS, root_file, 0, 0, NULL, 0);
}

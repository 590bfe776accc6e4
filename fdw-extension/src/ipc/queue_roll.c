#include "queue_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY_MILLIS INT64_C(86400000)

/* Roll cycles of the library whose length lies in the range that an endpoint offers; see its RollCycles. */
static const struct
{
	const char *format;
	int64_t roll_millis;
	uint32_t index_count;
	uint32_t index_spacing;
} roll_cycles[] = {
	{"yyyyMMdd-HHmmss'T'", 1000, 32768, 4},   {"yyyyMMdd-HHmmss'T4'", 1000, 32, 4},
	{"yyyyMMdd-HHmm", 60000, 2048, 16},       {"yyyyMMdd-HHmm'V'", 300000, 2048, 256},
	{"yyyyMMdd-HHmm'X'", 600000, 2048, 256},  {"yyyyMMdd-HHmm'XX'", 1200000, 2048, 256},
	{"yyyyMMdd-HHmm'H'", 1800000, 2048, 256}, {"yyyyMMdd-HH'F'", 3600000, 4096, 256},
	{"yyyyMMdd-HH", 3600000, 4096, 16},       {"yyyyMMdd'F'", DAY_MILLIS, 4096, 256},
	{"yyyyMMdd", DAY_MILLIS, 8192, 64},
};

bool
kh_geometry_of_format(const char *format, int64_t roll_millis, kh_geometry *geometry)
{
	for (size_t i = 0; i < sizeof(roll_cycles) / sizeof(roll_cycles[0]); i++)
	{
		if (strcmp(format, roll_cycles[i].format) == 0 && roll_millis == roll_cycles[i].roll_millis)
		{
			geometry->index_count = roll_cycles[i].index_count;
			geometry->index_spacing = roll_cycles[i].index_spacing;
			return kh_geometry_complete(geometry);
		}
	}
	return false;
}

/* One run of equal letters of a Java date pattern; -1 when it is not one we know. */
static int
field_of(char letter, size_t count, const struct tm *time)
{
	switch (letter)
	{
		case 'y':
			return count == 4 ? time->tm_year + 1900 : -1;
		case 'M':
			return count == 2 ? time->tm_mon + 1 : -1;
		case 'd':
			return count == 2 ? time->tm_mday : -1;
		case 'H':
			return count == 2 ? time->tm_hour : -1;
		case 'm':
			return count == 2 ? time->tm_min : -1;
		case 's':
			return count == 2 ? time->tm_sec : -1;
		default:
			return -1;
	}
}

bool
kh_cycle_name(const kh_table_layout *table, int64_t cycle, char *name, size_t capacity)
{
	int64_t millis = cycle * table->roll_millis + (table->epoch_millis - table->epoch_millis % DAY_MILLIS);
	time_t seconds = (time_t) (millis / 1000);
	struct tm time;
	size_t n = 0;

	if (cycle < 0 || cycle > INT32_MAX || gmtime_r(&seconds, &time) == NULL || time.tm_year + 1900 > 9999)
		return false;
	for (const char *at = table->format; *at != '\0';)
	{
		if (capacity - n < 8)
			return false;
		if (*at == '\'')
		{
			const char *end = strchr(++at, '\'');

			if (end == NULL || end == at || capacity - n <= (size_t) (end - at) + 8)
				return false;
			memcpy(name + n, at, (size_t) (end - at));
			n += (size_t) (end - at);
			at = end + 1;
		}
		else if (isalpha((unsigned char) *at))
		{
			size_t count = strspn(at, (char[]){*at, '\0'});
			int value = field_of(*at, count, &time);

			if (value < 0)
				return false;
			n += (size_t) snprintf(name + n, capacity - n, "%0*d", (int) count, value);
			at += count;
		}
		else if (*at == '/')
			return false;
		else
			name[n++] = *at++;
	}
	return (size_t) snprintf(name + n, capacity - n, ".cq4") < capacity - n;
}

static bool
name_of(const kh_queue *queue, int64_t cycle, char *name, kh_error *error)
{
	if (kh_cycle_name(&queue->table.layout, cycle, name, KH_NAME_CAPACITY))
		return true;
	return kh_fail(error, KH_E_DATA_CORRUPTED,
	               "request queue \"%s\" has a roll format or cycle that cannot be named: %s, %lld", queue->path,
	               queue->table.layout.format, (long long) cycle);
}

static int
open_file(const kh_queue *queue, const char *name)
{
	int fd;

	do
		fd = openat(queue->directory, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	while (fd < 0 && errno == EINTR);
	return fd;
}

/*
 * Terminates the file of an earlier cycle that is not open here. A file that is gone has been consumed; one without a
 * complete header has no message, and never will.
 */
static bool
terminate_file(kh_queue *queue, const char *name, int64_t number, kh_error *error)
{
	kh_cycle cycle;
	int fd = open_file(queue, name);
	bool done;

	if (fd < 0)
		return errno == ENOENT ||
		       kh_fail_system(error, errno, KH_E_INTERNAL_ERROR, "could not open %s/%s", queue->path, name);
	if (!kh_cycle_is_ready(fd))
	{
		close(fd);
		return true;
	}
	done = kh_cycle_map(queue, &cycle, fd, number, error) && kh_tail_terminate(queue, &cycle, error);
	kh_cycle_close(&cycle);
	return done;
}

/*
 * Files after the highest listed cycle: their maker died before listing them, so no appender will come back to
 * terminate them, and a tailer that finds one would wait in it for ever.
 */
static bool
terminate_unlisted(kh_queue *queue, int64_t highest, int64_t cycle, kh_error *error)
{
	char after[KH_NAME_CAPACITY];
	char before[KH_NAME_CAPACITY];
	struct dirent *entry;
	DIR *listing;
	bool done = true;
	int fd;

	if (!name_of(queue, highest, after, error) || !name_of(queue, cycle, before, error))
		return false;
	fd = openat(queue->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	listing = fd >= 0 ? fdopendir(fd) : NULL;
	if (listing == NULL)
	{
		int failure = errno;

		if (fd >= 0)
			close(fd);
		return kh_fail_system(error, failure, KH_E_INTERNAL_ERROR, "could not list %s", queue->path);
	}
	/* Names sort by time. */
	while (done && (entry = readdir(listing)) != NULL)
	{
		size_t n = strlen(entry->d_name);

		if (n == strlen(before) && strcmp(entry->d_name + n - 4, ".cq4") == 0 && strcmp(entry->d_name, after) > 0 &&
		    strcmp(entry->d_name, before) < 0)
			done = terminate_file(queue, entry->d_name, highest, error);
	}
	closedir(listing);
	return done;
}

/*
 * Terminates every file before cycle that may still be without an EOF. Files below the highest listed cycle have theirs:
 * a cycle is listed only after that. They are not touched, also because the endpoint may have given their memory back.
 */
static bool
terminate_earlier(kh_queue *queue, int64_t cycle, kh_error *error)
{
	int64_t highest = kh_table_highest(&queue->table);
	int64_t terminated = -1;
	char name[KH_NAME_CAPACITY];
	struct stat status;

	if (queue->open.fd >= 0 && queue->open.number < cycle && queue->open.number >= highest &&
	    fstat(queue->open.fd, &status) == 0 && status.st_nlink > 0 && kh_cycle_is_ready(queue->open.fd))
	{
		if (!kh_tail_terminate(queue, &queue->open, error))
			return false;
		terminated = queue->open.number;
	}
	/* From here on no second descriptor of the open file can exist. */
	kh_cycle_close(&queue->open);
	if (highest < 0 || highest >= cycle)
		return true;
	return name_of(queue, highest, name, error) &&
	       (highest == terminated || terminate_file(queue, name, highest, error)) &&
	       (highest + 1 == cycle || terminate_unlisted(queue, highest, cycle, error));
}

/* A file whose maker was not one of us and died: set aside under a name that is not listed. */
static bool
discard_file(const kh_queue *queue, const char *name, kh_error *error)
{
	char aside[KH_NAME_CAPACITY + 32];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(aside, sizeof(aside), "%s-%lld.discard", name,
	         (long long) now.tv_sec * 1000 + (long long) now.tv_nsec / 1000000);
	if (renameat(queue->directory, name, queue->directory, aside) != 0)
		return kh_fail_system(error, errno, KH_E_INTERNAL_ERROR, "could not rename %s/%s", queue->path, name);
	return true;
}

/* Descriptor of the complete file of that name, made if necessary; -1 on failure. */
static int
open_or_make(kh_queue *queue, const char *name, kh_error *error)
{
	int fd = open_file(queue, name);

	if (fd >= 0 && !kh_cycle_is_ready(fd))
	{
		close(fd);
		if (!discard_file(queue, name, error))
			return -1;
		fd = -1;
		errno = ENOENT;
	}
	if (fd < 0 && errno == ENOENT)
	{
		if (queue->geometry.index_count == 0 &&
		    !kh_geometry_of_format(queue->table.layout.format, queue->table.layout.roll_millis, &queue->geometry))
		{
			kh_fail(error, KH_E_VERSION_MISMATCH, "request queue \"%s\" has an unknown roll cycle: %s", queue->path,
			        queue->table.layout.format);
			return -1;
		}
		/* Below that, a reader of the library could not map an index. */
		if (queue->block_bytes < 32 * (uint64_t) queue->geometry.index_count)
		{
			kh_fail(error, KH_E_VERSION_MISMATCH,
			        "block size of request queue \"%s\" is too small for its roll cycle: %llu", queue->path,
			        (unsigned long long) queue->block_bytes);
			return -1;
		}
		if (!kh_cycle_make(queue, name, error))
			return -1;
		fd = open_file(queue, name);
	}
	if (fd < 0)
		kh_fail_system(error, errno, KH_E_INTERNAL_ERROR, "could not open %s/%s", queue->path, name);
	return fd;
}

bool
kh_roll(kh_queue *queue, int64_t cycle, kh_error *error)
{
	char name[KH_NAME_CAPACITY];
	int fd;

	/* Made first: where there is no room for it, the earlier file is not ended, and can still be written. */
	if (!name_of(queue, cycle, name, error) || (fd = open_or_make(queue, name, error)) < 0)
		return false;
	if (!terminate_earlier(queue, cycle, error))
	{
		close(fd);
		return false;
	}
	if (!kh_cycle_map(queue, &queue->open, fd, cycle, error))
	{
		kh_cycle_close(&queue->open);
		return false;
	}
	/* Also for a file that was there: its maker may have died before it listed it. */
	kh_table_list(&queue->table, cycle);
	return true;
}

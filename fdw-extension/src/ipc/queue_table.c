#include "queue_internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TABLE_NAME "metadata.cq4t"

/* The library makes the table 128 KiB long and uses 4 KiB; more than this is not a table. */
#define MAX_TABLE_BYTES (1024 * 1024)

static bool
malformed(kh_error *error, const char *what)
{
	return kh_fail(error, KH_E_DATA_CORRUPTED, "queue table %s: %s", TABLE_NAME, what);
}

/* Settings, in the document at content [at, end). */
static bool
parse_settings(const unsigned char *base, size_t at, size_t end, kh_table_layout *layout, kh_error *error)
{
	kh_wire_reader reader;
	kh_wire_value value;

	kh_wire_begin(&reader, base, at, end);
	while ((value = kh_wire_next(&reader)).kind != KH_WIRE_END)
	{
		if (value.kind == KH_WIRE_MALFORMED)
			return malformed(error, "the settings have an unknown encoding");
		if (value.kind == KH_WIRE_INTEGER && kh_wire_is(&value, "length"))
			layout->roll_millis = value.number;
		else if (value.kind == KH_WIRE_INTEGER && kh_wire_is(&value, "epoch"))
			layout->epoch_millis = value.number;
		else if (value.kind == KH_WIRE_TEXT && kh_wire_is(&value, "format"))
		{
			if (value.bytes >= sizeof(layout->format))
				return malformed(error, "the roll format is too long");
			kh_copy_text(layout->format, sizeof(layout->format), value.text, value.bytes);
		}
	}
	if (layout->roll_millis < 1000 || layout->roll_millis > INT64_C(366) * 86400000 || layout->epoch_millis < 0 ||
	    layout->epoch_millis > INT64_C(1) << 50)
		return malformed(error, "roll length or epoch is missing or out of range");
	if (layout->format[0] == '\0')
		return malformed(error, "the roll format is missing");
	return true;
}

/* A document with one value; keys that we do not know belong to others. */
static void
parse_entry(const unsigned char *base, size_t at, size_t end, kh_table_layout *layout)
{
	const struct
	{
		const char *key;
		size_t *offset;
	} words[] = {
		{"chronicle.write.lock", &layout->write_lock},    {"chronicle.append.lock", &layout->append_lock},
		{"listing.highestCycle", &layout->highest_cycle}, {"listing.lowestCycle", &layout->lowest_cycle},
		{"listing.modCount", &layout->mod_count},
	};
	kh_wire_reader reader;
	kh_wire_value value;

	kh_wire_begin(&reader, base, at, end);
	value = kh_wire_next(&reader);
	if (value.kind != KH_WIRE_INTEGER || value.bytes != 8 || value.offset % 8 != 0)
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
	{
		if (kh_wire_is(&value, words[i].key))
			*words[i].offset = value.offset;
	}
}

bool
kh_table_parse(const unsigned char *base, size_t bytes, kh_table_layout *layout, kh_error *error)
{
	size_t at = 0;
	size_t end;
	bool meta;

	memset(layout, 0, sizeof(*layout));
	if (!kh_wire_document(base, bytes, 0, &meta, &end) || !meta)
		return kh_fail(error, KH_E_CANNOT_CONNECT, "queue table %s is not complete", TABLE_NAME);
	if (!parse_settings(base, 4, end, layout, error))
		return false;
	while ((at = kh_wire_align4(end)) < bytes && kh_wire_document(base, bytes, at, &meta, &end))
		parse_entry(base, at + 4, end, layout);
	if (layout->write_lock == 0 || layout->append_lock == 0 || layout->highest_cycle == 0 ||
	    layout->lowest_cycle == 0 || layout->mod_count == 0)
		return malformed(error, "lock or listing is missing");
	return true;
}

/*
 * The whole file, by read: a mapping would give memory to each hole that it looks at. NULL on failure.
 */
static unsigned char *
read_table(int fd, const char *path, size_t *bytes, unsigned *mode, kh_error *error)
{
	struct stat status;
	unsigned char *content;
	ssize_t n;

	if (fstat(fd, &status) != 0)
	{
		kh_fail_system(error, errno, KH_E_CANNOT_CONNECT, "could not look at %s/%s", path, TABLE_NAME);
		return NULL;
	}
	if (status.st_size < 64 || status.st_size > MAX_TABLE_BYTES)
	{
		malformed(error, "it has an impossible length");
		return NULL;
	}
	*mode = status.st_mode & 0666;
	content = malloc((size_t) status.st_size);
	if (content == NULL)
	{
		kh_fail_system(error, ENOMEM, KH_E_OUT_OF_MEMORY, "could not read %s/%s", path, TABLE_NAME);
		return NULL;
	}
	do
		n = pread(fd, content, (size_t) status.st_size, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
	{
		kh_fail_system(error, errno, KH_E_CANNOT_CONNECT, "could not read %s/%s", path, TABLE_NAME);
		free(content);
		return NULL;
	}
	*bytes = (size_t) n;
	return content;
}

static size_t
end_of_words(const kh_table_layout *layout)
{
	const size_t words[] = {layout->write_lock, layout->append_lock, layout->highest_cycle, layout->lowest_cycle,
	                        layout->mod_count};
	size_t end = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		end = words[i] + 8 > end ? words[i] + 8 : end;
	return end;
}

bool
kh_table_open(int directory, const char *path, kh_table *table, kh_error *error)
{
	int fd = openat(directory, TABLE_NAME, O_RDWR | O_CLOEXEC);
	unsigned char *content = NULL;
	size_t bytes = 0;
	bool parsed;

	memset(table, 0, sizeof(*table));
	if (fd < 0)
		return kh_fail_system(error, errno, KH_E_CANNOT_CONNECT, "could not open %s/%s", path, TABLE_NAME);
	content = read_table(fd, path, &bytes, &table->mode, error);
	parsed = content != NULL && kh_table_parse(content, bytes, &table->layout, error);
	free(content);
	if (parsed)
	{
		/* Only the pages of the words, which have been written and so have memory. */
		table->map_bytes = end_of_words(&table->layout);
		table->map = mmap(NULL, table->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (table->map == MAP_FAILED)
		{
			table->map = NULL;
			parsed = kh_fail_system(error, errno, KH_E_OUT_OF_MEMORY, "could not map %s/%s", path, TABLE_NAME);
		}
	}
	close(fd);
	if (!parsed)
		return false;
	table->write_lock = (uint64_t *) (table->map + table->layout.write_lock);
	table->append_lock = (uint64_t *) (table->map + table->layout.append_lock);
	table->highest_cycle = (int64_t *) (table->map + table->layout.highest_cycle);
	table->lowest_cycle = (int64_t *) (table->map + table->layout.lowest_cycle);
	table->mod_count = (int64_t *) (table->map + table->layout.mod_count);
	return true;
}

void
kh_table_close(kh_table *table)
{
	if (table->map != NULL)
		munmap(table->map, table->map_bytes);
	table->map = NULL;
}

int64_t
kh_table_highest(const kh_table *table)
{
	int64_t highest = kh_load_acquire(table->highest_cycle);

	return highest < 0 || highest > INT32_MAX ? -1 : highest;
}

/*
 * Written under the lock, but read without it. modCount goes last: a reader that sees it changed lists the directory
 * again, and finds the file.
 */
void
kh_table_list(kh_table *table, int64_t cycle)
{
	bool changed = false;

	if (kh_load_relaxed(table->lowest_cycle) > cycle)
	{
		kh_store_release(table->lowest_cycle, cycle);
		changed = true;
	}
	if (kh_load_relaxed(table->highest_cycle) < cycle)
	{
		kh_store_release(table->highest_cycle, cycle);
		changed = true;
	}
	if (changed)
		__atomic_fetch_add(table->mod_count, 1, __ATOMIC_RELEASE);
}

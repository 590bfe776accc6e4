#include "queue_internal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each step costs about 35 us; larger ones would be felt by the request that takes it. */
#define RESERVE_STEP (64 * 1024)
#define PAGE_BYTES 4096

/* Headers of the largest geometry in use end far below. */
#define MIN_FILE_BYTES PAGE_BYTES

bool
kh_geometry_complete(kh_geometry *geometry)
{
	uint32_t count = geometry->index_count;
	uint32_t spacing = geometry->index_spacing;
	uint32_t shift;

	if (count < 8 || count > 1 << 20 || spacing < 1 || spacing > 1 << 20 || (count & (count - 1)) != 0 ||
	    (spacing & (spacing - 1)) != 0)
		return false;
	shift = (uint32_t) (2 * __builtin_ctz(count) + __builtin_ctz(spacing));
	geometry->shift = shift < 32 ? 32 : shift;
	return geometry->shift < 63;
}

static bool
malformed(kh_error *error, const char *what)
{
	return kh_fail(error, KH_E_DATA_CORRUPTED, "cycle file of the request queue: %s", what);
}

/* The array of a document that is one event with one array of capacity slots; its first slot. */
static bool
find_slots(const unsigned char *base, size_t bytes, uint64_t at, uint64_t capacity, uint64_t *slots)
{
	kh_wire_reader reader;
	kh_wire_value value;
	size_t end;
	bool meta;

	if (at % 4 != 0 || at > bytes || !kh_wire_document(base, bytes, at, &meta, &end) || !meta)
		return false;
	kh_wire_begin(&reader, base, at + 4, end);
	value = kh_wire_next(&reader);
	*slots = value.offset;
	return value.kind == KH_WIRE_ARRAY && value.count == capacity && value.offset % 8 == 0;
}

bool
kh_cycle_parse(const unsigned char *base, size_t bytes, kh_cycle_layout *layout, kh_error *error)
{
	kh_wire_reader reader;
	kh_wire_value value;
	int64_t format = 0;
	uint64_t index2index = 0;
	size_t end;
	bool meta;

	memset(layout, 0, sizeof(*layout));
	if (!kh_wire_document(base, bytes, 0, &meta, &end) || !meta)
		return malformed(error, "the header is not complete");
	kh_wire_begin(&reader, base, 4, end);
	while ((value = kh_wire_next(&reader)).kind != KH_WIRE_END)
	{
		bool word = value.kind == KH_WIRE_INTEGER && value.bytes == 8 && value.offset % 8 == 0;

		if (value.kind == KH_WIRE_MALFORMED)
			return malformed(error, "the header has an unknown encoding");
		if (value.kind == KH_WIRE_ARRAY && value.count >= 2 && kh_wire_is(&value, "writePosition"))
			layout->position = value.offset;
		else if (word && kh_wire_is(&value, "index2Index"))
			index2index = (uint64_t) value.number;
		else if (word && kh_wire_is(&value, "lastIndex"))
			layout->last_index = value.offset;
		else if (value.kind == KH_WIRE_INTEGER && kh_wire_is(&value, "indexCount"))
			layout->geometry.index_count = value.number > 0 && value.number <= INT32_MAX ? (uint32_t) value.number : 0;
		else if (value.kind == KH_WIRE_INTEGER && kh_wire_is(&value, "indexSpacing"))
			layout->geometry.index_spacing =
				value.number > 0 && value.number <= INT32_MAX ? (uint32_t) value.number : 0;
		else if (value.kind == KH_WIRE_INTEGER && kh_wire_is(&value, "dataFormat"))
			format = value.number;
	}
	if (format != 1)
		return malformed(error, "dataFormat is not 1");
	if (layout->position == 0 || layout->position % 8 != 0 || layout->last_index == 0)
		return malformed(error, "writePosition or lastIndex is missing");
	if (!kh_geometry_complete(&layout->geometry))
		return malformed(error, "indexCount or indexSpacing is missing or out of range");
	if (!find_slots(base, bytes, index2index, layout->geometry.index_count, &layout->index2index))
		return malformed(error, "index2index is missing");
	return true;
}

bool
kh_cycle_is_ready(int fd)
{
	uint32_t header = 0;
	ssize_t n;

	do
		n = pread(fd, &header, sizeof(header), 0);
	while (n < 0 && errno == EINTR);
	return n == sizeof(header) && header != 0 && (header & KH_WIRE_INCOMPLETE) == 0;
}

static int
allocate(int fd, uint64_t from, uint64_t to)
{
	int result;

	do
		result = fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t) from, (off_t) (to - from));
	while (result != 0 && errno == EINTR);
	return result == 0 ? 0 : errno;
}

bool
kh_cycle_map(kh_queue *queue, kh_cycle *cycle, int fd, int64_t number, kh_error *error)
{
	struct stat status;
	int failure;

	memset(cycle, 0, sizeof(*cycle));
	cycle->fd = fd;
	cycle->number = number;
	cycle->index2index_page = cycle->index_page = UINT64_MAX;
	if (fstat(fd, &status) != 0)
		return kh_fail_system(error, errno, KH_E_INTERNAL_ERROR, "could not look at a cycle file of \"%s\"",
		                      queue->path);
	if (status.st_size < MIN_FILE_BYTES)
		return malformed(error, "it is too short");
	cycle->file_bytes = (uint64_t) status.st_size;
	cycle->map = mmap(NULL, cycle->file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (cycle->map == MAP_FAILED)
	{
		cycle->map = NULL;
		return kh_fail_system(error, errno, KH_E_OUT_OF_MEMORY, "could not map a cycle file of \"%s\"", queue->path);
	}
	if ((failure = allocate(fd, 0, PAGE_BYTES)) != 0)
		return kh_fail_system(error, failure, KH_E_INTERNAL_ERROR, "could not reserve memory for request queue \"%s\"",
		                      queue->path);
	cycle->reserved_to = PAGE_BYTES;
	if (!kh_cycle_parse(cycle->map, cycle->file_bytes, &cycle->layout, error))
		return false;
	queue->geometry = cycle->layout.geometry;
	return true;
}

void
kh_cycle_close(kh_cycle *cycle)
{
	if (cycle->map != NULL)
		munmap(cycle->map, cycle->file_bytes);
	if (cycle->fd >= 0)
		close(cycle->fd);
	cycle->map = NULL;
	cycle->fd = -1;
}

/* Exclusive record lock on the whole file, or its release: what Java takes to change the length. */
static bool
lock_file(int fd, short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
	int result;

	do
		result = fcntl(fd, F_SETLKW, &lock);
	while (result != 0 && errno == EINTR);
	return result == 0;
}

/* The file's length afterwards, at least bytes; 0 and errno on failure. */
static uint64_t
enlarge_file(int fd, uint64_t bytes)
{
	struct stat status;
	uint64_t length = 0;
	int failure = 0;

	if (!lock_file(fd, F_WRLCK))
		return 0;
	if (fstat(fd, &status) != 0)
		failure = errno;
	else if ((uint64_t) status.st_size >= bytes)
		length = (uint64_t) status.st_size;
	else if (ftruncate(fd, (off_t) bytes) != 0)
		failure = errno;
	else
		length = bytes;
	(void) lock_file(fd, F_UNLCK);
	errno = failure;
	return length;
}

static bool
remap(const kh_queue *queue, kh_cycle *cycle, uint64_t length, kh_error *error)
{
	unsigned char *map = mremap(cycle->map, cycle->file_bytes, length, MREMAP_MAYMOVE);

	if (map == MAP_FAILED)
		return kh_fail_system(error, errno, KH_E_OUT_OF_MEMORY, "could not map a cycle file of \"%s\"", queue->path);
	cycle->map = map;
	cycle->file_bytes = length;
	return true;
}

bool
kh_cycle_refresh(const kh_queue *queue, kh_cycle *cycle, kh_error *error)
{
	struct stat status;

	if (fstat(cycle->fd, &status) != 0)
		return kh_fail_system(error, errno, KH_E_INTERNAL_ERROR, "could not look at a cycle file of \"%s\"",
		                      queue->path);
	return (uint64_t) status.st_size <= cycle->file_bytes || remap(queue, cycle, (uint64_t) status.st_size, error);
}

/* Readers map block k with its overlap, so the file always ends where such a mapping ends. */
static bool
grow(const kh_queue *queue, kh_cycle *cycle, uint64_t from, uint64_t to, kh_error *error)
{
	uint64_t wanted = (from / queue->block_bytes + 1) * queue->block_bytes + queue->overlap_bytes;
	uint64_t length = enlarge_file(cycle->fd, wanted > to ? wanted : to);

	if (length == 0)
		return kh_fail_system(error, errno, KH_E_INTERNAL_ERROR, "could not enlarge a cycle file of \"%s\"",
		                      queue->path);
	return remap(queue, cycle, length, error);
}

bool
kh_cycle_reserve(const kh_queue *queue, kh_cycle *cycle, uint64_t from, uint64_t to, kh_error *error)
{
	uint64_t first;
	uint64_t last;
	int failure;

	if (from >= cycle->reserved_from && to <= cycle->reserved_to)
		return true;
	if (to < from || to > INT64_MAX / 2)
		return malformed(error, "a position is out of range");
	if (to > cycle->file_bytes && !grow(queue, cycle, from, to, error))
		return false;
	/* Continue at the end of what we have, if from is in it. */
	first = from >= cycle->reserved_from && from <= cycle->reserved_to ? cycle->reserved_to
	                                                                   : from / PAGE_BYTES * PAGE_BYTES;
	last = (to + RESERVE_STEP - 1) / RESERVE_STEP * RESERVE_STEP;
	if (last > cycle->file_bytes)
		last = cycle->file_bytes;
	failure = allocate(cycle->fd, first, last);
	if (failure == ENOSPC && last > to)
	{
		/* Less may still fit. */
		last = to;
		failure = allocate(cycle->fd, first, last);
	}
	if (failure != 0)
		return kh_fail_system(error, failure, KH_E_INTERNAL_ERROR, "could not reserve memory for request queue \"%s\"",
		                      queue->path);
	if (first != cycle->reserved_to)
		cycle->reserved_from = first;
	cycle->reserved_to = last;
	return true;
}

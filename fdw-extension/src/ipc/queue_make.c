#include "queue_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Not a name of a cycle file. Makers hold the lock, so there is one at a time; a dead one's is removed. */
#define MAKING_NAME "cycle.making"

/* Head of a fresh file up to the first slot of index2index: far below a page for any geometry. */
#define MAX_HEAD_BYTES 1024

/* What differs between fresh files of two queues. */
typedef struct fresh_file
{
	unsigned char head[MAX_HEAD_BYTES];
	size_t head_bytes;
	unsigned char index[64]; /* the first index document, up to its slots */
	size_t index_bytes;
	uint64_t index_at;
	uint64_t first_message;
} fresh_file;

/* Patches a length that was not known when it was written: of [at + 4, end). */
static void
set_length(fresh_file *file, size_t at, size_t end, uint32_t bits)
{
	uint32_t word = (uint32_t) (end - at - 4) | bits;

	memcpy(file->head + at, &word, sizeof(word));
}

static size_t
begin_nested(fresh_file *file, kh_wire_writer *writer)
{
	static const unsigned char nested[5] = {KH_WIRE_CODE_NESTED};

	kh_wire_put_bytes(writer, nested, sizeof(nested));
	return (size_t) (writer->at - file->head) - 4;
}

/* Document "header" and the head of document "index2index"; returns where the latter's first slot is in head. */
static size_t
put_head(fresh_file *file, const kh_geometry *geometry)
{
	kh_wire_writer writer = {.at = file->head + 4, .position = 4};
	size_t store, indexing, index2index_at, end, document;

	kh_wire_put_event(&writer, "header");
	kh_wire_put_type(&writer, "SCQStore");
	store = begin_nested(file, &writer);
	kh_wire_put_name(&writer, "writePosition");
	kh_wire_put_aligned_code(&writer, KH_WIRE_CODE_ARRAY, 16);
	kh_wire_put_u64(&writer, 2);
	kh_wire_put_u64(&writer, 2);
	kh_wire_put_u64(&writer, 0);
	kh_wire_put_u64(&writer, 0);
	kh_wire_put_name(&writer, "indexing");
	kh_wire_put_type(&writer, "SCQSIndexing");
	indexing = begin_nested(file, &writer);
	kh_wire_put_name(&writer, "indexCount");
	kh_wire_put_number(&writer, geometry->index_count);
	kh_wire_put_name(&writer, "indexSpacing");
	kh_wire_put_number(&writer, geometry->index_spacing);
	kh_wire_put_name(&writer, "index2Index");
	kh_wire_put_aligned_code(&writer, KH_WIRE_CODE_INT64, 8);
	index2index_at = (size_t) writer.position;
	kh_wire_put_u64(&writer, 0);
	kh_wire_put_name(&writer, "lastIndex");
	kh_wire_put_aligned_code(&writer, KH_WIRE_CODE_INT64, 8);
	kh_wire_put_u64(&writer, 0);
	end = (size_t) writer.position;
	set_length(file, indexing, end, 0);
	kh_wire_put_name(&writer, "dataFormat");
	kh_wire_put_number(&writer, 1);
	end = (size_t) writer.position;
	set_length(file, store, end, 0);
	set_length(file, 0, end, KH_WIRE_META);

	document = (size_t) kh_wire_align4(end);
	memcpy(file->head + index2index_at, &(uint64_t){document}, sizeof(uint64_t));
	writer = (kh_wire_writer){.at = file->head + document + 4, .position = document + 4};
	kh_wire_put_event(&writer, "index2index");
	kh_wire_put_aligned_code(&writer, KH_WIRE_CODE_ARRAY, 8);
	kh_wire_put_u64(&writer, geometry->index_count);
	kh_wire_put_u64(&writer, 1);
	set_length(file, document, (size_t) writer.position + 8 * (size_t) geometry->index_count, KH_WIRE_META);
	return (size_t) writer.position;
}

static void
put_index(fresh_file *file, const kh_geometry *geometry)
{
	kh_wire_writer writer = {.at = file->index + 4, .position = file->index_at + 4};
	uint32_t header;

	kh_wire_put_event(&writer, "index");
	kh_wire_put_aligned_code(&writer, KH_WIRE_CODE_ARRAY, 8);
	kh_wire_put_u64(&writer, geometry->index_count);
	kh_wire_put_u64(&writer, 0);
	file->index_bytes = (size_t) (writer.position - file->index_at);
	file->first_message = writer.position + 8 * (uint64_t) geometry->index_count;
	header = (uint32_t) (file->first_message - file->index_at - 4) | KH_WIRE_META;
	memcpy(file->index, &header, sizeof(header));
}

static void
lay_out(fresh_file *file, const kh_geometry *geometry)
{
	size_t slots;

	memset(file, 0, sizeof(*file));
	slots = put_head(file, geometry);
	file->index_at = slots + 8 * (uint64_t) geometry->index_count;
	memcpy(file->head + slots, &file->index_at, sizeof(file->index_at));
	file->head_bytes = slots + 8;
	put_index(file, geometry);
}

static bool
write_at(int fd, const void *bytes, size_t n, uint64_t position)
{
	ssize_t written;

	do
		written = pwrite(fd, bytes, n, (off_t) position);
	while (written < 0 && errno == EINTR);
	if (written >= 0 && (size_t) written < n)
		errno = ENOSPC;
	return written == (ssize_t) n;
}

/* Nothing is visible yet, so the order does not matter. By write: what has no memory fails instead of SIGBUS. */
static bool
fill(const kh_queue *queue, int fd, const fresh_file *file)
{
	static const unsigned char zeros[KH_TAIL_ZEROS];

	return fchmod(fd, queue->table.mode) == 0 &&
	       ftruncate(fd, (off_t) (queue->block_bytes + queue->overlap_bytes)) == 0 &&
	       write_at(fd, file->head, file->head_bytes, 0) &&
	       write_at(fd, file->index, file->index_bytes, file->index_at) &&
	       write_at(fd, zeros, sizeof(zeros), file->first_message);
}

bool
kh_cycle_make(const kh_queue *queue, const char *name, kh_error *error)
{
	fresh_file file;
	int fd;
	int failure = 0;

	lay_out(&file, &queue->geometry);
	if (unlinkat(queue->directory, MAKING_NAME, 0) != 0 && errno != ENOENT)
		return kh_fail_system(error, errno, KH_E_INTERNAL_ERROR, "could not remove %s/%s", queue->path, MAKING_NAME);
	fd = openat(queue->directory, MAKING_NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return kh_fail_system(error, errno, KH_E_INTERNAL_ERROR, "could not create %s/%s", queue->path, MAKING_NAME);
	if (!fill(queue, fd, &file))
		failure = errno;
	else if (linkat(queue->directory, MAKING_NAME, queue->directory, name, 0) != 0 && errno != EEXIST)
		failure = errno;
	close(fd);
	(void) unlinkat(queue->directory, MAKING_NAME, 0); /* the next maker would */
	if (failure != 0)
		return kh_fail_system(error, failure, KH_E_INTERNAL_ERROR, "could not make %s/%s", queue->path, name);
	return true;
}

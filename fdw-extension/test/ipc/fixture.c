#include "fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TABLE_BYTES 0x20000

static unsigned char *base;

static void
put_text(kh_wire_writer *writer, const char *text)
{
	unsigned char code = (unsigned char) (0xE0 + strlen(text));

	kh_wire_put_bytes(writer, &code, 1);
	kh_wire_put_bytes(writer, text, strlen(text));
}

static size_t
begin_nested(kh_wire_writer *writer)
{
	static const unsigned char nested[5] = {KH_WIRE_CODE_NESTED};

	kh_wire_put_bytes(writer, nested, sizeof(nested));
	return (size_t) writer->position - 4;
}

static void
end_nested(const kh_wire_writer *writer, size_t at)
{
	uint32_t length = (uint32_t) (writer->position - at - 4);

	memcpy(base + at, &length, sizeof(length));
}

/* Pads the document to a multiple of 4 and writes its header. */
static void
end_document(kh_wire_writer *writer, size_t at, uint32_t bits)
{
	static const unsigned char padding = 0x8F;
	uint32_t header;

	while (writer->position % 4 != 0)
		kh_wire_put_bytes(writer, &padding, 1);
	header = (uint32_t) (writer->position - at - 4) | bits;
	memcpy(base + at, &header, sizeof(header));
}

static void
put_entry(kh_wire_writer *writer, const char *key, uint64_t value)
{
	size_t at = (size_t) writer->position;

	*writer = (kh_wire_writer){.at = base + at + 4, .position = at + 4};
	kh_wire_put_event(writer, key);
	kh_wire_put_aligned_code(writer, KH_WIRE_CODE_INT64, 8);
	kh_wire_put_u64(writer, value);
	end_document(writer, at, 0);
}

size_t
fixture_table(unsigned char *memory, const char *format, uint32_t roll_millis)
{
	kh_wire_writer writer = {.at = memory + 4, .position = 4};
	size_t store, metadata, roll;

	base = memory;
	kh_wire_put_event(&writer, "header");
	kh_wire_put_type(&writer, "STStore");
	store = begin_nested(&writer);
	kh_wire_put_name(&writer, "wireType");
	kh_wire_put_type(&writer, "WireType");
	put_text(&writer, "BINARY_LIGHT");
	kh_wire_put_name(&writer, "metadata");
	kh_wire_put_type(&writer, "SCQMeta");
	metadata = begin_nested(&writer);
	kh_wire_put_name(&writer, "roll");
	kh_wire_put_type(&writer, "SCQSRoll");
	roll = begin_nested(&writer);
	kh_wire_put_name(&writer, "length");
	kh_wire_put_number(&writer, roll_millis);
	kh_wire_put_name(&writer, "format");
	put_text(&writer, format);
	kh_wire_put_name(&writer, "epoch");
	kh_wire_put_number(&writer, 0);
	end_nested(&writer, roll);
	kh_wire_put_name(&writer, "sourceId");
	kh_wire_put_number(&writer, 0);
	end_nested(&writer, metadata);
	end_nested(&writer, store);
	end_document(&writer, 0, KH_WIRE_META);
	put_entry(&writer, "listing.highestCycle", (uint64_t) (int64_t) INT32_MIN);
	put_entry(&writer, "listing.lowestCycle", INT32_MAX);
	put_entry(&writer, "listing.modCount", 0);
	put_entry(&writer, "chronicle.write.lock", KH_LOCK_FREE);
	put_entry(&writer, "chronicle.append.lock", KH_LOCK_FREE);
	put_entry(&writer, "chronicle.lastIndexReplicated", UINT64_MAX);
	return (size_t) writer.position;
}

void
fixture_make(const char *directory, const char *format, uint32_t roll_millis)
{
	unsigned char *table = aligned_alloc(8, 4096);
	char path[512];
	FILE *file;
	size_t bytes;

	CHECK(mkdir(directory, 0700) == 0);
	memset(table, 0, 4096);
	bytes = fixture_table(table, format, roll_millis);
	snprintf(path, sizeof(path), "%s/metadata.cq4t", directory);
	file = fopen(path, "wb");
	CHECK(file != NULL);
	CHECK(fwrite(table, 1, bytes, file) == bytes);
	CHECK(fflush(file) == 0 && ftruncate(fileno(file), TABLE_BYTES) == 0);
	fclose(file);
	free(table);
}

const char *
fixture_directory(void)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/queue", test_directory());
	return path;
}

kh_queue *
fixture_open(const char *directory)
{
	kh_error error;
	kh_queue *queue = kh_queue_open(directory, FIXTURE_BLOCK, &error);

	if (queue == NULL)
		test_fail(__FILE__, __LINE__, "%s", error.message);
	return queue;
}

kh_queue *
fixture_queue(void)
{
	return fixture_queue_in(fixture_directory());
}

kh_queue *
fixture_queue_in(const char *directory)
{
	kh_queue *queue;

	fixture_make(directory, "yyyyMMdd-HHmmss'T4'", 1000);
	queue = fixture_open(directory);
	/* Ahead of the clock, so that only fixture_advance rolls. */
	CHECK(kh_lock_take(queue, NULL));
	CHECK(kh_roll(queue, (int64_t) time(NULL) + 3600, NULL));
	kh_lock_release(queue);
	return queue;
}

void
fixture_advance(kh_queue *queue, int64_t n)
{
	int64_t highest = kh_table_highest(&queue->table);
	char name[KH_NAME_CAPACITY];

	/* The file of that cycle must exist, as a listed one does. */
	CHECK(highest >= 0 && kh_lock_take(queue, NULL));
	CHECK(kh_roll(queue, highest + n, NULL));
	kh_lock_release(queue);
	CHECK(kh_cycle_name(&queue->table.layout, highest + n, name, sizeof(name)));
}

/* One cycle file in memory of ours. */
typedef struct cycle_image
{
	unsigned char *bytes;
	size_t size;
	kh_cycle_layout layout;
} cycle_image;

static uint64_t
word_at(const cycle_image *image, uint64_t position)
{
	CHECK(position % 8 == 0 && position <= image->size - 8);
	return *(const uint64_t *) (image->bytes + position);
}

static void
load(cycle_image *image, const char *directory, const char *name)
{
	char path[600];
	struct stat status;
	kh_error error;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0 && fstat(fd, &status) == 0);
	image->size = (size_t) status.st_size;
	image->bytes = aligned_alloc(4096, (image->size + 4095) / 4096 * 4096);
	CHECK(read(fd, image->bytes, image->size) == (ssize_t) image->size);
	close(fd);
	if (!kh_cycle_parse(image->bytes, image->size, &image->layout, &error))
		test_fail(__FILE__, __LINE__, "%s: %s", name, error.message);
}

/* If there is an entry for this message, it leads to it. */
static void
check_index(const cycle_image *image, int64_t sequence, uint64_t position)
{
	uint64_t count = image->layout.geometry.index_count;
	uint64_t entry = (uint64_t) sequence / image->layout.geometry.index_spacing;
	uint64_t document;
	kh_wire_reader reader;
	kh_wire_value value;
	bool meta;
	size_t end;

	if ((uint64_t) sequence % image->layout.geometry.index_spacing != 0)
		return;
	document = word_at(image, image->layout.index2index + 8 * (entry / count));
	if (document == 0)
		return;
	CHECK(kh_wire_document(image->bytes, image->size, document, &meta, &end) && meta);
	kh_wire_begin(&reader, image->bytes, document + 4, end);
	value = kh_wire_next(&reader);
	CHECK(value.kind == KH_WIRE_ARRAY && kh_wire_is(&value, "index"));
	CHECK_EQUAL(count, value.count);
	if (word_at(image, value.offset + 8 * (entry % count)) != 0)
		CHECK_EQUAL(position, word_at(image, value.offset + 8 * (entry % count)));
}

static long
read_image(const cycle_image *image, bool last, fixture_visitor visit, void *context)
{
	uint64_t at = 0;
	uint64_t last_position = 0;
	int64_t sequence = -1;
	uint32_t header;

	for (;; at = kh_wire_align4(at + 4 + (header & KH_WIRE_LENGTH_MASK)))
	{
		CHECK(at <= image->size - 4);
		header = *(const uint32_t *) (image->bytes + at);
		if (header == 0 || header == KH_WIRE_EOF)
			break;
		CHECK((header & KH_WIRE_INCOMPLETE) == 0);
		if ((header & KH_WIRE_META) != 0)
			continue;
		sequence++;
		last_position = at;
		check_index(image, sequence, at);
		visit(context, image->bytes + at + 4, header & KH_WIRE_LENGTH_MASK);
	}
	if (!last)
		CHECK(header == KH_WIRE_EOF);
	CHECK_EQUAL(last_position, word_at(image, image->layout.position));
	if (sequence >= 0)
		CHECK_EQUAL(last_position << image->layout.geometry.shift | (uint64_t) sequence,
		            word_at(image, image->layout.position + 8));
	return (long) (sequence + 1);
}

static int
is_cycle(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 4 && strcmp(entry->d_name + n - 4, ".cq4") == 0;
}

long
fixture_read(const char *directory, fixture_visitor visit, void *context)
{
	struct dirent **names;
	int count = scandir(directory, &names, is_cycle, alphasort);
	long messages = 0;

	CHECK(count >= 0);
	for (int i = 0; i < count; i++)
	{
		cycle_image image;

		load(&image, directory, names[i]->d_name);
		messages += read_image(&image, i + 1 == count, visit, context);
		free(image.bytes);
		free(names[i]);
	}
	free(names);
	return messages;
}

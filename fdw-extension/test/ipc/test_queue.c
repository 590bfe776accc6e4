#include "fixture.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Message number i: its number, then bytes that follow from it. */
static uint32_t
fill(unsigned char *message, uint64_t i, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes; at++)
		message[at] = (unsigned char) (i * 31 + at);
	if (bytes >= 8)
		memcpy(message, &i, 8);
	return bytes;
}

static unsigned char message[FIXTURE_BLOCK];
static kh_error error;

static void
append(kh_queue *queue, uint64_t i, uint32_t bytes)
{
	if (!kh_queue_append(queue, message, fill(message, i, bytes), &error))
		test_fail(__FILE__, __LINE__, "append %llu: %s", (unsigned long long) i, error.message);
}

static uint32_t
size_of(uint64_t i)
{
	return (uint32_t) (i * 7919 % 3000) + 1;
}

typedef struct expectation
{
	uint64_t next;
	uint32_t (*size)(uint64_t i);
} expectation;

static void
expect(void *context, const unsigned char *found, uint32_t bytes)
{
	expectation *expected = context;
	unsigned char wanted[FIXTURE_BLOCK];

	CHECK_EQUAL(expected->size(expected->next), bytes);
	fill(wanted, expected->next, bytes);
	CHECK(memcmp(wanted, found, bytes) == 0);
	expected->next++;
}

static void
check_messages(uint64_t count, uint32_t (*size)(uint64_t i))
{
	expectation expected = {.size = size};

	CHECK_EQUAL(count, fixture_read(fixture_directory(), expect, &expected));
}

static void
should_read_back_messages_of_all_lengths_in_order(void)
{
	kh_queue *queue = fixture_queue();

	for (uint64_t i = 0; i < 500; i++)
		append(queue, i, size_of(i));
	kh_queue_close(queue);
	check_messages(500, size_of);
}

static uint32_t
longest(uint64_t i)
{
	(void) i;
	return FIXTURE_BLOCK - 64;
}

static void
should_accept_the_longest_message_and_refuse_longer_ones(void)
{
	kh_queue *queue = fixture_queue();

	CHECK_EQUAL(FIXTURE_BLOCK - 64, kh_queue_max_message_bytes(queue));
	for (uint64_t i = 0; i < 5; i++)
		append(queue, i, longest(i));
	CHECK(!kh_queue_append(queue, message, longest(0) + 1, &error));
	CHECK_TEXT("54000", error.sqlstate);
	CHECK(!kh_queue_append(queue, message, 0, &error));
	kh_queue_close(queue);
	check_messages(5, longest);
}

static uint64_t
u64_at(const char *directory, const kh_queue *queue, uint64_t position)
{
	char name[KH_NAME_CAPACITY];
	char path[600];
	uint64_t word;
	FILE *file;

	CHECK(kh_cycle_name(&queue->table.layout, queue->open.number, name, sizeof(name)));
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "rb");
	CHECK(file != NULL);
	CHECK(fseek(file, (long) position, SEEK_SET) == 0 && fread(&word, 8, 1, file) == 1);
	fclose(file);
	return word;
}

/* Offsets of a fresh FAST_HOURLY file as the library writes it. */
static void
should_lay_out_a_cycle_file_as_the_library_does(void)
{
	const char *directory = fixture_directory();
	kh_queue *queue;

	fixture_make(directory, "yyyyMMdd-HH'F'", 3600000);
	queue = kh_queue_open(directory, 2 * FIXTURE_BLOCK, &error);
	CHECK(queue != NULL);
	append(queue, 0, 8);
	CHECK_EQUAL(0x6806b9400000c1, u64_at(directory, queue, 0) & 0xFFFFFFFFFFFFFF);
	CHECK_EQUAL(2, u64_at(directory, queue, 0x30));
	CHECK_EQUAL(2, u64_at(directory, queue, 0x38));
	CHECK_EQUAL(0x10110, u64_at(directory, queue, 0x40));
	CHECK_EQUAL(UINT64_C(0x10110) << 32, u64_at(directory, queue, 0x48));
	CHECK_EQUAL(0xc8, u64_at(directory, queue, 0x98));
	CHECK_EQUAL(0x100, u64_at(directory, queue, 0xb0));
	CHECK_EQUAL(0x40008024, u64_at(directory, queue, 0xc8) & UINT32_MAX);
	CHECK_EQUAL(0x1000, u64_at(directory, queue, 0xe0));
	CHECK_EQUAL(1, u64_at(directory, queue, 0xe8));
	CHECK_EQUAL(0x80f0, u64_at(directory, queue, 0xf0));
	CHECK_EQUAL(0x4000801c, u64_at(directory, queue, 0x80f0) & UINT32_MAX);
	CHECK_EQUAL(0x1000, u64_at(directory, queue, 0x8100));
	CHECK_EQUAL(1, u64_at(directory, queue, 0x8108));
	CHECK_EQUAL(0x10110, u64_at(directory, queue, 0x8110));
	CHECK_EQUAL(8, u64_at(directory, queue, 0x10110) & UINT32_MAX);
	kh_queue_close(queue);
}

static void
should_place_messages_after_small_indexes(void)
{
	kh_queue *queue = fixture_queue();

	append(queue, 0, 8);
	CHECK_EQUAL(0x310, u64_at(fixture_directory(), queue, 0x40));
	kh_queue_close(queue);
}

static void
should_grow_the_file_by_blocks_with_overlap(void)
{
	kh_queue *queue = fixture_queue();
	struct stat status;

	append(queue, 0, 8);
	CHECK_EQUAL(2 * FIXTURE_BLOCK, queue->open.file_bytes);
	for (uint64_t i = 0; i < 10; i++)
		append(queue, i, longest(i));
	CHECK(fstat(queue->open.fd, &status) == 0);
	CHECK_EQUAL(0, status.st_size % FIXTURE_BLOCK);
	CHECK(status.st_size >= 11 * FIXTURE_BLOCK && status.st_size <= 12 * FIXTURE_BLOCK);
	kh_queue_close(queue);
}

static void
should_enter_every_spacing_th_message_into_the_index(void)
{
	kh_queue *queue = fixture_queue();

	/* 32 slots of 4 messages per index document: the third document begins at message 256. */
	for (uint64_t i = 0; i < 300; i++)
		append(queue, i, size_of(i));
	CHECK_EQUAL(300, u64_at(fixture_directory(), queue, queue->open.layout.last_index));
	CHECK(u64_at(fixture_directory(), queue, queue->open.layout.index2index + 16) != 0);
	CHECK_EQUAL(3, u64_at(fixture_directory(), queue, queue->open.layout.index2index - 8));
	kh_queue_close(queue);
	check_messages(300, size_of);
}

static void
should_interleave_appenders_of_one_queue(void)
{
	kh_queue *one = fixture_queue();
	kh_queue *two = fixture_open(fixture_directory());

	for (uint64_t i = 0; i < 200; i++)
		append(i % 3 == 0 ? one : two, i, size_of(i));
	kh_queue_close(one);
	kh_queue_close(two);
	check_messages(200, size_of);
}

static void
should_roll_with_eof_and_listing(void)
{
	kh_queue *queue = fixture_queue();
	int64_t mod_count;
	int64_t first;

	append(queue, 0, size_of(0));
	first = queue->open.number;
	CHECK_EQUAL(first, kh_load_relaxed(queue->table.lowest_cycle));
	mod_count = kh_load_relaxed(queue->table.mod_count);
	for (uint64_t i = 1; i < 20; i++)
	{
		fixture_advance(queue, i % 4 == 0 ? 3 : 1);
		append(queue, i, size_of(i));
	}
	CHECK_EQUAL(first, kh_load_relaxed(queue->table.lowest_cycle));
	CHECK(kh_table_highest(&queue->table) >= first + 19 + 8);
	CHECK(kh_load_relaxed(queue->table.mod_count) >= mod_count + 19);
	kh_queue_close(queue);
	check_messages(20, size_of);
}

static void
should_follow_another_appender_over_rolls(void)
{
	kh_queue *one = fixture_queue();
	kh_queue *two = fixture_open(fixture_directory());

	for (uint64_t i = 0; i < 40; i++)
	{
		append(i % 2 == 0 ? one : two, i, size_of(i));
		if (i % 5 == 0)
			fixture_advance(i % 2 == 0 ? two : one, 1);
	}
	kh_queue_close(one);
	kh_queue_close(two);
	check_messages(40, size_of);
}

static void
should_not_follow_a_clock_that_is_set_back(void)
{
	kh_queue *queue = fixture_queue();

	append(queue, 0, size_of(0));
	fixture_advance(queue, 3600);
	append(queue, 1, size_of(1));
	CHECK_EQUAL(kh_table_highest(&queue->table), queue->open.number);
	kh_queue_close(queue);
	queue = fixture_open(fixture_directory());
	append(queue, 2, size_of(2));
	kh_queue_close(queue);
	check_messages(3, size_of);
}

static void
should_go_on_in_a_new_file_when_the_reader_has_removed_old_ones(void)
{
	kh_queue *queue = fixture_queue();
	char name[KH_NAME_CAPACITY];
	char path[600];

	append(queue, 0, 100);
	CHECK(kh_cycle_name(&queue->table.layout, queue->open.number, name, sizeof(name)));
	snprintf(path, sizeof(path), "%s/%s", fixture_directory(), name);
	kh_queue_close(queue);
	queue = fixture_open(fixture_directory());
	fixture_advance(queue, 1);
	CHECK(unlink(path) == 0);
	append(queue, 0, size_of(0));
	kh_queue_close(queue);
	check_messages(1, size_of);
}

static void
should_name_files_after_their_time(void)
{
	kh_table_layout layout = {.roll_millis = 60000};
	char name[KH_NAME_CAPACITY];

	strcpy(layout.format, "yyyyMMdd-HHmm");
	CHECK(kh_cycle_name(&layout, 29927519, name, sizeof(name)));
	CHECK_TEXT("20261125-2359.cq4", name);
	strcpy(layout.format, "yyyyMMdd-HHmmss'T4'");
	layout.roll_millis = 1000;
	CHECK(kh_cycle_name(&layout, 951782400, name, sizeof(name)));
	CHECK_TEXT("20000229-000000T4.cq4", name);
	strcpy(layout.format, "yyyy/MM");
	CHECK(!kh_cycle_name(&layout, 1, name, sizeof(name)));
	strcpy(layout.format, "YYYYwww");
	CHECK(!kh_cycle_name(&layout, 1, name, sizeof(name)));
	strcpy(layout.format, "yyyy'open");
	CHECK(!kh_cycle_name(&layout, 1, name, sizeof(name)));
	strcpy(layout.format, "yyyyMMdd");
	layout.roll_millis = 86400000;
	CHECK(!kh_cycle_name(&layout, INT32_MAX, name, sizeof(name)));
}

static void
should_refuse_tables_that_are_not_ready_or_unknown(void)
{
	kh_queue *queue;
	char path[600];

	fixture_make(fixture_directory(), "yyyyMMdd-HHmm'Q'", 60000);
	queue = fixture_open(fixture_directory());
	CHECK(!kh_queue_append(queue, "x", 1, &error));
	CHECK_TEXT("08P01", error.sqlstate);
	CHECK_EQUAL(KH_LOCK_FREE, kh_load_relaxed(queue->table.write_lock));
	kh_queue_close(queue);
	snprintf(path, sizeof(path), "%s/metadata.cq4t", fixture_directory());
	CHECK(truncate(path, 0) == 0 && truncate(path, 4096) == 0);
	CHECK(kh_queue_open(fixture_directory(), FIXTURE_BLOCK, &error) == NULL);
	CHECK_TEXT("08001", error.sqlstate);
	CHECK(kh_queue_open("/nonexistent", FIXTURE_BLOCK, &error) == NULL);
	CHECK_TEXT("08001", error.sqlstate);
}

static void
should_refuse_while_appends_are_locked(void)
{
	kh_queue *queue = fixture_queue();

	kh_store_release(queue->table.append_lock, 4711);
	CHECK(!kh_queue_append(queue, "x", 1, &error));
	CHECK_TEXT("55P03", error.sqlstate);
	kh_store_release(queue->table.append_lock, KH_LOCK_FREE);
	append(queue, 0, size_of(0));
	kh_queue_close(queue);
}

static void
should_give_cycle_files_the_mode_of_the_table(void)
{
	kh_queue *queue = fixture_queue();
	struct stat status;
	char path[600];

	kh_queue_close(queue);
	snprintf(path, sizeof(path), "%s/metadata.cq4t", fixture_directory());
	CHECK(chmod(path, 0640) == 0);
	queue = fixture_open(fixture_directory());
	fixture_advance(queue, 1);
	append(queue, 0, size_of(0));
	CHECK(fstat(queue->open.fd, &status) == 0);
	CHECK_EQUAL(0640, status.st_mode & 0777);
	kh_queue_close(queue);
}

const test_case queue_tests[] = {
	TEST(should_read_back_messages_of_all_lengths_in_order),
	TEST(should_accept_the_longest_message_and_refuse_longer_ones),
	TEST(should_lay_out_a_cycle_file_as_the_library_does),
	TEST(should_place_messages_after_small_indexes),
	TEST(should_grow_the_file_by_blocks_with_overlap),
	TEST(should_enter_every_spacing_th_message_into_the_index),
	TEST(should_interleave_appenders_of_one_queue),
	TEST(should_roll_with_eof_and_listing),
	TEST(should_follow_another_appender_over_rolls),
	TEST(should_not_follow_a_clock_that_is_set_back),
	TEST(should_go_on_in_a_new_file_when_the_reader_has_removed_old_ones),
	TEST(should_name_files_after_their_time),
	TEST(should_refuse_tables_that_are_not_ready_or_unknown),
	TEST(should_refuse_while_appends_are_locked),
	TEST(should_give_cycle_files_the_mode_of_the_table),
	{0},
};

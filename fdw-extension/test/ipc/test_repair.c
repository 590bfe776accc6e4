/*
 * States that a killed appender can leave behind, made by hand one by one; the next append must deliver the orphaned
 * message (if its header was set), number everything right, and go on.
 */
#include "fixture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static kh_error error;

static void
append(kh_queue *queue, uint64_t i)
{
	if (!kh_queue_append(queue, &i, sizeof(i), &error))
		test_fail(__FILE__, __LINE__, "append %llu: %s", (unsigned long long) i, error.message);
}

static void
expect_next(void *context, const unsigned char *message, uint32_t bytes)
{
	uint64_t *next = context;
	uint64_t found;

	CHECK_EQUAL(8, bytes);
	memcpy(&found, message, 8);
	CHECK_EQUAL(*next, found);
	(*next)++;
}

static void
check_messages(uint64_t count)
{
	uint64_t next = 0;

	CHECK_EQUAL(count, fixture_read(fixture_directory(), expect_next, &next));
}

/* A queue in a cycle that the clock will not leave during the test, with n messages. */
static kh_queue *
queue_with(uint64_t n)
{
	kh_queue *queue;

	fixture_make(fixture_directory(), "yyyyMMdd-HHmm'H'", 1800000);
	queue = fixture_open(fixture_directory());
	for (uint64_t i = 0; i < n; i++)
		append(queue, i);
	return queue;
}

/* The position of the next message. */
static uint64_t
tail_of(kh_queue *queue)
{
	kh_tail tail;

	CHECK(kh_tail_find(queue, &queue->open, &tail, &error));
	return tail.position;
}

static void
orphan(kh_queue *queue, uint64_t i)
{
	uint64_t at = tail_of(queue);

	CHECK(kh_cycle_reserve(queue, &queue->open, at, at + 64, &error));
	memcpy(queue->open.map + at + 4, &i, 8);
	memset(queue->open.map + at + 12, 0, 8);
	*kh_cycle_header(&queue->open, at) = 8;
}

static void
should_deliver_a_message_whose_position_was_not_published(void)
{
	kh_queue *queue = queue_with(2);

	orphan(queue, 2);
	append(queue, 3);
	orphan(queue, 4);
	orphan(queue, 5);
	append(queue, 6);
	kh_queue_close(queue);
	check_messages(7);
}

static void
should_deliver_the_first_message_of_a_file_when_its_position_was_not_published(void)
{
	kh_queue *queue = queue_with(1);

	fixture_advance(queue, 1);
	orphan(queue, 1);
	append(queue, 2);
	kh_queue_close(queue);
	check_messages(3);
}

static void
should_deliver_a_message_whose_sequence_was_not_published(void)
{
	kh_queue *queue = queue_with(3);
	uint64_t at = tail_of(queue);

	orphan(queue, 3);
	*kh_cycle_word(&queue->open, queue->open.layout.position) = at;
	append(queue, 4);
	kh_queue_close(queue);
	check_messages(5);
}

static void
should_number_the_first_message_when_its_sequence_was_not_published(void)
{
	kh_queue *queue = queue_with(0);
	uint64_t at;

	append(queue, 0);
	at = *kh_cycle_word(&queue->open, queue->open.layout.position);
	CHECK(at != 0);
	*kh_cycle_word(&queue->open, queue->open.layout.position + 8) = 0;
	append(queue, 1);
	kh_queue_close(queue);
	check_messages(2);
}

static void
should_write_over_bytes_without_a_header(void)
{
	kh_queue *queue = queue_with(2);
	uint64_t at = tail_of(queue);

	CHECK(kh_cycle_reserve(queue, &queue->open, at, at + 4096, &error));
	memset(queue->open.map + at + 4, 0xFF, 4000);
	append(queue, 2);
	append(queue, 3);
	kh_queue_close(queue);
	check_messages(4);
}

static void
should_write_over_a_header_that_is_not_complete(void)
{
	kh_queue *queue = queue_with(2);

	*kh_cycle_header(&queue->open, tail_of(queue)) = KH_WIRE_INCOMPLETE | 100;
	append(queue, 2);
	kh_queue_close(queue);
	check_messages(3);
}

static void
should_terminate_files_that_were_made_but_not_listed(void)
{
	kh_queue *queue = queue_with(1);
	int64_t first = queue->open.number;
	char name[KH_NAME_CAPACITY];

	/* A maker of cycle first + 2 died before it listed it. */
	CHECK(kh_cycle_name(&queue->table.layout, first + 2, name, sizeof(name)));
	CHECK(kh_tail_terminate(queue, &queue->open, &error));
	CHECK(kh_cycle_make(queue, name, &error));
	CHECK(kh_lock_take(queue, &error));
	CHECK(kh_roll(queue, first + 5, &error));
	kh_lock_release(queue);
	append(queue, 1);
	kh_queue_close(queue);
	check_messages(2); /* checks the EOF of each file but the last */
}

static void
should_use_a_file_that_was_made_but_not_listed(void)
{
	kh_queue *queue = queue_with(1);
	int64_t next = queue->open.number + 1;
	char name[KH_NAME_CAPACITY];

	CHECK(kh_cycle_name(&queue->table.layout, next, name, sizeof(name)));
	CHECK(kh_tail_terminate(queue, &queue->open, &error));
	CHECK(kh_cycle_make(queue, name, &error));
	CHECK(kh_lock_take(queue, &error));
	CHECK(kh_roll(queue, next, &error));
	kh_lock_release(queue);
	CHECK_EQUAL(next, kh_table_highest(&queue->table));
	append(queue, 1);
	kh_queue_close(queue);
	check_messages(2);
}

static void
should_set_aside_a_file_without_a_complete_header(void)
{
	kh_queue *queue = queue_with(1);
	int64_t next = queue->open.number + 1;
	char name[KH_NAME_CAPACITY];
	char path[600];
	static const uint32_t header = KH_WIRE_INCOMPLETE;
	int fd;

	CHECK(kh_cycle_name(&queue->table.layout, next, name, sizeof(name)));
	snprintf(path, sizeof(path), "%s/%s", fixture_directory(), name);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && write(fd, &header, 4) == 4 && ftruncate(fd, 2 * FIXTURE_BLOCK) == 0);
	close(fd);
	CHECK(kh_lock_take(queue, &error));
	CHECK(kh_roll(queue, next, &error));
	kh_lock_release(queue);
	append(queue, 1);
	kh_queue_close(queue);
	check_messages(2);
}

static void
should_remove_what_a_dead_maker_left(void)
{
	kh_queue *queue = queue_with(1);
	char path[600];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cycle.making", fixture_directory());
	file = fopen(path, "wb");
	CHECK(file != NULL && fputs("half", file) >= 0);
	fclose(file);
	fixture_advance(queue, 1);
	append(queue, 1);
	kh_queue_close(queue);
	CHECK(access(path, F_OK) != 0);
	check_messages(2);
}

static void
should_report_a_chain_of_headers_that_leaves_the_file(void)
{
	kh_queue *queue = queue_with(2);

	*kh_cycle_header(&queue->open, tail_of(queue)) = KH_WIRE_LENGTH_MASK & ~3u;
	CHECK(!kh_queue_append(queue, "x", 1, &error));
	CHECK_TEXT("XX001", error.sqlstate);
	CHECK_EQUAL(KH_LOCK_FREE, kh_load_relaxed(queue->table.write_lock));
	kh_queue_close(queue);
}

const test_case repair_tests[] = {
	TEST(should_deliver_a_message_whose_position_was_not_published),
	TEST(should_deliver_the_first_message_of_a_file_when_its_position_was_not_published),
	TEST(should_deliver_a_message_whose_sequence_was_not_published),
	TEST(should_number_the_first_message_when_its_sequence_was_not_published),
	TEST(should_write_over_bytes_without_a_header),
	TEST(should_write_over_a_header_that_is_not_complete),
	TEST(should_terminate_files_that_were_made_but_not_listed),
	TEST(should_use_a_file_that_was_made_but_not_listed),
	TEST(should_set_aside_a_file_without_a_complete_header),
	TEST(should_remove_what_a_dead_maker_left),
	TEST(should_report_a_chain_of_headers_that_leaves_the_file),
	{0},
};

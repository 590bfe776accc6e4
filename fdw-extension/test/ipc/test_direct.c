#include "platform.h"

#include "fixture_store.h"
#include "numeric.h"
#include "test.h"

#include <stdlib.h>

#define MOST_LETTERS 300
#define IN_FLIGHT (UINT64_C(1) << 63)
#define TOMBSTONE (UINT64_C(1) << 62)
#define SLOT_BITS 16

static kh_session *session;
static kh_direct *read;
static kh_batch row;

static void
begin(void)
{
	session = fixture_store();
	kh_direct_free(read);
	read = fixture_store_ticket();
	CHECK(read != NULL);
}

static void
should_find_each_row_and_no_other(void)
{
	int found = 0;

	begin();
	for (int64_t id = -3; id < FIXTURE_STORE_ROWS + 3; id++)
	{
		kh_direct_answer answer = fixture_store_read(read, id, &row);
		const unsigned char *text;
		int64_t a;
		int64_t n;
		uint32_t header;

		CHECK(answer == KH_DIRECT_ROW || answer == KH_DIRECT_NO_ROW);
		if (answer == KH_DIRECT_NO_ROW)
			continue;
		found++;
		CHECK(id >= 0 && id < FIXTURE_STORE_ROWS);
		CHECK_EQUAL(id, kh_batch_word(&row, 0, 0));
		a = (int64_t) kh_batch_word(&row, 0, 1);
		CHECK_EQUAL(~a, kh_batch_word(&row, 0, 2));
		text = kh_batch_value(&row, kh_batch_word(&row, 0, 3), 0);
		memcpy(&header, text, sizeof(header));
		CHECK_EQUAL(a % MOST_LETTERS, (header >> 2) - sizeof(header));
		for (uint32_t i = sizeof(header); i < header >> 2; i++)
			CHECK_EQUAL('A' + a % 26, text[i]);
		CHECK(kh_batch_value(&row, kh_batch_word(&row, 0, 4), 16) != NULL);
		text = kh_batch_value(&row, kh_batch_word(&row, 0, 5), 0);
		memcpy(&header, text, sizeof(header));
		CHECK(read_numeric(text + sizeof(header), (header >> 2) - sizeof(header), 3, &n));
		CHECK_EQUAL(a % INT64_C(1000000000000) - INT64_C(500000000000), n);
	}
	CHECK(found > FIXTURE_STORE_ROWS / 2 && found < FIXTURE_STORE_ROWS);
}

/* An id that is there. */
static int64_t
present(void)
{
	int64_t id = 0;

	begin();
	while (fixture_store_read(read, id, &row) != KH_DIRECT_ROW)
		id++;
	CHECK(id < FIXTURE_STORE_ROWS);
	return id;
}

#define ANSWERS(answer, change)                                                                                        \
	do                                                                                                                 \
	{                                                                                                                  \
		int64_t id_ = present();                                                                                       \
                                                                                                                       \
		change;                                                                                                        \
		CHECK_EQUAL(answer, fixture_store_read(read, id_, &row));                                                      \
	} while (0)

static void
should_not_use_a_ticket_of_something_else(void)
{
	ANSWERS(KH_DIRECT_STALE, fixture_store_head()->definitions++);
	ANSWERS(KH_DIRECT_STALE, fixture_store_table(read)->generation += 2);
	ANSWERS(KH_DIRECT_STALE, fixture_store_tree(read)->generation++);
	ANSWERS(KH_DIRECT_STALE, fixture_store_head()->magic = 0);
}

static void
should_ask_while_somebody_changes_what_it_reads(void)
{
	ANSWERS(KH_DIRECT_ASK, fixture_store_table(read)->version++);
	ANSWERS(KH_DIRECT_ASK, fixture_store_at(fixture_store_tree(read)->root)[0] |= 1);
	ANSWERS(KH_DIRECT_ASK, fixture_store_at(fixture_store_page(read) + KH_STORE_PAGE_VERSION_OFFSET)[0] |= 1);
}

/* What is not durable may be lost, so it is nobody's answer yet. */
static void
should_ask_for_what_is_not_durable(void)
{
	ANSWERS(KH_DIRECT_ASK, fixture_store_head()->durable = 1);
	ANSWERS(KH_DIRECT_ASK, fixture_store_head()->common = UINT64_MAX / 4);
}

static uint64_t *
stamp_of(uint64_t slot)
{
	return (uint64_t *) (void *) fixture_store_at(
		fixture_store_word(fixture_store_page(read) + KH_STORE_PAGE_STAMPS_OFFSET) + 8 * slot);
}

static void
should_judge_the_newest_version(void)
{
	uint64_t all = FIXTURE_STORE_ROWS;

	/* The row's slot is not the id's where it was inserted again: all of them change. */
	ANSWERS(KH_DIRECT_ASK, for (uint64_t i = 0; i < all; i++) * stamp_of(i) |= IN_FLIGHT);
	ANSWERS(KH_DIRECT_NO_ROW, for (uint64_t i = 0; i < all; i++) * stamp_of(i) |= TOMBSTONE);
}

static void
should_not_follow_what_leads_outside(void)
{
	static const uint64_t nowhere[] = {0, 1, 8, UINT64_MAX, UINT64_MAX - 7, UINT64_C(1) << 40};

	for (size_t i = 0; i < sizeof(nowhere) / sizeof(*nowhere); i++)
	{
		uint64_t address = nowhere[i];

		ANSWERS(KH_DIRECT_ASK, fixture_store_tree(read)->root = address);
		ANSWERS(KH_DIRECT_ASK, fixture_store_table(read)->parts = address);
		ANSWERS(KH_DIRECT_ASK, memcpy(fixture_store_at(fixture_store_page(read) + KH_STORE_PAGE_STAMPS_OFFSET),
		                              &address, sizeof(address)));
	}
}

/* Parameters for some ids; NULL: one row, of null. */
static kh_batch
keys_of(kh_batch_writer *writer, const int64_t *ids, uint32_t count)
{
	kh_batch keys;
	kh_error error;

	CHECK(kh_batch_writer_init(writer, 1, count, 65536, &error));
	for (uint32_t i = 0; i < count; i++)
	{
		CHECK(kh_batch_writer_add_row(writer));
		if (ids != NULL)
			kh_batch_writer_set_word(writer, 0, (uint64_t) ids[i]);
	}
	CHECK(kh_batch_check(writer->data, kh_batch_writer_finish(writer), &keys, &error));
	return keys;
}

static kh_direct_answer
read_one(const int64_t *id, kh_batch_writer *to)
{
	kh_batch_writer parameters = {0};
	kh_batch keys = keys_of(&parameters, id, 1);
	kh_direct_answer answer = kh_direct_read(session, read, &keys, to);

	kh_batch_writer_free(&parameters);
	return answer;
}

/* Reads some ids in one go. */
static kh_direct_answer
read_rows(const int64_t *ids, uint32_t count, kh_batch_writer *to)
{
	kh_batch_writer parameters = {0};
	kh_batch keys = keys_of(&parameters, ids, count);
	kh_direct_answer answer = kh_direct_read_rows(session, read, &keys, to);

	kh_batch_writer_free(&parameters);
	return answer;
}

static void
should_have_no_row_for_null(void)
{
	kh_batch_writer to = {0};
	kh_error error;

	begin();
	CHECK(kh_batch_writer_init(&to, 6, 1, 4096, &error));
	CHECK_EQUAL(KH_DIRECT_NO_ROW, read_one(NULL, &to));
	kh_batch_writer_free(&to);
}

static void
should_ask_when_a_row_does_not_fit(void)
{
	kh_batch_writer to = {0};
	kh_error error;
	int64_t id = present();
	int asked = 0;

	CHECK(kh_batch_writer_init(&to, 6, 1, 128, &error));
	for (; id < FIXTURE_STORE_ROWS; id++)
		asked += read_one(&id, &to) == KH_DIRECT_ASK;
	CHECK(asked > 0);
	kh_batch_writer_free(&to);
}

static void
should_read_several_rows_as_of_one_moment(void)
{
	int64_t there = present();
	const int64_t ids[] = {there, -1, there};
	kh_batch_writer to = {0};
	kh_error error;

	CHECK(kh_batch_writer_init(&to, 6, 3, 65536, &error));
	fixture_store_head()->collected = fixture_store_head()->durable;
	CHECK_EQUAL(KH_DIRECT_ROW, read_rows(ids, 3, &to));
	CHECK_EQUAL(2, to.row_count);
	CHECK_EQUAL(KH_DIRECT_NO_ROW, read_rows(ids + 1, 1, &to));
	/* The row may have been there at the moment whose state is read. */
	fixture_store_head()->collected = fixture_store_head()->durable + 1;
	CHECK_EQUAL(KH_DIRECT_ASK, read_rows(ids, 3, &to));
	CHECK_EQUAL(KH_DIRECT_ASK, read_rows(ids + 1, 1, &to));
	/* Rows that are found have the version of that moment, or a later one, which is seen. */
	CHECK_EQUAL(KH_DIRECT_ROW, read_rows(ids, 1, &to));
	fixture_store_head()->durable = 1;
	CHECK_EQUAL(KH_DIRECT_ASK, read_rows(ids, 1, &to));
	kh_batch_writer_free(&to);
}

static void
should_write_numbers_as_postgres_does(void)
{
	static const int64_t numbers[] = {
		0, 1, 9, 10, 99, 100, 9999, 10000, 10001, 123456789, INT64_C(100000000000000), (INT64_C(1) << 54) - 1};
	unsigned char to[KH_DIRECT_NUMERIC_BYTES];

	for (uint32_t scale = 0; scale <= 18; scale++)
	{
		for (size_t i = 0; i < 2 * sizeof(numbers) / sizeof(*numbers); i++)
		{
			int64_t number = i % 2 == 0 ? numbers[i / 2] : -numbers[i / 2];
			uint32_t bytes = kh_direct_numeric((uint64_t) number << 9 | scale << 3 | 2, to);

			int64_t read;

			CHECK(bytes <= sizeof(to) && read_numeric(to, bytes, scale, &read));
			CHECK_EQUAL(number, read);
		}
	}
	/* Whatever the word is, it stays within its bytes. */
	for (uint64_t word = 1; word != 0; word <<= 1)
		CHECK(kh_direct_numeric(~word, to) <= sizeof(to));
}

static void
should_refuse_a_ticket_that_is_not_sound(void)
{
	static unsigned char nothing[200];
	kh_session none = {0};

	begin();
	CHECK(kh_direct_create(session, nothing, sizeof(nothing)) == NULL);
	CHECK(kh_direct_create(session, nothing, 3) == NULL);
	CHECK(kh_direct_create(&none, nothing, sizeof(nothing)) == NULL);
	kh_direct_free(read);
	read = NULL;
}

const test_case direct_tests[] = {
	TEST(should_find_each_row_and_no_other),
	TEST(should_not_use_a_ticket_of_something_else),
	TEST(should_ask_while_somebody_changes_what_it_reads),
	TEST(should_ask_for_what_is_not_durable),
	TEST(should_judge_the_newest_version),
	TEST(should_not_follow_what_leads_outside),
	TEST(should_have_no_row_for_null),
	TEST(should_ask_when_a_row_does_not_fit),
	TEST(should_read_several_rows_as_of_one_moment),
	TEST(should_write_numbers_as_postgres_does),
	TEST(should_refuse_a_ticket_that_is_not_sound),
	{0},
};

#include "platform.h"

#include "fixture_store.h"
#include "test.h"

#include <stdlib.h>

#define IN_FLIGHT (UINT64_C(1) << 63)
#define TOMBSTONE (UINT64_C(1) << 62)
#define LOWER KH_KEY_FLAGS_LOWER
#define UPPER KH_KEY_FLAGS_UPPER
#define EXCLUSIVE KH_KEY_FLAGS_EXCLUSIVE
#define MUTATIONS 20000

static kh_session *session;
static kh_direct *read;
static bool is_there[FIXTURE_STORE_ROWS];

/* What was read last. */
static kh_batch_writer to;
static kh_batch rows;
static kh_error error;

/* The recorded store, and a ticket of a range in it; which ids there are. */
static void
begin(uint8_t lower, uint8_t upper, uint8_t of_first)
{
	kh_direct *row;
	kh_batch found;

	session = fixture_store();
	row = fixture_store_ticket();
	for (int64_t id = 0; id < FIXTURE_STORE_ROWS; id++)
		is_there[id] = fixture_store_read(row, id, &found) == KH_DIRECT_ROW;
	kh_direct_free(row);
	kh_direct_free(read);
	read = fixture_store_range(lower, upper, of_first);
	CHECK(read != NULL && kh_direct_is_range(read));
}

static void
begin_between(void)
{
	begin(LOWER, UPPER, 0);
}

/* Reads the ranges of some pairs of bounds, with room for some rows. */
static kh_direct_answer
read_with(const int64_t *bounds, uint32_t ranges, uint32_t room)
{
	kh_batch_writer parameters = {0};
	kh_direct_answer answer;
	kh_batch wanted;

	kh_batch_writer_free(&to);
	CHECK(kh_batch_writer_init(&parameters, 2, ranges, 65536, &error));
	CHECK(kh_batch_writer_init(&to, 6, room, 1024 * 1024, &error));
	for (uint32_t i = 0; i < 2 * ranges; i++)
	{
		if (i % 2 == 0)
			CHECK(kh_batch_writer_add_row(&parameters));
		kh_batch_writer_set_word(&parameters, i % 2, (uint64_t) bounds[i]);
	}
	CHECK(kh_batch_check(parameters.data, kh_batch_writer_finish(&parameters), &wanted, &error));
	if (ranges == 1)
		answer = kh_direct_read(session, read, &wanted, &to);
	else
		answer = kh_direct_read_rows(session, read, &wanted, &to);
	if (answer == KH_DIRECT_ROW)
		CHECK(kh_batch_check(to.data, kh_batch_writer_finish(&to), &rows, &error));
	kh_batch_writer_free(&parameters);
	return answer;
}

static kh_direct_answer
read_between(int64_t first, int64_t last)
{
	const int64_t bounds[] = {first, last};

	return read_with(bounds, 1, KH_DIRECT_RANGE_ROWS);
}

/* What was read are the ids that there are from first to last, from a place on; the place behind them. */
static uint32_t
check_ids(int64_t first, int64_t last, uint32_t place, bool is_reverse)
{
	first = first < 0 ? 0 : first;
	last = last >= FIXTURE_STORE_ROWS ? FIXTURE_STORE_ROWS - 1 : last;
	for (int64_t i = first; i <= last; i++)
	{
		int64_t id = is_reverse ? last - (i - first) : i;

		if (!is_there[id])
			continue;
		CHECK(place < rows.row_count);
		CHECK_EQUAL(id, kh_batch_word(&rows, place, 0));
		CHECK_EQUAL(~kh_batch_word(&rows, place, 1), kh_batch_word(&rows, place, 2));
		place++;
	}
	return place;
}

static void
check_between(int64_t first, int64_t last, int64_t from, int64_t until, bool is_reverse)
{
	kh_direct_answer answer = read_between(from, until);

	if (answer == KH_DIRECT_NO_ROW)
		rows.row_count = 0;
	else
		CHECK_EQUAL(KH_DIRECT_ROW, answer);
	CHECK_EQUAL(rows.row_count, check_ids(first, last, 0, is_reverse));
}

static void
should_find_the_rows_of_each_range_in_order(void)
{
	begin_between();
	/* In more than one leaf. */
	CHECK(fixture_store_at(fixture_store_tree(read)->root)[KH_STORE_NODE_LEVEL_OFFSET] > 0);
	for (int64_t first = -10; first < FIXTURE_STORE_ROWS + 10; first += 7)
	{
		for (int64_t length = 0; length < FIXTURE_STORE_ROWS + 300; length += 1 + length / 2)
			check_between(first, first + length - 1, first, first + length - 1, false);
	}
	CHECK_EQUAL(KH_DIRECT_NO_ROW, read_between(7, -7));
}

static void
should_find_them_from_the_end(void)
{
	begin(LOWER, UPPER, KH_KEY_FLAGS_REVERSE);
	check_between(0, FIXTURE_STORE_ROWS, -1, FIXTURE_STORE_ROWS + 1, true);
	check_between(100, 120, 100, 120, true);
}

static void
should_leave_out_what_is_on_a_bound(void)
{
	for (int64_t first = 0; first < 20; first++)
	{
		begin(LOWER | EXCLUSIVE, UPPER, 0);
		check_between(first + 1, 30, first, 30, false);
		begin(LOWER, UPPER | EXCLUSIVE, 0);
		check_between(first, 29, first, 30, false);
		begin(LOWER | EXCLUSIVE, UPPER | EXCLUSIVE, 0);
		check_between(first + 1, 254, first, 255, false);
		check_between(first + 1, 255, first, 256, false);
	}
}

static void
should_need_one_bound_alone(void)
{
	begin(LOWER, 0, 0);
	check_between(590, FIXTURE_STORE_ROWS, 590, 0, false);
	check_between(0, FIXTURE_STORE_ROWS, INT64_MIN, 0, false);
	CHECK_EQUAL(KH_DIRECT_NO_ROW, read_between(INT64_MAX, 0));
	begin(LOWER | EXCLUSIVE, 0, 0);
	CHECK_EQUAL(KH_DIRECT_NO_ROW, read_between(INT64_MAX, 0));
	begin(0, UPPER, 0);
	check_between(0, 9, 9, 0, false);
	CHECK_EQUAL(KH_DIRECT_NO_ROW, read_between(INT64_MIN, 0));
	begin(0, UPPER | EXCLUSIVE, 0);
	check_between(0, 8, 9, 0, false);
}

static void
should_read_several_ranges(void)
{
	static const int64_t bounds[] = {10, 20, 15, 18, 40, 30, 599, 10000};
	uint32_t place;

	begin_between();
	CHECK_EQUAL(KH_DIRECT_ROW, read_with(bounds, 4, KH_DIRECT_RANGE_ROWS));
	place = check_ids(10, 20, 0, false);
	place = check_ids(15, 18, place, false);
	CHECK_EQUAL(rows.row_count, check_ids(599, 10000, place, false));
}

static void
should_find_nothing_beside_null(void)
{
	kh_batch_writer parameters = {0};
	kh_batch wanted;

	for (int null = 0; null < 2; null++)
	{
		begin_between();
		kh_batch_writer_free(&to);
		CHECK(kh_batch_writer_init(&to, 6, 10, 65536, &error));
		CHECK(kh_batch_writer_init(&parameters, 2, 1, 65536, &error) && kh_batch_writer_add_row(&parameters));
		kh_batch_writer_set_word(&parameters, 1 - null, 5);
		CHECK(kh_batch_check(parameters.data, kh_batch_writer_finish(&parameters), &wanted, &error));
		CHECK_EQUAL(KH_DIRECT_NO_ROW, kh_direct_read(session, read, &wanted, &to));
		kh_batch_writer_free(&parameters);
	}
}

static void
should_ask_for_more_rows_than_there_is_room_for(void)
{
	static const int64_t bounds[] = {0, FIXTURE_STORE_ROWS};

	begin_between();
	CHECK_EQUAL(KH_DIRECT_ASK, read_with(bounds, 1, 20));
	CHECK_EQUAL(KH_DIRECT_ROW, read_with(bounds, 1, FIXTURE_STORE_ROWS));
}

#define ANSWERS(answer, change)                                                                                        \
	do                                                                                                                 \
	{                                                                                                                  \
		begin_between();                                                                                               \
		CHECK_EQUAL(KH_DIRECT_ROW, read_between(0, FIXTURE_STORE_ROWS));                                               \
		change;                                                                                                        \
		CHECK_EQUAL(answer, read_between(0, FIXTURE_STORE_ROWS));                                                      \
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
	/* The last leaf. */
	ANSWERS(KH_DIRECT_ASK, fixture_store_at(fixture_store_word(fixture_store_tree(read)->root +
	                                                           KH_STORE_NODE_LEFTMOST_OFFSET))[0] |= 1);
	ANSWERS(KH_DIRECT_ASK, fixture_store_at(fixture_store_page(read) + KH_STORE_PAGE_VERSION_OFFSET)[0] |= 1);
}

/* A row that went since may have taken its entry along, so it is not missed for sure only if nothing went. */
static void
should_ask_for_what_is_later(void)
{
	ANSWERS(KH_DIRECT_ASK, fixture_store_head()->durable = 1);
	ANSWERS(KH_DIRECT_ASK, fixture_store_head()->common = fixture_store_head()->durable + 1);
	ANSWERS(KH_DIRECT_ASK, fixture_store_head()->collected = fixture_store_head()->durable + 1);
	ANSWERS(KH_DIRECT_ROW, fixture_store_head()->collected = fixture_store_head()->durable);
}

static uint64_t *
stamp_of(uint64_t slot)
{
	return (uint64_t *) (void *) fixture_store_at(
		fixture_store_word(fixture_store_page(read) + KH_STORE_PAGE_STAMPS_OFFSET) + 8 * slot);
}

static void
should_judge_each_version(void)
{
	uint64_t all;

	begin_between();
	all = read->page_rows;

	ANSWERS(KH_DIRECT_ASK, *stamp_of(FIXTURE_STORE_ROWS / 2) |= IN_FLIGHT);
	ANSWERS(KH_DIRECT_ASK, *stamp_of(FIXTURE_STORE_ROWS / 2) = fixture_store_head()->durable + 1);
	ANSWERS(KH_DIRECT_ASK, *stamp_of(FIXTURE_STORE_ROWS / 2) = TOMBSTONE | (fixture_store_head()->durable + 1));
	ANSWERS(KH_DIRECT_NO_ROW, for (uint64_t i = 0; i < all; i++) * stamp_of(i) |= TOMBSTONE);
}

/* Entries of keys that a row had before are not its. */
static void
should_compare_the_whole_key(void)
{
	uint64_t place;

	begin_between();
	place = fixture_store_word(fixture_store_page(read) + KH_STORE_PAGE_BYTES +
	                           (uint64_t) read->keys[0].column * KH_STORE_PAGE_COLUMN_BYTES);
	memset(fixture_store_at(place & ~UINT64_C(7)), 0, (size_t) read->page_rows << (place & 7));
	CHECK_EQUAL(KH_DIRECT_NO_ROW, read_between(1, FIXTURE_STORE_ROWS));
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
		ANSWERS(KH_DIRECT_ASK, memcpy(fixture_store_at(fixture_store_tree(read)->root + KH_STORE_NODE_LEFTMOST_OFFSET),
		                              &address, sizeof(address)));
	}
}

/* Whatever the memory says, nothing outside of it is touched; the sanitizers and the guards would say so. */
static void
should_stay_inside_of_an_overwritten_store(void)
{
	uint64_t state = test_seed();

	for (int i = 0; i < MUTATIONS; i++)
	{
		session = fixture_store();
		kh_direct_free(read);
		for (uint64_t changes = 1 + test_random(&state) % 4; changes > 0; changes--)
		{
			unsigned char *place = fixture_store_line((uint32_t) (test_random(&state) % fixture_store_lines()));
			uint64_t change = test_random(&state) >> test_random(&state) % 64;

			memcpy(place + test_random(&state) % 57, &change, sizeof(change));
		}
		session->store.there = kh_store_head_of(&session->store)->base;
		read = fixture_store_range(LOWER, UPPER, 0);
		if (read != NULL)
			(void) read_between(0, FIXTURE_STORE_ROWS);
	}
}

static void
should_refuse_a_ticket_of_an_unknown_form(void)
{
	static const uint8_t forms[][2] = {
		{UPPER, LOWER}, {LOWER, 0}, {KH_KEY_FLAGS_UNBOUND, LOWER}, {UPPER, UPPER}, {LOWER, LOWER}};

	begin_between();
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
	{
		kh_range_free(read);
		read->keys[0].flags = KH_KEY_FLAGS_RANGED | forms[i][0];
		read->keys[1].flags = forms[i][1];
		CHECK(!kh_range_create(read));
	}
	kh_direct_free(read);
	read = NULL;
	kh_batch_writer_free(&to);
}

const test_case direct_range_tests[] = {
	TEST(should_find_the_rows_of_each_range_in_order),
	TEST(should_find_them_from_the_end),
	TEST(should_leave_out_what_is_on_a_bound),
	TEST(should_need_one_bound_alone),
	TEST(should_read_several_ranges),
	TEST(should_find_nothing_beside_null),
	TEST(should_ask_for_more_rows_than_there_is_room_for),
	TEST(should_not_use_a_ticket_of_something_else),
	TEST(should_ask_while_somebody_changes_what_it_reads),
	TEST(should_ask_for_what_is_later),
	TEST(should_judge_each_version),
	TEST(should_compare_the_whole_key),
	TEST(should_not_follow_what_leads_outside),
	TEST(should_stay_inside_of_an_overwritten_store),
	TEST(should_refuse_a_ticket_of_an_unknown_form),
	{0},
};

#include "test.h"

#include "generated/kh_layouts.h"
#include "kakehashi/ipc.h"

#include <stdlib.h>

static kh_batch_writer writer;
static kh_error error;

static void
begin(uint32_t columns, uint32_t rows, uint32_t max_bytes)
{
	CHECK(kh_batch_writer_init(&writer, columns, rows, max_bytes, &error));
}

static void
should_read_back_what_was_written(void)
{
	static const unsigned char uuid[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
	kh_batch batch;
	const unsigned char *value;

	begin(3, 2, 65536);
	CHECK(kh_batch_writer_add_row(&writer));
	kh_batch_writer_set_word(&writer, 0, UINT64_MAX);
	CHECK(kh_batch_writer_set_varlena(&writer, 1, "hello", 5));
	CHECK(kh_batch_writer_set_value(&writer, 2, uuid, 16));
	CHECK(kh_batch_writer_add_row(&writer));
	kh_batch_writer_set_word(&writer, 0, 7);
	CHECK(kh_batch_check(writer.data, kh_batch_writer_finish(&writer), &batch, &error));
	CHECK_EQUAL(2, batch.row_count);
	CHECK_EQUAL(3, batch.column_count);
	CHECK(!kh_batch_is_null(&batch, 0, 0));
	CHECK_EQUAL(-1, kh_batch_word(&batch, 0, 0));
	value = kh_batch_value(&batch, kh_batch_word(&batch, 0, 1), 0);
	CHECK(value != NULL);
	CHECK_EQUAL((5 + 4) << 2, *(const uint32_t *) value);
	CHECK(memcmp(value + 4, "hello", 5) == 0);
	value = kh_batch_value(&batch, kh_batch_word(&batch, 0, 2), 16);
	CHECK(value != NULL && memcmp(value, uuid, 16) == 0);
	CHECK_EQUAL(7, kh_batch_word(&batch, 1, 0));
	CHECK(kh_batch_is_null(&batch, 1, 1) && kh_batch_is_null(&batch, 1, 2));
	CHECK_EQUAL(0, kh_batch_word(&batch, 1, 1));
	kh_batch_writer_free(&writer);
}

static void
should_keep_nulls_of_more_than_64_columns(void)
{
	kh_batch batch;

	begin(130, 1, 65536);
	CHECK(kh_batch_writer_add_row(&writer));
	kh_batch_writer_set_word(&writer, 64, 1);
	kh_batch_writer_set_word(&writer, 129, 2);
	kh_batch_writer_set_null(&writer, 64);
	CHECK(kh_batch_check(writer.data, kh_batch_writer_finish(&writer), &batch, &error));
	CHECK_EQUAL(8 * (3 + 130), batch.row_stride);
	for (uint32_t column = 0; column < 130; column++)
		CHECK_EQUAL(column != 129, kh_batch_is_null(&batch, 0, column));
	kh_batch_writer_free(&writer);
}

static void
should_refuse_rows_and_values_that_do_not_fit(void)
{
	char text[200] = {0};
	uint32_t before;

	begin(1, 4, 256);
	CHECK(kh_batch_writer_add_row(&writer));
	CHECK(kh_batch_writer_set_varlena(&writer, 0, "x", 1));
	before = kh_batch_writer_finish(&writer);
	CHECK(kh_batch_writer_add_row(&writer));
	CHECK(!kh_batch_writer_set_varlena(&writer, 0, text, sizeof(text)));
	kh_batch_writer_drop_row(&writer);
	CHECK_EQUAL(before, kh_batch_writer_finish(&writer));
	for (int i = 0; i < 3; i++)
		CHECK(kh_batch_writer_add_row(&writer));
	CHECK(!kh_batch_writer_add_row(&writer));
	kh_batch_writer_free(&writer);
	CHECK(!kh_batch_writer_init(&writer, 100, 1, 256, &error));
	CHECK_TEXT("54000", error.sqlstate);
}

static void
should_let_a_row_be_long_that_is_alone(void)
{
	char text[1000];
	kh_batch batch;
	const unsigned char *value;

	memset(text, 'x', sizeof(text));
	begin(1, 4, 256);
	kh_batch_writer_allow_long_row(&writer, 1200);
	CHECK(kh_batch_writer_add_row(&writer));
	CHECK(kh_batch_writer_set_varlena(&writer, 0, text, sizeof(text)));
	/* Nothing follows it, not even what needs no heap. */
	CHECK(!kh_batch_writer_add_row(&writer));
	CHECK(kh_batch_check(writer.data, kh_batch_writer_finish(&writer), &batch, &error));
	CHECK_EQUAL(1, batch.row_count);
	value = kh_batch_value(&batch, kh_batch_word(&batch, 0, 0), 0);
	CHECK(value != NULL && memcmp(value + 4, text, sizeof(text)) == 0);
	/* As a second row it waits for the next batch. */
	kh_batch_writer_reset(&writer);
	CHECK(kh_batch_writer_add_row(&writer));
	CHECK(kh_batch_writer_set_varlena(&writer, 0, "x", 1));
	CHECK(kh_batch_writer_add_row(&writer));
	CHECK(!kh_batch_writer_set_varlena(&writer, 0, text, sizeof(text)));
	CHECK(!writer.out_of_memory);
	kh_batch_writer_drop_row(&writer);
	kh_batch_writer_free(&writer);
	/* The bound holds for it, too, and the memory of others does not grow. */
	begin(1, 4, 256);
	kh_batch_writer_allow_long_row(&writer, 1000);
	CHECK(kh_batch_writer_add_row(&writer));
	CHECK(!kh_batch_writer_set_varlena(&writer, 0, text, sizeof(text)));
	kh_batch_writer_free(&writer);
}

static void
should_not_let_a_row_outgrow_memory_of_the_caller(void)
{
	uint64_t memory[32];
	char text[300] = {0};

	CHECK(kh_batch_writer_init_fixed(&writer, memory, sizeof(memory), 1, 1, &error));
	kh_batch_writer_allow_long_row(&writer, 4096);
	CHECK(kh_batch_writer_add_row(&writer));
	CHECK(!kh_batch_writer_set_varlena(&writer, 0, text, sizeof(text)));
	kh_batch_writer_free(&writer);
}

static void
should_take_back_the_values_of_a_dropped_row(void)
{
	uint32_t empty;

	begin(2, 8, 4096);
	empty = kh_batch_writer_finish(&writer);
	CHECK(kh_batch_writer_add_row(&writer));
	CHECK(kh_batch_writer_set_varlena(&writer, 0, "abc", 3));
	CHECK(kh_batch_writer_set_varlena(&writer, 1, "def", 3));
	kh_batch_writer_drop_row(&writer);
	CHECK_EQUAL(empty, kh_batch_writer_finish(&writer));
	kh_batch_writer_free(&writer);
}

static void
should_write_into_memory_of_the_caller(void)
{
	uint64_t memory[64];
	kh_batch batch;

	CHECK(kh_batch_writer_init_fixed(&writer, memory, sizeof(memory), 1, 100, &error));
	while (kh_batch_writer_add_row(&writer))
		kh_batch_writer_set_word(&writer, 0, writer.row_count);
	CHECK(writer.row_count > 10);
	CHECK(kh_batch_check(memory, kh_batch_writer_finish(&writer), &batch, &error));
	CHECK_EQUAL(batch.row_count, kh_batch_word(&batch, batch.row_count - 1, 0));
	kh_batch_writer_free(&writer);
}

static void
should_accept_a_batch_without_columns(void)
{
	kh_batch batch;

	begin(0, 5, 1024);
	for (int i = 0; i < 5; i++)
		CHECK(kh_batch_writer_add_row(&writer));
	CHECK(kh_batch_check(writer.data, kh_batch_writer_finish(&writer), &batch, &error));
	CHECK_EQUAL(5, batch.row_count);
	kh_batch_writer_free(&writer);
}

/* One changed header field; the batch must be refused. */
static void
refuse(size_t field, uint32_t value)
{
	uint32_t bytes;
	kh_batch batch;

	begin(2, 3, 1024);
	CHECK(kh_batch_writer_add_row(&writer));
	bytes = kh_batch_writer_finish(&writer);
	memcpy(writer.data + field, &value, sizeof(value));
	CHECK(!kh_batch_check(writer.data, bytes, &batch, &error));
	CHECK_TEXT("08P01", error.sqlstate);
	kh_batch_writer_free(&writer);
}

static void
should_reject_headers_that_leave_the_batch(void)
{
	refuse(KH_ROW_BATCH_HEADER_BATCH_BYTES_OFFSET, 4096);
	refuse(KH_ROW_BATCH_HEADER_ROW_COUNT_OFFSET, 4);
	refuse(KH_ROW_BATCH_HEADER_ROW_COUNT_OFFSET, UINT32_MAX);
	refuse(KH_ROW_BATCH_HEADER_COLUMN_COUNT_OFFSET, 3);
	refuse(KH_ROW_BATCH_HEADER_COLUMN_COUNT_OFFSET, 0x20000000);
	refuse(KH_ROW_BATCH_HEADER_ROW_STRIDE_OFFSET, 8);
	refuse(KH_ROW_BATCH_HEADER_ROWS_OFFSET_OFFSET, 24);
	refuse(KH_ROW_BATCH_HEADER_HEAP_OFFSET_OFFSET, 8);
	refuse(KH_ROW_BATCH_HEADER_HEAP_OFFSET_OFFSET, 0xFFFFFFF8);
}

static void
should_reject_values_that_leave_the_batch(void)
{
	kh_batch batch;
	uint64_t word;
	unsigned char *at;

	begin(1, 1, 1024);
	CHECK(kh_batch_writer_add_row(&writer));
	CHECK(kh_batch_writer_set_varlena(&writer, 0, "0123456789", 10));
	CHECK(kh_batch_check(writer.data, kh_batch_writer_finish(&writer), &batch, &error));
	word = kh_batch_word(&batch, 0, 0);
	CHECK(kh_batch_value(&batch, word, 0) != NULL);
	CHECK(kh_batch_value(&batch, word, 16) != NULL);
	CHECK(kh_batch_value(&batch, word, 17) == NULL);
	CHECK(kh_batch_value(&batch, word + 4, 0) == NULL);
	CHECK(kh_batch_value(&batch, 0, 0) == NULL);
	CHECK(kh_batch_value(&batch, batch.bytes, 0) == NULL);
	CHECK(kh_batch_value(&batch, UINT64_MAX - 7, 0) == NULL);
	at = writer.data + word;
	*(uint32_t *) at = 17 << 2;
	CHECK(kh_batch_value(&batch, word, 0) == NULL);
	*(uint32_t *) at = 3 << 2;
	CHECK(kh_batch_value(&batch, word, 0) == NULL);
	*(uint32_t *) at = 10 << 2 | 1;
	CHECK(kh_batch_value(&batch, word, 0) == NULL);
	kh_batch_writer_free(&writer);
}

const test_case batch_tests[] = {
	TEST(should_read_back_what_was_written),
	TEST(should_keep_nulls_of_more_than_64_columns),
	TEST(should_refuse_rows_and_values_that_do_not_fit),
	TEST(should_let_a_row_be_long_that_is_alone),
	TEST(should_not_let_a_row_outgrow_memory_of_the_caller),
	TEST(should_take_back_the_values_of_a_dropped_row),
	TEST(should_write_into_memory_of_the_caller),
	TEST(should_accept_a_batch_without_columns),
	TEST(should_reject_headers_that_leave_the_batch),
	TEST(should_reject_values_that_leave_the_batch),
	{0},
};

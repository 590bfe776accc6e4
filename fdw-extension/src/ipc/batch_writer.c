/*
 * Building row batches: parameters and bulk rows.
 *
 *   header | room for row_capacity rows | heap, growing upwards
 *
 * The place of the heap is fixed when the writer is made, so that offsets can be written as values come. Memory is taken
 * as the heap grows, at most max_bytes, or longest_bytes for a row that is alone.
 */
#include "platform.h"

#include "errors.h"
#include "generated/kh_layouts.h"

#include <stdlib.h>
#include <string.h>

/* A varlena's length is 30 bits, header included. */
#define MAX_VARLENA_BYTES 0x3FFFFFFFu
#define VARLENA_HEADER_BYTES 4

static uint32_t
bitmap_words(uint32_t column_count)
{
	return (column_count + 63) / 64;
}

static uint32_t
heap_offset(const kh_batch_writer *writer)
{
	return KH_ROW_BATCH_HEADER_BYTES + writer->row_capacity * writer->row_stride;
}

/* Words of the row that was added last: bitmap, then columns. */
static uint64_t *
last_row(const kh_batch_writer *writer)
{
	return (uint64_t *) (writer->data + KH_ROW_BATCH_HEADER_BYTES +
	                     (size_t) (writer->row_count - 1) * writer->row_stride);
}

/* Sizes without memory. Rows get at most half of the room when not all of them fit, so that there is a heap. */
static bool
measure(kh_batch_writer *writer, uint32_t column_count, uint32_t row_capacity, uint32_t max_bytes, kh_error *error)
{
	uint32_t room;

	memset(writer, 0, sizeof(*writer));
	if (column_count > 65534 || max_bytes < KH_ROW_BATCH_HEADER_BYTES)
		return kh_fail(error, KH_E_LIMIT_EXCEEDED, "cannot build a row batch of %u columns in %u bytes", column_count,
		               max_bytes);
	writer->column_count = column_count;
	writer->row_stride = 8 * (bitmap_words(column_count) + column_count);
	writer->max_bytes = max_bytes & ~UINT32_C(7);
	writer->longest_bytes = writer->max_bytes;
	writer->row_capacity = row_capacity > 0 ? row_capacity : 1;
	room = writer->max_bytes - KH_ROW_BATCH_HEADER_BYTES;
	if (writer->row_stride > room)
		return kh_fail(error, KH_E_LIMIT_EXCEEDED, "a row of %u columns does not fit into a batch of %u bytes",
		               column_count, max_bytes);
	if (writer->row_stride > 0 && writer->row_capacity > room / 2 / writer->row_stride)
	{
		uint32_t fitting = room / 2 / writer->row_stride;

		writer->row_capacity = fitting > 0 ? fitting : 1;
	}
	return true;
}

bool
kh_batch_writer_init(kh_batch_writer *writer, uint32_t column_count, uint32_t row_capacity, uint32_t max_bytes,
                     kh_error *error)
{
	if (!measure(writer, column_count, row_capacity, max_bytes, error))
		return false;
	writer->capacity = heap_offset(writer);
	writer->data = malloc(writer->capacity);
	if (writer->data == NULL)
		return kh_fail_system(error, ENOMEM, KH_E_OUT_OF_MEMORY, "could not build a row batch");
	return true;
}

bool
kh_batch_writer_init_fixed(kh_batch_writer *writer, void *memory, uint32_t bytes, uint32_t column_count,
                           uint32_t row_capacity, kh_error *error)
{
	if ((uintptr_t) memory % 8 != 0)
		return kh_fail(error, KH_E_INTERNAL_ERROR, "memory of a row batch is not aligned");
	if (!measure(writer, column_count, row_capacity, bytes, error))
		return false;
	writer->data = memory;
	writer->capacity = writer->max_bytes;
	writer->fixed = true;
	return true;
}

void
kh_batch_writer_allow_long_row(kh_batch_writer *writer, uint32_t longest_bytes)
{
	if (!writer->fixed && (longest_bytes & ~UINT32_C(7)) > writer->max_bytes)
		writer->longest_bytes = longest_bytes & ~UINT32_C(7);
}

void
kh_batch_writer_reset(kh_batch_writer *writer)
{
	writer->out_of_memory = false;
	writer->row_count = 0;
	writer->heap_bytes = 0;
	writer->row_heap_bytes = 0;
}

bool
kh_batch_writer_add_row(kh_batch_writer *writer)
{
	uint32_t words = bitmap_words(writer->column_count);
	uint64_t *row;

	if (writer->row_count == writer->row_capacity ||
	    (uint64_t) heap_offset(writer) + writer->heap_bytes > writer->max_bytes)
		return false;
	writer->row_count++;
	writer->row_heap_bytes = writer->heap_bytes;
	row = last_row(writer);
	memset(row, 0, writer->row_stride);
	for (uint32_t i = 0; i < words; i++)
	{
		uint32_t columns = writer->column_count - 64 * i;

		row[i] = columns >= 64 ? UINT64_MAX : (UINT64_C(1) << columns) - 1;
	}
	return true;
}

void
kh_batch_writer_set_null(kh_batch_writer *writer, uint32_t column)
{
	uint64_t *row = last_row(writer);

	row[column >> 6] |= UINT64_C(1) << (column & 63);
	row[bitmap_words(writer->column_count) + column] = 0;
}

void
kh_batch_writer_set_word(kh_batch_writer *writer, uint32_t column, uint64_t word)
{
	uint64_t *row = last_row(writer);

	row[column >> 6] &= ~(UINT64_C(1) << (column & 63));
	row[bitmap_words(writer->column_count) + column] = word;
}

/* bytes of heap at a multiple of 8, entered as the column's word; NULL when they do not fit. */
static unsigned char *
claim_heap(kh_batch_writer *writer, uint32_t column, uint32_t bytes)
{
	uint64_t offset = (uint64_t) heap_offset(writer) + writer->heap_bytes;
	uint64_t padded = ((uint64_t) bytes + 7) & ~UINT64_C(7);
	uint64_t end = offset + padded;
	uint32_t most = writer->row_count == 1 ? writer->longest_bytes : writer->max_bytes;

	if (end > most)
		return NULL;
	if (end > writer->capacity)
	{
		uint64_t capacity = 2 * (uint64_t) writer->capacity > end ? 2 * (uint64_t) writer->capacity : end;
		unsigned char *data;

		if (capacity > most)
			capacity = most;
		data = realloc(writer->data, capacity);
		if (data == NULL)
		{
			writer->out_of_memory = true;
			return NULL;
		}
		writer->data = data;
		writer->capacity = (uint32_t) capacity;
	}
	if (padded > bytes)
		memset(writer->data + end - 8, 0, 8);
	writer->heap_bytes += (uint32_t) padded;
	kh_batch_writer_set_word(writer, column, offset);
	return writer->data + offset;
}

bool
kh_batch_writer_set_value(kh_batch_writer *writer, uint32_t column, const void *value, uint32_t bytes)
{
	unsigned char *at = claim_heap(writer, column, bytes);

	if (at != NULL && bytes > 0)
		memcpy(at, value, bytes);
	return at != NULL;
}

bool
kh_batch_writer_set_varlena(kh_batch_writer *writer, uint32_t column, const void *payload, uint32_t payload_bytes)
{
	uint32_t header = (payload_bytes + VARLENA_HEADER_BYTES) << 2;
	unsigned char *at;

	if (payload_bytes > MAX_VARLENA_BYTES - VARLENA_HEADER_BYTES)
		return false;
	at = claim_heap(writer, column, payload_bytes + VARLENA_HEADER_BYTES);
	if (at == NULL)
		return false;
	memcpy(at, &header, sizeof(header));
	if (payload_bytes > 0)
		memcpy(at + sizeof(header), payload, payload_bytes);
	return true;
}

void
kh_batch_writer_drop_row(kh_batch_writer *writer)
{
	writer->row_count--;
	writer->heap_bytes = writer->row_heap_bytes;
}

uint32_t
kh_batch_writer_finish(kh_batch_writer *writer)
{
	kh_row_batch_header header = {
		.batch_bytes = heap_offset(writer) + writer->heap_bytes,
		.row_count = writer->row_count,
		.column_count = writer->column_count,
		.row_stride = writer->row_stride,
		.rows_offset = KH_ROW_BATCH_HEADER_BYTES,
		.heap_offset = heap_offset(writer),
	};
	size_t rows_end = header.rows_offset + (size_t) writer->row_count * writer->row_stride;

	/* Memory that was never written does not leave the process. */
	memset(writer->data + rows_end, 0, header.heap_offset - rows_end);
	memcpy(writer->data, &header, sizeof(header));
	return header.batch_bytes;
}

void
kh_batch_writer_free(kh_batch_writer *writer)
{
	if (!writer->fixed)
		free(writer->data);
	memset(writer, 0, sizeof(*writer));
}

/*
 * Reading row batches; the layout is in PROTOCOL.md, section 6.
 */
#include "platform.h"

#include "errors.h"
#include "generated/kh_layouts.h"

#include <string.h>

/* More columns than a table or a statement can have. */
#define MAX_COLUMNS 65534

static bool
malformed(kh_error *error, const char *what, uint32_t bytes)
{
	return kh_fail(error, KH_E_MALFORMED_MESSAGE, "row batch of %u bytes is malformed: %s", bytes, what);
}

bool
kh_batch_check(const void *base, uint32_t bytes, kh_batch *batch, kh_error *error)
{
	kh_row_batch_header header;
	uint64_t rows_end;

	if (bytes < sizeof(header))
		return malformed(error, "it has no header", bytes);
	if ((uintptr_t) base % 8 != 0)
		return malformed(error, "it is not aligned", bytes);
	/* The one read of the header: what the other side may do to it later does not matter. */
	memcpy(&header, base, sizeof(header));
	if (header.batch_bytes != bytes || bytes % 8 != 0)
		return malformed(error, "batchBytes differs from its length", bytes);
	if (header.column_count > MAX_COLUMNS)
		return malformed(error, "columnCount is out of range", bytes);
	if (header.row_stride != 8 * ((header.column_count + 63) / 64 + header.column_count))
		return malformed(error, "rowStride does not follow from columnCount", bytes);
	if (header.rows_offset != KH_ROW_BATCH_HEADER_BYTES)
		return malformed(error, "rowsOffset is not that of this version", bytes);
	rows_end = header.rows_offset + (uint64_t) header.row_count * header.row_stride;
	if (header.heap_offset < rows_end || header.heap_offset > bytes || header.heap_offset % 8 != 0)
		return malformed(error, "rows and heap do not fit", bytes);
	batch->base = base;
	batch->bytes = bytes;
	batch->row_count = header.row_count;
	batch->column_count = header.column_count;
	batch->row_stride = header.row_stride;
	batch->rows_offset = header.rows_offset;
	batch->heap_offset = header.heap_offset;
	return true;
}

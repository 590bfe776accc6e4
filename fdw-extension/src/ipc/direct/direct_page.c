/*
 * From a row's number to its values: the newest version, if it is committed. Older ones a request finds.
 */
#include "direct_page.h"

#include <string.h>

#define SLOT_BITS 16
#define PART_PAGES 512
#define WORD_BYTES 8

/* Bits of a stamp. */
#define IN_FLIGHT (UINT64_C(1) << 63)
#define TOMBSTONE (UINT64_C(1) << 62)
#define TIMESTAMP (TOMBSTONE - 1)

/* Low bits of the word of a value that is not in the word's place. */
#define TAG 7
#define OWN_ADDRESS 0
#define INLINE_BYTES 1
#define INLINE_NUMERIC 2
#define SHARED 4
#define CODE_SHIFT 3
#define INLINE_COUNT_SHIFT 3
#define INLINE_SHIFT 8

#define VARLENA_HEADER_BYTES 4
#define FIXED_BYTES 16

/* A row of a page whose version has been noted. */
typedef struct reading
{
	const kh_store *store;
	uint64_t limit;
	const unsigned char *page;
	uint32_t slot;
} reading;

/* A value as it lies here: in bytes, or in word alone. */
typedef struct value
{
	bool is_null;
	uint64_t word;
	unsigned char inlined[KH_DIRECT_NUMERIC_BYTES];
	const unsigned char *bytes;
	uint32_t length;
} value;

static const unsigned char *
words_at(const reading *from, uint64_t address, uint64_t bytes)
{
	return kh_store_at(from->store, from->limit, address, bytes);
}

static const unsigned char *
page_at(const kh_store *store, uint64_t limit, const kh_store_table *table, uint64_t number)
{
	uint64_t parts = kh_load_acquire(&table->parts);
	uint64_t part = number / PART_PAGES;
	const unsigned char *at;

	if (part >= kh_load_acquire(&table->part_count))
		return NULL;
	at = kh_store_at(store, limit, parts + WORD_BYTES * part, WORD_BYTES);
	if (at == NULL || parts % WORD_BYTES != 0)
		return NULL;
	parts = kh_load_acquire((const uint64_t *) (const void *) at);
	at = kh_store_at(store, limit, parts + WORD_BYTES * (number % PART_PAGES), WORD_BYTES);
	if (at == NULL || parts % WORD_BYTES != 0)
		return NULL;
	parts = kh_load_acquire((const uint64_t *) (const void *) at);
	return parts % WORD_BYTES == 0 ? kh_store_at(store, limit, parts, KH_STORE_PAGE_BYTES) : NULL;
}

static kh_found
word_of(const reading *from, uint64_t place, uint64_t *word)
{
	uint32_t width = (uint32_t) (place & TAG);
	const unsigned char *at =
		width > 3 ? NULL : words_at(from, (place & ~(uint64_t) TAG) + ((uint64_t) from->slot << width), 1u << width);
	uint8_t byte;
	uint16_t two;
	uint32_t four;

	if (at == NULL)
		return KH_FOUND_TORN;
	switch (width)
	{
		case 0:
			memcpy(&byte, at, sizeof(byte));
			*word = (uint64_t) (int64_t) (int8_t) byte;
			break;
		case 1:
			memcpy(&two, at, sizeof(two));
			*word = (uint64_t) (int64_t) (int16_t) two;
			break;
		case 2:
			memcpy(&four, at, sizeof(four));
			*word = (uint64_t) (int64_t) (int32_t) four;
			break;
		default:
			memcpy(word, at, sizeof(*word));
	}
	return KH_FOUND;
}

/* The address of a value that rows share. */
static kh_found
shared_value(const reading *from, uint64_t cell, uint64_t *word)
{
	const kh_store_dictionary *dictionary = (const kh_store_dictionary *) (const void *) (from->store->base + cell);
	uint64_t code = *word >> CODE_SHIFT;
	const unsigned char *at;

	/* A code that is there is found in the array that is there: it has those before it, too. */
	if (cell == 0 || code >= kh_load_acquire(&dictionary->count))
		return KH_FOUND_TORN;
	at = words_at(from, kh_load_acquire(&dictionary->values) + WORD_BYTES * code, WORD_BYTES);
	if (at == NULL || (uintptr_t) at % WORD_BYTES != 0)
		return KH_FOUND_TORN;
	*word = kh_store_word(at);
	return KH_FOUND;
}

static kh_found
bytes_of(const reading *from, uint8_t kind, uint64_t dictionary, value *to)
{
	uint32_t header;

	if ((to->word & TAG) == SHARED)
	{
		kh_found found = shared_value(from, dictionary, &to->word);

		if (found != KH_FOUND)
			return found;
	}
	switch (to->word & TAG)
	{
		case INLINE_BYTES:
			if (kind != KH_VALUE_KIND_VARLENA)
				return KH_FOUND_ELSE;
			to->length = (uint32_t) (to->word >> INLINE_COUNT_SHIFT) & TAG;
			to->word >>= INLINE_SHIFT;
			memcpy(to->inlined, &to->word, sizeof(to->word));
			to->bytes = to->inlined;
			return KH_FOUND;
		case INLINE_NUMERIC:
			if (kind != KH_VALUE_KIND_VARLENA)
				return KH_FOUND_ELSE;
			to->length = kh_direct_numeric(to->word, to->inlined);
			to->bytes = to->inlined;
			return KH_FOUND;
		case OWN_ADDRESS:
			break;
		default:
			return KH_FOUND_ELSE;
	}
	if (kind == KH_VALUE_KIND_FIXED16)
	{
		to->bytes = words_at(from, to->word, FIXED_BYTES);
		to->length = FIXED_BYTES;
		return to->bytes != NULL ? KH_FOUND : KH_FOUND_ELSE;
	}
	to->bytes = words_at(from, to->word, VARLENA_HEADER_BYTES);
	/* Long values lie elsewhere. */
	if (to->bytes == NULL)
		return KH_FOUND_ELSE;
	memcpy(&header, to->bytes, sizeof(header));
	header >>= 2;
	if (header < VARLENA_HEADER_BYTES || words_at(from, to->word, header) == NULL)
		return KH_FOUND_TORN;
	if (header > KH_DIRECT_VALUE_BYTES)
		return KH_FOUND_ELSE;
	to->bytes += VARLENA_HEADER_BYTES;
	to->length = header - VARLENA_HEADER_BYTES;
	return KH_FOUND;
}

static kh_found
value_of(const reading *from, uint32_t column, uint8_t kind, bool is_missing_null, uint64_t dictionary, value *to)
{
	const unsigned char *entry = from->page + KH_STORE_PAGE_BYTES + (size_t) column * KH_STORE_PAGE_COLUMN_BYTES;
	uint64_t columns = kh_store_word(from->page + KH_STORE_PAGE_COLUMNS_OFFSET);
	const unsigned char *bits;
	uint64_t place;
	uint64_t nulls;
	kh_found found;

	/* A column that is younger than the page. */
	if (column >= columns)
		return KH_FOUND_ELSE;
	if ((uint64_t) (entry - from->store->base) > from->limit - KH_STORE_PAGE_COLUMN_BYTES)
		return KH_FOUND_TORN;
	place = kh_store_word(entry + KH_STORE_PAGE_COLUMN_PLACE_OFFSET);
	nulls = kh_store_word(entry + KH_STORE_PAGE_COLUMN_NULLS_OFFSET);
	to->is_null = place == 0;
	if (place == 0)
		return is_missing_null ? KH_FOUND : KH_FOUND_ELSE;
	if (nulls != 0)
	{
		bits = words_at(from, nulls + WORD_BYTES * (from->slot / 64), WORD_BYTES);
		if (bits == NULL || nulls % WORD_BYTES != 0)
			return KH_FOUND_TORN;
		to->is_null = ((kh_store_word(bits) >> (from->slot % 64)) & 1) != 0;
	}
	if (to->is_null)
		return KH_FOUND;
	found = word_of(from, place, &to->word);
	if (found != KH_FOUND || kind == KH_VALUE_KIND_WORD || kind == KH_VALUE_KIND_FLOAT4 || kind == KH_VALUE_KIND_FLOAT8)
		return found;
	return bytes_of(from, kind, dictionary, to);
}

/* Whether the row has the values that were asked for: an entry of an index may be that of another version. */
static kh_found
has_key(const reading *from, const kh_direct *read, const kh_wanted *row)
{
	for (uint32_t i = 0; i < read->key_count; i++)
	{
		const kh_direct_read_keys *key = &read->keys[i];
		uint64_t wanted = kh_batch_word(row->parameters, row->row, key->parameter);
		const unsigned char *bytes;
		uint32_t header;
		value has;
		kh_found found = value_of(from, key->column, key->kind, false, key->dictionary_cell, &has);

		if (found != KH_FOUND)
			return found;
		if (has.is_null)
			return KH_FOUND_NOTHING;
		if (key->kind == KH_VALUE_KIND_WORD)
		{
			if (has.word != wanted)
				return KH_FOUND_NOTHING;
			continue;
		}
		bytes = kh_batch_value(row->parameters, wanted, key->kind == KH_VALUE_KIND_FIXED16 ? FIXED_BYTES : 0);
		if (bytes == NULL)
			return KH_FOUND_ELSE;
		header = FIXED_BYTES;
		if (key->kind == KH_VALUE_KIND_VARLENA)
		{
			memcpy(&header, bytes, sizeof(header));
			header = (header >> 2) - VARLENA_HEADER_BYTES;
			bytes += VARLENA_HEADER_BYTES;
		}
		if (header != has.length || memcmp(bytes, has.bytes, header) != 0)
			return KH_FOUND_NOTHING;
	}
	return KH_FOUND;
}

/* Whether the row has the key that the entry has: another entry may be that of this version, and both in one range. */
static kh_found
has_entry(const reading *from, const kh_direct *read, const kh_found_row *row)
{
	kh_direct_key key;

	key.length = 0;
	for (uint32_t i = 0; i < read->key_count; i++)
	{
		const kh_direct_read_keys *column = &read->keys[i];
		kh_key_value known;
		value has = {0};
		kh_found found;

		/* Both bounds are of one column. */
		if (i > 0 && (column->flags & KH_KEY_FLAGS_UPPER) != 0 && (column[-1].flags & KH_KEY_FLAGS_LOWER) != 0)
			continue;
		found = value_of(from, column->column, column->kind, false, column->dictionary_cell, &has);
		if (found != KH_FOUND)
			return found;
		known = (kh_key_value){.is_null = has.is_null, .word = has.word, .bytes = has.bytes, .length = has.length};
		if (!kh_direct_key_put(&key, column, &known))
			return KH_FOUND_ELSE;
	}
	return key.length == row->key_bytes && memcmp(key.bytes, row->key, key.length) == 0 ? KH_FOUND : KH_FOUND_NOTHING;
}

static kh_found
copy_values(const reading *from, const kh_direct *read, const kh_wanted *wanted, kh_batch_writer *to)
{
	if (!kh_batch_writer_add_row(to))
		return KH_FOUND_ELSE;
	for (uint32_t i = 0; i < read->column_count; i++)
	{
		const kh_direct_read_columns *column = &read->columns[i];
		bool fits = true;
		value has;
		kh_found found;

		if (column->kind == KH_VALUE_KIND_PARAMETER)
		{
			if (column->column >= wanted->parameters->column_count)
				return KH_FOUND_ELSE;
			if (!kh_batch_is_null(wanted->parameters, wanted->row, column->column))
				kh_batch_writer_set_word(to, i, kh_batch_word(wanted->parameters, wanted->row, column->column));
			continue;
		}
		found =
			value_of(from, column->column, column->kind, column->is_missing_null != 0, column->dictionary_cell, &has);

		if (found != KH_FOUND)
			return found;
		if (has.is_null)
			kh_batch_writer_set_null(to, i);
		else if (column->kind == KH_VALUE_KIND_VARLENA)
			fits = kh_batch_writer_set_varlena(to, i, has.bytes, has.length);
		else if (column->kind == KH_VALUE_KIND_FIXED16)
			fits = kh_batch_writer_set_value(to, i, has.bytes, has.length);
		else
			kh_batch_writer_set_word(to, i, has.word);
		if (!fits)
			return KH_FOUND_ELSE;
	}
	return KH_FOUND;
}

static kh_found
read_version(const reading *from, const kh_direct *read, const kh_found_row *row, const kh_wanted *wanted,
             kh_batch_writer *to, uint64_t *newest)
{
	uint64_t stamps = kh_store_word(from->page + KH_STORE_PAGE_STAMPS_OFFSET);
	const unsigned char *at;
	uint64_t stamp;
	kh_found found;

	if (stamps == 0)
		return KH_FOUND_TORN;
	at = words_at(from, stamps + WORD_BYTES * (uint64_t) from->slot, WORD_BYTES);
	if (at == NULL || stamps % WORD_BYTES != 0)
		return KH_FOUND_TORN;
	stamp = kh_store_word(at);
	if ((stamp & IN_FLIGHT) != 0)
		return KH_FOUND_ELSE;
	if ((stamp & TIMESTAMP) > *newest)
		*newest = stamp & TIMESTAMP;
	if ((stamp & TOMBSTONE) != 0)
		return KH_FOUND_NOTHING;
	found = row->key != NULL ? has_entry(from, read, row) : has_key(from, read, wanted);
	return found == KH_FOUND ? copy_values(from, read, wanted, to) : found;
}

kh_found
kh_direct_row(const kh_store *store, const kh_noted *note, const kh_direct *read, const kh_found_row *row,
              const kh_wanted *wanted, kh_batch_writer *to, uint64_t *newest)
{
	reading from = {.store = store, .limit = note->limit, .slot = (uint32_t) row->number & ((1u << SLOT_BITS) - 1)};
	uint64_t version;
	kh_found found;

	from.page = page_at(store, note->limit, note->table, row->number >> SLOT_BITS);
	if (from.page == NULL || from.slot >= read->page_rows)
		return KH_FOUND_TORN;
	version = kh_load_acquire((const uint64_t *) (const void *) (from.page + KH_STORE_PAGE_VERSION_OFFSET));
	if ((version & 1) != 0)
		return KH_FOUND_TORN;
	found = read_version(&from, read, row, wanted, to, newest);
	return kh_direct_unchanged(from.page + KH_STORE_PAGE_VERSION_OFFSET, version) ? found : KH_FOUND_TORN;
}

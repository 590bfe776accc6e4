/*
 * The bytes of a key, as the store's KeyCodec makes them: their order is that of the values.
 */
#include "direct.h"

#include <string.h>

#define NOT_NULL 1
#define IS_NULL 2
#define VARLENA_HEADER_BYTES 4

static bool
put(kh_direct_key *key, const void *bytes, uint32_t count)
{
	/* A row's number follows. */
	if (count > KH_DIRECT_KEY_BYTES - sizeof(uint64_t) - key->length)
		return false;
	memcpy(key->bytes + key->length, bytes, count);
	key->length += count;
	return true;
}

static bool
put_byte(kh_direct_key *key, unsigned char byte)
{
	return put(key, &byte, 1);
}

/* As many bytes as the number needs, and one before them that has the sign and says how many. */
static bool
put_integer(kh_direct_key *key, int64_t value)
{
	uint64_t magnitude = value < 0 ? ~(uint64_t) value : (uint64_t) value;
	uint32_t count = magnitude == 0 ? 0 : (71 - (uint32_t) __builtin_clzll(magnitude)) >> 3;
	uint64_t big;

	if (!put_byte(key, (unsigned char) (value < 0 ? 0x7F - count : 0x80 + count)))
		return false;
	if (count == 0)
		return true;
	big = __builtin_bswap64((uint64_t) value << (64 - 8 * count));
	return put(key, &big, count);
}

/* The bytes with 0 as 00 FF, then 00 00. */
static bool
put_bytes(kh_direct_key *key, const unsigned char *bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
	{
		if (!put_byte(key, bytes[i]) || (bytes[i] == 0 && !put_byte(key, 0xFF)))
			return false;
	}
	return put_byte(key, 0) && put_byte(key, 0);
}

static bool
put_value(kh_direct_key *key, uint8_t kind, const kh_key_value *value)
{
	switch (kind)
	{
		case KH_VALUE_KIND_WORD:
			return put_integer(key, (int64_t) value->word);
		case KH_VALUE_KIND_FIXED16:
			return put(key, value->bytes, value->length);
		case KH_VALUE_KIND_VARLENA:
			return put_bytes(key, value->bytes, value->length);
		default:
			return false;
	}
}

bool
kh_direct_key_put(kh_direct_key *key, const kh_direct_read_keys *column, const kh_key_value *value)
{
	bool is_nullable = (column->flags & KH_KEY_FLAGS_NULLABLE) != 0;
	uint32_t from = key->length;

	if (is_nullable ? !put_byte(key, value->is_null ? IS_NULL : NOT_NULL) : value->is_null)
		return false;
	if (!value->is_null && !put_value(key, column->kind, value))
		return false;
	if ((column->flags & KH_KEY_FLAGS_DESCENDING) != 0)
	{
		for (uint32_t at = from; at < key->length; at++)
			key->bytes[at] = (unsigned char) ~key->bytes[at];
	}
	return true;
}

bool
kh_direct_key_put_not_null(kh_direct_key *key, const kh_direct_read_keys *column)
{
	bool is_descending = (column->flags & KH_KEY_FLAGS_DESCENDING) != 0;

	return (column->flags & KH_KEY_FLAGS_NULLABLE) == 0 ||
	       put_byte(key, (unsigned char) (is_descending ? ~NOT_NULL : NOT_NULL));
}

bool
kh_direct_key_to_successor(kh_direct_key *key)
{
	while (key->length > 0 && key->bytes[key->length - 1] == 0xFF)
		key->length--;
	if (key->length == 0)
		return false;
	key->bytes[key->length - 1]++;
	return true;
}

void
kh_direct_key_end(kh_direct_key *key)
{
	unsigned char first[8] = {0};
	uint64_t head;

	memcpy(first, key->bytes, key->length < sizeof(first) ? key->length : sizeof(first));
	memcpy(&head, first, sizeof(head));
	key->head = __builtin_bswap64(head);
}

bool
kh_direct_parameter(const kh_direct_read_keys *column, const kh_wanted *wanted, kh_key_value *value)
{
	uint32_t header;

	if (column->parameter >= wanted->parameters->column_count)
		return false;
	value->is_null = kh_batch_is_null(wanted->parameters, wanted->row, column->parameter);
	if (value->is_null)
		return true;
	value->word = kh_batch_word(wanted->parameters, wanted->row, column->parameter);
	if (column->kind == KH_VALUE_KIND_WORD)
		return true;
	value->length = column->kind == KH_VALUE_KIND_FIXED16 ? 16 : 0;
	value->bytes = kh_batch_value(wanted->parameters, value->word, value->length);
	if (value->bytes == NULL || column->kind == KH_VALUE_KIND_FIXED16)
		return value->bytes != NULL;
	memcpy(&header, value->bytes, sizeof(header));
	value->bytes += VARLENA_HEADER_BYTES;
	value->length = (header >> 2) - VARLENA_HEADER_BYTES;
	return true;
}

bool
kh_direct_key_make(kh_direct_key *key, const kh_direct_read_keys *columns, uint32_t count, const kh_wanted *wanted,
                   bool *is_null)
{
	key->length = 0;
	*is_null = false;
	for (uint32_t i = 0; i < count; i++)
	{
		kh_key_value value;

		if (!kh_direct_parameter(&columns[i], wanted, &value))
			return false;
		*is_null = value.is_null;
		if (value.is_null)
			return true;
		if (!kh_direct_key_put(key, &columns[i], &value))
			return false;
	}
	kh_direct_key_end(key);
	return true;
}

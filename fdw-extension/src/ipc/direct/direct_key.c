/*
 * The bytes of a key, as the store's KeyCodec makes them: their order is that of the values.
 */
#include "direct.h"

#include <string.h>

#define NOT_NULL 1
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
put_value(kh_direct_key *key, uint8_t kind, const kh_wanted *wanted, uint32_t parameter)
{
	uint64_t word = kh_batch_word(wanted->parameters, wanted->row, parameter);
	const unsigned char *value;
	uint32_t header;

	switch (kind)
	{
		case KH_VALUE_KIND_WORD:
			return put_integer(key, (int64_t) word);
		case KH_VALUE_KIND_FIXED16:
			value = kh_batch_value(wanted->parameters, word, 16);
			return value != NULL && put(key, value, 16);
		case KH_VALUE_KIND_VARLENA:
			value = kh_batch_value(wanted->parameters, word, 0);
			if (value == NULL)
				return false;
			memcpy(&header, value, sizeof(header));
			return put_bytes(key, value + VARLENA_HEADER_BYTES, (header >> 2) - VARLENA_HEADER_BYTES);
		default:
			return false;
	}
}

static uint64_t
head_of(const kh_direct_key *key)
{
	unsigned char first[8] = {0};
	uint64_t head;

	memcpy(first, key->bytes, key->length < sizeof(first) ? key->length : sizeof(first));
	memcpy(&head, first, sizeof(head));
	return __builtin_bswap64(head);
}

bool
kh_direct_key_make(kh_direct_key *key, const kh_direct_read_keys *columns, uint32_t count, const kh_wanted *wanted,
                   bool *is_null)
{
	key->length = 0;
	*is_null = false;
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t from = key->length;

		if (columns[i].parameter >= wanted->parameters->column_count)
			return false;
		if (kh_batch_is_null(wanted->parameters, wanted->row, columns[i].parameter))
		{
			*is_null = true;
			return true;
		}
		if ((columns[i].flags & KH_KEY_FLAGS_NULLABLE) != 0 && !put_byte(key, NOT_NULL))
			return false;
		if (!put_value(key, columns[i].kind, wanted, columns[i].parameter))
			return false;
		if ((columns[i].flags & KH_KEY_FLAGS_DESCENDING) != 0)
		{
			for (uint32_t at = from; at < key->length; at++)
				key->bytes[at] = (unsigned char) ~key->bytes[at];
		}
	}
	key->head = head_of(key);
	return true;
}

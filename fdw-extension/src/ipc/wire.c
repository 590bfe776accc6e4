#include "platform.h"

#include "wire.h"

#include <string.h>

#define CODE_BYTES8 0x80
#define CODE_BYTES16 0x81
#define CODE_PADDING32 0x8E
#define CODE_PADDING 0x8F
#define CODE_UINT8 0xA1
#define CODE_UINT16 0xA2
#define CODE_UINT32 0xA3
#define CODE_INT8 0xA4
#define CODE_INT16 0xA5
#define CODE_INT32 0xA6
#define CODE_TYPE 0xB6
#define CODE_TEXT 0xB8
#define CODE_EVENT 0xB9
#define CODE_FIELD 0xC0
#define CODE_SHORT_TEXT 0xE0

void
kh_wire_begin(kh_wire_reader *reader, const unsigned char *base, size_t at, size_t end)
{
	reader->base = base;
	reader->at = at;
	reader->end = end;
	reader->key = "";
	reader->key_bytes = 0;
}

bool
kh_wire_is(const kh_wire_value *value, const char *key)
{
	return value->key_bytes == strlen(key) && memcmp(value->key, key, value->key_bytes) == 0;
}

bool
kh_wire_document(const unsigned char *base, size_t bytes, size_t at, bool *meta, size_t *content_end)
{
	uint32_t header;
	uint32_t length;

	if (bytes < 4 || at > bytes - 4)
		return false;
	header = kh_load_acquire((const uint32_t *) (base + at));
	length = header & KH_WIRE_LENGTH_MASK;
	if (header == 0 || (header & KH_WIRE_INCOMPLETE) != 0 || length > bytes - 4 - at)
		return false;
	*meta = (header & KH_WIRE_META) != 0;
	*content_end = at + 4 + length;
	return true;
}

/* The next n bytes, or NULL when the document has fewer. */
static const unsigned char *
take(kh_wire_reader *reader, size_t n)
{
	const unsigned char *at = reader->base + reader->at;

	if (reader->end - reader->at < n)
		return NULL;
	reader->at += n;
	return at;
}

static bool
take_unsigned(kh_wire_reader *reader, size_t n, uint64_t *number)
{
	const unsigned char *at = take(reader, n);

	*number = 0;
	if (at != NULL)
		memcpy(number, at, n);
	return at != NULL;
}

/* Lengths of texts: 7 bits per byte, the lowest first. Two bytes are more than anything here needs. */
static bool
take_length(kh_wire_reader *reader, size_t *length)
{
	const unsigned char *first = take(reader, 1);
	const unsigned char *second;

	if (first == NULL)
		return false;
	*length = *first & 0x7F;
	if ((*first & 0x80) == 0)
		return true;
	if ((second = take(reader, 1)) == NULL || (*second & 0x80) != 0)
		return false;
	*length |= (size_t) *second << 7;
	return true;
}

static bool
skip(kh_wire_reader *reader, size_t length_bytes)
{
	uint64_t n;

	return take_unsigned(reader, length_bytes, &n) && take(reader, n) != NULL;
}

static bool
read_key(kh_wire_reader *reader, size_t n)
{
	reader->key = (const char *) take(reader, n);
	reader->key_bytes = reader->key != NULL ? n : 0;
	return reader->key != NULL;
}

static bool
read_integer(kh_wire_reader *reader, unsigned char code, kh_wire_value *value)
{
	static const unsigned char sizes[] = {1, 2, 4, 1, 2, 4, 8};
	uint32_t n = sizes[code - CODE_UINT8];
	uint64_t number;

	value->offset = reader->at;
	value->bytes = n;
	value->kind = KH_WIRE_INTEGER;
	if (!take_unsigned(reader, n, &number))
		return false;
	if (code >= CODE_INT8 && n < 8)
	{
		unsigned shift = 64 - 8 * n;

		value->number = (int64_t) (number << shift) >> shift;
	}
	else
		value->number = (int64_t) number;
	return true;
}

static bool
read_array(kh_wire_reader *reader, kh_wire_value *value)
{
	uint64_t used;

	value->kind = KH_WIRE_ARRAY;
	if (!take_unsigned(reader, 8, &value->count) || !take_unsigned(reader, 8, &used))
		return false;
	value->offset = reader->at;
	return value->count <= (reader->end - reader->at) / 8 && take(reader, value->count * 8) != NULL;
}

static bool
read_text(kh_wire_reader *reader, size_t n, kh_wire_value *value)
{
	value->kind = KH_WIRE_TEXT;
	value->bytes = (uint32_t) n;
	value->text = (const char *) take(reader, n);
	return value->text != NULL;
}

/* Reads one code with what belongs to it. value->kind stays KH_WIRE_END unless it was a value. */
static bool
read_code(kh_wire_reader *reader, kh_wire_value *value)
{
	unsigned char code = *take(reader, 1);
	size_t n;

	if (code >= CODE_SHORT_TEXT)
		return read_text(reader, code - CODE_SHORT_TEXT, value);
	if (code >= CODE_FIELD)
		return read_key(reader, code - CODE_FIELD);
	switch (code)
	{
		case CODE_BYTES8:
			return take(reader, 1) != NULL;
		case CODE_BYTES16:
			return take(reader, 2) != NULL;
		case KH_WIRE_CODE_NESTED:
			return take(reader, 4) != NULL;
		case KH_WIRE_CODE_ARRAY:
			return read_array(reader, value);
		case CODE_PADDING32:
			return skip(reader, 4);
		case CODE_PADDING:
			return true;
		case CODE_TYPE:
			return take_length(reader, &n) && take(reader, n) != NULL;
		case CODE_TEXT:
			return take_length(reader, &n) && read_text(reader, n, value);
		case CODE_EVENT:
			return take_length(reader, &n) && read_key(reader, n);
		default:
			return code >= CODE_UINT8 && code <= KH_WIRE_CODE_INT64 && read_integer(reader, code, value);
	}
}

kh_wire_value
kh_wire_next(kh_wire_reader *reader)
{
	kh_wire_value value = {.kind = KH_WIRE_END};

	while (value.kind == KH_WIRE_END && reader->at < reader->end)
	{
		if (!read_code(reader, &value))
		{
			value.kind = KH_WIRE_MALFORMED;
			reader->at = reader->end;
		}
	}
	value.key = reader->key != NULL ? reader->key : "";
	value.key_bytes = reader->key_bytes;
	return value;
}

void
kh_wire_put_bytes(kh_wire_writer *writer, const void *bytes, size_t n)
{
	memcpy(writer->at, bytes, n);
	writer->at += n;
	writer->position += n;
}

static void
put_byte(kh_wire_writer *writer, unsigned char byte)
{
	kh_wire_put_bytes(writer, &byte, 1);
}

void
kh_wire_put_name(kh_wire_writer *writer, const char *name)
{
	put_byte(writer, (unsigned char) (CODE_FIELD + strlen(name)));
	kh_wire_put_bytes(writer, name, strlen(name));
}

void
kh_wire_put_event(kh_wire_writer *writer, const char *name)
{
	put_byte(writer, CODE_EVENT);
	put_byte(writer, (unsigned char) strlen(name));
	kh_wire_put_bytes(writer, name, strlen(name));
}

void
kh_wire_put_type(kh_wire_writer *writer, const char *name)
{
	put_byte(writer, CODE_TYPE);
	put_byte(writer, (unsigned char) strlen(name));
	kh_wire_put_bytes(writer, name, strlen(name));
}

void
kh_wire_put_number(kh_wire_writer *writer, uint32_t number)
{
	if (number < 0x100)
		put_byte(writer, CODE_UINT8);
	else if (number < 0x8000)
		put_byte(writer, CODE_INT16);
	else if (number < 0x10000)
		put_byte(writer, CODE_UINT16);
	else
		put_byte(writer, CODE_INT32);
	kh_wire_put_bytes(writer, &number, number < 0x100 ? 1 : number < 0x10000 ? 2 : 4);
}

void
kh_wire_put_aligned_code(kh_wire_writer *writer, unsigned char code, unsigned alignment)
{
	uint32_t padding = (uint32_t) (-(writer->position + 1) & (alignment - 1));

	if (padding >= 5)
	{
		uint32_t rest = padding - 5;
		static const unsigned char zeros[16];

		put_byte(writer, CODE_PADDING32);
		kh_wire_put_bytes(writer, &rest, sizeof(rest));
		kh_wire_put_bytes(writer, zeros, rest);
	}
	else
	{
		while (padding-- > 0)
			put_byte(writer, CODE_PADDING);
	}
	put_byte(writer, code);
}

void
kh_wire_put_u64(kh_wire_writer *writer, uint64_t number)
{
	kh_wire_put_bytes(writer, &number, sizeof(number));
}

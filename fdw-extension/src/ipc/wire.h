/*
 * The few codes of Chronicle's binary wire that occur in queue files.
 *
 * Reading is a flat walk: nested blocks are entered, types and padding skipped, and each value is reported with the
 * name before it. Names are unique within a document. Nothing outside [at, end) is read, whatever the bytes are.
 */
#ifndef KAKEHASHI_WIRE_H
#define KAKEHASHI_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Headers of documents. */
#define KH_WIRE_LENGTH_MASK 0x3FFFFFFFu
#define KH_WIRE_META 0x40000000u
#define KH_WIRE_INCOMPLETE 0x80000000u
#define KH_WIRE_EOF 0xC0000000u

typedef enum kh_wire_kind
{
	KH_WIRE_INTEGER,
	KH_WIRE_TEXT,
	KH_WIRE_ARRAY,
	KH_WIRE_END,
	KH_WIRE_MALFORMED
} kh_wire_kind;

typedef struct kh_wire_reader
{
	const unsigned char *base;
	size_t at;
	size_t end;
	const char *key; /* of the value that comes next; not NUL-terminated */
	size_t key_bytes;
} kh_wire_reader;

typedef struct kh_wire_value
{
	kh_wire_kind kind;
	const char *key;
	size_t key_bytes;
	size_t offset;    /* of the value from base: an INTEGER of 8 bytes, or an ARRAY's first element */
	uint32_t bytes;   /* of an INTEGER or a TEXT */
	int64_t number;   /* INTEGER */
	const char *text; /* TEXT, not NUL-terminated */
	uint64_t count;   /* ARRAY: elements, all of them within the document */
} kh_wire_value;

/* Content of a document: bytes [at, end) from base. */
extern void kh_wire_begin(kh_wire_reader *reader, const unsigned char *base, size_t at, size_t end);

/* The next value; KH_WIRE_END or KH_WIRE_MALFORMED at the end. */
extern kh_wire_value kh_wire_next(kh_wire_reader *reader);
extern bool kh_wire_is(const kh_wire_value *value, const char *key);

/*
 * Header of the document at at; false when it does not lie within bytes or is not complete. Content is
 * [at + 4, content_end); the next header is at kh_wire_align4(content_end).
 */
extern bool kh_wire_document(const unsigned char *base, size_t bytes, size_t at, bool *meta, size_t *content_end);

static inline uint64_t
kh_wire_align4(uint64_t at)
{
	return (at + 3) & ~(uint64_t) 3;
}

/* Writing: into memory that the caller has sized; see queue_file.c. */
typedef struct kh_wire_writer
{
	unsigned char *at;
	uint64_t position; /* of at in the file, for alignment */
} kh_wire_writer;

extern void kh_wire_put_bytes(kh_wire_writer *writer, const void *bytes, size_t n);
extern void kh_wire_put_name(kh_wire_writer *writer, const char *name);
extern void kh_wire_put_event(kh_wire_writer *writer, const char *name);
extern void kh_wire_put_type(kh_wire_writer *writer, const char *name);

/* The smallest form of a number that is not changed in place. */
extern void kh_wire_put_number(kh_wire_writer *writer, uint32_t number);

/* Padding, so that what follows a code of one byte is aligned; then the code. */
extern void kh_wire_put_aligned_code(kh_wire_writer *writer, unsigned char code, unsigned alignment);
extern void kh_wire_put_u64(kh_wire_writer *writer, uint64_t number);

#define KH_WIRE_CODE_NESTED 0x82
#define KH_WIRE_CODE_ARRAY 0x8D
#define KH_WIRE_CODE_INT64 0xA7

#endif /* KAKEHASHI_WIRE_H */

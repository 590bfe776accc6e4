/*
 * State of an appender, and the steps of an append; one file per step.
 *
 *   queue_table.c   metadata.cq4t: settings, lock word, listing
 *   queue_lock.c    the write lock, stealing it from the dead
 *   queue_cycle.c   a cycle file: open, check, grow, reserve
 *   queue_tail.c    finding the end, repair, index
 *   queue_make.c    a new cycle file
 *   queue_roll.c    from one cycle to the next
 *   queue_append.c  open, append, close
 */
#ifndef KAKEHASHI_QUEUE_INTERNAL_H
#define KAKEHASHI_QUEUE_INTERNAL_H

#include "platform.h"

#include "errors.h"
#include "queue.h"
#include "wire.h"

/* Of write.lock and append.lock. */
#define KH_LOCK_FREE 0x8000000000000000u

/* Written behind every message: the padding and the next header. */
#define KH_TAIL_ZEROS 8

/* "yyyyMMdd-HHmmss'TT'" is the longest in use. */
#define KH_FORMAT_CAPACITY 40
#define KH_NAME_CAPACITY 64

typedef struct kh_table_layout
{
	int64_t roll_millis;
	int64_t epoch_millis;
	char format[KH_FORMAT_CAPACITY];
	size_t write_lock; /* offsets in the file, multiples of 8 */
	size_t append_lock;
	size_t highest_cycle;
	size_t lowest_cycle;
	size_t mod_count;
} kh_table_layout;

typedef struct kh_table
{
	unsigned char *map;
	size_t map_bytes;
	unsigned mode; /* file mode, which cycle files get, too */
	kh_table_layout layout;
	uint64_t *write_lock;
	uint64_t *append_lock;
	int64_t *highest_cycle;
	int64_t *lowest_cycle;
	int64_t *mod_count;
} kh_table;

typedef struct kh_geometry
{
	uint32_t index_count; /* power of two; 0: not known */
	uint32_t index_spacing;
	uint32_t shift; /* of an index: cycle << shift | sequence */
} kh_geometry;

/* Where things are in a cycle file; positions are multiples of 4, of words that are stored to of 8. */
typedef struct kh_cycle_layout
{
	kh_geometry geometry;
	uint64_t position;    /* of the word writePosition.position; its partner follows */
	uint64_t last_index;  /* of the word lastIndex */
	uint64_t index2index; /* of the first slot */
} kh_cycle_layout;

/*
 * An open cycle file. map covers [0, file_bytes); file_bytes is what this process has seen of a file that never
 * shrinks. [reserved_from, reserved_to) has memory: it can be touched even when the file system is full.
 */
typedef struct kh_cycle
{
	int fd; /* -1: none. The only descriptor of the file in this process: closing another one would drop record locks */
	int64_t number;
	unsigned char *map;
	uint64_t file_bytes;
	uint64_t reserved_from;
	uint64_t reserved_to;
	uint64_t index2index_page; /* pages of index slots that have memory; UINT64_MAX: none */
	uint64_t index_page;
	kh_cycle_layout layout;
} kh_cycle;

struct kh_queue
{
	int directory;
	char path[512]; /* for messages */
	uint64_t block_bytes;
	uint64_t overlap_bytes;
	uint64_t self; /* what our lock word looks like */
	kh_table table;
	kh_geometry geometry; /* for new cycle files */
	kh_cycle open;
};

/* Where the next message goes. */
typedef struct kh_tail
{
	uint64_t position;
	uint64_t last_position; /* of the last message; 0: none */
	int64_t sequence;       /* of the last message; -1: none */
	bool ended;             /* an EOF is there: nothing can follow */
} kh_tail;

/* ---- table ---- */

/* Bytes of metadata.cq4t, from the beginning; bytes may be garbage. base must be aligned to 8. */
extern bool kh_table_parse(const unsigned char *base, size_t bytes, kh_table_layout *layout, kh_error *error);
extern bool kh_table_open(int directory, const char *path, kh_table *table, kh_error *error);
extern void kh_table_close(kh_table *table);

/* Puts cycle into the listing. Under the lock. */
extern void kh_table_list(kh_table *table, int64_t cycle);

/* The highest listed cycle, or -1 when there is none. */
extern int64_t kh_table_highest(const kh_table *table);

/* ---- lock ---- */

/* Lock word of this process: pid, and its start time against reuse of the pid. */
extern bool kh_lock_self(uint64_t *self, kh_error *error);
extern bool kh_lock_take(kh_queue *queue, kh_error *error);
extern void kh_lock_release(kh_queue *queue);

/* ---- cycle file ---- */

/* First bytes of a cycle file, which may be garbage. base must be aligned to 8. */
extern bool kh_cycle_parse(const unsigned char *base, size_t bytes, kh_cycle_layout *layout, kh_error *error);

/* Whether the file's header is complete: only then its maker has finished. Touches no mapping. */
extern bool kh_cycle_is_ready(int fd);
extern bool kh_cycle_map(kh_queue *queue, kh_cycle *cycle, int fd, int64_t number, kh_error *error);
extern void kh_cycle_close(kh_cycle *cycle);

/* Takes notice of what others have added to the length of the file. */
extern bool kh_cycle_refresh(const kh_queue *queue, kh_cycle *cycle, kh_error *error);

/* Makes [from, to) part of the file, of the mapping, and backed by memory. */
extern bool kh_cycle_reserve(const kh_queue *queue, kh_cycle *cycle, uint64_t from, uint64_t to, kh_error *error);

static inline uint64_t *
kh_cycle_word(const kh_cycle *cycle, uint64_t position)
{
	return (uint64_t *) (cycle->map + position);
}

static inline uint32_t *
kh_cycle_header(const kh_cycle *cycle, uint64_t position)
{
	return (uint32_t *) (cycle->map + position);
}

/* ---- tail; all under the lock ---- */

/* Finds the tail and publishes what a killed writer has left unpublished. */
extern bool kh_tail_find(const kh_queue *queue, kh_cycle *cycle, kh_tail *tail, kh_error *error);

/* Publishes the message at position, whose header has been set. end: of its content. */
extern void kh_tail_publish(const kh_queue *queue, kh_cycle *cycle, uint64_t position, int64_t sequence, uint64_t end);

/* Writes EOF; it may be there already. */
extern bool kh_tail_terminate(const kh_queue *queue, kh_cycle *cycle, kh_error *error);

/* ---- roll ---- */

/* shift of the geometry; false when a number is not a power of two or out of range. */
extern bool kh_geometry_complete(kh_geometry *geometry);

/* Geometry of the library's roll cycles; false when the format is not one of them. */
extern bool kh_geometry_of_format(const char *format, int64_t roll_millis, kh_geometry *geometry);

/* File name of a cycle, UTC; false when the format has an unknown letter or the time is out of range. */
extern bool kh_cycle_name(const kh_table_layout *table, int64_t cycle, char *name, size_t capacity);

/* Creates the file, complete, under its name. An existing one is left as it is. */
extern bool kh_cycle_make(const kh_queue *queue, const char *name, kh_error *error);

/* Makes cycle the open one: terminates what came before, makes the file if there is none, lists it. Under the lock. */
extern bool kh_roll(kh_queue *queue, int64_t cycle, kh_error *error);

#endif /* KAKEHASHI_QUEUE_INTERNAL_H */

/*
 * Preloaded into a program by TracedProcess: writes down, in one order, everything that the program changes below one
 * directory, what it synchronises, and what it has acknowledged. SimulatedDisk makes of that what a loss of power leaves.
 *
 * KAKEHASHI_TRACE_ROOT names the directory. It is there; for a new trace it is empty.
 * KAKEHASHI_TRACE_FILE names the trace. A process goes on with the trace of one that was killed.
 * KAKEHASHI_TRACE_MARKS names an existing file outside of the directory. Writes to it become events, and change nothing.
 * KAKEHASHI_TRACE_EVENTS says after how many events of its own the process is killed; without it lives on.
 * KAKEHASHI_TRACE_PART has a part of paths: then only the begins of synchronisations of such files count.
 *
 * A change and its event are made under one lock, so the order of the events is that of the changes. A synchronisation has
 * two events, as the disk takes its time: it covers what is before its begin, and counts from its end on. The disk is
 * this library: the real one is not synchronised.
 *
 * Stores into mapped files are found by comparing with a copy, at each event. Events of unknown files are not written.
 *
 * events.c has the trace, the lock and the maps; names.c the files that are known and the calls that change names; calls.c
 * the calls that change and synchronise contents. Their shared names are hidden: they must not stand in for the program's.
 */
#ifndef DISK_TRACE_H
#define DISK_TRACE_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum kind
{
	ROOT = 1,     /* file */
	CREATE = 2,   /* file, a: directory, b: 1 for a directory; name */
	WRITE = 3,    /* file, a: offset; bytes */
	TRUNCATE = 4, /* file, a: length */
	ALLOCATE = 5, /* file, a: least length */
	ZERO = 6,     /* file, a: offset, b: bytes */
	LINK = 7,     /* file, a: directory; name */
	UNLINK = 8,   /* file, a: directory; name */
	RENAME = 9,   /* file, a: old directory, b: new directory; old name, 0, new name */
	BEGIN = 10,   /* file, a: number of the synchronisation */
	END = 11,     /* file, a: number of the synchronisation */
	MARK = 12,    /* bytes */
	PROCESS = 13, /* a program begins */
	STRANGE = 14  /* bytes: a change that this library does not know how to describe */
};

struct header
{
	uint32_t bytes; /* behind the header */
	uint32_t kind;
	uint64_t file;
	uint64_t a;
	uint64_t b;
};

#pragma GCC visibility push(hidden)

/* The trace; negative before the library has begun, or where it has nothing to do. Set once. */
extern int trace;

/* The device of the directory. Set once, as the next two. */
extern dev_t device;
extern dev_t marks_device;
extern ino_t marks;

/* Part of the paths whose synchronisations count; NULL: each event counts. */
extern const char *counted_part;

/* The lock, which all below needs. enter() gives errno, and leave() keeps it. */
int enter(void);
void leave(void);

void fail(const char *what) __attribute__((noreturn));

/* Writes an event. */
void event(enum kind kind, ino_t file, uint64_t a, uint64_t b, const void *bytes, size_t count);

/* Writes that something was changed that no event describes. */
void strange(const char *what);

/* Counts what the process may still do, and ends it. */
void count_down(void);

/* A number for a synchronisation. */
uint64_t next_synchronisation(void);

/* Mapped files. */
void add_map(char *at, size_t bytes, uint64_t offset, const struct stat *is);
void shorten_maps(ino_t file, uint64_t length);
void remove_maps(const char *at, size_t bytes);
bool has_maps(void);

/* The file that is mapped at an address; 0: none. */
ino_t mapped_file(const char *at);

/* Inodes below the directory. */
void know_none(void);
bool knows(ino_t file);
void learn(ino_t file);
bool known_fd(int fd, struct stat *is);

#pragma GCC visibility pop

#endif

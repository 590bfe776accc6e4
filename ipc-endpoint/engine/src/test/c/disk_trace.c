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
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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

#define FLUSH_MICROS 100
#define PAGE 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int trace = -1;
static dev_t device;
static dev_t marks_device;
static ino_t marks;
static int64_t events_left = INT64_MAX;
static const char *counted_part;
static uint64_t next_sync = 1;

/* Inodes below the directory: a hash table with linear probing, 0 is free, 1 was removed. */
static ino_t *known;
static size_t known_size;
static size_t known_used;

struct map
{
	char *at;
	size_t bytes;
	char *copy;
	uint64_t offset;
	ino_t file;
};
static struct map *maps;
static size_t map_count;
static size_t map_room;

static void
fail(const char *what)
{
	dprintf(2, "disk_trace: %s: %s\n", what, strerror(errno));
	abort();
}

static size_t
slot_of(ino_t file)
{
	return (size_t) (file * 0x9E3779B97F4A7C15ull) & (known_size - 1);
}

static bool
knows(ino_t file)
{
	for (size_t i = slot_of(file); known[i] != 0; i = (i + 1) & (known_size - 1))
		if (known[i] == file)
			return true;
	return false;
}

static void
learn(ino_t file)
{
	if (knows(file))
		return;
	if (known_used * 2 >= known_size)
	{
		ino_t *before = known;
		size_t size = known_size;

		known_size *= 2;
		known_used = 0;
		known = calloc(known_size, sizeof(ino_t));
		if (known == NULL)
			fail("no memory");
		for (size_t i = 0; i < size; i++)
			if (before[i] > 1)
				learn(before[i]);
		free(before);
	}
	for (size_t i = slot_of(file);; i = (i + 1) & (known_size - 1))
		if (known[i] <= 1)
		{
			known_used += known[i] == 0;
			known[i] = file;
			return;
		}
}

static void
forget(ino_t file)
{
	for (size_t i = slot_of(file); known[i] != 0; i = (i + 1) & (known_size - 1))
		if (known[i] == file)
			known[i] = 1;
}

static void
put(enum kind kind, ino_t file, uint64_t a, uint64_t b, const void *bytes, size_t count)
{
	struct header header = {(uint32_t) count, kind, file, a, b};
	struct iovec parts[2] = {{&header, sizeof(header)}, {(void *) bytes, count}};

	if (syscall(SYS_writev, trace, parts, 2) != (long) (sizeof(header) + count))
		fail("could not write the trace");
}

/* Finds stores into mapped files, a page at a time. */
static void
sample(void)
{
	for (size_t m = 0; m < map_count; m++)
	{
		struct map *map = &maps[m];

		for (size_t from = 0; from < map->bytes; from += PAGE)
		{
			size_t count = map->bytes - from < PAGE ? map->bytes - from : PAGE;
			size_t first = 0;
			size_t last = count;

			if (memcmp(map->at + from, map->copy + from, count) == 0)
				continue;
			/* Others store meanwhile: what is written down is what was copied. */
			char now[PAGE];
			memcpy(now, map->at + from, count);
			while (first < count && now[first] == map->copy[from + first])
				first++;
			while (last > first && now[last - 1] == map->copy[from + last - 1])
				last--;
			if (first == last)
				continue;
			memcpy(map->copy + from + first, now + first, last - first);
			put(WRITE, map->file, map->offset + from + first, 0, now + first, last - first);
		}
	}
}

/* Counts what the process may still do, and ends it. Nobody changes anything before the end: changes need the lock. */
static void
count_down(void)
{
	if (--events_left > 0)
		return;
	sample();
	kill(getpid(), SIGKILL);
	pause();
}

/* Writes an event; with the lock. */
static void
event(enum kind kind, ino_t file, uint64_t a, uint64_t b, const void *bytes, size_t count)
{
	sample();
	put(kind, file, a, b, bytes, count);
	if (counted_part == NULL)
		count_down();
}

static void
strange(const char *what)
{
	event(STRANGE, 0, 0, 0, what, strlen(what));
}

static int
visit(const char *path, const struct stat *is, int kind, struct FTW *at)
{
	(void) path;
	(void) kind;
	(void) at;
	learn(is->st_ino);
	return 0;
}

__attribute__((constructor)) static void
begin(void)
{
	const char *root = getenv("KAKEHASHI_TRACE_ROOT");
	const char *file = getenv("KAKEHASHI_TRACE_FILE");
	const char *mark_file = getenv("KAKEHASHI_TRACE_MARKS");
	const char *events = getenv("KAKEHASHI_TRACE_EVENTS");
	struct stat is;

	if (root == NULL || file == NULL || mark_file == NULL)
		return;
	known_size = 1024;
	known = calloc(known_size, sizeof(ino_t));
	if (known == NULL || stat(mark_file, &is) != 0)
		fail(mark_file);
	marks = is.st_ino;
	marks_device = is.st_dev;
	if (stat(root, &is) != 0)
		fail(root);
	device = is.st_dev;
	if (nftw(root, visit, 16, FTW_PHYS) != 0)
		fail(root);
	if (events != NULL)
		events_left = atoll(events);
	counted_part = getenv("KAKEHASHI_TRACE_PART");
	ino_t root_file = is.st_ino;
	int opened = (int) syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (opened < 0 || fstat(opened, &is) != 0)
		fail(file);
	trace = opened;
	next_sync = (uint64_t) is.st_size + 1;
	put(is.st_size == 0 ? ROOT : PROCESS, root_file, 0, 0, NULL, 0);
}

static bool
known_fd(int fd, struct stat *is)
{
	return trace >= 0 && fstat(fd, is) == 0 && is->st_dev == device && knows(is->st_ino);
}

/* The directory that a path names a file in, if it is below ours; `name` gets the last part, in `room`. */
static bool
known_parent(int at, const char *path, char *room, const char **name, ino_t *parent)
{
	struct stat is;
	size_t length = strlen(path);
	char *slash;

	if (trace < 0 || length == 0 || length >= PATH_MAX)
		return false;
	memcpy(room, path, length + 1);
	while (length > 1 && room[length - 1] == '/')
		room[--length] = 0;
	slash = strrchr(room, '/');
	*name = slash == NULL ? room : slash + 1;
	if (slash == NULL)
	{
		if (fstatat(at, ".", &is, 0) != 0 && fstat(at, &is) != 0)
			return false;
	}
	else
	{
		/* The name stays in the room, behind the directory. */
		char directory[PATH_MAX];
		size_t bytes = slash == room ? 1 : (size_t) (slash - room);

		memcpy(directory, room, bytes);
		directory[bytes] = 0;
		if (fstatat(at, directory, &is, 0) != 0)
			return false;
	}
	*parent = is.st_ino;
	return is.st_dev == device && knows(is.st_ino);
}

static int
enter(void)
{
	pthread_mutex_lock(&lock);
	return errno;
}

static void
leave(void)
{
	int error = errno;

	pthread_mutex_unlock(&lock);
	errno = error;
}

static int
open_file(int at, const char *path, int flags, mode_t mode)
{
	char room[PATH_MAX];
	const char *name;
	ino_t parent;
	struct stat is;
	int fd;

	if (trace < 0 || (flags & (O_CREAT | O_TRUNC)) == 0 || (flags & O_TMPFILE) == O_TMPFILE)
		return (int) syscall(SYS_openat, at, path, flags, mode);
	enter();
	if (!known_parent(at, path, room, &name, &parent))
		fd = (int) syscall(SYS_openat, at, path, flags, mode);
	else
	{
		bool was_there = fstatat(at, path, &is, 0) == 0;

		fd = (int) syscall(SYS_openat, at, path, flags, mode);
		if (fd >= 0 && fstat(fd, &is) == 0)
		{
			if (!was_there)
			{
				learn(is.st_ino);
				event(CREATE, is.st_ino, parent, 0, name, strlen(name));
			}
			else if (flags & O_TRUNC)
				event(TRUNCATE, is.st_ino, 0, 0, NULL, 0);
		}
	}
	leave();
	return fd;
}

#define OPEN_MODE(flags)                                                                                               \
	mode_t mode = 0;                                                                                                   \
	if ((flags) & (O_CREAT | O_TMPFILE))                                                                               \
	{                                                                                                                  \
		va_list list;                                                                                                  \
		va_start(list, flags);                                                                                         \
		mode = va_arg(list, mode_t);                                                                                   \
		va_end(list);                                                                                                  \
	}

int
open(const char *path, int flags, ...)
{
	OPEN_MODE(flags)
	return open_file(AT_FDCWD, path, flags, mode);
}

int
open64(const char *path, int flags, ...)
{
	OPEN_MODE(flags)
	return open_file(AT_FDCWD, path, flags, mode);
}

int
openat(int at, const char *path, int flags, ...)
{
	OPEN_MODE(flags)
	return open_file(at, path, flags, mode);
}

int
openat64(int at, const char *path, int flags, ...)
{
	OPEN_MODE(flags)
	return open_file(at, path, flags, mode);
}

int
creat(const char *path, mode_t mode)
{
	return open_file(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int
creat64(const char *path, mode_t mode)
{
	return open_file(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* Streams create their files by a call of the C library's own. Their writes are seen in no way: such a file stays unknown. */

static void
written(ino_t file, const struct iovec *parts, int count, ssize_t bytes, off_t at)
{
	ssize_t left = bytes;

	for (int i = 0; i < count && left > 0; i++)
	{
		size_t part = parts[i].iov_len < (size_t) left ? parts[i].iov_len : (size_t) left;

		if (part > 0)
			event(WRITE, file, (uint64_t) at, 0, parts[i].iov_base, part);
		at += (off_t) part;
		left -= (ssize_t) part;
	}
}

/* Writes at an offset, or at the position of the file: -1. */
static ssize_t
write_parts(int fd, const struct iovec *parts, int count, off_t at)
{
	struct stat is;
	ssize_t bytes;

	/* A pipe or a socket may take long. */
	if (trace < 0 || fstat(fd, &is) != 0 || !S_ISREG(is.st_mode))
		return at < 0 ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, at, 0);
	enter();
	if (is.st_ino == marks && is.st_dev == marks_device)
	{
		bytes = 0;
		for (int i = 0; i < count; i++)
		{
			event(MARK, 0, 0, 0, parts[i].iov_base, parts[i].iov_len);
			bytes += (ssize_t) parts[i].iov_len;
		}
	}
	else
	{
		bytes = at < 0 ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, at, 0);
		if (bytes > 0 && is.st_dev == device && knows(is.st_ino))
			written(is.st_ino, parts, count, bytes, at < 0 ? lseek(fd, 0, SEEK_CUR) - bytes : at);
	}
	leave();
	return bytes;
}

ssize_t
write(int fd, const void *bytes, size_t count)
{
	struct iovec part = {(void *) bytes, count};

	return write_parts(fd, &part, 1, -1);
}

ssize_t
pwrite(int fd, const void *bytes, size_t count, off_t at)
{
	struct iovec part = {(void *) bytes, count};

	return write_parts(fd, &part, 1, at);
}

ssize_t
pwrite64(int fd, const void *bytes, size_t count, off64_t at)
{
	return pwrite(fd, bytes, count, at);
}

ssize_t
writev(int fd, const struct iovec *parts, int count)
{
	return write_parts(fd, parts, count, -1);
}

ssize_t
pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
	return write_parts(fd, parts, count, at);
}

ssize_t
pwritev64(int fd, const struct iovec *parts, int count, off64_t at)
{
	return write_parts(fd, parts, count, at);
}

/* A copy made by the kernel: what it has written is read again. */
static void
copied(int fd, off_t at, ssize_t bytes)
{
	struct stat is;
	char *read_back;

	if (bytes <= 0 || !known_fd(fd, &is))
		return;
	read_back = malloc((size_t) bytes);
	if (read_back == NULL || syscall(SYS_pread64, fd, read_back, bytes, at) != bytes)
	{
		free(read_back);
		strange("a copy into a file that cannot be read");
		return;
	}
	event(WRITE, is.st_ino, (uint64_t) at, 0, read_back, (size_t) bytes);
	free(read_back);
}

ssize_t
copy_file_range(int in, off64_t *in_at, int out, off64_t *out_at, size_t count, unsigned int flags)
{
	ssize_t bytes;

	if (trace < 0)
		return syscall(SYS_copy_file_range, in, in_at, out, out_at, count, flags);
	enter();
	off64_t at = out_at != NULL ? *out_at : lseek(out, 0, SEEK_CUR);
	bytes = syscall(SYS_copy_file_range, in, in_at, out, out_at, count, flags);
	copied(out, at, bytes);
	leave();
	return bytes;
}

ssize_t
sendfile(int out, int in, off_t *in_at, size_t count)
{
	ssize_t bytes;
	struct stat is;

	/* To a socket it may take long. */
	if (trace < 0 || fstat(out, &is) != 0 || !S_ISREG(is.st_mode))
		return syscall(SYS_sendfile, out, in, in_at, count);
	enter();
	off_t at = lseek(out, 0, SEEK_CUR);
	bytes = syscall(SYS_sendfile, out, in, in_at, count);
	copied(out, at, bytes);
	leave();
	return bytes;
}

ssize_t
sendfile64(int out, int in, off64_t *in_at, size_t count)
{
	return sendfile(out, in, in_at, count);
}

static void
shorten_maps(ino_t file, uint64_t length)
{
	for (size_t m = 0; m < map_count; m++)
		if (maps[m].file == file && maps[m].offset + maps[m].bytes > length)
			maps[m].bytes = length > maps[m].offset ? length - maps[m].offset : 0;
}

int
ftruncate(int fd, off_t length)
{
	struct stat is;
	int done;

	if (trace < 0)
		return (int) syscall(SYS_ftruncate, fd, length);
	enter();
	bool ours = known_fd(fd, &is);
	if (ours)
		shorten_maps(is.st_ino, (uint64_t) length);
	done = (int) syscall(SYS_ftruncate, fd, length);
	if (done == 0 && ours)
		event(TRUNCATE, is.st_ino, (uint64_t) length, 0, NULL, 0);
	leave();
	return done;
}

int
ftruncate64(int fd, off64_t length)
{
	return ftruncate(fd, length);
}

int
truncate(const char *path, off_t length)
{
	struct stat is;
	int done;

	if (trace < 0)
		return (int) syscall(SYS_truncate, path, length);
	enter();
	bool ours = stat(path, &is) == 0 && is.st_dev == device && knows(is.st_ino);
	if (ours)
		shorten_maps(is.st_ino, (uint64_t) length);
	done = (int) syscall(SYS_truncate, path, length);
	if (done == 0 && ours)
		event(TRUNCATE, is.st_ino, (uint64_t) length, 0, NULL, 0);
	leave();
	return done;
}

int
truncate64(const char *path, off64_t length)
{
	return truncate(path, length);
}

int
fallocate(int fd, int mode, off_t at, off_t bytes)
{
	struct stat is;
	int done;

	if (trace < 0)
		return (int) syscall(SYS_fallocate, fd, mode, at, bytes);
	enter();
	done = (int) syscall(SYS_fallocate, fd, mode, at, bytes);
	if (done == 0 && known_fd(fd, &is))
	{
		if (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))
			event(ZERO, is.st_ino, (uint64_t) at, (uint64_t) bytes, NULL, 0);
		else if (mode & ~FALLOC_FL_KEEP_SIZE)
			strange("fallocate of another kind");
		if (!(mode & FALLOC_FL_KEEP_SIZE))
			event(ALLOCATE, is.st_ino, (uint64_t) (at + bytes), 0, NULL, 0);
	}
	leave();
	return done;
}

int
fallocate64(int fd, int mode, off64_t at, off64_t bytes)
{
	return fallocate(fd, mode, at, bytes);
}

int
posix_fallocate(int fd, off_t at, off_t bytes)
{
	int before = errno;
	int error = fallocate(fd, 0, at, bytes) == 0 ? 0 : errno;

	errno = before;
	return error;
}

int
posix_fallocate64(int fd, off64_t at, off64_t bytes)
{
	return posix_fallocate(fd, at, bytes);
}

static int
make_directory(int at, const char *path, mode_t mode)
{
	char room[PATH_MAX];
	const char *name;
	ino_t parent;
	struct stat is;
	int done;

	if (trace < 0)
		return (int) syscall(SYS_mkdirat, at, path, mode);
	enter();
	bool ours = known_parent(at, path, room, &name, &parent);
	done = (int) syscall(SYS_mkdirat, at, path, mode);
	if (done == 0 && ours && fstatat(at, path, &is, AT_SYMLINK_NOFOLLOW) == 0)
	{
		learn(is.st_ino);
		event(CREATE, is.st_ino, parent, 1, name, strlen(name));
	}
	leave();
	return done;
}

int
mkdir(const char *path, mode_t mode)
{
	return make_directory(AT_FDCWD, path, mode);
}

int
mkdirat(int at, const char *path, mode_t mode)
{
	return make_directory(at, path, mode);
}

static int
remove_name(int at, const char *path, int flags)
{
	char room[PATH_MAX];
	const char *name;
	ino_t parent;
	struct stat is;
	int done;

	if (trace < 0)
		return (int) syscall(SYS_unlinkat, at, path, flags);
	enter();
	bool ours = known_parent(at, path, room, &name, &parent) && fstatat(at, path, &is, AT_SYMLINK_NOFOLLOW) == 0 &&
	            knows(is.st_ino);
	done = (int) syscall(SYS_unlinkat, at, path, flags);
	if (done == 0 && ours)
	{
		event(UNLINK, is.st_ino, parent, 0, name, strlen(name));
		if (S_ISDIR(is.st_mode) || is.st_nlink == 1)
			forget(is.st_ino);
	}
	leave();
	return done;
}

int
unlink(const char *path)
{
	return remove_name(AT_FDCWD, path, 0);
}

int
unlinkat(int at, const char *path, int flags)
{
	return remove_name(at, path, flags);
}

int
rmdir(const char *path)
{
	return remove_name(AT_FDCWD, path, AT_REMOVEDIR);
}

int
remove(const char *path)
{
	int done = remove_name(AT_FDCWD, path, 0);

	return done != 0 && (errno == EISDIR || errno == EPERM) ? remove_name(AT_FDCWD, path, AT_REMOVEDIR) : done;
}

static int
rename_file(int from_at, const char *from, int to_at, const char *to, unsigned int flags)
{
	char from_room[PATH_MAX];
	char to_room[PATH_MAX];
	char names[2 * PATH_MAX];
	const char *from_name;
	const char *to_name;
	ino_t from_parent;
	ino_t to_parent;
	struct stat is;
	struct stat over;
	int done;

	if (trace < 0)
		return (int) syscall(SYS_renameat2, from_at, from, to_at, to, flags);
	enter();
	bool from_ours = known_parent(from_at, from, from_room, &from_name, &from_parent);
	bool to_ours = known_parent(to_at, to, to_room, &to_name, &to_parent);
	bool found = fstatat(from_at, from, &is, AT_SYMLINK_NOFOLLOW) == 0;
	bool replaces = to_ours && fstatat(to_at, to, &over, AT_SYMLINK_NOFOLLOW) == 0;
	done = (int) syscall(SYS_renameat2, from_at, from, to_at, to, flags);
	if (done == 0 && (from_ours || to_ours))
	{
		if (!found || from_ours != to_ours || (flags & RENAME_EXCHANGE))
			strange("a rename into the directory or out of it");
		else if (knows(is.st_ino))
		{
			size_t length = strlen(from_name) + 1;

			memcpy(names, from_name, length);
			memcpy(names + length, to_name, strlen(to_name));
			event(RENAME, is.st_ino, from_parent, to_parent, names, length + strlen(to_name));
			if (replaces && over.st_ino != is.st_ino && (S_ISDIR(over.st_mode) || over.st_nlink == 1))
				forget(over.st_ino);
		}
		else if (replaces && knows(over.st_ino))
			strange("a rename of an unknown file");
	}
	leave();
	return done;
}

int
rename(const char *from, const char *to)
{
	return rename_file(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
renameat(int from_at, const char *from, int to_at, const char *to)
{
	return rename_file(from_at, from, to_at, to, 0);
}

int
renameat2(int from_at, const char *from, int to_at, const char *to, unsigned int flags)
{
	return rename_file(from_at, from, to_at, to, flags);
}

static int
link_file(int from_at, const char *from, int to_at, const char *to, int flags)
{
	char room[PATH_MAX];
	const char *name;
	ino_t parent;
	struct stat is;
	int done;

	if (trace < 0)
		return (int) syscall(SYS_linkat, from_at, from, to_at, to, flags);
	enter();
	bool ours = known_parent(to_at, to, room, &name, &parent);
	done = (int) syscall(SYS_linkat, from_at, from, to_at, to, flags);
	if (done == 0 && ours && fstatat(to_at, to, &is, AT_SYMLINK_NOFOLLOW) == 0)
	{
		if (knows(is.st_ino))
			event(LINK, is.st_ino, parent, 0, name, strlen(name));
		else
			strange("a link to an unknown file");
	}
	leave();
	return done;
}

int
link(const char *from, const char *to)
{
	return link_file(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
linkat(int from_at, const char *from, int to_at, const char *to, int flags)
{
	return link_file(from_at, from, to_at, to, flags);
}

int
symlink(const char *target, const char *path)
{
	char room[PATH_MAX];
	const char *name;
	ino_t parent;

	if (trace >= 0 && known_parent(AT_FDCWD, path, room, &name, &parent))
	{
		enter();
		strange("a symbolic link");
		leave();
	}
	return (int) syscall(SYS_symlinkat, target, AT_FDCWD, path);
}

static bool
has_part(int fd)
{
	char link[64];
	char path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return false;
	path[length] = 0;
	return strstr(path, counted_part) != NULL;
}

static int
synchronise(int fd, long call)
{
	struct stat is;
	uint64_t number;

	enter();
	if (!known_fd(fd, &is))
	{
		leave();
		return (int) syscall(call, fd);
	}
	number = next_sync++;
	event(BEGIN, is.st_ino, number, 0, NULL, 0);
	if (counted_part != NULL && has_part(fd))
		count_down();
	leave();
	/* The time that a disk takes. */
	usleep(FLUSH_MICROS);
	enter();
	event(END, is.st_ino, number, 0, NULL, 0);
	leave();
	return 0;
}

int
fsync(int fd)
{
	return synchronise(fd, SYS_fsync);
}

int
fdatasync(int fd)
{
	return synchronise(fd, SYS_fdatasync);
}

/* It promises nothing after a loss of power. */
int
sync_file_range(int fd, off64_t at, off64_t bytes, unsigned int flags)
{
	(void) fd;
	(void) at;
	(void) bytes;
	(void) flags;
	return 0;
}

int
msync(void *at, size_t bytes, int flags)
{
	ino_t file = 0;
	uint64_t number;

	if (trace < 0)
		return (int) syscall(SYS_msync, at, bytes, flags);
	enter();
	for (size_t m = 0; m < map_count; m++)
		if ((char *) at >= maps[m].at && (char *) at < maps[m].at + maps[m].bytes)
			file = maps[m].file;
	if (file == 0 || !(flags & MS_SYNC))
	{
		leave();
		return (int) syscall(SYS_msync, at, bytes, flags);
	}
	/* As if all of the file were synchronised: the maps of the endpoint are forced as a whole. */
	number = next_sync++;
	event(BEGIN, file, number, 0, NULL, 0);
	leave();
	usleep(FLUSH_MICROS);
	enter();
	event(END, file, number, 0, NULL, 0);
	leave();
	return 0;
}

static void
add_map(char *at, size_t bytes, uint64_t offset, const struct stat *is)
{
	uint64_t length = (uint64_t) is->st_size;
	size_t within = offset >= length ? 0 : length - offset < bytes ? length - offset : bytes;

	if (map_count == map_room)
	{
		map_room = map_room == 0 ? 64 : 2 * map_room;
		struct map *more = realloc(maps, map_room * sizeof(struct map));

		if (more == NULL)
			fail("no memory");
		maps = more;
	}
	struct map map = {at, within, malloc(within + 1), offset, is->st_ino};
	if (map.copy == NULL)
		fail("no memory");
	memcpy(map.copy, at, within);
	/* A killed process may have stored what nobody has seen. */
	event(WRITE, is->st_ino, offset, 0, map.copy, within);
	maps[map_count++] = map;
}

void *
mmap(void *wanted, size_t bytes, int access, int flags, int fd, off_t offset)
{
	struct stat is;
	void *at;

	if (trace < 0 || fd < 0 || !(access & PROT_WRITE) || !(flags & MAP_SHARED))
		return (void *) syscall(SYS_mmap, wanted, bytes, access, flags, fd, offset);
	enter();
	at = (void *) syscall(SYS_mmap, wanted, bytes, access, flags, fd, offset);
	if (at != MAP_FAILED && known_fd(fd, &is))
		add_map(at, bytes, (uint64_t) offset, &is);
	leave();
	return at;
}

void *
mmap64(void *wanted, size_t bytes, int access, int flags, int fd, off64_t offset)
{
	return mmap(wanted, bytes, access, flags, fd, offset);
}

int
munmap(void *at, size_t bytes)
{
	int done;

	if (trace < 0 || map_count == 0)
		return (int) syscall(SYS_munmap, at, bytes);
	enter();
	for (size_t m = 0; m < map_count; m++)
		if (maps[m].at >= (char *) at && maps[m].at < (char *) at + bytes)
		{
			sample();
			free(maps[m].copy);
			maps[m] = maps[--map_count];
			m--;
		}
	done = (int) syscall(SYS_munmap, at, bytes);
	leave();
	return done;
}

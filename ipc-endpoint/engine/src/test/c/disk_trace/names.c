/* Names for disk_trace: the files below the directory, and the calls that make, move and remove names. */
#include "trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Inodes below the directory: a hash table with linear probing, 0 is free, 1 was removed. */
static ino_t *known;
static size_t known_size;
static size_t known_used;

void
know_none(void)
{
	known_size = 1024;
	known_used = 0;
	known = calloc(known_size, sizeof(ino_t));
	if (known == NULL)
		fail("no memory");
}

static size_t
slot_of(ino_t file)
{
	return (size_t) (file * 0x9E3779B97F4A7C15ull) & (known_size - 1);
}

bool
knows(ino_t file)
{
	for (size_t i = slot_of(file); known[i] != 0; i = (i + 1) & (known_size - 1))
		if (known[i] == file)
			return true;
	return false;
}

void
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

bool
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

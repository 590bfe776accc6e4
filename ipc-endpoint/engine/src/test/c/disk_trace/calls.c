/* Calls for disk_trace that change and synchronise what is in files. */
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define FLUSH_MICROS 100

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
	number = next_synchronisation();
	event(BEGIN, is.st_ino, number, 0, NULL, 0);
	if (counted_part != NULL && has_part(fd))
		count_down();
	leave();
	/* The time that a disk takes: it makes the moment between BEGIN and the end wide, and orders nothing. */
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
	ino_t file;
	uint64_t number;

	if (trace < 0)
		return (int) syscall(SYS_msync, at, bytes, flags);
	enter();
	file = mapped_file(at);
	if (file == 0 || !(flags & MS_SYNC))
	{
		leave();
		return (int) syscall(SYS_msync, at, bytes, flags);
	}
	/* As if all of the file were synchronised: the maps of the endpoint are forced as a whole. */
	number = next_synchronisation();
	event(BEGIN, file, number, 0, NULL, 0);
	leave();
	/* As above: it orders nothing. */
	usleep(FLUSH_MICROS);
	enter();
	event(END, file, number, 0, NULL, 0);
	leave();
	return 0;
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

	if (trace < 0 || !has_maps())
		return (int) syscall(SYS_munmap, at, bytes);
	enter();
	remove_maps(at, bytes);
	done = (int) syscall(SYS_munmap, at, bytes);
	leave();
	return done;
}

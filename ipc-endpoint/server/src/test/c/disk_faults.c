/*
 * Preloaded into the endpoint by DiskFaultTest and UndurableReadsTest: makes writes below one directory fail or wait.
 *
 * KAKEHASHI_FAULT_CONTROL names a file of one byte, mapped here, that the test changes at any time:
 * '0' no faults, 'n' writes fail with ENOSPC, 'e' writes fail with EIO, 's' synchronisation fails with EIO,
 * 'h' writes write half of what they were given, 'w' writes and synchronisation wait until it is another, 'k' the process
 * kills itself when it has written so many bytes as the file has behind its first eight (8 bytes, little-endian), amid a
 * write if they end there. KAKEHASHI_FAULT_PATH is a part of the paths of the files concerned.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

static volatile const char *control;
static const char *part;

/* Whether this thread's write is the last one. */
static _Thread_local bool dies;

__attribute__((constructor)) static void
begin(void)
{
	const char *file = getenv("KAKEHASHI_FAULT_CONTROL");
	int fd = file != NULL ? open(file, O_RDONLY | O_CLOEXEC) : -1;

	part = getenv("KAKEHASHI_FAULT_PATH");
	if (fd < 0 || part == NULL)
		return;
	control = mmap(NULL, 2 * sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
	if (control == MAP_FAILED)
		control = NULL;
	close(fd);
}

static char
fault(int fd)
{
	char link[64];
	char path[4096];
	ssize_t length;

	if (control == NULL || *control == '0')
		return '0';
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return '0';
	path[length] = 0;
	return strstr(path, part) != NULL ? *control : '0';
}

/* The fault, after the wait for its end if it is that. Looks again and again: nobody can wake it through the mapping. */
static char
fault_after_wait(int fd)
{
	char what = fault(fd);

	while (what == 'w')
	{
		usleep(1000);
		what = fault(fd);
	}
	return what;
}

/* Counts bytes that are about to be written, until it has all that are allowed. False: no more than the rest of them may be written. */
static bool
lives_after(size_t *bytes)
{
	static atomic_int_least64_t written;
	int64_t last = *(const volatile int64_t *) (control + sizeof(int64_t));
	int64_t before = atomic_fetch_add(&written, (int64_t) *bytes);

	if (before + (int64_t) *bytes < last)
		return true;
	*bytes = before < last ? (size_t) (last - before) : 0;
	return false;
}

/* Bytes to write, or -1 with errno set. */
static ssize_t
allowed(int fd, size_t bytes)
{
	switch (fault_after_wait(fd))
	{
		case 'n':
			errno = ENOSPC;
			return -1;
		case 'e':
			errno = EIO;
			return -1;
		case 'k':
			dies = !lives_after(&bytes);
			return (ssize_t) bytes;
		case 'h':
			return bytes > 1 ? (ssize_t) (bytes / 2) : (ssize_t) bytes;
		default:
			return (ssize_t) bytes;
	}
}

static ssize_t
after_write(ssize_t written)
{
	if (dies)
		kill(getpid(), SIGKILL);
	return written;
}

#define REAL(name, type)                                                                                               \
	static __typeof__(type) real;                                                                                      \
	if (real == NULL)                                                                                                  \
	real = (type) dlsym(RTLD_NEXT, name)

ssize_t
write(int fd, const void *bytes, size_t count)
{
	REAL("write", ssize_t(*)(int, const void *, size_t));
	ssize_t n = allowed(fd, count);

	return n < 0 ? -1 : after_write(real(fd, bytes, (size_t) n));
}

ssize_t
pwrite(int fd, const void *bytes, size_t count, off_t at)
{
	REAL("pwrite", ssize_t(*)(int, const void *, size_t, off_t));
	ssize_t n = allowed(fd, count);

	return n < 0 ? -1 : after_write(real(fd, bytes, (size_t) n, at));
}

ssize_t
pwrite64(int fd, const void *bytes, size_t count, off64_t at)
{
	REAL("pwrite64", ssize_t(*)(int, const void *, size_t, off64_t));
	ssize_t n = allowed(fd, count);

	return n < 0 ? -1 : after_write(real(fd, bytes, (size_t) n, at));
}

ssize_t
writev(int fd, const struct iovec *parts, int count)
{
	REAL("writev", ssize_t(*)(int, const struct iovec *, int));
	/* A short write of the first part is one that the caller has to go on from. */
	return fault(fd) == '0' || count == 0 ? real(fd, parts, count) : write(fd, parts[0].iov_base, parts[0].iov_len);
}

int
fsync(int fd)
{
	REAL("fsync", int (*)(int));
	if (fault_after_wait(fd) == 's')
	{
		errno = EIO;
		return -1;
	}
	return real(fd);
}

int
fdatasync(int fd)
{
	REAL("fdatasync", int (*)(int));
	if (fault_after_wait(fd) == 's')
	{
		errno = EIO;
		return -1;
	}
	return real(fd);
}

static int
refuse_space(int fd)
{
	char how = fault(fd);

	return how == 'n' ? ENOSPC : how == 'e' ? EIO : 0;
}

int
fallocate(int fd, int mode, off_t at, off_t bytes)
{
	REAL("fallocate", int (*)(int, int, off_t, off_t));
	int why = refuse_space(fd);

	if (why != 0)
	{
		errno = why;
		return -1;
	}
	return real(fd, mode, at, bytes);
}

int
posix_fallocate(int fd, off_t at, off_t bytes)
{
	REAL("posix_fallocate", int (*)(int, off_t, off_t));
	int why = refuse_space(fd);

	return why != 0 ? why : real(fd, at, bytes);
}

#include "platform.h"

#include "errors.h"
#include "region.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
reserve(int fd, const char *path, uint64_t offset, uint64_t bytes, kh_error *error)
{
	int failed;

	do
		failed = fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t) offset, (off_t) bytes);
	while (failed != 0 && errno == EINTR);
	return failed == 0 || kh_fail_system(error, errno, KH_E_CANNOT_CONNECT, "could not reserve memory of %s", path);
}

static bool
map_file(kh_region *region, int fd, const char *path, uint64_t offset, uint64_t bytes, uint64_t reserved,
         kh_region_access access, kh_error *error)
{
	uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE);
	uint64_t from = offset / page * page;
	int protection = access == KH_REGION_READ ? PROT_READ : PROT_READ | PROT_WRITE;
	struct stat status;

	if (fstat(fd, &status) != 0)
		return kh_fail_system(error, errno, KH_E_CANNOT_CONNECT, "could not look at %s", path);
	if (bytes == 0 || bytes > INT64_MAX - offset || offset + bytes > (uint64_t) status.st_size)
		return kh_fail(error, KH_E_CANNOT_CONNECT, "%s has %lld bytes, but %llu at offset %llu are expected", path,
		               (long long) status.st_size, (unsigned long long) bytes, (unsigned long long) offset);
	if (access == KH_REGION_WRITE_RESERVED && reserved > 0 && !reserve(fd, path, offset, reserved, error))
		return false;
	region->offset = offset;
	region->map_bytes = (size_t) (offset + bytes - from);
	region->map = mmap(NULL, region->map_bytes, protection, MAP_SHARED, fd, (off_t) from);
	if (region->map == MAP_FAILED)
	{
		region->map = NULL;
		return kh_fail_system(error, errno, KH_E_OUT_OF_MEMORY, "could not map %s", path);
	}
	region->base = (unsigned char *) region->map + (offset - from);
	region->file = (kh_file){.device = status.st_dev, .inode = status.st_ino};
	return true;
}

/* keep: the file stays open with the region. */
static bool
open_region(kh_region *region, const char *directory, const char *name, uint64_t offset, uint64_t bytes,
            uint64_t reserved, kh_region_access access, bool keep, kh_error *error)
{
	char path[4096];
	int fd;
	bool mapped;

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int) sizeof(path))
		return kh_fail(error, KH_E_CANNOT_CONNECT, "path of runtime directory is too long: %s", directory);
	do
		fd = open(path, (access == KH_REGION_READ ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOFOLLOW);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return kh_fail_system(error, errno, KH_E_CANNOT_CONNECT, "could not open %s", path);
	mapped = map_file(region, fd, path, offset, bytes, reserved, access, error);
	if (mapped && keep)
		region->kept = fd + 1;
	else
		close(fd);
	return mapped;
}

bool
kh_region_open(kh_region *region, const char *directory, const char *name, uint64_t offset, uint64_t bytes,
               kh_region_access access, kh_error *error)
{
	return open_region(region, directory, name, offset, bytes, bytes, access, false, error);
}

bool
kh_region_open_growing(kh_region *region, const char *directory, const char *name, uint64_t offset, uint64_t bytes,
                       uint64_t reserved, kh_error *error)
{
	return open_region(region, directory, name, offset, bytes, reserved, KH_REGION_WRITE_RESERVED, true, error);
}

bool
kh_region_reserve(const kh_region *region, uint64_t from, uint64_t bytes, kh_error *error)
{
	return reserve(region->kept - 1, "a response slot", region->offset + from, bytes, error);
}

void
kh_region_give_back(const kh_region *region, uint64_t from, uint64_t bytes)
{
	uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE);
	uint64_t first = (region->offset + from + page - 1) / page * page;
	uint64_t end = (region->offset + from + bytes) / page * page;

	/* If it fails, the memory stays until the session ends. */
	if (first < end)
		(void) fallocate(region->kept - 1, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t) first,
		                 (off_t) (end - first));
}

bool
kh_region_open_same(kh_region *region, const char *directory, const char *name, uint64_t offset, uint64_t bytes,
                    kh_region_access access, const kh_file *file, kh_error *error)
{
	if (!kh_region_open(region, directory, name, offset, bytes, access, error))
		return false;
	if (region->file.device == file->device && region->file.inode == file->inode)
		return true;
	kh_region_close(region);
	return kh_fail(error, KH_E_CANNOT_CONNECT, "%s/%s is not the file of this session any more", directory, name);
}

void
kh_region_close(kh_region *region)
{
	if (region->map != NULL)
		munmap(region->map, region->map_bytes);
	if (region->kept > 0)
		close(region->kept - 1);
	region->map = NULL;
	region->base = NULL;
	region->kept = 0;
}

/*
 * Files of the runtime directory mapped into this process.
 */
#ifndef KAKEHASHI_REGION_H
#define KAKEHASHI_REGION_H

#include "kakehashi/ipc.h"

/* A file, whatever its name; unique while somebody has it open or mapped. */
typedef struct kh_file
{
	uint64_t device;
	uint64_t inode;
} kh_file;

/* base is where offset of the file is; the mapping begins at the page before. Zero-initialise. */
typedef struct kh_region
{
	unsigned char *base;
	void *map;
	size_t map_bytes;
	kh_file file;
	int kept; /* descriptor + 1 of a region that parts are reserved of and given back; 0: none */
	uint64_t offset;
} kh_region;

typedef enum kh_region_access
{
	KH_REGION_READ,
	KH_REGION_WRITE,         /* memory is reserved by the other side before it tells us of it */
	KH_REGION_WRITE_RESERVED /* memory is reserved here: every byte can be touched even when the file system is full */
} kh_region_access;

/*
 * Maps [offset, offset + bytes) of directory/name. The file must be that long already: it is never enlarged here, and
 * its owner never shortens it, so no access can miss it.
 */
extern bool kh_region_open(kh_region *region, const char *directory, const char *name, uint64_t offset, uint64_t bytes,
                           kh_region_access access, kh_error *error);

/* The same with the file that another process has mapped: 08001 if another one has its name by now. */
extern bool kh_region_open_same(kh_region *region, const char *directory, const char *name, uint64_t offset,
                                uint64_t bytes, kh_region_access access, const kh_file *file, kh_error *error);
extern void kh_region_close(kh_region *region);

/* The same, and of what is mapped only the first reserved bytes have their memory: for the others see below. */
extern bool kh_region_open_growing(kh_region *region, const char *directory, const char *name, uint64_t offset,
                                   uint64_t bytes, uint64_t reserved, kh_error *error);

/* Sees to it that a part of a growing region can be touched; it costs nothing where the memory is there. 53100 on a full file system. */
extern bool kh_region_reserve(const kh_region *region, uint64_t from, uint64_t bytes, kh_error *error);

/* Gives the whole pages of a part back, which nobody touches any more. It reads as zeros afterwards. */
extern void kh_region_give_back(const kh_region *region, uint64_t from, uint64_t bytes);

#endif /* KAKEHASHI_REGION_H */

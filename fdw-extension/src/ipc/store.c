#include "store.h"

#include <sys/mman.h>

#define MOST_STORE_BYTES (UINT64_C(1) << 46)

bool
kh_store_map(kh_store *store, int descriptor)
{
	const kh_store_head *head;
	uint64_t bytes;

	store->base = NULL;
	head = mmap(NULL, KH_STORE_HEAD_BYTES, PROT_READ, MAP_SHARED, descriptor, 0);
	if (head == MAP_FAILED)
		return false;
	bytes = kh_load_acquire(&head->magic) == KH_STORE_MAGIC ? head->reserved_bytes : 0;
	store->there = head->base;
	munmap((void *) head, KH_STORE_HEAD_BYTES);
	if (bytes < KH_STORE_HEAD_BYTES || bytes > MOST_STORE_BYTES || bytes % KH_STORE_HEAD_BYTES != 0)
		return false;
	head = mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
	if (head == MAP_FAILED)
		return false;
	store->base = (const unsigned char *) head;
	store->mapped_bytes = bytes;
	return true;
}

void
kh_store_unmap(kh_store *store)
{
	if (store->base != NULL)
		munmap((void *) store->base, store->mapped_bytes);
	store->base = NULL;
}

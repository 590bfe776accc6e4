/*
 * The store's memory in this process, which the endpoint has given for reading. Addresses in it are the endpoint's.
 */
#ifndef KAKEHASHI_STORE_H
#define KAKEHASHI_STORE_H

#include "platform.h"

#include "generated/kh_layouts.h"

#define KH_STORE_MAGIC UINT64_C(0x313053544f52534b)

typedef struct kh_store
{
	const unsigned char *base; /* NULL: it is not mapped */
	size_t mapped_bytes;
	uint64_t there; /* address of the memory in the endpoint */
} kh_store;

static inline const kh_store_head *
kh_store_head_of(const kh_store *store)
{
	return (const kh_store_head *) store->base;
}

/* Bytes of the memory that may be touched. */
static inline uint64_t
kh_store_bytes(const kh_store *store)
{
	uint64_t bytes = kh_load_acquire(&kh_store_head_of(store)->file_bytes);

	return bytes < store->mapped_bytes ? bytes : store->mapped_bytes;
}

/* Where an address of the endpoint is here; NULL if some of the bytes are not in the memory. */
static inline const unsigned char *
kh_store_at(const kh_store *store, uint64_t limit, uint64_t address, uint64_t bytes)
{
	uint64_t offset = address - store->there;

	return address >= store->there && offset <= limit && bytes <= limit - offset ? store->base + offset : NULL;
}

static inline uint64_t
kh_store_word(const unsigned char *at)
{
	return kh_load_relaxed((const uint64_t *) (const void *) at);
}

/* Maps the memory; false: there will be no direct reads. The descriptor is not kept. */
extern bool kh_store_map(kh_store *store, int descriptor);
extern void kh_store_unmap(kh_store *store);

#endif /* KAKEHASHI_STORE_H */

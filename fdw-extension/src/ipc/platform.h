/*
 * What the operating system and the processor give: clock, futex, ordered access to mapped memory.
 *
 * Include first. Mapped structs have plain members; every access that orders goes through one of these, so that the
 * ordering is visible where it happens. Both sides are processes of one machine: x86-64 or AArch64, little-endian.
 */
#ifndef KAKEHASHI_PLATFORM_H
#define KAKEHASHI_PLATFORM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define kh_load_acquire(word) __atomic_load_n((word), __ATOMIC_ACQUIRE)
#define kh_load_relaxed(word) __atomic_load_n((word), __ATOMIC_RELAXED)
#define kh_store_release(word, value) __atomic_store_n((word), (value), __ATOMIC_RELEASE)
#define kh_store_relaxed(word, value) __atomic_store_n((word), (value), __ATOMIC_RELAXED)

/* Orders every earlier store before every later load: the middle of a store-then-look protocol. */
#define kh_full_fence() __atomic_thread_fence(__ATOMIC_SEQ_CST)

static inline bool
kh_compare_and_set(uint64_t *word, uint64_t expected, uint64_t value)
{
	return __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static inline bool
kh_compare_and_set_u32(uint32_t *word, uint32_t expected, uint32_t value)
{
	return __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Tells the processor that this is a spin loop. */
static inline void
kh_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield");
#endif
}

static inline int64_t
kh_now_nanos(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

/* at + timeout, at most INT64_MAX. */
static inline int64_t
kh_deadline(int64_t at, int64_t timeout_nanos)
{
	return timeout_nanos > INT64_MAX - at ? INT64_MAX : at + timeout_nanos;
}

/*
 * Sleeps while *word == expected, at most timeout_nanos. 0 when woken (perhaps for no reason), or EAGAIN (the word
 * differs), EINTR, ETIMEDOUT. Not a private futex: the other side is another process.
 */
extern int kh_futex_wait(uint32_t *word, uint32_t expected, int64_t timeout_nanos);

/* Wakes one sleeper. */
extern void kh_futex_wake(uint32_t *word);

#endif /* KAKEHASHI_PLATFORM_H */

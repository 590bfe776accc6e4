/*
 * SHA-256 (FIPS 180-4), HMAC over it (RFC 2104), and PBKDF2 of one block (RFC 8018), as SCRAM needs them.
 */
#ifndef KAKEHASHI_SHA256_H
#define KAKEHASHI_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KH_SHA256_BYTES 32
#define KH_SHA256_BLOCK_BYTES 64

typedef struct kh_sha256
{
	uint32_t state[8];
	uint64_t bytes;
	unsigned char block[KH_SHA256_BLOCK_BYTES];
} kh_sha256;

typedef struct kh_hmac
{
	kh_sha256 inner;
	kh_sha256 outer;
} kh_hmac;

extern void kh_sha256_begin(kh_sha256 *hash);
extern void kh_sha256_add(kh_sha256 *hash, const void *bytes, size_t n);
extern void kh_sha256_end(kh_sha256 *hash, unsigned char digest[KH_SHA256_BYTES]);

extern void kh_hmac_begin(kh_hmac *mac, const void *key, size_t n);
extern void kh_hmac_add(kh_hmac *mac, const void *bytes, size_t n);
extern void kh_hmac_end(kh_hmac *mac, unsigned char digest[KH_SHA256_BYTES]);

/* Of one text. */
extern void kh_hmac_of(const void *key, size_t key_bytes, const void *bytes, size_t n,
                       unsigned char digest[KH_SHA256_BYTES]);

/*
 * Derives a key of one block; iterations from 1. go_on: NULL, or asked now and then; false gives up, and the result is false.
 */
extern bool kh_pbkdf2(const void *password, size_t password_bytes, const void *salt, size_t salt_bytes,
                      uint32_t iterations, bool (*go_on)(void *context), void *context,
                      unsigned char key[KH_SHA256_BYTES]);

/* Whether both are equal; takes as long whether they are or not. */
extern bool kh_equal_in_constant_time(const unsigned char *one, const unsigned char *other, size_t n);

#endif /* KAKEHASHI_SHA256_H */

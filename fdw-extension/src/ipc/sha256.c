#include "platform.h"

#include "sha256.h"

#include <string.h>

/* How often a derivation looks whether it is to go on. */
#define ITERATIONS_PER_LOOK 1024

static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t
rotate(uint32_t word, int bits)
{
	return word >> bits | word << (32 - bits);
}

static void
compress(uint32_t state[8], const unsigned char *block)
{
	uint32_t w[64];
	uint32_t v[8];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t) block[4 * i] << 24 | (uint32_t) block[4 * i + 1] << 16 | (uint32_t) block[4 * i + 2] << 8 |
		       block[4 * i + 3];
	for (int i = 16; i < 64; i++)
	{
		uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
	memcpy(v, state, sizeof(v));
	for (int i = 0; i < 64; i++)
	{
		uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
		uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
		uint32_t t1 = v[7] + s1 + choice + constants[i] + w[i];
		uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
		uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);

		memmove(&v[1], &v[0], 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + s0 + majority;
	}
	for (int i = 0; i < 8; i++)
		state[i] += v[i];
	/* What is left of a password on the stack would be found in a core. */
	explicit_bzero(w, sizeof(w));
	explicit_bzero(v, sizeof(v));
}

void
kh_sha256_begin(kh_sha256 *hash)
{
	static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	memcpy(hash->state, start, sizeof(start));
	hash->bytes = 0;
}

void
kh_sha256_add(kh_sha256 *hash, const void *bytes, size_t n)
{
	const unsigned char *from = bytes;

	while (n > 0)
	{
		size_t used = (size_t) (hash->bytes % KH_SHA256_BLOCK_BYTES);
		size_t taken = KH_SHA256_BLOCK_BYTES - used < n ? KH_SHA256_BLOCK_BYTES - used : n;

		memcpy(hash->block + used, from, taken);
		hash->bytes += taken;
		from += taken;
		n -= taken;
		if (hash->bytes % KH_SHA256_BLOCK_BYTES == 0)
			compress(hash->state, hash->block);
	}
}

void
kh_sha256_end(kh_sha256 *hash, unsigned char digest[KH_SHA256_BYTES])
{
	uint64_t bits = hash->bytes * 8;
	size_t used = (size_t) (hash->bytes % KH_SHA256_BLOCK_BYTES);
	unsigned char tail[2 * KH_SHA256_BLOCK_BYTES] = {0x80};
	/* 0x80, zeros, and the length in 8 bytes end a block. */
	size_t n = (used < 56 ? 56 : 120) - used;

	for (int i = 0; i < 8; i++)
		tail[n + (size_t) i] = (unsigned char) (bits >> (56 - 8 * i));
	kh_sha256_add(hash, tail, n + 8);
	for (int i = 0; i < KH_SHA256_BYTES; i++)
		digest[i] = (unsigned char) (hash->state[i / 4] >> (24 - 8 * (i % 4)));
	explicit_bzero(hash, sizeof(*hash));
}

void
kh_hmac_begin(kh_hmac *mac, const void *key, size_t n)
{
	unsigned char block[KH_SHA256_BLOCK_BYTES] = {0};

	if (n > sizeof(block))
	{
		kh_sha256 hash;

		kh_sha256_begin(&hash);
		kh_sha256_add(&hash, key, n);
		kh_sha256_end(&hash, block);
	}
	else
		memcpy(block, key, n);
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] ^= 0x36;
	kh_sha256_begin(&mac->inner);
	kh_sha256_add(&mac->inner, block, sizeof(block));
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] ^= 0x36 ^ 0x5c;
	kh_sha256_begin(&mac->outer);
	kh_sha256_add(&mac->outer, block, sizeof(block));
	explicit_bzero(block, sizeof(block));
}

void
kh_hmac_add(kh_hmac *mac, const void *bytes, size_t n)
{
	kh_sha256_add(&mac->inner, bytes, n);
}

void
kh_hmac_end(kh_hmac *mac, unsigned char digest[KH_SHA256_BYTES])
{
	unsigned char inner[KH_SHA256_BYTES];

	kh_sha256_end(&mac->inner, inner);
	kh_sha256_add(&mac->outer, inner, sizeof(inner));
	kh_sha256_end(&mac->outer, digest);
	explicit_bzero(inner, sizeof(inner));
}

void
kh_hmac_of(const void *key, size_t key_bytes, const void *bytes, size_t n, unsigned char digest[KH_SHA256_BYTES])
{
	kh_hmac mac;

	kh_hmac_begin(&mac, key, key_bytes);
	kh_hmac_add(&mac, bytes, n);
	kh_hmac_end(&mac, digest);
}

bool
kh_pbkdf2(const void *password, size_t password_bytes, const void *salt, size_t salt_bytes, uint32_t iterations,
          bool (*go_on)(void *context), void *context, unsigned char key[KH_SHA256_BYTES])
{
	static const unsigned char first_block[4] = {0, 0, 0, 1};
	kh_hmac keyed; /* both hashes have taken the password, which is the same for every iteration */
	kh_hmac mac;
	unsigned char u[KH_SHA256_BYTES];
	bool whole = true;

	kh_hmac_begin(&keyed, password, password_bytes);
	mac = keyed;
	kh_hmac_add(&mac, salt, salt_bytes);
	kh_hmac_add(&mac, first_block, sizeof(first_block));
	kh_hmac_end(&mac, u);
	memcpy(key, u, sizeof(u));
	for (uint32_t i = 1; i < iterations && whole; i++)
	{
		mac = keyed;
		kh_hmac_add(&mac, u, sizeof(u));
		kh_hmac_end(&mac, u);
		for (int k = 0; k < KH_SHA256_BYTES; k++)
			key[k] ^= u[k];
		whole = i % ITERATIONS_PER_LOOK != 0 || go_on == NULL || go_on(context);
	}
	if (!whole)
		explicit_bzero(key, KH_SHA256_BYTES);
	explicit_bzero(&keyed, sizeof(keyed));
	explicit_bzero(&mac, sizeof(mac));
	explicit_bzero(u, sizeof(u));
	return whole;
}

bool
kh_equal_in_constant_time(const unsigned char *one, const unsigned char *other, size_t n)
{
	volatile unsigned char different = 0;

	for (size_t i = 0; i < n; i++)
		different |= one[i] ^ other[i];
	return different == 0;
}

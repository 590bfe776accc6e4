#include "platform.h"

#include "errors.h"
#include "scram.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define NONCE_BYTES 18
#define MAX_SALT_BYTES 256
#define SIGNATURE_CHARS 44 /* base64 of 32 bytes */

/* RFC 7677 asks for so many at least; with fewer the password could be guessed from the exchange. */
#define MIN_ITERATIONS 4096

/* Some seconds of work; an endpoint that asks for more is refused. */
#define MAX_ITERATIONS 1000000

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* to: 4 chars for each 3 bytes begun, and a NUL. */
static void
to_base64(const unsigned char *bytes, size_t n, char *to)
{
	for (size_t i = 0; i < n; i += 3)
	{
		size_t left = n - i;
		uint32_t word =
			(uint32_t) bytes[i] << 16 | (left > 1 ? (uint32_t) bytes[i + 1] << 8 : 0) | (left > 2 ? bytes[i + 2] : 0);

		*to++ = alphabet[word >> 18];
		*to++ = alphabet[word >> 12 & 63];
		*to++ = left > 1 ? alphabet[word >> 6 & 63] : '=';
		*to++ = left > 2 ? alphabet[word & 63] : '=';
	}
	*to = '\0';
}

/* Number of bytes, or -1 when it is no base64 or longer than capacity. */
static int
from_base64(const char *text, size_t n, unsigned char *to, size_t capacity)
{
	size_t bytes = 0;

	if (n == 0 || n % 4 != 0)
		return -1;
	for (size_t i = 0; i < n; i += 4)
	{
		uint32_t word = 0;
		int padding = 0;

		for (size_t k = i; k < i + 4; k++)
		{
			const char *at = text[k] != '\0' ? strchr(alphabet, text[k]) : NULL;

			/* Padding stands in the last two places of all. */
			if (text[k] == '=' && i + 4 == n && k >= i + 2)
				padding++;
			else if (at == NULL || padding > 0)
				return -1;
			word = word << 6 | (at != NULL ? (uint32_t) (at - alphabet) : 0);
		}
		if ((word & ((1u << (8 * padding)) - 1)) != 0)
			return -1; /* bits that stand for nothing */
		for (int k = 0; k < 3 - padding; k++)
		{
			if (bytes == capacity)
				return -1;
			to[bytes++] = (unsigned char) (word >> (16 - 8 * k));
		}
	}
	return (int) bytes;
}

/* The value of the attribute that begins here, "x=value", and behind its comma; false when it is another or none. */
static bool
attribute(const char **at, const char *end, char name, const char **value, size_t *n)
{
	const char *comma;

	if (end - *at < 2 || (*at)[0] != name || (*at)[1] != '=')
		return false;
	*value = *at + 2;
	comma = memchr(*value, ',', (size_t) (end - *value));
	*n = (size_t) ((comma != NULL ? comma : end) - *value);
	*at = comma != NULL ? comma + 1 : end;
	return true;
}

static bool
senseless(kh_error *error, const char *what)
{
	return kh_fail(error, KH_E_MALFORMED_MESSAGE, "the endpoint's part of the authentication makes no sense: %s", what);
}

/* "n=user,r=nonce"; false when it is too long. */
static bool
make_first_bare(kh_scram *scram, const char *user)
{
	size_t n = 2;

	memcpy(scram->first_bare, "n=", 2);
	for (; *user != '\0'; user++)
	{
		const char *escaped = *user == ',' ? "=2C" : *user == '=' ? "=3D" : NULL;
		size_t bytes = escaped != NULL ? 3 : 1;

		if (n + bytes + sizeof(",r=") + strlen(scram->nonce) > sizeof(scram->first_bare))
			return false;
		memcpy(scram->first_bare + n, escaped != NULL ? escaped : user, bytes);
		n += bytes;
	}
	snprintf(scram->first_bare + n, sizeof(scram->first_bare) - n, ",r=%s", scram->nonce);
	return true;
}

bool
kh_scram_begin(kh_scram *scram, const char *user, const char *password, const char *nonce, kh_error *error)
{
	unsigned char random[NONCE_BYTES];

	memset(scram, 0, sizeof(*scram));
	scram->password = password;
	if (nonce != NULL)
		snprintf(scram->nonce, sizeof(scram->nonce), "%s", nonce);
	else if (getrandom(random, sizeof(random), 0) == (ssize_t) sizeof(random))
		to_base64(random, sizeof(random), scram->nonce);
	else
		return kh_fail_system(error, errno, KH_E_CANNOT_CONNECT, "could not make random bytes");
	if (!make_first_bare(scram, user != NULL ? user : ""))
		return kh_fail(error, KH_E_LIMIT_EXCEEDED, "user name is longer than %zu bytes",
		               sizeof(scram->first_bare) - KH_SCRAM_NONCE_BYTES);
	return true;
}

void
kh_scram_first(const kh_scram *scram, char *message)
{
	/* "n": no channel binding. */
	snprintf(message, KH_SCRAM_MESSAGE_BYTES, "n,,%s", scram->first_bare);
}

/* Decimal digits; 0 when it is not a number that is allowed. */
static uint32_t
iterations_of(const char *text, size_t n)
{
	uint32_t value = 0;

	if (n == 0 || n > 7)
		return 0;
	for (size_t i = 0; i < n; i++)
	{
		if (text[i] < '0' || text[i] > '9')
			return 0;
		value = value * 10 + (uint32_t) (text[i] - '0');
	}
	return value >= MIN_ITERATIONS && value <= MAX_ITERATIONS ? value : 0;
}

/* HMAC over the three messages that both sides have seen, separated by commas. */
static void
sign(const unsigned char *key, const char *bare, const char *server_first, size_t n, const char *without_proof,
     unsigned char digest[KH_SHA256_BYTES])
{
	kh_hmac mac;

	kh_hmac_begin(&mac, key, KH_SHA256_BYTES);
	kh_hmac_add(&mac, bare, strlen(bare));
	kh_hmac_add(&mac, ",", 1);
	kh_hmac_add(&mac, server_first, n);
	kh_hmac_add(&mac, ",", 1);
	kh_hmac_add(&mac, without_proof, strlen(without_proof));
	kh_hmac_end(&mac, digest);
}

/* The proof, and what the endpoint has to prove with in return; wipes all that they are made of. */
static void
prove(kh_scram *scram, unsigned char salted[KH_SHA256_BYTES], const char *server_first, size_t n,
      const char *without_proof, char *proof_text)
{
	unsigned char client_key[KH_SHA256_BYTES];
	unsigned char stored_key[KH_SHA256_BYTES];
	unsigned char server_key[KH_SHA256_BYTES];
	unsigned char proof[KH_SHA256_BYTES];
	kh_sha256 hash;

	kh_hmac_of(salted, KH_SHA256_BYTES, "Client Key", 10, client_key);
	kh_hmac_of(salted, KH_SHA256_BYTES, "Server Key", 10, server_key);
	kh_sha256_begin(&hash);
	kh_sha256_add(&hash, client_key, sizeof(client_key));
	kh_sha256_end(&hash, stored_key);
	sign(stored_key, scram->first_bare, server_first, n, without_proof, proof);
	sign(server_key, scram->first_bare, server_first, n, without_proof, scram->server_signature);
	for (size_t i = 0; i < sizeof(proof); i++)
		proof[i] ^= client_key[i];
	to_base64(proof, sizeof(proof), proof_text);
	scram->proved = true;
	explicit_bzero(salted, KH_SHA256_BYTES);
	explicit_bzero(client_key, sizeof(client_key));
	explicit_bzero(stored_key, sizeof(stored_key));
	explicit_bzero(server_key, sizeof(server_key));
}

bool
kh_scram_final(kh_scram *scram, const char *server_first, size_t n, char *message, kh_error *error)
{
	const char *at = server_first;
	const char *end = server_first + n;
	const char *nonce;
	const char *salt_text;
	const char *count;
	size_t nonce_chars;
	size_t salt_chars;
	size_t count_chars;
	unsigned char salt[MAX_SALT_BYTES];
	unsigned char salted[KH_SHA256_BYTES];
	char proof_text[SIGNATURE_CHARS + 1];
	int salt_bytes;
	uint32_t iterations;
	size_t written;

	if (n >= KH_SCRAM_MESSAGE_BYTES)
		return senseless(error, "it is too long");
	if (!attribute(&at, end, 'r', &nonce, &nonce_chars) || !attribute(&at, end, 's', &salt_text, &salt_chars) ||
	    !attribute(&at, end, 'i', &count, &count_chars))
		return senseless(error, "nonce, salt or count of iterations is missing");
	/* Else it would be the answer of another exchange. */
	if (nonce_chars <= strlen(scram->nonce) || memcmp(nonce, scram->nonce, strlen(scram->nonce)) != 0 ||
	    nonce_chars > KH_SCRAM_MESSAGE_BYTES / 2)
		return senseless(error, "the nonce is not of this exchange");
	salt_bytes = from_base64(salt_text, salt_chars, salt, sizeof(salt));
	iterations = iterations_of(count, count_chars);
	if (salt_bytes <= 0)
		return senseless(error, "the salt");
	if (iterations == 0)
		return kh_fail(
			error, KH_E_MALFORMED_MESSAGE,
			"the endpoint's part of the authentication makes no sense: %.*s iterations are not between %d and %d",
			count_chars > 20 ? 20 : (int) count_chars, count, MIN_ITERATIONS, MAX_ITERATIONS);
	if (!kh_pbkdf2(scram->password, strlen(scram->password), salt, (size_t) salt_bytes, iterations, scram->go_on,
	               scram->context, salted))
		return false;
	/* "biws" is "n,," again. */
	written = (size_t) snprintf(message, KH_SCRAM_MESSAGE_BYTES, "c=biws,r=%.*s", (int) nonce_chars, nonce);
	prove(scram, salted, server_first, n, message, proof_text);
	snprintf(message + written, KH_SCRAM_MESSAGE_BYTES - written, ",p=%s", proof_text);
	return true;
}

bool
kh_scram_verify(kh_scram *scram, const char *server_final, size_t n)
{
	const char *at = server_final;
	const char *value;
	size_t chars;
	unsigned char signature[KH_SHA256_BYTES + 1];
	/* Without a proof of ours there is nothing that the endpoint could have proved. */
	bool same = scram->proved && attribute(&at, server_final + n, 'v', &value, &chars) &&
	            from_base64(value, chars, signature, sizeof(signature)) == KH_SHA256_BYTES &&
	            kh_equal_in_constant_time(signature, scram->server_signature, KH_SHA256_BYTES);

	explicit_bzero(scram, sizeof(*scram));
	return same;
}

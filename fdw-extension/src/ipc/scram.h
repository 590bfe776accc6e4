/*
 * The client's half of SCRAM-SHA-256 (RFC 5802, RFC 7677) without channel binding: the password is proved and never sent, and the
 * endpoint proves in return that it knows a verifier of it.
 */
#ifndef KAKEHASHI_SCRAM_H
#define KAKEHASHI_SCRAM_H

#include "sha256.h"

#include "kakehashi/ipc.h"

/* Longest message, either direction, with its NUL. */
#define KH_SCRAM_MESSAGE_BYTES 1024

#define KH_SCRAM_NONCE_BYTES 32

typedef struct kh_scram
{
	const char *password; /* prepared by SASLprep; borrowed */
	/* NULL, or asked now and then while keys are derived; false gives up, with an error that it has set. Must return. */
	bool (*go_on)(void *context);
	void *context;
	char nonce[KH_SCRAM_NONCE_BYTES];
	char first_bare[KH_SCRAM_MESSAGE_BYTES / 2];
	bool proved; /* server_signature is what the endpoint has to send */
	unsigned char server_signature[KH_SHA256_BYTES];
} kh_scram;

/*
 * user: who is asked for; NULL or empty: the OS user. nonce: NULL makes a random one; given by tests. False with an error when the
 * name is too long or there is no randomness.
 */
extern bool kh_scram_begin(kh_scram *scram, const char *user, const char *password, const char *nonce, kh_error *error);

/* The client's first message; KH_SCRAM_MESSAGE_BYTES of room. */
extern void kh_scram_first(const kh_scram *scram, char *message);

/* The client's final message in answer to the endpoint's first. False with an error when that makes no sense. */
extern bool kh_scram_final(kh_scram *scram, const char *server_first, size_t n, char *message, kh_error *error);

/* Whether the endpoint's final message proves that it knows the verifier. Once; wipes what is secret. */
extern bool kh_scram_verify(kh_scram *scram, const char *server_final, size_t n);

#endif /* KAKEHASHI_SCRAM_H */

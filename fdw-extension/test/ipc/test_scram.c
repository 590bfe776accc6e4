/*
 * The proof of a password: hashes against FIPS 180-4 and RFC 4231, the exchange against RFC 7677, and against endpoints that are not what
 * they should be.
 */
#include "platform.h"

#include "fake_endpoint.h"
#include "scram.h"
#include "test.h"

#include "kakehashi/ipc.h"

#include <stdlib.h>

static kh_error error;

static void
check_hex(const char *expected, const unsigned char *digest)
{
	char hex[2 * KH_SHA256_BYTES + 1];

	for (int i = 0; i < KH_SHA256_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	CHECK_TEXT(expected, hex);
}

static void
check_sha256(const char *text, const char *expected)
{
	unsigned char digest[KH_SHA256_BYTES];
	kh_sha256 hash;

	kh_sha256_begin(&hash);
	kh_sha256_add(&hash, text, strlen(text));
	kh_sha256_end(&hash, digest);
	check_hex(expected, digest);
}

static void
should_hash_the_examples_of_fips_180_4(void)
{
	unsigned char digest[KH_SHA256_BYTES];
	kh_sha256 hash;

	check_sha256("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check_sha256("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	             "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	/* A million letters, in pieces that end within and at the end of blocks. */
	kh_sha256_begin(&hash);
	for (int left = 1000000, n = 1; left > 0; left -= n, n = n % 200 + 1)
	{
		char piece[200];

		n = n < left ? n : left;
		memset(piece, 'a', sizeof(piece));
		kh_sha256_add(&hash, piece, (size_t) n);
	}
	kh_sha256_end(&hash, digest);
	check_hex("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", digest);
}

static void
should_authenticate_the_examples_of_rfc_4231(void)
{
	unsigned char digest[KH_SHA256_BYTES];
	unsigned char long_key[131];

	kh_hmac_of("Jefe", 4, "what do ya want for nothing?", 28, digest);
	check_hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", digest);
	memset(long_key, 0xaa, sizeof(long_key));
	kh_hmac_of(long_key, sizeof(long_key), "Test Using Larger Than Block-Size Key - Hash Key First", 54, digest);
	check_hex("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54", digest);
}

#define NONCE "rOprNGfwEbeRWgbNEkqO"
#define SERVER_FIRST "r=" NONCE "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
#define SERVER_FINAL "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="

static void
begin(kh_scram *scram)
{
	CHECK(kh_scram_begin(scram, "user", "pencil", NONCE, &error));
}

static void
should_prove_as_in_the_example_of_rfc_7677(void)
{
	kh_scram scram;
	char message[KH_SCRAM_MESSAGE_BYTES];

	begin(&scram);
	kh_scram_first(&scram, message);
	CHECK_TEXT("n,,n=user,r=" NONCE, message);
	CHECK(kh_scram_final(&scram, SERVER_FIRST, strlen(SERVER_FIRST), message, &error));
	CHECK_TEXT("c=biws,r=" NONCE "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
	           message);
	CHECK(kh_scram_verify(&scram, SERVER_FINAL, strlen(SERVER_FINAL)));
	/* Nothing is left to verify with. */
	CHECK(!kh_scram_verify(&scram, SERVER_FINAL, strlen(SERVER_FINAL)));
}

static void
should_refuse_any_other_signature(void)
{
	static const char *const others[] = {
		"",
		"v=",
		"e=other-error",
		"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G5=", /* in bits that base64 does not use */
		"v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
		"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95A==",
		"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4AAAA="};
	char message[KH_SCRAM_MESSAGE_BYTES];
	kh_scram scram;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
	{
		begin(&scram);
		CHECK(kh_scram_final(&scram, SERVER_FIRST, strlen(SERVER_FIRST), message, &error));
		if (kh_scram_verify(&scram, others[i], strlen(others[i])))
			test_fail(__FILE__, __LINE__, "\"%s\"", others[i]);
	}
}

static void
should_refuse_a_message_that_makes_no_sense(void)
{
	static const char *const senseless[] = {
		"",
		"r=",
		"r=" NONCE ",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",               /* nothing of the endpoint's */
		"r=sOprNGfwEbeRWgbNEkqOxxx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", /* another's */
		"m=x,r=" NONCE "x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
		"r=" NONCE "x,s=,i=4096",
		"r=" NONCE "x,s=W22,i=4096",
		"r=" NONCE "x,s=W2=Z,i=4096",
		"r=" NONCE "x,s=W22ZaJ0SNY7soEsUEjb6gQ==",
		"r=" NONCE "x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=",
		"r=" NONCE "x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=0",
		"r=" NONCE "x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4095",
		"r=" NONCE "x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=-4096",
		"r=" NONCE "x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096x",
		"r=" NONCE "x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=1000001",
		"r=" NONCE "x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4294971392",
	};
	char message[KH_SCRAM_MESSAGE_BYTES];
	kh_scram scram;

	for (size_t i = 0; i < sizeof(senseless) / sizeof(*senseless); i++)
	{
		/* Exactly as long: beyond its end is the sanitizer's. */
		size_t n = strlen(senseless[i]);
		char *exact = memcpy(malloc(n + 1), senseless[i], n);

		begin(&scram);
		if (kh_scram_final(&scram, exact, n, message, &error))
			test_fail(__FILE__, __LINE__, "\"%s\" is taken", senseless[i]);
		CHECK_TEXT("08P01", error.sqlstate);
		free(exact);
	}
}

static void
should_escape_what_separates_attributes(void)
{
	char message[KH_SCRAM_MESSAGE_BYTES];
	char name[KH_SCRAM_MESSAGE_BYTES];
	kh_scram scram;

	CHECK(kh_scram_begin(&scram, "a,b=c", "x", NONCE, &error));
	kh_scram_first(&scram, message);
	CHECK_TEXT("n,,n=a=2Cb=3Dc,r=" NONCE, message);
	CHECK(kh_scram_begin(&scram, NULL, "x", NONCE, &error));
	kh_scram_first(&scram, message);
	CHECK_TEXT("n,,n=,r=" NONCE, message);
	memset(name, ',', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	CHECK(!kh_scram_begin(&scram, name, "x", NULL, &error));
	CHECK_TEXT("54000", error.sqlstate);
}

static kh_session *
attach(const char *password, int timeout_millis)
{
	kh_attach_options options = {.runtime_directory = test_directory(),
	                             .application_name = "test",
	                             .user_name = "alice",
	                             .password = password,
	                             .timeout_millis = timeout_millis};

	return kh_attach(&options, &error);
}

static void
should_attach_by_a_proof_and_not_send_the_password(void)
{
	kh_session *session;

	fake_start(test_directory(), FAKE_KNOWS_THE_PASSWORD);
	session = attach("pencil", 30000);
	if (session == NULL)
		test_fail(__FILE__, __LINE__, "%s", error.message);
	CHECK(fake_received("n,,n=alice,r=") && fake_received(",p="));
	CHECK(!fake_received("pencil"));
	kh_detach(session);
	fake_stop();
}

static void
check_refused(fake_answer answer, const char *sqlstate, const char *part)
{
	fake_start(test_directory(), answer);
	CHECK(attach("pencil", 30000) == NULL);
	CHECK(!fake_received("pencil"));
	fake_stop();
	CHECK_TEXT(sqlstate, error.sqlstate);
	if (strstr(error.message, part) == NULL)
		test_fail(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", error.message, part);
}

static void
should_refuse_who_does_not_ask_for_the_proof(void)
{
	check_refused(FAKE_ATTACHES, "28000", "has not proved that it knows the password of user \"alice\"");
}

static void
should_refuse_who_takes_any_proof(void)
{
	check_refused(FAKE_KNOWS_NO_PASSWORD, "28000", "has not proved");
	CHECK(error.hint[0] != '\0');
}

static void
should_refuse_a_signature_of_zeros(void)
{
	check_refused(FAKE_SIGNS_WITH_ZEROS, "28000", "has not proved");
}

static void
should_refuse_another_nonce(void)
{
	check_refused(FAKE_CHANGES_THE_NONCE, "08P01", "nonce is not of this exchange");
}

static void
should_refuse_too_few_iterations(void)
{
	check_refused(FAKE_ASKS_FOR_4095_ITERATIONS, "08P01", "4095 iterations are not between 4096 and 1000000");
}

static void
should_refuse_too_many_iterations(void)
{
	check_refused(FAKE_ASKS_FOR_1000001_ITERATIONS, "08P01", "1000001 iterations");
}

static void
should_refuse_a_long_message(void)
{
	check_refused(FAKE_ASKS_WITH_A_LONG_MESSAGE, "08P01", "too long");
}

static void
should_give_up_proving_after_the_timeout(void)
{
	/* Some hundreds of milliseconds of work at least. */
	fake_start(test_directory(), FAKE_ASKS_FOR_1000000_ITERATIONS);
	CHECK(attach("pencil", 50) == NULL);
	fake_stop();
	CHECK_TEXT("08001", error.sqlstate);
	CHECK(strstr(error.message, "within 50 ms") != NULL);
}

const test_case scram_tests[] = {
	TEST(should_hash_the_examples_of_fips_180_4),
	TEST(should_authenticate_the_examples_of_rfc_4231),
	TEST(should_prove_as_in_the_example_of_rfc_7677),
	TEST(should_refuse_any_other_signature),
	TEST(should_refuse_a_message_that_makes_no_sense),
	TEST(should_escape_what_separates_attributes),
	TEST(should_attach_by_a_proof_and_not_send_the_password),
	TEST(should_refuse_who_does_not_ask_for_the_proof),
	TEST(should_refuse_who_takes_any_proof),
	TEST(should_refuse_a_signature_of_zeros),
	TEST(should_refuse_another_nonce),
	TEST(should_refuse_too_few_iterations),
	TEST(should_refuse_too_many_iterations),
	TEST(should_refuse_a_long_message),
	TEST(should_give_up_proving_after_the_timeout),
	{0},
};

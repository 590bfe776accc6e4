/*
 * The corpora once more: corpus/TARGET.txt has an input a line, in base64. A line that begins with # is a comment.
 */
#include "platform.h"

#include "target.h"
#include "test.h"

#include <stdlib.h>

static int
sextet(char c)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c == '\0' ? NULL : strchr(alphabet, c);

	return at == NULL ? -1 : (int) (at - alphabet);
}

/* Bytes of a line, in memory that ends where they do; NULL: it is no base64. */
static unsigned char *
decoded(const char *line, size_t *n)
{
	size_t characters = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
	unsigned char *bytes;

	*n = characters * 6 / 8;
	if (strspn(line + characters, "=\n") != strlen(line + characters))
		return NULL;
	bytes = malloc(*n > 0 ? *n : 1);
	CHECK(bytes != NULL);
	for (size_t i = 0; i < *n; i++)
	{
		/* Byte i has bits of two characters. */
		size_t at = i * 8 / 6;
		int shift = 4 - 2 * (int) (i % 3);
		unsigned bits = (unsigned) sextet(line[at]) << 6 | (unsigned) sextet(line[at + 1]);

		bytes[i] = (unsigned char) (bits >> shift);
	}
	return bytes;
}

static void
replay(const fuzz_target *target)
{
	const char *directory = getenv("KAKEHASHI_CORPUS");
	char path[512];
	FILE *file;
	char *line = NULL;
	size_t capacity = 0;
	int inputs = 0;
	int taken = 0;

	snprintf(path, sizeof(path), "%s/%s.txt", directory != NULL ? directory : "corpus", target->name);
	file = fopen(path, "r");
	if (file == NULL)
		test_fail(__FILE__, __LINE__, "could not open \"%s\"", path);
	while (getline(&line, &capacity, file) > 0)
	{
		unsigned char *bytes;
		size_t n;

		if (line[0] == '#')
			continue;
		bytes = decoded(line, &n);
		if (bytes == NULL)
			test_fail(__FILE__, __LINE__, "\"%s\" has a line that is no base64: %s", path, line);
		taken += target->run(bytes, n);
		inputs++;
		free(bytes);
	}
	free(line);
	fclose(file);
	/* A corpus of refusals alone would reach little. */
	if (taken == 0)
		test_fail(__FILE__, __LINE__, "none of the %d inputs of %s is taken", inputs, target->name);
}

static void
should_survive_the_corpora(void)
{
	for (const fuzz_target *target = fuzz_targets; target->name != NULL; target++)
		replay(target);
}

static void
should_decode_base64(void)
{
	static const char *const pairs[][2] = {{"\n", ""}, {"Zg==\n", "f"}, {"Zm8=\n", "fo"}, {"Zm9vYmE=", "fooba"}};
	size_t n;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
	{
		unsigned char *bytes = decoded(pairs[i][0], &n);

		CHECK_EQUAL(strlen(pairs[i][1]), n);
		CHECK(memcmp(bytes, pairs[i][1], n) == 0);
		free(bytes);
	}
	CHECK(decoded("Zg=x", &n) == NULL);
}

const test_case corpus_tests[] = {
	TEST(should_decode_base64),
	TEST(should_survive_the_corpora),
	{0},
};

#include "test.h"

#include "errors.h"
#include "samples.h"

#include <dirent.h>
#include <stdlib.h>

static unsigned char frame[65536];
static unsigned char again[65536];

static void
should_decode_what_it_encodes(void)
{
	for (size_t i = 0; i < SAMPLE_COUNT; i++)
	{
		size_t bytes = samples[i].example(frame, sizeof(frame));

		CHECK(bytes > 0);
		CHECK_EQUAL(bytes, samples[i].round_trip(frame, bytes, again, sizeof(again)));
		CHECK(memcmp(frame, again, bytes) == 0);
	}
}

static void
should_refuse_to_encode_what_does_not_fit(void)
{
	for (size_t i = 0; i < SAMPLE_COUNT; i++)
	{
		size_t bytes = samples[i].example(frame, sizeof(frame));

		for (size_t capacity = 0; capacity < bytes; capacity++)
		{
			unsigned char *exact = malloc(capacity + 1);

			/* The sanitizer watches the end of exact. */
			CHECK_EQUAL(0, samples[i].example(exact, capacity));
			free(exact);
		}
	}
}

static void
should_refuse_every_truncation(void)
{
	for (size_t i = 0; i < SAMPLE_COUNT; i++)
	{
		size_t bytes = samples[i].example(frame, sizeof(frame));

		for (size_t cut = 0; cut < bytes; cut++)
		{
			unsigned char *exact = malloc(cut + (cut == 0));

			memcpy(exact, frame, cut);
			CHECK_EQUAL(0, samples[i].round_trip(exact, cut, again, sizeof(again)));
			free(exact);
		}
	}
}

static void
should_refuse_bytes_behind_the_message(void)
{
	for (size_t i = 0; i < SAMPLE_COUNT; i++)
	{
		size_t bytes = samples[i].example(frame, sizeof(frame));

		frame[bytes] = 0;
		CHECK_EQUAL(0, samples[i].round_trip(frame, bytes + 1, again, sizeof(again)));
	}
}

/* A block that is 4 bytes longer, and data behind: as a newer version would write it. */
static void
should_skip_what_a_newer_version_appends(void)
{
	for (size_t i = 0; i < SAMPLE_COUNT; i++)
	{
		size_t bytes = samples[i].example(frame, sizeof(frame));
		unsigned char newer[4096];
		uint16_t block;
		uint16_t version = KH_SCHEMA_VERSION + 1;

		memcpy(&block, frame, 2);
		memcpy(newer, frame, 8 + (size_t) block);
		memset(newer + 8 + block, 0xEE, 4);
		memcpy(newer + 12 + block, frame + 8 + block, bytes - 8 - block);
		memset(newer + bytes + 4, 0xEE, 6);
		block += 4;
		memcpy(newer, &block, 2);
		memcpy(newer + 6, &version, 2);
		CHECK_EQUAL(bytes, samples[i].round_trip(newer, bytes + 10, again, sizeof(again)));
		CHECK(memcmp(frame, again, bytes) == 0);
	}
}

static void
should_refuse_other_templates_schemas_and_version_zero(void)
{
	size_t bytes = samples[0].example(frame, sizeof(frame));
	static const size_t fields[] = {2, 4, 6};

	for (size_t i = 0; i < 3; i++)
	{
		unsigned char changed[512];

		memcpy(changed, frame, bytes);
		changed[fields[i]] ^= fields[i] == 6 ? KH_SCHEMA_VERSION : 1;
		CHECK_EQUAL(0, samples[0].round_trip(changed, bytes, again, sizeof(again)));
	}
}

static void
should_refuse_unknown_enumerators_and_flags(void)
{
	size_t bytes = sample_of_template(KH_EXECUTE_TEMPLATE_ID)->example(frame, sizeof(frame));
	kh_execute_message message;
	/* flags, action, kind, isolation, response */
	static const size_t offsets[] = {18, 56, 57, 58, 59};

	CHECK(kh_execute_decode(frame, bytes, &message));
	for (size_t i = 0; i < 5; i++)
	{
		unsigned char kept = frame[8 + offsets[i]];

		frame[8 + offsets[i]] = 0x44;
		CHECK(!kh_execute_decode(frame, bytes, &message));
		frame[8 + offsets[i]] = kept;
	}
}

static void
should_refuse_text_that_is_not_utf8(void)
{
	static const char *const bad[] = {"\x80",     "\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
	                                  "\xE6\xA9", "\xFF"};
	kh_pong_message pong = {.request_id = 1, .payload = {.data = (const unsigned char *) "\xFF", .bytes = 1}};
	kh_pong_message decoded;
	size_t bytes;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
	{
		kh_begin_message message = {.label = {.data = bad[i], .bytes = (uint32_t) strlen(bad[i])}};

		bytes = kh_begin_encode(&message, frame, sizeof(frame));
		CHECK(!kh_begin_decode(frame, bytes, &message));
	}
	/* Bytes are not text. */
	bytes = kh_pong_encode(&pong, frame, sizeof(frame));
	CHECK(kh_pong_decode(frame, bytes, &decoded));
}

static void
should_refuse_data_longer_than_its_limit(void)
{
	unsigned char *large = calloc(1, (1 << 20) + 1);
	unsigned char *out = malloc((1 << 20) + 100);
	kh_ping_message ping = {.payload = {.data = large, .bytes = 1 << 20}};
	size_t bytes = kh_ping_encode(&ping, out, (1 << 20) + 100);
	kh_ping_message decoded;
	bool fits = bytes > 0 && kh_ping_decode(out, bytes, &decoded);
	bool refused;

	ping.payload.bytes++;
	refused = kh_ping_encode(&ping, out, (1 << 20) + 100) == 0;
	free(large);
	free(out);
	CHECK(fits && refused);
}

static void
check_golden_file(const char *path, const char *name, int version)
{
	FILE *file = fopen(path, "rb");
	kh_message_header header;
	const sample *known;
	size_t bytes;
	size_t written;

	CHECK(file != NULL);
	bytes = fread(frame, 1, sizeof(frame), file);
	fclose(file);
	if (!kh_message_header_decode(frame, bytes, &header))
		test_fail(__FILE__, __LINE__, "%s has no message header", name);
	known = sample_of_template(header.template_id);
	if (header.version != version || known == NULL)
		test_fail(__FILE__, __LINE__, "%s is no message of version %d", name, version);
	written = known->round_trip(frame, bytes, again, sizeof(again));
	/* What is written is of the present version. */
	if (written == 0 || (version == KH_SCHEMA_VERSION && (written != bytes || memcmp(frame, again, bytes) != 0)))
		test_fail(__FILE__, __LINE__, "%s is not read and written back", name);
}

/* Frozen encodings, made by Java: each is read, and what is written again is the same. */
static void
check_golden_files(int version)
{
	const char *root = getenv("KAKEHASHI_GOLDEN");
	char path[4096];
	struct dirent *entry;
	DIR *listing;
	int files = 0;

	snprintf(path, sizeof(path), "%s/v%d", root != NULL ? root : ".", version);
	listing = opendir(path);
	if (listing == NULL)
		test_skip("no golden files");
	while ((entry = readdir(listing)) != NULL)
	{
		size_t n = strlen(entry->d_name);
		char file[8192];

		if (n < 5 || strcmp(entry->d_name + n - 4, ".bin") != 0)
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		check_golden_file(file, entry->d_name, version);
		files++;
	}
	closedir(listing);
	CHECK(files > 0);
}

static void
should_read_golden_files_of_version_1(void)
{
	check_golden_files(1);
}

static void
should_read_golden_files_of_version_2(void)
{
	check_golden_files(2);
}

static void
should_read_golden_files_of_version_3(void)
{
	check_golden_files(3);
}

static void
should_read_golden_files_of_version_4(void)
{
	check_golden_files(4);
}

static void
should_read_golden_files_of_version_5(void)
{
	check_golden_files(5);
}

static void
should_read_golden_files_of_version_6(void)
{
	check_golden_files(6);
}

static void
should_read_golden_files_of_version_7(void)
{
	check_golden_files(7);
}

static void
should_read_golden_files_of_version_8(void)
{
	check_golden_files(8);
}

static void
should_read_and_write_golden_files_of_version_9(void)
{
	check_golden_files(9);
}

static void
should_cut_error_texts_on_a_character_boundary(void)
{
	char text[8];

	kh_copy_text(text, sizeof(text), "abcdef\xC3\xA4", 8);
	CHECK_TEXT("abcdef", text);
	kh_copy_text(text, sizeof(text), "abcde\xC3\xA4", 7);
	CHECK_TEXT("abcde\xC3\xA4", text);
	kh_copy_text(text, sizeof(text), "abcd\xF0\x9F\x8C\x89", 8);
	CHECK_TEXT("abcd", text);
	kh_copy_text(text, sizeof(text), "ab\0cd", 5);
	CHECK_TEXT("ab", text);
}

const test_case codec_tests[] = {
	TEST(should_decode_what_it_encodes),
	TEST(should_refuse_to_encode_what_does_not_fit),
	TEST(should_refuse_every_truncation),
	TEST(should_refuse_bytes_behind_the_message),
	TEST(should_skip_what_a_newer_version_appends),
	TEST(should_refuse_other_templates_schemas_and_version_zero),
	TEST(should_refuse_unknown_enumerators_and_flags),
	TEST(should_refuse_text_that_is_not_utf8),
	TEST(should_refuse_data_longer_than_its_limit),
	TEST(should_read_golden_files_of_version_1),
	TEST(should_read_golden_files_of_version_2),
	TEST(should_read_golden_files_of_version_3),
	TEST(should_read_golden_files_of_version_4),
	TEST(should_read_golden_files_of_version_5),
	TEST(should_read_golden_files_of_version_6),
	TEST(should_read_golden_files_of_version_7),
	TEST(should_read_golden_files_of_version_8),
	TEST(should_read_and_write_golden_files_of_version_9),
	TEST(should_cut_error_texts_on_a_character_boundary),
	{0},
};

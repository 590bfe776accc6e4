/*
 * Every decoder against mutated input: it may refuse, it may accept, it may not read or write out of bounds (the
 * sanitizers watch) and not run for ever. Deterministic: the seed is printed and can be given.
 */
#include "fixture.h"

#include "samples.h"
#include "session_internal.h"
#include "target.h"

#include <stdlib.h>

#define ROUNDS 60000
#define FILE_ROUNDS 400

/* Changes a few bytes, preferring values at the edges, or cuts the end. Returns the new length. */
static size_t
mutate(unsigned char *bytes, size_t n, uint64_t *random)
{
	static const uint32_t edges[] = {0,      1,        0x7F,       0x80,       0xFF,      0x7FFF,
	                                 0xFFFF, 0x100000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
	int changes = (int) (test_random(random) % 4) + 1;

	while (changes-- > 0 && n > 0)
	{
		size_t at = test_random(random) % n;
		uint32_t edge = edges[test_random(random) % (sizeof(edges) / sizeof(edges[0]))];
		size_t width = (size_t) 1 << test_random(random) % 3;

		switch (test_random(random) % 4)
		{
			case 0:
				bytes[at] = (unsigned char) test_random(random);
				break;
			case 1:
				bytes[at] ^= (unsigned char) (1 << test_random(random) % 8);
				break;
			case 2:
				memcpy(bytes + at, &edge, width < n - at ? width : n - at);
				break;
			default:
				if (test_random(random) % 4 == 0)
					n = test_random(random) % (n + 1);
				break;
		}
	}
	return n;
}

/* A copy whose end is the end of its memory. */
static unsigned char *
exact_copy(const unsigned char *bytes, size_t n)
{
	unsigned char *copy = malloc(n > 0 ? n : 1);

	CHECK(copy != NULL);
	memcpy(copy, bytes, n);
	return copy;
}

static void
should_survive_mutated_messages(void)
{
	uint64_t random = test_seed();
	static unsigned char frame[8192];
	static unsigned char out[8192 + 64];

	for (int i = 0; i < ROUNDS; i++)
	{
		const sample *one = &samples[test_random(&random) % SAMPLE_COUNT];
		size_t n = mutate(frame, one->example(frame, sizeof(frame)), &random);
		unsigned char *exact = exact_copy(frame, n);
		size_t again = one->round_trip(exact, n, out, sizeof(out));

		/* What was accepted is a message: it can be encoded and read again. */
		if (again > 0)
			CHECK_EQUAL(again, one->round_trip(out, again, frame, sizeof(frame)));
		free(exact);
	}
}

static void
should_survive_mutated_attach_responses(void)
{
	uint64_t random = test_seed();
	static unsigned char frame[8192];
	const sample *attached = sample_of_template(KH_ATTACHED_TEMPLATE_ID);
	kh_published published;
	kh_error error;
	int accepted = 0;

	for (int i = 0; i < ROUNDS; i++)
	{
		size_t n = mutate(frame, attached->example(frame, sizeof(frame)), &random);
		unsigned char *exact = exact_copy(frame, n);

		if (kh_attach_response(exact, n, &published, &error))
		{
			uint64_t slot_end = published.slot_bytes;

			CHECK(published.limits.slots > 0 && published.limits.channel_window > 0);
			CHECK((uint64_t) published.frame_offset + published.frame_area_bytes <= slot_end);
			CHECK((uint64_t) published.inline_offset + published.inline_bytes <= slot_end);
			CHECK(strchr(published.queue_name, '/') == NULL && published.queue_name[0] != '.');
			accepted++;
		}
		free(exact);
	}
	CHECK(accepted > 0);
}

static size_t
example_batch(unsigned char *out, size_t capacity)
{
	kh_batch_writer writer;
	uint32_t n;

	CHECK(kh_batch_writer_init(&writer, 3, 4, (uint32_t) capacity, NULL));
	for (int i = 0; i < 4; i++)
	{
		CHECK(kh_batch_writer_add_row(&writer));
		kh_batch_writer_set_word(&writer, 0, (uint64_t) i);
		CHECK(kh_batch_writer_set_varlena(&writer, 1, "some text", (uint32_t) i * 2));
		CHECK(kh_batch_writer_set_value(&writer, 2, "0123456789abcdef", 16));
	}
	n = kh_batch_writer_finish(&writer);
	memcpy(out, writer.data, n);
	kh_batch_writer_free(&writer);
	return n;
}

static void
should_survive_mutated_row_batches(void)
{
	uint64_t random = test_seed();
	static unsigned char bytes[4096];
	kh_error error;
	unsigned sum = 0;
	int accepted = 0;

	for (int i = 0; i < ROUNDS; i++)
	{
		size_t n = mutate(bytes, example_batch(bytes, sizeof(bytes)), &random);
		unsigned char *exact = exact_copy(bytes, n);
		kh_batch batch;

		if (kh_batch_check(exact, (uint32_t) n, &batch, &error))
		{
			sum += read_whole_batch(&batch);
			accepted++;
		}
		free(exact);
	}
	CHECK(accepted > 0 && sum != 1);
}

static void
should_survive_mutated_queue_tables(void)
{
	uint64_t random = test_seed();
	static unsigned char original[4096] __attribute__((aligned(8)));
	static unsigned char bytes[4096] __attribute__((aligned(8)));
	size_t used = fixture_table(original, "yyyyMMdd-HHmm", 60000);
	kh_table_layout layout;
	kh_error error;
	int accepted = 0;

	for (int i = 0; i < ROUNDS; i++)
	{
		size_t n;
		unsigned char *exact;

		memcpy(bytes, original, used);
		n = mutate(bytes, used, &random);
		exact = exact_copy(bytes, n);
		if (kh_table_parse(exact, n, &layout, &error))
		{
			char name[KH_NAME_CAPACITY];

			CHECK(layout.write_lock <= n - 8 && layout.write_lock % 8 == 0);
			CHECK(layout.mod_count <= n - 8 && layout.highest_cycle <= n - 8 && layout.lowest_cycle <= n - 8);
			(void) kh_cycle_name(&layout, (int64_t) (test_random(&random) % INT32_MAX), name, sizeof(name));
			accepted++;
		}
		free(exact);
	}
	CHECK(accepted > 0);
}

/* Bytes of a cycle file with some messages. */
static size_t
example_cycle(unsigned char *out, size_t capacity)
{
	kh_queue *queue = fixture_queue();
	size_t n;

	for (int i = 0; i < 30; i++)
		CHECK(kh_queue_append(queue, "message", 7, NULL));
	n = queue->open.file_bytes < capacity ? queue->open.file_bytes : capacity;
	memcpy(out, queue->open.map, n);
	kh_queue_close(queue);
	return n;
}

static void
should_survive_mutated_cycle_headers(void)
{
	uint64_t random = test_seed();
	static unsigned char original[2048] __attribute__((aligned(8)));
	static unsigned char bytes[2048] __attribute__((aligned(8)));
	size_t used = example_cycle(original, sizeof(original));
	kh_cycle_layout layout;
	kh_error error;
	int accepted = 0;

	for (int i = 0; i < ROUNDS; i++)
	{
		size_t n;
		unsigned char *exact;

		memcpy(bytes, original, used);
		/* Mostly where the header is. */
		n = i % 4 == 0 ? mutate(bytes, used, &random) : mutate(bytes, 0x110, &random);
		n = n < 0x110 ? n : used;
		exact = exact_copy(bytes, n);
		if (kh_cycle_parse(exact, n, &layout, &error))
		{
			CHECK(layout.position <= n - 16 && layout.last_index <= n - 8);
			CHECK(layout.index2index + 8 * (uint64_t) layout.geometry.index_count <= n);
			accepted++;
		}
		free(exact);
	}
	CHECK(accepted > 0);
}

/* The whole appender on a file with garbage in it: it appends or reports, and never keeps the lock. */
static void
should_survive_mutated_cycle_files(void)
{
	uint64_t random = test_seed();
	kh_queue *queue = fixture_queue();
	kh_error error;
	int appended = 0;

	CHECK(kh_queue_append(queue, "first", 5, &error));
	for (int i = 0; i < FILE_ROUNDS; i++)
	{
		uint64_t position = *kh_cycle_word(&queue->open, queue->open.layout.position);
		size_t window = position + 200 < queue->open.file_bytes ? position + 200 : 1024;

		(void) mutate(queue->open.map, window, &random);
		for (int n = 0; n < 10; n++)
			appended += kh_queue_append(queue, "message of some length", 22, &error);
		CHECK_EQUAL(KH_LOCK_FREE, kh_load_relaxed(queue->table.write_lock));
		if (i % 20 == 19)
		{
			/* A fresh file, as the old one may be beyond use. */
			kh_cycle_close(&queue->open);
			kh_store_release(queue->table.highest_cycle, INT32_MIN);
			CHECK(kh_lock_take(queue, NULL));
			(void) kh_roll(queue, 2000000000 + i, &error);
			kh_lock_release(queue);
			kh_store_release(queue->table.highest_cycle, 2000000000 + i);
			if (queue->open.fd < 0)
				CHECK(kh_queue_append(queue, "again", 5, &error));
		}
	}
	kh_queue_close(queue);
	CHECK(appended > 0);
}

const test_case fuzz_tests[] = {
	TEST(should_survive_mutated_messages),
	TEST(should_survive_mutated_attach_responses),
	TEST(should_survive_mutated_row_batches),
	TEST(should_survive_mutated_queue_tables),
	TEST(should_survive_mutated_cycle_headers),
	TEST(should_survive_mutated_cycle_files),
	{0},
};

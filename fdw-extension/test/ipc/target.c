#include "platform.h"

#include "fixture.h"
#include "fixture_store.h"
#include "samples.h"
#include "scram.h"
#include "session_internal.h"
#include "target.h"

#include <stdlib.h>

#define FRAME_BYTES 8192
#define TEMPLATE_OFFSET 2
#define APPENDS 10
/* Enough for the fewest iterations that are taken, and not for many more. */
#define ITERATIONS_ASKED 100

static kh_error error;

/* What is taken is a message: it can be encoded, and read again. */
static bool
run_frame(const unsigned char *bytes, size_t n)
{
	static unsigned char out[FRAME_BYTES + 64];
	static unsigned char again[FRAME_BYTES + 64];
	kh_published published;
	uint16_t template;
	const sample *of;
	size_t encoded;

	if (n < TEMPLATE_OFFSET + sizeof(template) || n > FRAME_BYTES)
		return false;
	memcpy(&template, bytes + TEMPLATE_OFFSET, sizeof(template));
	if (template == KH_ATTACHED_TEMPLATE_ID && kh_attach_response(bytes, n, &published, &error))
	{
		CHECK(published.limits.slots > 0 && published.limits.channel_window > 0);
		CHECK((uint64_t) published.frame_offset + published.frame_area_bytes <= published.slot_bytes);
		CHECK((uint64_t) published.inline_offset + published.inline_bytes <= published.slot_bytes);
		CHECK(strchr(published.queue_name, '/') == NULL && published.queue_name[0] != '.');
	}
	for (of = samples; of < samples + SAMPLE_COUNT && of->template_id != template;)
		of++;
	if (of == samples + SAMPLE_COUNT)
		return false;
	encoded = of->round_trip(bytes, n, out, sizeof(out));
	if (encoded == 0)
		return false;
	CHECK_EQUAL(encoded, of->round_trip(out, encoded, again, sizeof(again)));
	return true;
}

unsigned
read_whole_batch(const kh_batch *batch)
{
	unsigned sum = 0;

	for (uint32_t row = 0; row < batch->row_count; row++)
	{
		for (uint32_t column = 0; column < batch->column_count; column++)
		{
			uint64_t word = kh_batch_word(batch, row, column);
			const unsigned char *value = kh_batch_value(batch, word, column % 2 == 0 ? 16 : 0);
			uint32_t n = 16;

			sum += kh_batch_is_null(batch, row, column);
			if (value == NULL)
				continue;
			if (column % 2 != 0)
				n = *(const uint32_t *) value >> 2;
			for (uint32_t i = 0; i < n; i++)
				sum += value[i];
		}
	}
	return sum;
}

static bool
run_batch(const unsigned char *bytes, size_t n)
{
	kh_batch batch;

	if (n > UINT32_MAX || !kh_batch_check(bytes, (uint32_t) n, &batch, &error))
		return false;
	/* Its sum is of no interest, but reading it must not be left out. */
	return read_whole_batch(&batch) != UINT32_MAX;
}

static bool
run_table(const unsigned char *bytes, size_t n)
{
	kh_table_layout layout;
	char name[KH_NAME_CAPACITY];

	if (!kh_table_parse(bytes, n, &layout, &error))
		return false;
	CHECK(layout.write_lock <= n - 8 && layout.write_lock % 8 == 0);
	CHECK(layout.mod_count <= n - 8 && layout.highest_cycle <= n - 8 && layout.lowest_cycle <= n - 8);
	(void) kh_cycle_name(&layout, (int64_t) n * 1000003 % INT32_MAX, name, sizeof(name));
	return true;
}

static bool
run_cycle(const unsigned char *bytes, size_t n)
{
	kh_cycle_layout layout;

	if (!kh_cycle_parse(bytes, n, &layout, &error))
		return false;
	CHECK(layout.position <= n - 16 && layout.last_index <= n - 8);
	CHECK(layout.index2index + 8 * (uint64_t) layout.geometry.index_count <= n);
	return true;
}

/* The whole appender on a file that begins with the input: it appends or reports, and never keeps the lock. */
static bool
run_queue(const unsigned char *bytes, size_t n)
{
	static int number;
	char directory[300];
	kh_queue *queue;
	int appended = 0;

	snprintf(directory, sizeof(directory), "%s/queue-%d", test_directory(), number++);
	queue = fixture_queue_in(directory);
	CHECK(kh_queue_append(queue, "first", 5, &error));
	memcpy(queue->open.map, bytes, n < queue->open.file_bytes ? n : queue->open.file_bytes);
	for (int i = 0; i < APPENDS; i++)
		appended += kh_queue_append(queue, "message of some length", 22, &error);
	CHECK_EQUAL(KH_LOCK_FREE, kh_load_relaxed(queue->table.write_lock));
	kh_queue_close(queue);
	return appended > 0;
}

static bool
go_on(void *context)
{
	return --*(int *) context > 0;
}

/* The endpoint's two messages of the exchange: the length of the first in one byte, the first, the final one. */
static bool
run_scram(const unsigned char *bytes, size_t n)
{
	char message[KH_SCRAM_MESSAGE_BYTES];
	kh_scram scram;
	size_t first = n == 0 ? 0 : bytes[0] < n - 1 ? bytes[0] : n - 1;
	int asked = ITERATIONS_ASKED;
	char *server_first;
	char *server_final;
	bool proved;

	if (n == 0)
		return false;
	/* Ends of their own, which the sanitizer guards. */
	server_first = malloc(first + 1);
	server_final = malloc(n - first);
	CHECK(server_first != NULL && server_final != NULL);
	memcpy(server_first, bytes + 1, first);
	memcpy(server_final, bytes + 1 + first, n - 1 - first);
	CHECK(kh_scram_begin(&scram, "user", "pencil", "rOprNGfwEbeRWgbNEkqO", &error));
	scram.go_on = go_on;
	scram.context = &asked;
	kh_scram_first(&scram, message);
	proved = kh_scram_final(&scram, server_first, first, message, &error);
	if (proved)
	{
		CHECK(strlen(message) < sizeof(message));
		(void) kh_scram_verify(&scram, server_final, n - 1 - first);
	}
	free(server_first);
	free(server_final);
	return proved;
}

static void
run_range(const kh_session *session, int64_t from)
{
	kh_direct *range = fixture_store_range(KH_KEY_FLAGS_LOWER, KH_KEY_FLAGS_UPPER, 0);
	kh_batch_writer bounds = {0};
	kh_batch_writer to = {0};
	kh_batch batch;

	if (range == NULL)
		return;
	CHECK(kh_batch_writer_init(&bounds, 2, 1, 4096, &error) && kh_batch_writer_init(&to, 6, 100, 65536, &error));
	CHECK(kh_batch_writer_add_row(&bounds));
	kh_batch_writer_set_word(&bounds, 0, (uint64_t) from);
	kh_batch_writer_set_word(&bounds, 1, (uint64_t) from + 50);
	CHECK(kh_batch_check(bounds.data, kh_batch_writer_finish(&bounds), &batch, &error));
	if (kh_direct_read(session, range, &batch, &to) == KH_DIRECT_ROW)
	{
		CHECK(kh_batch_check(to.data, kh_batch_writer_finish(&to), &batch, &error));
		CHECK(read_whole_batch(&batch) != UINT32_MAX);
	}
	kh_batch_writer_free(&bounds);
	kh_batch_writer_free(&to);
	kh_direct_free(range);
}

/*
 * A store that somebody has overwritten here and there: nothing outside of it is touched, and what is answered is a row. The key in two bytes, then pieces
 * of 12: line, word in it, what is done to it, with what.
 */
static bool
run_direct(const unsigned char *bytes, size_t n)
{
	kh_session *session = fixture_store();
	kh_direct *read = fixture_store_ticket();
	kh_direct_answer answer = KH_DIRECT_ASK;
	kh_batch row;
	uint16_t id;

	if (n < sizeof(id))
	{
		kh_direct_free(read);
		return false;
	}
	memcpy(&id, bytes, sizeof(id));
	for (size_t at = sizeof(id); at + 12 <= n; at += 12)
	{
		uint16_t line;
		uint64_t word;
		uint64_t with;
		unsigned char *place;

		memcpy(&line, bytes + at, sizeof(line));
		place = fixture_store_line(line % fixture_store_lines()) + bytes[at + 2] % 57;
		memcpy(&word, place, sizeof(word));
		memcpy(&with, bytes + at + 4, sizeof(with));
		word = bytes[at + 3] % 3 == 0 ? with : bytes[at + 3] % 3 == 1 ? word + with : word ^ with;
		memcpy(place, &word, sizeof(word));
	}
	/* Where the memory is there, a client has noted when it mapped it. */
	session->store.there = kh_store_head_of(&session->store)->base;
	run_range(session, id % (FIXTURE_STORE_ROWS + 2));
	if (read != NULL)
		answer = fixture_store_read(read, id % (FIXTURE_STORE_ROWS + 2), &row);
	kh_direct_free(read);
	return answer == KH_DIRECT_ROW && read_whole_batch(&row) != UINT32_MAX;
}

const fuzz_target fuzz_targets[] = {
	{"c-frame", run_frame}, {"c-batch", run_batch}, {"c-table", run_table},   {"c-cycle", run_cycle},
	{"c-queue", run_queue}, {"c-scram", run_scram}, {"c-direct", run_direct}, {0},
};

const fuzz_target *
fuzz_target_named(const char *name)
{
	for (const fuzz_target *target = fuzz_targets; target->name != NULL; target++)
	{
		if (strcmp(target->name, name) == 0)
			return target;
	}
	return NULL;
}

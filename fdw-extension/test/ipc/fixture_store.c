#include "platform.h"

#include "fixture_store.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LINE_BYTES 64
#define GUARD_BYTES 4096
#define COLUMNS 6
#define ROW_BYTES 65536

typedef struct recorded_line
{
	uint32_t number;
	unsigned char content[LINE_BYTES];
} recorded_line;

static struct
{
	unsigned char *ticket;
	uint32_t ticket_bytes;
	recorded_line *lines;
	uint32_t count;
	unsigned char *memory;
	kh_session session;
	kh_batch_writer row;
} recorded;

static kh_error error;

static void
load(void)
{
	const char *path = getenv("KAKEHASHI_RECORDED_STORE");
	FILE *file = fopen(path != NULL ? path : "recorded.store", "r");
	uint64_t limit;
	unsigned char *guarded;
	recorded_line line;

	CHECK(file != NULL && fread(&recorded.ticket_bytes, sizeof(uint32_t), 1, file) == 1);
	recorded.ticket = malloc(recorded.ticket_bytes);
	CHECK(recorded.ticket != NULL && fread(recorded.ticket, recorded.ticket_bytes, 1, file) == 1);
	CHECK(fread(&limit, sizeof(limit), 1, file) == 1);
	while (fread(&line, sizeof(line), 1, file) == 1)
	{
		CHECK(line.number < limit / LINE_BYTES);
		recorded.lines = realloc(recorded.lines, (recorded.count + 1) * sizeof(line));
		CHECK(recorded.lines != NULL);
		recorded.lines[recorded.count++] = line;
	}
	fclose(file);
	guarded = mmap(NULL, limit + 2 * GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(guarded != MAP_FAILED);
	recorded.memory = guarded + GUARD_BYTES;
	CHECK(mprotect(recorded.memory, limit, PROT_READ | PROT_WRITE) == 0);
	recorded.session.store.base = recorded.memory;
	recorded.session.store.mapped_bytes = limit;
	CHECK(kh_batch_writer_init(&recorded.row, COLUMNS, 1, ROW_BYTES, &error));
}

uint32_t
fixture_store_lines(void)
{
	return recorded.count;
}

unsigned char *
fixture_store_line(uint32_t line)
{
	return recorded.memory + (size_t) recorded.lines[line].number * LINE_BYTES;
}

kh_session *
fixture_store(void)
{
	if (recorded.memory == NULL)
		load();
	for (uint32_t i = 0; i < recorded.count; i++)
		memcpy(fixture_store_line(i), recorded.lines[i].content, LINE_BYTES);
	recorded.session.store.there = kh_store_head_of(&recorded.session.store)->base;
	return &recorded.session;
}

static unsigned char *
at_offset(uint64_t offset)
{
	return (unsigned char *) recorded.session.store.base + offset;
}

unsigned char *
fixture_store_at(uint64_t address)
{
	return at_offset(address - recorded.session.store.there);
}

uint64_t
fixture_store_word(uint64_t address)
{
	uint64_t found;

	memcpy(&found, fixture_store_at(address), sizeof(found));
	return found;
}

kh_store_head *
fixture_store_head(void)
{
	return (kh_store_head *) (void *) at_offset(0);
}

kh_store_table *
fixture_store_table(const kh_direct *read)
{
	return (kh_store_table *) (void *) at_offset(read->table_cell);
}

kh_store_index *
fixture_store_tree(const kh_direct *read)
{
	return (kh_store_index *) (void *) at_offset(read->index_cell);
}

uint64_t
fixture_store_page(const kh_direct *read)
{
	return fixture_store_word(fixture_store_word(fixture_store_table(read)->parts));
}

kh_direct *
fixture_store_ticket(void)
{
	return kh_direct_create(&recorded.session, recorded.ticket, recorded.ticket_bytes);
}

kh_direct *
fixture_store_range(uint8_t lower, uint8_t upper, uint8_t of_first)
{
	kh_direct *row = fixture_store_ticket();
	kh_direct *read;
	uint32_t count = (lower != 0) + (upper != 0);

	if (row == NULL)
		return NULL;
	read = calloc(1, sizeof(*read) + count * sizeof(*read->keys) + row->column_count * sizeof(*read->columns));
	CHECK(read != NULL);
	*read = *row;
	read->key_count = count;
	read->keys = (kh_direct_read_keys *) (read + 1);
	read->columns = (kh_direct_read_columns *) (read->keys + count);
	memcpy(read->columns, row->columns, row->column_count * sizeof(*read->columns));
	for (uint32_t i = 0; i < count; i++)
	{
		read->keys[i] = row->keys[0];
		read->keys[i].parameter = (uint16_t) i;
		read->keys[i].flags |= i == 0 && lower != 0 ? lower : upper;
	}
	read->keys[0].flags |= KH_KEY_FLAGS_RANGED | of_first;
	kh_direct_free(row);
	CHECK(kh_range_create(read));
	return read;
}

kh_direct_answer
fixture_store_read(const kh_direct *read, int64_t id, kh_batch *row)
{
	kh_batch_writer parameters = {0};
	kh_batch key;
	kh_direct_answer answer;

	CHECK(kh_batch_writer_init(&parameters, 1, 1, 4096, &error) && kh_batch_writer_add_row(&parameters));
	kh_batch_writer_set_word(&parameters, 0, (uint64_t) id);
	CHECK(kh_batch_check(parameters.data, kh_batch_writer_finish(&parameters), &key, &error));
	answer = kh_direct_read(&recorded.session, read, &key, &recorded.row);
	if (answer == KH_DIRECT_ROW)
		CHECK(kh_batch_check(recorded.row.data, kh_batch_writer_finish(&recorded.row), row, &error));
	kh_batch_writer_free(&parameters);
	return answer;
}

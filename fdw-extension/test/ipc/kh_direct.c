/*
 * kh_direct RUNTIME_DIRECTORY ROLE [COUNT [SEED [ROWS]]]: what direct reads find beside writers, checked row by row. Roles:
 *
 *   make     the tables "torture" and "pair" with their rows; nobody else may be there
 *   read     COUNT reads of random rows; also takes the part of a writer now and then, and has to find what it has written
 *   write    COUNT updates, deletions and insertions
 *   move     COUNT changes of two rows of "pair" at once
 *   define   COUNT changes of definitions: columns come and go, tables are filled and dropped so that their memory becomes others'
 *   record   writes a ticket and the store's memory to the standard output, for the test and the fuzzer of the reader
 *
 * A row says itself whether it is whole: b is ~a, and the text and the number come from a. In one row a only grows, also when it is deleted and
 * inserted again. Of four keys of "pair" that belong together, three have rows at each moment: one of the first two, and the last two with values whose
 * sum is 0. A reader that finds something else prints it and ends with 1. All of them go on when the endpoint is killed and started again.
 */
#include "platform.h"

#include "numeric.h"
#include "session_internal.h"

#include "kakehashi/ipc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_ROWS 20000
#define MOST_LETTERS 300
#define INT8 20
#define WAIT_NANOS INT64_C(1000000000)
#define REATTACH_SECONDS 60
#define READS_PER_WRITE 5000
#define READS_PER_PAIR 2
#define PAIRS 4
#define LINE_BYTES 64

typedef enum statement
{
	SELECT_ROW = 1,
	UPDATE_ROW,
	DELETE_ROW,
	INSERT_ROW,
	SELECT_PAIR,
	MOVE_ROW,
	TRANSFER,
	OTHERS
} statement;

/* The new a of a row that is there. */
#define NEXT "greatest(a + 1, $2)"
/* What belongs to an a. */
#define LETTERS(a) "repeat(chr((65 + " a " % 26)::int4), (" a " % 300)::int4)"
#define NUMBER(a) "(" a " % 1000000000000 - 500000000000)::numeric / 1000"

static const char *const texts[] = {
	[SELECT_ROW] = "SELECT id, a, b, t, u, n FROM torture WHERE id = $1",
	[UPDATE_ROW] =
		"UPDATE torture SET a = " NEXT ", b = -1 - " NEXT ", t = " LETTERS(NEXT) ", n = " NUMBER(NEXT) " WHERE id = $1",
	[DELETE_ROW] = "DELETE FROM torture WHERE id = $1",
	[INSERT_ROW] = "INSERT INTO torture (id, a, b, t, u, n) VALUES ($1, $2, -1 - $2, " LETTERS(
		"$2") ", md5($1::text)::uuid, " NUMBER("$2") ") ON CONFLICT (id) DO NOTHING",
	[SELECT_PAIR] = "SELECT $1, id, v FROM pair WHERE id = $2",
	[MOVE_ROW] = "UPDATE pair SET id = CASE id WHEN $1 THEN $2 ELSE $1 END WHERE id = $1 OR id = $2",
	[TRANSFER] = "UPDATE pair SET v = v + CASE id WHEN $1 THEN 1 ELSE -1 END WHERE id = $1 OR id = $2",
};

static const uint32_t types[] = {INT8, INT8};

static struct
{
	kh_attach_options options;
	kh_session *session;
	kh_direct *ticket;
	kh_direct *pair_ticket;
	kh_batch_writer parameters;
	kh_batch_writer row;
	kh_batch_writer pair_rows;
	uint64_t random;
	uint64_t rows;
	int64_t newest[MOST_ROWS];
	long direct;
	long absent;
	long asked;
	long stale;
	long pairs;
} me;

static kh_error error;

static void
fail(const char *what, int64_t id)
{
	fprintf(stderr, "kh_direct: row %lld: %s\n", (long long) id, what);
	exit(1);
}

/* Of xorshift64*. */
static uint64_t
draw(uint64_t below)
{
	me.random ^= me.random >> 12;
	me.random ^= me.random << 25;
	me.random ^= me.random >> 27;
	return (me.random * UINT64_C(0x2545F4914F6CDD1D) >> 11) % below;
}

/* The endpoint is gone: its next one has other memory. */
static void
leave(void)
{
	kh_direct_free(me.ticket);
	kh_direct_free(me.pair_ticket);
	me.ticket = NULL;
	me.pair_ticket = NULL;
	kh_detach(me.session);
	me.session = NULL;
}

/* Waits for the end of a call and gives its result to use. False: there is no endpoint. */
static bool
finish(kh_call *call, void (*use)(const kh_result *result))
{
	kh_wait found = KH_WAIT_TIMEOUT;

	if (call == NULL)
		return false;
	while (found == KH_WAIT_TIMEOUT || found == KH_WAIT_BATCH)
	{
		found = kh_call_wait(call, WAIT_NANOS, &error);
		if (found == KH_WAIT_BATCH)
			kh_call_release(call);
	}
	if (found == KH_WAIT_FINISHED)
		use(kh_call_result(call));
	kh_call_end(call);
	return found == KH_WAIT_FINISHED;
}

/* Conflicts and changed definitions are what this is about. */
static void
use_nothing(const kh_result *result)
{
	if (result->failed && strncmp(result->error.sqlstate, "40", 2) != 0 &&
	    strncmp(result->error.sqlstate, "55", 2) != 0 && strncmp(result->error.sqlstate, "42", 2) != 0)
		fprintf(stderr, "kh_direct: %s: %s\n", result->error.sqlstate, result->error.message);
}

static void
take_ticket(kh_direct **ticket, const kh_result *result)
{
	kh_direct_free(*ticket);
	*ticket = NULL;
	if (!result->failed && result->direct_read != NULL)
		*ticket = kh_direct_create(me.session, result->direct_read, result->direct_read_bytes);
}

static void
use_ticket(const kh_result *result)
{
	take_ticket(&me.ticket, result);
}

static void
use_pair_ticket(const kh_result *result)
{
	take_ticket(&me.pair_ticket, result);
}

static bool
prepare(statement of, const char *text, uint32_t parameters)
{
	return finish(kh_send_prepare(me.session, (uint32_t) of, text, types, parameters, &error),
	              of == SELECT_ROW    ? use_ticket
	              : of == SELECT_PAIR ? use_pair_ticket
	                                  : use_nothing);
}

static void
set_parameters(int64_t id, int64_t a, uint32_t count)
{
	kh_batch_writer_free(&me.parameters);
	memset(&me.parameters, 0, sizeof(me.parameters));
	if (!kh_batch_writer_init(&me.parameters, count, 1, 4096, &error) || !kh_batch_writer_add_row(&me.parameters))
		fail(error.message, id);
	kh_batch_writer_set_word(&me.parameters, 0, (uint64_t) id);
	if (count > 1)
		kh_batch_writer_set_word(&me.parameters, 1, (uint64_t) a);
}

static long changed;

static void
use_count(const kh_result *result)
{
	use_nothing(result);
	changed = result->failed ? -1 : (long) result->rows_affected;
}

/* Rows that were changed; -1: an error, -2: there is no endpoint. */
static long
execute(statement of, int64_t id, int64_t a)
{
	kh_execute_options options = {.action = KH_AUTO_COMMIT};
	uint32_t count = of == OTHERS ? 0 : of == DELETE_ROW ? 1 : 2;
	uint32_t bytes = 0;

	if (count > 0)
	{
		set_parameters(id, a, count);
		bytes = kh_batch_writer_finish(&me.parameters);
	}
	return finish(kh_send_execute(me.session, (uint32_t) of, &options, count > 0 ? me.parameters.data : NULL, bytes,
	                              &error),
	              use_count)
	           ? changed
	           : -2;
}

static bool
run(const char *text)
{
	return prepare(OTHERS, text, 0) && execute(OTHERS, 0, 0) != -2;
}

static bool
attach(void)
{
	for (int tries = 0; me.session == NULL; tries++)
	{
		me.session = kh_attach(&me.options, &error);
		if (me.session == NULL && tries == REATTACH_SECONDS)
		{
			fprintf(stderr, "%s: %s %s\n", error.sqlstate, error.message, error.detail);
			exit(1);
		}
		if (me.session == NULL)
			sleep(1);
	}
	for (statement of = SELECT_ROW; of < OTHERS; of++)
	{
		if (!prepare(of, texts[of], of == SELECT_ROW || of == DELETE_ROW ? 1 : 2))
			return false;
	}
	return true;
}

static void
make(void)
{
	char text[300];

	if (!run("DROP TABLE IF EXISTS torture") || !run("CREATE TABLE torture (id int8 PRIMARY KEY, a int8 NOT NULL, b "
	                                                 "int8 NOT NULL, t text, u uuid, n numeric(18,3))"))
		fail(error.message, 0);
	snprintf(text, sizeof(text),
	         "INSERT INTO torture SELECT i, 0, -1, '', md5(i::text)::uuid, %s FROM generate_series(0, %llu) g (i)",
	         NUMBER("0"), (unsigned long long) me.rows - 1);
	if (!run(text))
		fail(error.message, 0);
	if (!run("DROP TABLE IF EXISTS pair") || !run("CREATE TABLE pair (id int8 PRIMARY KEY, v int8 NOT NULL)") ||
	    !run("INSERT INTO pair SELECT i, 0 FROM generate_series(0, 15) g (i) WHERE i % 4 <> 1"))
		fail(error.message, 0);
}

static void
check_row(int64_t id)
{
	kh_batch batch;
	const unsigned char *letters;
	const unsigned char *uuid;
	const unsigned char *number;
	int64_t a;
	int64_t n;
	uint32_t length;

	if (!kh_batch_check(me.row.data, kh_batch_writer_finish(&me.row), &batch, &error))
		fail(error.message, id);
	a = (int64_t) kh_batch_word(&batch, 0, 1);
	if ((int64_t) kh_batch_word(&batch, 0, 0) != id)
		fail("another row", id);
	if ((int64_t) kh_batch_word(&batch, 0, 2) != ~a)
		fail("b is not that of a", id);
	letters = kh_batch_value(&batch, kh_batch_word(&batch, 0, 3), 0);
	uuid = kh_batch_value(&batch, kh_batch_word(&batch, 0, 4), 16);
	number = kh_batch_value(&batch, kh_batch_word(&batch, 0, 5), 0);
	if (letters == NULL || uuid == NULL || number == NULL)
		fail("a value is null", id);
	memcpy(&length, letters, sizeof(length));
	length = (length >> 2) - 4;
	if (length != (uint32_t) (a % MOST_LETTERS))
		fail("the text has another length", id);
	for (uint32_t i = 0; i < length; i++)
	{
		if (letters[4 + i] != 'A' + a % 26)
			fail("the text has other letters", id);
	}
	memcpy(&length, number, sizeof(length));
	if (!read_numeric(number + 4, (length >> 2) - 4, 3, &n) || n != a % INT64_C(1000000000000) - INT64_C(500000000000))
		fail("n is not that of a", id);
	if (a < me.newest[id])
		fail("an older version than before", id);
	me.newest[id] = a;
}

static kh_direct_answer
read_row(int64_t id)
{
	kh_batch parameters;

	set_parameters(id, 0, 1);
	if (!kh_batch_check(me.parameters.data, kh_batch_writer_finish(&me.parameters), &parameters, &error))
		fail(error.message, id);
	return kh_direct_read(me.session, me.ticket, &parameters, &me.row);
}

/* What was acknowledged is found, in this form or a newer one. False: there is no endpoint. */
static bool
write_and_read(int64_t id)
{
	long rows = execute(UPDATE_ROW, id, kh_now_nanos());
	int64_t least = me.newest[id];

	if (rows < 1)
		return rows != -2;
	least++;
	if (me.ticket != NULL && read_row(id) == KH_DIRECT_ROW)
	{
		check_row(id);
		if (me.newest[id] < least)
			fail("what was acknowledged is not there", id);
	}
	return true;
}

static bool
read_pair(void)
{
	int64_t first = 4 * (int64_t) draw(PAIRS);
	kh_batch parameters;
	kh_batch rows;
	int64_t sum = 0;

	if (me.pair_ticket == NULL)
		return kh_session_alive(me.session) && prepare(SELECT_PAIR, texts[SELECT_PAIR], 2);
	kh_batch_writer_free(&me.parameters);
	memset(&me.parameters, 0, sizeof(me.parameters));
	if (!kh_batch_writer_init(&me.parameters, 2, 4, 4096, &error))
		fail(error.message, first);
	for (int64_t i = 0; i < 4; i++)
	{
		if (!kh_batch_writer_add_row(&me.parameters))
			fail("no room", first);
		kh_batch_writer_set_word(&me.parameters, 0, (uint64_t) i);
		kh_batch_writer_set_word(&me.parameters, 1, (uint64_t) (first + i));
	}
	if (!kh_batch_check(me.parameters.data, kh_batch_writer_finish(&me.parameters), &parameters, &error))
		fail(error.message, first);
	switch (kh_direct_read_rows(me.session, me.pair_ticket, &parameters, &me.pair_rows))
	{
		case KH_DIRECT_ROW:
			break;
		case KH_DIRECT_NO_ROW:
			fail("none of four rows is there", first);
			break;
		case KH_DIRECT_ASK:
			me.asked++;
			return true;
		case KH_DIRECT_STALE:
			kh_direct_free(me.pair_ticket);
			me.pair_ticket = NULL;
			return true;
	}
	if (!kh_batch_check(me.pair_rows.data, kh_batch_writer_finish(&me.pair_rows), &rows, &error))
		fail(error.message, first);
	if (rows.row_count != 3)
		fail("there are not three rows of four", first);
	for (uint32_t i = 0; i < 3; i++)
	{
		if (kh_batch_word(&rows, i, 0) + (uint64_t) first != kh_batch_word(&rows, i, 1) ||
		    (i > 0) != (kh_batch_word(&rows, i, 0) > 1))
			fail("another row of four", first);
		sum += i > 0 ? (int64_t) kh_batch_word(&rows, i, 2) : 0;
	}
	if (sum != 0)
		fail("half of a transaction", first);
	me.pairs++;
	return true;
}

static bool
read_once(void)
{
	int64_t id = (int64_t) draw(me.rows);

	if (draw(READS_PER_PAIR) == 0)
		return read_pair();
	if (me.ticket == NULL)
	{
		me.stale++;
		return kh_session_alive(me.session) && prepare(SELECT_ROW, texts[SELECT_ROW], 1);
	}
	switch (read_row(id))
	{
		case KH_DIRECT_ROW:
			me.direct++;
			check_row(id);
			break;
		case KH_DIRECT_NO_ROW:
			me.absent++;
			break;
		case KH_DIRECT_ASK:
			me.asked++;
			break;
		case KH_DIRECT_STALE:
			kh_direct_free(me.ticket);
			me.ticket = NULL;
	}
	return true;
}

static void
read_rows(long count)
{
	for (long i = 0; i < count; i++)
	{
		bool goes_on = draw(READS_PER_WRITE) == 0 ? write_and_read((int64_t) draw(me.rows)) : read_once();

		while (!goes_on)
		{
			leave();
			goes_on = attach();
		}
	}
	printf("%ld rows, %ld absent, %ld pairs, %ld asked for, %ld tickets\n", me.direct, me.absent, me.pairs, me.asked,
	       me.stale);
}

static void
write_rows(long count)
{
	for (long i = 0; i < count; i++)
	{
		int64_t id = (int64_t) draw(me.rows);
		statement of = draw(4) != 0 ? UPDATE_ROW : draw(2) != 0 ? INSERT_ROW : DELETE_ROW;
		bool goes_on = execute(of, id, kh_now_nanos()) != -2;

		while (!goes_on)
		{
			leave();
			goes_on = attach();
		}
	}
}

static void
move_rows(long count)
{
	long sum = 0;

	for (long i = 0; i < count; i++)
	{
		int64_t first = 4 * (int64_t) draw(PAIRS);
		bool moves = draw(2) != 0;
		long rows = execute(moves ? MOVE_ROW : TRANSFER, first + (moves ? 0 : 2), first + (moves ? 1 : 3));
		bool goes_on = rows != -2;

		if (rows >= 0 && rows != (moves ? 1 : 2))
			fail("a change of two rows that belong together changed others", first);
		sum += rows > 0;
		while (!goes_on)
		{
			leave();
			goes_on = attach();
		}
	}
	printf("%ld changes\n", sum);
}

static void
define(long count)
{
	static const char *const changes[] = {
		"ALTER TABLE torture ADD COLUMN more int4 DEFAULT 7",
		"CREATE TABLE passing AS SELECT i AS id, repeat('x', (i % 500)::int4) AS t FROM generate_series(1, 20000) g "
		"(i)",
		"CREATE INDEX passing_t ON passing (t, id)",
		"ALTER TABLE torture DROP COLUMN more",
		"DELETE FROM passing WHERE id % 3 <> 0",
		"CREATE INDEX torture_a ON torture (a)",
		"TRUNCATE passing",
		"DROP TABLE passing",
		"DROP INDEX torture_a",
	};

	for (long i = 0; i < count; i++)
	{
		while (!run(changes[i % (long) (sizeof(changes) / sizeof(*changes))]))
		{
			leave();
			while (!attach())
				leave();
		}
	}
}

/*
 * Lines that are not of zeros: number, content. Before them the ticket's length, the ticket, and the length of the memory; test_direct.c reads it.
 */
static void
record(void)
{
	static const unsigned char zeros[LINE_BYTES];
	const kh_store *store = &me.session->store;
	uint64_t limit;
	const kh_result *result;
	kh_call *call = kh_send_prepare(me.session, SELECT_ROW, texts[SELECT_ROW], types, 1, &error);

	if (call == NULL || store->base == NULL || kh_call_wait(call, WAIT_NANOS, &error) != KH_WAIT_FINISHED)
		fail("there is no memory to read", 0);
	result = kh_call_result(call);
	if (result->failed || result->direct_read == NULL)
		fail("there is no ticket", 0);
	limit = kh_store_bytes(store);
	fwrite(&result->direct_read_bytes, sizeof(uint32_t), 1, stdout);
	fwrite(result->direct_read, result->direct_read_bytes, 1, stdout);
	fwrite(&limit, sizeof(limit), 1, stdout);
	for (uint32_t line = 0; line < limit / LINE_BYTES; line++)
	{
		const unsigned char *content = store->base + (uint64_t) line * LINE_BYTES;

		if (memcmp(content, zeros, LINE_BYTES) == 0)
			continue;
		fwrite(&line, sizeof(line), 1, stdout);
		fwrite(content, LINE_BYTES, 1, stdout);
	}
	kh_call_end(call);
}

int
main(int argc, char **argv)
{
	const char *role = argc > 2 ? argv[2] : "";
	long count = argc > 3 ? strtol(argv[3], NULL, 10) : 1000000;

	if (argc < 3 || count < 1)
	{
		fprintf(stderr,
		        "usage: kh_direct RUNTIME_DIRECTORY make|read|write|move|define|record [COUNT [SEED [ROWS]]]\n");
		return 2;
	}
	me.random = argc > 4 ? strtoull(argv[4], NULL, 10) : (uint64_t) getpid();
	me.random = me.random * 2 + 1;
	me.rows = argc > 5 ? strtoull(argv[5], NULL, 10) : MOST_ROWS;
	if (me.rows < 1 || me.rows > MOST_ROWS)
		me.rows = MOST_ROWS;
	me.options = (kh_attach_options){.runtime_directory = argv[1], .application_name = role, .timeout_millis = 5000};
	fprintf(stderr, "%s: seed %llu\n", role, (unsigned long long) me.random / 2);
	if (!kh_batch_writer_init(&me.row, 6, 1, 65536, &error) ||
	    !kh_batch_writer_init(&me.pair_rows, 3, 4, 65536, &error))
		fail(error.message, 0);
	while (!attach())
		leave();
	if (strcmp(role, "make") == 0)
		make();
	else if (strcmp(role, "read") == 0)
		read_rows(count);
	else if (strcmp(role, "write") == 0)
		write_rows(count);
	else if (strcmp(role, "move") == 0)
		move_rows(count);
	else if (strcmp(role, "define") == 0)
		define(count);
	else
		record();
	leave();
	kh_batch_writer_free(&me.row);
	kh_batch_writer_free(&me.pair_rows);
	kh_batch_writer_free(&me.parameters);
	return 0;
}

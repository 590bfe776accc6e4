/*
 * kh_range RUNTIME_DIRECTORY ROLE [COUNT [SEED]]: what direct reads of ranges find beside writers, checked. Roles:
 *
 *   make   the table "span" with its rows; nobody else may be there
 *   read   COUNT reads of ranges by one of three indexes; also takes the part of a writer now and then, and has to find what it has written
 *   move   COUNT changes of pairs of rows: both get other values, come or go in one transaction, and one of them gets another key
 *
 * Rows come in pairs, whose values are each other's negative. Keys of a pair are in one span of 64, and stay there. So who reads whole spans finds both rows
 * of a pair or none, with values whose sum is 0. The first pair of each span is always there, and its values only grow. Keys are in order and within bounds,
 * and none comes twice. The text of a key is long, so that a span is in several leaves, which are split and removed. A reader that finds something else
 * prints it and ends with 1. All go on when the endpoint is killed and started again.
 */
#include "platform.h"

#include "session_internal.h"

#include "kakehashi/ipc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPANS 24
#define SPAN_KEYS 64
#define PAIRS 24
#define INT8 20
#define TEXT 25
#define WAIT_NANOS INT64_C(1000000000)
#define REATTACH_SECONDS 60
#define READS_PER_WRITE 2000
#define MOST_SPANS_READ 4
#define LETTERS 100

typedef enum statement
{
	BY_ID = 1,
	BY_TEXT,
	BY_PAIR,
	GROW,
	MOVE,
	DELETE_PAIR,
	INSERT_PAIR,
	OTHERS
} statement;

#define KEY_TEXT(id) "repeat('k', 100) || lpad((" id ")::text, 8, '0')"

static const struct
{
	const char *text;
	uint32_t parameters;
	uint32_t type;
} statements[] = {
	[BY_ID] = {"SELECT id, p, v FROM span WHERE id BETWEEN $1 AND $2", 2, INT8},
	[BY_TEXT] = {"SELECT id, p, v FROM span WHERE c >= $1 AND c < $2 ORDER BY c DESC", 2, TEXT},
	[BY_PAIR] = {"SELECT id, p, v FROM span WHERE p > $1 AND p <= $2", 2, INT8},
	[GROW] = {"UPDATE span SET v = v + sign(v::float8)::int8 WHERE p = $1", 1, INT8},
	[MOVE] = {"UPDATE span SET id = $2, c = " KEY_TEXT("$2") " WHERE id = $1", 2, INT8},
	[DELETE_PAIR] = {"DELETE FROM span WHERE p = $1", 1, INT8},
	[INSERT_PAIR] = {"INSERT INTO span (id, p, v, c) VALUES ($1, $3, 7, " KEY_TEXT("$1") "), ($2, $3, -7, " KEY_TEXT(
						 "$2") ")",
                     3, INT8},
};

static struct
{
	kh_attach_options options;
	kh_session *session;
	kh_direct *tickets[OTHERS];
	kh_batch_writer parameters;
	kh_batch_writer rows;
	uint64_t random;
	int64_t newest[SPANS];
	long direct[OTHERS];
	long found;
	long asked;
	long stale;
} me;

static kh_error error;

static void
fail(const char *what, int64_t of)
{
	fprintf(stderr, "kh_range: %lld: %s\n", (long long) of, what);
	exit(1);
}

/* Of xorshift64*. */
static int64_t
draw(uint64_t below)
{
	me.random ^= me.random >> 12;
	me.random ^= me.random << 25;
	me.random ^= me.random >> 27;
	return (int64_t) ((me.random * UINT64_C(0x2545F4914F6CDD1D) >> 11) % below);
}

static void
leave(void)
{
	for (statement of = BY_ID; of < OTHERS; of++)
	{
		kh_direct_free(me.tickets[of]);
		me.tickets[of] = NULL;
	}
	kh_detach(me.session);
	me.session = NULL;
}

/* Waits for the end of a call; its result, until the next call. NULL: there is no endpoint. */
static const kh_result *
finish(kh_call *call)
{
	static kh_call *last;
	kh_wait found = KH_WAIT_TIMEOUT;

	last = call;
	while (last != NULL && (found == KH_WAIT_TIMEOUT || found == KH_WAIT_BATCH))
	{
		found = kh_call_wait(last, WAIT_NANOS, &error);
		if (found == KH_WAIT_BATCH)
			kh_call_release(last);
	}
	return found == KH_WAIT_FINISHED ? kh_call_result(last) : NULL;
}

static bool
prepare(statement of, const char *text)
{
	uint32_t types[3];
	kh_call *call;
	const kh_result *result;

	for (int i = 0; i < 3; i++)
		types[i] = of == OTHERS ? INT8 : statements[of].type;
	call =
		kh_send_prepare(me.session, (uint32_t) of, text, types, of == OTHERS ? 0 : statements[of].parameters, &error);
	result = finish(call);
	if (result != NULL && result->failed)
		fprintf(stderr, "kh_range: %s: %s\n", result->error.sqlstate, result->error.message);
	if (result != NULL && of < GROW)
	{
		kh_direct_free(me.tickets[of]);
		me.tickets[of] = result->failed || result->direct_read == NULL
		                     ? NULL
		                     : kh_direct_create(me.session, result->direct_read, result->direct_read_bytes);
	}
	if (call != NULL)
		kh_call_end(call);
	return result != NULL;
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
	for (statement of = BY_ID; of < OTHERS; of++)
	{
		if (!prepare(of, statements[of].text))
			return false;
	}
	return true;
}

static void
begin_parameters(uint32_t count)
{
	kh_batch_writer_free(&me.parameters);
	memset(&me.parameters, 0, sizeof(me.parameters));
	if (!kh_batch_writer_init(&me.parameters, count, 1, 4096, &error) || !kh_batch_writer_add_row(&me.parameters))
		fail(error.message, 0);
}

/* Rows that were changed; -1: refused, -2: there is no endpoint. */
static long
execute(statement of, int64_t first, int64_t second, int64_t third)
{
	kh_execute_options options = {.action = KH_AUTO_COMMIT};
	const int64_t values[] = {first, second, third};
	uint32_t count = of == OTHERS ? 0 : statements[of].parameters;
	uint32_t bytes = 0;
	const kh_result *result;
	kh_call *call;
	long changed = -2;

	if (count > 0)
	{
		begin_parameters(count);
		for (uint32_t i = 0; i < count; i++)
			kh_batch_writer_set_word(&me.parameters, i, (uint64_t) values[i]);
		bytes = kh_batch_writer_finish(&me.parameters);
	}
	call = kh_send_execute(me.session, (uint32_t) of, &options, count > 0 ? me.parameters.data : NULL, bytes, &error);
	result = finish(call);
	if (result != NULL)
	{
		changed = result->failed ? -1 : (long) result->rows_affected;
		/* A key that is there already, and others' changes. */
		if (result->failed && strncmp(result->error.sqlstate, "23", 2) != 0 &&
		    strncmp(result->error.sqlstate, "40", 2) != 0 && strncmp(result->error.sqlstate, "55", 2) != 0)
			fprintf(stderr, "kh_range: %s: %s\n", result->error.sqlstate, result->error.message);
	}
	if (call != NULL)
		kh_call_end(call);
	return changed;
}

static bool
run(const char *text)
{
	return prepare(OTHERS, text) && execute(OTHERS, 0, 0, 0) != -2;
}

static int64_t
pair_of(int64_t span, int64_t pair)
{
	return span * SPAN_KEYS + pair;
}

static void
make(void)
{
	if (!run("DROP TABLE IF EXISTS span") ||
	    !run("CREATE TABLE span (id int8 PRIMARY KEY, p int8 NOT NULL, v int8 NOT NULL, c text NOT NULL)") ||
	    !run("CREATE INDEX span_p ON span (p)") || !run("CREATE UNIQUE INDEX span_c ON span (c)"))
		fail(error.message, 0);
	for (statement of = BY_ID; of < OTHERS; of++)
	{
		if (!prepare(of, statements[of].text))
			fail(error.message, 0);
	}
	for (int64_t span = 0; span < SPANS; span++)
	{
		int64_t first = span * SPAN_KEYS;

		if (execute(INSERT_PAIR, first + 1, first + 50, pair_of(span, 0)) != 2)
			fail("a pair could not be made", first);
	}
}

/* Whole spans, as they were read by an index. */
static void
check_rows(statement by, int64_t first_span, int64_t spans)
{
	static int64_t seen[SPANS * SPAN_KEYS];
	static bool is_read[SPANS * SPAN_KEYS];
	int64_t first = first_span * SPAN_KEYS;
	int64_t end = (first_span + spans) * SPAN_KEYS;
	int64_t last = by == BY_TEXT ? end : first - 1;
	kh_batch rows;

	if (!kh_batch_check(me.rows.data, kh_batch_writer_finish(&me.rows), &rows, &error))
		fail(error.message, first);
	memset(seen, 0, sizeof(seen));
	memset(is_read, 0, sizeof(is_read));
	for (uint32_t i = 0; i < rows.row_count; i++)
	{
		int64_t id = (int64_t) kh_batch_word(&rows, i, 0);
		int64_t pair = (int64_t) kh_batch_word(&rows, i, 1);
		int64_t value = (int64_t) kh_batch_word(&rows, i, 2);
		int64_t key = by == BY_PAIR ? pair : id;

		if (id < first || id >= end || pair < first || pair >= end || id / SPAN_KEYS != pair / SPAN_KEYS)
			fail("a row of another span", id);
		if (by == BY_TEXT ? key >= last : key < last || (by == BY_ID && key == last))
			fail("a key is not in order, or comes twice", key);
		if (is_read[id])
			fail("a row comes twice", id);
		is_read[id] = true;
		last = key;
		if (seen[pair] == 0)
			seen[pair] = value;
		else if (seen[pair] == INT64_MAX || seen[pair] + value != 0)
			fail("the rows of a pair are not of one state", pair);
		else
			seen[pair] = INT64_MAX;
		if (pair % SPAN_KEYS == 0 && seen[pair] == INT64_MAX)
		{
			int64_t *newest = &me.newest[pair / SPAN_KEYS];

			value = value < 0 ? -value : value;
			if (value < *newest)
				fail("an older state than before", pair);
			*newest = value;
		}
	}
	for (int64_t pair = first; pair < end; pair++)
	{
		if (seen[pair] != INT64_MAX && (seen[pair] != 0 || pair % SPAN_KEYS == 0))
			fail("half of a pair, or a pair that is always there is not", pair);
	}
	me.found += (long) rows.row_count;
}

static void
set_text(uint32_t column, int64_t id)
{
	char text[LETTERS + 32];

	memset(text, 'k', LETTERS);
	snprintf(text + LETTERS, 32, "%08lld", (long long) id);
	if (!kh_batch_writer_set_varlena(&me.parameters, column, text, LETTERS + 8))
		fail("no room", id);
}

static kh_direct_answer
read_spans(statement by, int64_t first_span, int64_t spans)
{
	int64_t first = first_span * SPAN_KEYS;
	int64_t end = (first_span + spans) * SPAN_KEYS;
	kh_direct_answer answer;
	kh_batch wanted;

	begin_parameters(2);
	if (by == BY_TEXT)
	{
		set_text(0, first);
		set_text(1, end);
	}
	else
	{
		kh_batch_writer_set_word(&me.parameters, 0, (uint64_t) (by == BY_ID ? first : first - 1));
		kh_batch_writer_set_word(&me.parameters, 1, (uint64_t) end - 1);
	}
	if (!kh_batch_check(me.parameters.data, kh_batch_writer_finish(&me.parameters), &wanted, &error))
		fail(error.message, first);
	answer = kh_direct_read(me.session, me.tickets[by], &wanted, &me.rows);
	if (answer == KH_DIRECT_ROW)
		check_rows(by, first_span, spans);
	else if (answer == KH_DIRECT_NO_ROW)
		fail("no row of a span", first);
	return answer;
}

/* What was acknowledged is found. False: there is no endpoint. */
static bool
write_and_read(void)
{
	int64_t span = draw(SPANS);
	long rows = execute(GROW, pair_of(span, 0), 0, 0);
	int64_t least = me.newest[span] + 1;

	if (rows == 2 && me.tickets[BY_ID] != NULL && read_spans(BY_ID, span, 1) == KH_DIRECT_ROW &&
	    me.newest[span] < least)
		fail("what was acknowledged is not there", span);
	return rows != -2;
}

static bool
read_once(void)
{
	statement by = (statement) (BY_ID + draw(3));
	int64_t span = draw(SPANS);
	int64_t spans = 1 + draw(MOST_SPANS_READ);

	if (me.tickets[by] == NULL)
	{
		me.stale++;
		return kh_session_alive(me.session) && prepare(by, statements[by].text);
	}
	switch (read_spans(by, span, span + spans > SPANS ? SPANS - span : spans))
	{
		case KH_DIRECT_ASK:
			me.asked++;
			break;
		case KH_DIRECT_STALE:
			kh_direct_free(me.tickets[by]);
			me.tickets[by] = NULL;
			break;
		default:
			me.direct[by]++;
	}
	return true;
}

/* One process alone: others would make a pair of four. */
static bool
change_once(void)
{
	int64_t span = draw(SPANS);
	int64_t first = span * SPAN_KEYS;
	int64_t pair = pair_of(span, draw(PAIRS));
	statement of = (statement) (GROW + draw(4));

	if (pair % SPAN_KEYS == 0 && (of == DELETE_PAIR || of == INSERT_PAIR))
		of = GROW;
	switch (of)
	{
		case MOVE:
			return execute(of, first + draw(SPAN_KEYS), first + draw(SPAN_KEYS), 0) != -2;
		case INSERT_PAIR:
			/* If it is there it goes first: never are there four. */
			if (execute(DELETE_PAIR, pair, 0, 0) < 0)
				return me.session != NULL && kh_session_alive(me.session);
			return execute(of, first + draw(SPAN_KEYS), first + draw(SPAN_KEYS), pair) != -2;
		default:
			return execute(of, pair, 0, 0) != -2;
	}
}

static void
go_on_for(long count, bool (*step)(void))
{
	for (long i = 0; i < count; i++)
	{
		bool goes_on = step == read_once && draw(READS_PER_WRITE) == 0 ? write_and_read() : step();

		while (!goes_on)
		{
			leave();
			goes_on = attach();
		}
	}
}

int
main(int argc, char **argv)
{
	const char *role = argc > 2 ? argv[2] : "";
	long count = argc > 3 ? strtol(argv[3], NULL, 10) : 1000000;

	if (argc < 3 || count < 1)
	{
		fprintf(stderr, "usage: kh_range RUNTIME_DIRECTORY make|read|move [COUNT [SEED]]\n");
		return 2;
	}
	me.random = argc > 4 ? strtoull(argv[4], NULL, 10) : (uint64_t) getpid();
	fprintf(stderr, "%s: seed %llu\n", role, (unsigned long long) me.random);
	me.random = me.random * 2 + 1;
	me.options = (kh_attach_options){.runtime_directory = argv[1], .application_name = role, .timeout_millis = 5000};
	if (!kh_batch_writer_init(&me.rows, 3, KH_DIRECT_RANGE_ROWS, 1024 * 1024, &error))
		fail(error.message, 0);
	while (!attach())
		leave();
	if (strcmp(role, "make") == 0)
		make();
	else
		go_on_for(count, strcmp(role, "read") == 0 ? read_once : change_once);
	printf("%ld ranges by id, %ld by text, %ld by pair, %ld rows, %ld asked for, %ld tickets\n", me.direct[BY_ID],
	       me.direct[BY_TEXT], me.direct[BY_PAIR], me.found, me.asked, me.stale);
	leave();
	kh_batch_writer_free(&me.rows);
	kh_batch_writer_free(&me.parameters);
	return 0;
}

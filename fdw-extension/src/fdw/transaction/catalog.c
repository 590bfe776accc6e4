/*
 * What the engine says about its tables: kakehashi_catalog, read with SQL over the session.
 */
#include "fdw/transaction/transaction.h"
#include "fdw/row/row.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* Row counts are read again after this time: plans are made often, and counts change slowly against their precision. */
#define ROW_COUNT_MAX_AGE_MILLIS 10000

/* Fewer rows than this, written by a transaction, leave estimates as good as they were. */
#define ROWS_THAT_MATTER 1000

typedef struct RowCountKey
{
	Oid server_id;
	char schema[NAMEDATALEN];
	char table[NAMEDATALEN];
} RowCountKey;

typedef struct RowCount
{
	RowCountKey key; /* hash key; first */
	double rows;     /* -1: unknown */
	TimestampTz read_at;
} RowCount;

static HTAB *row_counts = NULL;

char *
kakehashi_batch_text(const kh_batch *batch, uint32 row, uint32 column)
{
	if (kh_batch_is_null(batch, row, column))
		return NULL;
	return TextDatumGetCString(kakehashi_word_datum(batch, kh_batch_word(batch, row, column), KAKEHASHI_VARLENA));
}

void
kakehashi_catalog_query(KakehashiSession *session, const char *sql, int parameter_count, const char *const *parameters,
                        int column_count, const Oid *column_types, KakehashiRowVisitor visit, void *arg)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kakehashi catalogue", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Oid *types = (Oid *) palloc(Max(parameter_count, 1) * sizeof(Oid));
	Datum *values = (Datum *) palloc(Max(parameter_count, 1) * sizeof(Datum));
	bool *nulls = (bool *) palloc0(Max(parameter_count, 1) * sizeof(bool));
	KakehashiRowWriter *writer;
	KakehashiStatement *statement;
	KakehashiCall *call;
	const void *row;
	uint32 bytes;
	kh_batch batch;

	for (int i = 0; i < parameter_count; i++)
	{
		types[i] = TEXTOID;
		values[i] = CStringGetTextDatum(parameters[i]);
	}
	writer = kakehashi_row_writer_create(context, parameter_count, types);
	statement = kakehashi_statement_get(session, sql, writer->types, parameter_count);
	if (statement->column_count != column_count)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
		                errmsg("catalogue query returns %d columns where %d are expected", statement->column_count,
		                       column_count),
		                kakehashi_sql_context(sql)));
	for (int i = 0; i < column_count; i++)
	{
		if (!kakehashi_same_form(column_types[i], statement->columns[i].type_oid))
			ereport(ERROR,
			        (errcode(ERRCODE_DATATYPE_MISMATCH),
			         errmsg("catalogue column \"%s\" has type %s where %s is expected", statement->columns[i].name,
			                kakehashi_type_name(statement->columns[i].type_oid), kakehashi_type_name(column_types[i])),
			         kakehashi_sql_context(sql)));
	}
	kakehashi_row_writer_start(writer, session, 1);
	if (!kakehashi_row_writer_add(writer, values, nulls))
		elog(ERROR, "names of a catalogue query do not fit into a row batch");
	row = kakehashi_row_writer_finish(writer, &bytes);
	call = kakehashi_execute_read(session, statement, row, bytes);
	MemoryContextSwitchTo(old);
	while (kakehashi_call_next_batch(call, &batch))
	{
		for (uint32 r = 0; r < batch.row_count; r++)
			visit(&batch, r, arg);
		kh_call_release(call->ipc);
	}
	kakehashi_call_end(call);
	pfree(call);
	MemoryContextDelete(context);
}

static void
take_row_count(const kh_batch *batch, uint32 row, void *arg)
{
	if (!kh_batch_is_null(batch, row, 0))
		*(double *) arg = (double) (int64) kh_batch_word(batch, row, 0);
}

double
kakehashi_catalog_rows(KakehashiSession *session, const char *schema, const char *table)
{
	const char *names[] = {schema, table};
	const Oid types[] = {INT8OID};
	TimestampTz now = GetCurrentTimestamp();
	RowCountKey key;
	RowCount *entry;
	double rows = -1;

	if (!kakehashi_can(session, KH_CAN_STATISTICS))
		return -1;
	if (row_counts == NULL)
	{
		HASHCTL control = {0};

		control.keysize = sizeof(RowCountKey);
		control.entrysize = sizeof(RowCount);
		control.hcxt = CacheMemoryContext;
		row_counts = hash_create("kakehashi row counts", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	memset(&key, 0, sizeof(key));
	key.server_id = session->server_id;
	strlcpy(key.schema, schema, NAMEDATALEN);
	strlcpy(key.table, table, NAMEDATALEN);
	entry = (RowCount *) hash_search(row_counts, &key, HASH_FIND, NULL);
	if (entry != NULL && !TimestampDifferenceExceeds(entry->read_at, now, ROW_COUNT_MAX_AGE_MILLIS))
		return entry->rows;

	kakehashi_catalog_query(session,
	                        "SELECT \"row_count\" FROM \"kakehashi_catalog\".\"tables\""
	                        " WHERE \"table_schema\" = $1 AND \"table_name\" = $2",
	                        2, names, 1, types, take_row_count, &rows);
	entry = (RowCount *) hash_search(row_counts, &key, HASH_ENTER, NULL);
	entry->rows = rows;
	entry->read_at = now;
	return rows;
}

void
kakehashi_catalog_forget(Oid server_id)
{
	HASH_SEQ_STATUS scan;
	RowCount *entry;

	if (row_counts == NULL)
		return;
	hash_seq_init(&scan, row_counts);
	while ((entry = (RowCount *) hash_seq_search(&scan)) != NULL)
	{
		if (entry->key.server_id == server_id)
			hash_search(row_counts, &entry->key, HASH_REMOVE, NULL);
	}
}

static void
on_attached(KakehashiSession *session)
{
	kakehashi_catalog_forget(session->server_id);
}

static void
on_transaction_ended(KakehashiSession *session)
{
	if (session->rows_written >= ROWS_THAT_MATTER || session->defined)
		kakehashi_catalog_forget(session->server_id);
}

void
kakehashi_catalog_init(void)
{
	static KakehashiCallbacks callbacks = {.attached = on_attached, .transaction_ended = on_transaction_ended};

	kakehashi_callbacks_register(&callbacks);
}

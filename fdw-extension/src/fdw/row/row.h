/*
 * Rows in the form in which they cross the bridge: parameters on the way to the engine, and results.
 */
#ifndef KAKEHASHI_ROW_H
#define KAKEHASHI_ROW_H

#include "fdw/session/session.h"

/* ---- value.c ---- */

typedef enum KakehashiWordKind
{
	KAKEHASHI_WORD, /* the word is the datum */
	KAKEHASHI_BOOL,
	KAKEHASHI_FLOAT4,  /* the datum is sign-extended, the word is not */
	KAKEHASHI_VARLENA, /* the word is the offset of a varlena */
	KAKEHASHI_FIXED16, /* the word is the offset of 16 bytes */
	KAKEHASHI_TEXT     /* the word is the offset of a varlena: the value as its type writes it */
} KakehashiWordKind;

/*
 * The type as which values of a type cross the bridge, or InvalidOid; kind may be NULL. It is the base type, but text for
 * enums and arrays of them, whose numbers mean something in this database only.
 */
extern Oid kakehashi_bridge_type(Oid type, KakehashiWordKind *kind);

/* True if values of the type cross as text and are not text: see shippable_documents.c for what the engine knows of them. */
extern bool kakehashi_is_text_form(Oid type);

/* True for enums and domains of them: on the engine their values are their labels, which are equal as the values are, and in another order. */
extern bool kakehashi_is_enum(Oid type);

pg_noreturn extern void kakehashi_report_bad_offset(const kh_batch *batch, uint64 word);

/* Datum of a value in a batch; by-reference datums point into the batch. */
static inline Datum
kakehashi_word_datum(const kh_batch *batch, uint64 word, KakehashiWordKind kind)
{
	const void *value;

	switch (kind)
	{
		case KAKEHASHI_WORD:
			return (Datum) word;
		case KAKEHASHI_BOOL:
			return BoolGetDatum(word != 0);
		case KAKEHASHI_FLOAT4:
			return Int32GetDatum((int32) word);
		case KAKEHASHI_VARLENA:
		case KAKEHASHI_TEXT:
		case KAKEHASHI_FIXED16:
			value = kh_batch_value(batch, word, kind == KAKEHASHI_FIXED16 ? 16 : 0);
			if (unlikely(value == NULL))
				kakehashi_report_bad_offset(batch, word);
			return PointerGetDatum(value);
	}
	return (Datum) 0; /* not reached: every kind is above */
}

/* A row of parameters: types on the way, and how to write each. */
typedef struct KakehashiRowWriter
{
	int count;
	Oid *types;
	KakehashiWordKind *kinds;
	FmgrInfo *outputs; /* of KAKEHASHI_TEXT; NULL if there is none */
	kh_batch_writer writer;
	bool open;             /* writer holds memory */
	int row_capacity;      /* asked for when it was opened; the writer may allow fewer */
	MemoryContext scratch; /* detoasted values, reset after each row */
	MemoryContextCallback callback;
} KakehashiRowWriter;

extern KakehashiRowWriter *kakehashi_row_writer_create(MemoryContext context, int count, const Oid *types);
extern void kakehashi_row_writer_start(KakehashiRowWriter *writer, KakehashiSession *session, int row_capacity);

extern void kakehashi_row_writer_start_fixed(KakehashiRowWriter *writer, KakehashiSession *session,
                                             const KakehashiInbound *buffer, int row_capacity);

/* Values as text do not depend on the session's settings from here to AtEOXact_GUC(true, the level that is returned). */
extern int kakehashi_set_transmission_modes(void);

/* False if the row does not fit into what is left. */
extern bool kakehashi_row_writer_add(KakehashiRowWriter *writer, const Datum *values, const bool *nulls);
extern const void *kakehashi_row_writer_finish(KakehashiRowWriter *writer, uint32 *bytes);

/* ---- result.c: rows of a call into slots ---- */

typedef struct KakehashiResultMap
{
	int count;      /* columns of the result that are wanted */
	int *positions; /* of the slot, from 0 */
	KakehashiWordKind *kinds;
	Oid *types; /* base types */
	int before; /* columns of the result before those that are wanted */
	int after;  /* and behind them */

	int64 *identity; /* of the row that was stored last, in the column behind those; NULL: there is none */
	bool identified; /* rows are stored with it as their system columns */

	/* Rows of tables that are made of columns; see row_value.c. */
	int row_value_count;
	struct KakehashiRowValue *row_values;

	/* Of KAKEHASHI_TEXT; NULL if there is none. */
	struct KakehashiInput *inputs;
	MemoryContext row; /* values of the current row */
} KakehashiResultMap;

typedef struct KakehashiInput
{
	FmgrInfo function;
	Oid io_param;
	int32 typmod;
} KakehashiInput;

/* attnums: of desc, from 1, in the order of the result; KAKEHASHI_IDENTITY may be the last. An empty result has one column that is ignored. */
extern KakehashiResultMap *kakehashi_result_map(TupleDesc desc, List *attnums, const char *relation);
/*
 * Reports 42804 if rows of *statement do not fit. One that was prepared before may be of tables that have been made again since: it is prepared
 * once more, and *statement is another one then.
 */
extern void kakehashi_result_check(const KakehashiResultMap *map, TupleDesc desc, const char *relation,
                                   KakehashiSession *session, KakehashiStatement **statement);
extern void kakehashi_result_values(const KakehashiResultMap *map, const kh_batch *batch, uint32 row, Datum *values,
                                    bool *nulls);
extern void kakehashi_result_store(const KakehashiResultMap *map, const kh_batch *batch, uint32 row,
                                   TupleTableSlot *slot);

/* ---- row_value.c ---- */

/*
 * Columns numbers of the slot, which tlist describes, are rows of tables. They are made of their columns, and null where a NullTest of them in tlist
 * is false.
 */
extern void kakehashi_result_add_rows(KakehashiResultMap *map, List *tlist, List *numbers, EState *estate);

/* Makes them. They live until the next row. */
extern void kakehashi_result_make_rows(const KakehashiResultMap *map, Datum *values, bool *nulls);

#endif /* KAKEHASHI_ROW_H */

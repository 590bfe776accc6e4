/*
 * Rows of a result into slots: words become datums as they are, values stay where they are in shared memory.
 */
#include "fdw/row/row.h"

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

static void
prepare_input(KakehashiResultMap *map, int column, Form_pg_attribute att)
{
	KakehashiInput *input;
	Oid function;

	if (map->inputs == NULL)
	{
		map->inputs = (KakehashiInput *) palloc0(map->count * sizeof(KakehashiInput));
		map->row = AllocSetContextCreate(CurrentMemoryContext, "kakehashi row values", ALLOCSET_SMALL_SIZES);
	}
	input = &map->inputs[column];
	getTypeInputInfo(att->atttypid, &function, &input->io_param);
	fmgr_info(function, &input->function);
	input->typmod = att->atttypmod;
}

/* The value, from its text; it lives until the next row. */
static Datum
read_text(const KakehashiResultMap *map, int column, Datum written)
{
	KakehashiInput *input = &map->inputs[column];
	MemoryContext old = MemoryContextSwitchTo(map->row);
	Datum value = InputFunctionCall(&input->function, TextDatumGetCString(written), input->io_param, input->typmod);

	MemoryContextSwitchTo(old);
	return value;
}

KakehashiResultMap *
kakehashi_result_map(TupleDesc desc, List *attnums, const char *relation)
{
	KakehashiResultMap *map = (KakehashiResultMap *) palloc(sizeof(KakehashiResultMap));
	ListCell *cell;
	int i = 0;

	map->count = list_length(attnums);
	map->before = 0;
	map->after = 0;
	map->identity = NULL;
	map->identified = false;
	map->row_value_count = 0;
	map->row_values = NULL;
	if (attnums != NIL && llast_int(attnums) == KAKEHASHI_IDENTITY)
	{
		map->identity = (int64 *) palloc0(sizeof(int64));
		map->count--;
		map->after = 1;
		attnums = list_truncate(list_copy(attnums), map->count);
	}
	map->inputs = NULL;
	map->row = NULL;
	map->positions = (int *) palloc(Max(map->count, 1) * sizeof(int));
	map->kinds = (KakehashiWordKind *) palloc(Max(map->count, 1) * sizeof(KakehashiWordKind));
	map->types = (Oid *) palloc(Max(map->count, 1) * sizeof(Oid));
	foreach (cell, attnums)
	{
		Form_pg_attribute att = TupleDescAttr(desc, lfirst_int(cell) - 1);

		map->positions[i] = lfirst_int(cell) - 1;
		map->types[i] = kakehashi_bridge_type(att->atttypid, &map->kinds[i]);
		if (!OidIsValid(map->types[i]))
			ereport(
				ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			     errmsg("column \"%s\" of foreign table \"%s\" has type %s, which the engine does not have",
			            NameStr(att->attname), relation, kakehashi_type_name(att->atttypid)),
			     errhint("Give the column the type that IMPORT FOREIGN SCHEMA would give it, and cast in the query.")));
		if (map->kinds[i] == KAKEHASHI_TEXT)
			prepare_input(map, i, att);
		i++;
	}
	return map;
}

static bool
fits(const KakehashiResultMap *map, const KakehashiStatement *statement)
{
	int count = map->before + map->count + map->after;

	/* A result that nobody wants columns of has one all the same, because SQL does. */
	if (statement->column_count != Max(count, 1) && !(count == 0 && statement->column_count == 0))
		return false;
	for (int i = 0; i < map->count; i++)
	{
		if (!kakehashi_same_form(map->types[i], statement->columns[map->before + i].type_oid))
			return false;
	}
	return map->identity == NULL || statement->columns[map->before + map->count].type_oid == INT8OID;
}

void
kakehashi_result_check(const KakehashiResultMap *map, TupleDesc desc, const char *relation, KakehashiSession *session,
                       KakehashiStatement **renewable)
{
	int count = map->before + map->count + map->after;
	const KakehashiStatement *statement;

	if (!fits(map, *renewable))
		*renewable = kakehashi_statement_renew(session, *renewable);
	statement = *renewable;
	if (statement->column_count != Max(count, 1) && !(count == 0 && statement->column_count == 0))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
		                errmsg("remote statement for \"%s\" returns %d columns where %d are expected", relation,
		                       statement->column_count, Max(count, 1)),
		                kakehashi_sql_context(statement->sql)));
	if (map->identity != NULL && statement->columns[map->before + map->count].type_oid != INT8OID)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
		                errmsg("the engine's table of foreign table \"%s\" has a column \"%s\" of its own", relation,
		                       KAKEHASHI_IDENTITY_COLUMN),
		                errhint("Mark the columns of its primary key: ALTER FOREIGN TABLE %s ALTER COLUMN ... OPTIONS "
		                        "(ADD key 'true').",
		                        relation),
		                kakehashi_sql_context(statement->sql)));
	for (int i = 0; i < map->count; i++)
	{
		const kh_column *column = &statement->columns[map->before + i];
		Form_pg_attribute att = TupleDescAttr(desc, map->positions[i]);

		if (kakehashi_same_form(map->types[i], column->type_oid))
			continue;
		ereport(ERROR,
		        (errcode(ERRCODE_DATATYPE_MISMATCH),
		         errmsg("column \"%s\" of foreign table \"%s\" has type %s, but the engine's column \"%s\" has type %s",
		                NameStr(att->attname), relation, kakehashi_type_name(att->atttypid), column->name,
		                kakehashi_type_name(column->type_oid)),
		         errhint("Use ALTER FOREIGN TABLE ... ALTER COLUMN ... TYPE %s, or import the table again.",
		                 kakehashi_type_name(column->type_oid)),
		         kakehashi_sql_context(statement->sql), err_generic_string(PG_DIAG_TABLE_NAME, relation),
		         err_generic_string(PG_DIAG_COLUMN_NAME, NameStr(att->attname))));
	}
}

void
kakehashi_result_values(const KakehashiResultMap *map, const kh_batch *batch, uint32 row, Datum *values, bool *nulls)
{
	const uint64 *bitmap = (const uint64 *) (batch->base + batch->rows_offset + (size_t) row * batch->row_stride);
	const uint64 *words = bitmap + ((batch->column_count + 63) >> 6);

	if (batch->column_count < (uint32) (map->before + map->count + (map->identity != NULL ? 1 : 0)))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("row batch has %u columns where %d are expected",
		                                                        batch->column_count, map->before + map->count)));
	if (map->row != NULL)
		MemoryContextReset(map->row);
	if (map->identity != NULL)
		*map->identity = (int64) words[map->before + map->count];
	for (int i = 0; i < map->count; i++)
	{
		int position = map->positions[i];
		uint32 column = (uint32) (map->before + i);
		Datum value = (Datum) 0;
		bool null = (bitmap[column >> 6] >> (column & 63)) & 1;

		if (!null)
			value = kakehashi_word_datum(batch, words[column], map->kinds[i]);
		if (map->inputs != NULL && map->kinds[i] == KAKEHASHI_TEXT && !null)
			value = read_text(map, i, value);
		nulls[position] = null;
		values[position] = value;
	}
}

void
kakehashi_result_store(const KakehashiResultMap *map, const kh_batch *batch, uint32 row, TupleTableSlot *slot)
{
	int natts = slot->tts_tupleDescriptor->natts;

	ExecClearTuple(slot);
	if (map->count < natts)
		memset(slot->tts_isnull, true, natts * sizeof(bool));
	kakehashi_result_values(map, batch, row, slot->tts_values, slot->tts_isnull);
	if (map->row_value_count > 0)
		kakehashi_result_make_rows(map, slot->tts_values, slot->tts_isnull);
	if (map->identified)
		kakehashi_store_identified(slot, *map->identity);
	else
		ExecStoreVirtualTuple(slot);
}

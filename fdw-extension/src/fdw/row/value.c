/*
 * Types that cross the bridge, and the form of their values: PROTOCOL.md, section 6.
 */
#include "fdw/row/row.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* Types that PostgreSQL has by itself, so that their numbers mean the same everywhere. */
static bool
is_fixed_text_form(Oid type)
{
	switch (type)
	{
		case CHAROID:
		case NAMEOID:
		case TIMETZOID:
		case JSONBOID:
			return true;
		default:
			return false;
	}
}

static bool
is_enum(Oid type)
{
	return type >= FirstNormalObjectId && get_typtype(type) == TYPTYPE_ENUM;
}

/* InvalidOid if values of the type do not cross as text. */
static Oid
text_form_type(Oid type)
{
	Oid element;

	if (is_fixed_text_form(type))
		return type;
	if (is_enum(type))
		return TEXTOID;
	element = get_element_type(type);
	if (!OidIsValid(element))
		return InvalidOid;
	if (is_enum(element))
		return TEXTOID;
	/* Arrays of domains are types of this database. */
	return type < FirstGenbkiObjectId && OidIsValid(kakehashi_bridge_type(element, NULL)) ? type : InvalidOid;
}

bool
kakehashi_is_enum(Oid type)
{
	return is_enum(getBaseType(type));
}

bool
kakehashi_is_text_form(Oid type)
{
	type = getBaseType(type);
	return type == JSONOID || OidIsValid(text_form_type(type));
}

Oid
kakehashi_bridge_type(Oid type, KakehashiWordKind *kind)
{
	KakehashiWordKind found;

	/* Domains have the form of their base types; look them up only when the type is none of the usual ones. */
	if (type >= FirstGenbkiObjectId)
		type = getBaseType(type);
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT8OID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			found = KAKEHASHI_WORD;
			break;
		case BOOLOID:
			found = KAKEHASHI_BOOL;
			break;
		case FLOAT4OID:
			found = KAKEHASHI_FLOAT4;
			break;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case BYTEAOID:
		case NUMERICOID:
		case JSONOID:
			found = KAKEHASHI_VARLENA;
			break;
		case UUIDOID:
		case INTERVALOID:
			found = KAKEHASHI_FIXED16;
			break;
		default:
			type = text_form_type(type);
			if (!OidIsValid(type))
				return InvalidOid;
			found = KAKEHASHI_TEXT;
			break;
	}
	if (kind != NULL)
		*kind = found;
	return type;
}

void
kakehashi_report_bad_offset(const kh_batch *batch, uint64 word)
{
	ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
	                errmsg("row batch of %u bytes has a value at offset " UINT64_FORMAT " that leaves it", batch->bytes,
	                       word)));
	pg_unreachable();
}

static void
free_writer(void *arg)
{
	KakehashiRowWriter *writer = (KakehashiRowWriter *) arg;

	if (writer->open)
		kh_batch_writer_free(&writer->writer);
	writer->open = false;
}

KakehashiRowWriter *
kakehashi_row_writer_create(MemoryContext context, int count, const Oid *types)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	KakehashiRowWriter *writer = (KakehashiRowWriter *) palloc0(sizeof(KakehashiRowWriter));

	writer->count = count;
	writer->types = (Oid *) palloc(Max(count, 1) * sizeof(Oid));
	writer->kinds = (KakehashiWordKind *) palloc(Max(count, 1) * sizeof(KakehashiWordKind));
	for (int i = 0; i < count; i++)
	{
		writer->types[i] = kakehashi_bridge_type(types[i], &writer->kinds[i]);
		if (OidIsValid(writer->types[i]) && writer->kinds[i] == KAKEHASHI_TEXT)
		{
			Oid output;
			bool is_varlena;

			if (writer->outputs == NULL)
				writer->outputs = (FmgrInfo *) palloc0(count * sizeof(FmgrInfo));
			getTypeOutputInfo(types[i], &output, &is_varlena);
			fmgr_info(output, &writer->outputs[i]);
		}
		if (!OidIsValid(writer->types[i]))
			ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			                errmsg("values of type %s cannot be sent to the engine", kakehashi_type_name(types[i]))));
	}
	writer->scratch = AllocSetContextCreate(context, "kakehashi row", ALLOCSET_DEFAULT_SIZES);
	/* The writer's memory is not the server's: it goes when the context goes. */
	writer->callback.func = free_writer;
	writer->callback.arg = writer;
	MemoryContextRegisterResetCallback(context, &writer->callback);
	MemoryContextSwitchTo(old);
	return writer;
}

void
kakehashi_row_writer_start(KakehashiRowWriter *writer, KakehashiSession *session, int row_capacity)
{
	uint32 usual_bytes = kakehashi_inbound_bytes(session);
	kh_error error;

	/* The memory of a long row is not kept. */
	if (writer->open && writer->row_capacity >= row_capacity && writer->writer.capacity <= usual_bytes)
	{
		kh_batch_writer_reset(&writer->writer);
		return;
	}
	free_writer(writer);
	memset(&writer->writer, 0, sizeof(writer->writer));
	if (!kh_batch_writer_init(&writer->writer, (uint32) writer->count, (uint32) row_capacity, usual_bytes, &error))
		kakehashi_report_error(&error, session, NULL);
	kh_batch_writer_allow_long_row(&writer->writer, kh_session_limits(session->ipc)->max_batch_bytes);
	writer->row_capacity = row_capacity;
	writer->open = true;
}

void
kakehashi_row_writer_start_fixed(KakehashiRowWriter *writer, KakehashiSession *session, const KakehashiInbound *buffer,
                                 int row_capacity)
{
	kh_error error;

	free_writer(writer);
	if (!kh_batch_writer_init_fixed(&writer->writer, buffer->memory, buffer->bytes, (uint32) writer->count,
	                                (uint32) row_capacity, &error))
		kakehashi_report_error(&error, session, NULL);
}

/* False if the value does not fit. */
static bool
write_value(KakehashiRowWriter *writer, int column, Datum value)
{
	struct varlena *detoasted;

	switch (writer->kinds[column])
	{
		case KAKEHASHI_WORD:
		case KAKEHASHI_BOOL:
			kh_batch_writer_set_word(&writer->writer, (uint32) column, (uint64) value);
			return true;
		case KAKEHASHI_FLOAT4:
			kh_batch_writer_set_word(&writer->writer, (uint32) column, (uint64) (uint32) value);
			return true;
		case KAKEHASHI_TEXT:
			value = CStringGetTextDatum(OutputFunctionCall(&writer->outputs[column], value));
			pg_fallthrough;
		case KAKEHASHI_VARLENA:
			detoasted = PG_DETOAST_DATUM(value);
			return kh_batch_writer_set_value(&writer->writer, (uint32) column, detoasted, VARSIZE(detoasted));
		case KAKEHASHI_FIXED16:
			return kh_batch_writer_set_value(&writer->writer, (uint32) column, DatumGetPointer(value), 16);
	}
	return false; /* not reached: every kind is above */
}

/* As postgres_fdw does it. */
int
kakehashi_set_transmission_modes(void)
{
	int level = NewGUCNestLevel();

	if (DateStyle != USE_ISO_DATES)
		(void) set_config_option("datestyle", "ISO", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	if (IntervalStyle != INTSTYLE_POSTGRES)
		(void) set_config_option("intervalstyle", "postgres", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
		                         false);
	if (extra_float_digits < 3)
		(void) set_config_option("extra_float_digits", "3", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
		                         false);
	return level;
}

bool
kakehashi_row_writer_add(KakehashiRowWriter *writer, const Datum *values, const bool *nulls)
{
	MemoryContext old;
	bool fits = true;
	int level = 0;

	if (!kh_batch_writer_add_row(&writer->writer))
		return false;
	if (writer->outputs != NULL)
		level = kakehashi_set_transmission_modes();
	old = MemoryContextSwitchTo(writer->scratch);
	for (int i = 0; i < writer->count && fits; i++)
	{
		if (nulls[i])
			kh_batch_writer_set_null(&writer->writer, (uint32) i);
		else
			fits = write_value(writer, i, values[i]);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(writer->scratch);
	if (level != 0)
		AtEOXact_GUC(true, level);
	if (writer->writer.out_of_memory)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
		                errdetail("There is no memory for a row on its way to the engine.")));
	if (!fits)
		kh_batch_writer_drop_row(&writer->writer);
	return fits;
}

const void *
kakehashi_row_writer_finish(KakehashiRowWriter *writer, uint32 *bytes)
{
	*bytes = kh_batch_writer_finish(&writer->writer);
	return writer->writer.data;
}

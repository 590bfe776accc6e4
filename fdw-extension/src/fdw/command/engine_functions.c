/*
 * SQL function: what the engine of a server can do.
 */
#include "fdw/command/command.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(kakehashi_capabilities);

static void
put_row(ReturnSetInfo *info, const kh_engine *engine, const char *kind, const char *name, bool present)
{
	Datum values[] = {CStringGetTextDatum(engine->name), CStringGetTextDatum(kind), CStringGetTextDatum(name),
	                  BoolGetDatum(present)};
	bool nulls[lengthof(values)] = {false};

	tuplestore_putvalues(info->setResult, info->setDesc, values, nulls);
}

/* kakehashi_capabilities(server): as the endpoint has said at attach. */
Datum
kakehashi_capabilities(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	KakehashiSession *session = kakehashi_session_by_name(NameStr(*PG_GETARG_NAME(0)));
	kh_engine engine = *kh_session_engine(session->ipc);

	InitMaterializedSRF(fcinfo, 0);
#define PUT_CAPABILITY(bit, name, title)                                                                               \
	put_row(info, &engine, "capability", name, kakehashi_engine_has(engine.capabilities, bit));
#define PUT_COMPUTATION(bit, name, title)                                                                              \
	put_row(info, &engine, "computation", name, kakehashi_engine_has(engine.computations, bit));
#define PUT_TYPE(bit, name, title) put_row(info, &engine, "type", name, kakehashi_engine_has(engine.stored_types, bit));
	KH_CAPABILITY_LIST(PUT_CAPABILITY)
	KH_COMPUTATION_LIST(PUT_COMPUTATION)
	KH_STORED_TYPE_LIST(PUT_TYPE)
	return (Datum) 0;
}

/*
 * Stubs: functions of the language kakehashi, which stand for functions of applications on an engine.
 *
 * The text of a stub names what it stands for: server.schema.function, and a fourth part says what it does with it. Whether the engine calls the
 * function in a statement that is pushed down, or the stub asks for its value, the same code computes the same.
 */
#include "fdw/deparse/deparse.h"
#include "fdw/session/session.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "commands/proclang.h"
#include "miscadmin.h"
#include "optimizer/planmain.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#define AGGREGATE "aggregate"

static bool
may_execute(Oid function)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
#else
	return pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

bool
kakehashi_stub_parse(const char *text, KakehashiStub *stub)
{
	char *copy = pstrdup(text);
	List *names;

	if (!SplitIdentifierString(copy, '.', &names) || list_length(names) < 3 || list_length(names) > 4)
		return false;
	stub->server = (char *) linitial(names);
	stub->schema = (char *) lsecond(names);
	stub->function = (char *) lthird(names);
	stub->is_aggregate = list_length(names) == 4;
	return !stub->is_aggregate || strcmp((char *) lfourth(names), AGGREGATE) == 0;
}

/* Functions of the system are none, which saves looking at them. */
bool
kakehashi_stub_read(Oid function, KakehashiStub *stub)
{
	HeapTuple tuple;
	bool found = false;

	if (function < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return false;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == get_language_oid(KAKEHASHI_LANGUAGE, true))
	{
		bool is_null;
		Datum source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &is_null);

		found = !is_null && kakehashi_stub_parse(TextDatumGetCString(source), stub);
	}
	ReleaseSysCache(tuple);
	return found;
}

/* Of the relation's server, and the user's to call: PostgreSQL looks for that when it calls a function, and does not call this one. */
static bool
is_on_server(const KakehashiStub *stub, Oid function, Oid server)
{
	return OidIsValid(server) && get_foreign_server_oid(stub->server, true) == server && may_execute(function);
}

bool
kakehashi_is_shippable_stub(Oid function, Oid server)
{
	KakehashiStub stub;

	return OidIsValid(server) && kakehashi_stub_read(function, &stub) && !stub.is_aggregate &&
	       kakehashi_server_can(server, KH_CAN_APPLICATIONS) && func_volatile(function) != PROVOLATILE_VOLATILE &&
	       !get_func_retset(function) && is_on_server(&stub, function, server);
}

bool
kakehashi_stub_of_aggregate(Oid aggregate, KakehashiStub *stub)
{
	HeapTuple tuple;
	Oid final;

	if (aggregate < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	if (!HeapTupleIsValid(tuple))
		return false;
	final = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggfinalfn;
	ReleaseSysCache(tuple);
	return OidIsValid(final) && kakehashi_stub_read(final, stub) && stub->is_aggregate;
}

bool
kakehashi_is_shippable_stub_aggregate(Oid aggregate, Oid server)
{
	KakehashiStub stub;

	return kakehashi_stub_of_aggregate(aggregate, &stub) &&
	       (!OidIsValid(server) || kakehashi_server_can(server, KH_CAN_APPLICATIONS)) &&
	       is_on_server(&stub, aggregate, server);
}

void
kakehashi_depend_on_stub(PlannerInfo *root, Oid function)
{
	if (root != NULL && root->glob != NULL)
		record_plan_function_dependency(root, function);
}

/*
 * Entry points of the library: start, and the table of callbacks.
 */
#include "fdw/module/module.h"
#include "fdw/transaction/transaction.h"
#include "fdw/plan/plan.h"
#include "fdw/lookup/lookup.h"
#include "fdw/modify/modify.h"
#include "fdw/command/command.h"

#include "fmgr.h"
#include "foreign/fdwapi.h"
#include "utils/builtins.h"

PG_MODULE_MAGIC;

extern void PGDLLEXPORT _PG_init(void);

PG_FUNCTION_INFO_V1(kakehashi_fdw_handler);
PG_FUNCTION_INFO_V1(kakehashi_version);

void
_PG_init(void)
{
	kakehashi_settings_init();
	kakehashi_xact_init();
	kakehashi_two_phase_init();
	kakehashi_prepared_init();
	kakehashi_catalog_init();
	kakehashi_statistics_init();
	kakehashi_resolve_init();
	kakehashi_deadlock_init();
	kakehashi_gather_init();
	kakehashi_held_init();
	kakehashi_lookup_init();
	kakehashi_conflict_init();
	kakehashi_hints_init();
	kakehashi_copy_hook_init();
	kakehashi_append_init();
	kakehashi_set_operation_init();
	kakehashi_push_down_init();
}

Datum
kakehashi_fdw_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *routine = makeNode(FdwRoutine);

	routine->GetForeignRelSize = kakehashi_get_rel_size;
	routine->GetForeignPaths = kakehashi_get_paths;
	routine->GetForeignJoinPaths = kakehashi_get_join_paths;
	routine->GetForeignUpperPaths = kakehashi_get_upper_paths;
	routine->GetForeignPlan = kakehashi_get_plan;
	routine->BeginForeignScan = kakehashi_begin_scan;
	routine->IterateForeignScan = kakehashi_iterate_scan;
	routine->ReScanForeignScan = kakehashi_rescan;
	routine->EndForeignScan = kakehashi_end_scan;
	routine->IsForeignScanParallelSafe = kakehashi_is_parallel_safe;
	routine->EstimateDSMForeignScan = kakehashi_estimate_dsm;
	routine->InitializeDSMForeignScan = kakehashi_initialize_dsm;
	routine->ReInitializeDSMForeignScan = kakehashi_reinitialize_dsm;
	routine->InitializeWorkerForeignScan = kakehashi_initialize_worker;
	routine->ShutdownForeignScan = kakehashi_shutdown_scan;
	routine->IsForeignPathAsyncCapable = kakehashi_is_async_capable;
	routine->ForeignAsyncRequest = kakehashi_async_request;
	routine->ForeignAsyncConfigureWait = kakehashi_async_configure_wait;
	routine->ForeignAsyncNotify = kakehashi_async_notify;

	routine->AddForeignUpdateTargets = kakehashi_add_update_targets;
	routine->PlanForeignModify = kakehashi_plan_modify;
	routine->BeginForeignModify = kakehashi_begin_modify;
	routine->ExecForeignInsert = kakehashi_exec_insert;
	routine->ExecForeignBatchInsert = kakehashi_exec_batch_insert;
	routine->GetForeignModifyBatchSize = kakehashi_gather;
	routine->ExecForeignUpdate = kakehashi_exec_update;
	routine->ExecForeignDelete = kakehashi_exec_delete;
	routine->EndForeignModify = kakehashi_end_modify;
	routine->BeginForeignInsert = kakehashi_begin_insert;
	routine->EndForeignInsert = kakehashi_end_insert;
	routine->IsForeignRelUpdatable = kakehashi_is_updatable;
	routine->ExecForeignTruncate = kakehashi_truncate;
	routine->PlanDirectModify = kakehashi_plan_direct_modify;
	routine->BeginDirectModify = kakehashi_begin_direct_modify;
	routine->IterateDirectModify = kakehashi_iterate_direct_modify;
	routine->EndDirectModify = kakehashi_end_direct_modify;

	routine->ExplainForeignScan = kakehashi_explain_scan;
	routine->ExplainForeignModify = kakehashi_explain_modify;
	routine->ExplainDirectModify = kakehashi_explain_direct_modify;

	routine->AnalyzeForeignTable = kakehashi_analyze;
#if PG_VERSION_NUM >= 190000
	routine->ImportForeignStatistics = kakehashi_import_statistics;
#endif
	routine->ImportForeignSchema = kakehashi_import_schema;

	PG_RETURN_POINTER(routine);
}

Datum
kakehashi_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(KAKEHASHI_VERSION));
}

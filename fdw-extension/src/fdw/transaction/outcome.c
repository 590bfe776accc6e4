/*
 * What became of a transaction that others may have ended.
 */
#include "fdw/transaction/transaction.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

/* Nobody tells when a prepared transaction is decided; mostly it is in one of these. */
#define LOOK_MILLIS 10

kh_transaction_state
kakehashi_outcome(KakehashiSession *session)
{
	kh_transaction_state state;
	KakehashiCall *call;
	kh_error error;

	kakehashi_call_make_room(session);
	call = kakehashi_call_new(session, NULL);
	(void) kakehashi_call_sent(call, kh_send_query_outcome(session->ipc, session->handle, &error), &error);
	state = kakehashi_call_finish(call)->transaction_state;
	kakehashi_call_end(call);
	pfree(call);
	return state;
}

bool
kakehashi_outcome_committed(KakehashiSession *session)
{
	TimestampTz began = GetCurrentTimestamp();
	kh_transaction_state state;

	while ((state = kakehashi_outcome(session)) == KH_TX_PREPARED)
	{
		if (kakehashi_commit_timeout > 0 &&
		    TimestampDifferenceExceeds(began, GetCurrentTimestamp(), kakehashi_commit_timeout))
			ereport(ERROR,
			        (errcode(kakehashi_errcode(KH_E_COMMIT_TIMEOUT)), errmsg("canceling commit due to commit timeout"),
			         errdetail("Another session has prepared the transaction on server \"%s\", and has not "
			                   "decided it within %d ms.",
			                   session->server_name, kakehashi_commit_timeout),
			         errhint("Decide it there. The time is \"kakehashi.commit_timeout\".")));
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, LOOK_MILLIS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return state == KH_TX_COMMITTED;
}

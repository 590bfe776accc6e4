/*
 * Who is told of what happens to sessions, see KakehashiCallbacks: in the order in which they have been registered.
 */
#include "fdw/session/session.h"

static dlist_head registered = DLIST_STATIC_INIT(registered);

/* Calls a function of all that have it. A callback that fails is the end of the round. */
#define TELL(moment, argument)                                                                                         \
	do                                                                                                                 \
	{                                                                                                                  \
		dlist_iter iter;                                                                                               \
                                                                                                                       \
		dlist_foreach(iter, &registered)                                                                               \
		{                                                                                                              \
			const KakehashiCallbacks *callbacks = dlist_container(KakehashiCallbacks, node, iter.cur);                 \
                                                                                                                       \
			if (callbacks->moment != NULL)                                                                             \
				callbacks->moment(argument);                                                                           \
		}                                                                                                              \
	} while (0)

void
kakehashi_callbacks_register(KakehashiCallbacks *callbacks)
{
	dlist_push_tail(&registered, &callbacks->node);
}

void
kakehashi_tell_attached(KakehashiSession *session)
{
	TELL(attached, session);
}

void
kakehashi_tell_undecided(KakehashiSession *session)
{
	TELL(undecided, session);
}

void
kakehashi_tell_transaction_ended(KakehashiSession *session)
{
	TELL(transaction_ended, session);
}

void
kakehashi_tell_before_snapshot(CommandId command)
{
	TELL(before_snapshot, command);
}

void
kakehashi_tell_before_request(KakehashiSession *session)
{
	TELL(before_request, session);
}

void
kakehashi_tell_long_wait(KakehashiCall *call)
{
	TELL(long_wait, call);
}

/*
 * Response slots: who may use which.
 *
 *   FREE       in free_slots, or never used
 *   ACTIVE     a kh_call of the caller
 *   ABANDONED  ended by the caller, but the endpoint has not sent the final frame: batches that still come are given
 *              back unseen, and the slot becomes FREE with the final frame
 *
 * Most slots are there for cursors, by the thousand, and cost nothing while they are not used: their memory is reserved when one
 * is taken and given back, but for its head, when it is free again. The first ones keep theirs.
 */
#include "session_internal.h"

#include <stdlib.h>
#include <string.h>

static uint32_t
free_slots(const kh_session *session)
{
	return session->published.limits.slots - session->call_count + session->free_reserved + session->free_others;
}

static kh_call *
take_slot(kh_session *session)
{
	uint32_t reserved = session->published.reserved_slots;

	if (session->free_reserved > 0)
		return &session->calls[session->free_slots[--session->free_reserved]];
	if (session->call_count >= reserved && session->free_others > 0)
		return &session->calls[session->free_slots[reserved + --session->free_others]];
	/* Its slot is looked at once its memory is there. */
	session->calls[session->call_count] = (kh_call){.session = session, .slot_number = (uint16_t) session->call_count};
	return &session->calls[session->call_count++];
}

static void
put_back(kh_call *call)
{
	kh_session *session = call->session;
	uint32_t reserved = session->published.reserved_slots;

	if (call->slot_number < reserved)
		session->free_slots[session->free_reserved++] = call->slot_number;
	else
		session->free_slots[reserved + session->free_others++] = call->slot_number;
}

static uint64_t
place_in_mailbox(const kh_call *call)
{
	return (uint64_t) call->slot_number * call->session->published.slot_bytes;
}

static void
give_back(kh_call *call)
{
	const kh_session *session = call->session;
	const kh_published *published = &session->published;

	kh_call_clear(call);
	call->state = KH_CALL_FREE;
	if (call->slot_number >= published->reserved_slots)
	{
		free(call->frame);
		call->frame = NULL;
		call->frame_room = 0;
		/* Another process that had it mapped may still look at it, to find that there is nothing for it. */
		if (!call->shared && !session->broken)
			kh_region_give_back(&session->mailbox, place_in_mailbox(call) + published->frame_offset,
			                    published->slot_bytes - published->frame_offset);
	}
	put_back(call);
}

static bool
reserve_slot(const kh_call *call, kh_error *error)
{
	return kh_region_reserve(&call->session->mailbox, place_in_mailbox(call), call->session->published.slot_bytes,
	                         error);
}

/*
 * Before the first use of a slot. The mailbox may have belonged to another session. Its slots are free: nothing of ours is
 * outstanding, so what they hold has been consumed. Request ids are above all that stand in them, so that an old status is
 * never taken for ours.
 */
static void
first_look(kh_call *call)
{
	kh_session *session = call->session;
	uint64_t status;

	call->slot = (kh_response_slot *) (session->mailbox.base + place_in_mailbox(call));
	call->consumed = kh_load_acquire(&call->slot->produced);
	kh_store_release(&call->slot->consumed, call->consumed);
	kh_store_release(&call->slot->client_sleeping, 0);
	status = kh_load_acquire(&call->slot->status);
	if (status >> 1 >= session->next_request_id && status >> 1 < UINT64_C(1) << 62)
		session->next_request_id = (status >> 1) + 1;
}

kh_call *
kh_call_begin(kh_session *session, kh_error *error)
{
	kh_call *call;

	if (session->broken)
	{
		kh_fail(error, KH_E_CONNECTION_FAILURE, "connection to the endpoint was lost");
		return NULL;
	}
	kh_call_collect(session);
	if (free_slots(session) == 0)
	{
		kh_fail(error, KH_E_OUT_OF_SLOTS, "all %u response slots of the session are in use",
		        session->published.limits.slots);
		kh_set_hint(error, "Close cursors, or raise \"slots_per_session\" of the endpoint.");
		return NULL;
	}
	call = take_slot(session);
	if (call->slot_number >= session->published.reserved_slots && !reserve_slot(call, error))
	{
		put_back(call);
		return NULL;
	}
	if (!kh_final_reserve(call, error))
	{
		give_back(call);
		return NULL;
	}
	if (call->slot == NULL)
		first_look(call);
	call->state = KH_CALL_ACTIVE;
	call->finished = false;
	call->cancel_due = false;
	call->request_id = session->next_request_id++;
	memset(&call->result, 0, sizeof(call->result));
	return call;
}

void
kh_call_unused(kh_call *call)
{
	give_back(call);
}

void
kh_call_collect(kh_session *session)
{
	if (session->abandoned_count == 0 || session->broken)
		return;
	for (uint32_t i = 0; i < session->call_count && session->abandoned_count > 0; i++)
	{
		kh_call *call = &session->calls[i];
		uint64_t next;
		uint64_t produced;
		bool final;

		if (call->state != KH_CALL_ABANDONED)
			continue;
		if (!kh_slot_look(call, &next, &produced, &final))
		{
			session->broken = true;
			return;
		}
		if (!final && call->cancel_due)
			call->cancel_due = !kh_post_cancel(call, NULL);
		kh_call_consume(call, produced);
		if (final)
		{
			session->abandoned_count--;
			give_back(call);
		}
	}
}

uint32_t
kh_session_calls(const kh_session *session)
{
	/* Collecting changes no call that the caller can see. */
	kh_call_collect((kh_session *) session);
	return session->call_count - session->free_reserved - session->free_others;
}

uint32_t
kh_session_free_slots(kh_session *session)
{
	kh_call_collect(session);
	return free_slots(session);
}

kh_room
kh_session_await_slot(kh_session *session, int64_t timeout_nanos, kh_error *error)
{
	kh_call *call = session->calls;

	if (kh_session_free_slots(session) > 0)
		return KH_ROOM_FREE;
	if (session->abandoned_count == 0)
		return session->broken ? KH_ROOM_LOST : KH_ROOM_NONE;
	while (call->state != KH_CALL_ABANDONED)
		call++;
	/* Batches that come meanwhile are given back by the next look. */
	if (kh_call_wait(call, timeout_nanos, error) == KH_WAIT_DISCONNECTED)
		return KH_ROOM_LOST;
	return kh_session_free_slots(session) > 0 ? KH_ROOM_FREE : KH_ROOM_SOON;
}

void
kh_call_end(kh_call *call)
{
	kh_session *session = call->session;
	uint64_t next;
	uint64_t produced;
	bool final;

	if (call->share != NULL)
		kh_share_leave(call);
	if (!kh_slot_look(call, &next, &produced, &final))
		session->broken = true;
	if (session->broken)
	{
		/* Nothing will come any more; the slot is not used again either. */
		give_back(call);
		return;
	}
	kh_call_consume(call, produced);
	if (final)
	{
		give_back(call);
		return;
	}
	kh_call_clear(call);
	call->state = KH_CALL_ABANDONED;
	session->abandoned_count++;
	call->cancel_due = !kh_post_cancel(call, NULL);
}

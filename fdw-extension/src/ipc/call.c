/*
 * Response slots: who may use which.
 *
 *   FREE       in free_slots
 *   ACTIVE     a kh_call of the caller
 *   ABANDONED  ended by the caller, but the endpoint has not sent the final frame: batches that still come are given
 *              back unseen, and the slot becomes FREE with the final frame
 */
#include "session_internal.h"

#include <stdlib.h>
#include <string.h>

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
	if (session->free_count == 0)
	{
		kh_fail(error, KH_E_OUT_OF_SLOTS, "all %u response slots of the session are in use",
		        session->published.limits.slots);
		kh_set_hint(error, "Close cursors, or raise the number of slots per mailbox in the endpoint's configuration.");
		return NULL;
	}
	call = &session->calls[session->free_slots[--session->free_count]];
	call->state = KH_CALL_ACTIVE;
	call->finished = false;
	call->cancel_due = false;
	call->request_id = session->next_request_id++;
	memset(&call->result, 0, sizeof(call->result));
	return call;
}

static void
give_back(kh_call *call)
{
	kh_session *session = call->session;

	kh_call_clear(call);
	call->state = KH_CALL_FREE;
	session->free_slots[session->free_count++] = call->slot_number;
}

void
kh_call_unused(kh_call *call)
{
	give_back(call);
}

void
kh_call_clear(kh_call *call)
{
	free(call->columns);
	free(call->parameter_type_oids);
	free(call->buffers);
	free(call->copy);
	if (call->frame_room > 0 && call->frame_room > call->session->published.frame_area_bytes)
	{
		free(call->frame);
		call->frame = NULL;
		call->frame_room = 0;
	}
	call->columns = NULL;
	call->parameter_type_oids = NULL;
	call->buffers = NULL;
	call->copy = NULL;
	call->copy_bytes = 0;
	call->buffer_count = 0;
	call->payload = NULL;
	call->payload_bytes = 0;
}

/*
 * Flow control, our half: store consumed, fence, look at producerWaiting. The endpoint's: store producerWaiting, fence,
 * look at consumed. One of both sees the other.
 */
void
kh_call_consume(kh_call *call, uint64_t count)
{
	if (count == call->consumed)
		return;
	call->consumed = count;
	kh_store_release(&call->slot->consumed, count);
	kh_call_wake_producer(call);
}

void
kh_call_wake_producer(kh_call *call)
{
	kh_doorbell_page *doorbell = (kh_doorbell_page *) call->session->doorbell.base;

	kh_full_fence();
	if (kh_load_relaxed(&call->slot->producer_waiting) != 0)
	{
		kh_store_relaxed(&call->slot->producer_waiting, 0);
		kh_store_release(&doorbell->released, 1);
		kh_doorbell_ring(call->session, true);
	}
}

void
kh_call_collect(kh_session *session)
{
	if (session->abandoned_count == 0 || session->broken)
		return;
	for (uint32_t i = 0; i < session->published.limits.slots; i++)
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
kh_session_free_slots(kh_session *session)
{
	kh_call_collect(session);
	return session->free_count;
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

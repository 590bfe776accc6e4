/*
 * What a response slot and the doorbell hold: looked at and written here, understood by the files above.
 */
#include "session_internal.h"

#include <stdlib.h>
#include <string.h>

uint64_t
kh_share_next(const kh_share *share)
{
	return kh_load_acquire(&share->next) & ~KH_SHARE_STOPPED;
}

bool
kh_slot_look(const kh_call *call, uint64_t *next, uint64_t *produced, bool *final)
{
	/* In this order: once the final status is seen, so are all batches before it. */
	*final = kh_load_acquire(&call->slot->status) == (call->request_id << 1 | 1);
	*produced = kh_load_acquire(&call->slot->produced);
	if (call->share == NULL)
		*next = call->consumed;
	else
	{
		/* Others go on drawing: looked at last, it is at least what it was then, and no more of the window is in use. */
		*next = kh_share_next(call->share);
		if (*next > *produced)
			*produced = *next;
	}
	return *produced - *next <= call->session->published.limits.channel_window;
}

const unsigned char *
kh_batch_locate(const kh_call *call, uint64_t offset, uint32_t bytes)
{
	const kh_published *published = &call->session->published;

	if (offset == KH_INLINE_OFFSET)
		return bytes <= published->inline_bytes ? (unsigned char *) call->slot + published->inline_offset : NULL;
	if (bytes > published->limits.max_batch_bytes || offset % 8 != 0 || offset > published->arena_file_bytes ||
	    bytes > published->arena_file_bytes - offset)
		return NULL;
	return call->session->arena.base + offset;
}

void
kh_batch_descriptor_read(const kh_call *call, uint64_t batch, kh_batch_descriptor *descriptor)
{
	memcpy(descriptor,
	       (const unsigned char *) call->slot + KH_RESPONSE_SLOT_BYTES +
	           KH_BATCH_DESCRIPTOR_BYTES * (batch % call->session->published.limits.channel_window),
	       sizeof(*descriptor));
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
kh_doorbell_ring(kh_session *session, bool always)
{
	kh_doorbell_page *doorbell = (kh_doorbell_page *) session->doorbell.base;
	bool sleeping;

	/* After our append (or release), before looking at sleeping; the endpoint fences between sleeping and its poll. */
	kh_full_fence();
	sleeping = kh_load_relaxed(&doorbell->sleeping) != 0;
	if (sleeping || always)
		__atomic_fetch_add(&doorbell->bell, 1, __ATOMIC_RELEASE);
	if (sleeping)
		kh_futex_wake(&doorbell->bell);
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
	call->buffer_room = 0;
	call->buffer_count = 0;
	call->payload = NULL;
	call->payload_bytes = 0;
	call->token[0] = '\0';
}

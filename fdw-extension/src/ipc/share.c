/*
 * One response read by several processes; PROTOCOL.md, section 4, has the rules that the endpoint sees.
 *
 * The owner has sent the request and keeps the call; borrowers have mapped the same slot, arena and doorbell, and neither
 * send anything nor hold anything of the endpoint's. Between them is a kh_share:
 *
 *   next     the first batch that no process has taken. To take batch n: read its descriptor, then set next from n to n + 1
 *            by compare-and-set. While next is n, nobody has given n back, so that its entry of the ring stands; if the
 *            exchange fails, what was read means nothing.
 *   done[]   n + 1 at n % window: the process that took n has its copy. An entry is written again only for n + window,
 *            which is not there before n has been given back.
 *
 * The taker copies the batch, stores done (release), fences, and moves slot->consumed over all batches that are done,
 * one by one with compare-and-set. Two that finish at the same time both fence between their store and their look, so that
 * one of them sees both. A copy is complete before done, done is seen before consumed moves, and the endpoint uses a buffer
 * again only after it has seen consumed: nobody reads what is being overwritten.
 *
 * No process holds a buffer across anything that may wait. A process that kept one while it waits for another process (its
 * tuple queue is full, say) would stop the endpoint once the window behind that batch is full, and with it the process it
 * waits for.
 *
 * Sleeping: all wait on slot->event and set clientSleeping; the endpoint clears it and wakes one. Whoever takes a batch while
 * others sleep sets it again, fences, and wakes the next one if there is more. Having cleared the flag, the endpoint adds to
 * event once more before it wakes: who has set the flag in between does not fall asleep. sleepers saves the system calls
 * while nobody sleeps.
 *
 * Stopping: the owner sets STOPPED in next before it gives back a batch that nobody has taken, and before the slot serves
 * another request. Whoever reads in the slot what came of either therefore sees STOPPED afterwards, and looks: a slot that
 * seems wrong is wrong only if nobody has stopped.
 */
#include "session_internal.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Looks per yield while another process copies a batch. */
#define LOOKS_PER_YIELD 64

size_t
kh_share_bytes(const kh_session *session)
{
	return offsetof(kh_share, done) + session->published.limits.channel_window * sizeof(uint64_t);
}

bool
kh_call_share(kh_call *call, void *memory, kh_error *error)
{
	kh_session *session = call->session;
	kh_share *share = memory;

	memset(share, 0, kh_share_bytes(session));
	if (snprintf(share->directory, KH_DIRECTORY_BYTES, "%s", session->directory) >= KH_DIRECTORY_BYTES)
		return kh_fail(error, KH_E_LIMIT_EXCEEDED, "path of runtime directory is too long: %s", session->directory);
	share->published = session->published;
	share->request_id = call->request_id;
	share->slot_number = call->slot_number;
	share->control = session->control.file;
	share->doorbell = session->doorbell.file;
	share->mailbox = session->mailbox.file;
	share->arena = session->arena.file;
	share->next = call->consumed;
	call->shared = true;
	call->share = share;
	return true;
}

void
kh_share_leave(kh_call *call)
{
	call->share = NULL;
	call->consumed = kh_load_acquire(&call->slot->consumed);
}

void
kh_call_unshare(kh_call *call)
{
	kh_share *share = call->share;
	uint64_t taken;

	if (share == NULL)
		return;
	taken = __atomic_fetch_or(&share->next, KH_SHARE_STOPPED, __ATOMIC_ACQ_REL) & ~KH_SHARE_STOPPED;
	kh_share_pass_on(call);
	/* Between taking and giving back lies a copy of one batch, and nothing that can fail or wait. */
	while (kh_load_acquire(&call->slot->consumed) != taken)
	{
		for (int i = 0; i < LOOKS_PER_YIELD; i++)
			kh_relax();
		(void) sched_yield();
	}
	kh_share_leave(call);
}

bool
kh_share_stopped(const kh_share *share)
{
	return (kh_load_acquire(&share->next) & KH_SHARE_STOPPED) != 0;
}

void
kh_share_sleeps(kh_share *share, int count)
{
	__atomic_fetch_add(&share->sleepers, (uint32_t) count, __ATOMIC_SEQ_CST);
}

void
kh_share_pass_on(kh_call *call)
{
	uint64_t next;
	uint64_t produced;
	bool final;

	/* Pairs with a sleeper, who counts itself before it looks. */
	kh_full_fence();
	if (kh_load_relaxed(&call->share->sleepers) == 0)
		return;
	kh_store_relaxed(&call->slot->client_sleeping, 1);
	kh_full_fence();
	if (kh_share_stopped(call->share) || !kh_slot_look(call, &next, &produced, &final) || next != produced || final)
		kh_futex_wake(&call->slot->event);
}

/* Tells the others, and the endpoint as far as all before it are done, that batch n has been copied. */
static void
give_back(kh_call *call, uint64_t n)
{
	uint64_t *done = call->share->done;
	uint64_t *consumed = &call->slot->consumed;
	uint32_t window = call->session->published.limits.channel_window;
	uint64_t at;

	kh_store_release(&done[n % window], n + 1);
	kh_full_fence();
	at = kh_load_acquire(consumed);
	while (kh_load_acquire(&done[at % window]) == at + 1)
	{
		/* If it fails, another process has moved it. */
		(void) kh_compare_and_set(consumed, at, at + 1);
		at = kh_load_acquire(consumed);
	}
	kh_call_wake_producer(call);
}

static bool
make_room(kh_call *call, uint32_t bytes, kh_error *error)
{
	unsigned char *copy;

	if (bytes <= call->copy_bytes || bytes > call->session->published.limits.max_batch_bytes)
		return true;
	copy = malloc(bytes);
	if (copy == NULL)
		return kh_fail_system(error, ENOMEM, KH_E_OUT_OF_MEMORY, "could not copy a row batch of %u bytes", bytes);
	/* The caller has let go of the batch before. */
	free(call->copy);
	call->copy = copy;
	call->copy_bytes = bytes;
	return true;
}

bool
kh_share_draw(kh_call *call, kh_batch *batch, kh_error *error)
{
	kh_batch_descriptor descriptor;
	const unsigned char *base;
	uint64_t next;
	uint64_t produced;
	bool final;

	do
	{
		if (!kh_slot_look(call, &next, &produced, &final))
		{
			if (!kh_share_stopped(call->share))
				kh_session_violated(call->session, error, "a response slot holds more batches than its window");
			return false;
		}
		if (next == produced || kh_share_stopped(call->share))
			return false;
		kh_batch_descriptor_read(call, next, &descriptor);
		/* Memory is found before a batch is taken: from there on nothing may fail before it is given back. */
		if (!make_room(call, descriptor.bytes, error))
			return false;
	} while (!kh_compare_and_set(&call->share->next, next, next + 1));

	base = kh_batch_locate(call, descriptor.offset, descriptor.bytes);
	if (base != NULL && descriptor.bytes <= call->copy_bytes)
		memcpy(call->copy, base, descriptor.bytes);
	else
		base = NULL;
	give_back(call, next);
	kh_share_pass_on(call);
	if (base == NULL)
		kh_session_violated(call->session, error, "a batch lies outside of the shared memory");
	else if (!kh_batch_check(call->copy, descriptor.bytes, batch, error))
		call->session->broken = true;
	else
		return true;
	return false;
}

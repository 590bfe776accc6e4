/*
 * Waiting for the endpoint and reading batches. See PROTOCOL.md, section 4, for who writes what in which order.
 *
 * The wait is the usual pair: we store clientSleeping, fence, look again, sleep on event; the endpoint adds 1 to event,
 * fences, looks at clientSleeping. event is read before the second look, so that whatever is published after that look
 * makes the futex refuse to sleep.
 */
#include "session_internal.h"

#include <sched.h>
#include <string.h>

/* The futex does not see the socket: how often a sleeper looks whether the endpoint is alive. */
#define ALIVE_NANOS 50000000

/* Looks per clock read while spinning. */
#define LOOKS_PER_CLOCK 16

/*
 * An endpoint that is awake and idle answers a small request within a few microseconds. After them somebody else may need this
 * processor in order to answer us: the endpoint, or a client before us.
 */
#define YIELD_AFTER_NANOS 3000

/*
 * A yield that takes longer has let somebody compute. Then it costs milliseconds, while who sleeps is woken at once: for a
 * while, longer each time, waiters go to sleep after the first looks. Yields that have been cheap for QUIET_NANOS say that nobody
 * computes any more, whatever the last pause was. A stray interruption, of which there are some ten a second on an idle machine,
 * is worth a short pause only (YieldPause.java has the same times and what was measured).
 */
#define DEAR_NANOS 200000
#define QUIET_NANOS 20000000
#define MIN_PAUSE_NANOS 200000
#define MAX_PAUSE_NANOS 1000000000

/* The spin never gets shorter than this part of the published one, so that it can get longer again. */
#define SHORTEST_SPIN 8

/*
 * Decodes the final frame. The owner may stop reading meanwhile, and the slot serve another request: then what was read
 * means nothing.
 */
static kh_wait
finish(kh_call *call, kh_error *error)
{
	bool decoded = kh_final_decode(call, error);

	/* Pairs with the owner's stop before its next request: who has read bytes of a later response sees the stop. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (call->share != NULL && kh_share_stopped(call->share))
	{
		memset(&call->result, 0, sizeof(call->result));
		call->session->broken = false;
		return KH_WAIT_FINISHED;
	}
	if (!decoded)
	{
		call->session->broken = true;
		return KH_WAIT_DISCONNECTED;
	}
	call->finished = true;
	return KH_WAIT_FINISHED;
}

static kh_wait
look(kh_call *call, kh_error *error)
{
	uint64_t next;
	uint64_t produced;
	bool final;

	if (call->share != NULL && kh_share_stopped(call->share))
		return KH_WAIT_FINISHED;
	if (!kh_slot_look(call, &next, &produced, &final))
	{
		/* The owner may have stopped in between, and given back what came afterwards. */
		if (call->share != NULL && kh_share_stopped(call->share))
			return KH_WAIT_FINISHED;
		return kh_session_violated(call->session, error, "a response slot holds more batches than its window");
	}
	if (produced != next)
		return KH_WAIT_BATCH;
	if (!final)
		return KH_WAIT_TIMEOUT;
	return call->finished ? KH_WAIT_FINISHED : finish(call, error);
}

/* Gives the processor away; the clock afterwards. */
static int64_t
yield_processor(kh_session *session, int64_t before)
{
	int64_t now;

	(void) sched_yield();
	now = kh_now_nanos();
	if (now - before > DEAR_NANOS)
	{
		session->pause_nanos *= 2;
		if (session->pause_nanos < MIN_PAUSE_NANOS)
			session->pause_nanos = MIN_PAUSE_NANOS;
		if (session->pause_nanos > MAX_PAUSE_NANOS)
			session->pause_nanos = MAX_PAUSE_NANOS;
		session->yield_from = now + session->pause_nanos;
	}
	else if (now - session->yield_from > QUIET_NANOS)
		session->pause_nanos = 0;
	return now;
}

/* Looks until there is something, or until, or it is time to sleep. *now: the clock before, and afterwards. */
static kh_wait
spin(kh_call *call, int64_t until, int64_t *now, kh_error *error)
{
	int64_t yield_after = *now + YIELD_AFTER_NANOS;

	while (*now < until)
	{
		for (int i = 0; i < LOOKS_PER_CLOCK; i++)
		{
			kh_wait found = look(call, error);

			if (found != KH_WAIT_TIMEOUT)
				return found;
			kh_relax();
		}
		*now = kh_now_nanos();
		if (*now < yield_after)
			continue;
		if (*now < call->session->yield_from)
			break;
		*now = yield_processor(call->session, *now);
	}
	return look(call, error);
}

/* One sleep. *failure: of the futex. */
static kh_wait
sleep_once(kh_call *call, int64_t nanos, int *failure, kh_error *error)
{
	kh_response_slot *slot = call->slot;
	uint32_t event;
	kh_wait found;

	if (call->share != NULL)
		kh_share_sleeps(call->share, 1);
	event = kh_load_acquire(&slot->event);
	kh_store_relaxed(&slot->client_sleeping, 1);
	kh_full_fence();
	*failure = 0;
	found = look(call, error);
	if (found == KH_WAIT_TIMEOUT)
	{
		*failure = kh_futex_wait(&slot->event, event, nanos < ALIVE_NANOS ? nanos : ALIVE_NANOS);
		found = look(call, error);
	}
	/* Others may sleep, too: for them it stays. */
	if (call->share == NULL)
		kh_store_relaxed(&slot->client_sleeping, 0);
	else
		kh_share_sleeps(call->share, -1);
	return found;
}

/*
 * Spinning pays when the answer comes within the published time: then the next spin is longer. Else most of the wait is
 * slept through anyway, and the processor is better used by others.
 */
static void
adapt_spin(kh_session *session, int64_t waited_nanos)
{
	int64_t longest = session->published.limits.spin_nanos;
	int64_t spin = session->spin_nanos;

	spin = waited_nanos < longest ? 2 * spin : spin / 2;
	if (spin < longest / SHORTEST_SPIN)
		spin = longest / SHORTEST_SPIN;
	session->spin_nanos = spin < longest ? spin : longest;
}

/* Whether so many sessions ask that spinning takes the processor from those who would get on. */
static bool
is_crowded(const kh_session *session)
{
	const kh_control_page *control = (const kh_control_page *) session->control.base;

	return control != NULL && kh_load_relaxed(&control->crowded) != 0;
}

static kh_wait
wait_for(kh_call *call, int64_t timeout_nanos, kh_error *error)
{
	kh_session *session = call->session;
	kh_wait found;
	int64_t began;
	int64_t now;
	int64_t deadline;
	int64_t spin_end;
	bool crowded;

	/* What has arrived counts, also when the endpoint has gone since. */
	if (call->finished || !session->broken)
	{
		found = look(call, error);
		if (found != KH_WAIT_TIMEOUT || timeout_nanos == 0)
			return found;
	}
	if (session->broken)
		return kh_session_lost(error);
	began = now = kh_now_nanos();
	deadline = timeout_nanos < 0 ? INT64_MAX : kh_deadline(now, timeout_nanos);
	crowded = is_crowded(session);
	if (!crowded)
	{
		spin_end = kh_deadline(now, session->spin_nanos);
		found = spin(call, spin_end < deadline ? spin_end : deadline, &now, error);
	}
	while (found == KH_WAIT_TIMEOUT && now < deadline)
	{
		int failure;

		found = sleep_once(call, deadline - now, &failure, error);
		if (found != KH_WAIT_TIMEOUT)
			break;
		if (failure == ETIMEDOUT && !kh_session_alive(session))
		{
			/* It may have finished just before it ended. */
			found = look(call, error);
			return found != KH_WAIT_TIMEOUT ? found : kh_session_lost(error);
		}
		if (failure == EINTR)
			return KH_WAIT_TIMEOUT;
		now = kh_now_nanos();
	}
	if (!crowded)
		adapt_spin(session, kh_now_nanos() - began);
	return found;
}

kh_wait
kh_call_wait(kh_call *call, int64_t timeout_nanos, kh_error *error)
{
	kh_wait found = wait_for(call, timeout_nanos, error);

	/* The end is for everybody. */
	if (found == KH_WAIT_FINISHED && call->share != NULL)
		kh_share_pass_on(call);
	return found;
}

bool
kh_call_batch(kh_call *call, kh_batch *batch, kh_error *error)
{
	kh_session *session = call->session;
	kh_batch_descriptor descriptor;
	const unsigned char *base;
	uint64_t next;
	uint64_t produced;
	bool final;

	if (call->share != NULL)
		return kh_share_draw(call, batch, error);
	if (!kh_slot_look(call, &next, &produced, &final))
		kh_session_violated(session, error, "a response slot holds more batches than its window");
	else if (produced == next)
		kh_fail(error, KH_E_INTERNAL_ERROR, "the call has no batch");
	else
	{
		kh_batch_descriptor_read(call, next, &descriptor);
		base = kh_batch_locate(call, descriptor.offset, descriptor.bytes);
		if (base == NULL)
			kh_session_violated(session, error, "a batch lies outside of the shared memory");
		else if (!kh_batch_check(base, descriptor.bytes, batch, error))
			session->broken = true;
		else
			return true;
	}
	return false;
}

void
kh_call_release(kh_call *call)
{
	if (call->share == NULL)
		kh_call_consume(call, call->consumed + 1);
}

const kh_result *
kh_call_result(kh_call *call)
{
	return &call->result;
}

uint64_t
kh_call_begun(const kh_call *call)
{
	uint64_t handle;

	if (kh_load_acquire(&call->slot->transaction_request) != call->request_id)
		return 0;
	handle = kh_load_relaxed(&call->slot->transaction_handle);
	kh_full_fence();
	/* The slot of a session that has ended may be another's. Its requests have later numbers. */
	return kh_load_relaxed(&call->slot->transaction_request) == call->request_id ? handle : 0;
}

const void *
kh_call_payload(const kh_call *call, uint32_t *bytes)
{
	*bytes = call->payload_bytes;
	return call->payload;
}

const char *
kh_call_token(const kh_call *call)
{
	return call->token[0] != '\0' ? call->token : NULL;
}

void *
kh_inbound_buffer(kh_call *call, uint32_t index, uint64_t *arena_offset, uint32_t *bytes)
{
	if (index >= call->buffer_count)
		return NULL;
	*arena_offset = call->buffers[index];
	*bytes = call->buffer_bytes;
	return call->session->arena.base + call->buffers[index];
}

/*
 * Buffers of the arena for rows on the way to the engine: what is too long for the queue, and batches.
 */
#include "fdw/session/session.h"

/* After a transaction that has sent so much, asking for buffers again is nothing. */
#define BULK_BYTES (1024 * 1024)

#define ALL_BUFFERS (KAKEHASHI_INBOUND_BUFFERS + 1)
#define LONG_ROW KAKEHASHI_INBOUND_BUFFERS

uint32
kakehashi_inbound_bytes(const KakehashiSession *session)
{
	return Min(kh_session_limits(session->ipc)->max_batch_bytes, KAKEHASHI_INBOUND_BYTES);
}

static void
acquire(KakehashiSession *session, KakehashiInbound *buffer, uint32 bytes)
{
	kh_error error;
	KakehashiCall *call;

	kakehashi_call_make_room(session);
	call = kakehashi_call_new(session, NULL);
	(void) kakehashi_call_sent(call, kh_send_acquire_buffers(session->ipc, 1, bytes, &error), &error);
	(void) kakehashi_call_finish(call);
	buffer->memory = kh_inbound_buffer(call->ipc, 0, &buffer->offset, &buffer->bytes);
	buffer->call = NULL;
	kakehashi_call_end(call);
	pfree(call);
	if (buffer->memory == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY),
		                errmsg("server \"%s\" granted no buffer for long rows", session->server_name)));
}

/* Gives all buffers back, unless one is being filled or the endpoint may still read it. Never fails. */
static void
give_back(KakehashiSession *session)
{
	bool held = false;
	kh_error error;

	for (int i = 0; i < ALL_BUFFERS; i++)
	{
		if (session->inbound[i].call != NULL || session->inbound[i].taken)
			return;
		held = held || session->inbound[i].memory != NULL;
	}
	if (!held)
		return;
	if (!kh_post_release_buffers(session->ipc, &error))
		session->invalidated = true;
	kakehashi_inbound_forget(session);
}

static KakehashiInbound *
take_long(KakehashiSession *session, uint32 bytes)
{
	KakehashiInbound *buffer = &session->inbound[LONG_ROW];

	if (buffer->memory != NULL && buffer->call != NULL && buffer->call->rowless)
		(void) kakehashi_call_finish(buffer->call);
	/* It is there still if another buffer was in use when its request ended. */
	if (buffer->memory != NULL && buffer->call == NULL && buffer->bytes >= bytes)
		return buffer;
	give_back(session);
	acquire(session, buffer, bytes);
	return buffer;
}

static KakehashiInbound *
take_usual(KakehashiSession *session)
{
	KakehashiInbound *buffer = &session->inbound[0];

	for (int i = 0; i < KAKEHASHI_INBOUND_BUFFERS; i++)
	{
		if (session->inbound[i].memory != NULL && session->inbound[i].call == NULL)
			return &session->inbound[i];
		if (session->inbound[i].memory == NULL)
			buffer = &session->inbound[i];
	}
	for (int i = 0; i < KAKEHASHI_INBOUND_BUFFERS && buffer->memory != NULL; i++)
	{
		/* A batch on its way: its owner finds the answer when it asks for it. */
		if (session->inbound[i].call->rowless)
		{
			buffer = &session->inbound[i];
			(void) kakehashi_call_finish(buffer->call);
			/* With a long row's they have all gone. */
			if (buffer->memory != NULL)
				return buffer;
		}
	}
	/* All have open results. One of them stays with its request: it is the endpoint's until the session ends. */
	acquire(session, buffer, kakehashi_inbound_bytes(session));
	return buffer;
}

KakehashiInbound *
kakehashi_inbound_take(KakehashiSession *session, uint32 bytes)
{
	KakehashiInbound *buffer =
		bytes > kakehashi_inbound_bytes(session) ? take_long(session, bytes) : take_usual(session);

	buffer->taken = true;
	return buffer;
}

/* The memory of a long row is missed elsewhere, and those who send one can wait for the other buffers to be granted again. */
void
kakehashi_inbound_finished(KakehashiCall *call)
{
	bool used = false;

	for (int i = 0; i < ALL_BUFFERS; i++)
	{
		if (call->session->inbound[i].call == call)
		{
			call->session->inbound[i].call = NULL;
			used = true;
		}
	}
	if (used && call->session->inbound[LONG_ROW].memory != NULL)
		give_back(call->session);
}

/*
 * The endpoint may still read the buffer, so that nobody may write it again. Canceled requests come here; with the
 * session, which goes at the end of the transaction, goes the buffer.
 */
void
kakehashi_inbound_abandoned(KakehashiCall *call)
{
	for (int i = 0; i < ALL_BUFFERS; i++)
	{
		if (call->session->inbound[i].call != call)
			continue;
		call->session->inbound[i].memory = NULL;
		call->session->inbound[i].call = NULL;
		call->session->invalidated = true;
	}
}

void
kakehashi_inbound_forget(KakehashiSession *session)
{
	memset(session->inbound, 0, sizeof(session->inbound));
}

/*
 * Buffers are several MB of shared memory, which a session that idles must not keep. One that sends a few rows in each
 * transaction keeps them until a transaction does without.
 */
void
kakehashi_inbound_settle(KakehashiSession *session)
{
	uint64 sent = session->inbound_bytes;

	session->inbound_bytes = 0;
	/* Who failed between taking a buffer and sending it does so no more. */
	for (int i = 0; i < ALL_BUFFERS; i++)
		session->inbound[i].taken = false;
	if (session->ipc == NULL || (sent > 0 && sent < BULK_BYTES))
		return;
	give_back(session);
}

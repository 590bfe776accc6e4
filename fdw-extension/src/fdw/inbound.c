/*
 * Buffers of the arena for rows on the way to the engine: what is too long for the queue, and batches.
 */
#include "session.h"

/* After a transaction that has sent so much, asking for buffers again is nothing. */
#define BULK_BYTES (1024 * 1024)

static void
acquire(KakehashiSession *session, KakehashiInbound *buffer)
{
	kh_error error;
	KakehashiCall *call;

	kakehashi_call_make_room(session);
	call = kakehashi_call_track(
		session, kh_send_acquire_buffers(session->ipc, 1, kh_session_limits(session->ipc)->max_batch_bytes, &error),
		&error, NULL);

	(void) kakehashi_call_finish(call);
	buffer->memory = kh_inbound_buffer(call->ipc, 0, &buffer->offset, &buffer->bytes);
	buffer->call = NULL;
	kakehashi_call_end(call);
	pfree(call);
	if (buffer->memory == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY),
		                errmsg("server \"%s\" granted no buffer for long rows", session->server_name)));
}

KakehashiInbound *
kakehashi_inbound_take(KakehashiSession *session)
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
			(void) kakehashi_call_finish(session->inbound[i].call);
			return &session->inbound[i];
		}
	}
	/* All have open results. One of them stays with its request: it is the endpoint's until the session ends. */
	acquire(session, buffer);
	return buffer;
}

void
kakehashi_inbound_finished(KakehashiCall *call)
{
	for (int i = 0; i < KAKEHASHI_INBOUND_BUFFERS; i++)
	{
		if (call->session->inbound[i].call == call)
			call->session->inbound[i].call = NULL;
	}
}

/*
 * The endpoint may still read the buffer, so that nobody may write it again. Cancelled requests come here; with the
 * session, which goes at the end of the transaction, goes the buffer.
 */
void
kakehashi_inbound_abandoned(KakehashiCall *call)
{
	for (int i = 0; i < KAKEHASHI_INBOUND_BUFFERS; i++)
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
	bool held = false;
	uint64 sent = session->inbound_bytes;
	kh_error error;

	session->inbound_bytes = 0;
	if (session->ipc == NULL || (sent > 0 && sent < BULK_BYTES))
		return;
	for (int i = 0; i < KAKEHASHI_INBOUND_BUFFERS; i++)
	{
		if (session->inbound[i].call != NULL)
			return;
		held = held || session->inbound[i].memory != NULL;
	}
	if (!held)
		return;
	if (!kh_post_release_buffers(session->ipc, &error))
		session->invalidated = true;
	kakehashi_inbound_forget(session);
}

#include "session_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONTROL_MAGIC UINT64_C(0x31304948534b4b4b)

/*
 * The endpoint that answered is the one whose files these are: between connecting and opening another may have
 * started. Facts of the control page do not change while it is mapped, except state and heartbeat.
 */
static bool
check_control(const kh_session *session, kh_error *error)
{
	const kh_control_page *control = (const kh_control_page *) session->control.base;

	if (kh_load_relaxed(&control->magic) != CONTROL_MAGIC)
		return kh_fail(error, KH_E_CANNOT_CONNECT, "the endpoint's control file is not one");
	if (kh_load_relaxed(&control->layout_version) != KH_LAYOUT_VERSION)
	{
		kh_fail(error, KH_E_VERSION_MISMATCH, "the endpoint has memory layout %u, this client layout %d",
		        kh_load_relaxed(&control->layout_version), KH_LAYOUT_VERSION);
		kh_set_hint(error, "Install the extension and the endpoint from the same release.");
		return false;
	}
	if (kh_load_relaxed(&control->incarnation) != session->published.incarnation)
		return kh_fail(error, KH_E_CANNOT_CONNECT, "the endpoint was replaced by another one during attach");
	return true;
}

static bool
open_files(kh_session *session, const char *directory, kh_error *error)
{
	const kh_published *published = &session->published;
	uint64_t mailbox_bytes = (uint64_t) published->limits.slots * published->slot_bytes;
	char name[160];
	char path[4096];
	kh_error failure;

	if (!kh_region_open(&session->control, directory, "control", 0, KH_CONTROL_PAGE_BYTES, KH_REGION_READ, error) ||
	    !check_control(session, error) ||
	    !kh_region_open(&session->doorbell, directory, "doorbell", 0, KH_DOORBELL_PAGE_BYTES, KH_REGION_WRITE_RESERVED,
	                    error))
		return false;
	snprintf(name, sizeof(name), "mailboxes/%s", published->principal);
	if (!kh_region_open_growing(&session->mailbox, directory, name, published->mailbox_offset, mailbox_bytes,
	                            (uint64_t) published->reserved_slots * published->slot_bytes, error))
		return false;
	snprintf(name, sizeof(name), "arena/%s", published->principal);
	if (!kh_region_open(&session->arena, directory, name, 0, published->arena_file_bytes, KH_REGION_WRITE, error))
		return false;
	if (snprintf(path, sizeof(path), "%s/queues/%s", directory, published->queue_name) >= (int) sizeof(path))
		return kh_fail(error, KH_E_CANNOT_CONNECT, "path of runtime directory is too long");
	session->queue = kh_queue_open(path, published->queue_block_bytes, &failure);
	if (session->queue == NULL)
	{
		session->queue_damaged = kh_is_damage(&failure);
		if (error != NULL)
			*error = failure;
		return false;
	}
	if (published->limits.max_frame_bytes > kh_queue_max_message_bytes(session->queue))
		return kh_fail(error, KH_E_MALFORMED_MESSAGE, "the endpoint published impossible limits: maxFrameBytes");
	return true;
}

static bool
set_up_calls(kh_session *session, kh_error *error)
{
	uint32_t slots = session->published.limits.slots;

	session->calls = calloc(slots, sizeof(*session->calls));
	session->free_slots = calloc(slots, sizeof(*session->free_slots));
	session->request = malloc(session->published.limits.max_frame_bytes);
	if (session->calls == NULL || session->free_slots == NULL || session->request == NULL)
		return kh_fail_system(error, ENOMEM, KH_E_OUT_OF_MEMORY, "could not make a session of %u slots", slots);
	session->next_request_id = 1;
	session->spin_nanos = session->published.limits.spin_nanos;
	session->yield_from = 0;
	session->pause_nanos = 0;
	return true;
}

static kh_session *
attach_once(const kh_attach_options *options, uint64_t *damaged_queue, kh_error *error)
{
	kh_session *session = calloc(1, sizeof(*session));
	uid_t peer;
	int memory = -1;

	if (session == NULL)
	{
		kh_fail_system(error, ENOMEM, KH_E_OUT_OF_MEMORY, "could not make a session");
		return NULL;
	}
	session->lock = -1;
	session->directory = kh_trusted_directory(options->runtime_directory, options->required_peer, &peer, error);
	if (session->directory == NULL)
	{
		free(session);
		return NULL;
	}
	session->socket = kh_attach_socket(options, session->directory, peer, &session->published, &memory, error);
	if (memory >= 0)
	{
		(void) kh_store_map(&session->store, memory);
		close(memory);
	}
	if (session->socket < 0 || !open_files(session, session->directory, error) || !set_up_calls(session, error))
	{
		*damaged_queue = kh_session_damaged_queue(session);
		kh_detach(session);
		return NULL;
	}
	return session;
}

kh_session *
kh_attach(const kh_attach_options *options, kh_error *error)
{
	kh_attach_options again = *options;
	uint64_t damaged = 0;
	kh_session *session = attach_once(options, &damaged, error);

	if (session != NULL || damaged == 0)
		return session;
	/* The queue that it got cannot be opened: the endpoint is told so, and gives another. */
	again.damaged_queue = damaged;
	return attach_once(&again, &damaged, error);
}

uint64_t
kh_session_damaged_queue(const kh_session *session)
{
	return session->queue_damaged ? session->published.queue_number : 0;
}

void
kh_detach(kh_session *session)
{
	if (session == NULL)
		return;
	if (session->calls != NULL)
	{
		for (uint32_t i = 0; i < session->call_count; i++)
		{
			kh_call_clear(&session->calls[i]);
			free(session->calls[i].frame);
		}
	}
	free(session->calls);
	free(session->free_slots);
	free(session->request);
	free((void *) session->directory);
	kh_queue_close(session->queue);
	kh_store_unmap(&session->store);
	kh_region_close(&session->arena);
	kh_region_close(&session->mailbox);
	kh_region_close(&session->doorbell);
	kh_region_close(&session->control);
	/* Last: from here on the endpoint may give the mailbox to another session. */
	if (session->socket >= 0)
		close(session->socket);
	if (session->lock >= 0)
		close(session->lock);
	free(session);
}

const kh_limits *
kh_session_limits(const kh_session *session)
{
	return &session->published.limits;
}

const kh_engine *
kh_session_engine(const kh_session *session)
{
	return &session->published.engine;
}

uint64_t
kh_session_id(const kh_session *session)
{
	return session->published.session_id;
}

uint64_t
kh_session_incarnation(const kh_session *session)
{
	return session->published.incarnation;
}

int
kh_session_socket(const kh_session *session)
{
	return session->socket;
}

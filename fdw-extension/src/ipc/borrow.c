/*
 * A session of its own for a process that reads another's response, see share.c.
 */
#include "session_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
open_lock(kh_session *session, kh_error *error)
{
	char path[KH_DIRECTORY_BYTES + 16];

	snprintf(path, sizeof(path), "%s/lock", session->directory);
	do
		session->lock = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	while (session->lock < 0 && errno == EINTR);
	return session->lock >= 0 || kh_fail_system(error, errno, KH_E_CANNOT_CONNECT, "could not open %s", path);
}

static bool
open_shared_files(kh_session *session, kh_error *error)
{
	const kh_share *share = session->borrowed;
	const kh_published *published = &session->published;
	char name[160];

	if (!open_lock(session, error) ||
	    !kh_region_open_same(&session->doorbell, session->directory, "doorbell", 0, KH_DOORBELL_PAGE_BYTES,
	                         KH_REGION_WRITE, &share->doorbell, error))
		return false;
	/* The owner has reserved its memory. */
	snprintf(name, sizeof(name), "mailboxes/%s", published->principal);
	if (!kh_region_open_same(&session->mailbox, session->directory, name,
	                         published->mailbox_offset + (uint64_t) share->slot_number * published->slot_bytes,
	                         published->slot_bytes, KH_REGION_WRITE, &share->mailbox, error))
		return false;
	snprintf(name, sizeof(name), "arena/%s", published->principal);
	return kh_region_open_same(&session->arena, session->directory, name, 0, published->arena_file_bytes,
	                           KH_REGION_READ, &share->arena, error);
}

kh_session *
kh_borrow(kh_share *memory, kh_call **call, kh_error *error)
{
	kh_session *session = calloc(1, sizeof(*session));

	if (session != NULL)
	{
		session->socket = -1;
		session->lock = -1;
		session->borrowed = memory;
		session->published = memory->published;
		session->spin_nanos = memory->published.limits.spin_nanos;
		session->directory = strdup(memory->directory);
		session->calls = calloc(1, sizeof(*session->calls));
	}
	if (session == NULL || session->directory == NULL || session->calls == NULL)
	{
		kh_detach(session);
		kh_fail_system(error, ENOMEM, KH_E_OUT_OF_MEMORY, "could not read the response of another process");
		return NULL;
	}
	session->call_count = 1;
	if (!open_shared_files(session, error))
	{
		kh_detach(session);
		return NULL;
	}
	*call = session->calls;
	(*call)->session = session;
	(*call)->slot = (kh_response_slot *) session->mailbox.base;
	(*call)->slot_number = (uint16_t) memory->slot_number;
	(*call)->state = KH_CALL_ACTIVE;
	(*call)->request_id = memory->request_id;
	(*call)->share = memory;
	return session;
}

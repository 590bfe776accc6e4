/*
 * Requests that run a prepared statement, in the session's transaction or outside of it.
 */
#include "fdw/transaction/transaction.h"

#include "storage/proc.h"
#include "utils/snapshot.h"

/* Longest block and header of an Execute message, with room for versions to come. */
#define EXECUTE_OVERHEAD_BYTES 256

static KakehashiCall *
sent(KakehashiCall *call, KakehashiStatement *statement, kh_call *ipc, const kh_error *error)
{
	(void) kakehashi_call_sent(call, ipc, error);
	kakehashi_statement_use(statement, call);
	return call;
}

static KakehashiCall *
send_inbound(KakehashiSession *session, KakehashiStatement *statement, const kh_execute_options *options,
             KakehashiInbound *buffer, uint32 bytes)
{
	kh_error error;
	KakehashiCall *call = kakehashi_call_new(session, statement->sql);

	(void) sent(call, statement,
	            kh_send_execute_inbound(session->ipc, statement->id, options, buffer->offset, bytes, &error), &error);
	buffer->call = call;
	buffer->taken = false;
	session->inbound_bytes += bytes;
	return call;
}

/* Rows too long for the queue go into a buffer, which is taken before the transaction's state is worked out: it waits. */
static KakehashiInbound *
buffer_for(KakehashiSession *session, uint32 bytes)
{
	KakehashiInbound *buffer;

	if (bytes + EXECUTE_OVERHEAD_BYTES <= kh_session_limits(session->ipc)->max_frame_bytes)
		return NULL;
	buffer = kakehashi_inbound_take(session, bytes);
	if (bytes > buffer->bytes)
		ereport(ERROR,
		        (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
		         errmsg("parameters of %u bytes exceed the endpoint's limit of %u bytes", bytes, buffer->bytes)));
	return buffer;
}

static KakehashiCall *
send(KakehashiSession *session, KakehashiStatement *statement, const kh_execute_options *options,
     KakehashiInbound *buffer, const void *parameters, uint32 bytes)
{
	kh_error error;
	KakehashiCall *call;

	if (buffer != NULL)
	{
		memcpy(buffer->memory, parameters, bytes);
		return send_inbound(session, statement, options, buffer, bytes);
	}
	call = kakehashi_call_new(session, statement->sql);
	return sent(call, statement, kh_send_execute(session->ipc, statement->id, options, parameters, bytes, &error),
	            &error);
}

static void
note_in_transaction(KakehashiSession *session, KakehashiStatement *statement, KakehashiCall *call)
{
	call->in_transaction = true;
	session->wrote |= statement->kind != KH_QUERY;
	session->locked |= statement->may_lock;
}

/*
 * An engine without commands shows a statement all that its transaction has changed before. To one that belongs to a command that has changed something
 * already, or to one before that, it would show too much.
 */
static void
check_command(KakehashiSession *session, const KakehashiStatement *statement, const void *owner)
{
	KakehashiSession *leader = kakehashi_leader(session);
	CommandId command;

	if (owner == NULL || kakehashi_can(session, KH_CAN_COMMANDS))
		return;
	command = ((const SnapshotData *) owner)->curcid + 1;
	if (statement->kind != KH_QUERY)
		leader->changed_in = Max(leader->changed_in, command);
	else if (leader->changed_in >= command)
		kakehashi_require(session, KH_CAN_COMMANDS);
}

KakehashiCall *
kakehashi_execute_statement(KakehashiSession *session, KakehashiStatement *statement, const void *owner,
                            const void *parameters, uint32 parameters_bytes)
{
	KakehashiInbound *buffer = buffer_for(session, parameters_bytes);
	kh_execute_options options;
	KakehashiCall *call;

	/* Nothing on the way prepares a statement, which could evict this one. */
	kakehashi_xact_prepare(session, owner, &options);
	check_command(session, statement, owner);
	call = send(session, statement, &options, buffer, parameters, parameters_bytes);
	note_in_transaction(session, statement, call);
	return call;
}

KakehashiCall *
kakehashi_execute_held(KakehashiSession *session, KakehashiStatement *statement, uint32 command, bool commits,
                       uint32 timeout_millis, const void *parameters, uint32 parameters_bytes)
{
	KakehashiInbound *buffer = buffer_for(session, parameters_bytes);
	kh_execute_options options;
	KakehashiCall *call;

	/* The snapshot that the command had may be gone. */
	kakehashi_xact_prepare(session, NULL, &options);
	options.command = command;
	options.commit_after = commits;
	options.response = (kh_commit_response) kakehashi_commit_response;
	options.timeout_millis = timeout_millis;
	call = send(session, statement, &options, buffer, parameters, parameters_bytes);
	note_in_transaction(session, statement, call);
	return call;
}

KakehashiCall *
kakehashi_execute_inbound(KakehashiSession *session, KakehashiStatement *statement, const void *owner,
                          KakehashiInbound *buffer, uint32 bytes)
{
	kh_execute_options options;
	KakehashiCall *call;

	kakehashi_xact_prepare(session, owner, &options);
	check_command(session, statement, owner);
	call = send_inbound(session, statement, &options, buffer, bytes);
	note_in_transaction(session, statement, call);
	return call;
}

KakehashiCall *
kakehashi_execute_read(KakehashiSession *session, KakehashiStatement *statement, const void *parameters,
                       uint32 parameters_bytes)
{
	kh_execute_options options = {
		.action = KH_AUTO_COMMIT,
		.response = (kh_commit_response) kakehashi_commit_response,
		.lock_timeout_millis = (uint32_t) LockTimeout,
	};

	if (session->level > 0 && session->defined)
		return kakehashi_execute_statement(session, statement, NULL, parameters, parameters_bytes);
	kakehashi_call_make_room(session);
	kakehashi_of_one_statement(session, true, &options);
	return send(session, statement, &options, buffer_for(session, parameters_bytes), parameters, parameters_bytes);
}

KakehashiCall *
kakehashi_execute_apart(KakehashiSession *session, KakehashiStatement *statement, const void *parameters,
                        uint32 parameters_bytes)
{
	kh_execute_options options = {
		.action = KH_AUTO_COMMIT,
		.response = (kh_commit_response) kakehashi_commit_response,
		.lock_timeout_millis = (uint32_t) LockTimeout,
	};

	kakehashi_call_make_room(session);
	kakehashi_of_one_statement(session, false, &options);
	return send(session, statement, &options, buffer_for(session, parameters_bytes), parameters, parameters_bytes);
}

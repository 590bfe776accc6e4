/*
 * Whether the other end is there, and keeps to the protocol.
 */
#include "session_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* The endpoint locks the runtime directory as long as it lives, and its next incarnation makes another control file. */
static bool
lender_alive(const kh_session *session)
{
	char path[KH_DIRECTORY_BYTES + 16];
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	struct stat status;
	const kh_file *control = &session->borrowed->control;

	snprintf(path, sizeof(path), "%s/control", session->directory);
	return stat(path, &status) == 0 && status.st_dev == control->device && status.st_ino == control->inode &&
	       fcntl(session->lock, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool
kh_session_alive(kh_session *session)
{
	char byte;
	ssize_t n;

	if (session->broken)
		return false;
	if (session->borrowed != NULL)
	{
		session->broken = !lender_alive(session);
		return !session->broken;
	}
	n = recv(session->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	/* After Attached nothing is sent: anything but "nothing there" is the end. */
	if (n >= 0 || (errno != EAGAIN && errno != EINTR))
		session->broken = true;
	return !session->broken;
}

kh_wait
kh_session_lost(kh_error *error)
{
	kh_fail(error, KH_E_CONNECTION_FAILURE, "connection to the endpoint was lost");
	kh_set_detail(error, "The endpoint ended, or closed the session, while a request was outstanding.");
	return KH_WAIT_DISCONNECTED;
}

kh_wait
kh_session_violated(kh_session *session, kh_error *error, const char *what)
{
	/* The endpoint clears the memory of a session that it has ended: what is there means nothing then. */
	if (!session->broken && !kh_session_alive(session))
		return kh_session_lost(error);
	session->broken = true;
	kh_fail(error, KH_E_MALFORMED_MESSAGE, "the endpoint violated the protocol: %s", what);
	return KH_WAIT_DISCONNECTED;
}

/*
 * Attach: one frame each way over a Unix socket, two with a password, which then stays open as the sign of life.
 */
#include "platform.h"

#include "scram.h"
#include "session_internal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_NAME "endpoint.sock"
#define CLIENT_VERSION "1.0.0"

/* How soon a wish to give up is noticed. */
#define SLICE_MILLIS 20

/* A handshake in progress. */
typedef struct attachment
{
	const kh_attach_options *options;
	int fd;
	int memory; /* descriptor that came with an answer; -1: none */
	int64_t deadline;
	char path[4096];
	bool proves; /* there is a password, which has to be proved */
	kh_scram scram;
	kh_error *error;
} attachment;

/* Whether there is time left and nobody wants to give up; false with an error. */
static bool
go_on(attachment *a, int64_t *left_millis)
{
	*left_millis = (a->deadline - kh_now_nanos()) / 1000000;
	if (a->options->interrupted != NULL && a->options->interrupted())
		return kh_fail(a->error, KH_E_QUERY_CANCELED, "canceled while attaching to the endpoint at \"%s\"", a->path);
	if (*left_millis <= 0)
	{
		kh_fail(a->error, KH_E_CANNOT_CONNECT, "could not attach to the endpoint at \"%s\" within %d ms", a->path,
		        a->options->timeout_millis);
		kh_set_hint(a->error, "Check whether the endpoint is overloaded or stopped.");
		return false;
	}
	return true;
}

static bool
derivation_goes_on(void *context)
{
	int64_t left;

	return go_on((attachment *) context, &left);
}

/* Waits for events, or a slice of time when events is 0; false with an error at the deadline or when told to give up. */
static bool
wait_for(attachment *a, short events)
{
	int64_t left;

	while (go_on(a, &left))
	{
		struct pollfd poll_fd = {.fd = events != 0 ? a->fd : -1, .events = events};
		int n = poll(&poll_fd, 1, left < SLICE_MILLIS ? (int) left : SLICE_MILLIS);

		if (n > 0 || (n == 0 && events == 0))
			return true;
		if (n < 0 && errno != EINTR)
			return kh_fail_system(a->error, errno, KH_E_CANNOT_CONNECT, "could not wait for the endpoint at \"%s\"",
			                      a->path);
	}
	return false;
}

static bool
refused(attachment *a, int failure)
{
	kh_fail_system(a->error, failure, KH_E_CANNOT_CONNECT, "could not connect to the endpoint at \"%s\"", a->path);
	if (failure == EACCES || failure == EPERM)
		kh_set_hint(a->error, "The OS user of this process needs access to the runtime directory of the endpoint.");
	else
		kh_set_hint(a->error, "Is the endpoint running with this runtime directory?");
	return false;
}

static bool
connect_socket(attachment *a)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (strlen(a->path) >= sizeof(address.sun_path))
		return kh_fail(a->error, KH_E_CANNOT_CONNECT, "path of the endpoint's socket is longer than %zu bytes: \"%s\"",
		               sizeof(address.sun_path) - 1, a->path);
	memcpy(address.sun_path, a->path, strlen(a->path));
	a->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (a->fd < 0)
		return kh_fail_system(a->error, errno, KH_E_CANNOT_CONNECT, "could not create a socket");
	/* A Unix socket connects at once, or says EAGAIN while the backlog is full. */
	while (connect(a->fd, (const struct sockaddr *) &address, sizeof(address)) != 0)
	{
		if (errno == EISCONN)
			break;
		if (errno == EAGAIN)
		{
			if (!wait_for(a, 0))
				return false;
		}
		else if (errno != EINTR)
			return refused(a, errno);
	}
	return true;
}

static bool
ended(attachment *a)
{
	kh_fail(a->error, KH_E_CANNOT_CONNECT, "the endpoint at \"%s\" closed the connection during attach", a->path);
	kh_set_hint(a->error, "The endpoint's log says why.");
	return false;
}

static bool
send_all(attachment *a, const unsigned char *bytes, size_t n)
{
	while (n > 0)
	{
		ssize_t sent = send(a->fd, bytes, n, MSG_NOSIGNAL);

		if (sent > 0)
		{
			bytes += sent;
			n -= (size_t) sent;
		}
		else if (errno == EAGAIN)
		{
			if (!wait_for(a, POLLOUT))
				return false;
		}
		else if (errno != EINTR)
			return ended(a);
	}
	return true;
}

/* As recv, and takes a descriptor that comes with the bytes. */
static ssize_t
receive(attachment *a, unsigned char *bytes, size_t n)
{
	union
	{
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec vector = {.iov_base = bytes, .iov_len = n};
	struct msghdr message = {
		.msg_iov = &vector,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t received = recvmsg(a->fd, &message, MSG_CMSG_CLOEXEC);

	if (received < 0)
		return received;
	for (struct cmsghdr *each = CMSG_FIRSTHDR(&message); each != NULL; each = CMSG_NXTHDR(&message, each))
	{
		if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS || each->cmsg_len != CMSG_LEN(sizeof(int)))
			continue;
		if (a->memory >= 0)
			close(a->memory);
		memcpy(&a->memory, CMSG_DATA(each), sizeof(int));
	}
	return received;
}

static bool
receive_all(attachment *a, unsigned char *bytes, size_t n)
{
	while (n > 0)
	{
		ssize_t received = receive(a, bytes, n);

		if (received > 0)
		{
			bytes += received;
			n -= (size_t) received;
		}
		else if (received == 0)
			return ended(a);
		else if (errno == EAGAIN)
		{
			if (!wait_for(a, POLLIN))
				return false;
		}
		else if (errno != EINTR)
			return ended(a);
	}
	return true;
}

static kh_text
text_of(const char *text)
{
	return (kh_text){.data = text, .bytes = text != NULL ? (uint32_t) strlen(text) : 0};
}

/* Field 22 of /proc/self/stat; 0 if it cannot be read: it is for display. */
static uint64_t
start_ticks(void)
{
	char text[1024];
	char *at;
	FILE *file = fopen("/proc/self/stat", "re");
	size_t n;

	if (file == NULL)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	at = strrchr(text, ')');
	for (int field = 2; field < 22 && at != NULL; field++)
		at = strchr(at + 1, ' ');
	return at != NULL ? strtoull(at + 1, NULL, 10) : 0;
}

/* frame: 4 bytes for the length, then the message. */
static bool
send_frame(attachment *a, unsigned char *frame, uint32_t bytes)
{
	memcpy(frame, &bytes, sizeof(bytes));
	return send_all(a, frame, 4 + (size_t) bytes);
}

static bool
send_attach(attachment *a)
{
	unsigned char frame[4 + KH_SOCKET_FRAME_BYTES];
	char first[KH_SCRAM_MESSAGE_BYTES] = "";
	struct stat namespace = {.st_ino = 0};
	kh_attach_message message = {
		.layout_version = KH_LAYOUT_VERSION,
		.process_id = (uint32_t) getpid(),
		.process_start_ticks = start_ticks(),
		.client_kind = KH_CLIENT_KIND_POSTGRESQL_BACKEND,
		.damaged_queue = a->options->damaged_queue,
		.application_name = text_of(a->options->application_name),
		.user_name = text_of(a->options->user_name),
		.client_version = text_of(a->options->client_version != NULL ? a->options->client_version : CLIENT_VERSION),
	};
	uint32_t bytes;

	if (stat("/proc/self/ns/pid", &namespace) == 0)
		message.pid_namespace = namespace.st_ino;
	if (a->proves)
		kh_scram_first(&a->scram, first);
	message.authentication = text_of(first);
	bytes = (uint32_t) kh_attach_encode(&message, frame + 4, KH_SOCKET_FRAME_BYTES);
	if (bytes == 0)
		return kh_fail(a->error, KH_E_LIMIT_EXCEEDED, "application name and user name are longer than %d bytes",
		               KH_SOCKET_FRAME_BYTES);
	return send_frame(a, frame, bytes);
}

/* A frame of at most KH_SOCKET_FRAME_BYTES. */
static bool
receive_frame(attachment *a, unsigned char *frame, uint32_t *bytes)
{
	if (!receive_all(a, (unsigned char *) bytes, sizeof(*bytes)))
		return false;
	if (*bytes > KH_SOCKET_FRAME_BYTES)
		return kh_fail(a->error, KH_E_MALFORMED_MESSAGE, "answer of the endpoint at \"%s\" has %u bytes, more than %d",
		               a->path, *bytes, KH_SOCKET_FRAME_BYTES);
	return receive_all(a, frame, *bytes);
}

static bool
send_proof(attachment *a, kh_text challenge)
{
	unsigned char frame[4 + 2 * KH_SCRAM_MESSAGE_BYTES];
	char final[KH_SCRAM_MESSAGE_BYTES];
	kh_authentication_response_message response;

	if (!kh_scram_final(&a->scram, challenge.data, challenge.bytes, final, a->error))
		return false;
	response.message = text_of(final);
	return send_frame(a, frame, (uint32_t) kh_authentication_response_encode(&response, frame + 4, sizeof(frame) - 4));
}

/* Whoever did not ask for the proof, or cannot prove in return that he knows a verifier, is not the endpoint that is meant. */
static bool
check_proof(attachment *a, const unsigned char *frame, uint32_t bytes)
{
	kh_attached_message attached;

	if (kh_attached_decode(frame, bytes, &attached) &&
	    kh_scram_verify(&a->scram, attached.authentication.data, attached.authentication.bytes))
		return true;
	kh_fail(a->error, KH_E_AUTHENTICATION_FAILED,
	        "the endpoint at \"%s\" has not proved that it knows the password of user \"%s\"", a->path,
	        a->options->user_name != NULL ? a->options->user_name : "");
	kh_set_hint(a->error, "Another program may listen in the endpoint's place.");
	return false;
}

static bool
receive_attached(attachment *a, kh_published *published)
{
	unsigned char frame[KH_SOCKET_FRAME_BYTES];
	kh_authentication_challenge_message challenge;
	uint32_t bytes;

	if (!receive_frame(a, frame, &bytes))
		return false;
	if (a->proves && kh_authentication_challenge_decode(frame, bytes, &challenge) &&
	    (!send_proof(a, challenge.message) || !receive_frame(a, frame, &bytes)))
		return false;
	return kh_attach_response(frame, bytes, published, a->error) && (!a->proves || check_proof(a, frame, bytes));
}

/* With everything that is sent before an answer comes: the endpoint is known to be the right one's. */
static bool
shake_hands(attachment *a, kh_published *published)
{
	bool done;

	a->proves = a->options->password != NULL && *a->options->password != '\0';
	if (a->proves && !kh_scram_begin(&a->scram, a->options->user_name, a->options->password, NULL, a->error))
		return false;
	a->scram.go_on = derivation_goes_on;
	a->scram.context = a;
	done = send_attach(a) && receive_attached(a, published);
	explicit_bzero(&a->scram, sizeof(a->scram));
	return done;
}

int
kh_attach_socket(const kh_attach_options *options, const char *directory, uid_t peer, kh_published *published,
                 int *memory, kh_error *error)
{
	attachment a = {
		.options = options,
		.fd = -1,
		.memory = -1,
		.deadline = kh_deadline(kh_now_nanos(), (int64_t) options->timeout_millis * 1000000),
		.error = error,
	};

	if (snprintf(a.path, sizeof(a.path), "%s/%s", directory, SOCKET_NAME) >= (int) sizeof(a.path))
	{
		kh_fail(error, KH_E_CANNOT_CONNECT, "path of runtime directory is too long");
		return -1;
	}
	if (connect_socket(&a) && kh_check_peer(a.fd, a.path, peer, error) && shake_hands(&a, published))
	{
		*memory = a.memory;
		return a.fd;
	}
	if (a.memory >= 0)
		close(a.memory);
	if (a.fd >= 0)
		close(a.fd);
	return -1;
}

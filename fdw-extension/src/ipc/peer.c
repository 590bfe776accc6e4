/*
 * Whether an endpoint is the one that is meant: its OS user owns the runtime directory and listens there, and nobody else could
 * have put another in its place. Asked before anything is sent.
 */
#include "session_internal.h"

#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longest entry of the user database that is read. */
#define USER_BYTES 4096

/* The OS user that an endpoint has to run as; false with an error when there is none of that name. */
static bool
required_user(const char *name, uid_t *uid, kh_error *error)
{
	struct passwd entry;
	struct passwd *found = NULL;
	char memory[USER_BYTES];
	char *end;
	unsigned long number;

	if (name == NULL)
	{
		*uid = geteuid();
		return true;
	}
	if (getpwnam_r(name, &entry, memory, sizeof(memory), &found) == 0 && found != NULL)
	{
		*uid = found->pw_uid;
		return true;
	}
	errno = 0;
	number = strtoul(name, &end, 10);
	if (*name < '0' || *name > '9' || *end != '\0' || errno != 0 || number >= UINT32_MAX)
		return kh_fail(error, KH_E_CANNOT_CONNECT, "OS user \"%s\" does not exist", name);
	*uid = (uid_t) number;
	return true;
}

static void
name_of(uid_t uid, char *to, size_t capacity)
{
	struct passwd entry;
	struct passwd *found = NULL;
	char memory[USER_BYTES];

	if (getpwuid_r(uid, &entry, memory, sizeof(memory), &found) == 0 && found != NULL)
		snprintf(to, capacity, "%s", found->pw_name);
	else
		snprintf(to, capacity, "%u", (unsigned) uid);
}

static bool
distrusted(const char *what, const char *path, uid_t is, uid_t expected, kh_error *error)
{
	char of[256];
	char wanted[256];

	name_of(is, of, sizeof(of));
	name_of(expected, wanted, sizeof(wanted));
	kh_fail(error, KH_E_AUTHENTICATION_FAILED, "%s \"%s\" belongs to OS user \"%s\", not to \"%s\"", what, path, of,
	        wanted);
	kh_set_hint(error,
	            "If the endpoint is to run as that OS user, name it with the option \"requirepeer\" of the server.");
	return false;
}

/* A directory that leads to the runtime directory: who may write there could put another in its place. */
static bool
check_ancestor(const char *path, const struct stat *status, uid_t expected, kh_error *error)
{
	if (status->st_uid != 0 && status->st_uid != expected && status->st_uid != geteuid())
		return distrusted("directory", path, status->st_uid, expected, error);
	/* In a sticky directory everybody may make files, and nobody may touch those of others. */
	if ((status->st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status->st_mode & S_ISVTX) == 0)
		return kh_fail(error, KH_E_AUTHENTICATION_FAILED,
		               "directory \"%s\", which leads to the endpoint, may be changed by other OS users", path);
	return true;
}

static bool
check_directory(const char *path, const struct stat *status, uid_t expected, kh_error *error)
{
	if (status->st_uid != expected)
		return distrusted("runtime directory", path, status->st_uid, expected, error);
	if ((status->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return kh_fail(error, KH_E_AUTHENTICATION_FAILED, "runtime directory \"%s\" may be changed by other OS users",
		               path);
	return true;
}

char *
kh_trusted_directory(const char *directory, const char *required_peer, uid_t *peer, kh_error *error)
{
	char *path;
	bool trusted = true;

	if (!required_user(required_peer, peer, error))
		return NULL;
	/* Without links: what a link leads to could be another directory the next time. */
	path = realpath(directory, NULL);
	if (path == NULL)
	{
		int failure = errno;

		kh_fail_system(error, failure, KH_E_CANNOT_CONNECT, "could not connect to the endpoint at \"%s/endpoint.sock\"",
		               directory);
		kh_set_hint(error, failure == EACCES
		                       ? "The OS user of this process needs access to the runtime directory of the endpoint."
		                       : "Is the endpoint running with this runtime directory?");
		return NULL;
	}
	for (size_t n = 1; trusted; n++)
	{
		bool whole = path[n] == '\0';
		char prefix[PATH_MAX];
		struct stat status;

		if (!whole && path[n] != '/')
			continue;
		memcpy(prefix, path, n);
		prefix[n] = '\0';
		if (lstat(prefix, &status) != 0)
			trusted = kh_fail_system(error, errno, KH_E_CANNOT_CONNECT, "could not look at directory \"%s\"", prefix);
		else
			trusted =
				whole ? check_directory(prefix, &status, *peer, error) : check_ancestor(prefix, &status, *peer, error);
		if (whole)
			break;
	}
	if (trusted)
		return path;
	free(path);
	return NULL;
}

bool
kh_check_peer(int socket, const char *path, uid_t expected, kh_error *error)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	/* Of whoever listens: the kernel says it. */
	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0)
		return kh_fail_system(error, errno, KH_E_CANNOT_CONNECT, "could not find out who listens at \"%s\"", path);
	return peer.uid == expected || distrusted("endpoint at", path, peer.uid, expected, error);
}

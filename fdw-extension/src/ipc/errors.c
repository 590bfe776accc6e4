#include "platform.h"

#include "errors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *
kh_sqlstate(kh_error_code code)
{
	switch (code)
	{
#define KH_CASE(name, number, sqlstate, fault_class, retry)                                                            \
	case KH_E_##name:                                                                                                  \
		return sqlstate;
		KH_ERROR_CODES(KH_CASE)
#undef KH_CASE
	}
	return "XX000";
}

void
kh_copy_text(char *to, size_t capacity, const char *from, size_t bytes)
{
	const char *end = bytes > 0 ? memchr(from, '\0', bytes) : NULL;
	size_t n = end != NULL ? (size_t) (end - from) : bytes;

	if (n >= capacity)
	{
		n = capacity - 1;
		/* Bytes 10xxxxxx continue a character: do not keep its beginning alone. */
		while (n > 0 && ((unsigned char) from[n] & 0xC0) == 0x80)
			n--;
	}
	if (n > 0)
		memcpy(to, from, n);
	to[n] = '\0';
}

static void format_text(char *to, size_t capacity, const char *format, va_list arguments) KH_PRINTF(3, 0);

static void
format_text(char *to, size_t capacity, const char *format, va_list arguments)
{
	char text[4096];
	int n = vsnprintf(text, sizeof(text), format, arguments);

	if (n < 0)
		n = 0;
	kh_copy_text(to, capacity, text, (size_t) n < sizeof(text) ? (size_t) n : sizeof(text) - 1);
}

static void
begin_error(kh_error *error, kh_error_code code)
{
	memset(error, 0, sizeof(*error));
	memcpy(error->sqlstate, kh_sqlstate(code), sizeof(error->sqlstate));
	error->number = (uint32_t) code;
}

bool
kh_fail(kh_error *error, kh_error_code code, const char *format, ...)
{
	va_list arguments;

	if (error == NULL)
		return false;
	begin_error(error, code);
	va_start(arguments, format);
	format_text(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
	return false;
}

bool
kh_fail_system(kh_error *error, int error_number, kh_error_code fallback, const char *format, ...)
{
	va_list arguments;
	kh_error_code code = fallback;
	char reason[128];
	char text[sizeof(error->message) - sizeof(reason) - 2];

	if (error == NULL)
		return false;
	if (error_number == ENOSPC || error_number == EDQUOT)
		code = KH_E_DISK_FULL;
	else if (error_number == ENOMEM)
		code = KH_E_OUT_OF_MEMORY;
	else if (error_number == EMFILE || error_number == ENFILE)
		code = KH_E_OUT_OF_SLOTS;
	begin_error(error, code);
	va_start(arguments, format);
	format_text(text, sizeof(text), format, arguments);
	va_end(arguments);
	snprintf(error->message, sizeof(error->message), "%s: %s", text, strerror_r(error_number, reason, sizeof(reason)));
	if (code == KH_E_DISK_FULL)
		kh_set_hint(error, "Free memory in the file system of the endpoint's runtime directory, or enlarge it.");
	return false;
}

void
kh_set_detail(kh_error *error, const char *format, ...)
{
	va_list arguments;

	if (error == NULL)
		return;
	va_start(arguments, format);
	format_text(error->detail, sizeof(error->detail), format, arguments);
	va_end(arguments);
}

void
kh_set_hint(kh_error *error, const char *format, ...)
{
	va_list arguments;

	if (error == NULL)
		return;
	va_start(arguments, format);
	format_text(error->hint, sizeof(error->hint), format, arguments);
	va_end(arguments);
}

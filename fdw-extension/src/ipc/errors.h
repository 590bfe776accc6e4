/*
 * Filling a kh_error. A null error is allowed everywhere: the caller does not want to know.
 */
#ifndef KAKEHASHI_ERRORS_H
#define KAKEHASHI_ERRORS_H

#include "kakehashi/error_codes.h"
#include "kakehashi/ipc.h"

#define KH_PRINTF(string, first) __attribute__((format(printf, string, first)))

/* Sets code and message, and clears the rest. Returns false, to be returned. */
extern bool kh_fail(kh_error *error, kh_error_code code, const char *format, ...) KH_PRINTF(3, 4);

/*
 * The same for a failed system call: the message gets the reason, the code follows error_number (a full file system is
 * 53100, no memory 53200, no descriptors 53000) or is fallback.
 */
extern bool kh_fail_system(kh_error *error, int error_number, kh_error_code fallback, const char *format, ...)
	KH_PRINTF(4, 5);

extern void kh_set_detail(kh_error *error, const char *format, ...) KH_PRINTF(2, 3);
extern void kh_set_hint(kh_error *error, const char *format, ...) KH_PRINTF(2, 3);

/* Copies UTF-8 text: ends at capacity - 1 on a character boundary, or at the first NUL. */
extern void kh_copy_text(char *to, size_t capacity, const char *from, size_t bytes);

#endif /* KAKEHASHI_ERRORS_H */

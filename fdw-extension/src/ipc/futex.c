#include "platform.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

int
kh_futex_wait(uint32_t *word, uint32_t expected, int64_t timeout_nanos)
{
	struct timespec timeout = {.tv_sec = timeout_nanos / 1000000000, .tv_nsec = timeout_nanos % 1000000000};

	return syscall(SYS_futex, word, FUTEX_WAIT, expected, &timeout, NULL, 0) == 0 ? 0 : errno;
}

void
kh_futex_wake(uint32_t *word)
{
	(void) syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

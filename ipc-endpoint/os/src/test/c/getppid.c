/* Preloaded by LibCTest: stands in for a function of the C library. */
#include <sys/types.h>
#include <unistd.h>

pid_t
getppid(void)
{
	return 4711;
}

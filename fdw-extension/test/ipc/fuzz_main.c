/*
 * What libFuzzer calls: the target that KAKEHASHI_TARGET names, over one input after another. Takes the place of test.c.
 */
#include "platform.h"

#include "target.h"
#include "test.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

extern int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n);

static char directory[64];

void
test_fail(const char *file, int line, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s:%d: ", file, line);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	abort();
}

static void
remove_files(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	if (directory[0] != '\0' && system(command) != 0)
		perror(directory);
	directory[0] = '\0';
}

/* A fresh one for each input. */
const char *
test_directory(void)
{
	if (directory[0] == '\0')
	{
		snprintf(directory, sizeof(directory), "/dev/shm/kakehashi-fuzz-XXXXXX");
		if (mkdtemp(directory) == NULL)
		{
			perror(directory);
			exit(2);
		}
	}
	return directory;
}

int
LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n)
{
	static const fuzz_target *target;
	unsigned char *exact;

	if (target == NULL)
	{
		const char *name = getenv("KAKEHASHI_TARGET");

		target = name == NULL ? NULL : fuzz_target_named(name);
		if (target == NULL)
		{
			fprintf(stderr, "KAKEHASHI_TARGET names no target\n");
			exit(2);
		}
	}
	exact = malloc(n > 0 ? n : 1);
	if (exact == NULL)
		abort();
	memcpy(exact, bytes, n);
	(void) target->run(exact, n);
	free(exact);
	remove_files();
	return 0;
}

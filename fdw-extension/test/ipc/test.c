#include "test.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

static jmp_buf leave;
static char directory[256];
static char reason[512];
static bool skipped;
static pid_t main_process;

void
test_fail(const char *file, int line, const char *format, ...)
{
	va_list arguments;
	int n = snprintf(reason, sizeof(reason), "%s:%d: ", file, line);

	va_start(arguments, format);
	vsnprintf(reason + n, sizeof(reason) - (size_t) n, format, arguments);
	va_end(arguments);
	if (getpid() != main_process)
	{
		/* A forked child has no business in the parent's list of tests. */
		printf("# %s\n", reason);
		fflush(stdout);
		_exit(1);
	}
	longjmp(leave, 1);
}

void
test_skip(const char *why)
{
	skipped = true;
	snprintf(reason, sizeof(reason), "%s", why);
	longjmp(leave, 2);
}

const char *
test_directory(void)
{
	if (directory[0] == '\0')
	{
		snprintf(directory, sizeof(directory), "%s/kakehashi-test-XXXXXX",
		         access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
		if (mkdtemp(directory) == NULL)
		{
			perror(directory);
			exit(2);
		}
	}
	return directory;
}

static int
remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void) status;
	(void) type;
	(void) walk;
	return remove(path);
}

static void
remove_directory(void)
{
	if (directory[0] != '\0')
		nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	directory[0] = '\0';
}

uint64_t
test_seed(void)
{
	const char *given = getenv("KAKEHASHI_TEST_SEED");
	uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : (uint64_t) kh_now_nanos();

	printf("# seed %llu\n", (unsigned long long) seed);
	return seed;
}

/* SplitMix64. */
uint64_t
test_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

static bool
run_case(const test_case *test)
{
	skipped = false;
	switch (setjmp(leave))
	{
		case 0:
			test->run();
			printf("ok %s\n", test->name);
			break;
		case 1:
			printf("not ok %s: %s", test->name, reason);
			printf(directory[0] != '\0' ? " (files kept in %s)\n" : "\n", directory);
			directory[0] = '\0';
			return false;
		default:
			printf("ok %s # skipped: %s\n", test->name, reason);
			break;
	}
	remove_directory();
	return true;
}

int
main(int argc, char **argv)
{
	static const struct
	{
		const char *name;
		const test_case *cases;
	} suites[] = {{"batch", batch_tests}, {"codec", codec_tests},     {"peer", peer_tests},
	              {"queue", queue_tests}, {"repair", repair_tests},   {"lock", lock_tests},
	              {"space", space_tests}, {"session", session_tests}, {"scram", scram_tests},
	              {"share", share_tests}, {"token", token_tests},     {"memory", memory_tests},
	              {"crash", crash_tests}, {"direct", direct_tests},   {"range", direct_range_tests},
	              {"fuzz", fuzz_tests},   {"corpus", corpus_tests}};
	int passed = 0;
	int failed = 0;

	main_process = getpid();
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
	{
		if (argc > 1 && strcmp(argv[1], suites[i].name) != 0)
			continue;
		for (const test_case *test = suites[i].cases; test->name != NULL; test++)
		{
			if (argc > 2 && strcmp(argv[2], test->name) != 0)
				continue;
			if (run_case(test))
				passed++;
			else
				failed++;
		}
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed == 0 && passed > 0 ? 0 : 1;
}

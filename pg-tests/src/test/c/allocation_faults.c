/*
 * Loaded into a backend by FailedAllocationTest: makes one allocation fail, once, while a function of the extension is on the stack.
 *
 * allocation_faults(file) maps the file, which the test has mapped, too. The test writes it while the backend waits for a statement, and
 * reads it when the statement has ended:
 *
 *   fail_at   the allocation that fails, counted from 1; 0: none does, and none is counted
 *   counted   allocations so far
 *   failed    1 when one has failed
 *
 * An allocation is a palloc of a usual context, whose method is replaced. Or it is a call of the functions below by the extension or by the
 * server, whose tables of addresses are changed. The server's own calls without the extension above them are the server's matter.
 */
#define _GNU_SOURCE
#include "postgres.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fmgr.h"
#include "nodes/memnodes.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_MODULE_MAGIC;

extern void *__libc_stack_end;

typedef struct Control
{
	volatile uint64_t fail_at;
	volatile uint64_t counted;
	volatile uint64_t failed;
} Control;

/* A method of a context. Which arguments it has depends on the version, and all of them are words. */
typedef void *(*Method)(uintptr_t, uintptr_t, uintptr_t);

/* PostgreSQL 17 and later: reports what an allocation that cannot fail has met. */
typedef void *(*Failure)(MemoryContext, Size, int);

static Control *control;
static uintptr_t text_begin;
static uintptr_t text_end;
static Method real_alloc;
static Method real_realloc;
static Failure report_failure;

/*
 * Whether an address in the extension's code is on the stack. One that an earlier call has left there counts, too. Then an allocation of the
 * server fails that another run would not meet, which has to be borne as well.
 */
static bool
is_below_extension(void)
{
	const uintptr_t *end = (const uintptr_t *) __libc_stack_end;

	for (const uintptr_t *at = (const uintptr_t *) __builtin_frame_address(0); at < end; at++)
	{
		if (*at >= text_begin && *at < text_end)
			return true;
	}
	return false;
}

static bool
fails_now(void)
{
	if (control == NULL || control->fail_at == 0 || !is_below_extension())
		return false;
	control->counted++;
	if (control->counted != control->fail_at)
		return false;
	control->failed = 1;
	return true;
}

static void *
failing_alloc(uintptr_t context, uintptr_t bytes, uintptr_t flags)
{
	if (!fails_now())
		return real_alloc(context, bytes, flags);
	return report_failure == NULL ? NULL : report_failure((MemoryContext) context, (Size) bytes, (int) flags);
}

/* Up to 15 the context comes first. */
static void *
failing_realloc(uintptr_t first, uintptr_t second, uintptr_t third)
{
	if (!fails_now())
		return real_realloc(first, second, third);
	return report_failure == NULL ? NULL
	                              : report_failure(GetMemoryChunkContext((void *) first), (Size) second, (int) third);
}

static void *
failing_malloc(size_t bytes)
{
	return fails_now() ? (errno = ENOMEM, NULL) : malloc(bytes);
}

static void *
failing_calloc(size_t count, size_t bytes)
{
	return fails_now() ? (errno = ENOMEM, NULL) : calloc(count, bytes);
}

static void *
failing_raw_realloc(void *memory, size_t bytes)
{
	return fails_now() ? (errno = ENOMEM, NULL) : realloc(memory, bytes);
}

static char *
failing_strdup(const char *text)
{
	return fails_now() ? (errno = ENOMEM, NULL) : strdup(text);
}

static void *
failing_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return fails_now() ? (errno = ENOMEM, MAP_FAILED) : mmap(address, bytes, protection, flags, fd, offset);
}

static int
failing_fallocate(int fd, int mode, off_t offset, off_t bytes)
{
	return fails_now() ? (errno = ENOSPC, -1) : fallocate(fd, mode, offset, bytes);
}

static const struct
{
	const char *name;
	void *function;
	bool of_server; /* also where the server calls it */
} replaced[] = {
	{"malloc", (void *) failing_malloc, true},        {"realloc", (void *) failing_raw_realloc, true},
	{"calloc", (void *) failing_calloc, false},       {"strdup", (void *) failing_strdup, false},
	{"mmap", (void *) failing_mmap, false},           {"mmap64", (void *) failing_mmap, false},
	{"fallocate", (void *) failing_fallocate, false}, {"fallocate64", (void *) failing_fallocate, false},
};

static void
write_word(void *at, const void *word)
{
	uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);
	uintptr_t first = (uintptr_t) at / page * page;

	if (mprotect((void *) first, (uintptr_t) at + sizeof(void *) - first, PROT_READ | PROT_WRITE) != 0)
		elog(ERROR, "could not make a table of addresses writable: %m");
	memcpy(at, word, sizeof(void *));
}

static void
replace_in(uintptr_t base, const ElfW(Rela) * entries, size_t bytes, const ElfW(Sym) * symbols, const char *names,
           bool server)
{
	for (size_t i = 0; i < bytes / sizeof(*entries); i++)
	{
		const char *name = names + symbols[ELF64_R_SYM(entries[i].r_info)].st_name;

		for (size_t k = 0; k < lengthof(replaced); k++)
		{
			if (strcmp(name, replaced[k].name) == 0 && (!server || replaced[k].of_server))
				write_word((void *) (base + entries[i].r_offset), &replaced[k].function);
		}
	}
}

/* The tables of an object that is loaded already: what its code calls by them. */
static void
replace_calls(const struct dl_phdr_info *object, bool server)
{
	const ElfW(Dyn) *dynamic = NULL;
	const ElfW(Rela) *calls = NULL;
	const ElfW(Rela) *others = NULL;
	const ElfW(Sym) *symbols = NULL;
	const char *names = NULL;
	size_t calls_bytes = 0;
	size_t others_bytes = 0;

	for (int i = 0; i < object->dlpi_phnum; i++)
	{
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *) (object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
	}
	for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++)
	{
		if (dynamic->d_tag == DT_JMPREL)
			calls = (const ElfW(Rela) *) dynamic->d_un.d_ptr;
		else if (dynamic->d_tag == DT_PLTRELSZ)
			calls_bytes = dynamic->d_un.d_val;
		else if (dynamic->d_tag == DT_RELA)
			others = (const ElfW(Rela) *) dynamic->d_un.d_ptr;
		else if (dynamic->d_tag == DT_RELASZ)
			others_bytes = dynamic->d_un.d_val;
		else if (dynamic->d_tag == DT_SYMTAB)
			symbols = (const ElfW(Sym) *) dynamic->d_un.d_ptr;
		else if (dynamic->d_tag == DT_STRTAB)
			names = (const char *) dynamic->d_un.d_ptr;
	}
	if (calls != NULL)
		replace_in(object->dlpi_addr, calls, calls_bytes, symbols, names, server);
	if (others != NULL)
		replace_in(object->dlpi_addr, others, others_bytes, symbols, names, server);
}

static int
take_object(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	bool *is_first = (bool *) arg;
	bool server = *is_first;

	*is_first = false;
	if (server)
		replace_calls(object, true);
	else if (strstr(object->dlpi_name, "/kakehashi_fdw.so") != NULL)
	{
		for (int i = 0; i < object->dlpi_phnum; i++)
		{
			if (object->dlpi_phdr[i].p_type == PT_LOAD && (object->dlpi_phdr[i].p_flags & PF_X) != 0)
			{
				text_begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
				text_end = text_begin + object->dlpi_phdr[i].p_memsz;
			}
		}
		replace_calls(object, false);
	}
	return 0;
}

PG_FUNCTION_INFO_V1(allocation_faults);

Datum
allocation_faults(PG_FUNCTION_ARGS)
{
	MemoryContextMethods *methods = (MemoryContextMethods *) TopMemoryContext->methods;
	int fd = open(text_to_cstring(PG_GETARG_TEXT_PP(0)), O_RDWR | O_CLOEXEC);
	Method alloc = failing_alloc;
	Method resize = failing_realloc;
	bool is_first = true;
	void *map;

	if (control != NULL)
		elog(ERROR, "allocations of this process are counted already");
	map = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		elog(ERROR, "could not map the file: %m");
	close(fd);
	report_failure = (Failure) dlsym(RTLD_DEFAULT, "MemoryContextAllocationFailure");
	dl_iterate_phdr(take_object, &is_first);
	if (text_begin == 0)
		elog(ERROR, "the extension is not loaded");
	memcpy(&real_alloc, &methods->alloc, sizeof(Method));
	memcpy(&real_realloc, &methods->realloc, sizeof(Method));
	write_word(&methods->alloc, &alloc);
	write_word(&methods->realloc, &resize);
	control = (Control *) map;
	PG_RETURN_VOID();
}

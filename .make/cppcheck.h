/* What cppcheck must know of PostgreSQL's headers, which it does not read: an error does not return. */
#define DEBUG1 14
#define LOG 15
#define NOTICE 18
#define WARNING 19
#define ERROR 21
#define FATAL 22
#define PANIC 23
#define ereport(level, ...) do { if ((level) >= ERROR) abort(); } while (0)
#define elog(level, ...) do { if ((level) >= ERROR) abort(); } while (0)
#define lengthof(array) (sizeof(array) / sizeof((array)[0]))
#define pg_attribute_noreturn() __attribute__((noreturn))
#define Assert(condition) do { if (!(condition)) abort(); } while (0)
#define foreach(cell, list) for (cell = list_head(list); cell != NULL; cell = lnext(list, cell))

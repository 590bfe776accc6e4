/*
 * What the library does by itself when it is loaded.
 */
#ifndef KAKEHASHI_MODULE_H
#define KAKEHASHI_MODULE_H

#include "fdw/base/base.h"

/* ---- hints.c ---- */

/* Errors of PostgreSQL about what the engine can do get a hint from now on. */
extern void kakehashi_hints_init(void);

/* ---- copy_hook.c ---- */

/* COPY between foreign tables and files of formats that PostgreSQL does not have goes to the engine from now on. */
extern void kakehashi_copy_hook_init(void);

#endif /* KAKEHASHI_MODULE_H */

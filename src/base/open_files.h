/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many files the process may have open: getrlimit(2), RLIMIT_NOFILE. Every stream that is read
 * has one open, on each thread; the usual limit of 1024 is for programs that use select(2).
 */
#ifndef BLK_BASE_OPEN_FILES_H
#define BLK_BASE_OPEN_FILES_H

#include <stddef.h>

/* Raises it as far as the process may. Once, before threads. */
void open_files_raise(void);
/* As it was before open_files_raise(), for a program that is about to be executed; after fork(2). */
void open_files_restore(void);
/* The limit now; 1024 where nobody knows. Any thread. */
size_t open_files_limit(void);

#endif

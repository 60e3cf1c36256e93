/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many files the process may have open: getrlimit(2), RLIMIT_NOFILE. Every stream that is read
 * has one open, on each thread; the usual limit of 1024 is for programs that use select(2).
 */
#ifndef BLK_BASE_LIMITS_H
#define BLK_BASE_LIMITS_H

#include <stddef.h>

/* Raises it as far as the process may. Once, before threads. */
void limits_raise_files(void);
/* As it was before limits_raise_files(), for a program that is about to be executed; after fork(2). */
void limits_restore_files(void);
/* The limit now; 1024 where nobody knows. Any thread. */
size_t limits_files(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The limit of open files of this process: getrlimit(2), RLIMIT_NOFILE. Each thread has one open file for each stream
 * that it reads. The usual limit of 1024 is for programs that use select(2).
 */
#ifndef BLK_BASE_OPEN_FILES_H
#define BLK_BASE_OPEN_FILES_H

#include <stddef.h>

/* Makes sure that no file gets the number of stdin, stdout or stderr if the caller closed these: reading them finds the
 * end, writing them fails (EBADF). Call first. */
void open_files_reserve_standard(void);
/* Raises the limit as far as allowed. Call once, before threads. */
void open_files_raise(void);
/* Restores the limit from before open_files_raise(), for a program that is executed. Call after fork(2). */
void open_files_restore(void);
/* The current limit; 1024 if it is unknown. Any thread. */
size_t open_files_limit(void);

#endif

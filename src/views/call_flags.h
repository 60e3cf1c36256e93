/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of the flags and operations among the arguments of system calls, as in the kernel's headers: O_CREAT,
 * FUTEX_WAIT_PRIVATE, PROT_READ. Some bits mean something else on another machine; those have no name unless the
 * machine is known.
 */
#ifndef BLK_VIEWS_CALL_FLAGS_H
#define BLK_VIEWS_CALL_FLAGS_H

#include "base/machine.h"

/* "O_WRONLY|O_CREAT|0x40" for the argument `field` of the call; bits without a name are in base 16. A file's mode is in
 * base 8: "0644". NULL: the argument is no such thing, or no bit has a name. Free with g_free(). Any thread. */
char *call_flags_text(enum machine m, const char *call, const char *field, uint64_t value);

#endif

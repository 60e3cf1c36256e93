/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Offsets of members of the kernel's structs, from its type information (/sys/kernel/btf/vmlinux). Source:
 * Documentation/bpf/btf.rst (Linux 4.18 to 7.2).
 *
 * The bytes are hostile input: no length or number in them is trusted, and the work on them has a bound.
 */
#ifndef BLK_LIVE_TRACEFS_BTF_H
#define BLK_LIVE_TRACEFS_BTF_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define BTF_PATH "/sys/kernel/btf/vmlinux"

struct btf;
/* The bytes are borrowed until btf_free(). NULL: *error says what is wrong with them. */
struct btf *btf_new(const uint8_t *bytes, size_t n, GError **error);
/* This kernel's, which any user may read. NULL: it has none. *ret_bytes (g_free after btf_free()): what it lies in. */
struct btf *btf_of_kernel(char **ret_bytes);
void btf_free(struct btf *b);			/* NULL is fine */
typedef struct btf btf;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(btf, btf_free)

/* Bytes from the beginning of `struct NAME` to its member, which may be in structs and unions without names. False:
 * there is none, or it does not begin with a byte. */
bool btf_offset(const struct btf *b, const char *name, const char *member, uint32_t *ret);

#endif

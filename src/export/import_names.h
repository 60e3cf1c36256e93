/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings, hosts, threads, processes and files of publications that are made from files:
 * found again by what they are. Private to src/export/.
 */
#ifndef BLK_EXPORT_IMPORT_NAMES_H
#define BLK_EXPORT_IMPORT_NAMES_H

#include "state/store/publication.h"

struct import_names {
	struct publication *pub;	/* where new ones go; the caller's, who sets it */
	GHashTable *strings, *hosts, *threads, *processes, *files;	/* -> id + 1 */
	GHashTable *placed;		/* threads whose process is known; private */
};

void import_names_init(struct import_names *n);
void import_names_clear(struct import_names *n);

uint32_t import_string(struct import_names *n, const char *text);
uint32_t import_host(struct import_names *n, const char *name);	/* NULL or "": ID_NONE */
/* "comm/123" of a host, as thread_label_new() writes it; ID_NONE: it is no such label.
 * pid -1: not known; a thread of a known process is found without, too. */
uint32_t import_thread(struct import_names *n, uint32_t host, const char *label, int32_t pid,
		       int32_t *ret_tid);
/* kind: as file_kind_name[]; NULL: unknown. path NULL: ID_NONE. */
uint32_t import_file(struct import_names *n, uint32_t host, const char *path, const char *kind);

#endif

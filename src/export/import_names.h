/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ids of strings, hosts, threads, processes and files for publications that are made from files. The same name
 * always has the same id. Private to src/export/.
 */
#ifndef BLK_EXPORT_IMPORT_NAMES_H
#define BLK_EXPORT_IMPORT_NAMES_H

#include "state/store/publication.h"

struct import_names {
	struct publication *pub;	/* where new entries are published; owned and set by the caller */
	GHashTable *strings, *hosts, *threads, *processes, *files;	/* -> id + 1 */
	GPtrArray *host_names;		/* by host id, as passed to import_host() */
	GHashTable *placed;		/* private: threads with a known process */
};

void import_names_init(struct import_names *n);
void import_names_clear(struct import_names *n);

uint32_t import_string(struct import_names *n, const char *text);
uint32_t import_host(struct import_names *n, const char *name);	/* NULL or "": ID_NONE */
/* Parses "comm/123", as written by thread_label_new(). ID_NONE: the text is no such label. pid -1: unknown; a thread
 * of a known process is also found without its pid. */
uint32_t import_thread(struct import_names *n, uint32_t host, const char *label, int32_t pid,
		       int32_t *ret_tid);
/* kind: one of file_kind_name[]; NULL: unknown. path NULL: ID_NONE. */
uint32_t import_file(struct import_names *n, uint32_t host, const char *path, const char *kind);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several files in one input: what a fuzz target of whole traces reads. A file is a byte with the
 * length of its path, the path, 32 bits (little endian) with the length of its bytes, and these.
 */
#ifndef BLK_TEST_BUNDLE_H
#define BLK_TEST_BUNDLE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct bundle_file {
	char *path;			/* below the bundle's directory, '/' between names */
	GByteArray *bytes;
};

struct bundle {
	GPtrArray *files;		/* struct bundle_file *, in any order */
};

struct bundle *bundle_new(void);
void bundle_free(struct bundle *b);	/* NULL is fine */
typedef struct bundle blk_bundle;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_bundle, bundle_free)

/* Any bytes: reads as many files as are whole; the last one may be cut off. Paths that would leave
 * the directory, or that are there already, are left out. */
struct bundle *bundle_parse(const uint8_t *data, size_t size);
GByteArray *bundle_serialise(const struct bundle *b);

/* All regular files below the directory; asserts that they can be read. */
struct bundle *bundle_load(const char *dir);
/* Makes the files below the directory, which is there. A file in the way of another one's
 * directories wins: the other is left out. */
void bundle_save(const struct bundle *b, const char *dir);

/* NULL: there is none. */
struct bundle_file *bundle_find(const struct bundle *b, const char *path);
/* Adds the file; NULL, and nothing added: the path is no good, or is there already. The bytes are
 * copied. */
struct bundle_file *bundle_add(struct bundle *b, const char *path, const void *bytes, size_t n);
void bundle_remove(struct bundle *b, struct bundle_file *f);

#endif

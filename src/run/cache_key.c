/* SPDX-License-Identifier: GPL-2.0-only */
/* Keys of the cache: see cache_key.h. */
#include "run/cache_key.h"

#include "state/slice/slice_file.h"
#include "trace/reader.h"

#include "base/files.h"
#include "base/timefmt.h"

#include <string.h>
#include <sys/stat.h>

#define QUIET_NS (10 * NS_PER_S)	/* a file that was written so shortly ago may still be written */
#define PROGRAM "/proc/self/exe"

struct digests {
	GChecksum *which, *state;
	uint64_t bytes;
	int64_t newest_ns;		/* time of the newest file */
};

static void add_text(GChecksum *sum, const char *text)
{
	g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text) + 1);
}

static int64_t ns_of(struct timespec t)
{
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void add_file(struct digests *d, const char *name, const struct stat *st)
{
	g_autofree char *text = g_strdup_printf("%ju %jd %" G_GINT64_FORMAT " %" G_GINT64_FORMAT, (uintmax_t)st->st_ino,
						(intmax_t)st->st_size, ns_of(st->st_mtim), ns_of(st->st_ctim));
	add_text(d->state, name);
	add_text(d->state, text);
}

/* The files of a directory, and of its directory of index files. */
static void add_dir(struct digests *d, const char *path, int depth)
{
	g_autoptr(GPtrArray) names = files_list(path, SIZE_MAX);

	for (guint i = 0; names && i < names->len; i++) {
		const char *name = g_ptr_array_index(names, i);
		g_autofree char *child = g_build_filename(path, name, NULL);
		struct stat st;
		if (!files_stat(child, &st))
			continue;
		if (S_ISDIR(st.st_mode) && depth == 0 && g_str_equal(name, "index"))
			add_dir(d, child, depth + 1);
		if (!S_ISREG(st.st_mode))
			continue;
		add_file(d, name, &st);
		d->bytes += (uint64_t)st.st_size;
		d->newest_ns = MAX(d->newest_ns, ns_of(st.st_mtim));
	}
}

static void add_program(struct digests *d)
{
	struct stat st;

	add_text(d->state, "blktop " BLKTOP_VERSION " slices " G_STRINGIFY(SLICE_FILE_VERSION));
	if (stat(PROGRAM, &st) == 0)		/* two builds can have the same version */
		add_file(d, PROGRAM, &st);
}

bool cache_key_of(struct cache_key *ret, const char *const *paths, const char *model, int64_t since_ns)
{
	g_autoptr(GPtrArray) dirs = trace_find_dirs(paths, NULL, NULL);
	g_autoptr(GChecksum) which = g_checksum_new(G_CHECKSUM_SHA256), state = g_checksum_new(G_CHECKSUM_SHA256);
	struct digests d = { .which = which, .state = state, .newest_ns = INT64_MIN };
	gsize len = KEY_BYTES;

	*ret = (struct cache_key){ 0 };
	add_text(which, model);
	for (guint i = 0; dirs && i < dirs->len; i++) {
		g_autofree char *absolute = g_canonicalize_filename(g_ptr_array_index(dirs, i), NULL);
		add_text(which, absolute);
		add_text(state, absolute);
		add_dir(&d, absolute, 0);
	}
	if (!d.bytes || d.newest_ns > since_ns - QUIET_NS)
		return false;
	add_program(&d);
	add_text(state, model);
	g_strlcpy(ret->name, g_checksum_get_string(which), sizeof ret->name);
	g_checksum_get_digest(state, ret->digest, &len);
	ret->bytes = d.bytes;
	return true;
}

struct cache_key cache_key_variant(const struct cache_key *key, const struct cache_variant *v)
{
	g_autofree char *options = g_strdup_printf("cells %x%s memory %zu", v->cells,
						   v->without_spans ? " without spans" : "", v->memory);
	g_autoptr(GChecksum) which = g_checksum_new(G_CHECKSUM_SHA256), state = g_checksum_new(G_CHECKSUM_SHA256);
	struct cache_key variant = { .bytes = key->bytes };
	gsize len = KEY_BYTES;

	add_text(which, key->name);
	add_text(which, options);
	g_checksum_update(state, key->digest, KEY_BYTES);
	add_text(state, options);
	g_strlcpy(variant.name, g_checksum_get_string(which), sizeof variant.name);
	g_checksum_get_digest(state, variant.digest, &len);
	return variant;
}

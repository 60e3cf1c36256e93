/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that descriptors refer to: each host, kind and path has one number. */
#include "state/names/names_private.h"

static guint file_hash(gconstpointer p)
{
	const struct file_info *f = p;
	return f->host * 31u + f->kind * 7u + f->path * 2654435761u;
}

static gboolean file_equal(gconstpointer a, gconstpointer b)
{
	const struct file_info *x = a, *y = b;
	return x->host == y->host && x->kind == y->kind && x->path == y->path;
}

GHashTable *names_file_ids_new(void)
{
	return g_hash_table_new_full(file_hash, file_equal, g_free, NULL);
}

uint32_t names_file_id(struct names *n, uint32_t host, enum file_kind kind, uint32_t path)
{
	struct file_info f = { .host = host, .kind = kind, .path = path };
	gpointer have = g_hash_table_lookup(n->file_ids, &f);
	if (have)
		return GPOINTER_TO_UINT(have) - 1;
	g_array_append_val(n->files, f);
	struct file_info *key = g_new(struct file_info, 1);
	*key = f;
	g_hash_table_insert(n->file_ids, key, GUINT_TO_POINTER(n->files->len));
	return n->files->len - 1;
}

enum file_kind names_kind_of_path(const char *path, enum file_kind otherwise)
{
	static const struct { const char *prefix; enum file_kind kind; } kinds[] = {
		{ "socket:", FILE_SOCKET }, { "pipe:", FILE_PIPE }, { "anon_inode:", FILE_EVENT },
		{ "/dev/tty", FILE_TTY }, { "/dev/pts/", FILE_TTY }, { "/dev/console", FILE_TTY },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (*path == *kinds[i].prefix && g_str_has_prefix(path, kinds[i].prefix))
			return kinds[i].kind;
	return *path ? otherwise : FILE_UNKNOWN;
}

enum part names_part_of(enum file_kind kind)
{
	static const uint8_t part[FILE_KIND_N] = {
		[FILE_UNKNOWN] = PART_OTHER, [FILE_REGULAR] = PART_DISK, [FILE_SOCKET] = PART_SOCKET,
		[FILE_PIPE] = PART_PIPE, [FILE_EVENT] = PART_OTHER, [FILE_TTY] = PART_OTHER,
		[FILE_OTHER] = PART_OTHER,
	};
	return part[kind];
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* The limits of files of trace-cmd, of formats of events, and of the kernel's type information. */
#include "base/limits.h"
#include "lib/btf_make.h"
#include "lib/limit_test.h"
#include "live/tracefs/btf.h"
#include "trace/ring/ring_format.h"
#include "trace/ring/trace_dat.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool fields(uint64_t n)
{
	g_autoptr(GString) text = g_string_new("name: x\nID: 5\nformat:\n");
	g_autoptr(GError) error = NULL;
	for (uint64_t i = 0; i < n; i++)
		g_string_append_printf(text, "\tfield:int f%u;\toffset:8;\tsize:4;\tsigned:1;\n", (unsigned)i);
	g_autoptr(ring_format) f = ring_format_parse("x", text->str, text->len, 8, &error);
	g_assert_true(!f || f->fields->n == n);
	return limit_taken(error, "cannot read the field");
}

static bool name_bytes(uint64_t n)
{
	g_autofree char *name = g_strnfill(n, 'x'), *text = g_strdup_printf("name: %s\nID: 5\nformat:\n", name);
	g_autoptr(GError) error = NULL;
	g_autoptr(ring_format) f = ring_format_parse("x", text, strlen(text), 8, &error);
	g_assert_true(!f || strlen(f->name) == n);
	return limit_taken(error, "no usable name");
}

/* ---- files ---- */

static void add(GByteArray *b, uint64_t value, unsigned size)
{
	value = GUINT64_TO_LE(value);
	g_byte_array_append(b, (const guint8 *)&value, size);
}

static void add_text(GByteArray *b, const char *text, unsigned size)
{
	g_byte_array_append(b, (const guint8 *)text, size);
}

/* Version 6 up to the names of threads, of which there are n bytes. */
static GByteArray *begin_file(uint64_t page_size, uint64_t n)
{
	static const char page[] =
		"field: local_t commit;\toffset:8;\tsize:8;\nfield: char data;\toffset:16;\tsize:4080;\n";
	GByteArray *b = g_byte_array_new();
	add_text(b, "\x17\x08\x44tracing6\0\0\x08", 14);
	add(b, page_size, 4);
	add_text(b, "header_page", 12);
	add(b, sizeof(page) - 1, 8);
	add_text(b, page, sizeof(page) - 1);
	add_text(b, "header_event", 13);
	add(b, 0, 8);
	add(b, 0, 8);
	add(b, 0, 8);			/* of 4 bytes each: formats of ftrace, systems, kallsyms, printk */
	add(b, n, 8);
	guint at = b->len;
	g_byte_array_set_size(b, at + (guint)n);
	memset(b->data + at, 'x', n);
	return b;
}

static bool opens(GByteArray *b)
{
	g_autoptr(GError) error = NULL;
	int fd = memfd_create("limit", MFD_CLOEXEC);
	g_assert_cmpint(write(fd, b->data, b->len), ==, (ssize_t)b->len);
	g_byte_array_unref(b);
	g_autoptr(trace_dat) d = trace_dat_open(fd, &error);
	return limit_taken(error, "its lengths are wrong");
}

static bool cpus(uint64_t n)
{
	GByteArray *b = begin_file(4096, 0);
	add(b, n, 4);
	add_text(b, "flyrecord", 10);
	for (uint64_t i = 0; i < 2 * n; i++)
		add(b, 0, 8);
	return opens(b);
}

static bool text_bytes(uint64_t n)
{
	GByteArray *b = begin_file(4096, n);
	add(b, 0, 4);
	add_text(b, "flyrecord", 10);
	return opens(b);
}

static bool page_bytes(uint64_t n)
{
	GByteArray *b = begin_file(n, 0);
	add(b, 0, 4);
	add_text(b, "flyrecord", 10);
	return opens(b);
}

/* ---- the kernel's type information ---- */

/* The member that is looked for is the last one of n. */
static bool btf_members(uint64_t n)
{
	struct btf_made m = btf_made_begin();
	uint32_t offset;
	btf_made_struct(&m, 4, "a", (guint32)n);
	for (uint64_t i = 1; i <= n; i++)
		btf_made_member(&m, i == n ? "last" : "x", 1, 0);
	g_autoptr(GByteArray) bytes = btf_made_end(&m);
	g_autoptr(btf) b = btf_new(bytes->data, bytes->len, NULL);
	return btf_offset(b, "a", "last", &offset);
}

static bool btf_bytes(uint64_t n)
{
	struct btf_made m = btf_made_begin();
	g_autoptr(GByteArray) bytes = btf_made_end(&m);
	g_autoptr(GError) error = NULL;
	g_byte_array_set_size(bytes, (guint)n);
	g_autoptr(btf) b = btf_new(bytes->data, n, &error);
	return limit_taken(error, "has another format");
}

int main(int argc, char **argv)
{
	static const struct limit_test tests[] = {
		{ "ring-fields", fields, 0 }, { "ring-cpus", cpus, 0 }, { "ring-text-bytes", text_bytes, 0 },
		{ "ring-name-bytes", name_bytes, 0 }, { "ring-page-bytes", page_bytes, 0 },
		{ "btf-members", btf_members, 0 }, { "btf-bytes", btf_bytes, 0 },
	};
	g_test_init(&argc, &argv, NULL);
	limit_tests_add(tests, G_N_ELEMENTS(tests));
	return g_test_run();
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * main() of a fuzz target without the fuzzer: each file given, or in a directory given,
 * is one input. Says what it reads, so that the last line names what breaks it.
 */
#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned replay(const char *path)
{
	unsigned n = 0;
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	for (const char *name; dir && (name = g_dir_read_name(dir));) {
		g_autofree char *below = g_build_filename(path, name, NULL);
		n += replay(below);
	}
	if (dir)
		return n;
	g_autofree char *bytes = NULL;
	g_autoptr(GError) error = NULL;
	gsize size;
	if (!g_file_get_contents(path, &bytes, &size, &error)) {
		fprintf(stderr, "%s\n", error->message);
		exit(2);
	}
	fprintf(stderr, "%s\n", path);
	/* Memory of exactly that size: a byte behind it is a finding. */
	g_autofree uint8_t *exact = g_malloc(size ? size : 1);
	memcpy(exact, bytes, size);
	LLVMFuzzerTestOneInput(exact, size);
	return 1;
}

int main(int argc, char **argv)
{
	unsigned n = 0;
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 1; i < argc; i++)
		n += replay(argv[i]);
	printf("%u inputs\n", n);
	return n ? 0 : 2;
}

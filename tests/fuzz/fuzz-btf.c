/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's type information, any bytes: the probes that are made with it have offsets within a struct, and end.
 *
 * Input: the file.
 */
#include "fuzz/fuzzer.h"
#include "live/tracefs/probe_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(btf) b = btf_new(data, size, &error);
	struct probe_offsets o;
	g_assert_true(!b == !!error);
	probe_offsets_find(&o, b);
	g_autofree char *text = probe_text_install("blktop_1", &o);
	g_assert_nonnull(text);
	g_assert_cmpuint(o.head | o.data | o.mode | o.v6 | o.sk, <=, G_MAXINT32);
	return 0;
}

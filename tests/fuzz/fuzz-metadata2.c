/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CTF 2 metadata: any bytes behind a record separator. What is read is the same in pieces, cut
 * anywhere; what is refused says so in words that a terminal can bear.
 *
 * The mutator knows JSON (lib/mutate_json.c), so that most inputs get past the scanner.
 */
#include <string.h>

#include "fuzz/fuzzer.h"
#include "lib/ctf_dump.h"
#include "lib/fuzz_metas.h"
#include "lib/mutate.h"

/* Without the fuzzer there is none: replay.c. */

#define RS '\x1e'

/* ---- one input ---- */

static struct ctf_meta *parse(const uint8_t *bytes, size_t n, bool *ret_refused)
{
	g_autoptr(GError) error = NULL;
	struct ctf_meta *m = ctf_meta_new();
	*ret_refused = !ctf_meta_append(m, bytes, n, &error);
	if (!*ret_refused)
		return m;
	fuzz_check_error(error);
	ctf_meta_free(m);
	return NULL;
}

/* What the whole says, pieces say; or they wait for more. */
static void check_pieces(const uint8_t *bytes, size_t n, const struct ctf_meta *whole, size_t step)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_ctf_meta) m = ctf_meta_new();
	struct ctf_pieces *x = ctf_pieces_new(m);
	bool ok = true;
	for (size_t at = 0, size; ok && at < n; at += size) {
		size = MIN(step, n - at);
		g_autofree uint8_t *exact = g_memdup2(bytes + at, size);
		ok = ctf_pieces_append(x, exact, size, &error);
	}
	bool waits = ok && ctf_pieces_wait(x);
	ctf_pieces_free(x);
	if (!ok)
		fuzz_check_error(error);
	if (!whole) {
		g_assert_true(!ok || waits);
		return;
	}
	g_assert_no_error(error);
	g_assert_false(waits);
	g_autofree char *one = ctf_dump(whole), *two = ctf_dump(m);
	g_assert_cmpstr(one, ==, two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree uint8_t *exact = g_malloc(size + 1);
	bool refused;
	exact[0] = RS;
	memcpy(exact + 1, data, size);
	g_autoptr(blk_ctf_meta) m = parse(exact, size + 1, &refused);
	check_pieces(exact, size + 1, m, 1 + size / 3);
	if (size < 2000)
		check_pieces(exact, size + 1, m, 1);
	return 0;
}

/* ---- the mutator ---- */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	g_autoptr(GRand) r = g_rand_new_with_seed(seed);
	if (!size || memchr(data, 0, size) || !g_rand_int_range(r, 0, 5))
		return LLVMFuzzerMutate(data, size, max_size);
	g_autoptr(GString) s = g_string_new_len((char *)data, (gssize)size);
	mutate_json(s, r);
	size = MIN(s->len, max_size);
	memcpy(data, s->str, size);
	return size;
}

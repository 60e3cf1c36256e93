/* SPDX-License-Identifier: GPL-2.0-only */
/* What is read by commands that need single events: see packets.h. */
#include "app/packets.h"

#include "app/messages.h"
#include "app/reading.h"

#include "run/chunks.h"
#include "state/slice/slice_file.h"

static int find_chunks(struct packets *ret, const struct read_options *o)
{
	const char *const *slices = (const char *const *)o->paths;
	g_autoptr(GError) error = NULL;
	struct chunks_range range;
	GPtrArray *dirs = NULL;
	int64_t first, last;
	int code = EXIT_FINE;

	bool fine = o->chunks ? chunks_bounds(slices, &range, &first, &last, &error) :
		slice_file_has_events(slices[0], &error);
	if (fine && (o->at || o->from || o->to))
		code = reading_place_range(o, first, last + 1, &range.from, &range.to);
	if (fine && code == EXIT_FINE)
		dirs = chunks_find(slices, (const char *const *)o->chunks, &range, &error);
	if (error)
		code = log_failure(error);
	if (code != EXIT_FINE)
		return code;
	*ret = (struct packets){ (char **)g_ptr_array_free(dirs, false), true, range.from, range.to };
	return EXIT_FINE;
}

int packets_find(struct packets *ret, const struct read_options *o)
{
	*ret = (struct packets){ 0 };
	if (slice_file_is(o->paths[0]))
		return find_chunks(ret, o);
	ret->paths = g_strdupv(o->paths);
	return EXIT_FINE;
}

void packets_clear(struct packets *p)
{
	g_strfreev(p->paths);
	*p = (struct packets){ 0 };
}

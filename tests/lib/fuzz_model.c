/* SPDX-License-Identifier: GPL-2.0-only */
#include "lib/fuzz_model.h"

#include "base/json_read.h"

#include "export/report.h"
#include "lib/check_views.h"
#include "state/store/publication.h"
#include "state/store/timeline.h"


#define PUBLISH_EVERY 2			/* batches */
#define MOST_EXPORTS 4			/* traces */

void fuzz_model_begin(struct fuzz_model *m, const struct model_options *options, size_t memory)
{
	*m = (struct fuzz_model){ .model = model_new(options), .timeline = timeline_new(memory) };
}

void fuzz_model_publish(struct fuzz_model *m)
{
	struct publication *p = model_publish(m->model, false);
	if (p)
		timeline_apply(m->timeline, p);
}

void fuzz_model_see(void *model, const struct blk_tables *tables, const struct blk_batch *batch)
{
	struct fuzz_model *m = model;
	model_feed(m->model, tables, batch->ev, batch->n);
	if (++m->batches % PUBLISH_EVERY == 0)
		fuzz_model_publish(m);
}

void fuzz_model_finish(struct fuzz_model *m)
{
	struct publication *p = model_publish(m->model, true);
	if (p)
		timeline_apply(m->timeline, p);
}

/* ---- what is shown ---- */

static void check_json(const char *text)
{
	g_autoptr(GArray) tokens = json_tokens_new();
	struct json_problem why;
	if (!json_scan(text, strlen(text), tokens, &why))
		g_assert_true(strstr(why.text, "nested deeper") || strstr(why.text, "more than"));
}

static void check_exports(const struct timeline *tl)
{
	for (size_t i = 0; i < MIN(timeline_n_traces(tl), MOST_EXPORTS); i++) {
		uint64_t id = timeline_trace(tl, i)->trace_id;
		for (int format = SPAN_ZIPKIN; format <= SPAN_JSON; format++) {
			struct span_selection what = { .trace_id = id, .trace_zero = !id, .with_kernel = i % 2 == 0 };
			g_autoptr(GError) error = NULL;
			unsigned n;
			g_autofree char *text = span_export(tl, &what, (enum span_format)format, &n, &error);
			g_assert_no_error(error);
			check_json(text);
		}
	}
}

static void check_report(const struct timeline *tl)
{
	struct report_options o = { .sort = -1, .worst = 2, .utf8 = true, .utc = true, .label = "fuzz" };
	unsigned n;
	if (!timeline_coverage(tl, &o.from_ns, &o.to_ns))
		return;
	o.to_ns++;
	g_autofree char *page = report_markdown(tl, &o, &n);
	g_assert_true(g_utf8_validate(page, -1, NULL));
}

void fuzz_model_show(const struct fuzz_model *m)
{
	check_views(m->timeline);
	check_exports(m->timeline);
	check_report(m->timeline);
}

void fuzz_model_clear(struct fuzz_model *m)
{
	model_free(m->model);
	timeline_free(m->timeline);
}

/* ---- which input ---- */

/* FNV-1a, with all bits mixed. */
uint64_t fuzz_hash(const uint8_t *data, size_t size)
{
	uint64_t h = UINT64_C(14695981039346656037);
	for (size_t i = 0; i < size; i++)
		h = (h ^ data[i]) * UINT64_C(1099511628211);
	h ^= h >> 32;
	h *= UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

bool fuzz_one_of(uint64_t hash, unsigned n)
{
	static int all = -1;
	if (all < 0)
		all = g_getenv("FUZZ_ALL") != NULL;
	return all || hash % n == 0;
}

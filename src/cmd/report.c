/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop report: see report.h. */
#include "cmd/report.h"

#include "app/messages.h"
#include "cli/config.h"
#include "cmd/output.h"
#include "app/reading.h"

#include "export/report.h"
#include "views/bookmarks.h"

#include <langinfo.h>
#include <string.h>

static bool is_utf8(const struct shown_options *o)
{
	return !o->ascii && g_ascii_strcasecmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* The user's bookmarks; NULL: there are none, or they cannot be read, which was printed. */
static GPtrArray *read_bookmarks(const struct reading *r)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	GPtrArray *all = NULL;
	size_t len;

	if (config_read_bookmarks(r->in, &text, &len, &error) && text)
		all = bookmarks_parse("the bookmarks file", text, len, &error);
	if (error)
		log_error("no bookmarks on the page: %s", error->message);
	return all;
}

/* The page; NULL: no request is of the kind that was asked for, which was printed. */
static char *make_page(struct reading *r, const struct shown_options *o, const struct page_options *page_options,
		       int *ret_code)
{
	struct job_status st;
	unsigned n;
	struct report_options options = {
		.filter = o->expr, .sort = o->sort, .descending = o->sort_descending,
		.worst = page_options->worst, .utf8 = is_utf8(o), .utc = o->utc, .label = input_label(r->in),
	};

	*ret_code = reading_find_range(r, r->options, &options.from_ns, &options.to_ns);
	if (*ret_code != EXIT_FINE)
		return NULL;
	job_get_status(r->job, &st);
	options.reader = st.reader;
	options.warning = st.warning;
	g_autoptr(GPtrArray) bookmarks = read_bookmarks(r);
	options.bookmarks = bookmarks;
	if (page_options->html)
		return report_html(r->tl, &options);
	char *page = report_markdown(r->tl, &options, &n);
	if (n == 0 && o->expr) {
		*ret_code = EXIT_FAILED;
		log_error("no requests of that kind in '%s'", input_label(r->in));
		g_clear_pointer(&page, g_free);
	}
	return page;
}

int report_write(const struct read_options *read, const struct shown_options *shown,
		 const struct output_options *output, const struct page_options *o)
{
	struct reading r;
	const struct reading_purpose purpose = { .all_spans = true, .view = shown->view, .by = shown->by };
	int code = reading_start(&r, read, &purpose), why;

	if (code == EXIT_FINE) {
		reading_wait(&r, -1);
		code = reading_code(&r);
		g_autofree char *page = code == EXIT_FINE ? make_page(&r, shown, o, &code) : NULL;
		why = page ? output_write(output, page, NULL) : EXIT_FINE;
		if (page)
			code = why != EXIT_FINE ? why : reading_loss_code(&r);
	}
	reading_free(&r);
	return code;
}

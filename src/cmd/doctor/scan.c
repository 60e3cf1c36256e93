/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads metadata and packet headers, and counts the events of the pass. See doctor_private.h. */
#include "cmd/doctor/doctor_private.h"

#include "base/each.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/timefmt.h"
#include "live/tracefs/texts.h"
#include "trace/ctf/ctf_index.h"
#include "trace/ctf/ctf_wanted.h"
#include "trace/ring/ring_names.h"
#include "views/registry.h"

#include <string.h>

/* "kernel", "ust", "other" */
static const char *doctor_domain(const char *domain)
{
	return g_strcmp0(domain, "kernel") == 0 ? "kernel" : g_strcmp0(domain, "ust") == 0 ? "ust" :
		"other";
}

/* Finds or adds the channel of that name. Texts may be NULL. */
static struct diag_channel *doctor_channel(struct doctor *doc, const char *host, const char *domain,
				    const char *session, const char *name)
{
	PTR_EACH(struct diag_channel, c, doc->d->channels) {
		if (g_strcmp0(c->host, host) == 0 && strcmp(c->domain, domain) == 0 &&
		    g_strcmp0(c->session, session) == 0 && g_strcmp0(c->name, name) == 0)
			return c;
	}
	struct diag_channel *c = g_new0(struct diag_channel, 1);
	c->host = g_strdup(host);
	c->domain = domain;
	c->session = g_strdup(session);
	c->name = g_strdup(name);
	c->first_ns = c->last_ns = TIME_UNKNOWN;
	g_ptr_array_add(doc->d->channels, c);
	return c;
}

static void doctor_know(struct doctor *doc, const char *event, uint64_t more)
{
	uint64_t *count = g_hash_table_lookup(doc->counts, event);
	if (!count) {
		count = g_new0(uint64_t, 1);
		g_hash_table_insert(doc->counts, g_strdup(event), count);
	}
	*count += more;
}

/* --- metadata --- */

struct doctor_scan {
	struct doctor *doc;
	const char *dir;
	struct ctf_meta *meta;
	const char *host, *session, *domain;
	GHashTable *begins;	/* "UUID|STREAM CLASS|CPU" -> struct begin * */
	char uuid[40];
};

static struct ctf_meta *read_metadata(struct doctor *doc, const char *dir)
{
	g_autofree char *path = g_build_filename(dir, "metadata", NULL);
	g_autofree char *bytes = NULL;
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_ctf_meta) meta = ctf_meta_new();
	gsize n;

	if (files_read_input(path, LIMIT_METADATA_BYTES, &bytes, &n, &error) &&
	    ctf_meta_append(meta, bytes, n, &error))
		return g_steal_pointer(&meta);
	doc->scanned = false;
	doctor_problem(doc, "cannot read the metadata of %s: %s", dir, error->message);
	return NULL;
}

/* The UUID without dashes, as in the order keys of streams. */
static void uuid_text(char ret[40], const struct ctf_meta *m)
{
	*ret = '\0';
	for (int i = 0; m->has_uuid && i < 16; i++)
		g_snprintf(ret + 2 * i, 3, "%02x", m->uuid[i]);
}

/* "pid tid procname", as the metadata has them. */
static char *context_names(const struct ctf_stream_class *sc)
{
	GString *names = g_string_new(NULL);
	for (uint32_t i = 0; sc->event_context && i < sc->event_context->n_fields; i++)
		g_string_append_printf(names, "%s%s", i ? " " : "",
				       sc->event_context->field[i].name);
	return g_string_free(names, FALSE);
}

/* Fields without which an event is of no use. */
static const struct {
	const char *event, *fields[5];	/* "a|b": one of them */
} essential[] = {
	{ "sched_switch", { "prev_tid|prev_pid", "prev_state", "next_tid|next_pid" } },
	{ "sched_waking", { "tid|pid" } },
	{ "sched_wakeup", { "tid|pid" } },
	{ "sched_process_fork", { "child_tid|child_pid", "child_comm" } },
	{ "block_rq_issue", { "dev", "sector", "rwbs" } },
	{ "block_rq_complete", { "dev", "sector" } },
	{ "irq_handler_entry", { "irq" } },
	{ "zipkin:timestamp", { "trace_id", "span_id", "parent_span_id", "event" } },
};

static bool has_field(const struct ctf_event_class *ec, const char *names)
{
	g_auto(GStrv) each = g_strsplit(names, "|", -1);
	for (char **name = each; *name; name++)
		if (ec->fields && ctf_type_field(ec->fields, *name))
			return true;
	return false;
}

static void check_fields(struct doctor_scan *s, const struct ctf_event_class *ec)
{
	for (size_t i = 0; i < G_N_ELEMENTS(essential); i++) {
		if (strcmp(ec->name, essential[i].event) != 0)
			continue;
		for (size_t f = 0; essential[i].fields[f]; f++)
			if (!has_field(ec, essential[i].fields[f]))
				doctor_problem(s->doc, "%s of %s has no field %s: what needs it stays "
					       "unknown", ec->name, s->dir, essential[i].fields[f]);
	}
}

/* Counts that are recognized by fields, not by event names. */
static void know_counts(struct doctor_scan *s, const struct ctf_stream_class *sc,
			const struct ctf_event_class *ec)
{
	struct ctf_wanted wanted[LIMIT_EVENT_COUNTERS];
	unsigned n;
	g_autofree char *counters = ctf_wanted_counters(sc, ec, wanted, &n);

	if (counters)
		doctor_know(s->doc, NEED_PERF, 0);
	if (ctf_wanted_is_probe(ec))
		doctor_know(s->doc, NEED_PROBES, 0);
}

static void know_classes(struct doctor_scan *s)
{
	PTR_EACH(const struct ctf_stream_class, sc, s->meta->streams)
		PTR_EACH(const struct ctf_event_class, ec, sc->events) {
			doctor_know(s->doc, ec->name, 0);
			check_fields(s, ec);
			know_counts(s, sc, ec);
		}
}

static void know_clocks(struct doctor_scan *s)
{
	PTR_EACH(const struct ctf_clock, k, s->meta->clocks) {
		struct doctor_clock *c = g_new0(struct doctor_clock, 1);
		c->where = g_strdup(s->dir);
		c->host = g_strdup(s->host);
		c->uuid = g_strdup(k->uuid);
		c->domain = s->domain;
		c->offset_ns = (__int128)k->offset_s * NS_PER_S +
			       (__int128)k->offset * NS_PER_S / k->freq;
		g_ptr_array_add(s->doc->clocks, c);
	}
}

/* --- stream files --- */

struct seen_stream {			/* a stream file */
	char *name;
	uint64_t class, bytes, packet_bytes;
	uint64_t first;		/* smallest packet number; UINT64_MAX: packets are not numbered */
	uint32_t cpu;		/* UINT32_MAX: unknown */
};

struct begin {			/* first packet of a stream, over all its files and chunks */
	struct diag_channel *channel;
	uint64_t first;
};

static void seen_clear(void *p)
{
	g_free(((struct seen_stream *)p)->name);
}

static bool ends_in_cpu(const struct seen_stream *f)
{
	g_autofree char *end = g_strdup_printf("_%u", f->cpu);
	return g_str_has_suffix(f->name, end) && strlen(f->name) > strlen(end);
}

/* "k0" of "k0_1" (cpu 1), and where there are several files of a stream of "k0_1_12" (the
 * twelfth of it). */
static char *channel_name(const struct seen_stream *f, bool several)
{
	g_autoptr(GRegex) regex = g_regex_new("^(.+?)_[0-9]+(?:_[0-9]+)?$", G_REGEX_RAW, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;

	if (f->cpu != UINT32_MAX && !several)
		return g_strndup(f->name, (gsize)(strrchr(f->name, '_') - f->name));
	if (g_regex_match(regex, f->name, 0, &match))
		return g_match_info_fetch(match, 1);
	return g_strdup(f->name);
}

static void know_begin(struct doctor_scan *s, const struct seen_stream *f, struct diag_channel *c)
{
	g_autofree char *key = g_strdup_printf("%s|%" G_GINT64_MODIFIER "x|%u", s->uuid, f->class, f->cpu);
	struct begin *b = g_hash_table_lookup(s->begins, key);

	if (!b) {
		b = g_new(struct begin, 1);
		*b = (struct begin){ c, UINT64_MAX };
		g_hash_table_insert(s->begins, g_strdup(key), b);
	}
	b->first = MIN(b->first, f->first);
}

/* What was before is gone: nothing is lost by any counter. */
static void check_begins(struct doctor *doc, GHashTable *begins)
{
	PTR_EACH(const struct diag_channel, c, doc->d->channels) {
		unsigned late = 0, all = 0;

		TABLE_EACH(each, begins) {
			const struct begin *b = each.value;
			all += b->channel == c;
			late += b->channel == c && b->first && b->first != UINT64_MAX;
		}
		if (late)
			doctor_problem(doc, "%u of %u stream%s of channel %s (%s) do%s not begin with the first "
				       "packet: what was before is not in the trace (overwritten "
				       "buffers or files, a snapshot, a clear, or a chunk without those before it)",
				       late, all, all == 1 ? "" : "s", c->name, c->domain,
				       late == 1 ? "es" : "");
	}
}

static void know_channel(struct doctor_scan *s, const struct seen_stream *f, bool several)
{
	const struct ctf_stream_class *sc = ctf_meta_stream(s->meta, f->class);
	g_autofree char *channel = channel_name(f, several);
	struct diag_channel *c = doctor_channel(s->doc, s->host, s->domain, s->session, channel);

	if (sc && !c->contexts)
		c->contexts = context_names(sc);
	know_begin(s, f, c);
	c->bytes += f->bytes;
	c->packet_bytes = MAX(c->packet_bytes, f->packet_bytes);
	g_hash_table_insert(s->doc->by_class,
			    g_strdup_printf("%s|%016" G_GINT64_MODIFIER "x", s->uuid, f->class), c);
}

/* The files of one channel, of which all streams have one file, or all may have several. */
static void know_channels(struct doctor_scan *s, const GArray *files)
{
	g_autoptr(GHashTable) several = g_hash_table_new(g_int64_hash, g_int64_equal);

	ARRAY_EACH(struct seen_stream, f, files)
		if (f->cpu != UINT32_MAX && !ends_in_cpu(f))
			g_hash_table_add(several, &f->class);
	ARRAY_EACH(const struct seen_stream, f, files)
		know_channel(s, f, g_hash_table_contains(several, &f->class));
}

static void scan_file(struct doctor_scan *s, const char *name, GArray *files)
{
	g_autoptr(GError) error = NULL;
	struct ctf_index *x = ctf_index_open(s->meta, s->dir, name, &error);
	size_t n;

	if (!x) {
		doctor_problem(s->doc, "%s", error->message);
		return;
	}
	while (ctf_index_walk(x, 4096))
		;
	const struct ctf_packet *p = ctf_index_packets(x, &n);
	if (n) {
		struct ctf_packet first = p[0];
		ctf_index_check(x, &first, NULL);
		struct seen_stream f = { .name = g_strdup(name), .class = first.stream_id,
				  .cpu = first.has_cpu ? first.cpu : UINT32_MAX, .first = UINT64_MAX };
		for (size_t i = 0; i < n; i++) {
			f.first = p[i].has_seq ? MIN(f.first, p[i].seq) : f.first;
			f.bytes += p[i].content_bits / 8;
			f.packet_bytes = MAX(f.packet_bytes, p[i].packet_bits / 8);
		}
		g_array_append_val(files, f);
	}
	ctf_index_free(x);
}

static void scan_files(struct doctor_scan *s)
{
	g_autoptr(GPtrArray) names = files_list(s->dir, SIZE_MAX);
	g_autoptr(GArray) files = g_array_new(false, false, sizeof(struct seen_stream));
	g_array_set_clear_func(files, seen_clear);

	for (guint i = 0; names && i < names->len; i++) {
		const char *name = g_ptr_array_index(names, i);
		g_autofree char *path = g_build_filename(s->dir, name, NULL);
		if (name[0] != '.' && strcmp(name, "metadata") != 0 && files_is_regular(path))
			scan_file(s, name, files);
	}
	know_channels(s, files);
}

static void know_tracer(struct doctor *doc, const char *domain, const char *tracer)
{
	if (strcmp(domain, "kernel") == 0 && tracer && !g_str_has_prefix(tracer, "lttng") && !doc->other_tracer)
		doc->other_tracer = g_strdup(tracer);
}

/* How the tracer got names of files; one line for each machine. LTTng has them all. */
static void know_names(const struct doctor_scan *s)
{
	const char *text = tracefs_names_text(ctf_meta_env(s->meta, RING_NAMES_ENV));
	if (!text || strcmp(s->domain, "kernel") != 0)
		return;
	g_autofree char *line = g_strdup_printf("%s: %s", s->host ? s->host : "unknown host", text);
	if (!g_ptr_array_find_with_equal_func(s->doc->d->kernels, line, g_str_equal, NULL))
		g_ptr_array_add(s->doc->d->kernels, g_steal_pointer(&line));
}

static void scan_dir(struct doctor *doc, const char *dir, GHashTable *begins)
{
	struct doctor_scan s = { .doc = doc, .dir = dir, .begins = begins, .meta = read_metadata(doc, dir) };

	if (!s.meta)
		return;
	s.host = ctf_meta_env(s.meta, "hostname");
	s.session = ctf_meta_env(s.meta, "trace_name");
	s.domain = doctor_domain(ctf_meta_env(s.meta, "domain"));
	uuid_text(s.uuid, s.meta);
	know_tracer(doc, s.domain, ctf_meta_env(s.meta, "tracer_name"));
	know_names(&s);
	if (s.meta->streams->len) {	/* else nothing of it can be read, as the reader says */
		know_classes(&s);
		know_clocks(&s);
		scan_files(&s);
	}
	ctf_meta_free(s.meta);
}

void doctor_scan(struct doctor *doc, const char *const *paths)
{
	g_autoptr(GPtrArray) dirs = trace_find_dirs(paths, NULL, NULL);
	g_autoptr(GHashTable) begins = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	doc->scanned = dirs != NULL;
	for (guint i = 0; dirs && i < dirs->len; i++)
		scan_dir(doc, dirs->pdata[i], begins);
	check_begins(doc, begins);
}

/* --- the pass --- */

/* By its order key, which ends in "TRACE UUID|STREAM CLASS|CPU". */
static struct diag_channel *channel_of_stream(struct doctor *doc, const struct blk_tables *t,
					      const struct blk_stream *st)
{
	static const char *const domains[] = {
		[BLK_DOMAIN_KERNEL] = "kernel", [BLK_DOMAIN_UST] = "ust", [BLK_DOMAIN_OTHER] = "other",
	};
	g_auto(GStrv) words = g_strsplit(st->order, "|", -1);
	guint n = g_strv_length(words);
	g_auto(GStrv) uuid = g_strsplit(n < 3 ? "" : words[n - 3], "-", -1);
	g_autofree char *digits = g_strjoinv("", uuid);
	g_autofree char *key = n < 3 ? g_strdup(st->order) :
		g_strconcat(digits, "|", words[n - 2], NULL);
	struct diag_channel *c = g_hash_table_lookup(doc->by_class, key);

	if (!c) {
		c = doctor_channel(doc, st->hostname ? st->hostname : blk_host(t, st->host)->name, domains[st->domain],
				   doc->session, NULL);
		g_hash_table_insert(doc->by_class, g_steal_pointer(&key), c);
	}
	return c;
}

static void hear_loss(struct doctor *doc, const struct blk_stream *st, struct diag_channel *c,
		      const struct blk_loss *loss)
{
	struct diag_loss *l = NULL;

	for (guint i = 0; i < doc->d->losses->len && !l; i++) {
		struct diag_loss *x = doc->d->losses->pdata[i];
		if (x->channel == c && x->vpid == st->vpid &&
		    x->cpu == (st->cpu == UINT32_MAX ? -1 : (int64_t)st->cpu))
			l = x;
	}
	if (!l) {
		l = g_new0(struct diag_loss, 1);
		l->channel = c;
		l->cpu = st->cpu == UINT32_MAX ? -1 : (int64_t)st->cpu;
		l->vpid = st->vpid;
		g_ptr_array_add(doc->d->losses, l);
	}
	l->events += loss->events;
	l->packets += loss->packets;
	l->losses += !loss->is_part;
	c->lost_events += loss->events;
	c->lost_packets += loss->packets;
	c->losses += !loss->is_part;
	c->damaged += loss->damaged;
	c->worst_events = MAX(c->worst_events, loss->events);
	c->longest_ns = MAX(c->longest_ns, loss->end_ns - loss->begin_ns);
}

/* Live: what the tables do not tell, the first event of each class does. */
static void hear_contexts(struct diag_channel *c, const struct blk_class *cls,
			  const struct blk_event *e)
{
	static const struct { unsigned slot; const char *name; } contexts[] = {
		{ BLK_CTX_PID, "pid" }, { BLK_CTX_TID, "tid" }, { BLK_CTX_PPID, "ppid" },
		{ BLK_CTX_PROCNAME, "procname" }, { BLK_CTX_VPID, "vpid" }, { BLK_CTX_VTID, "vtid" },
	};
	g_autoptr(GString) names = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(contexts); i++)
		if (blk_has(e, contexts[i].slot))
			g_string_append_printf(names, "%s%s", names->len ? " " : "",
					       contexts[i].name);
	g_auto(GStrv) counters = g_strsplit(cls->counters ? cls->counters : "", " ", -1);
	for (char **name = counters; *name; name++)
		g_string_append_printf(names, "%sperf_%s", names->len ? " " : "", *name);
	c->contexts = g_strdup(names->str);
}

/* Events of a class of a stream. */
struct heard {
	gint64 key;
	uint64_t count;
	int64_t first_ns, last_ns;
};

/* True: they are the first ones. */
static bool hear_events(struct doctor *doc, const struct blk_event *e, uint64_t count, int64_t first_ns,
			int64_t last_ns)
{
	const gint64 key = (gint64)e->stream << 32 | e->cls;
	struct heard *h = g_hash_table_lookup(doc->heard, &key);
	const bool is_new = !h;

	if (is_new) {
		h = g_new(struct heard, 1);
		*h = (struct heard){ .key = key, .first_ns = first_ns, .last_ns = last_ns };
		g_hash_table_add(doc->heard, h);
	}
	h->count += count;
	h->first_ns = MIN(h->first_ns, first_ns);
	h->last_ns = MAX(h->last_ns, last_ns);
	doc->d->events += count;
	return is_new;
}

/* The first event of a class in a stream. */
static void hear_class(struct doctor *doc, struct diag_channel *c, const struct blk_class *cls,
		       const struct blk_event *e)
{
	if (!c->contexts)
		hear_contexts(c, cls, e);
	if (cls->counters)
		doctor_know(doc, NEED_PERF, 0);
}

void doctor_count_event(struct doctor *doc, const struct blk_tables *t, const struct blk_event *e)
{
	if (e->row == BLK_ROW_HORIZON)	/* of no stream: there may be none yet */
		return;
	const struct blk_stream *st = blk_stream(t, e->stream);

	if (e->row == BLK_ROW_STREAM_ADD) {
		channel_of_stream(doc, t, st)->streams++;
	} else if (e->row == BLK_ROW_LOST_END) {
		const struct blk_loss *loss = (const struct blk_loss *)e->data;
		struct diag_channel *c = channel_of_stream(doc, t, st);
		if (!loss->silence)
			hear_loss(doc, st, c, loss);
		if (loss->back_ns > c->back_ns) {
			c->back_ns = loss->back_ns;
			c->back_at_ns = e->ts;
		}
	} else if (e->row == BLK_ROW_TALLY) {
		const struct blk_tally *tally = (const struct blk_tally *)e->data;
		hear_events(doc, e, tally->count, MIN(e->ts, tally->last_ns), tally->last_ns);
	} else if (e->row < BLK_ROW_FIRST_PSEUDO) {
		if (hear_events(doc, e, 1, e->ts, e->ts))
			hear_class(doc, channel_of_stream(doc, t, st), blk_class(t, e->cls), e);
		if (doc->live && e->row == DOCTOR_ROW_PROBE)
			doctor_know(doc, NEED_PROBES, 1);
	}
}

void doctor_counted(struct doctor *doc, const struct blk_tables *t)
{
	TABLE_EACH(each, doc->heard) {
		const struct heard *h = each.value;
		struct diag_channel *c = channel_of_stream(doc, t, blk_stream(t, (unsigned)(h->key >> 32)));
		doctor_know(doc, blk_class(t, (uint32_t)h->key)->name, h->count);
		c->events += h->count;
		if (c->first_ns == TIME_UNKNOWN || h->first_ns < c->first_ns)
			c->first_ns = h->first_ns;
		if (c->last_ns == TIME_UNKNOWN || h->last_ns > c->last_ns)
			c->last_ns = h->last_ns;
	}
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* What all sources have in common: the tables, calling the implementation, and which row takes an event. */
#include "trace/reader.h"

#include "base/each.h"
#include "base/sort.h"

G_DEFINE_QUARK(blk-trace-error-quark, blk_trace_error)

enum source_status source_next(struct source *s, struct blk_batch *ret, GError **error)
{
	*ret = (struct blk_batch){ NULL, 0 };
	return source_is_stopped(s) ? SOURCE_CANCELLED : s->ops->next(s, ret, error);
}

void source_stop_by(struct source *s, const int *stop)
{
	s->stop = stop;
}

void source_cancel(struct source *s)
{
	if (s->ops->cancel)
		s->ops->cancel(s);
}

double source_progress(struct source *s)
{
	return s->ops->progress ? s->ops->progress(s) : -1;
}

bool source_take_late(struct source *s, struct source_late *ret)
{
	return s->ops->take_late && s->ops->take_late(s, ret);
}

char *source_warning(struct source *s)
{
	return s->ops->warning ? s->ops->warning(s) : NULL;
}

bool source_missing(struct source *s, struct missing *ret)
{
	*ret = (struct missing){ .behind_ns = -1 };
	if (s->ops->missing)
		s->ops->missing(s, ret);
	return s->ops->missing != NULL;
}

size_t source_bytes(struct source *s)
{
	return s->ops->bytes ? s->ops->bytes(s) : 0;
}

void source_free(struct source *s)
{
	if (s)
		s->ops->free(s);
}

static void clear_stream(struct blk_stream *stream)
{
	g_free(stream->vpid_procname);
	g_free(stream->hostname);
	g_free(stream->order);
}

static void free_stream(void *p)
{
	struct blk_stream *stream = p;
	clear_stream(stream);
	g_free(stream);
}

static void copy_stream(struct blk_stream *ret, const struct blk_stream *stream)
{
	*ret = *stream;
	ret->vpid_procname = g_strdup(stream->vpid_procname);
	ret->hostname = g_strdup(stream->hostname);
	ret->order = g_strdup(stream->order);
}

static void free_host(void *p)
{
	struct blk_host *host = p;
	g_free(host->name);
	g_free(host->boot);
	g_free(host->kernel_release);
	g_free(host);
}

static void free_class(void *p)
{
	struct blk_class *cls = p;
	g_free(cls->name);
	g_free(cls->counters);
	g_free(cls);
}

void source_init(struct source *s, const struct source_ops *ops)
{
	s->ops = ops;
	s->tables.streams = g_ptr_array_new_with_free_func(free_stream);
	s->tables.hosts = g_ptr_array_new_with_free_func(free_host);
	s->tables.classes = g_ptr_array_new_with_free_func(free_class);
}

void source_clear(struct source *s)
{
	g_clear_pointer(&s->tables.streams, g_ptr_array_unref);
	g_clear_pointer(&s->tables.hosts, g_ptr_array_unref);
	g_clear_pointer(&s->tables.classes, g_ptr_array_unref);
	g_clear_pointer(&s->free_streams, g_array_unref);
}

unsigned source_add_host(struct source *s, const char *name, const char *boot,
			 const char *kernel_release)
{
	for (guint i = 0; i < s->tables.hosts->len; i++) {
		struct blk_host *known = s->tables.hosts->pdata[i];
		if (!strcmp(known->name, name) && !strcmp(known->boot, boot))
			return i;
	}
	struct blk_host *host = g_new0(struct blk_host, 1);
	host->name = g_strdup(name);
	host->boot = g_strdup(boot);
	host->kernel_release = g_strdup(kernel_release);
	host->begin_ns = INT64_MIN;
	host->end_ns = INT64_MAX;
	g_ptr_array_add(s->tables.hosts, host);
	return s->tables.hosts->len - 1;
}

void source_has_kernel(struct source *s, unsigned host)
{
	g_assert(host < s->tables.hosts->len);
	struct blk_host *h = s->tables.hosts->pdata[host];
	h->has_kernel = true;
}

void source_host_machine(struct source *s, unsigned host, const struct machine_evidence *e)
{
	g_assert(host < s->tables.hosts->len);
	struct blk_host *h = s->tables.hosts->pdata[host];
	machine_evidence_add(&h->machine, e);
}

void source_host_lasts(struct source *s, unsigned host, int64_t begin_ns, int64_t end_ns)
{
	g_assert(host < s->tables.hosts->len && begin_ns <= end_ns);
	struct blk_host *h = s->tables.hosts->pdata[host];
	h->begin_ns = begin_ns;
	h->end_ns = end_ns;
}

unsigned source_add_stream(struct source *s, const struct blk_stream *stream)
{
	g_assert(stream->host < s->tables.hosts->len);
	guint n_free = s->free_streams ? s->free_streams->len : 0;
	guint i = n_free ? g_array_index(s->free_streams, guint, n_free - 1) : s->tables.streams->len;

	/* Stream numbers have 16 bits: all further streams share the last entry. */
	if (i == G_MAXUINT16)
		return G_MAXUINT16 - 1;
	if (n_free) {
		g_array_set_size(s->free_streams, n_free - 1);
		g_assert(i < s->tables.streams->len);
		clear_stream(s->tables.streams->pdata[i]);
	} else {
		g_ptr_array_add(s->tables.streams, g_new(struct blk_stream, 1));
	}
	copy_stream(s->tables.streams->pdata[i], stream);
	if (stream->domain == BLK_DOMAIN_KERNEL)
		source_has_kernel(s, stream->host);
	return i;
}

void source_stream_recorded(struct source *s, unsigned stream, int64_t to_ns)
{
	if (stream < G_MAXUINT16 - 1)		/* else a shared entry */
		((struct blk_stream *)g_ptr_array_index(s->tables.streams, stream))->recorded_to = to_ns;
}

void source_end_stream(struct source *s, unsigned stream)
{
	if (stream >= G_MAXUINT16 - 1)		/* a shared entry */
		return;
	g_assert(stream < s->tables.streams->len);
	if (!s->free_streams)
		s->free_streams = g_array_new(FALSE, FALSE, sizeof(guint));
	g_array_append_val(s->free_streams, stream);
}

unsigned source_add_class(struct source *s, const char *name, uint16_t row,
			  const char *counters)
{
	struct blk_class *cls = g_new0(struct blk_class, 1);
	cls->name = g_strdup(name);
	cls->row = row;
	cls->counters = g_strdup(counters);
	g_ptr_array_add(s->tables.classes, cls);
	return s->tables.classes->len - 1;
}

const char *const blk_context_names[BLK_N_CONTEXTS] = {
	[BLK_CTX_TID] = "tid|perf_tid", [BLK_CTX_PID] = "pid|perf_pid", [BLK_CTX_PPID] = "ppid",
	[BLK_CTX_PROCNAME] = "procname", [BLK_CTX_VPID] = "vpid", [BLK_CTX_VTID] = "vtid",
	[BLK_CTX_HOSTNAME] = "hostname", [BLK_CTX_PID_NS] = "pid_ns",
	[BLK_CTX_CGROUP_NS] = "cgroup_ns", [BLK_CTX_UTS_NS] = "uts_ns",
};

bool blk_wants_counters(const struct blk_subscription *row)
{
	for (unsigned i = 0; row && i < BLK_MAX_FIELDS && row->fields[i]; i++)
		if (!strcmp(row->fields[i], BLK_COUNTERS))
			return true;
	return false;
}

char *blk_class_key(const char *name, const char *counters)
{
	return g_strdup_printf("%s%s%s", name, counters ? "\n" : "", counters ? counters : "");
}

struct blk_matcher {
	GHashTable *exact;		/* borrowed name -> row + 1 */
	GArray *prefixes;		/* struct prefix, longest first */
	uint16_t probes;		/* row of BLK_PROBES; G_MAXUINT16: none */
	uint16_t others;		/* row "*", for events that no other row takes; or G_MAXUINT16 */
	uint16_t user;			/* row of BLK_USER; or G_MAXUINT16 */
	uint16_t (*row_of_class)(const char *event, uint16_t row);	/* of the first row that has one; or NULL */
};

struct prefix {
	const char *text;
	size_t len;
	uint16_t row;
};

static int compare_prefixes(const void *a, const void *b)
{
	const struct prefix *x = a, *y = b;
	return ORDER(y->len, x->len) ?: x->row - y->row;
}

struct blk_matcher *blk_matcher_new(const struct blk_subscription *rows, size_t n)
{
	g_assert(n < BLK_ROW_FIRST_PSEUDO);
	struct blk_matcher *m = g_new0(struct blk_matcher, 1);
	m->exact = g_hash_table_new(g_str_hash, g_str_equal);
	m->prefixes = g_array_new(FALSE, FALSE, sizeof(struct prefix));
	m->probes = m->others = m->user = G_MAXUINT16;
	for (size_t i = 0; i < n; i++) {
		struct prefix p = { rows[i].event, strlen(rows[i].event), i };
		if (rows[i].row_of_class) {
			m->row_of_class = m->row_of_class ?: rows[i].row_of_class;
			continue;
		}
		if (!strcmp(p.text, BLK_PROBES) || !strcmp(p.text, BLK_USER)) {
			*(strcmp(p.text, BLK_USER) ? &m->probes : &m->user) = (uint16_t)i;
			continue;
		}
		if (p.len == 1 && *p.text == '*')
			m->others = (uint16_t)i;
		if (p.len && p.text[p.len - 1] == '*') {
			p.len--;
			g_array_append_val(m->prefixes, p);
		} else if (!g_hash_table_contains(m->exact, p.text)) {
			g_hash_table_insert(m->exact, (void *)p.text, GSIZE_TO_POINTER(i + 1));
		}
	}
	g_array_sort(m->prefixes, compare_prefixes);
	return m;
}

uint16_t blk_matcher_row(const struct blk_matcher *m, const char *event)
{
	size_t exact = GPOINTER_TO_SIZE(g_hash_table_lookup(m->exact, event));
	if (exact)
		return exact - 1;
	ARRAY_EACH(const struct prefix, p, m->prefixes)
		if (!strncmp(p->text, event, p->len))
			return p->row;
	return strchr(event, ':') ? m->user : G_MAXUINT16;
}

uint16_t blk_matcher_class(const struct blk_matcher *m, const char *event, bool is_probe)
{
	uint16_t row = blk_matcher_row(m, event);
	bool free = row == G_MAXUINT16 || row == m->others;
	row = is_probe && free && m->probes != G_MAXUINT16 ? m->probes : row;
	return m->row_of_class ? m->row_of_class(event, row) : row;
}

bool blk_is_probe(const char *event, size_t n_fields, const char *first, const char *second)
{
	return !strchr(event, ':') && (n_fields == 1 || n_fields == 2) && !strcmp(first, "ip") &&
	       (n_fields == 1 || !strcmp(second, "parent_ip"));
}

/* perf's own fields, some of which its converters turn into contexts, are not counters. */
const char *blk_counter_name(const char *field)
{
	static const char *const own[] = { "tid", "pid", "cpu", "ip", "id", "period", "stream_id",
					   "time" };
	field += *field == '_';
	if (!g_str_has_prefix(field, "perf_") || !field[strlen("perf_")])
		return NULL;
	field += strlen("perf_");
	for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
		if (!strcmp(field, own[i]))
			return NULL;
	return strpbrk(field, " \t\n") ? NULL : field;
}

void blk_matcher_free(struct blk_matcher *m)
{
	if (!m)
		return;
	g_hash_table_unref(m->exact);
	g_array_unref(m->prefixes);
	g_free(m);
}

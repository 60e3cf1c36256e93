/* SPDX-License-Identifier: GPL-2.0-only */
/* Metadata with the decoders compiled from it, and its description of streams; for files and for pushed packets. */
#include "trace/native/native_private.h"

#include "base/fail.h"
#include "trace/align.h"

static void decoder_free(void *p)
{
	ctf_decoder_free(p);
}

struct native_meta *native_meta_new(void)
{
	struct native_meta *m = g_new0(struct native_meta, 1);
	m->meta = ctf_meta_new();
	m->decoders = g_ptr_array_new_with_free_func(decoder_free);
	return m;
}

void native_meta_free(void *p)
{
	struct native_meta *m = p;
	g_ptr_array_unref(m->decoders);
	ctf_meta_free(m->meta);
	g_free(m->uuid);
	g_free(m);
}

static uint32_t number_class(void *data, const char *name, uint16_t row, const char *counters)
{
	struct native *n = data;
	g_autofree char *key = blk_class_key(name, counters);
	uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(n->class_names, key));
	if (known)
		return known - 1;
	if (n->classes->len >= LIMIT_ALL_EVENT_CLASSES)
		return UINT32_MAX;
	struct native_class c = { g_strdup(name), g_strdup(counters), row };
	g_array_append_val(n->classes, c);
	g_hash_table_insert(n->class_names, g_steal_pointer(&key),
			    GUINT_TO_POINTER(n->classes->len));
	return n->classes->len - 1;
}

static char *uuid_text(const struct ctf_meta *m)
{
	GString *s = g_string_new(NULL);
	for (int i = 0; m->has_uuid && i < 16; i++)
		g_string_append_printf(s, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
				       m->uuid[i]);
	return g_string_free(s, FALSE);
}

enum blk_domain native_meta_domain(const struct native_meta *m)
{
	const char *domain = ctf_meta_env(m->meta, "domain");
	return !g_strcmp0(domain, "kernel") ? BLK_DOMAIN_KERNEL :
	       !g_strcmp0(domain, "ust") ? BLK_DOMAIN_UST : BLK_DOMAIN_OTHER;
}

/* Is it perf's? It puts the events of all CPUs into one stream, and each event has its CPU. Looks at the event classes
 * from number `from` on; the others were compiled. */
static bool is_of_perf(const struct ctf_stream_class *sc, guint from)
{
	if (!from && sc->event_context && ctf_type_field(sc->event_context, "perf_cpu"))
		return true;
	for (guint i = from; i < sc->events->len; i++) {
		const struct ctf_event_class *ec = g_ptr_array_index(sc->events, i);
		if (ec->fields && ctf_type_field(ec->fields, "perf_cpu"))
			return true;
	}
	return false;
}

/* Compiles a stream class, or the event classes that were added to it. */
static bool compile_stream(struct native *n, struct native_meta *m, const struct ctf_stream_class *sc, GError **error)
{
	guint i = sc->number;
	g_assert(i <= m->decoders->len);	/* decoders are in the order of the stream classes */
	struct ctf_decoder *known = i < m->decoders->len ? g_ptr_array_index(m->decoders, i) : NULL;
	guint from = known ? known->classes->len : 0;
	if (is_of_perf(sc, from))
		return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_UNSUPPORTED,
			    "perf made it, with the events of all CPUs in one stream");
	for (guint k = from; k < sc->events->len; k++)
		ctf_event_machine(g_ptr_array_index(sc->events, k), &m->events);
	if (known) {
		m->decoder_bytes -= ctf_decoder_bytes(known);
		bool ok = ctf_decoder_grow(known, n->rows, n->matcher, n->layouts, number_class, n, error);
		m->decoder_bytes += ctf_decoder_bytes(known);
		return ok;
	}
	struct ctf_decoder *d = ctf_decoder_new(sc, n->rows, n->matcher, n->layouts, number_class, n,
						error);
	if (!d)
		return false;
	g_ptr_array_add(m->decoders, d);
	m->decoder_bytes += ctf_decoder_bytes(d);
	return true;
}

bool native_meta_compile(struct native *n, struct native_meta *m, GError **error)
{
	if (!m->uuid || !m->uuid[0]) {
		g_free(m->uuid);
		m->uuid = uuid_text(m->meta);
	}
	for (guint i = 0; i < m->meta->grown->len; i++)
		if (!compile_stream(n, m, g_ptr_array_index(m->meta->grown, i), error))
			return false;
	ctf_meta_compiled(m->meta);
	ctf_meta_machine(m->meta, &m->seen, &m->machine);
	if (native_meta_domain(m) == BLK_DOMAIN_KERNEL)
		machine_evidence_add(&m->machine, &m->events);
	return true;
}

size_t native_meta_bytes(const struct native_meta *m)
{
	return ctf_meta_bytes(m->meta) + m->decoder_bytes;
}

const struct ctf_decoder *native_decoder(const struct native_meta *m, uint64_t stream_id)
{
	const struct ctf_stream_class *sc = ctf_meta_stream(m->meta, stream_id);
	return sc && sc->number < m->decoders->len ? g_ptr_array_index(m->decoders, sc->number) : NULL;
}

bool native_is_header_only(const struct native_meta *m, const struct ctf_packet *p)
{
	const struct ctf_decoder *d = native_decoder(m, p->stream_id);
	uint64_t align = d && d->sc->event_header ? MAX(d->sc->event_header->align, 1) : 1;
	return !p->has_begin && p->fault == CTF_WHOLE && p->content_bits <= ctf_align(p->header_bits, align);
}

/* ---- streams ---- */

static const char *env(const struct ctf_meta *m, const char *name, const char *other,
		       const char *absent)
{
	const char *text = ctf_meta_env(m, name);
	if (!text && other)
		text = ctf_meta_env(m, other);
	return text ? text : absent;
}

static void set_order(struct native_stream *st, uint64_t instance)
{
	if (st->info.cpu != UINT32_MAX)
		st->info.order = g_strdup_printf("%s|cpu %08x", st->order_base, st->info.cpu);
	else
		st->info.order = g_strdup_printf("%s|instance %016" G_GINT64_MODIFIER "x",
						 st->order_base, instance);
}

const char *native_meta_host(const struct native_meta *m)
{
	const char *name = env(m->meta, "hostname", "host", "?");
	return name[0] ? name : "?";
}

struct native_stream *native_stream_new(const struct native_meta *m, const struct ctf_decoder *d,
					const struct ctf_packet *first, uint64_t number)
{
	struct native_stream *st = g_new0(struct native_stream, 1);
	int64_t vpid = -1;
	st->files = g_ptr_array_new();
	st->ctf_clock = d->clock;
	st->host = g_strdup(native_meta_host(m));
	st->boot = g_strdup(d->clock->uuid);
	st->release = g_strdup(env(m->meta, "kernel_release", "release", ""));
	st->info.cpu = first->has_cpu ? first->cpu : UINT32_MAX;
	st->machine = m->machine;
	st->info.domain = native_meta_domain(m);
	if (st->info.domain == BLK_DOMAIN_UST)
		ctf_meta_env_number(m->meta, "vpid", &vpid);
	st->info.vpid = (int32_t)vpid;
	if (st->info.vpid != -1)
		st->info.vpid_procname = g_strdup(env(m->meta, "procname", NULL, NULL));
	st->order_base = g_strdup_printf("%s|%d|%s|%016" G_GINT64_MODIFIER "x", st->boot,
					 st->info.domain, m->uuid, d->sc->id);
	set_order(st, first->has_instance ? first->instance : number);
	return st;
}

void native_stream_join(struct native_stream *st, const char *host)
{
	if (!strcmp(st->host, host))
		return;
	if (st->info.domain != BLK_DOMAIN_KERNEL)
		st->info.hostname = g_steal_pointer(&st->host);
	g_free(st->host);
	st->host = g_strdup(host);
}

void native_stream_free(void *p)
{
	struct native_stream *st = p;
	g_free(st->info.order);
	g_free(st->info.vpid_procname);
	g_free(st->info.hostname);
	g_free(st->host);
	g_free(st->boot);
	g_free(st->release);
	g_free(st->order_base);
	g_ptr_array_unref(st->files);
	g_free(st);
}

void native_stream_pin(struct native_stream *st, const struct ctf_clock *k)
{
	g_assert(st->ctf_clock->freq > 0);
	st->clock = (struct native_clock){
		.freq = st->ctf_clock->freq, .offset = k->offset,
		.base_ns = (uint64_t)k->offset_s * 1000000000u + (uint64_t)align_of(st->boot),
	};
	if (st->clock.freq == 1000000000)
		st->clock.base_ns += k->offset;
}

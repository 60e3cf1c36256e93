/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The native reader alone, step by step. Prints "key value" lines; the best of N runs
 * counts.
 *
 * Usage: bench-native MODE [--repeat N] [--from NS] [--to NS] [--pieces N] TRACE
 *
 *     sum     a plain sum over the bytes of all stream files: the limit
 *     scan    headers and classes of all events, stream by stream: no merge, no record
 *     merge   the records of all streams in order of time, nothing read of them
 *     model   and the whole model, finished
 *     fed     merge, of the same packets fed from memory
 *     seek    the first events at 100 instants, at random
 *     index   opening: metadata, classes, packet index
 *     metadata  only the metadata file of one trace directory: read, parsed, all event
 *             classes compiled; records are event classes
 *     cuts    instants that cut the trace in pieces of about equal bytes
 */
#include "lib/fed.h"
#include "lib/inspect.h"
#include "state/publish/model.h"
#include "state/slice/slice.h"
#include "trace/ctf/ctf_index.h"
#include "trace/ctf/ctf_meta.h"
#include "trace/ctf/ctf_program.h"
#include "trace/ctf/layouts.h"
#include "trace/native/native.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define SECOND INT64_C(1000000000)
#define N_SEEKS 100
#define N_TRIES 3	/* at each instant; the best counts: others use the machine too */

struct bench {
	const char *path;
	int repeat;
	int64_t from, to;
	size_t pieces;
	const struct blk_subscription *rows;
	size_t n_rows;
	uint64_t events, bytes, records;	/* of one run */
	GArray *files;				/* struct mapped: sum and scan */
	GHashTable *layouts;
	struct blk_matcher *matcher;
	struct fed *fed;			/* opened once */
};

static volatile uint64_t sum_of;	/* so that it is computed */

static void fail(const char *what)
{
	fprintf(stderr, "bench-native: %s\n", what);
	exit(1);
}

static void check(GError *error)
{
	if (error)
		fail(error->message);
}

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static struct native *open_native(const struct bench *b)
{
	const char *const paths[] = { b->path, NULL };
	GError *error = NULL;
	struct native *n = native_open(paths, b->rows, b->n_rows, &error);

	check(error);
	while (native_index(n, 4096))
		;
	return n;
}

/* ---- files, mapped once ---- */

struct scan {			/* of one trace directory */
	struct ctf_meta *meta;
	GPtrArray *decoders;
	size_t bytes;		/* of the metadata file */
};

struct mapped {
	const struct scan *scan;
	struct ctf_index *index;
	const uint8_t *bytes;
	size_t size;
};

static uint32_t number_class(void *data, const char *name, uint16_t row, const char *counters)
{
	return 0;
}

static struct scan *open_scan(struct bench *b, const char *dir)
{
	struct scan *s = g_new0(struct scan, 1);
	g_autofree char *path = g_build_filename(dir, "metadata", NULL);
	g_autofree char *text = NULL;
	GError *error = NULL;
	gsize n;

	s->meta = ctf_meta_new();
	s->decoders = g_ptr_array_new();
	g_file_get_contents(path, &text, &n, &error);
	check(error);
	s->bytes = n;
	ctf_meta_append(s->meta, text, n, &error);
	check(error);
	for (guint i = 0; i < s->meta->streams->len; i++) {
		struct ctf_decoder *d = ctf_decoder_new(s->meta->streams->pdata[i], b->rows,
							b->matcher, b->layouts, number_class,
							NULL, &error);
		check(error);
		g_ptr_array_add(s->decoders, d);
	}
	return s;
}

static void map_file(struct bench *b, const struct scan *s, const char *dir, const char *name)
{
	GError *error = NULL;
	struct mapped f = { .scan = s, .index = ctf_index_open(s->meta, dir, name, &error) };

	check(error);
	while (ctf_index_walk(f.index, SIZE_MAX))
		;
	f.size = ctf_index_size(f.index);
	if (f.size == 0)
		return;
	f.bytes = mmap(NULL, f.size, PROT_READ, MAP_SHARED | MAP_POPULATE,
		       ctf_index_fd(f.index), 0);
	if (f.bytes == MAP_FAILED)
		fail(name);
	g_array_append_val(b->files, f);
}

/* Everything stays until the process ends. */
static void map_files(struct bench *b)
{
	const char *const paths[] = { b->path, NULL };
	GError *error = NULL;
	g_autoptr(GPtrArray) dirs = trace_find_dirs(paths, NULL, &error);

	check(error);
	b->files = g_array_new(FALSE, FALSE, sizeof(struct mapped));
	b->layouts = layouts_new();
	b->matcher = blk_matcher_new(b->rows, 0);
	for (guint i = 0; i < dirs->len; i++) {
		GDir *d = g_dir_open(dirs->pdata[i], 0, &error);
		const char *name;
		check(error);
		const struct scan *s = open_scan(b, dirs->pdata[i]);
		while ((name = g_dir_read_name(d)))
			if (name[0] != '.' && strcmp(name, "metadata") && strcmp(name, "index"))
				map_file(b, s, dirs->pdata[i], name);
		g_dir_close(d);
	}
}

static void run_sum(struct bench *b)
{
	for (guint i = 0; i < b->files->len; i++) {
		const struct mapped *f = &g_array_index(b->files, struct mapped, i);
		const uint64_t *words = (const uint64_t *)f->bytes;
		uint64_t sum = 0;
		for (size_t k = 0; k < f->size / 8; k++)
			sum += words[k];
		sum_of += sum;
		b->bytes += f->size;
	}
}

static uint64_t scan_packet(const struct ctf_decoder *d, const struct ctf_packet *p,
			    const uint8_t *bytes, struct ctf_run *run)
{
	uint64_t pos = p->header_bits, end = p->content_bits, clock = p->begin, id, n = 0;
	uint64_t *const regs = run->regs;

	while (pos < end && ctf_header_read(&d->header, bytes, &pos, end, &clock, &id, regs)) {
		const struct ctf_class *c = ctf_decoder_class(d, id);
		if (!c)
			break;
		pos = c->n_steps ? ctf_class_run(c, bytes, pos, end, run) : pos + c->bits;
		if (pos > end)
			break;
		n++;
	}
	sum_of += clock;
	return n;
}

static void scan_file(struct bench *b, const struct mapped *f)
{
	size_t n;
	const struct ctf_packet *all = ctf_index_packets(f->index, &n);

	for (size_t i = 0; i < n; i++) {
		struct ctf_packet p = all[i];
		const struct ctf_decoder *d = NULL;
		if (p.fault == CTF_GARBAGE || !ctf_index_check(f->index, &p, NULL))
			continue;
		for (guint k = 0; k < f->scan->decoders->len; k++) {
			const struct ctf_decoder *of = f->scan->decoders->pdata[k];
			if (of->sc->id == p.stream_id)
				d = of;
		}
		g_autofree uint64_t *regs = g_new0(uint64_t, d->sc->n_regs + 1);
		struct ctf_run run = { .regs = regs };
		b->events += scan_packet(d, &p, f->bytes + p.offset, &run);
	}
	b->bytes += f->size;
}

static void run_scan(struct bench *b)
{
	for (guint i = 0; i < b->files->len; i++)
		scan_file(b, &g_array_index(b->files, struct mapped, i));
}

/* ---- ranges ---- */

static uint64_t tallied(const struct blk_event *e)
{
	struct blk_tally t;

	if (e->row != BLK_ROW_TALLY)
		return e->row < BLK_ROW_FIRST_PSEUDO;
	memcpy(&t, e->data, sizeof t);
	return t.count;
}

static void run_merge(struct bench *b)
{
	g_autoptr(blk_native) n = open_native(b);
	g_autoptr(blk_source) s = native_range(n, b->from, b->to, 0);
	struct blk_batch batch;

	b->bytes = native_bytes(n);
	while (source_next(s, &batch, NULL) == SOURCE_OK) {
		b->records += batch.n;
		for (size_t i = 0; i < batch.n; i++)
			b->events += tallied(&batch.ev[i]);
	}
}

static void run_model(struct bench *b)
{
	g_autoptr(blk_native) n = open_native(b);
	g_autoptr(blk_source) s = native_range(n, b->from, b->to, 0);
	struct slice *slice = slice_new(true, SECOND);
	struct blk_batch batch;

	b->bytes = native_bytes(n);
	while (source_next(s, &batch, NULL) == SOURCE_OK) {
		b->records += batch.n;
		slice_feed(slice, &s->tables, batch.ev, batch.n);
	}
	b->events = slice_n_events(slice);
	publication_free(slice_finish(slice));
	slice_free(slice);
}

static void run_fed(struct bench *b)
{
	g_autoptr(blk_native_feed) f = native_feed_new(b->rows, b->n_rows);
	struct blk_batch batch;

	if (!b->fed)
		b->fed = fed_open(b->path);
	fed_rewind(b->fed);
	fed_add(b->fed, f);
	fed_push_all(b->fed, f);
	b->bytes = native_feed_queued(f);
	while (source_next(native_feed_source(f), &batch, NULL) == SOURCE_OK) {
		b->records += batch.n;
		for (size_t i = 0; i < batch.n; i++)
			b->events += tallied(&batch.ev[i]);
	}
}

static void free_scan(struct scan *s)
{
	g_ptr_array_set_free_func(s->decoders, (GDestroyNotify)ctf_decoder_free);
	g_ptr_array_free(s->decoders, TRUE);
	ctf_meta_free(s->meta);
	g_free(s);
}

static void run_metadata(struct bench *b)
{
	b->layouts = layouts_new();
	b->matcher = blk_matcher_new(b->rows, 0);
	struct scan *s = open_scan(b, b->path);

	b->bytes = s->bytes;
	for (guint i = 0; i < s->meta->streams->len; i++)
		b->records += ((struct ctf_stream_class *)s->meta->streams->pdata[i])->events->len;
	free_scan(s);
	blk_matcher_free(b->matcher);
	g_hash_table_unref(b->layouts);
}

static void run_index(struct bench *b)
{
	native_free(open_native(b));
}

/* ---- instants ---- */

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

struct took { int64_t wall, cpu; };

/* The first events from `at` on: how long until they are there? */
static struct took seek(struct native *n, int64_t at)
{
	struct took t = { -now(CLOCK_MONOTONIC), -now(CLOCK_PROCESS_CPUTIME_ID) };
	g_autoptr(blk_source) s = native_range(n, at, INT64_MAX, 0);
	struct blk_batch batch;

	while (source_next(s, &batch, NULL) == SOURCE_OK)
		if (batch.ev[batch.n - 1].ts >= at)
			break;
	t.wall += now(CLOCK_MONOTONIC);
	t.cpu += now(CLOCK_PROCESS_CPUTIME_ID);
	return t;
}

static void print_seeks(struct bench *b)
{
	g_autoptr(blk_native) n = open_native(b);
	g_autoptr(GRand) rand = g_rand_new_with_seed(1);
	int64_t from, to, wall[N_SEEKS], cpu[N_SEEKS];

	if (!native_bounds(n, &from, &to))
		fail("no packets");
	for (int i = 0; i < N_SEEKS; i++) {
		int64_t at = from + (int64_t)(g_rand_double(rand) * (double)(to - from));
		wall[i] = cpu[i] = INT64_MAX;
		for (int k = 0; k < N_TRIES; k++) {
			struct took t = seek(n, at);
			wall[i] = MIN(wall[i], t.wall);
			cpu[i] = MIN(cpu[i], t.cpu);
		}
	}
	qsort(wall, N_SEEKS, sizeof *wall, compare_times);
	qsort(cpu, N_SEEKS, sizeof *cpu, compare_times);
	printf("median_ms %.3f\nmax_ms %.3f\nmedian_cpu_ms %.3f\nmax_cpu_ms %.3f\n",
	       (double)wall[N_SEEKS / 2] / 1e6, (double)wall[N_SEEKS - 1] / 1e6,
	       (double)cpu[N_SEEKS / 2] / 1e6, (double)cpu[N_SEEKS - 1] / 1e6);
}

static void print_cuts(struct bench *b)
{
	g_autoptr(blk_native) n = open_native(b);
	g_autofree int64_t *cuts = g_new(int64_t, b->pieces);
	int64_t from, to;

	if (!native_bounds(n, &from, &to))
		fail("no packets");
	printf("from %" PRId64 "\nto %" PRId64 "\n", from, to);
	size_t n_cuts = native_cuts(n, from, to, b->pieces, cuts);
	for (size_t i = 0; i < n_cuts; i++)
		printf("cut %" PRId64 "\n", cuts[i]);
}

/* ---- the command ---- */

static const struct mode {
	const char *name;
	bool maps;
	void (*run)(struct bench *b);
	void (*print)(struct bench *b);	/* instead of repeated runs */
} modes[] = {
	{ "sum", true, run_sum, NULL }, { "scan", true, run_scan, NULL },
	{ "merge", false, run_merge, NULL }, { "model", false, run_model, NULL },
	{ "fed", false, run_fed, NULL },
	{ "index", false, run_index, NULL }, { "metadata", false, run_metadata, NULL },
	{ "seek", false, NULL, print_seeks },
	{ "cuts", false, NULL, print_cuts },
};

/* CPU time: others use the machine too, and all is done by one thread. */
static void run(struct bench *b, const struct mode *m)
{
	int64_t best = INT64_MAX;

	for (int i = 0; i < b->repeat; i++) {
		b->events = b->bytes = b->records = 0;
		int64_t begin = now(CLOCK_PROCESS_CPUTIME_ID);
		m->run(b);
		best = MIN(best, now(CLOCK_PROCESS_CPUTIME_ID) - begin);
	}
	printf("events %" PRIu64 "\nrecords %" PRIu64 "\nbytes %" PRIu64 "\nms %.3f\n", b->events,
	       b->records, b->bytes, (double)best / 1e6);
	if (b->events)
		printf("ns_per_event %.2f\n", (double)best / (double)b->events);
}

static void parse(struct bench *b, int argc, char **argv)
{
	int i = 2;

	for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
		int64_t value = g_ascii_strtoll(argv[i + 1], NULL, 10);
		if (strcmp(argv[i], "--repeat") == 0)
			b->repeat = (int)value;
		else if (strcmp(argv[i], "--from") == 0)
			b->from = value;
		else if (strcmp(argv[i], "--to") == 0)
			b->to = value;
		else if (strcmp(argv[i], "--pieces") == 0)
			b->pieces = (size_t)MAX(value, 1);
		else
			fail("unknown option");
	}
	if (i + 1 != argc)
		fail("usage: bench-native MODE [--repeat N] [--from NS] [--to NS] [--pieces N] TRACE");
	b->path = argv[i];
}

int main(int argc, char **argv)
{
	struct bench b = { .repeat = 1, .from = INT64_MIN, .to = INT64_MAX, .pieces = 2 };

	b.rows = slice_subscriptions(&b.n_rows);
	parse(&b, argc, argv);
	for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
		if (strcmp(argv[1], modes[i].name) != 0)
			continue;
		if (modes[i].maps)
			map_files(&b);
		if (modes[i].print)
			modes[i].print(&b);
		else
			run(&b, &modes[i]);
		return 0;
	}
	fail("unknown mode");
	return 1;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the packets of a stream file are: from its index file, or from the packet headers. See ctf_index.h. */
#include "trace/ctf/ctf_index.h"

#include "trace/ctf/ctf_bits.h"
#include "trace/reader.h"

#include "base/disk.h"
#include "base/fail.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define IDX_MAGIC 0xc1f1dcc1
#define IDX_HEADER 16
#define IDX_ENTRY_1_0 56	/* bytes */
#define IDX_ENTRY_1_1 72
#define IDX_ENTRY_MOST 4096
#define IDX_CHUNK (256 * 1024)

#define HEADER_GUESS 256	/* bytes; larger than the packet headers of all known tracers */

G_STATIC_ASSERT(sizeof(off_t) == 8);

#define FEWEST_BACKWARD 4		/* packets; with fewer it is not worthwhile */
#define SMALLEST_SIZE_LOG2 12		/* sub-buffers are powers of two, at least a page */
#define LARGEST_SIZE_LOG2 40

/* Consecutive packets, by offset; grows at both ends. */
struct packet_list {
	struct ctf_packet *all;
	size_t first, n, room;
};

static inline const struct ctf_packet *packets_at(const struct packet_list *p, size_t i)
{
	return &p->all[p->first + i];
}

enum ctf_walk { CTF_WALK_UNDECIDED, CTF_WALK_FORWARD, CTF_WALK_BACKWARD, CTF_WALK_DONE };

struct ctf_index {
	const struct ctf_meta *meta;
	char *path;
	int fd;			/* -1: closed by ctf_index_close_file() */
	uint64_t size;
	uint64_t common;	/* bytes of the first whole packet; 0: none yet */
	bool has_file;		/* an index file is used */
	enum ctf_walk walk;
	struct packet_list oldest;	/* from the beginning of the file to oldest_end */
	struct packet_list newest;	/* from newest_begin to the end of the file; joined to .oldest at the end */
	uint64_t oldest_end, newest_begin;	/* offsets, oldest_end <= newest_begin */
};

/* ---- consecutive packets ---- */

static void packets_room(struct packet_list *p, size_t before, size_t behind)
{
	if (p->first >= before && p->room - p->first - p->n >= behind)
		return;
	size_t room = MAX(64, p->n * 2 + before + behind);
	struct ctf_packet *all = g_new(struct ctf_packet, room);
	size_t first = before ? room - p->n - behind : 0;

	if (p->n)
		memcpy(all + first, p->all + p->first, p->n * sizeof *all);
	g_free(p->all);
	*p = (struct packet_list){ .all = all, .first = first, .n = p->n, .room = room };
}

static void packets_push_back(struct packet_list *p, const struct ctf_packet *packet)
{
	packets_room(p, 0, 1);
	p->all[p->first + p->n++] = *packet;
}

static void packets_push_front(struct packet_list *p, const struct ctf_packet *packet)
{
	packets_room(p, 1, 0);
	p->all[--p->first] = *packet;
	p->n++;
}

static void packets_clear(struct packet_list *p)
{
	g_free(p->all);
	*p = (struct packet_list){ 0 };
}

/* ---- files ---- */

static int open_regular(const char *path, uint64_t *ret_size, GError **error)
{
	g_autoptr(GError) why = NULL;
	int fd = files_open_unlinked(path, &why);
	struct stat st;

	if (fd < 0) {
		bool missing = g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT) ||
			       g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOTDIR);
		bool other = g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_LOOP) ||
			     g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_ISDIR) ||
			     g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_INVAL);
		g_set_error_literal(error, BLK_TRACE_ERROR, missing ? BLK_TRACE_ERROR_NOT_FOUND :
				    other ? BLK_TRACE_ERROR_CORRUPT : BLK_TRACE_ERROR_ACCESS, why->message);
		return -1;
	}
	if (fstat(fd, &st) != 0 || st.st_size < 0) {
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT, "cannot read '%s': its size is unknown",
			    path);
		close(fd);
		return -1;
	}
	*ret_size = (uint64_t)st.st_size;
	return fd;
}

/* Reads the packet header at `offset` of a file that ends at `limit` (bytes). */
static bool read_header_at(const struct ctf_index *x, uint64_t offset, uint64_t limit,
			   struct ctf_packet *ret, GError **error)
{
	uint8_t guess[HEADER_GUESS];
	g_autofree uint8_t *more = NULL;
	uint8_t *bytes = guess;
	size_t n = MIN(sizeof guess, limit - offset), need = 0;

	for (;;) {
		size_t got = disk_read_some(ctf_index_fd(x), bytes, n, offset);
		if (got < n && errno)
			return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_ACCESS,
				    "cannot read %s: %s", x->path, g_strerror(errno));
		if (got < n)		/* the file was shortened meanwhile */
			limit = offset + got;
		if (ctf_packet_read(x->meta, bytes, got, offset, limit, ret, &need, error))
			return true;
		if (need <= n)
			break;
		/* At least doubled, as the header may consist of many small fields. */
		n = MIN(MAX(need, 2 * n), limit - offset);
		g_free(more);
		bytes = more = g_malloc(n);
	}
	g_prefix_error(error, "%s at byte %" G_GUINT64_FORMAT ": ", x->path, offset);
	return false;
}

/* ---- index files ---- */

static uint64_t be64(const uint8_t *p)
{
	return ctf_bits(p, 0, 64, true);
}

/* Reads an index entry. The file's first packet determines which values it has. False: they are impossible. */
static bool read_entry(const struct ctf_index *x, const uint8_t *e, size_t length,
		       const struct ctf_packet *first, struct ctf_packet *ret)
{
	struct ctf_packet p = {
		.offset = be64(e), .packet_bits = be64(e + 8), .content_bits = be64(e + 16),
		.begin = be64(e + 24), .end = be64(e + 32), .discarded = be64(e + 40),
		.stream_id = be64(e + 48), .cpu = UINT32_MAX,
		.has_begin = first->has_begin, .has_end = first->end_bits,
		.begin_bits = first->begin_bits, .end_bits = first->end_bits,
		.has_discarded = first->has_discarded, .discarded_bits = first->discarded_bits,
	};

	if (length >= IDX_ENTRY_1_1) {
		p.instance = be64(e + 56);
		p.seq = be64(e + 64);
		p.has_instance = first->has_instance;
		p.has_seq = first->has_seq;
	}
	if (p.offset != x->oldest_end || p.packet_bits % 8 || p.packet_bits / 8 == 0 ||
	    p.packet_bits / 8 > x->size - x->oldest_end || p.packet_bits / 8 > LIMIT_PACKET_BYTES ||
	    p.content_bits > p.packet_bits ||
	    p.content_bits < first->header_bits || p.stream_id != first->stream_id)
		return false;
	if (p.has_begin && p.has_end && (p.end < p.begin || p.end == 0))
		return false;
	if (p.has_begin && x->oldest.n &&
	    p.begin < packets_at(&x->oldest, x->oldest.n - 1)->begin)
		return false;
	*ret = p;
	return true;
}

/* Are both the same packet? `entry` is from the index file, `header` from the packet. */
static bool agree(const struct ctf_packet *entry, const struct ctf_packet *header)
{
	uint64_t counted = header->discarded_bits ? G_MAXUINT64 >> (64 - header->discarded_bits)
						  : 0;

	return header->fault == CTF_WHOLE && !header->other_uuid && entry->offset == header->offset &&
	       entry->packet_bits == header->packet_bits &&
	       entry->content_bits == header->content_bits &&
	       entry->stream_id == header->stream_id &&
	       (!header->has_begin || entry->begin == header->begin) &&
	       (!header->has_end || entry->end == header->end) &&
	       ((entry->discarded ^ header->discarded) & counted) == 0 &&
	       (!entry->has_instance || entry->instance == header->instance) &&
	       (!entry->has_seq || entry->seq == header->seq);
}

static bool take_entries(struct ctf_index *x, const uint8_t *bytes, size_t n, size_t length,
			 const struct ctf_packet *first)
{
	struct ctf_packet p;

	for (size_t at = 0; at + length <= n; at += length) {
		if (!read_entry(x, bytes + at, length, first, &p))
			return false;
		packets_push_back(&x->oldest, &p);
		x->oldest_end += p.packet_bits / 8;
		if (x->oldest_end == x->size)
			return false;		/* further entries belong to no packet */
	}
	return true;
}

static void read_entries(struct ctf_index *x, int fd, const struct ctf_packet *first)
{
	g_autofree uint8_t *bytes = NULL;
	uint8_t header[IDX_HEADER];
	uint64_t at = IDX_HEADER;
	size_t got;

	if (!disk_read_at(fd, header, sizeof header, 0) ||
	    ctf_bits(header, 0, 32, true) != IDX_MAGIC || ctf_bits(header, 32, 32, true) != 1)
		return;
	size_t length = ctf_bits(header, 96, 32, true);
	if (length < IDX_ENTRY_1_0 || length > IDX_ENTRY_MOST)
		return;
	if (length < IDX_ENTRY_1_1 && first->has_seq)
		return;		/* this entry has no sequence number: only packet headers show which packets are
				 * missing */
	size_t chunk = IDX_CHUNK / length * length;
	bytes = g_malloc(chunk);
	while ((got = disk_read_some(fd, bytes, chunk, at)) > 0) {
		if (!take_entries(x, bytes, got, length, first) || got < chunk)
			break;
		at += chunk;
	}
}

static bool is_believed(const struct ctf_index *x, size_t i)
{
	struct ctf_packet p = *packets_at(&x->oldest, i);

	return ctf_index_check(x, &p, NULL);
}

/* Compares the first and the last entry with the packet headers. If they differ, searches the last entry that agrees
 * and drops those after it. */
static void check_entries(struct ctf_index *x)
{
	size_t good = 0, bad = x->oldest.n;

	if (!x->oldest.n || !is_believed(x, 0)) {
		packets_clear(&x->oldest);
		x->oldest_end = 0;
		return;
	}
	if (is_believed(x, bad - 1))
		return;
	for (bad--; bad - good > 1;) {
		size_t middle = good + (bad - good) / 2;
		if (is_believed(x, middle))
			good = middle;
		else
			bad = middle;
	}
	x->oldest_end = packets_at(&x->oldest, bad)->offset;
	x->oldest.n = bad;
}

static void read_index_file(struct ctf_index *x, const char *dir, const char *name,
			    const struct ctf_packet *first)
{
	g_autofree char *file = g_strconcat(name, ".idx", NULL);
	g_autofree char *path = g_build_filename(dir, "index", file, NULL);
	uint64_t size;
	auto_fd fd = open_regular(path, &size, NULL);

	if (fd < 0)
		return;
	read_entries(x, fd, first);
	check_entries(x);
	x->has_file = x->oldest.n > 0;
}

/* ---- opening ---- */

/* Begins with the first packet, which may be all. If it is not whole, it may end before the file does: the walk finds
 * out. */
static void begin_walk(struct ctf_index *x, const struct ctf_packet *first)
{
	x->walk = CTF_WALK_UNDECIDED;
	x->newest_begin = x->size;
	if (first->fault == CTF_WHOLE || first->packet_bits / 8 < x->size) {
		packets_push_back(&x->oldest, first);
		x->oldest_end = first->packet_bits / 8;
		if (x->oldest_end == x->size)
			x->walk = CTF_WALK_DONE;
	} else {
		x->oldest_end = 0;
		ctf_index_walk(x, 1);
	}
}

static bool read_begin(struct ctf_index *x, const char *dir, const char *name, GError **error)
{
	struct ctf_packet first;

	if (x->size == 0) {
		x->walk = CTF_WALK_DONE;
		return true;
	}
	if (!read_header_at(x, 0, x->size, &first, error))
		return false;
	if (first.fault == CTF_WHOLE && !ctf_packet_is_narrow(&first)) {
		x->common = first.packet_bits / 8;
		read_index_file(x, dir, name, &first);
	}
	if (x->oldest.n) {
		x->oldest.all[x->oldest.first] = first;
		x->walk = x->oldest_end == x->size ? CTF_WALK_DONE : CTF_WALK_FORWARD;
	} else {
		begin_walk(x, &first);
	}
	return true;
}

struct ctf_index *ctf_index_open(const struct ctf_meta *m, const char *dir, const char *name,
				 GError **error)
{
	struct ctf_index *x = g_new0(struct ctf_index, 1);

	x->meta = m;
	x->path = g_build_filename(dir, name, NULL);
	x->fd = open_regular(x->path, &x->size, error);
	x->newest_begin = x->size;
	if (x->fd < 0 || !read_begin(x, dir, name, error)) {
		ctf_index_free(x);
		return NULL;
	}
	return x;
}

void ctf_index_distrust(struct ctf_index *x)
{
	struct ctf_packet first;

	packets_clear(&x->oldest);
	packets_clear(&x->newest);
	x->has_file = false;
	x->newest_begin = x->size;
	x->oldest_end = 0;
	if (x->size == 0)
		return;
	if (read_header_at(x, 0, x->size, &first, NULL)) {
		begin_walk(x, &first);
	} else {		/* it was damaged meanwhile: the walk makes a packet with .fault of it */
		x->walk = CTF_WALK_FORWARD;
		ctf_index_walk(x, 1);
	}
}

void ctf_index_free(struct ctf_index *x)
{
	if (!x)
		return;
	if (x->fd >= 0)
		close(x->fd);
	packets_clear(&x->oldest);
	packets_clear(&x->newest);
	g_free(x->path);
	g_free(x);
}

bool ctf_index_complete(const struct ctf_index *x)
{
	return x->walk == CTF_WALK_DONE;
}

double ctf_index_progress(const struct ctf_index *x)
{
	if (x->walk == CTF_WALK_DONE)
		return 1;
	return (double)(x->oldest_end + (x->size - x->newest_begin)) / (double)x->size;
}

const struct ctf_packet *ctf_index_packets(const struct ctf_index *x, size_t *ret_n)
{
	const struct packet_list *known = x->newest.n ? &x->newest : &x->oldest;

	*ret_n = known->n;
	return known->n ? packets_at(known, 0) : NULL;
}

bool ctf_index_check(const struct ctf_index *x, struct ctf_packet *p, GError **error)
{
	struct ctf_packet header;

	if (p->checked)
		return true;
	if (!read_header_at(x, p->offset, x->size, &header, error))
		return false;
	if (!agree(p, &header))
		return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT,
			    "%s at byte %" G_GUINT64_FORMAT ": packet header and index file disagree",
			    x->path, p->offset);
	*p = header;
	return true;
}

int ctf_index_fd(const struct ctf_index *x)
{
	if (x->fd < 0)		/* it was closed by ctf_index_close_file() */
		((struct ctf_index *)x)->fd = ctf_index_reopen(x);
	return x->fd;
}

int ctf_index_reopen(const struct ctf_index *x)
{
	uint64_t size;
	return open_regular(x->path, &size, NULL);
}

void ctf_index_close_file(struct ctf_index *x)
{
	if (x->fd >= 0)
		close(x->fd);
	x->fd = -1;
}

void ctf_index_forget_packets(struct ctf_index *x)
{
	packets_clear(&x->oldest);
	packets_clear(&x->newest);
}

uint64_t ctf_index_size(const struct ctf_index *x)
{
	return x->size;
}

const char *ctf_index_name(const struct ctf_index *x)
{
	return x->path;
}

bool ctf_index_has_file(const struct ctf_index *x)
{
	return x->has_file;
}

/*
 * ---- the walk over packet headers ----
 *
 * For a file without an index, or with one that disagrees with the headers. Tracers give all packets of
 * a buffer one size, except those that a timer flushed. So the newest packets are found from the file's
 * end backwards, in steps of the first packet's size; each must be proven by its own header. Where that
 * stops, the walk continues forwards from the beginning until both meet. Damage becomes a packet with
 * its .fault.
 */

static uint64_t bytes_of(const struct ctf_packet *p)
{
	return p->packet_bits / 8;
}

static bool is_header(const struct ctf_index *x, uint64_t offset, uint64_t limit)
{
	struct ctf_packet p;

	return offset < limit && read_header_at(x, offset, limit, &p, NULL);
}

/* The end of the packet at `offset` that does not say its size: the next packet header at a usual distance, or the
 * limit. */
static uint64_t find_end(const struct ctf_index *x, uint64_t offset, uint64_t limit)
{
	uint64_t left = limit - offset;

	if (x->common)
		return x->common < left && is_header(x, offset + x->common, limit) ?
		       offset + x->common : limit;
	for (int log2 = SMALLEST_SIZE_LOG2; log2 <= LARGEST_SIZE_LOG2; log2++) {
		uint64_t size = (uint64_t)1 << log2;
		if (size >= left)
			break;
		if (is_header(x, offset + size, limit))
			return offset + size;
	}
	return limit;
}

static void end_at(struct ctf_packet *p, uint64_t end)
{
	g_assert(end > p->offset);
	p->packet_bits = (end - p->offset) * 8;
	p->content_bits = MIN(p->content_bits, p->packet_bits);
}

/* Bytes that cannot be read; their times are not known. */
static struct ctf_packet garbage(uint64_t offset, uint64_t end)
{
	uint64_t bits = MIN(end - offset, G_MAXUINT64 / 8) * 8;

	return (struct ctf_packet){ .offset = offset, .packet_bits = bits, .cpu = UINT32_MAX,
				    .fault = CTF_GARBAGE, .checked = true };
}

/* ---- forwards ---- */

static void join(struct ctf_index *x)
{
	g_assert(x->oldest_end == x->newest_begin);
	for (size_t i = 0; i < x->newest.n; i++)
		packets_push_back(&x->oldest, packets_at(&x->newest, i));
	packets_clear(&x->newest);
	x->oldest_end = x->newest_begin = x->size;
	x->walk = CTF_WALK_DONE;
}

/* Reads the packet at oldest_end. The packets from newest_begin on are proven, so no packet reaches into them. */
static void step_forward(struct ctf_index *x)
{
	uint64_t at = x->oldest_end, limit = x->newest_begin, end;
	struct ctf_packet p;

	g_assert(at < limit);

	if (!read_header_at(x, at, limit, &p, NULL)) {
		p = garbage(at, limit);
		end = limit;
	} else {
		end = p.fault == CTF_WHOLE ? at + bytes_of(&p) : limit;
		if (p.fault == CTF_UNFINISHED && bytes_of(&p) < limit - at)
			end = at + bytes_of(&p);
		else if (p.fault == CTF_UNFINISHED)
			end = find_end(x, at, limit);
		if (p.fault != CTF_WHOLE && limit - at <= G_MAXUINT64 / 8)
			end_at(&p, end);
		if (p.fault == CTF_WHOLE && !x->common)
			x->common = bytes_of(&p);
		if (x->oldest.n)
			ctf_packet_follow(&p, ctf_packet_latest(packets_at(&x->oldest, x->oldest.n - 1)));
	}
	packets_push_back(&x->oldest, &p);
	x->oldest_end = end;
	if (end == limit)
		join(x);
}

/* ---- backwards ---- */

static void take_newest(struct ctf_index *x, const struct ctf_packet *p)
{
	packets_push_front(&x->newest, p);
	x->newest_begin = p->offset;
}

/* Reads the packet before newest_begin. False: no packet of the usual size is there. */
static bool step_backward(struct ctf_index *x)
{
	g_assert(x->newest.n && x->oldest.n && x->newest_begin >= x->common);
	const struct ctf_packet *next = packets_at(&x->newest, 0);
	const struct ctf_packet *first = packets_at(&x->oldest, 0);
	uint64_t at = x->newest_begin - x->common;
	struct ctf_packet p;

	if (!read_header_at(x, at, x->newest_begin, &p, NULL) ||
	    p.stream_id != first->stream_id || bytes_of(&p) != x->common ||
	    p.fault == CTF_CUT_OFF)
		return false;
	if (next->fault != CTF_GARBAGE && p.has_begin && p.begin > next->begin)
		return false;
	take_newest(x, &p);
	return true;
}

/* Reads the last packet (or its remaining part) and the one before. True: all packets seem to have one size. */
static bool begin_backward(struct ctf_index *x)
{
	uint64_t tail = x->size % x->common;
	uint64_t at = x->size - (tail ? tail : x->common);
	struct ctf_packet p;

	if (x->oldest.n != 1 || x->size / x->common < FEWEST_BACKWARD)
		return false;
	const struct ctf_packet *first = packets_at(&x->oldest, 0);
	if (bytes_of(first) != x->common)
		return false;
	if (!read_header_at(x, at, x->size, &p, NULL)) {
		if (!tail)
			return false;
		p = garbage(at, x->size);
	} else if (bytes_of(&p) != x->size - at || p.stream_id != first->stream_id) {
		return false;
	}
	take_newest(x, &p);
	if (step_backward(x))
		return true;
	packets_clear(&x->newest);
	x->newest_begin = x->size;
	return false;
}

bool ctf_index_walk(struct ctf_index *x, size_t max)
{
	for (size_t i = 0; i < max && x->walk != CTF_WALK_DONE; i++) {
		if (x->walk == CTF_WALK_UNDECIDED)
			x->walk = x->common && begin_backward(x) ? CTF_WALK_BACKWARD
								 : CTF_WALK_FORWARD;
		else if (x->walk == CTF_WALK_BACKWARD && !step_backward(x))
			x->walk = CTF_WALK_FORWARD;
		if (x->walk == CTF_WALK_FORWARD)
			step_forward(x);
		else if (x->newest_begin == x->oldest_end)
			join(x);
	}
	return x->walk != CTF_WALK_DONE;
}

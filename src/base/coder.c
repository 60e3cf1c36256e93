/* SPDX-License-Identifier: GPL-2.0-only */
/* Values as bytes: see coder.h. */
#include "base/coder.h"

#include "base/timefmt.h"

#include <string.h>

#define VALUE_BYTES 10		/* a value has at most so many */

/* The bytes of a column. */
struct coder_column {
	uint8_t *out;			/* writing: .len of .room bytes are used */
	size_t len, room;
	const uint8_t *at, *end;	/* reading */
};

struct coder_columns {
	struct coder_column column[CODER_SETS * CODER_COLUMNS];
	unsigned set, next;		/* of the row; the column of its next value */
	bool rest;
	size_t bytes;			/* of all columns */
};

void coder_refuse(struct coder *c, const char *why)
{
	if (!c->fault)
		c->fault = why;
	c->at = c->end;
	for (unsigned i = 0; c->columns && !c->out && i < G_N_ELEMENTS(c->columns->column); i++)
		c->columns->column[i].at = c->columns->column[i].end;
}

void coder_bound(struct coder *c, size_t most)
{
	if (c->out && c->out->len + (c->columns ? c->columns->bytes : 0) > most)
		coder_refuse(c, "it is too large");
}

/* ---- columns ---- */

void coder_row(struct coder *c, unsigned set)
{
	g_assert(set < CODER_SETS);
	if (!c->columns)
		return;
	c->columns->set = set;
	c->columns->next = 0;
	c->columns->rest = false;
}

void coder_skip(struct coder *c)
{
	if (c->columns && !c->columns->rest)
		c->columns->next++;
}

void coder_rest(struct coder *c)
{
	if (c->columns)
		c->columns->rest = true;
}

/* The column of the next value; NULL: it is in no row. */
static struct coder_column *next_column(struct coder *c)
{
	struct coder_columns *all = c->columns;

	if (!all || !all->set)
		return NULL;
	unsigned at = MIN(all->next, CODER_COLUMNS - 1);
	all->next += !all->rest;
	return &all->column[all->set * CODER_COLUMNS + at];
}

static void column_grow(struct coder_column *x, size_t n)
{
	x->room = MAX(2 * x->room, x->len + n + 64);
	x->out = g_realloc(x->out, x->room);
}

/* Raw bytes. */
static void append(struct coder *c, const void *bytes, size_t n)
{
	struct coder_column *x = next_column(c);

	if (!x) {
		g_byte_array_append(c->out, bytes, (guint)n);
		return;
	}
	if (x->room - x->len < n)
		column_grow(x, n);
	memcpy(x->out + x->len, bytes, n);
	x->len += n;
	c->columns->bytes += n;
}

/* Where the next value is read; *ret_end: the end of these bytes. */
static const uint8_t **place(struct coder *c, const uint8_t **ret_end)
{
	struct coder_column *x = next_column(c);

	*ret_end = x ? x->end : c->end;
	return x ? &x->at : &c->at;
}

/* No array that is read has more values than this. */
static size_t most_values(const struct coder *c)
{
	return (size_t)(c->end - c->at) + (c->columns ? c->columns->bytes : 0);
}

#define CUT_OFF "it is cut off"
#define TOO_LARGE "a number is too large"
#define BAD_ID "an id is not there"

/* Returns the number of bytes. */
static inline unsigned write_number(uint8_t *to, uint64_t v)
{
	unsigned n = 0;

	for (; v >= 0x80; v >>= 7)
		to[n++] = (uint8_t)(v | 0x80);
	to[n++] = (uint8_t)v;
	return n;
}

static void put(struct coder *c, uint64_t v)
{
	struct coder_column *x = next_column(c);
	uint8_t bytes[VALUE_BYTES];

	if (!x) {
		g_byte_array_append(c->out, bytes, write_number(bytes, v));
		return;
	}
	if (x->room - x->len < VALUE_BYTES)
		column_grow(x, VALUE_BYTES);
	unsigned n = write_number(x->out + x->len, v);
	x->len += n;
	c->columns->bytes += n;
}

static uint64_t get(struct coder *c)
{
	const uint8_t *end, **at = place(c, &end);
	uint64_t v = 0;

	for (unsigned shift = 0; *at < end; shift += 7) {
		uint8_t byte = *(*at)++;
		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	coder_refuse(c, *at == end ? CUT_OFF : TOO_LARGE);
	return 0;
}

void code_u64(struct coder *c, uint64_t *v)
{
	if (c->out)
		put(c, *v);
	else
		*v = get(c);
}

/* A number up to `most`. */
static uint64_t code_up_to(struct coder *c, uint64_t v, uint64_t most)
{
	code_u64(c, &v);
	if (v <= most)
		return v;
	coder_refuse(c, TOO_LARGE);
	return 0;
}

void code_u32(struct coder *c, uint32_t *v)
{
	*v = (uint32_t)code_up_to(c, *v, UINT32_MAX);
}

void code_u16(struct coder *c, uint16_t *v)
{
	*v = (uint16_t)code_up_to(c, *v, UINT16_MAX);
}

void code_u8(struct coder *c, uint8_t *v)
{
	*v = (uint8_t)code_up_to(c, *v, UINT8_MAX);
}

void code_bool(struct coder *c, bool *v)
{
	*v = code_up_to(c, c->out ? *v : 0, 1);
}

static uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

void code_i64(struct coder *c, int64_t *v)
{
	uint64_t z = c->out ? zigzag(*v) : 0;

	code_u64(c, &z);
	*v = unzigzag(z);
}

void code_i32(struct coder *c, int32_t *v)
{
	*v = (int32_t)unzigzag(code_up_to(c, zigzag(*v), UINT32_MAX));
}

void code_i16(struct coder *c, int16_t *v)
{
	*v = (int16_t)unzigzag(code_up_to(c, zigzag(*v), UINT16_MAX));
}

void code_below(struct coder *c, uint8_t *v, unsigned n)
{
	code_u8(c, v);
	if (*v < n)
		return;
	coder_refuse(c, TOO_LARGE);
	if (!c->out)
		*v = 0;
}

void code_id(struct coder *c, uint32_t *v, uint32_t n, bool none)
{
	uint64_t id = (uint64_t)*v + none;

	if (none)		/* 0: none */
		id &= UINT32_MAX;
	code_u64(c, &id);
	if (id < (uint64_t)n + none) {
		*v = (uint32_t)(id - none);
		return;
	}
	coder_refuse(c, BAD_ID);
	if (!c->out)
		*v = none ? UINT32_MAX : 0;
}

void coder_ids_init(struct coder_ids *ids, uint32_t n)
{
	const uint32_t none = 0;

	g_assert(n > 0);
	ids->written = g_new0(uint32_t, n);
	ids->used = g_array_new(false, false, sizeof none);
	g_array_append_val(ids->used, none);
}

void coder_ids_clear(struct coder_ids *ids)
{
	g_free(ids->written);
	g_array_unref(ids->used);
	*ids = (struct coder_ids){ 0 };
}

void code_used_id(struct coder *c, uint32_t *v, uint32_t n, struct coder_ids *ids)
{
	if (!c->out) {
		code_id(c, v, n, false);
		return;
	}
	if (*v >= n) {
		coder_refuse(c, BAD_ID);
		return;
	}
	if (*v && !ids->written[*v]) {
		ids->written[*v] = ids->used->len;
		g_array_append_val(ids->used, *v);
	}
	put(c, ids->written[*v]);
}

enum { TS_MIN, TS_MAX, TS_NEAR };

/* Differences of instants within the bounds fit in 63 bits. */
void code_ts(struct coder *c, int64_t *v)
{
	uint64_t code = zigzag((int64_t)((uint64_t)*v - (uint64_t)c->ts)) + TS_NEAR;

	if (*v == INT64_MIN)
		code = TS_MIN;
	else if (*v == INT64_MAX)
		code = TS_MAX;
	code_u64(c, &code);
	if (code < TS_NEAR) {
		*v = code == TS_MIN ? INT64_MIN : INT64_MAX;
		return;
	}
	*v = (int64_t)((uint64_t)unzigzag(code - TS_NEAR) + (uint64_t)c->ts);
	bool outside = !c->out && (c->from || c->to) && *v && (*v < c->from || *v > c->to);
	if (*v < -TIME_MOST_NS || *v > TIME_MOST_NS || outside) {
		coder_refuse(c, "an instant is too far away");
		*v = c->out ? *v : 0;
	}
	c->ts = *v;
}

void coder_check_event(struct coder *c, int64_t ts)
{
	if (!c->out && (ts < c->first || ts > c->last))
		coder_refuse(c, "an event is outside of the coverage");
}

void code_event_ts(struct coder *c, int64_t *v)
{
	code_ts(c, v);
	coder_check_event(c, *v);
}

void code_ns(struct coder *c, int64_t *v)
{
	code_i64(c, v);
	if (*v > -CODER_NS_END && *v < CODER_NS_END)
		return;
	coder_refuse(c, "a time is too long");
	if (!c->out)
		*v = 0;
}

void code_seq(struct coder *c, uint64_t *v)
{
	int64_t difference = (int64_t)(*v - c->seq);

	code_i64(c, &difference);
	c->seq = *v = c->seq + (uint64_t)difference;
	if (c->out || !c->seq_end || *v < c->seq_end)
		return;
	coder_refuse(c, "an event's number is too large");
	c->seq = *v = 0;
}

void code_bytes(struct coder *c, void *bytes, size_t n)
{
	if (c->out) {
		append(c, bytes, n);
		return;
	}
	const uint8_t *end, **at = place(c, &end);
	if ((size_t)(end - *at) >= n) {
		memcpy(bytes, *at, n);
		*at += n;
	} else {
		memset(bytes, 0, n);
		coder_refuse(c, CUT_OFF);
	}
}

void code_slice(struct coder *c, const char **bytes, uint32_t *len, uint32_t most)
{
	code_u32(c, len);
	if (c->out) {
		append(c, *bytes, *len);
		return;
	}
	const uint8_t *end, **at = place(c, &end);
	if (*len > most || *len > (size_t)(end - *at)) {
		coder_refuse(c, *len > most ? "a text is too long" : CUT_OFF);
		*len = 0;
	}
	*bytes = (const char *)*at;
	*at += *len;
	if (memchr(*bytes, 0, *len))
		coder_refuse(c, "a text has a NUL");
}

void code_text(struct coder *c, char **text)
{
	const char *bytes = c->out ? *text : "";
	uint32_t len = (uint32_t)strlen(bytes);

	code_slice(c, &bytes, &len, UINT32_MAX);
	coder_take(c, len + CODER_OWN_BYTES);
	if (!c->out)
		*text = g_strndup(bytes, c->fault ? 0 : len);
}

void coder_take(struct coder *c, uint64_t bytes)
{
	if (c->out || !c->room)
		return;
	if (bytes > *c->room)
		coder_refuse(c, CODER_NO_ROOM);
	else
		*c->room -= bytes;
}

uint32_t code_len(struct coder *c, size_t n, unsigned least, size_t each)
{
	uint64_t len = n;

	g_assert(!c->out || n < UINT32_MAX);
	code_u64(c, &len);
	if (c->out)
		return (uint32_t)len;
	if (len > most_values(c) / least)
		coder_refuse(c, CUT_OFF);
	else
		coder_take(c, len * each);
	return c->fault ? 0 : (uint32_t)len;
}

void code_ids(struct coder *c, GArray **a, uint32_t n)
{
	uint32_t len = code_len(c, c->out && *a ? (*a)->len : 0, 1, sizeof len), before = 0;

	if (!c->out)
		*a = len ? g_array_sized_new(false, false, sizeof(uint32_t), len) : NULL;
	for (uint32_t i = 0; i < len && !c->fault; i++) {
		uint32_t id = c->out ? g_array_index(*a, uint32_t, i) : 0;
		int64_t difference = (int64_t)id - before;
		code_i64(c, &difference);
		if (difference < -(int64_t)before || difference >= (int64_t)n - before) {
			coder_refuse(c, BAD_ID);
			difference = -(int64_t)before;
		}
		before = id = (uint32_t)(before + difference);
		if (!c->out)
			g_array_append_val(*a, id);
	}
	if (!c->out && c->fault)
		g_clear_pointer(a, g_array_unref);
}

/* ---- the bytes of columns ---- */

/* How many bytes each column has. */
static void read_heads(struct coder *c, uint64_t len[CODER_SETS * CODER_COLUMNS])
{
	uint32_t n = code_len(c, 0, 2, 0);
	uint64_t next = CODER_COLUMNS;		/* set 0 has no rows */

	for (uint32_t i = 0; i < n && !c->fault; i++) {
		uint64_t at = 0;
		code_u64(c, &at);
		if (at < next || at >= CODER_SETS * CODER_COLUMNS) {
			coder_refuse(c, "its columns are not in order");
			break;
		}
		code_u64(c, &len[at]);
		next = at + 1;
	}
}

void coder_columns_begin(struct coder *c)
{
	g_assert(!c->columns && (!c->out || !c->out->len));
	struct coder_columns *all = g_new0(struct coder_columns, 1);
	if (c->out) {
		c->columns = all;
		return;
	}
	uint64_t len[CODER_SETS * CODER_COLUMNS] = { 0 };
	read_heads(c, len);
	const uint8_t *end = c->end;
	for (unsigned i = G_N_ELEMENTS(len); i-- > 0;) {
		if (len[i] > (size_t)(end - c->at))
			coder_refuse(c, CUT_OFF);
		size_t n = c->fault ? 0 : len[i];
		all->column[i].end = end;
		all->column[i].at = end -= n;
		all->bytes += n;
	}
	c->end = c->fault ? c->at : end;
	c->columns = all;
	if (c->fault)
		coder_refuse(c, c->fault);	/* empties all columns */
}

static void write_columns(struct coder *c, struct coder_columns *all)
{
	g_autoptr(GByteArray) single = g_byte_array_new();
	uint32_t n = 0;

	g_byte_array_append(single, c->out->data, c->out->len);
	g_byte_array_set_size(c->out, 0);
	for (unsigned i = 0; i < G_N_ELEMENTS(all->column); i++)
		n += all->column[i].len > 0;
	code_u32(c, &n);
	for (unsigned i = 0; i < G_N_ELEMENTS(all->column); i++) {
		uint64_t at = i, len = all->column[i].len;
		if (!len)
			continue;
		code_u64(c, &at);
		code_u64(c, &len);
	}
	g_byte_array_append(c->out, single->data, single->len);
	for (unsigned i = 0; i < G_N_ELEMENTS(all->column); i++)
		g_byte_array_append(c->out, all->column[i].out, (guint)all->column[i].len);
}

void coder_columns_end(struct coder *c)
{
	g_autofree struct coder_columns *all = g_steal_pointer(&c->columns);

	if (c->out)
		write_columns(c, all);
	for (unsigned i = 0; i < G_N_ELEMENTS(all->column); i++) {
		if (!c->out && all->column[i].at != all->column[i].end)
			coder_refuse(c, "it is too long");
		g_free(all->column[i].out);
	}
}

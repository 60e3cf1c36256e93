/* SPDX-License-Identifier: GPL-2.0-only */
/* Values as bytes: see coder.h. */
#include "base/coder.h"

#include "base/limits.h"
#include "base/timefmt.h"

#include <string.h>

#define TS_END (LIMIT_TIME_SECONDS * NS_PER_S)

void coder_refuse(struct coder *c, const char *why)
{
	if (!c->fault)
		c->fault = why;
	c->at = c->end;
}

void coder_bound(struct coder *c, size_t most)
{
	if (c->out && c->out->len > most)
		coder_refuse(c, "it is too large");
}

#define CUT_OFF "it is cut off"
#define TOO_LARGE "a number is too large"
#define BAD_ID "an id is not there"

static void put(struct coder *c, uint64_t v)
{
	uint8_t bytes[10];
	unsigned n = 0;

	for (; v >= 0x80; v >>= 7)
		bytes[n++] = (uint8_t)(v | 0x80);
	bytes[n++] = (uint8_t)v;
	g_byte_array_append(c->out, bytes, n);
}

static uint64_t get(struct coder *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; c->at < c->end; shift += 7) {
		uint8_t byte = *c->at++;
		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	coder_refuse(c, c->at == c->end ? CUT_OFF : TOO_LARGE);
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
	if (*v < -TS_END || *v > TS_END || outside) {
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
		g_byte_array_append(c->out, bytes, (guint)n);
	} else if ((size_t)(c->end - c->at) >= n) {
		memcpy(bytes, c->at, n);
		c->at += n;
	} else {
		memset(bytes, 0, n);
		coder_refuse(c, CUT_OFF);
	}
}

void code_slice(struct coder *c, const char **bytes, uint32_t *len, uint32_t most)
{
	code_u32(c, len);
	if (c->out) {
		g_byte_array_append(c->out, (const guint8 *)*bytes, *len);
		return;
	}
	if (*len > most || *len > (size_t)(c->end - c->at)) {
		coder_refuse(c, *len > most ? "a text is too long" : CUT_OFF);
		*len = 0;
	}
	*bytes = (const char *)c->at;
	c->at += *len;
	if (memchr(*bytes, 0, *len))
		coder_refuse(c, "a text has a NUL");
}

void code_text(struct coder *c, char **text)
{
	const char *bytes = c->out ? *text : "";
	uint32_t len = (uint32_t)strlen(bytes);

	code_slice(c, &bytes, &len, UINT32_MAX);
	if (!c->out)
		*text = g_strndup(bytes, c->fault ? 0 : len);
}

uint32_t code_len(struct coder *c, size_t n, unsigned least)
{
	uint64_t len = n;

	g_assert(!c->out || n < UINT32_MAX);
	code_u64(c, &len);
	if (c->out || len <= (size_t)(c->end - c->at) / least)
		return (uint32_t)len;
	coder_refuse(c, CUT_OFF);
	return 0;
}

void code_ids(struct coder *c, GArray **a, uint32_t n)
{
	uint32_t len = code_len(c, c->out && *a ? (*a)->len : 0, 1), before = 0;

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

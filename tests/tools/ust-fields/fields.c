/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Emits events with all kinds of fields, for the recording tests/traces/ust-fields:
 *
 *     fields ROUNDS
 *
 * and offers the application context "$app.fields:value", whose type changes from
 * event to event (a variant in the trace).
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "fields_tp.h"

#include <lttng/ust-events.h>
#include <lttng/ust-ringbuffer-context.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* lttng-ust exports the call for language bindings, but has no public header for it. */
struct lttng_ust_registered_context_provider;
struct provider {
	uint32_t struct_size;
	char *name;
	size_t (*get_size)(void *priv, struct lttng_ust_probe_ctx *probe, size_t offset);
	void (*record)(void *priv, struct lttng_ust_probe_ctx *probe,
		       struct lttng_ust_ring_buffer_ctx *to, struct lttng_ust_channel_buffer *chan);
	void (*get_value)(void *priv, struct lttng_ust_probe_ctx *probe, void *value);
	void *priv;
};
struct lttng_ust_registered_context_provider *
lttng_ust_context_provider_register(const struct provider *provider);

static unsigned turn;			/* which type the context has */

/* In order of the variant's options, behind "none". */
static const struct { size_t size, align; } types[] = {
	{ 0, 1 },
	{ 1, 1 }, { 2, lttng_ust_rb_alignof(int16_t) }, { 4, lttng_ust_rb_alignof(int32_t) },
	{ 8, lttng_ust_rb_alignof(int64_t) },
	{ 1, 1 }, { 2, lttng_ust_rb_alignof(uint16_t) }, { 4, lttng_ust_rb_alignof(uint32_t) },
	{ 8, lttng_ust_rb_alignof(uint64_t) },
	{ 4, lttng_ust_rb_alignof(float) }, { 8, lttng_ust_rb_alignof(double) },
	{ 6, 1 },
};
#define N_TYPES (sizeof types / sizeof types[0])

static size_t get_size(void *priv, struct lttng_ust_probe_ctx *probe, size_t offset)
{
	size_t at = offset + 1;
	at += lttng_ust_ring_buffer_align(at, types[turn % N_TYPES].align);
	return at + types[turn % N_TYPES].size - offset;
}

static void record(void *priv, struct lttng_ust_probe_ctx *probe,
		   struct lttng_ust_ring_buffer_ctx *to, struct lttng_ust_channel_buffer *chan)
{
	char tag = (char)(turn % N_TYPES);
	union { uint8_t bytes[8]; float f; double d; char text[8]; } v = { .text = "value" };
	if (tag == 9)
		v.f = 1.5f;
	else if (tag == 10)
		v.d = -0.1;
	chan->ops->event_write(to, &tag, 1, 1);
	if (types[(int)tag].size)
		chan->ops->event_write(to, &v, types[(int)tag].size, types[(int)tag].align);
}

static void get_value(void *priv, struct lttng_ust_probe_ctx *probe, void *value)
{
}

static struct provider provider = {
	sizeof provider, (char *)"$app.fields", get_size, record, get_value, NULL,
};

static void emit(unsigned i)
{
	static const char *const texts[] = { "", "a", "four", "exact", "longer than five", "b\xc3\xa4\x01\xff" };
	static const int32_t ints[16] = { 1, -2, 3, INT32_MIN, INT32_MAX, 0, 7 };
	static const uint16_t shorts[16] = { 0x1234, 0xfffe, 80, 443 };
	static const double reals[] = { 0, -0.0, 1.5, 1e300, 3.14159, -INFINITY };
	const char *text = texts[i % 6];
	char padded[32] = "";
	strcpy(padded, text);
	uint64_t v = (uint64_t)i * 0x9e3779b97f4a7c15u;

	lttng_ust_tracepoint(fields, integers, v);
	lttng_ust_tracepoint(fields, network, v, shorts, i % 9);
	turn++;
	lttng_ust_tracepoint(fields, texts, padded, i % 20);
	lttng_ust_tracepoint(fields, many, ints, i % 11);
	turn++;
	lttng_ust_tracepoint(fields, reals, reals[i % 6]);
	lttng_ust_tracepoint(fields, enums, (int)(i % 25) - 12);
	turn++;
	lttng_ust_tracepoint(fields, nothing);
	lttng_ust_tracepoint(fields, first, (int)i, text);
	turn++;
	lttng_ust_tracepoint(fields, second, -(int)i, text);
	turn++;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
	struct timespec pause = { 0, 2000000 };
	lttng_ust_context_provider_register(&provider);
	nanosleep(&(struct timespec){ 0, 300000000 }, NULL);
	for (unsigned i = 0; i < rounds; i++) {
		emit(i);
		nanosleep(&pause, NULL);
	}
	return 0;
}

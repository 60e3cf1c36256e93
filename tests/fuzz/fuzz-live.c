/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Live sessions, of which replies contradict each other: indexes and packets, streams and metadata, what
 * comes again, late, or before what it needs. The client (lib/fuzz_relay.h), the decoder and the model
 * take them; of few (one of 100) all views and exports are made, and what is kept on disk is read.
 *
 * Input: a conversation (lib/mutate_live.h), which the mutator knows. Seeds are recorded ones.
 */
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzzer.h"
#include "lib/sources.h"
#include "lib/fuzz_model.h"
#include "lib/fuzz_relay.h"
#include "lib/mutate_live.h"
#include "lib/test_traces.h"
#include "trace/native/native.h"

#define MEMORY (1u << 20)
#define MANY 100			/* one of so many is looked at as a whole */
#define SOME 10

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | (GLogLevelFlags)G_LOG_FATAL_MASK);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return mutate_live_input(data, size, max_size, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t n_one, const uint8_t *two, size_t n_two, uint8_t *out,
				 size_t max_size, unsigned seed)
{
	return mutate_live_cross(one, n_one, two, n_two, out, max_size, seed);
}

/* ---- what the relay says ---- */

struct talk {
	GPtrArray *replies;		/* those given out are NULL */
	guint first;			/* no reply before it is left */
};

/* The next one to that question; NULL: there is none left. */
static struct reply *take(struct talk *t, unsigned command, unsigned stream)
{
	for (guint i = t->first; i < t->replies->len; i++) {
		struct reply *r = g_ptr_array_index(t->replies, i);
		if (!r || r->command != command || r->stream != stream) {
			t->first += !r && i == t->first;
			continue;
		}
		g_ptr_array_index(t->replies, i) = NULL;
		return r;
	}
	return NULL;
}

static void say_streams(const GByteArray *b, GByteArray *said)
{
	static const char *const paths[] = {
		"kernel", "ust/uid/0/64-bit", "ust/pid/server-100-20261123-145604", "ust/uid/1000/64-bit", "../../../x",
		"a\033[31mb", "", "ust/pid/\xff\xfe",
	};
	fake_say_padded(said, b->data, b->len, 4);
	guint n = (b->len - MIN(b->len, 4)) / REPLY_STREAM;
	fake_say_u32(said, n);
	for (guint i = 0; i < n; i++) {
		const uint8_t *s = b->data + 4 + i * REPLY_STREAM;
		g_byte_array_append(said, s, 20);
		fake_say_text(said, paths[s[20] % G_N_ELEMENTS(paths)], VIEWER_PATH_SIZE);
		fake_say_text(said, s[19] ? "metadata" : "chan_0", VIEWER_NAME_SIZE);
	}
}

static void say_packet(const GByteArray *b, uint32_t len, GByteArray *said)
{
	guint head = MIN(b->len, VIEWER_PACKET_HEAD), at = said->len;
	fake_say_padded(said, b->data, head, VIEWER_PACKET_HEAD);
	viewer_put_u32(said->data + at + 4, len);
	if (viewer_u32(said->data + at) == VIEWER_PACKET_OK)
		fake_say_padded(said, b->data + head, b->len - head, len);
}

static void say_metadata(const GByteArray *b, GByteArray *said)
{
	guint head = MIN(b->len, VIEWER_METADATA_HEAD), at = said->len;
	fake_say_padded(said, b->data, head, VIEWER_METADATA_HEAD);
	bool has = viewer_u32(said->data + at + 8) == VIEWER_METADATA_OK;
	viewer_put_u64(said->data + at, has ? b->len - head : 0);
	if (has)
		g_byte_array_append(said, b->data + head, b->len - head);
}

/* There is nothing left: the conversation comes to its end. */
static void say_end(unsigned command, GByteArray *said)
{
	static const uint32_t status[] = {
		[VIEWER_ATTACH] = VIEWER_UNKNOWN, [VIEWER_NEXT_INDEX] = VIEWER_INDEX_HUP, [VIEWER_PACKET] = VIEWER_PACKET_ERR,
		[VIEWER_METADATA] = VIEWER_METADATA_NONE, [VIEWER_NEW_STREAMS] = VIEWER_STREAMS_HUP, [VIEWER_CREATE] = 1,
		[VIEWER_DETACH] = 1,
	};
	static const guint sizes[] = {
		[VIEWER_CONNECT] = 20, [VIEWER_LIST] = 4, [VIEWER_ATTACH] = 8, [VIEWER_NEXT_INDEX] = VIEWER_INDEX_SIZE,
		[VIEWER_PACKET] = VIEWER_PACKET_HEAD, [VIEWER_METADATA] = VIEWER_METADATA_HEAD, [VIEWER_NEW_STREAMS] = 8,
		[VIEWER_CREATE] = 4, [VIEWER_DETACH] = 4,
	};
	static const uint8_t hello[] = { 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 15, 0, 0, 0, 1 };
	guint at = said->len;
	fake_say_padded(said, hello, command == VIEWER_CONNECT ? sizeof hello : 0, sizes[command]);
	if (command == VIEWER_CONNECT || command == VIEWER_LIST)
		return;
	guint where = command == VIEWER_NEXT_INDEX ? 56 : command == VIEWER_METADATA ? 8 : 0;
	viewer_put_u32(said->data + at + where, status[command]);
}

static void answer(void *data, unsigned command, const uint8_t *payload, GByteArray *said)
{
	bool of_stream = command == VIEWER_NEXT_INDEX || command == VIEWER_PACKET || command == VIEWER_METADATA;
	struct reply *r = take(data, command, of_stream ? payload[7] : 0);
	if (!r)
		say_end(command, said);
	else if (r->raw)
		g_byte_array_append(said, r->bytes->data, r->bytes->len);
	else if (command == VIEWER_ATTACH || command == VIEWER_NEW_STREAMS)
		say_streams(r->bytes, said);
	else if (command == VIEWER_PACKET)
		say_packet(r->bytes, viewer_u32(payload + 16), said);
	else if (command == VIEWER_METADATA)
		say_metadata(r->bytes, said);
	else if (command == VIEWER_NEXT_INDEX)
		fake_say_padded(said, r->bytes->data, r->bytes->len, VIEWER_INDEX_SIZE);
	else
		g_byte_array_append(said, r->bytes->data, r->bytes->len);
	reply_free(r);
}

/* ---- one input ---- */

/* What was kept is a trace, whole or not. */
static void read_spool(const char *dir)
{
	const char *const paths[] = { dir, NULL };
	struct fuzz_taken taken = { .last = INT64_MIN };
	size_t n_rows;
	const struct blk_subscription *rows = slice_subscriptions(&n_rows);
	struct source *s = source_open_native(paths, rows, n_rows, NULL);
	if (s)
		g_assert_cmpint(fuzz_take(s, &taken, G_MAXINT), ==, SOURCE_END);
	source_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t hash = fuzz_hash(data, size);
	bool all = fuzz_one_of(hash, MANY);
	g_autofree char *dir = all ? test_temp_dir() : NULL;
	struct talk t = { .replies = replies_parse(data, size) };
	struct fuzz_model m;
	struct fuzz_taken taken = { .last = INT64_MIN, .see = fuzz_model_see, .data = &m };
	const struct model_options options = {
		.live = true, .provisional = hash >> 32 & 1, .memory_budget = fuzz_one_of(hash >> 24, SOME) ? MEMORY : 0,
	};
	size_t n_rows;
	const struct blk_subscription *rows = slice_subscriptions(&n_rows);
	fuzz_model_begin(&m, &options, options.memory_budget);
	fuzz_relay_run(&(struct fuzz_relay){
		.answer = answer, .data = &t, .format = (enum viewer_format)(hash >> 40 & 7 ? VIEWER_FORMAT_UNKNOWN : hash >> 43 & 3),
		.spool = dir, .taken = &taken,
	}, rows, n_rows);
	fuzz_model_finish(&m);
	if (all)
		fuzz_model_show(&m);
	fuzz_model_clear(&m);
	g_ptr_array_unref(t.replies);
	if (dir) {
		read_spool(dir);
		test_remove_tree(dir);
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instead of a network and a clock, below the client of the viewer protocol: what is asked is answered by a
 * function, and the clock goes on only where somebody waits. The functions of net.h and the clock are
 * replaced (--wrap: the Makefile and fuzz.mk name them for each program that links this).
 */
#ifndef BLK_TEST_FAKE_NET_H
#define BLK_TEST_FAKE_NET_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Appends the reply to fake_net.said; false: none comes before the deadline, and the question stays. */
typedef bool (*fake_answer)(uint32_t command, const uint8_t *payload, uint64_t size, int64_t deadline);

extern struct fake_net {
	int64_t now;			/* us */
	int64_t read_us;		/* that each reading takes */
	GByteArray *asked, *said;	/* not looked at yet; the reply, not read yet from .said_at on */
	size_t said_at;
	fake_answer answer;
	void (*slept)(void);		/* somebody waited; or NULL */
} fake_net;

/* The clock begins at now_us. */
void fake_net_begin(int64_t now_us, fake_answer answer);
void fake_net_end(void);

/* Parts of replies. text: a field of `size` bytes, padded with zeros; as bytes are. */
void fake_say_u32(GByteArray *said, uint32_t v);
void fake_say_u64(GByteArray *said, uint64_t v);
void fake_say_text(GByteArray *said, const char *text, size_t size);
void fake_say_padded(GByteArray *said, const uint8_t *bytes, size_t n, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#include "lib/fake_net.h"

#include <string.h>

#include "live/viewer/viewer.h"

struct fake_net fake_net;

void fake_net_begin(int64_t now_us, fake_answer answer)
{
	fake_net = (struct fake_net){
		.now = now_us, .answer = answer, .asked = g_byte_array_new(), .said = g_byte_array_new(),
	};
}

void fake_net_end(void)
{
	g_byte_array_unref(fake_net.asked);
	g_byte_array_unref(fake_net.said);
}

void fake_say_u32(GByteArray *said, uint32_t v)
{
	uint8_t p[4];
	viewer_put_u32(p, v);
	g_byte_array_append(said, p, sizeof p);
}

void fake_say_u64(GByteArray *said, uint64_t v)
{
	uint8_t p[8];
	viewer_put_u64(p, v);
	g_byte_array_append(said, p, sizeof p);
}

void fake_say_text(GByteArray *said, const char *text, size_t size)
{
	fake_say_padded(said, (const uint8_t *)text, strlen(text), size);
}

void fake_say_padded(GByteArray *said, const uint8_t *bytes, size_t n, size_t size)
{
	guint at = said->len;
	g_byte_array_set_size(said, at + (guint)size);
	if (n)
		memcpy(said->data + at, bytes, MIN(n, size));
	if (n < size)
		memset(said->data + at + n, 0, size - n);
}

static void forget_reply(void)
{
	g_byte_array_set_size(fake_net.said, 0);
	fake_net.said_at = 0;
}

/* Of the next question. False: there is none, or no answer comes. */
static bool answer_next(int64_t deadline)
{
	const uint8_t *p = fake_net.asked->data;

	if (fake_net.asked->len < VIEWER_HEADER)
		return false;
	uint64_t size = viewer_u64(p);
	g_assert_cmpuint(size, <=, fake_net.asked->len - VIEWER_HEADER);
	forget_reply();
	if (!fake_net.answer(viewer_u32(p + 8), p + VIEWER_HEADER, size, deadline))
		return false;
	g_byte_array_remove_range(fake_net.asked, 0, (guint)(VIEWER_HEADER + size));
	return true;
}

bool __wrap_net_connect(struct net *n, const char *host, uint16_t port, int family, int wake_fd, int64_t deadline,
			GError **error);
size_t __wrap_net_read_some(struct net *n, void *buf, size_t max, int64_t deadline, GError **error);
bool __wrap_net_read(struct net *n, void *buf, size_t len, int64_t deadline, GError **error);
bool __wrap_net_write(struct net *n, const void *buf, size_t len, int64_t deadline, GError **error);
bool __wrap_net_sleep(int wake_fd, int64_t deadline);
gint64 __wrap_g_get_monotonic_time(void);

bool __wrap_net_connect(struct net *n, const char *host, uint16_t port, int family, int wake_fd, int64_t deadline,
			GError **error)
{
	*n = (struct net){ .fd = -1, .wake_fd = wake_fd };
	g_byte_array_set_size(fake_net.asked, 0);
	forget_reply();
	return true;
}

size_t __wrap_net_read_some(struct net *n, void *buf, size_t max, int64_t deadline, GError **error)
{
	fake_net.now += fake_net.read_us;
	while (fake_net.said_at == fake_net.said->len)
		if (!answer_next(deadline)) {
			fake_net.now = MAX(fake_net.now, deadline);
			g_set_error_literal(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT, "no answer in time");
			return 0;
		}
	size_t got = MIN(max, fake_net.said->len - fake_net.said_at);
	memcpy(buf, fake_net.said->data + fake_net.said_at, got);
	fake_net.said_at += got;
	return got;
}

bool __wrap_net_read(struct net *n, void *buf, size_t len, int64_t deadline, GError **error)
{
	for (size_t got; len > 0; buf = (char *)buf + got, len -= got) {
		got = __wrap_net_read_some(n, buf, len, deadline, error);
		if (!got)
			return false;
	}
	return true;
}

bool __wrap_net_write(struct net *n, const void *buf, size_t len, int64_t deadline, GError **error)
{
	g_byte_array_append(fake_net.asked, buf, (guint)len);
	return true;
}

bool __wrap_net_sleep(int wake_fd, int64_t deadline)
{
	fake_net.now = MAX(fake_net.now, deadline);
	if (fake_net.slept)
		fake_net.slept();
	return false;
}

gint64 __wrap_g_get_monotonic_time(void)
{
	return fake_net.now;
}

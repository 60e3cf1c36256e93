/* SPDX-License-Identifier: GPL-2.0-only */
/* A relay that is made up: see fake_relay.h. */
#include "fake_relay.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static bool read_request(struct relay *r, const struct relay_step *s, struct net *n)
{
	g_autofree uint8_t *buf = g_malloc(s->ask + 1);

	if (!net_read(n, buf, s->ask, NET_FOREVER, NULL))
		return false;
	if (s->wanted && memcmp(buf, s->wanted->data, s->ask) != 0)
		g_atomic_int_inc(&r->unwanted);
	return true;
}

static void talk(struct relay *r, struct net *n)
{
	for (guint i = 0; i < r->steps->len; i++) {
		const struct relay_step *s = &g_array_index(r->steps, struct relay_step, i);
		if (!read_request(r, s, n) ||
		    !net_write(n, s->text->data, s->text->len, NET_FOREVER, NULL))
			return;
	}
	if (r->hang)
		net_sleep(r->wake_fd, NET_FOREVER);
}

/* The next viewer; false: the test is over. */
static bool accept_one(struct relay *r, struct net *n)
{
	struct pollfd fds[] = { { .fd = r->wake_fd, .events = POLLIN },
				{ .fd = r->listener, .events = POLLIN } };

	do {
		if (poll(fds, 2, -1) > 0 && fds[0].revents)
			return false;
		n->fd = accept4(r->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	} while (n->fd < 0);
	n->wake_fd = r->wake_fd;
	return true;
}

static gpointer relay_thread(gpointer data)
{
	struct relay *r = data;
	struct net n = { .fd = -1 };

	while (accept_one(r, &n)) {
		talk(r, &n);
		net_close(&n);
	}
	return NULL;
}

static void add(struct relay *r, size_t ask, GByteArray *wanted, const void *text, size_t len)
{
	struct relay_step s = { ask, wanted, g_byte_array_new() };

	g_byte_array_append(s.text, text, (guint)len);
	g_array_append_val(r->steps, s);
}

void relay_add_step(struct relay *r, size_t ask, const void *text, size_t len)
{
	add(r, ask, NULL, text, len);
}

void relay_add_answer(struct relay *r, enum viewer_command command, const void *payload,
		      size_t size, const void *text, size_t len)
{
	GByteArray *wanted = g_byte_array_new();
	uint8_t head[VIEWER_HEADER] = { 0 };

	viewer_put_u64(head, size);
	viewer_put_u32(head + 8, command);
	g_byte_array_append(wanted, head, sizeof head);
	if (size)
		g_byte_array_append(wanted, payload, (guint)size);
	add(r, wanted->len, wanted, text, len);
}

void relay_add_hello(struct relay *r, uint32_t major, uint32_t minor)
{
	uint8_t hello[VIEWER_CONNECT_SIZE] = { 0 };

	viewer_put_u32(hello + 8, major);
	viewer_put_u32(hello + 12, minor);
	viewer_put_u32(hello + 16, 1);
	relay_add_step(r, VIEWER_HEADER + VIEWER_CONNECT_SIZE, hello, sizeof hello);
}

void relay_add_list(struct relay *r, uint32_t claim, const GByteArray *list)
{
	g_autoptr(GByteArray) text = g_byte_array_new();
	uint8_t count[4];

	viewer_put_u32(count, claim);
	g_byte_array_append(text, count, sizeof count);
	if (list)
		g_byte_array_append(text, list->data, list->len);
	relay_add_step(r, VIEWER_HEADER, text->data, text->len);
}

void relay_put_session(GByteArray *list, uint64_t id, const char *host, const char *name,
		       uint32_t streams, uint32_t viewers)
{
	uint8_t e[VIEWER_ENTRY_SIZE] = { 0 };

	viewer_put_u64(e, id);
	viewer_put_u32(e + 8, 1000000);
	viewer_put_u32(e + 12, viewers);
	viewer_put_u32(e + 16, streams);
	memcpy(e + 20, host, MIN(strlen(host), VIEWER_HOST_SIZE));
	memcpy(e + 20 + VIEWER_HOST_SIZE, name, MIN(strlen(name), VIEWER_NAME_SIZE));
	g_byte_array_append(list, e, sizeof e);
}

static void clear_step(gpointer p)
{
	struct relay_step *s = p;

	g_byte_array_unref(s->text);
	if (s->wanted)
		g_byte_array_unref(s->wanted);
}

struct relay *relay_new(bool hang)
{
	struct relay *r = g_new0(struct relay, 1);

	r->steps = g_array_new(FALSE, TRUE, sizeof(struct relay_step));
	g_array_set_clear_func(r->steps, clear_step);
	r->hang = hang;
	r->wake_fd = net_wake_new();
	r->listener = net_listen_local(&r->port, NULL);
	g_assert_cmpint(r->listener, >=, 0);
	return r;
}

struct live_url relay_start(struct relay *r)
{
	r->thread = g_thread_new("relay", relay_thread, r);
	return (struct live_url){ .host = (char *)"127.0.0.1", .port = r->port };
}

void relay_free(struct relay *r)
{
	net_wake(r->wake_fd);
	if (r->thread)
		g_thread_join(r->thread);
	close(r->listener);
	close(r->wake_fd);
	g_array_unref(r->steps);
	g_free(r);
}

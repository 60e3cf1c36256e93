/* SPDX-License-Identifier: GPL-2.0-only */
/* Both ends of a handover: see handover.h. */
#include "live/tracefs/handover.h"

#include "live/tracefs/state.h"

#include "base/fail.h"
#include "base/pass.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MESSAGE_BYTES 63		/* of a state's text */

struct handover *handover_new(void)
{
	struct handover *h = g_new0(struct handover, 1);
	h->alive = -1;
	h->cpus = g_array_new(FALSE, FALSE, sizeof(struct tracefs_cpu));
	return h;
}

static void close_if(int fd)
{
	if (fd >= 0)
		close(fd);
}

void handover_free(struct handover *h)
{
	if (!h)
		return;
	for (guint i = 0; i < h->cpus->len; i++) {
		const struct tracefs_cpu *c = &g_array_index(h->cpus, struct tracefs_cpu, i);
		close_if(c->pages);
		close_if(c->statistics);
	}
	g_array_unref(h->cpus);
	close_if(h->alive);
	if (h->state)
		g_byte_array_unref(h->state);
	capture_setup_clear(&h->setup);
	g_free(h);
}

/* ---- sending ---- */

static bool send_one(int to, char letter, const char *text, int fd, GError **error)
{
	g_autofree char *message = g_strdup_printf("%c%s", letter, text);
	return pass_send(to, message, strlen(message), fd) ||
	       fail(error, TRACEFS_ERROR, 0, "cannot pass the kernel's ring buffer to the reader: %s",
		    g_strerror(errno));
}

/* Bytes are passed as a file in memory: they may be longer than a message. */
static bool send_bytes(int to, char letter, const char *text, const GByteArray *bytes, GError **error)
{
	int fd = memfd_create("blktop", MFD_CLOEXEC);
	bool is_written = fd >= 0;
	for (size_t done = 0; is_written && done < bytes->len;) {
		ssize_t n = write(fd, bytes->data + done, bytes->len - done);
		is_written = n > 0 || (n < 0 && errno == EINTR);
		done += n > 0 ? (size_t)n : 0;
	}
	bool is_sent = is_written ? send_one(to, letter, text, fd, error) :
		fail(error, TRACEFS_ERROR, 0, "cannot store what the reader needs: %s", g_strerror(errno));
	close_if(fd);
	return is_sent;
}

static bool send_state(int to, char letter, const struct handover *what, GError **error)
{
	g_autofree char *text = g_strdup_printf("state %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, what->state_begin,
						what->state_end);
	return send_bytes(to, letter, text, what->state, error);
}

void handover_read_state(struct handover *h)
{
	h->state = g_byte_array_new();
	h->state_begin = tracefs_clock(CLOCK_MONOTONIC);
	tracefs_state_read("", h->state);
	h->state_end = tracefs_clock(CLOCK_MONOTONIC);
}

bool handover_answer(int asked, GError **error)
{
	char byte = 0;
	ssize_t n = recv(asked, &byte, 1, MSG_DONTWAIT);
	if (n <= 0 || byte != 's')
		return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
	struct handover *h = handover_new();
	handover_read_state(h);
	bool done = send_state(asked, '=', h, error);
	handover_free(h);
	return done;
}

bool handover_send(int to, char letter, const struct handover *what, const struct tracefs_instance *i, GError **error)
{
	g_autoptr(GByteArray) setup = g_byte_array_new();
	struct coder coder = { .out = setup };
	struct capture_setup copy = what->setup;
	code_capture_setup(&coder, &copy);
	if (!send_bytes(to, letter, "setup", setup, error) || !send_state(to, letter, what, error) ||
	    !send_one(to, letter, "alive", what->alive, error))
		return false;
	size_t n;
	const struct tracefs_cpu *cpus = tracefs_instance_cpus(i, &n);
	for (size_t k = 0; k < n; k++) {
		g_autofree char *pages = g_strdup_printf("pages %u", cpus[k].number);
		g_autofree char *statistics = g_strdup_printf("statistics %u", cpus[k].number);
		if (!send_one(to, letter, pages, cpus[k].pages, error) ||
		    !send_one(to, letter, statistics, cpus[k].statistics, error))
			return false;
	}
	return send_one(to, letter, "complete", -1, error);
}

/* ---- taking ---- */

static GByteArray *read_bytes(int fd)
{
	struct stat st;
	if (fd < 0 || fstat(fd, &st) || st.st_size < 0 || st.st_size > G_MAXINT)
		return NULL;
	GByteArray *bytes = g_byte_array_new();
	g_byte_array_set_size(bytes, (guint)st.st_size);
	for (size_t done = 0; done < bytes->len;) {
		ssize_t n = pread(fd, bytes->data + done, bytes->len - done, (off_t)done);
		if (n <= 0) {
			g_byte_array_unref(bytes);
			return NULL;
		}
		done += (size_t)n;
	}
	return bytes;
}

bool handover_ask_state(const struct handover *h)
{
	return send(h->alive, "s", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

GByteArray *handover_take_state(const struct handover *h, uint64_t *ret_begin, uint64_t *ret_end)
{
	char text[MESSAGE_BYTES + 1];
	int fd;
	ssize_t n = pass_receive(h->alive, text, sizeof text - 1, &fd);
	text[MAX(n, 0)] = '\0';
	bool is_state = sscanf(text, "=state %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, ret_begin, ret_end) == 2;
	GByteArray *bytes = is_state ? read_bytes(fd) : NULL;
	close_if(fd);
	return bytes;
}

static void take_setup(struct handover *h, const GByteArray *bytes)
{
	struct coder c = { .at = bytes->data, .end = bytes->data + bytes->len };
	capture_setup_clear(&h->setup);
	code_capture_setup(&c, &h->setup);
	h->has_setup = !c.fault && h->setup.header_page && *h->setup.header_page;
}

/* Keeps the descriptor. False: it is not expected. */
static bool take_cpu(struct handover *h, unsigned number, bool is_pages, int fd)
{
	if (is_pages) {
		struct tracefs_cpu cpu = { .number = number, .pages = fd, .statistics = -1 };
		g_array_append_val(h->cpus, cpu);
		return true;
	}
	struct tracefs_cpu *last = h->cpus->len ? &g_array_index(h->cpus, struct tracefs_cpu, h->cpus->len - 1) : NULL;
	if (!last || last->number != number || last->statistics >= 0)
		return false;
	last->statistics = fd;
	return true;
}

void handover_take(struct handover *h, const char *text, int fd)
{
	unsigned number;
	bool is_kept = false;
	bool is_setup = !strcmp(text, "setup");
	if (is_setup ||
	    sscanf(text, "state %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, &h->state_begin, &h->state_end) == 2) {
		GByteArray *bytes = read_bytes(fd);
		if (bytes && is_setup) {
			take_setup(h, bytes);
			g_byte_array_unref(bytes);
		} else if (bytes && !h->state) {
			h->state = bytes;
		}
	} else if (!strcmp(text, "alive") && h->alive < 0) {
		h->alive = fd;
		is_kept = true;
	} else if (fd >= 0 && sscanf(text, "pages %u", &number) == 1) {
		is_kept = take_cpu(h, number, true, fd);
	} else if (fd >= 0 && sscanf(text, "statistics %u", &number) == 1) {
		is_kept = take_cpu(h, number, false, fd);
	} else if (!strcmp(text, "complete")) {
		h->is_complete = true;
	}
	if (!is_kept)
		close_if(fd);
}

bool handover_is_complete(const struct handover *h)
{
	return h->is_complete && h->has_setup && h->state && h->alive >= 0 && h->cpus->len;
}

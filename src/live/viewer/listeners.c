/* SPDX-License-Identifier: GPL-2.0-only */
/* Who listens on ports of this machine: see listeners.h. */
#include "live/viewer/listeners.h"

#include "base/each.h"
#include "base/fail.h"
#include "base/user.h"
#include "trace/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERNAL BLK_TRACE_ERROR, BLK_TRACE_ERROR_INTERNAL

#define STATE_LISTEN 0x0a
#define V4_DIGITS 8
#define V6_DIGITS 32
/* The kernel reads a table in parts, and a socket may be missing from a table that changes meanwhile. */
#define READINGS 3

/* --- the tables --- */

enum { WORD_LOCAL = 1, WORD_STATE = 3, WORD_UID = 7, WORD_INODE = 9, WORDS };

static bool number(const char *digits, unsigned base, uint64_t max, uint64_t *ret)
{
	return g_ascii_string_to_unsigned(digits, base, 0, max, ret, NULL);
}

/* "0100007F:14E0"; the address has 8 digits, or 32. */
static bool parse_port(const char *local, uint64_t *ret)
{
	size_t n = strspn(local, "0123456789ABCDEFabcdef");

	return (n == V4_DIGITS || n == V6_DIGITS) && local[n] == ':' && strlen(local + n + 1) == 4 &&
	       number(local + n + 1, 16, UINT16_MAX, ret);
}

/* "0: 0100007F:14E0 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000  0 12345 ..."; changes `row`. */
static bool parse_row(char *row, struct listener *ret, bool *ret_listens)
{
	char *word[WORDS], *rest = NULL;
	uint64_t port, state, uid;
	size_t n = 0;

	for (char *w = strtok_r(row, " \n", &rest); w && n < WORDS; w = strtok_r(NULL, " \n", &rest))
		word[n++] = w;
	if (n < WORDS || !parse_port(word[WORD_LOCAL], &port) || strlen(word[WORD_STATE]) != 2 ||
	    !number(word[WORD_STATE], 16, UINT8_MAX, &state) || !number(word[WORD_UID], 10, UINT32_MAX, &uid) ||
	    !number(word[WORD_INODE], 10, UINT64_MAX, &ret->inode))
		return false;
	ret->port = (uint16_t)port;
	ret->uid = (uint32_t)uid;
	*ret_listens = state == STATE_LISTEN;
	return true;
}

bool listeners_parse(FILE *table, GArray *into, GError **error)
{
	char *line = NULL;
	size_t room = 0;
	unsigned n = 0;
	bool ok = true;
	struct listener l;
	bool listens = false;

	for (ssize_t len; ok && (len = getline(&line, &room, table)) > 0; n++) {
		bool whole = line[len - 1] == '\n' && strlen(line) == (size_t)len;
		ok = whole && (n == 0 ? g_str_has_prefix(line, "  sl  local_address ") : parse_row(line, &l, &listens));
		if (ok && n > 0 && listens)
			g_array_append_val(into, l);
	}
	free(line);
	if (!ok)
		return fail(error, INTERNAL, "line %u is not in the format of Linux", n);
	if (ferror(table))
		return fail(error, INTERNAL, "%s", g_strerror(errno));
	return n > 0 || fail(error, INTERNAL, "it is empty");
}

static bool add_table(const char *path, bool optional, GArray *into, GError **error)
{
	g_autoptr(GError) why = NULL;
	FILE *table = fopen(path, "re");

	if (!table && optional && errno == ENOENT)	/* a kernel without IPv6 */
		return true;
	if (!table)
		fail(&why, INTERNAL, "%s", g_strerror(errno));
	bool ok = table && listeners_parse(table, into, &why);
	if (table)
		fclose(table);
	return ok || fail(error, INTERNAL, "cannot tell which user listens on a port: %s: %s", path, why->message);
}

/* --- who --- */

static int by_port(const void *a, const void *b)
{
	const struct listener *x = a, *y = b;
	return x->port != y->port ? (x->port < y->port ? -1 : 1) :
	       x->inode != y->inode ? (x->inode < y->inode ? -1 : 1) : 0;
}

/* All sockets on `port`, sorted, as text. */
static enum listeners_owner owner_of_port(GArray *sorted, uint16_t port, uint32_t uid, GString *text, uint32_t *ret_uid)
{
	bool any = false;

	ARRAY_EACH(const struct listener, l, sorted) {
		if (l->port != port)
			continue;
		any = true;
		if (l->uid != uid) {
			*ret_uid = l->uid;
			return LISTENERS_FOREIGN;
		}
		g_string_append_printf(text, "%u:%" G_GUINT64_FORMAT " ", port, l->inode);
	}
	return any ? LISTENERS_OURS : LISTENERS_NONE;
}

enum listeners_owner listeners_owner_of(const GArray *sockets, const uint16_t *ports, size_t n, uint32_t uid,
					char **ret_sockets, uint32_t *ret_uid)
{
	g_autoptr(GArray) sorted = g_array_new(FALSE, FALSE, sizeof(struct listener));
	g_autoptr(GString) text = g_string_new(NULL);
	enum listeners_owner all = LISTENERS_OURS;

	*ret_sockets = NULL;
	g_array_append_vals(sorted, sockets->data, sockets->len);
	g_array_sort(sorted, by_port);
	for (size_t i = 0; i < n && all != LISTENERS_FOREIGN; i++) {
		enum listeners_owner one = owner_of_port(sorted, ports[i], uid, text, ret_uid);
		if (one != LISTENERS_OURS)
			all = one;
	}
	if (all == LISTENERS_OURS)
		*ret_sockets = g_strdup(text->str);
	return all;
}

enum listeners_owner listeners_owner(const uint16_t *ports, size_t n, char **ret_sockets, uint32_t *ret_uid,
				     GError **error)
{
	enum listeners_owner owner = LISTENERS_NONE;

	*ret_sockets = NULL;
	if (geteuid() == USER_UNMAPPED && user_ids() != USER_IDS_ALL) {
		fail(error, INTERNAL,
		     "cannot tell which user listens on a port: the user id %u of this process is also that of "
		     "users that its user namespace does not map; run blktop as another user", geteuid());
		return LISTENERS_UNKNOWN;
	}
	for (int i = 0; i < READINGS && owner == LISTENERS_NONE; i++) {
		g_autoptr(GArray) sockets = g_array_new(FALSE, FALSE, sizeof(struct listener));
		if (!add_table("/proc/net/tcp", false, sockets, error) ||
		    !add_table("/proc/net/tcp6", true, sockets, error))
			return LISTENERS_UNKNOWN;
		owner = listeners_owner_of(sockets, ports, n, geteuid(), ret_sockets, ret_uid);
	}
	return owner;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes and removes probes. */
#include "live/tracefs/probes.h"

#include "base/each.h"
#include "live/tracefs/file.h"
#include "trace/ring/ring_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS "dynamic_events"

struct probes {
	int root;
	char *group;
	struct probe_offsets offsets;
	struct probe_kinds can;		/* what is worth trying */
	unsigned n_made;
	GString *refused;
};

/* ---- the kernel ---- */

/* Types of the kernel's that it only has if it is built with what they are for. */
static struct probe_kinds kinds_of(const struct btf *b, const struct probe_offsets *o)
{
	uint32_t offset;
	struct probe_kinds k = { .paths = btf_offset(b, "trace_eprobe", "tp", &offset),
				 .descriptors = btf_offset(b, "trace_kprobe", "tp", &offset) };
	k.packets = k.paths && o->has_packets;
	return k;
}

struct probe_kinds probe_kinds_of(const struct btf *b)
{
	struct probe_offsets o;
	probe_offsets_find(&o, b);
	return b ? kinds_of(b, &o) : (struct probe_kinds){ 0 };
}

/* ---- making ---- */

static char *group_of(const char *instance)
{
	return g_strdelimit(g_strdup(instance), "-", '_');
}

struct probes *probes_new(int root, const char *instance)
{
	g_autofree char *bytes = NULL;
	g_autoptr(btf) b = btf_of_kernel(&bytes);
	struct probes *p = g_new0(struct probes, 1);
	p->root = root;
	p->group = group_of(instance);
	p->refused = g_string_new(NULL);
	probe_offsets_find(&p->offsets, b);
	/* without type information, the kernel's answer tells */
	p->can = b ? kinds_of(b, &p->offsets) : (struct probe_kinds){ .paths = true, .descriptors = true };
	return p;
}

/* Makes a probe, and reads its format. NULL: errno. */
static char *make(struct probes *p, const char *text, const char *name, char **ret_dir)
{
	if (!tracefs_file_write(p->root, EVENTS, text))
		return NULL;
	p->n_made++;
	*ret_dir = g_strdup_printf("%s/%s", p->group, name);
	g_autofree char *path = g_strdup_printf("events/%s/format", *ret_dir);
	return tracefs_file_read(p->root, path);
}

static void note_refused(struct probes *p, const char *name)
{
	g_string_append_printf(p->refused, "%s%s (%s)", p->refused->len ? ", " : "", name, g_strerror(errno));
}

char *probes_add(struct probes *p, const struct ring_format *format, char **ret_dir)
{
	bool is_packet = !strcmp(format->system, "net");
	g_autofree char *text = (is_packet ? p->can.packets : p->can.paths) ?
		probe_text(p->group, format, &p->offsets) : NULL;
	if (!text)
		return NULL;
	char *made = make(p, text, format->name, ret_dir);
	if (made)
		return made;
	note_refused(p, format->name);
	if (!p->n_made)		/* the first one is refused: the kernel has no such probes */
		p->can.paths = p->can.packets = false;
	g_clear_pointer(ret_dir, g_free);
	return NULL;
}

char *probes_add_install(struct probes *p, char **ret_dir, const char **ret_filter)
{
	g_autofree char *text = p->can.descriptors ? probe_text_install(p->group, &p->offsets) : NULL;
	char *made = text ? make(p, text, RING_PROBE_INSTALL, ret_dir) : NULL;
	if (text && !made)
		note_refused(p, RING_PROBE_INSTALL);
	*ret_filter = probe_install_filter(&p->offsets);
	return made;
}

const char *probes_refused(const struct probes *p)
{
	return p->refused->len ? p->refused->str : NULL;
}

/* ---- removing ---- */

/* The group and the name in a line of dynamic_events, "e:GROUP/NAME SYSTEM.EVENT ...". False: it is another line. */
static bool parse_line(const char *line, char **ret_group, char **ret_name)
{
	const char *colon = strchr(line, ':'), *slash = colon ? strchr(colon, '/') : NULL;
	const char *end = slash ? slash + strcspn(slash, " \n") : NULL;
	bool is_probe = slash && (*line == 'e' || *line == 'p') && !memchr(colon, ' ', (size_t)(slash - colon));
	if (is_probe) {
		*ret_group = g_strndup(colon + 1, (gsize)(slash - colon - 1));
		*ret_name = g_strndup(slash + 1, (gsize)(end - slash - 1));
	}
	return is_probe;
}

/* Nothing of a group is recorded any more, in whatever instance: an enabled probe cannot be removed. */
static void disable(int root, const char *group)
{
	g_autoptr(GPtrArray) instances = tracefs_file_list(root, "instances");
	g_autofree char *top = g_strdup_printf("events/%s/enable", group);
	tracefs_file_write(root, top, "0");
	PTR_EACH(const char, name, instances) {
		g_autofree char *path = g_strdup_printf("instances/%s/%s", name, top);
		tracefs_file_write(root, path, "0");
	}
}

/* Removes the groups that `is_wanted` picks. Returns how many probes were removed; the others are in `left`. */
static unsigned remove_groups(int root, bool (*is_wanted)(const char *group, const void *data), const void *data,
			      GString *left)
{
	g_autofree char *all = tracefs_file_read(root, EVENTS);
	g_auto(GStrv) lines = g_strsplit(all ? all : "", "\n", -1);
	g_autofree char *disabled = NULL;
	unsigned n = 0;
	for (char **line = lines; *line; line++) {
		g_autofree char *group = NULL, *name = NULL;
		if (!parse_line(*line, &group, &name) || !is_wanted(group, data))
			continue;
		if (g_strcmp0(group, disabled)) {
			disable(root, group);
			g_free(disabled);
			disabled = g_strdup(group);
		}
		g_autofree char *text = g_strdup_printf("-:%s/%s", group, name);
		if (tracefs_file_write(root, EVENTS, text))
			n++;
		else if (left)
			g_string_append_printf(left, "%s%s/%s", left->len ? " " : "", group, name);
	}
	return n;
}

static bool is_group(const char *group, const void *own)
{
	return !strcmp(group, own);
}

void probes_free(struct probes *p, GString *left)
{
	if (!p)
		return;
	if (p->n_made)
		remove_groups(p->root, is_group, p->group, left);
	g_free(p->group);
	g_string_free(p->refused, TRUE);
	g_free(p);
}

struct ended { const char *prefix; bool (*has_ended)(int pid); };

static bool is_ended(const char *group, const void *data)
{
	const struct ended *e = data;
	gint64 pid;
	return g_str_has_prefix(group, e->prefix) &&
	       g_ascii_string_to_signed(group + strlen(e->prefix), 10, 1, G_MAXINT32, &pid, NULL) &&
	       e->has_ended((int)pid);
}

void probes_sweep(int root, const char *prefix, bool (*has_ended)(int pid), GString *report)
{
	g_autofree char *groups = group_of(prefix);
	g_autoptr(GString) left = g_string_new(NULL);
	struct ended e = { groups, has_ended };
	unsigned n = remove_groups(root, is_ended, &e, left);
	if (n)
		g_string_append_printf(report, "removed probes of the kernel: %u\n", n);
	if (left->len)
		g_string_append_printf(report, "cannot remove probes of the kernel: %s: they are in use\n", left->str);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes and removes instances of the kernel's tracer. */
#include "live/tracefs/instance.h"

#include "base/each.h"
#include "base/fail.h"
#include "live/tracefs/bpf_names.h"
#include "live/tracefs/file.h"
#include "trace/ring/ring_format.h"
#include "trace/ring/ring_page.h"
#include "trace/ring/ring_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOUNT "/sys/kernel/tracing"
#define USER_TEXT "syscall_user_buf_size"
#define OLD_MOUNT "/sys/kernel/debug/tracing"

/* The kernel takes less than a page of 4096 bytes (event_subsystem_filter_write() in kernel/trace/trace_events.c). The
 * calls of more threads are recorded, and left out by the reader (capture_setup.own). */
#define FILTER_BYTES 4000

struct recorded_event {
	char *enable;			/* "events/sched/sched_switch/enable" */
	char *instead;			/* of a probe: the same of the event that it sits on, "": none; else NULL */
};

struct tracefs_instance {
	char *name;
	bool mounted;			/* it mounted tracefs, and unmounts it */
	int root, dir;			/* directories: of tracefs, of the instance; -1: none */
	int free_buffer;
	GArray *cpus;			/* struct tracefs_cpu */
	char *header;
	GString *formats;
	GPtrArray *events;		/* struct recorded_event */
	bool has_syscalls;
	struct probes *probes;
	struct bpf_names *names;
	GPtrArray *printed;		/* char *: directories of the calls' events that .names prints */
	unsigned long_size;		/* bytes, of the kernel's */
};

/* ---- files ---- */

static bool set(struct tracefs_instance *i, const char *path, const char *text, GError **error)
{
	return tracefs_file_write(i->dir, path, text) ||
	       fail(error, TRACEFS_ERROR, 0,
		    "cannot set up kernel tracing: writing '%s' to " MOUNT "/instances/%s/%s: %s", text, i->name, path,
		    g_strerror(errno));
}

/* ---- the mount ---- */

static int open_mount(void)
{
	int fd = open(MOUNT, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && !faccessat(fd, "instances", F_OK, 0))
		return fd;
	if (fd >= 0)
		close(fd);
	fd = open(OLD_MOUNT, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && faccessat(fd, "instances", F_OK, 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool cannot(GError **error)
{
	if (errno == EPERM && geteuid() == 0)
		return fail(error, TRACEFS_ERROR, 0, "cannot open " MOUNT ": %s; the kernel is locked down "
			    "(confidentiality), which forbids tracing", g_strerror(errno));
	if (errno == EACCES || errno == EPERM)
		return fail(error, TRACEFS_ERROR, 0, "cannot open " MOUNT ": %s; it needs root (sudo blktop)",
			    g_strerror(errno));
	return fail(error, TRACEFS_ERROR, 0,
		    "cannot open " MOUNT ": %s; the kernel has no tracefs, or a container hides it", g_strerror(errno));
}

/* Opens tracefs, and mounts it where it is missing. -1: *error. */
static int mount_and_open(bool *ret_mounted, GError **error)
{
	int fd = open_mount();
	*ret_mounted = false;
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR) &&
	    !mount("tracefs", MOUNT, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL)) {
		*ret_mounted = true;
		fd = open_mount();
	}
	if (fd < 0)
		cannot(error);
	return fd;
}

/* What it is used for by others stays: their files are open. */
static void unmount(bool mounted)
{
	if (mounted)
		umount2(MOUNT, UMOUNT_NOFOLLOW | MNT_DETACH);
}

/* ---- events ---- */

typedef void (*each_event)(void *data, const char *system, const char *event, const char *lttng);

/* Calls f for each event that the kernel has. False: errno. */
static bool for_events(int root, each_event f, void *data)
{
	g_autofree char *all = tracefs_file_read(root, "available_events");
	if (!all)
		return false;
	g_auto(GStrv) lines = g_strsplit(all, "\n", -1);
	for (char **l = lines; *l; l++) {
		char *colon = strchr(*l, ':');
		if (!colon)
			continue;
		*colon = '\0';
		g_autofree char *lttng = ring_event_name(*l, colon + 1);
		f(data, *l, colon + 1, lttng);
	}
	return true;
}

/* Events have the ids of the first pid namespace, so /proc must have them, too. Source: include/linux/proc_ns.h. */
static bool is_first_namespace(void)
{
	struct stat st;
	return stat("/proc/self/ns/pid", &st) || st.st_ino == 0xEFFFFFFC;
}

bool tracefs_is_usable(GError **error)
{
	if (!is_first_namespace())
		return fail(error, TRACEFS_ERROR, 0, "the kernel is not traced: this is a container, where "
			    "processes have other ids than in the kernel's events; run blktop outside of it");
	int root = open_mount();
	g_autofree char *kinds = NULL;
	if (root < 0) {		/* root can mount it */
		bool has = g_file_get_contents("/proc/filesystems", &kinds, NULL, NULL) && strstr(kinds, "\ttracefs\n");
		errno = has ? EACCES : ENOENT;
		return (has && geteuid() == 0) || cannot(error);
	}
	int fd = openat(root, "available_events", O_RDONLY | O_CLOEXEC);
	bool can = fd >= 0 && !faccessat(root, "instances", W_OK, AT_EACCESS);
	int why = errno;
	if (fd >= 0)
		close(fd);
	close(root);
	errno = why;
	return can || cannot(error);
}

struct event_choice {
	struct tracefs_instance *i;
	const struct tracefs_wish *wish;
};

static void event_free(void *data)
{
	struct recorded_event *e = data;
	g_free(e->enable);
	g_free(e->instead);
	g_free(e);
}

static void add_format(struct tracefs_instance *i, const char *system, const char *format)
{
	g_string_append_printf(i->formats, "%s\n%s%c", system, format, TRACEFS_FORMAT_END);
}

/* Enables events/DIR, or, if that is a probe that cannot be enabled, events/INSTEAD ("": nothing). NULL: no probe. */
static void add_event(struct tracefs_instance *i, const char *dir, const char *instead)
{
	struct recorded_event *e = g_new0(struct recorded_event, 1);
	e->enable = g_strdup_printf("events/%s/enable", dir);
	e->instead = instead && *instead ? g_strdup_printf("events/%s/enable", instead) : g_strdup(instead);
	g_ptr_array_add(i->events, e);
}

/* Records the event by a probe or the program that records more. False: there is none, or it cannot be made. */
static bool add_probe(struct tracefs_instance *i, const char *system, const char *text, const char *event_dir)
{
	g_autoptr(ring_format) format = ring_format_parse(system, text, strlen(text), i->long_size, NULL);
	if (!format)
		return false;
	g_autofree char *dir = NULL, *probe = probes_add(i->probes, format, &dir);
	g_autofree char *printed = probe ? NULL : bpf_names_add(i->names, format);
	if (!probe && !printed)
		return false;
	add_format(i, system, probe ? probe : printed);
	if (probe)
		add_event(i, dir, event_dir);
	else
		g_ptr_array_add(i->printed, g_strdup(event_dir));
	return true;
}

/* The event of the names that the program prints; without it, those of the calls. */
static void add_printed(struct tracefs_instance *i)
{
	g_autofree char *format = tracefs_file_read(i->dir, "events/" RING_PRINTED_SYSTEM "/" RING_PRINTED_EVENT
						    "/format");
	if (!format || !bpf_names_start(i->names)) {
		PTR_EACH(const char, dir, i->printed)
			add_event(i, dir, NULL);
		return;
	}
	add_format(i, RING_PRINTED_SYSTEM, format);
	add_event(i, RING_PRINTED_SYSTEM "/" RING_PRINTED_EVENT, NULL);
	bpf_names_restore(i->names, true);
}

static void add_install(struct tracefs_instance *i)
{
	const char *filter;
	g_autofree char *dir = NULL, *format = probes_add_install(i->probes, &dir, &filter);
	if (!format)
		return;
	add_format(i, RING_PROBE_SYSTEM, format);
	add_event(i, dir, "");
	g_autofree char *path = g_strdup_printf("events/%s/filter", dir);
	if (filter)
		tracefs_file_write(i->dir, path, filter);	/* else there are more events, which do no harm */
}

/* LTTng has the system calls' names; raw_syscalls has the same events a second time. */
static void choose_event(void *data, const char *system, const char *event, const char *lttng)
{
	struct event_choice *c = data;
	bool is_new_task = !strcmp(system, "task") && !strcmp(event, "task_newtask");
	if (!strcmp(system, "raw_syscalls") || (!is_new_task && !c->wish->wants(c->wish->data, lttng)))
		return;
	g_autofree char *path = g_strdup_printf("events/%s/%s/format", system, event);
	g_autofree char *format = tracefs_file_read(c->i->dir, path);
	if (!format)
		return;
	c->i->has_syscalls |= !strcmp(system, "syscalls");
	g_autofree char *dir = g_strdup_printf("%s/%s", system, event);
	add_format(c->i, system, format);
	if (!add_probe(c->i, system, format, dir))
		add_event(c->i, dir, NULL);
}

/* ---- making ---- */

static bool open_cpus(struct tracefs_instance *i, GError **error)
{
	for (unsigned n = 0;; n++) {
		g_autofree char *pages = g_strdup_printf("per_cpu/cpu%u/trace_pipe_raw", n);
		g_autofree char *statistics = g_strdup_printf("per_cpu/cpu%u/stats", n);
		struct tracefs_cpu cpu = {
			.number = n,
			.pages = openat(i->dir, pages, O_RDONLY | O_NONBLOCK | O_CLOEXEC),
			.statistics = openat(i->dir, statistics, O_RDONLY | O_CLOEXEC),
		};
		if (cpu.pages < 0 && errno == ENOENT && n)
			return true;
		g_array_append_val(i->cpus, cpu);
		if (cpu.pages < 0 || cpu.statistics < 0)
			return fail(error, TRACEFS_ERROR, 0, "cannot open the kernel's ring buffer %s: %s", pages,
				    g_strerror(errno));
	}
}

static bool set_up(struct tracefs_instance *i, const struct tracefs_wish *wish, GError **error)
{
	g_autofree char *kib = g_strdup_printf("%" G_GUINT64_FORMAT, MAX(wish->buffer_bytes >> 10, 8));
	if (!set(i, "tracing_on", "0", error) || !set(i, "trace_clock", "mono", error) ||
	    !set(i, "options/overwrite", "1", error) || !set(i, "options/disable_on_free", "1", error) ||
	    !set(i, "buffer_size_kb", kib, error))
		return false;
	tracefs_file_write(i->dir, USER_TEXT, G_STRINGIFY(RING_USER_TEXT_LONG));	/* older kernels store none */
	i->free_buffer = openat(i->dir, "free_buffer", O_WRONLY | O_CLOEXEC);
	if (i->free_buffer < 0)
		return fail(error, TRACEFS_ERROR, 0, "cannot open free_buffer: %s", g_strerror(errno));
	i->header = tracefs_file_read(i->root, "events/header_page");
	if (!i->header)
		return fail(error, TRACEFS_ERROR, 0, "cannot read " MOUNT "/events/header_page: %s", g_strerror(errno));
	struct event_choice choice = { .i = i, .wish = wish };
	struct ring_layout layout;
	struct ring_machine machine = { .big_endian = G_BYTE_ORDER == G_BIG_ENDIAN, .long_size = sizeof(long) };
	if (!ring_layout_parse(&layout, machine, i->header, strlen(i->header), error))
		return false;
	i->long_size = layout.commit_size;
	i->probes = probes_new(i->root, i->name);
	i->names = bpf_names_new(i->root);
	if (!for_events(i->root, choose_event, &choice))
		return fail(error, TRACEFS_ERROR, 0, "cannot read " MOUNT "/available_events: %s", g_strerror(errno));
	if (wish->wants(wish->data, "syscall_exit_pipe2"))
		add_install(i);
	add_printed(i);
	return open_cpus(i, error);
}

static void close_all(struct tracefs_instance *i)
{
	for (guint k = 0; k < i->cpus->len; k++) {
		struct tracefs_cpu *c = &g_array_index(i->cpus, struct tracefs_cpu, k);
		if (c->pages >= 0)
			close(c->pages);
		if (c->statistics >= 0)
			close(c->statistics);
	}
	g_array_set_size(i->cpus, 0);
	if (i->free_buffer >= 0)
		close(i->free_buffer);
	i->free_buffer = -1;
}

/* An instance of that name can only be what a process that had the same id left. */
static bool make_dir(struct tracefs_instance *i, const char *path)
{
	g_autofree char *enable = g_strconcat(path, "/events/enable", NULL);
	if (!mkdirat(i->root, path, 0700))
		return true;
	if (errno != EEXIST || !tracefs_file_write(i->root, enable, "0") || unlinkat(i->root, path, AT_REMOVEDIR))
		return false;
	return !mkdirat(i->root, path, 0700);
}

struct tracefs_instance *tracefs_instance_new(const struct tracefs_wish *wish, GError **error)
{
	struct tracefs_instance *i = g_new0(struct tracefs_instance, 1);
	g_autofree char *path = g_strconcat("instances/", wish->name, NULL);
	i->name = g_strdup(wish->name);
	i->dir = i->free_buffer = -1;
	i->cpus = g_array_new(FALSE, FALSE, sizeof(struct tracefs_cpu));
	i->formats = g_string_new(NULL);
	i->events = g_ptr_array_new_with_free_func(event_free);
	i->printed = g_ptr_array_new_with_free_func(g_free);
	i->root = mount_and_open(&i->mounted, error);
	bool done = i->root >= 0;
	if (done && !make_dir(i, path))
		done = fail(error, TRACEFS_ERROR, 0, "cannot make the tracing instance " MOUNT "/%s: %s%s", path,
			    g_strerror(errno), errno == EACCES || errno == EPERM ? "; it needs root: sudo blktop" : "");
	if (done)
		i->dir = openat(i->root, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (done && set_up(i, wish, error))
		return i;
	tracefs_instance_free(i, 0);
	return NULL;
}

/* ---- recording ---- */

bool tracefs_instance_exclude(struct tracefs_instance *i, const int *tids, size_t n, GError **error)
{
	g_autoptr(GString) filter = g_string_new(n ? NULL : "0");
	for (size_t k = 0; k < n && filter->len < FILTER_BYTES; k++)
		g_string_append_printf(filter, "%scommon_pid != %d", k ? " && " : "", tids[k]);
	return !i->has_syscalls || set(i, "events/syscalls/filter", filter->str, error);
}

bool tracefs_instance_follow(struct tracefs_instance *i, const int *tids, size_t n, GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);
	for (size_t k = 0; k < n; k++)
		g_string_append_printf(text, "%d ", tids[k]);
	return set(i, "options/event-fork", "1", error) && set(i, "set_event_pid", text->str, error);
}

bool tracefs_instance_start(struct tracefs_instance *i, uint64_t *ret_cycles, GError **error)
{
	PTR_EACH(const struct recorded_event, e, i->events) {
		if (e->instead && tracefs_file_write(i->dir, e->enable, "1"))
			continue;
		const char *event = e->instead ? e->instead : e->enable;
		if (*event && !set(i, event, "1", error))
			return false;
	}
	bpf_names_restore(i->names, false);
	*ret_cycles = tracefs_clock(CLOCK_MONOTONIC);
	return set(i, "tracing_on", "1", error);
}

void tracefs_instance_stop(struct tracefs_instance *i)
{
	if (i->dir < 0)
		return;
	tracefs_file_write(i->dir, "tracing_on", "0");
	tracefs_file_write(i->dir, "events/enable", "0");
}

static bool remove_instance(int root, const char *name, int patience_ms)
{
	g_autofree char *path = g_strconcat("instances/", name, NULL);
	for (int waited = 0;; waited += 20) {
		if (!unlinkat(root, path, AT_REMOVEDIR) || errno == ENOENT)
			return true;
		if (errno != EBUSY || waited >= patience_ms)
			return false;
		g_usleep(20000);
	}
}

bool tracefs_instance_free(struct tracefs_instance *i, int patience_ms)
{
	g_autoptr(GString) left = g_string_new(NULL);
	if (!i)
		return true;
	tracefs_instance_stop(i);
	bpf_names_free(i->names);
	close_all(i);
	bool removed = i->dir < 0;
	if (i->dir >= 0) {
		close(i->dir);
		removed = remove_instance(i->root, i->name, patience_ms);
	}
	probes_free(i->probes, left);
	removed &= !left->len;
	if (i->root >= 0)
		close(i->root);
	unmount(i->mounted);
	g_array_unref(i->cpus);
	g_string_free(i->formats, TRUE);
	g_ptr_array_unref(i->events);
	g_ptr_array_unref(i->printed);
	g_free(i->header);
	g_free(i->name);
	g_free(i);
	return removed;
}

const struct tracefs_cpu *tracefs_instance_cpus(const struct tracefs_instance *i, size_t *n)
{
	*n = i->cpus->len;
	return (const struct tracefs_cpu *)(const void *)i->cpus->data;
}

const char *tracefs_instance_tag(const struct tracefs_instance *i)
{
	return bpf_names_tag(i->names);
}

unsigned tracefs_instance_user_text(const struct tracefs_instance *i)
{
	g_autofree char *text = tracefs_file_read(i->dir, USER_TEXT);
	uint64_t bytes = text ? g_ascii_strtoull(text, NULL, 10) : 0;
	return bytes <= RING_USER_TEXT_LONG ? (unsigned)bytes : RING_USER_TEXT_LONG;
}

const char *tracefs_instance_refused(const struct tracefs_instance *i)
{
	return probes_refused(i->probes);
}

struct tracefs_texts tracefs_instance_expected(void)
{
	int root = open_mount();
	struct tracefs_texts t = tracefs_texts_expected(root);
	if (root >= 0)
		close(root);
	return t;
}

const char *tracefs_instance_header(const struct tracefs_instance *i)
{
	return i->header;
}

const char *tracefs_instance_formats(const struct tracefs_instance *i)
{
	return i->formats->str;
}

/* ---- what killed processes left ---- */

void tracefs_sweep(const char *prefix, bool (*has_ended)(int pid), GString *report)
{
	bool mounted;
	int root = mount_and_open(&mounted, NULL);	/* what is left is there also when it is not mounted */
	g_autoptr(GPtrArray) names = tracefs_file_list(root, "instances");
	PTR_EACH(const char, name, names) {
		gint64 pid;
		if (!g_str_has_prefix(name, prefix) ||
		    !g_ascii_string_to_signed(name + strlen(prefix), 10, 1, G_MAXINT32, &pid, NULL) ||
		    !has_ended((int)pid))
			continue;
		g_autofree char *on = g_strconcat("instances/", name, "/events/enable", NULL);
		tracefs_file_write(root, on, "0");
		g_string_append_printf(report, remove_instance(root, name, 0) ?
				       "removed the kernel's tracing instance %s\n" :
				       "cannot remove the kernel's tracing instance %s: it is in use\n", name);
	}
	if (root >= 0) {
		probes_sweep(root, prefix, has_ended, report);
		close(root);
	}
	unmount(mounted);
}

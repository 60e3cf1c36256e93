/* SPDX-License-Identifier: GPL-2.0-only */
/* The files and connections that a command needs: see isolate.h. */
#include "cmd/isolate.h"

#include "cli/config.h"
#include "app/messages.h"

#include "base/files.h"
#include "base/isolation.h"
#include "base/user.h"
#include "live/viewer/connector.h"
#include "live/spool/spool.h"
#include "run/cache.h"
#include "run/map.h"

/* Files that libraries open late: locales and their converters, terminal descriptions, time zones, plugins of
 * babeltrace2, and the user database (for the home directory). */
static const char *const system_paths[] = {
	"/usr", "/lib", "/lib64", "/etc/terminfo", "/etc/localtime", "/etc/locale.alias", "/etc/passwd",
	"/etc/nsswitch.conf", "/etc/ld.so.cache", "/dev/urandom", "/dev/zero", "/proc/self",
	"/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu/online",
};
static const char *const system_variables[] = {
	"TERMINFO", "TERMINFO_DIRS", "TZDIR", "LOCPATH", "GCONV_PATH", "BABELTRACE_PLUGIN_PATH",
};
static const char *const below_home[] = { ".terminfo", ".local/lib/babeltrace2" };

static void add(GPtrArray *paths, const char *path)
{
	g_ptr_array_add(paths, g_strdup(path));
}

static void add_system(GPtrArray *read)
{
	for (gsize i = 0; i < G_N_ELEMENTS(system_paths); i++)
		add(read, system_paths[i]);
	for (gsize i = 0; i < G_N_ELEMENTS(system_variables); i++) {
		g_auto(GStrv) parts = g_strsplit(g_getenv(system_variables[i]) ? g_getenv(system_variables[i]) : "",
						 ":", -1);
		for (char **p = parts; *p; p++)
			if (**p)
				add(read, *p);
	}
	for (gsize i = 0; i < G_N_ELEMENTS(below_home); i++)
		g_ptr_array_add(read, g_build_filename(g_get_home_dir(), below_home[i], NULL));
}

/* What cannot be opened is reported where it is read. */
static void add_input(const char *path)
{
	files_add(path, FILES_READ, NULL);
}

static void add_inputs(const struct options *o)
{
	for (char **p = o->read.paths; p && *p; p++) {
		g_autofree char *neighbours = o->command == COMMAND_MAP ? map_chunk_parent(*p) : NULL;
		files_add(*p, FILES_READ | (o->map.delete_mapped ? FILES_CHANGE : 0u), NULL);
		if (neighbours)
			add_input(neighbours);
	}
	for (char **p = o->read.chunks; p && *p; p++)
		add_input(*p);
	if (o->shown.baseline)
		add_input(o->shown.baseline);
}

/* babeltrace2's library opens files itself. */
static void add_to_filter(const struct options *o, GPtrArray *read)
{
	for (char **p = o->read.paths; p && *p && o->read.reader == READER_BT2; p++)
		add(read, *p);
}

static void add_output(const char *path)
{
	if (path && !g_str_equal(path, "-"))
		files_add(path, FILES_OUTPUT, NULL);	/* an error is reported when it is written */
}

/* blktop map --watch and record make files in their directory; map also deletes them. */
static bool add_output_dir(const struct options *o)
{
	g_autoptr(GError) error = NULL;
	bool fills = o->command == COMMAND_RECORD ? !g_str_equal(o->output.path, "-") :
		o->read.watch && o->command == COMMAND_MAP;

	if (!fills || files_add_private(o->output.path, "-o", &error))
		return true;
	log_error("%s", error->message);
	return false;
}

static void add_outputs(const struct options *o)
{
	if (o->command != COMMAND_RECORD)
		add_output(o->output.path);
	add_output(o->screen.screenshot);
	add_output(o->batch.send.metrics_file);
	g_autofree char *dir = o->batch.save_baseline ? g_path_get_dirname(o->batch.save_baseline) : NULL;
	if (dir && files_make_home_dir(dir, "XDG_STATE_HOME", NULL))	/* an error is reported when it is stored */
		add_output(o->batch.save_baseline);
	/* What the user exports from the screen. */
	if (o->command == COMMAND_SCREEN) {
		files_add(".", FILES_NEW, NULL);
		files_add(g_get_tmp_dir(), FILES_NEW, NULL);
	}
}

/* The spool of a live session */
static void add_spool(const struct options *o)
{
	g_autofree char *dir = o->read.spool ? g_strdup(o->read.spool) : spool_default_dir();

	if ((o->read.n_urls || o->read.relay.kernel || o->read.stream) && o->read.stores)
		spool_make_dir(dir, NULL);	/* an error is reported when the spool is opened */
}

static void add_cache(const struct options *o)
{
	g_autofree char *dir = cache_default_dir();
	g_autoptr(GError) error = NULL;

	if (o->read.caches && !cache_make_dir(dir, &error))
		log_note("no cache: %s", error->message);
}

/* Reports and saved traces have the bookmarks. */
static void add_places(const struct options *o)
{
	add_inputs(o);
	add_outputs(o);
	add_spool(o);
	add_cache(o);
	if (o->command == COMMAND_REPORT || o->command == COMMAND_SAVE)
		config_add_bookmarks();
}

/* For the relays, and the servers of --graphite and --forward. */
static bool start_connector(const struct options *o, GError **error)
{
	static struct live_url *all;		/* the connector's client looks at them until the end */
	size_t n = o->read.n_urls;
	if (!n && !o->batch.send.graphite.host && !o->batch.send.forward.path)
		return true;
	all = g_new0(struct live_url, n + 2);
	for (size_t i = 0; i < n; i++)
		all[i] = o->read.urls[i];
	if (o->batch.send.graphite.host)
		all[n++] = o->batch.send.graphite;
	if (o->batch.send.forward.path)
		all[n++] = o->batch.send.forward.server;
	return connector_start(all, n, error);
}

static unsigned roles_of(const struct options *o)
{
	bool sends = o->read.n_urls || o->batch.send.graphite.host || o->batch.send.forward.path;

	return (o->command == COMMAND_SCREEN ? ISOLATION_SCREEN : 0) | (sends ? ISOLATION_SENDER : 0) |
	       (o->batch.send.fd >= 0 ? ISOLATION_RECEIVER : 0) |
	       (o->read.reader == READER_BT2 ? ISOLATION_PLUGINS : 0);
}

/* From here on nothing is read by root, if it can be helped. */
static void drop_root(const struct options *o)
{
	g_autofree char *why = NULL;

	/* babeltrace2's library opens files itself: it may read what root may, within what Landlock allows. */
	user_drop(o->read.reader == READER_BT2 && isolation_can() & ISOLATION_FILES, &why);
	if (why)
		log_error("%s", why);
}

static bool is_off;			/* --no-isolation */

bool isolate(const struct options *o)
{
	g_autoptr(GPtrArray) read = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) write = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	g_autofree char *why = NULL;

	if (!add_output_dir(o))
		return false;
	is_off = o->no_isolation;
	if (is_off)
		return true;
	if (!start_connector(o, &error)) {
		log_error("cannot start the process that connects to relays and servers: %s", error->message);
		return false;
	}
	add_places(o);
	if (!files_start_helper(&error)) {
		log_error("%s", error->message);
		return false;
	}
	drop_root(o);
	add_system(read);
	add_to_filter(o, read);
	add(write, "/dev/null");
	add(write, "/dev/tty");
	isolation_enter(read, write, roles_of(o), o->batch.send.fd, &why);
	if (why)
		log_note("isolation: %s", why);
	if (why && o->command == COMMAND_SCREEN && o->screen.prefs)
		g_ptr_array_add(o->screen.prefs->warnings, g_strdup_printf("not isolated: %s", why));
	return true;
}

char *isolate_describe(void)
{
	return is_off ? g_strdup("off (--no-isolation)") : isolation_describe();
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* What is read, how, and which range of it: options that all commands which read have. */
#ifndef BLK_APP_READ_OPTIONS_H
#define BLK_APP_READ_OPTIONS_H

#include "app/input.h"

struct read_options {
	char **paths;			/* trace directories, NULL-terminated; may be empty */
	bool demo;			/* .paths is the bundled recording; main() finds it */
	bool live;			/* events come while it runs: from `urls`, .watch, or .local */
	bool local;			/* from a session of this machine that must be made first: no `urls` yet */
	bool stream;			/* of `record -o -`: .relay.stream, which main() sets */
	struct local *running;		/* what serves sessions of this machine (cmd/local.h), or NULL; borrowed */
	struct live_url *urls;
	size_t n_urls;
	struct live_options relay;	/* how to read from them */
	bool watch;			/* --watch: slices, or chunks, of the directory in .paths as they appear */
	char **chunks;			/* --chunks; NULL: not given */
	enum reader reader;
	bool align_hosts;		/* --align-hosts */
	unsigned jobs, slices;		/* threads and pieces; 0: automatic */
	size_t memory;			/* bytes */
	int64_t step_ns;		/* --step: 1 ms to 10 min; 0: not given */
	bool caches;			/* recorded traces, without --no-cache */
	size_t cache_size;		/* bytes: --cache-size */
	int64_t cache_after_ns;		/* --cache-after */
	char *spool;			/* directory, or NULL */
	size_t spool_size;		/* bytes */
	bool stores;			/* live: packets are stored; printed views do it only with --spool */
	char *at, *from, *to, *against_from, *against_to;	/* as given, or NULL */
};

/* The length of a "second", in ns. */
static inline int64_t read_step(const struct read_options *o)
{
	return o->step_ns ? o->step_ns : INT64_C(1000000000);
}

#endif

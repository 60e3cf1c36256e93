/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A client and a server, each traced on a host of its own:
 *
 *     pair call TO BACK      asks fifty times a second
 *     pair serve TO BACK     answers
 *
 * until they are ended. TO and BACK are fifos that carry the id of the call.
 */
#include "zipkin_tp.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void rest_us(long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

static void note(long id, const char *service, const char *event)
{
	struct span s = { .name = "ask", .service = service, .ip = "127.0.0.1", .port = 1,
			  .trace_id = id, .span_id = id };

	lttng_ust_tracepoint(zipkin, timestamp, &s, event);
}

static int call(int to, int back)
{
	for (long id = 1, got; ; id++) {
		note(id, "front", "cs");
		if (write(to, &id, sizeof id) != sizeof id || read(back, &got, sizeof got) != sizeof got)
			return 0;
		note(id, "front", "cr");
		rest_us(20000);
	}
}

static int serve(int to, int back)
{
	for (long id; read(to, &id, sizeof id) == sizeof id;) {
		note(id, "store", "sr");
		rest_us(500);
		note(id, "store", "ss");
		if (write(back, &id, sizeof id) != sizeof id)
			return 0;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fputs("usage: pair call|serve TO BACK\n", stderr);
		return 2;
	}
	/* Both ways open on both sides, so that nobody waits here for the other. */
	int to = open(argv[2], O_RDWR), back = open(argv[3], O_RDWR);

	if (to < 0 || back < 0) {
		perror("pair");
		return 1;
	}
	return strcmp(argv[1], "call") ? serve(to, back) : call(to, back);
}

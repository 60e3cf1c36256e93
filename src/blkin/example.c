/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A request that is served in two phases, a hundred times:
 *
 *     cc -o example example.c $(pkg-config --cflags --libs blkin)
 *     ./example
 */
#include <blkin.h>

#include <time.h>

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static void serve(struct blkin_endpoint *web, struct blkin_endpoint *store, int number)
{
	struct blkin_trace request, render, get;

	blkin_init_new_trace(&request, "GET /picture", web);
	BLKIN_TIMESTAMP(&request, NULL, "sr");
	BLKIN_KEYVAL_INTEGER(&request, NULL, "number", number);

	blkin_init_child(&render, &request, NULL, "render");
	BLKIN_TIMESTAMP(&render, NULL, "start");
	pause_ms(2);
	BLKIN_TIMESTAMP(&render, NULL, "end");

		/* In another process blkin_set_trace_info() makes the server half from get.info, sent with the
		 * message. */
	blkin_init_child(&get, &request, NULL, "get");
	BLKIN_TIMESTAMP(&get, NULL, "cs");
	BLKIN_TIMESTAMP(&get, store, "sr");
	pause_ms(number % 10 ? 1 : 40);
	BLKIN_KEYVAL_STRING_LEVEL(&get, store, BLKIN_DEBUG, "cache", number % 10 ? "hit" : "miss");
	BLKIN_TIMESTAMP(&get, store, "ss");
	BLKIN_TIMESTAMP(&get, NULL, "cr");

	BLKIN_TIMESTAMP(&request, NULL, "ss");
}

int main(void)
{
	struct blkin_endpoint web, store;

	blkin_init_endpoint(&web, "127.0.0.1", 80, "web");
	blkin_init_endpoint(&store, "127.0.0.1", 6379, "store");
	for (int i = 1; i <= 100; i++)
		serve(&web, &store, i);
	return 0;
}

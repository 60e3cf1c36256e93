/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is traced, the relay that has it, and the network to it, all drawn from the seed before it begins: sessions,
 * processes, requests, packets, when each arrives at the relay, which are discarded, when connections break. The client's
 * functions of net.h are replaced.
 *
 * Times of the plan are monotonic, us; those of events are ns of the same clock.
 */
#ifndef BLK_TEST_SIMULATE_RELAY_H
#define BLK_TEST_SIMULATE_RELAY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_request {
	int64_t begin_ns, end_ns;
};

struct sim_packet {
	bool lost;			/* the session vanishes before */
	bool announced;			/* to this run of blktop */
	int64_t begin_ns, end_ns;
	int64_t at_us;			/* the relay has it then */
	bool refused;			/* the relay announces it, but cannot deliver it */
	bool overwritten;		/* the relay never announces it: a file of the rotation is gone */
	unsigned file;			/* stream files rotate */
	uint64_t offset;		/* bytes, in that file */
	uint64_t seq, discarded;	/* as in its context */
	unsigned n_events;
	GArray *requests;		/* uint64_t: id * 2, and 1 if it is the last event; 0: another event */
	GByteArray *bytes;
};

struct sim_stream {
	uint64_t id;
	struct sim_trace *trace;
	unsigned cpu;
	int64_t begins_us, closes_us;
	int64_t gone_us;		/* the relay closes it then: it has all packets */
	bool known;			/* it was announced to this run of blktop */
	GPtrArray *packets;		/* struct sim_packet *, in order */
};

struct sim_trace {
	uint64_t uuid;			/* the first 4 bytes of it */
	uint64_t id, metadata_id;	/* the relay's */
	int64_t begins_us, ends_us;	/* of the process, or the session */
	bool of_process;
	GString *metadata;
	gsize first_part;		/* bytes of it; the rest comes at */
	int64_t rest_us;
};

struct sim_session {
	uint64_t id;
	int64_t begins_us, ends_us;	/* destroyed, or its daemon was killed */
	int64_t closed_us;		/* the relay knows it: it has all that will come */
	int64_t vanishes_us;		/* the relay ends and forgets it; INT64_MAX: it does not */
	bool destroyed;
	uint32_t timer_us;
	GPtrArray *traces, *streams;
	void *viewer;			/* the connection that is attached, as far as the relay knows */
	int64_t viewer_gone_us;		/* then it notices that this connection is gone */
};

struct sim_fault { int64_t from_us, to_us; bool cuts; };	/* else what is sent waits */

struct sim_world {
	int64_t begins_us, ends_us;	/* all sessions */
	uint32_t minor;			/* of the relay */
	bool many_sessions;		/* one after the other */
	bool restarts;			/* the relay, after each session */
	bool session_cut;		/* a connection to a session broke */
	uint64_t n_traces;
	bool calm;			/* no faults: nothing may be missing, nor reported */
	unsigned cut_every;		/* replies; 0: connections do not break by themselves */
	int64_t most_delay_us;		/* of a reply */
	GPtrArray *sessions;		/* struct sim_session * */
	GArray *requests;		/* struct sim_request, by id - 1 */
	GArray *faults;			/* struct sim_fault */
};
extern struct sim_world world;

void world_make(int64_t now_us);
/* All connections of a killed viewer; nothing is known to the next one. */
void world_drop_viewers(void);

/*
 * Of the streams that were announced to this run of blktop: events that reached the relay, those of them that it can
 * deliver, and those that the tracer discarded, as far as the packets at the relay say so. Without those of which no viewer
 * can know: what an exiting process wrote in its last moments, at relays before 2.15 (doc/live.md).
 */
struct sim_sums { uint64_t recorded, readable, discarded; };
struct sim_sums world_sums(void);

#endif

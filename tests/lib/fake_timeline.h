/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Timelines for tests, made through publications as a worker would. Either the
 * ready-made story of screens.md, or piece by piece:
 *
 *     struct fake *f = fake_new();
 *     uint32_t t = fake_thread(f, 0, 100, 101, "worker");
 *     struct second *s = fake_second(f, 0);
 *     fake_call(s, t, fake_string(f, "read"), 3, 1000);
 *     struct timeline *tl = fake_done(f);
 */
#ifndef BLK_TESTS_FAKE_TIMELINE_H
#define BLK_TESTS_FAKE_TIMELINE_H

#include "state/store/publication.h"
#include "state/store/timeline.h"

/* 2026-11-21 06:08:35 UTC */
#define FAKE_T0 INT64_C(1795241315000000000)
#define FAKE_MS INT64_C(1000000)
#define FAKE_S INT64_C(1000000000)

struct fake;
struct fake *fake_new(void);			/* has one host, "web1" (0) */
struct timeline *fake_done(struct fake *f);	/* frees f; host, cells and spans as added */
struct publication *fake_publication(struct fake *f);	/* the same before it is applied */
uint32_t fake_string(struct fake *f, const char *s);
uint32_t fake_host(struct fake *f, const char *name);
/* pid -1: of an unknown process. The process is made with its first thread. */
uint32_t fake_thread(struct fake *f, uint32_t host, int32_t pid, int32_t tid, const char *comm);
/* Of a process: who made it, and when its threads and it came and went (ns from FAKE_T0;
 * -1: unknown). */
void fake_lifetime(struct fake *f, uint32_t leader, int32_t ppid, int64_t start, int64_t exit);
/* Puts its process into these namespaces (0: unknown). */
void fake_ns(struct fake *f, uint32_t thread, uint32_t pid, uint32_t cgroup, uint32_t uts);
/* What it says its host is called; the machine is called web1. */
void fake_hostname(struct fake *f, uint32_t thread, const char *hostname);
void fake_rename(struct fake *f, uint32_t thread, int64_t since, const char *comm);
uint32_t fake_file(struct fake *f, uint32_t host, enum file_kind kind, const char *path);
/* Second number n of the story, [FAKE_T0 + n s, + 1 s). */
struct second *fake_second(struct fake *f, unsigned n);
struct thread_cell *fake_cell(struct second *s, uint32_t thread);	/* found or added */
/* n calls of ns each; the thread's cell counts them too. */
/* All of them wait for that: of futex and read, which tell it apart. */
void fake_waits(struct second *s, const struct call_cell *calls, enum call_wait wait);
struct call_cell *fake_call(struct second *s, uint32_t thread, uint32_t name, unsigned n,
			    int64_t ns);
void fake_io(struct second *s, uint32_t thread, uint32_t file, unsigned reads, unsigned writes,
	     uint64_t bytes, int64_t ns);
void fake_event(struct second *s, uint32_t host, uint32_t name, uint64_t count);
void fake_ran(struct second *s, uint32_t thread, uint32_t cpu, int64_t ns);
void fake_class(struct fake *f, const char *name);

struct fake_span {
	uint64_t trace, id, parent;
	enum span_kind kind;
	const char *name, *service;
	uint32_t thread;			/* ID_NONE: unknown */
	int64_t begin, end;			/* ns from FAKE_T0 */
	enum span_state state;
};
/* All its time is user time until fake_wait() and fake_part() say otherwise. */
struct span *fake_span(struct fake *f, const struct fake_span *desc);
/* Off the CPU in [begin, end) (from FAKE_T0), woken `wakeup` ns before its end. */
struct span_wait *fake_wait(struct span *s, enum part part, int64_t begin, int64_t end,
			    int64_t wakeup, uint32_t waker, uint32_t call);
/* What a waker did in [begin, end) of a wait of the span. PART_N: it ran. */
struct chain_link *fake_link(struct span *s, uint32_t thread, enum part part, int64_t begin, int64_t end);
/* The span's time without a CPU was spent behind that thread. */
void fake_cpu_holder(struct span *s, uint32_t thread, int64_t ns);
void fake_part(struct span *s, enum part part, int64_t ns);	/* taken from user time */
void fake_tag(struct span *s, const char *key, const char *val);
void fake_annotate(struct span *s, int64_t at, const char *event);
struct span *fake_copy(const struct span *s);			/* a sealed one, with texts of its own */

/*
 * The story: host web1; thumbd (pid 246, threads 254-257) asks stored (pid 253) for
 * every thumbnail; 36 good requests in seconds 0 to 3, then, in second 3, one sleeps
 * 60 ms with the lock (HOLDER), one waits 54.7 ms for it (VICTIM), one waits 80 ms for
 * a sleeping stored (SLOW_STORE), and one is still open (OPEN). Second 2 has a loss;
 * there is no second 4; second 5 is quiet. A process with a hostile name, a kernel
 * thread, and a thread of an unknown process are in it.
 */
#define FAKE_HOLDER UINT64_C(0x1e9873c2aa104f01)
#define FAKE_VICTIM UINT64_C(0x7f8efb3a8bed4f37)
#define FAKE_SLOW_STORE UINT64_C(0x2ac68487cc10e402)
#define FAKE_OPEN UINT64_C(0x30aa41d711223344)
#define FAKE_GOOD 36		/* good requests, trace ids FAKE_GOOD_TRACE(0..35) */
#define FAKE_GOOD_TRACE(i) (UINT64_C(0x1000000000000001) * ((i) + 1))
#define FAKE_HOSTILE_COMM "ev\033[31mil\n\"x\","

struct timeline *fake_timeline(void);

#endif

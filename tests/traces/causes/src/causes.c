/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * causes: a make-believe thumbnail server. Each of its slow requests is slow by one known cause.
 *
 *   causes serve DIR DISK TRUTH WORKERS REQUESTS EACH GAP_US SEED
 *
 * DIR holds the source images, DISK is a directory on the disk under test. There are REQUESTS requests, on average one
 * each GAP_US; EACH of them are slow by each cause. The processes are
 *
 *   thumbd    the front: WORKERS threads (service "thumbd"), worker i on CPU i % CPUs. Part of a control group.
 *   stored    answers over TCP, one thread for each connection (service "stored")
 *   authd     accepts a connection, answers, closes it, one after the other. It has no spans.
 *   logd      reads records from a small pipe. It has no spans.
 *   hog       three for each CPU: real-time, and a niced pair
 *   limiter   sets cpu.max of the control group
 *   filler    writes to the disk, whose bandwidth the virtual machine limits
 *
 * A request is the span "thumbnail" (sr, ss) with one child for each step:
 *
 *   lock      takes the cache lock            lock-holder: another thread has it, asleep or computing
 *   auth      asks authd, by a new connection slow-accept: authd sleeps or computes before it accepts
 *   decode    reads an image, computes
 *   log       writes a record to the pipe     full-pipe: logd sleeps or computes, and the pipe is full
 *   encode    computes, sleeps 50 us          big-encode: computes much more
 *                                             cpu-hog: others run on its CPU
 *                                             throttled: the control group has used up its cpu.max
 *   save      writes 4 KiB and calls fsync()  slow-disk: the disk's bandwidth is used up
 *                                             writeback: kworker and jbd2 may run on CPU 1 only, where a real-time
 *                                             thread runs
 *   send      asks stored (cs, cr)            slow-store: stored sleeps or computes before it answers
 *
 * TRUTH gets "process", "request" (with "fault"), "span" and "injected" objects. The thread that does the harm writes
 * "injected": cause, how, the request that it is meant for, from when to when. Other requests that need the same
 * resource meanwhile are slow by the same cause. While a fault of a CPU or of the disk is injected no other request is
 * in progress.
 */
#include "truth.h"
#include <stdbool.h>
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "zipkin_tp.h"

#define US 1000LL
#define MS 1000000LL
#define FRONT_PORT 7070
#define STORE_PORT 7071
#define AUTH_PORT 7072
#define IMAGES 8
#define IMAGE_BYTES 16384
#define MOST_WORKERS 16
#define MOST_CPUS 4
#define CGROUP "/sys/fs/cgroup/thumb"

enum kind { NONE, STORE, LOCK, ENCODE, HOG, WRITEBACK, THROTTLE, DISK, PIPE, ACCEPT, N_KINDS };

static const char *const kind_name[N_KINDS] = {
	"none", "slow-store", "lock-holder", "big-encode", "cpu-hog", "writeback", "throttled", "slow-disk", "full-pipe",
	"slow-accept",
};

/* No other request is in progress while one of these is injected. */
static bool is_exclusive(enum kind k)
{
	return k == HOG || k == WRITEBACK || k == THROTTLE || k == DISK;
}

enum how { SLEEPS, COMPUTES };

static const char *const how_name[] = { "sleeps", "computes" };

/* Tells a thread to do harm for some time. */
struct order {
	int64_t number, trace, ns;
	int32_t kind, how;
};

/* ---- spans ---- */

struct service { const char *name; int port; };
static const struct service front = { "thumbd", FRONT_PORT };
static const struct service store = { "stored", STORE_PORT };

struct span {
	const char *name;
	const struct service *service;
	int64_t trace, id, parent;	/* parent 0: a root */
	int64_t start;
};

/* The truth of a request is written after its end, so that writing is no part of it. */
struct notes { char text[8192]; int n; };
static __thread struct notes notes;

static void __attribute__((format(printf, 1, 2))) later(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	notes.n += vsnprintf(notes.text + notes.n, sizeof notes.text - notes.n, format, args);
	va_end(args);
	notes.text[notes.n++] = '\n';
	if (notes.n > (int)sizeof notes.text - 400)
		die("too many notes");
}

static void write_notes(void)
{
	if (write(truth_fd, notes.text, notes.n) != notes.n)
		die("truth");
	notes.n = 0;
}

static void mark(const struct span *s, const char *event)
{
	lttng_ust_tracepoint(zipkin, timestamp, s->name, s->service->name, s->service->port, "127.0.0.1", s->trace, s->id,
			     s->parent, event);
}

static void count(const struct span *s, const char *key, int64_t value)
{
	lttng_ust_tracepoint(zipkin, keyval_integer, s->name, s->service->name, s->service->port, "127.0.0.1", s->trace,
			     s->id, s->parent, key, value);
}

static int64_t new_id(void)
{
	static __thread uint64_t x;
	if (!x && getrandom(&x, sizeof x, 0) != sizeof x)
		die("getrandom");
	do {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	} while (!(x & INT64_MAX));
	return x & INT64_MAX;
}

static struct span begin(const char *name, const struct service *service, const struct span *parent, const char *event)
{
	struct span s = { .name = name, .service = service, .id = new_id(), .trace = parent->trace, .parent = parent->id };
	s.start = now_ns();
	mark(&s, event);
	return s;
}

static void end(const struct span *s, const char *event)
{
	mark(s, event);
	later("{\"kind\":\"span\",\"name\":\"%s\",\"service\":\"%s\",\"tid\":%d,\"trace\":%ld,\"start_ns\":%ld,"
	      "\"end_ns\":%ld}", s->name, s->service->name, my_tid(), s->trace, s->start, now_ns());
}

/* ---- computing ---- */

static int64_t loops_per_ms = 1000;		/* CAUSES_LOOPS */

static uint32_t loops(int64_t n)
{
	uint32_t h = 2166136261u;
	for (int64_t i = 0; i < n; i++) {
		h = (h ^ (uint32_t)i) * 16777619u;
		__asm__ volatile ("" : "+r" (h));
	}
	return h;
}

/* Work that takes that long on an idle CPU. */
static void compute(int64_t ns)
{
	loops(loops_per_ms * ns / MS);
}

static void busy_until(int64_t at)
{
	while (now_ns() < at)
		loops(200);
}

static void calibrate(void)
{
	int64_t best = INT64_MAX;
	for (int i = 0; i < 100; i++) {
		int64_t from = now_ns();
		loops(100000);
		int64_t took = now_ns() - from;
		if (took < best)
			best = took;
	}
	loops_per_ms = 100000 * MS / best;
	char text[32];
	snprintf(text, sizeof text, "%ld", loops_per_ms);
	setenv("CAUSES_LOOPS", text, 1);
}

/* ---- transfers ---- */

static void put(int fd, const void *data, size_t n)
{
	for (const char *p = data; n; ) {
		ssize_t done = write(fd, p, n);
		if (done <= 0)
			die("short write");
		p += done;
		n -= done;
	}
}

static bool get(int fd, void *data, size_t n)
{
	for (char *p = data; n; ) {
		ssize_t done = read(fd, p, n);
		if (done <= 0)
			return false;
		p += done;
		n -= done;
	}
	return true;
}

static void answer(int fd, char what)
{
	put(fd, &what, 1);
}

static void expect(int fd, char what)
{
	char c;
	if (!get(fd, &c, 1) || c != what)
		die("answer");
}

static void injected(const struct order *o, int64_t start)
{
	truth("{\"kind\":\"injected\",\"cause\":\"%s\",\"how\":\"%s\",\"number\":%ld,\"trace\":%ld,\"pid\":%d,\"tid\":%d,"
	      "\"start_ns\":%ld,\"end_ns\":%ld}", kind_name[o->kind], how_name[o->how], o->number, o->trace, getpid(),
	      my_tid(), start, now_ns());
}

/* Sleeps or computes as ordered, from start on. */
static void spend(const struct order *o, int64_t start)
{
	if (o->how == SLEEPS)
		sleep_ns(o->ns);
	else
		busy_until(start + o->ns);
}

static void pin(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) < 0)
		die("sched_setaffinity");
}

/* ---- the other processes ---- */

/* What is sent to stored: the request's ids, and the harm to do. */
struct message { struct order order; int64_t span, parent; char thumb[512]; };

static void *store_connection(void *argument)
{
	int fd = (int)(long)argument;
	struct message m;
	prctl(PR_SET_NAME, "stored-conn");
	while (get(fd, &m, sizeof m)) {
		struct span rpc = { "send", &store, m.order.trace, m.span, m.parent, now_ns() };
		mark(&rpc, "sr");
		struct span s = begin("store", &store, &rpc, "start");
		compute(100 * US);
		end(&s, "end");
		int64_t from = now_ns();
		if (m.order.kind == STORE) {
			spend(&m.order, from);
			injected(&m.order, from);
		}
		end(&rpc, "ss");
		put(fd, &m.order.number, sizeof m.order.number);
		write_notes();
	}
	close(fd);
	return NULL;
}

static int store_main(int listener)
{
	for (;;) {
		pthread_t thread;
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), yes = 1;
		if (fd < 0)
			return 0;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
		pthread_create(&thread, NULL, store_connection, (void *)(long)fd);
		pthread_detach(thread);
	}
}

static int auth_main(int listener, int in, int out)
{
	struct pollfd both[2] = { { .fd = in, .events = POLLIN }, { .fd = listener, .events = POLLIN } };
	struct order o;
	for (;;) {
		if (poll(both, 2, -1) < 0)
			die("poll");
		if (both[0].revents) {
			if (!get(in, &o, sizeof o))
				return 0;
			int64_t from = now_ns();
			answer(out, 'a');
			spend(&o, from);
			injected(&o, from);
			answer(out, 'd');
			continue;
		}
		int64_t number;
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			die("accept");
		if (get(fd, &number, sizeof number)) {
			compute(50 * US);
			put(fd, &number, sizeof number);
		}
		close(fd);
	}
}

/* A line of the log; order.ns > 0: logd stops for so long. */
struct record { struct order order; char text[512 - sizeof(struct order)]; };

static int log_main(int in, int out)
{
	struct record r;
	while (get(in, &r, sizeof r)) {
		if (!r.order.ns) {
			compute(20 * US);
			continue;
		}
		int64_t from = now_ns();
		answer(out, 'a');
		spend(&r.order, from);
		injected(&r.order, from);
		answer(out, 'd');
	}
	return 0;
}

static int hog_main(int in, int out, int cpu, int real_time)
{
	struct sched_param rt = { .sched_priority = 50 };
	struct order o;
	pin(cpu);
	if (real_time ? sched_setscheduler(0, SCHED_FIFO, &rt) < 0 : setpriority(PRIO_PROCESS, 0, -20) < 0)
		die("priority");
	while (get(in, &o, sizeof o)) {
		int64_t from = now_ns();
		answer(out, 'a');
		busy_until(from + o.ns);
		injected(&o, from);
		answer(out, 'd');
	}
	return 0;
}

static int limiter_main(int in, int out)
{
	static const char little[] = "1000 200000", all[] = "max 100000";
	int fd = open(CGROUP "/cpu.max", O_WRONLY | O_CLOEXEC);
	struct order o;
	if (fd < 0)
		die("cpu.max");
	while (get(in, &o, sizeof o)) {
		int64_t from = now_ns();
		if (pwrite(fd, little, sizeof little - 1, 0) < 0)
			die("cpu.max");
		answer(out, 'a');
		sleep_ns(o.ns);
		injected(&o, from);
		if (pwrite(fd, all, sizeof all - 1, 0) < 0)
			die("cpu.max");
		answer(out, 'd');
	}
	return 0;
}

/* The disk's limit, as the virtual machine has it: bytes a second, and a tenth of a second's worth at once. */
#define DISK_RATE 4000000
#define DISK_BURST (DISK_RATE / 10)

/*
 * Writes more than the limit lets pass at once: the second write still passes, as the burst was not used up before it.
 * What is written then waits until the disk may write again; so does a probe of the filler.
 */
static int filler_main(const char *disk, int in, int out)
{
	const size_t first = 256 << 10, most = 512 << 10;
	char path[512], *data = aligned_alloc(4096, most);
	struct order o;
	memset(data, 'f', most);
	snprintf(path, sizeof path, "%s/filler", disk);
	int fd = open(path, O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0644);
	if (fd < 0 || pwrite(fd, data, first, 0) < 0 || pwrite(fd, data, most, first) < 0 || fsync(fd) < 0)
		die(path);
	while (get(in, &o, sizeof o)) {
		size_t more = DISK_BURST + o.ns * DISK_RATE / 1000000000 - first;
		if (pwrite(fd, data, first, 0) < 0 || pwrite(fd, data, more & ~4095ul, first) < 0)
			die(path);
		int64_t from = now_ns();
		answer(out, 'a');
		if (pwrite(fd, data, 4096, 0) < 0)
			die(path);
		injected(&o, from);
		answer(out, 'd');
	}
	return 0;
}

/* ---- the front ---- */

/* A thread or process that takes orders. It answers 'a' when the harm has begun, 'd' when it is done. */
struct injector { int order_fd, answer_fd; };

static struct injector cleaner, authd, logd, limiter, filler, hogs[MOST_CPUS][3];	/* hogs: the first is real-time */
static int log_fd, log_fill_fd;
static int n_cpus;
static const char *directory, *disk_directory, *truth_path;
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t state_changed = PTHREAD_COND_INITIALIZER;
static int in_progress, faults_in_progress;

struct worker {
	int index, cpu, store_fd, save_fd;
	int64_t saved;
	bool idle;			/* state_lock */
	sem_t filled;
	struct order job;		/* number 0: end */
	unsigned char *buffer;
	pthread_t thread;
};
static struct worker workers[MOST_WORKERS];

static void give(const struct injector *i, const struct order *o)
{
	put(i->order_fd, o, sizeof *o);
}

static void give_and_wait(const struct injector *i, const struct order *o)
{
	give(i, o);
	expect(i->answer_fd, 'a');
}

/* Takes the cache lock as ordered. */
static void *clean(void *argument)
{
	const int *fds = argument;
	struct order o;
	prctl(PR_SET_NAME, "thumbd-clean");
	while (get(fds[0], &o, sizeof o)) {
		pthread_mutex_lock(&cache_lock);
		int64_t from = now_ns();
		answer(fds[1], 'a');
		spend(&o, from);
		injected(&o, from);
		pthread_mutex_unlock(&cache_lock);
		answer(fds[1], 'd');
	}
	return NULL;
}

static void fill_pipe(const struct order *o)
{
	struct record r = { .order = *o };
	put(log_fd, &r, sizeof r);
	expect(logd.answer_fd, 'a');
	r.order.ns = 0;
	for (int i = 0; i < 64 && write(log_fill_fd, &r, sizeof r) == sizeof r; i++)
		;
}

/* Causes that must be there when the request begins. */
static void harm_before(const struct order *o)
{
	switch (o->kind) {
	case LOCK: give_and_wait(&cleaner, o); break;
	case ACCEPT: give_and_wait(&authd, o); break;
	case DISK: give_and_wait(&filler, o); break;
	case PIPE: fill_pipe(o); break;
	}
}

static void harm_encode(const struct worker *w, const struct order *o)
{
	if (o->kind == THROTTLE)
		give_and_wait(&limiter, o);
	if (o->kind == HOG && o->how == SLEEPS)		/* not about sleep: real-time or niced */
		give(&hogs[w->cpu][0], o);
	if (o->kind == HOG && o->how == COMPUTES) {
		give(&hogs[w->cpu][1], o);
		give(&hogs[w->cpu][2], o);
	}
}

static void harm_end(const struct worker *w, const struct order *o)
{
	switch (o->kind) {
	case LOCK: expect(cleaner.answer_fd, 'd'); break;
	case ACCEPT: expect(authd.answer_fd, 'd'); break;
	case DISK: expect(filler.answer_fd, 'd'); break;
	case PIPE: expect(logd.answer_fd, 'd'); break;
	case THROTTLE: expect(limiter.answer_fd, 'd'); break;
	case WRITEBACK: expect(hogs[1][0].answer_fd, 'd'); break;
	case HOG:
		for (int i = o->how == SLEEPS ? 0 : 1; i <= (o->how == SLEEPS ? 0 : 2); i++) {
			expect(hogs[w->cpu][i].answer_fd, 'a');
			expect(hogs[w->cpu][i].answer_fd, 'd');
		}
		break;
	}
}

static int connect_to(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
	if (fd < 0 || connect(fd, (void *)&to, sizeof to) < 0)
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	return fd;
}

static void step_lock(const struct span *root)
{
	struct span s = begin("lock", &front, root, "start");
	pthread_mutex_lock(&cache_lock);
	end(&s, "end");
	compute(20 * US);
	pthread_mutex_unlock(&cache_lock);
}

static void step_auth(const struct span *root, int64_t number)
{
	struct span s = begin("auth", &front, root, "start");
	int fd = connect_to(AUTH_PORT);
	put(fd, &number, sizeof number);
	if (!get(fd, &number, sizeof number))
		die("auth");
	close(fd);
	end(&s, "end");
}

static void step_decode(const struct span *root, struct worker *w, int64_t number)
{
	char path[512];
	struct span s = begin("decode", &front, root, "start");
	snprintf(path, sizeof path, "%s/image-%ld", directory, number % IMAGES);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !get(fd, w->buffer, IMAGE_BYTES))
		die(path);
	close(fd);
	compute(400 * US);
	end(&s, "end");
}

static void step_log(const struct span *root, const struct order *o)
{
	struct record r = { .order = { .number = o->number, .trace = o->trace } };
	struct span s = begin("log", &front, root, "start");
	put(log_fd, &r, sizeof r);
	end(&s, "end");
}

static void step_encode(const struct span *root, const struct worker *w, const struct order *o)
{
	struct span s = begin("encode", &front, root, "start");
	harm_encode(w, o);
	compute(300 * US);
	sleep_ns(50 * US);
	int64_t from = now_ns();
	if (o->kind == ENCODE) {
		compute(o->ns);
		later("{\"kind\":\"injected\",\"cause\":\"%s\",\"how\":\"computes\",\"number\":%ld,\"trace\":%ld,\"pid\":%d,"
		      "\"tid\":%d,\"start_ns\":%ld,\"end_ns\":%ld}", kind_name[ENCODE], o->number, o->trace, getpid(),
		      my_tid(), from, now_ns());
	}
	compute(300 * US);
	end(&s, "end");
}

static void step_save(const struct span *root, struct worker *w, const struct order *o)
{
	struct span s = begin("save", &front, root, "start");
	if (o->kind == WRITEBACK)
		give_and_wait(&hogs[1][0], o);
	put(w->save_fd, w->buffer, 4096);
	if (fsync(w->save_fd) < 0)
		die("fsync");
	w->saved += 4096;
	end(&s, "end");
}

static void step_send(const struct span *root, const struct worker *w, const struct order *o)
{
	int64_t number;
	struct span s = begin("send", &front, root, "cs");
	struct message m = { .order = *o, .span = s.id, .parent = s.parent };
	put(w->store_fd, &m, sizeof m);
	if (!get(w->store_fd, &number, sizeof number))
		die("stored");
	end(&s, "cr");
}

static void thumbnail(struct worker *w)
{
	struct order o = w->job;
	struct span root = { .name = "thumbnail", .service = &front, .trace = o.trace, .id = o.trace };
	harm_before(&o);
	root.start = now_ns();
	mark(&root, "sr");
	count(&root, "number", o.number);
	step_lock(&root);
	step_auth(&root, o.number);
	step_decode(&root, w, o.number);
	step_log(&root, &o);
	step_encode(&root, w, &o);
	step_save(&root, w, &o);
	step_send(&root, w, &o);
	end(&root, "ss");
	later("{\"kind\":\"request\",\"number\":%ld,\"trace\":%ld,\"tid\":%d,\"cpu\":%d,\"fault\":\"%s\",\"how\":\"%s\","
	      "\"start_ns\":%ld,\"end_ns\":%ld}", o.number, o.trace, my_tid(), w->cpu, kind_name[o.kind],
	      how_name[o.how], root.start, now_ns());
	write_notes();
	harm_end(w, &o);
	if (w->saved >= 1 << 20) {
		w->saved = 0;
		if (ftruncate(w->save_fd, 0) < 0 || fsync(w->save_fd) < 0)
			die("truncate");
		lseek(w->save_fd, 0, SEEK_SET);
	}
}

static void *work(void *argument)
{
	struct worker *w = argument;
	char text[600];
	snprintf(text, sizeof text, "thumbd-w%d", w->index);
	prctl(PR_SET_NAME, text);
	pin(w->cpu);
	w->store_fd = connect_to(STORE_PORT);
	w->buffer = calloc(1, IMAGE_BYTES);
	snprintf(text, sizeof text, "%s/thumb-%d", disk_directory, w->index);
	w->save_fd = open(text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (w->save_fd < 0)
		die(text);
	for (;;) {
		while (sem_wait(&w->filled) < 0)
			;
		if (!w->job.number)
			return NULL;
		thumbnail(w);
		pthread_mutex_lock(&state_lock);
		w->idle = true;
		in_progress--;
		faults_in_progress -= w->job.kind != NONE;
		pthread_cond_signal(&state_changed);
		pthread_mutex_unlock(&state_lock);
	}
}

/* ---- the start ---- */

static int listen_on(int port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(fd, (void *)&at, sizeof at) < 0 || listen(fd, 64) < 0)
		die("listen");
	return fd;
}

static pid_t children[64];
static int n_children;

/* Starts this program anew, so that each process has its own registration with the tracer. */
static void start(const char *name, struct injector *i, const char *a, int b, int c)
{
	int orders[2] = { -1, -1 }, answers[2] = { -1, -1 };
	char text[4][16];
	if (i && (pipe(orders) < 0 || pipe(answers) < 0))
		die("pipe");
	pid_t child = fork();
	if (child == 0) {
		if (i) {
			close(orders[1]);
			close(answers[0]);
		}
		const int numbers[4] = { orders[0], answers[1], b, c };
		for (int k = 0; k < 4; k++)
			snprintf(text[k], sizeof text[k], "%d", numbers[k]);
		execl("/proc/self/exe", name, "be", name, truth_path, a, text[0], text[1], text[2], text[3], NULL);
		die("exec");
	}
	children[n_children++] = child;
	if (!i)
		return;
	close(orders[0]);
	close(answers[1]);
	fcntl(orders[1], F_SETFD, FD_CLOEXEC);
	fcntl(answers[0], F_SETFD, FD_CLOEXEC);
	*i = (struct injector){ orders[1], answers[0] };
}

static int be(char **argv)
{
	const char *name = argv[0];
	int in = atoi(argv[3]), out = atoi(argv[4]), b = atoi(argv[5]), c = atoi(argv[6]);
	truth_open(argv[1]);
	prctl(PR_SET_NAME, name);
	loops_per_ms = atoll(getenv("CAUSES_LOOPS"));
	truth("{\"kind\":\"process\",\"service\":\"%s\",\"pid\":%d}", name, getpid());
	return !strcmp(name, "stored") ? store_main(b) :
		!strcmp(name, "authd") ? auth_main(b, in, out) :
		!strcmp(name, "logd") ? log_main(b, out) :
		!strcmp(name, "hog") ? hog_main(in, out, b, c) :
		!strcmp(name, "limiter") ? limiter_main(in, out) :
		!strcmp(name, "filler") ? filler_main(argv[2], in, out) : 2;
}

static void start_all(int n_workers)
{
	int listener = listen_on(STORE_PORT), auth_listener = listen_on(AUTH_PORT), log_pipe[2];
	static int cleaner_fds[2];
	pthread_t thread;
	int orders[2], answers[2];

	start("stored", NULL, "", listener, 0);
	start("authd", &authd, "", auth_listener, 0);
	if (pipe(log_pipe) < 0 || fcntl(log_pipe[1], F_SETPIPE_SZ, 4096) < 0)
		die("pipe");
	fcntl(log_pipe[1], F_SETFD, FD_CLOEXEC);
	start("logd", &logd, "", log_pipe[0], 0);
	close(log_pipe[0]);
	close(listener);
	close(auth_listener);
	log_fd = log_pipe[1];
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", log_fd);
	log_fill_fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	for (int cpu = 0; cpu < n_cpus; cpu++)
		for (int i = 0; i < 3; i++)
			start("hog", &hogs[cpu][i], "", cpu, i == 0);
	start("limiter", &limiter, "", 0, 0);
	start("filler", &filler, disk_directory, 0, 0);

	int group = open(CGROUP "/cgroup.procs", O_WRONLY);
	if (group < 0 || write(group, "0", 1) != 1 || pipe2(orders, O_CLOEXEC) < 0 || pipe2(answers, O_CLOEXEC) < 0)
		die(CGROUP);
	close(group);
	cleaner = (struct injector){ orders[1], answers[0] };
	cleaner_fds[0] = orders[0];
	cleaner_fds[1] = answers[1];
	pthread_create(&thread, NULL, clean, cleaner_fds);
	for (int i = 0; i < n_workers; i++) {
		struct worker *w = &workers[i];
		*w = (struct worker){ .index = i, .cpu = i % n_cpus, .idle = true };
		sem_init(&w->filled, 0, 0);
		pthread_create(&w->thread, NULL, work, w);
	}
}

static uint64_t seed;

static double random_part(void)		/* in [0, 1) */
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(seed >> 33) / (1u << 31);
}

/* Which request is slow by what: EACH of each kind, at random places. */
static enum kind *make_plan(int n, int each)
{
	enum kind *plan = calloc(n, sizeof *plan);
	for (int k = 1, at = 0; k < N_KINDS; k++)
		for (int i = 0; i < each && at < n; i++)
			plan[at++] = k;
	for (int i = n - 1; i > 0; i--) {
		int other = (int)(random_part() * (i + 1));
		enum kind k = plan[i];
		plan[i] = plan[other];
		plan[other] = k;
	}
	return plan;
}

static struct worker *idle_worker(enum kind k, int n_workers)
{
	struct worker *found[MOST_WORKERS];
	int n = 0;
	for (int i = 0; i < n_workers; i++)
		if (workers[i].idle && (k != WRITEBACK || workers[i].cpu == 0))
			found[n++] = &workers[i];
	return n ? found[(int)(random_part() * n)] : NULL;
}

static void dispatch(enum kind k, int number, int n_workers)
{
	struct worker *w;
	pthread_mutex_lock(&state_lock);
	while ((is_exclusive(k) && in_progress) || (k != NONE && faults_in_progress) || !(w = idle_worker(k, n_workers)))
		pthread_cond_wait(&state_changed, &state_lock);
	w->job = (struct order){ .number = number, .trace = new_id(), .kind = k,
		.how = random_part() < 0.5 ? SLEEPS : COMPUTES,
		.ns = k == NONE ? 0 : 50 * MS + (int64_t)(random_part() * 40 * MS) };
	w->idle = false;
	in_progress++;
	faults_in_progress += k != NONE;
	sem_post(&w->filled);
	while (is_exclusive(k) && in_progress)
		pthread_cond_wait(&state_changed, &state_lock);
	pthread_mutex_unlock(&state_lock);
	if (is_exclusive(k))
		sleep_ns(k == DISK ? 150 * MS : 5 * MS);
}

static int serve(char **argv)
{
	directory = argv[0];
	disk_directory = argv[1];
	truth_path = argv[2];
	int n_workers = atoi(argv[3]), n = atoi(argv[4]), each = atoi(argv[5]);
	int64_t gap = atoll(argv[6]) * US;
	seed = strtoull(argv[7], NULL, 10) * 0x9E3779B97F4A7C15ULL;
	n_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	if (n_workers < 1 || n_workers > MOST_WORKERS || n_cpus < 2 || n_cpus > MOST_CPUS)
		die("workers or CPUs");
	truth_open(truth_path);
	signal(SIGPIPE, SIG_IGN);
	calibrate();
	start_all(n_workers);
	prctl(PR_SET_NAME, "thumbd");
	truth("{\"kind\":\"process\",\"service\":\"thumbd\",\"pid\":%d,\"workers\":%d,\"requests\":%d,\"each\":%d,"
	      "\"gap_ns\":%ld,\"loops_per_ms\":%ld}", getpid(), n_workers, n, each, gap, loops_per_ms);
	sleep_ns(2000 * MS);

	enum kind *plan = make_plan(n, each);
	for (int i = 0; i < n; i++) {
		sleep_ns((int64_t)(gap / 4 + random_part() * gap * 3 / 2));
		dispatch(plan[i], i + 1, n_workers);
	}
	for (int i = 0; i < n_workers; i++) {
		pthread_mutex_lock(&state_lock);
		while (!workers[i].idle)
			pthread_cond_wait(&state_changed, &state_lock);
		workers[i].job.number = 0;
		sem_post(&workers[i].filled);
		pthread_mutex_unlock(&state_lock);
		pthread_join(workers[i].thread, NULL);
	}
	for (int i = 0; i < n_children; i++)
		kill(children[i], SIGTERM);
	while (wait(NULL) > 0)
		;
	truth("{\"kind\":\"end\",\"requests\":%d,\"end_ns\":%ld}", n, now_ns());
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 10 && !strcmp(argv[1], "serve"))
		return serve(argv + 2);
	if (argc == 9 && !strcmp(argv[1], "be"))
		return be(argv + 2);
	fprintf(stderr, "usage: causes serve DIR DISK TRUTH WORKERS REQUESTS EACH GAP_US SEED\n");
	return 2;
}

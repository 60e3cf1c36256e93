/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The story that screens.md tells, as a timeline: see fake_timeline.h.
 */
#include "lib/fake_timeline.h"

struct story {
	struct fake *f;
	uint32_t worker[4];		/* thumbd-w0/254 .. w3/257 */
	uint32_t thumbd, stored, evil, kworker, stray;
	uint32_t image, thumb, sock;
	uint32_t read, write, futex, sleep, recv;
	struct span *lock;		/* of the request made last */
};

static uint64_t child_id(uint64_t trace, unsigned n)
{
	return trace * 31 + n;
}

struct request {
	uint64_t trace;
	unsigned worker;
	int64_t begin;			/* ns from FAKE_T0 */
	int64_t lock, decode, encode, store;	/* how long each takes */
};

static struct span *phase(struct story *st, const struct request *r, unsigned n,
			  const char *name, int64_t begin, int64_t end)
{
	return fake_span(st->f, &(struct fake_span){
		.trace = r->trace, .id = child_id(r->trace, n), .parent = r->trace, .name = name,
		.service = "thumbd", .thread = st->worker[r->worker], .begin = begin, .end = end });
}

/* The two halves of "send" and what stored did of it: 0.4 ms each way. */
static void add_send(struct story *st, const struct request *r, int64_t begin, enum part part)
{
	uint64_t id = child_id(r->trace, 5);
	int64_t end = begin + r->store + 800000, from = begin + 400000, to = end - 400000;
	struct span *client = phase(st, r, 5, "send", begin, end);
	client->kind = SPAN_CLIENT;
	fake_annotate(client, begin, "cs");
	fake_annotate(client, end, "cr");
	struct span_wait *w = fake_wait(client, PART_SOCKET, begin + 100000, end - 50000, 100000,
					st->stored, st->recv);
	w->file = st->sock;
	struct span *server = fake_span(st->f, &(struct fake_span){
		.trace = r->trace, .id = id, .parent = r->trace, .kind = SPAN_SERVER,
		.name = "send", .service = "stored", .thread = st->stored,
		.begin = from, .end = to });
	fake_annotate(server, from, "sr");
	fake_annotate(server, to, "ss");
	struct span *store = fake_span(st->f, &(struct fake_span){
		.trace = r->trace, .id = child_id(r->trace, 6), .parent = id, .name = "store",
		.service = "stored", .thread = st->stored, .begin = from + 100000,
		.end = to - 100000 });
	uint32_t call = part == PART_TIMER ? st->sleep : st->write;
	fake_wait(store, part, from + 200000, to - 200000, 50000, ID_NONE, call)->file =
		part == PART_DISK ? st->thumb : ID_NONE;
	fake_wait(server, part, from + 200000, to - 200000, 50000, ID_NONE, call);
	server->self_ns = 200000;
	fake_tag(store, "bytes", "131072");
	fake_tag(store, "path", "/srv/thumb/x");
}

/* The whole request; its root, which still is all user time. */
static struct span *add_request(struct story *st, const struct request *r, int64_t sleep,
				enum part store_part)
{
	int64_t t = r->begin + 100000;
	st->lock = phase(st, r, 1, "lock", t, t + r->lock);
	t += r->lock + sleep;
	phase(st, r, 2, "open", t, t + 300000);
	t += 300000;
	struct span *decode = phase(st, r, 3, "decode", t, t + r->decode);
	fake_wait(decode, PART_DISK, t + r->decode / 2, t + r->decode, 100000, ID_NONE,
		  st->read)->file = st->image;
	t += r->decode;
	phase(st, r, 4, "encode", t, t + r->encode);
	t += r->encode;
	add_send(st, r, t, store_part);
	t += r->store + 800000 + 100000;
	struct span *root = fake_span(st->f, &(struct fake_span){
		.trace = r->trace, .id = r->trace, .name = "thumbnail", .service = "thumbd",
		.thread = st->worker[r->worker], .begin = r->begin, .end = t });
	root->self_ns = 200000 + sleep;
	fake_part(root, PART_SOCKET, r->store + 550000);
	fake_part(root, PART_DISK, r->decode / 2);
	return root;
}

static void add_good_requests(struct story *st)
{
	for (unsigned i = 0; i < FAKE_GOOD; i++) {
		struct request r = {
			.trace = FAKE_GOOD_TRACE(i), .worker = i % 4, .begin = (5 + i * 90) * FAKE_MS,
			.lock = 40000 + 1000 * i, .decode = (8 + i % 4) * FAKE_MS,
			.encode = (5 + i % 3) * FAKE_MS, .store = (6 + i % 5) * FAKE_MS,
		};
		struct span *root = add_request(st, &r, 0, PART_DISK);
		if (i == 7) {
			fake_tag(root, "error", "EIO");
			root->errors = 1;
		}
	}
}

/* The holder locks at 3.880, sleeps until 3.940; the victim waits from 3.8852 on. */
static void add_bad_requests(struct story *st)
{
	int64_t base = 3 * FAKE_S + 879 * FAKE_MS;
	struct request holder = { FAKE_HOLDER, 0, base, 40000, 16 * FAKE_MS, 12 * FAKE_MS,
				  8 * FAKE_MS };
	struct span *root = add_request(st, &holder, 60 * FAKE_MS, PART_DISK);
	int64_t slept = base + 150000;
	fake_wait(root, PART_TIMER, slept, slept + 60 * FAKE_MS - 50000, 20000, ID_NONE, st->sleep);

	struct request victim = { FAKE_VICTIM, 2, base + 5 * FAKE_MS, 54700000, 4 * FAKE_MS,
				  2400000, 6 * FAKE_MS };
	root = add_request(st, &victim, 0, PART_DISK);
	struct span_wait *w = fake_wait(st->lock, PART_FUTEX, victim.begin + 150000,
					victim.begin + 54790000, 1400000, st->worker[0], st->futex);
	w->waker_call = st->sleep;
	fake_link(st->lock, st->worker[0], PART_TIMER, victim.begin + 150000, w->wake_ns - FAKE_T0)->call =
		st->sleep;
	w->arg = 0x55efb1a37580;
	fake_part(root, PART_FUTEX, w->wake_ns - w->begin_ns);

	struct request slow = { FAKE_SLOW_STORE, 1, 3 * FAKE_S + 850 * FAKE_MS, 45000, 9 * FAKE_MS,
				6 * FAKE_MS, 80 * FAKE_MS };
	add_request(st, &slow, 0, PART_TIMER);
}

static void add_open_request(struct story *st)
{
	int64_t begin = 3 * FAKE_S + 950 * FAKE_MS, now = 6 * FAKE_S;
	struct fake_span d = { .trace = FAKE_OPEN, .id = FAKE_OPEN, .name = "thumbnail",
		.service = "thumbd", .thread = st->worker[3], .begin = begin, .end = now,
		.state = SPAN_OPEN };
	struct span *root = fake_span(st->f, &d);
	root->self_ns = 100000;
	d.parent = d.id;
	d.id = child_id(FAKE_OPEN, 1);
	d.name = "lock";
	d.begin += 100000;
	struct span *lock = fake_span(st->f, &d);
	struct span_wait *w = fake_wait(lock, PART_FUTEX, d.begin + 10000, now, 0, ID_NONE,
					st->futex);
	w->arg = 0x55efb1a37580;
	fake_part(root, PART_FUTEX, now - d.begin - 10000);
}

static void set_parts(struct second *s, uint32_t thread, int64_t user, int64_t sys,
		      int64_t wakeup, enum part blocked)
{
	struct thread_cell *c = fake_cell(s, thread);
	c->part[PART_USER] = user * FAKE_MS;
	c->part[PART_SYSCALL] = sys * FAKE_MS;
	c->part[PART_IRQ] = FAKE_MS;
	c->part[PART_WAKEUP] = wakeup * FAKE_MS;
	c->part[blocked] += (999 - user - sys - wakeup) * FAKE_MS;
}

static void add_cells(struct story *st, struct second *s, bool quiet)
{
	for (unsigned i = 0; i < 4; i++) {
		set_parts(s, st->worker[i], quiet ? 0 : 150 + 10 * i, quiet ? 1 : 40, 2, PART_FUTEX);
		fake_waits(s, fake_call(s, st->worker[i], st->futex, quiet ? 1 : 10, 50000 * (i + 1)), CALL_WAITS_LOCK);
		fake_waits(s, fake_call(s, st->worker[i], st->read, quiet ? 0 : 20, 30000), CALL_NO_WAIT);
		fake_io(s, st->worker[i], st->image, quiet ? 0 : 20, 0, 8192, 30000);
	}
	fake_cell(s, st->worker[0])->errors = 1;
	s->calls[0].errors = s->waits[0].errors = 1;
	set_parts(s, st->thumbd, 0, 1, 0, PART_POLL);
	set_parts(s, st->stored, 100, 80, 1, PART_SOCKET);
	fake_call(s, st->stored, st->write, 9, 5 * FAKE_MS);
	fake_call(s, st->stored, st->recv, 9, 30 * FAKE_MS)->unfinished = 1;
	fake_io(s, st->stored, st->thumb, 0, 9, 16384, 5 * FAKE_MS);
	fake_io(s, st->stored, st->sock, 9, 9, 300, 40000);
	set_parts(s, st->evil, 10, 5, 0, PART_TIMER);
	fake_call(s, st->evil, st->sleep, 1, 900 * FAKE_MS);
	set_parts(s, st->kworker, 0, 0, 0, PART_OTHER);
	fake_cell(s, st->kworker)->part[PART_KERNEL] = 20 * FAKE_MS;
	fake_cell(s, st->kworker)->part[PART_OTHER] -= 20 * FAKE_MS;
	set_parts(s, st->stray, 30, 0, 0, PART_UNKNOWN);
}

static void add_flows(struct fake *f, struct second *s)
{
	static const struct flow flows[] = {
		{ .family = 4, .protocol = FLOW_TCP, .local_port = 8080, .peer_port = 51234,
		  .local = { 10, 0, 0, 1 }, .peer = { 10, 0, 0, 77 } },
		{ .family = 6, .protocol = FLOW_UDP, .local_port = 40000, .peer_port = 53,
		  .local = { 0xfe, 0x80, [15] = 1 }, .peer = { 0x20, 1, 0xd, 0xb8, [15] = 0x53 } },
		{ .family = 4, .protocol = 1, .local = { 10, 0, 0, 1 }, .peer = { 10, 0, 0, 254 } },
	};
	s->n_flows = G_N_ELEMENTS(flows);
	s->flows = g_new0(struct flow_cell, s->n_flows);
	for (unsigned i = 0; i < s->n_flows; i++)
		s->flows[i] = (struct flow_cell){ .name = fake_string(f, "eth0"), .flow = flows[i],
			.rx_packets = 280 >> 4 * i, .rx_bytes = 42000 >> 3 * i,
			.tx_packets = 271 >> 4 * i, .tx_bytes = 277000 >> 3 * i };
}

static void add_machine(struct story *st, struct second *s)
{
	struct fake *f = st->f;
	s->cpus = g_new0(struct cpu_cell, 2);
	s->n_cpus = 2;
	for (uint32_t i = 0; i < 2; i++)
		s->cpus[i] = (struct cpu_cell){ .cpu = i, .run_ns = (500 - 100 * i) * FAKE_MS,
			.idle_ns = (500 + 100 * i) * FAKE_MS, .irq_ns = 4 * FAKE_MS };
	s->devs = g_new0(struct dev_cell, 1);
	s->n_devs = 1;
	s->devs[0] = (struct dev_cell){ .dev = 253u << 20, .name = fake_string(f, "vda"),
		.requests = { 80, 9, 2 }, .bytes = { 655360, 147456 }, .merges = 3, .depth_max = 4,
		.queued_max = 2, .busy_ns = 230 * FAKE_MS, .depth_ns = 260 * FAKE_MS,
		.queued_ns = 9 * FAKE_MS };
	for (unsigned i = 0; i < 89; i++) {
		hist_add(&s->devs[0].latency, FAKE_MS + i * 40000);
		hist_add(&s->devs[0].queue, 20000 + i * 1000);
	}
	s->dev_users = g_new0(struct dev_user_cell, 2);
	s->n_dev_users = 2;
	s->dev_users[0] = (struct dev_user_cell){ .thread = 0, .dev = s->devs[0].dev,
		.name = s->devs[0].name, .requests = { 80, 9 }, .bytes = { 655360, 147456 } };
	s->dev_users[1] = (struct dev_user_cell){ .thread = UINT32_MAX, .dev = s->devs[0].dev,
		.name = s->devs[0].name, .requests = { 0, 0, 2 } };
	hist_merge(&s->dev_users[0].latency, &s->devs[0].latency);
	hist_merge(&s->dev_users[0].queue, &s->devs[0].queue);
	s->nets = g_new0(struct net_cell, 1);
	s->n_nets = 1;
	s->nets[0] = (struct net_cell){ .name = fake_string(f, "eth0"),
		.rx_packets = 310, .rx_bytes = 46500, .queued_packets = 290, .queued_bytes = 290000,
		.tx_packets = 290, .tx_bytes = 290000 };
	add_flows(f, s);
	hist_add(&s->wakeup, 100000);
	hist_add(&s->wakeup, 3 * FAKE_MS);
	fake_event(s, 0, fake_string(f, "sched_switch"), 1200);
	fake_event(s, 0, fake_string(f, "syscall_entry_futex"), 40);
	fake_event(s, 0, fake_string(f, "zipkin:timestamp"), 250);
	s->slow = g_new0(struct slow_call, 2);
	s->n_slow = 2;
	s->slow[1] = (struct slow_call){ .thread = st->evil, .name = st->sleep, .file = ID_NONE,
		.wait = CALL_WAITS_EVENT, .list = SLOW_EVENTS, .begin_ns = s->begin_ns + 50 * FAKE_MS,
		.duration_ns = 900 * FAKE_MS };
	s->slow[0] = (struct slow_call){ .thread = st->stored, .name = st->write, .file = st->thumb,
		.begin_ns = s->begin_ns + 90 * FAKE_MS, .duration_ns = 5 * FAKE_MS, .ret = 16384 };
}

/* ---- what the kernel did ---- */

/* Who ran on the CPUs in the second. */
static void add_ran(struct story *st, struct second *s)
{
	const struct ran_cell ran[] = {
		{ .key = { st->worker[0], 0 }, .time_ns = 190 * FAKE_MS },
		{ .key = { st->worker[1], 0 }, .time_ns = 200 * FAKE_MS },
		{ .key = { st->stored, 0 }, .time_ns = 110 * FAKE_MS },
		{ .key = { st->worker[3], 1 }, .time_ns = 220 * FAKE_MS },
		{ .key = { st->kworker, 1 }, .time_ns = 180 * FAKE_MS },
	};
	s->rans = g_memdup2(ran, sizeof ran);
	s->n_rans = G_N_ELEMENTS(ran);
}

static void add_scheduler(struct story *st, struct second *s)
{
	const uint32_t threads[] = { st->worker[0], st->worker[1], st->stored, st->kworker };
	s->n_scheds = s->n_wakers = G_N_ELEMENTS(threads);
	s->scheds = g_new0(struct sched_cell, s->n_scheds);
	s->wakers = g_new0(struct waker_cell, s->n_wakers);
	for (uint32_t i = 0; i < s->n_scheds; i++) {
		struct sched_cell *c = &s->scheds[i];
		*c = (struct sched_cell){ .thread = threads[i], .cpu = i % 2, .prio = 20,
			.switches = 60 - 10 * i, .preemptions = 4 * i, .moves = i };
		for (uint32_t k = 0; k < 50 - 10 * i; k++)
			hist_add(&c->wakeup, 40000 + 9000 * k);
		for (uint32_t k = 0; k < 4 * i; k++)
			hist_add(&c->preempted, 200000 * (k + 1));
		s->wakers[i] = (struct waker_cell){ .thread = threads[i], .waker = st->worker[3],
			.count = 50 - 10 * i, .total_ns = 6 * FAKE_MS, .max_ns = FAKE_MS };
	}
	s->wakers[2].waker = ID_NONE;
	s->wakers[2].irq = fake_string(st->f, "softirq NET_RX");
	s->wakers[3].waker = ID_NONE;
	s->wakers[3].idle = true;
}

/* The first worker slept while it held a lock that the others waited for. */
static void add_locks(struct story *st, struct second *s)
{
	s->n_locks = 2;
	s->locks = g_new0(struct lock_cell, s->n_locks);
	for (uint32_t i = 0; i < s->n_locks; i++) {
		struct lock_cell *c = &s->locks[i];
		*c = (struct lock_cell){ .thread = st->worker[i + 1], .holder = st->worker[0],
			.address = 0x55d0c0ffee40, .file = ID_NONE, .kind = LOCK_FUTEX, .waits = 1 + i,
			.total_ns = (50 + 4 * i) * FAKE_MS,
			.longest_at_ns = s->begin_ns + 200 * FAKE_MS, .max_ns = (50 + i) * FAKE_MS,
			.earlier_ns = 2 * i * FAKE_MS, .ran_ns = 4 * FAKE_MS };
		c->part[PART_TIMER] = c->total_ns - c->ran_ns - c->earlier_ns;
	}
}

static void add_interrupts(struct story *st, struct second *s)
{
	const uint32_t disk = fake_string(st->f, "irq 34 ahci");
	const uint32_t net = fake_string(st->f, "softirq NET_RX");
	s->n_irqs = 2;
	s->irqs = g_new0(struct irq_cell, 2);
	s->irqs[0] = (struct irq_cell){ .cpu = 0, .code = 0x40000022, .name = disk,
					.self_ns = 3 * FAKE_MS };
	s->irqs[1] = (struct irq_cell){ .cpu = 1, .code = 0x80000003, .name = net,
					.self_ns = 5 * FAKE_MS };
	for (unsigned i = 0; i < 90; i++) {
		hist_add(&s->irqs[0].time, 20000 + 300 * i);
		hist_add(&s->irqs[1].time, 30000 + 600 * i);
		hist_add(&s->irqs[1].raise, 5000 + 900 * i);
	}
	s->n_stolen = 2;
	s->stolen = g_new0(struct stolen_cell, 2);
	s->stolen[0] = (struct stolen_cell){ .thread = st->worker[0], .code = 0x40000022, .name = disk,
					     .count = 30, .self_ns = FAKE_MS };
	s->stolen[1] = (struct stolen_cell){ .thread = st->stored, .code = 0x80000003, .name = net,
					     .count = 70, .self_ns = 4 * FAKE_MS };
}

static void add_counts(struct story *st, struct second *s)
{
	struct fake *f = st->f;
	const uint32_t instructions = fake_string(f, "cpu_instructions");
	const uint32_t cycles = fake_string(f, "cpu_cycles");
	const uint32_t fault = fake_string(f, "x86_exceptions_page_fault_user");
	const struct count_cell cells[] = {
		{ .key = { st->worker[0], 0, instructions, COUNT_PERF, false }, .value = 310000000 },
		{ .key = { st->worker[0], 0, cycles, COUNT_PERF, false }, .value = 250000000 },
		{ .key = { st->stored, 0, instructions, COUNT_PERF, false }, .value = 90000000 },
		{ .key = { st->stored, 0, cycles, COUNT_PERF, false }, .value = 180000000 },
		{ .key = { ID_NONE, 0, instructions, COUNT_PERF, true }, .value = 4000000 },
		{ .key = { ID_NONE, 0, cycles, COUNT_PERF, true }, .value = 9000000 },
		{ .key = { ID_NONE, 0, instructions, COUNT_PERF, false }, .value = 700000 },
		{ .key = { st->worker[0], 0, fault, COUNT_FAULT, false }, .value = 230 },
		{ .key = { st->worker[1], 0, fault, COUNT_FAULT, false }, .value = 12 },
		{ .key = { st->stored, 0, fake_string(f, "my_probe_fsync"), COUNT_PROBE, false }, .value = 9 },
		{ .key = { st->worker[0], 0, fake_string(f, "sched_switch"), COUNT_EVENT, false }, .value = 700 },
		{ .key = { ID_NONE, 0, fake_string(f, "sched_switch"), COUNT_EVENT, true }, .value = 500 },
		{ .key = { st->worker[0], 0, fake_string(f, "syscall_entry_futex"), COUNT_EVENT, false }, .value = 40 },
		{ .key = { st->thumbd, 0, fake_string(f, "zipkin:timestamp"), COUNT_EVENT, false }, .value = 150 },
		{ .key = { st->stored, 0, fake_string(f, "zipkin:timestamp"), COUNT_EVENT, false }, .value = 100 },
	};
	s->counts = g_memdup2(cells, sizeof cells);
	s->n_counts = G_N_ELEMENTS(cells);
}

static void add_loss(struct second *s)
{
	s->completeness = (struct completeness){ .lost_events = 12, .provisional = 3, .touched = 1 };
	s->n_losses = 1;
	s->losses = g_new0(struct loss_cell, 1);
	s->losses[0] = (struct loss_cell){ .cpu = 1, .vpid = -1, .kernel = true, .count = 1,
					   .events = 12, .ns = 7 * FAKE_MS };
}

static void add_registry(struct story *st)
{
	struct fake *f = st->f;
	st->thumbd = fake_thread(f, 0, 246, 246, "thumbd");
	for (int i = 0; i < 4; i++) {
		g_autofree char *name = g_strdup_printf("thumbd-w%d", i);
		st->worker[i] = fake_thread(f, 0, 246, 254 + i, name);
	}
	st->stored = fake_thread(f, 0, 253, 253, "stored");
	st->evil = fake_thread(f, 0, 666, 666, FAKE_HOSTILE_COMM);
	st->kworker = fake_thread(f, 0, 17, 17, "kworker/0:1");
	st->stray = fake_thread(f, 0, -1, 999, "stray");
	st->image = fake_file(f, 0, FILE_REGULAR, "/srv/images/image-01");
	st->thumb = fake_file(f, 0, FILE_REGULAR, "/srv/thumb/x");
	st->sock = fake_file(f, 0, FILE_SOCKET, "socket tcp 10.0.0.8:7000");
	st->read = fake_string(f, "read");
	st->write = fake_string(f, "write");
	st->futex = fake_string(f, "futex");
	st->sleep = fake_string(f, "clock_nanosleep");
	st->recv = fake_string(f, "recvfrom");
	fake_class(f, "sched_switch");
	fake_class(f, "sched_waking");
	fake_class(f, "irq_handler_entry");
	fake_class(f, "irq_softirq_raise");
	fake_class(f, "block_rq_issue");
	fake_class(f, "block_rq_complete");
	fake_class(f, "net_dev_xmit");
	fake_class(f, "net_dev_queue");
	fake_class(f, "net_if_receive_skb");
	fake_class(f, "lttng_statedump_process_state");
	fake_class(f, "syscall_entry_futex");
	fake_class(f, "zipkin:timestamp");
}

struct timeline *fake_timeline(void)
{
	struct story st = { .f = fake_new() };
	add_registry(&st);
	for (unsigned n = 0; n < 6; n++) {
		if (n == 4)
			continue;
		struct second *s = fake_second(st.f, n);
		add_cells(&st, s, n == 5);
		add_machine(&st, s);
		add_scheduler(&st, s);
		add_locks(&st, s);
		add_ran(&st, s);
		add_interrupts(&st, s);
		add_counts(&st, s);
	}
	struct second *lossy = fake_second(st.f, 2);
	add_loss(lossy);
	add_good_requests(&st);
	add_bad_requests(&st);
	add_open_request(&st);
	return fake_done(st.f);
}

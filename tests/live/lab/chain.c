/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A chain of ROS 2 in one process, with troubles: a timer's callback of "talker" publishes on /scan, and "listener"
 * takes that.
 *
 *     chain TICKS
 *
 * Prints a line "tick KIND" for each tick; KIND is what troubled it: "none", or
 *   hog     a thread "hog" of a higher priority takes the listener's CPU
 *   sleep   the listener's callback sleeps
 *   compute it computes
 *   busy    the listener is in another callback when the message is sent
 *   late    the talker's thread is in another callback when the timer is due
 *   drop    the message overwrites one that was not taken, in a full buffer
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arguments.h"
#include "emit.h"

#define PERIOD_NS 20000000
#define TROUBLE_NS 12000000
#define WORK_NS 200000

enum { TIMER = 0x100, SCAN, HOUSEKEEPING, CLEANING };	/* callbacks */
enum { NODE = 0x200, OTHER_NODE, PUBLISHER, WRITER, SUBSCRIPTION, READER, ITS, TIMER_HANDLE };

static const char *const kinds[] = { "none", "hog", "sleep", "compute", "busy", "late", "drop" };
enum kind { NONE, HOG, SLEEP, COMPUTE, BUSY, LATE, DROP, N_KINDS };

static _Atomic int trouble, is_there;
static _Atomic int64_t sent_ns;
static sem_t message, housekeeping, hog_wanted, done;

#define U(x) { .u = (uint64_t)(x) }
#define T(x) { .text = (x) }
#define FIRE(event, ...) emit_ros2_##event((const union argument []){ __VA_ARGS__ })

static int64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void compute(int64_t ns)
{
	int64_t until = now(CLOCK_MONOTONIC) + ns;
	while (now(CLOCK_MONOTONIC) < until)
		;
}

static void nap(int64_t ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

/* Its real-time priority keeps the machine's other work away. */
static void begin(const char *name, int cpu, int priority)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setname_np(pthread_self(), name);
	if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) ||
	    pthread_setschedparam(pthread_self(), SCHED_FIFO, &(struct sched_param){ .sched_priority = priority }))
		exit(1);
}

static void *hog(void *arg)
{
	begin("hog", 1, 10);
	(void)arg;
	for (;;) {
		sem_wait(&hog_wanted);
		is_there = 1;
		compute(TROUBLE_NS);
	}
	return NULL;
}

/* Runs a callback that others' work waits for. */
static void callback(int of, void (*work)(int64_t ns), int64_t ns)
{
	FIRE(callback_start, U(of), U(0));
	work(ns);
	FIRE(callback_end, U(of));
}

static void *listen(void *arg)
{
	begin("listener", 1, 5);
	(void)arg;
	for (;;) {
		sem_wait(&message);
		if (!sem_trywait(&housekeeping)) {
			is_there = 1;
			callback(HOUSEKEEPING, nap, TROUBLE_NS);
			continue;
		}
		FIRE(rmw_take, U(READER), U(1), U(sent_ns), U(1));
		FIRE(rcl_take, U(1));
		FIRE(rclcpp_take, U(1));
		int kind = trouble;
		callback(SCAN, kind == SLEEP ? nap : compute, kind == SLEEP || kind == COMPUTE ? TROUBLE_NS : WORK_NS);
		sem_post(&done);
	}
	return NULL;
}

static void wait_for_it(void)
{
	while (!is_there)
		;
	is_there = 0;
}

static void tick(enum kind kind, unsigned n)
{
	trouble = kind;
	FIRE(callback_start, U(TIMER), U(0));
	compute(WORK_NS);
	if (kind == HOG) {
		sem_post(&hog_wanted);
		wait_for_it();
	} else if (kind == BUSY) {
		sem_post(&housekeeping);
		sem_post(&message);
		wait_for_it();
	} else if (kind == DROP) {
		FIRE(rclcpp_ring_buffer_enqueue, U(0x300), U(n % 10), U(10), U(1));
	}
	FIRE(rclcpp_publish, U(1));
	FIRE(rcl_publish, U(PUBLISHER), U(1));
	sent_ns = now(CLOCK_REALTIME);
	FIRE(rmw_publish, U(WRITER), U(1), U(sent_ns));
	sem_post(&message);
	FIRE(callback_end, U(TIMER));
	sem_wait(&done);
	printf("tick %s\n", kinds[kind]);
}

static void init(void)
{
	static const uint8_t gid[16] = { 1 };
	FIRE(rcl_init, U(1), T("8.4.0"));
	FIRE(rcl_node_init, U(NODE), U(1), T("talker"), T("/"));
	FIRE(rcl_node_init, U(OTHER_NODE), U(2), T("listener"), T("/"));
	FIRE(rmw_publisher_init, U(WRITER), { .text = (const char *)gid });
	FIRE(rcl_publisher_init, U(PUBLISHER), U(NODE), U(WRITER), T("/scan"), U(10));
	FIRE(rmw_subscription_init, U(READER), { .text = (const char *)gid });
	FIRE(rcl_subscription_init, U(SUBSCRIPTION), U(OTHER_NODE), U(READER), T("/scan"), U(10));
	FIRE(rclcpp_subscription_init, U(SUBSCRIPTION), U(ITS));
	FIRE(rclcpp_subscription_callback_added, U(ITS), U(SCAN));
	FIRE(rcl_timer_init, U(TIMER_HANDLE), U(PERIOD_NS));
	FIRE(rclcpp_timer_callback_added, U(TIMER_HANDLE), U(TIMER));
	FIRE(rclcpp_timer_link_node, U(TIMER_HANDLE), U(NODE));
	FIRE(rclcpp_callback_register, U(HOUSEKEEPING), T("housekeeping()"));
	FIRE(rclcpp_callback_register, U(CLEANING), T("cleaning()"));
}

int main(int argc, char **argv)
{
	unsigned ticks = argc > 1 ? (unsigned)atoi(argv[1]) : 60;
	pthread_t threads[2];
	init();
	sem_init(&message, 0, 0);
	sem_init(&housekeeping, 0, 0);
	sem_init(&hog_wanted, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&threads[0], NULL, listen, NULL);
	pthread_create(&threads[1], NULL, hog, NULL);
	begin("talker", 0, 5);
	int64_t due = now(CLOCK_MONOTONIC);
	for (unsigned n = 0; n < ticks; n++) {
		enum kind kind = n >= 20 && n % 2 ? (enum kind)(1 + n / 2 % (N_KINDS - 1)) : NONE;
		due += PERIOD_NS;
		if (kind == LATE) {		/* until it has been due for a while */
			nap(due - now(CLOCK_MONOTONIC) - 1000000);
			callback(CLEANING, nap, TROUBLE_NS);
		} else {
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
					&(struct timespec){ due / 1000000000, due % 1000000000 }, NULL);
		}
		tick(kind, n);
	}
	return 0;
}

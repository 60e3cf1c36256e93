/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads of jobs: see worker.h. */
#include "run/worker.h"

#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#define BACKGROUND_NICE 5

/* Blocks all signals except those that the thread's own faults raise. */
GThread *worker_new(const char *name, GThreadFunc run, void *data)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS };
	sigset_t block, before;

	sigfillset(&block);
	for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
		sigdelset(&block, own[i]);
	pthread_sigmask(SIG_SETMASK, &block, &before);
	GThread *thread = g_thread_new(name, run, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return thread;
}

void worker_ring(int event_fd)
{
	const uint64_t one = 1;
	ssize_t n = write(event_fd, &one, sizeof one);

	(void)n;			/* EAGAIN: it is readable already */
}

void worker_background(void)
{
	/* On Linux 0 is the calling thread, and each has its own nice value. */
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + BACKGROUND_NICE);
}

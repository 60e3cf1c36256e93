/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ids from the kernel's random numbers; each thread draws some at a time. A forked child must not use those of its
 * parent: each id is stored with the number of the process that drew it. The process number is in a page that the
 * kernel zeroes in every child, however it was made.
 */
#include "ids.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#define POOL 32

static _Thread_local struct {
	int64_t id[POOL];
	unsigned left;
	uint64_t process;		/* number of the process that drew them */
} pool;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic uint64_t *this_process;	/* 0: the process has no number yet; NULL: there is no such page, and
					 * no ids are stored */
static _Atomic uint64_t n_processes;	/* this process and those that it descends from */

static void map_page(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (madvise(page, size, MADV_WIPEONFORK) == 0)
		this_process = page;
	else
		munmap(page, size);
}

/* 0: unknown, so no ids may be stored. */
static uint64_t process_number(void)
{
	uint64_t expected = 0;

	pthread_once(&once, map_page);
	if (!this_process)
		return 0;
	uint64_t number = atomic_load_explicit(this_process, memory_order_relaxed);
	if (number)
		return number;
	/* Only one of several threads sets the number. */
	number = atomic_fetch_add(&n_processes, 1) + 1;
	return atomic_compare_exchange_strong(this_process, &expected, number) ? number : expected;
}

static int draw_file(void *to, size_t n)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	int result = 0;

	if (fd < 0)
		return -errno;
	for (char *p = to; n > 0 && result == 0;) {
		ssize_t got = read(fd, p, n);
		if (got > 0) {
			p += got;
			n -= (size_t)got;
		} else if (got == 0 || errno != EINTR) {
			result = got == 0 ? -EIO : -errno;
		}
	}
	close(fd);
	return result;
}

static int draw(void *to, size_t n)
{
	ssize_t got;

	do
		got = getrandom(to, n, 0);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)n ? 0 : draw_file(to, n);
}

static int fill(uint64_t process)
{
	/* Without a process number only one id is drawn, as a child could not tell stored ones from its parent's. */
	unsigned n = process ? POOL : 1;
	int result = draw(pool.id, n * sizeof pool.id[0]);

	pool.left = result == 0 ? n : 0;
	pool.process = process;
	return result;
}

int blkin_new_id(int64_t *ret)
{
	uint64_t process = process_number();

	do {
		if (!pool.left || !process || pool.process != process) {
			int result = fill(process);
			if (result != 0)
				return result;
		}
		*ret = pool.id[--pool.left];
	} while (*ret == 0);
	return 0;
}

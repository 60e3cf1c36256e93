/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names: the process of a thread, a thread's names, and the file behind a descriptor at an event. All follow from the
 * slice's facts in order. A run from the trace's beginning applies facts as they come. After slices were merged, all
 * are applied at once. Only for src/state/.
 */
#ifndef BLK_STATE_NAMES_NAMES_H
#define BLK_STATE_NAMES_NAMES_H

#include "state/kernel/slice_state.h"

struct names;
struct names *names_new(struct slice *s);	/* borrows the slice */
void names_free(struct names *n);

/* Applies the facts that the slice collected since the last call, and removes them from the slice. */
void names_update(struct names *n);

/* Grows when an earlier answer may have changed: about a published thread, or about an instant before the last
 * update. */
uint64_t names_generation(const struct names *n);

/* For endless runs: frees descriptor versions before now that names_file() will not need. needed: the events
 * (uint64_t seq; sorted here) that it will need. names_may_forget(): is there enough to free? */
bool names_may_forget(const struct names *n);
void names_forget(struct names *n, GArray *needed);
/* Drops a thread that ended. With the last known thread of a process it also drops the process and returns its
 * process.id; else it returns ID_NONE. */
uint32_t names_forget_thread(struct names *n, const struct thread *t);

/* Threads are numbers of the slice; merged threads are followed. ID_NONE: unknown. */
uint32_t names_process(const struct names *n, uint32_t thread);
bool names_is_kernel(const struct names *n, uint32_t thread);
const GArray *names_comms(const struct names *n, uint32_t thread);	/* struct name_at; may be NULL */

/* The file that descriptor fd of the thread referred to just after event `seq`. Never ID_NONE: an unknown file is
 * "fd N" of kind FILE_UNKNOWN. */
uint32_t names_file(struct names *n, uint32_t thread, int32_t fd, uint64_t seq);
/* Like names_file(), but ID_NONE if the file is unknown. */
uint32_t names_known_file(struct names *n, uint32_t thread, int32_t fd, uint64_t seq);
/* names_process_of_pid(): the newest process with the pid, or ID_NONE. names_open_files(): its descriptors open
 * just after event `seq`: struct fd_open of fdtable.h, by number. Free with g_array_unref(). */
uint32_t names_process_of_pid(const struct names *n, uint32_t host, int32_t pid);
GArray *names_open_files(struct names *n, uint32_t process, uint64_t seq);

/* Files are never removed; processes are removed with their last thread. Numbers are not reused. */
uint32_t names_n_files(const struct names *n);
const struct file_info *names_file_info(const struct names *n, uint32_t file);
uint32_t names_n_processes(const struct names *n);	/* one more than the highest number */
/* .leader: thread number of the slice; ID_NONE: unknown or forgotten. NULL: the process was forgotten. */
const struct process_info *names_process_info(const struct names *n, uint32_t process);

/* Names of interrupts and devices: strings of the slice; 0: unknown. */
uint32_t names_irq(const struct names *n, uint32_t host, uint32_t code);
uint32_t names_dev(const struct names *n, uint32_t host, uint32_t dev);

/* The part that time blocked on such a file is charged to. */
enum part names_part_of(enum file_kind kind);
/* What a plain read (IO_DIR_PLAIN) of the file waits for. */
enum call_wait names_wait_of(const struct names *n, uint32_t file);

#endif

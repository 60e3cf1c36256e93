/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names: whose process a thread is, what it was called, what a descriptor was at an
 * instant. A function of a slice's facts in order: applied as they come in a run from
 * the trace's begin, all at once when pieces were stitched. Only for src/state/.
 */
#ifndef BLK_STATE_NAMES_NAMES_H
#define BLK_STATE_NAMES_NAMES_H

#include "state/slice/slice_state.h"

struct names;
struct names *names_new(struct slice *s);	/* borrows the slice */
void names_free(struct names *n);

/* Applies the facts that came since the last call, and takes them from the slice. */
void names_update(struct names *n);

/* Grows when what was answered about a thread that is published, or about an instant before
 * the last update, may be answered otherwise now. */
uint64_t names_generation(const struct names *n);

/* For runs without end: of what was before now, names_file() will be asked for the events
 * `asked` alone (uint64_t seq; sorted here). may: is it worth it? */
bool names_may_forget(const struct names *n);
void names_forget(struct names *n, GArray *asked);
/* The thread has ended and is never asked about again. A process goes with the last thread that is known of it: then
 * returns what struct process calls .id; else ID_NONE. */
uint32_t names_forget_thread(struct names *n, const struct thread *t);

/* All by thread ids of the slice (followed inside). ID_NONE: unknown. */
uint32_t names_process(const struct names *n, uint32_t thread);
bool names_is_kernel(const struct names *n, uint32_t thread);
const GArray *names_comms(const struct names *n, uint32_t thread);	/* struct name_at; may be NULL */

/* What descriptor fd of the thread was just after event `seq`: a file id. Never ID_NONE: where
 * nothing is known it is "fd N" of unknown kind. */
uint32_t names_file(struct names *n, uint32_t thread, int32_t fd, uint64_t seq);
/* The same for many of one thread, with its table of descriptors (valid until names_update()). */
struct fdtable;
struct fdtable *names_table(struct names *n, uint32_t thread);
uint32_t names_file_in(struct names *n, struct fdtable *t, uint32_t thread, int32_t fd, uint64_t seq);

/* The file's number, or ID_NONE where nothing is known. */
uint32_t names_known_file(struct names *n, uint32_t thread, int32_t fd, uint64_t seq);
/* The newest process of that pid, or ID_NONE; what it has open just after event `seq`: struct fd_open of
 * fdtable.h, by number. g_array_unref() */
uint32_t names_process_of_pid(const struct names *n, uint32_t host, int32_t pid);
GArray *names_open_files(const struct names *n, uint32_t process, uint64_t seq);

/* Registries. Files only grow; processes go with their last thread. Numbers are not reused. */
uint32_t names_n_files(const struct names *n);
const struct file_info *names_file_info(const struct names *n, uint32_t file);
uint32_t names_n_processes(const struct names *n);	/* one more than the highest number */
/* .leader: slice's id; ID_NONE: unknown, or forgotten. NULL: the process was forgotten. */
const struct process_info *names_process_info(const struct names *n, uint32_t process);

/* Names of interrupts and devices: strings of the slice; 0: none known. */
uint32_t names_irq(const struct names *n, uint32_t host, uint32_t code);
uint32_t names_dev(const struct names *n, uint32_t host, uint32_t dev);

/* What a thread that blocks on such a file waits for. */
enum part names_part_of(enum file_kind kind);

#endif

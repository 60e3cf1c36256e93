/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The requests of files.h, which are carried out in files_serve.c: in this process, or in the file helper. A message is
 * a struct files_request and, in the other direction, a struct files_answer with a descriptor or none. Both ends are
 * the same program, so there is no version and no order of bytes.
 */
#ifndef BLK_BASE_FILES_PRIVATE_H
#define BLK_BASE_FILES_PRIVATE_H

#include "base/files.h"

#include <limits.h>

enum files_op {
	FILES_OP_OPEN, FILES_OP_STAT, FILES_OP_MAKE_DIRS, FILES_OP_REMOVE, FILES_OP_REMOVE_DIR, FILES_OP_REMOVE_TREE,
	FILES_OP_RENAME, FILES_OP_LINK, FILES_OP_TOUCH,
	FILES_OP_BEGIN, FILES_OP_BEGIN_DIR, FILES_OP_COMMIT, FILES_OP_DISCARD,
	FILES_OPS,
};

struct files_request {
	uint32_t op;			/* enum files_op */
	int32_t flags;			/* OPEN, STAT: of open(2), fstatat(2); RENAME, COMMIT: 1: replace */
	uint32_t mode;			/* OPEN with O_CREAT, BEGIN */
	uint32_t number;		/* COMMIT, DISCARD */
	char path[PATH_MAX], to[PATH_MAX];	/* as the caller gave them, with a terminator; to: RENAME, LINK */
};

struct files_answer {
	int32_t error;			/* errno; 0: done */
	uint32_t number;		/* BEGIN, BEGIN_DIR */
	struct stat stat;		/* STAT */
	char path[PATH_MAX];		/* BEGIN, BEGIN_DIR: where it is made; absolute */
};

/* Carries out a request; only in places, if `only_places`. Returns a descriptor (OPEN, BEGIN) or -1. The texts of the
 * request may be anything. */
int files_serve(const struct files_request *r, bool only_places, struct files_answer *ret);
/* Discards what was begun and neither committed nor discarded. */
void files_serve_end(void);
/* Does the file helper run? Places cannot be added any more. */
bool files_has_helper(void);
/* The directory in which the process was started; it is looked up at the first call. Borrowed. */
const char *files_start_dir(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The metadata that the fuzz targets of packets read theirs by. */
#ifndef BLK_TEST_FUZZ_METAS_H
#define BLK_TEST_FUZZ_METAS_H

#include "trace/ctf/ctf_meta.h"

#define FUZZ_MADE_UP 7		/* of them; the recorded ones come behind */

/* By number, any; from the first use on. */
const struct ctf_meta *fuzz_meta(unsigned number);

/* A message that a terminal can bear, of one of the codes that a broken trace gives. */
void fuzz_check_error(const GError *error);

#endif

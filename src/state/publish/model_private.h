/* SPDX-License-Identifier: GPL-2.0-only */
/* Internals of a model (model.h), for model.c and for tests. */
#ifndef BLK_STATE_PUBLISH_MODEL_PRIVATE_H
#define BLK_STATE_PUBLISH_MODEL_PRIVATE_H

#include "state/publish/model.h"
#include "state/publish/publisher.h"

struct model {
	struct model_options options;
	struct slice *s;
	struct publisher *publisher;
	int64_t border;		/* ns: seconds before it are closed */
	int64_t shown;		/* ns: newest instant of the last publication */
	int64_t retained_from;	/* ns, from model_set_retained_from() */
	GArray *again;		/* struct again (model.c): seconds to be published again */
	uint32_t locks_at;	/* entries of slice.locks, twice, after they were last counted */
	bool has_forgotten;	/* seconds that could have been corrected, or records of open traces, were dropped */
	size_t annots_retained, texts_retained;	/* annotations, and bytes of texts, after spans were last dropped */
};

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Block requests: from issue to completion, by device and start sector. */
#include "state/slice_private.h"

void block_issue(struct slice *s, const struct request *r)
{
	struct request *copy = g_new(struct request, 1);
	*copy = *r;
	g_hash_table_replace(s->requests, copy, copy);
}

static void pair_requests(struct slice *s, const struct request *issue, const struct request *done)
{
	int64_t lost;
	struct bin *b = slice_bin(s, done->ts);
	if (slice_lost_between(s, issue->host, issue->ts, done->ts, &lost)) {
		b->trust.soft++;
		return;
	}
	struct bin_dev *d = bin_dev(b, issue->host, issue->dev);
	if (issue->write) {
		d->writes++;
		d->write_bytes += issue->bytes;
	} else {
		d->reads++;
		d->read_bytes += issue->bytes;
	}
	d->errors += done->error;
	hist_log_add(&d->latency, done->ts - issue->ts, hist_bucket_index(done->ts - issue->ts));
}

void block_complete(struct slice *s, const struct request *r)
{
	struct request *issue = g_hash_table_lookup(s->requests, r);
	if (issue && !issue->over) {
		pair_requests(s, issue, r);
		if (s->rooted)
			g_hash_table_remove(s->requests, r);
		else
			issue->over = true;
	} else if (issue || s->rooted) {
		slice_bin(s, r->ts)->trust.soft++;
	} else {
		g_array_append_val(s->early, *r);
	}
}

/* One of the right neighbour's, whose early completions were told before. */
void block_join(struct slice *s, struct request *r)
{
	if (r->over && s->rooted) {
		g_hash_table_remove(s->requests, r);
		g_free(r);
	} else {
		g_hash_table_replace(s->requests, r, r);
	}
}

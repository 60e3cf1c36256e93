/* SPDX-License-Identifier: GPL-2.0-only */
/* The way back and forth: see visits.h. */
#include "ui/visits.h"

#include "ui/app_state.h"

struct selection {
	bool bound;
	uint64_t key[2];
	size_t cursor, top;
};

struct visit {
	GPtrArray *places;		/* struct place *, the stack; references */
	struct nav_way way;
	int64_t cursor_ns, step_ns, a_ns, b_ns;
	bool follows;			/* the newest second was followed */
	/* Of the place on top: */
	char *filter;			/* NULL: none; owned */
	enum pane pane;
	struct selection selection[PANE_N];
	int64_t mark_ns;
	const struct state_kind *state_kind;
	void *position;			/* of the screen's state; NULL: it has none; owned */
};

static void visit_free(struct visit *v)
{
	if (!v)
		return;
	g_ptr_array_unref(v->places);
	g_free(v->filter);
	g_free(v->position);
	g_free(v);
}

static struct visit *visit_now(const struct app *app)
{
	const struct nav *nav = &app->nav;
	const struct place *p = nav_top(nav);
	struct visit *v = g_new0(struct visit, 1);

	v->places = g_ptr_array_new_with_free_func((GDestroyNotify)place_unref);
	for (guint i = 0; i < nav->stack->len; i++)
		g_ptr_array_add(v->places, place_ref(nav->stack->pdata[i]));
	v->way = nav->way;
	v->cursor_ns = nav->cursor_ns;
	v->step_ns = nav->step_ns;
	v->a_ns = nav->a_ns;
	v->b_ns = nav->b_ns;
	v->follows = nav->mode == NAV_FOLLOW;
	v->filter = g_strdup(p->filter);
	v->pane = p->pane;
	for (int i = 0; i < PANE_N; i++) {
		const struct table *t = &p->table[i];

		v->selection[i] = (struct selection){ t->bound, { t->key[0], t->key[1] }, t->cursor, t->top };
	}
	v->mark_ns = p->mark_ns;
	v->state_kind = p->state_kind;
	v->position = p->state ? g_memdup2(p->state, p->state_kind->position) : NULL;
	return v;
}

static bool is_same_stack(const struct visit *a, const struct visit *b)
{
	if (a->places->len != b->places->len)
		return false;
	for (guint i = 0; i < a->places->len; i++)
		if (a->places->pdata[i] != b->places->pdata[i])
			return false;
	return true;
}

static bool is_same_time(const struct visit *a, const struct visit *b)
{
	return a->step_ns == b->step_ns && a->a_ns == b->a_ns && a->b_ns == b->b_ns &&
	       (a->cursor_ns == b->cursor_ns || (a->follows && b->follows));
}

static void push(GPtrArray **to, struct visit *v)
{
	if (!*to)
		*to = g_ptr_array_new_with_free_func((GDestroyNotify)visit_free);
	g_ptr_array_add(*to, v);
	if ((*to)->len > VISITS_RETAINED)
		g_ptr_array_remove_index(*to, 0);
}

struct visit *visits_begin(struct app *app)
{
	if (app->visits.depth++)
		return NULL;
	app->visits.stepped = app->visits.moving = false;
	return visit_now(app);
}

void visits_end(struct app *app, struct visit *before)
{
	struct visits *v = &app->visits;
	struct visit *now;

	v->depth--;
	if (!before)
		return;
	now = visit_now(app);
	bool jumped = !is_same_stack(before, now) || g_strcmp0(before->filter, now->filter);
	bool moved = !is_same_time(before, now) && before->cursor_ns != TIME_UNKNOWN;
	bool adds = !v->moving && (jumped || (moved && !(v->stepped && v->in_run)));

	if (jumped || moved)
		v->in_run = !jumped && v->stepped && !v->moving;
	if (adds && v->forth)
		g_ptr_array_set_size(v->forth, 0);
	if (adds)
		push(&v->back, before);
	else
		visit_free(before);
	visit_free(now);
}

static void restore(struct app *app, const struct visit *v)
{
	struct nav *nav = &app->nav;
	struct place *p;

	nav_restore(nav, v->places, &v->way);
	app_pin(app);
	nav->step_ns = v->step_ns;
	nav->mode = v->follows ? NAV_FOLLOW : NAV_PAUSED;
	if (v->cursor_ns != TIME_UNKNOWN)
		nav_seek(nav, app->main, v->cursor_ns);
	nav->a_ns = v->a_ns;
	nav->b_ns = v->b_ns;
	nav_tick(nav, app->main);
	p = nav_top(nav);
	if (g_strcmp0(p->filter, v->filter))
		app_filter(app, p, v->filter, NULL);
	p->pane = v->pane;
	for (int i = 0; i < PANE_N; i++) {
		struct table *t = &p->table[i];

		t->bound = v->selection[i].bound;
		t->key[0] = v->selection[i].key[0];
		t->key[1] = v->selection[i].key[1];
		t->cursor = v->selection[i].cursor;
		t->top = v->selection[i].top;
	}
	p->mark_ns = v->mark_ns;
	place_set_position(p, v->state_kind, v->position);
	place_stale(p);
}

bool visits_go(struct app *app, int direction)
{
	struct visits *v = &app->visits;
	GPtrArray *from = direction < 0 ? v->back : v->forth;

	v->moving = true;
	if (!from || !from->len)
		return false;
	struct visit *to = g_ptr_array_steal_index(from, from->len - 1);
	push(direction < 0 ? &v->forth : &v->back, visit_now(app));
	restore(app, to);
	visit_free(to);
	return true;
}

void visits_clear(struct visits *v)
{
	g_clear_pointer(&v->back, g_ptr_array_unref);
	g_clear_pointer(&v->forth, g_ptr_array_unref);
}

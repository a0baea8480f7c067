// SPDX-License-Identifier: GPL-2.0
/*
 * Applications that submit operations to one object: some requests packed into
 * each, as the helper does with those that wait. Values say who wrote them.
 */
#include "order.h"
#include "story.h"

static const char *const types[] = { "counter", "register", "map", "queue", "log" };

static u32 number(struct world *w)
{
	return (u32)rng_below(&w->rng[RNG_APP], 4);
}

static const char *counter(struct world *w, char *text, size_t room)
{
	if (number(w))
		snprintf(text, room, "add %u", number(w) + 1);
	else
		snprintf(text, room, "get");
	return text;
}

static const char *reg(struct world *w, u32 x, char *text, size_t room)
{
	u32 serial = w->order->client[x].asked;

	switch (number(w)) {
	case 0:
		return "read";
	case 1:
		snprintf(text, room, "cas c%u.%u c%u.%u", number(w) % w->plan->clients + 1,
			 number(w), x + 1, serial);
		break;
	default:
		snprintf(text, room, "write c%u.%u", x + 1, serial);
	}
	return text;
}

static const char *map(struct world *w, u32 x, char *text, size_t room)
{
	u32 serial = w->order->client[x].asked;

	switch (number(w)) {
	case 0:
		snprintf(text, room, "get k%u", number(w));
		break;
	case 1:
		snprintf(text, room, number(w) ? "list" : "delete k%u", number(w));
		break;
	default:
		snprintf(text, room, "set k%u c%u.%u", number(w), x + 1, serial);
	}
	return text;
}

static const char *queue(struct world *w, u32 x, char *text, size_t room)
{
	u32 serial = w->order->client[x].asked;

	switch (number(w)) {
	case 0:
		return "len";
	case 1:
		return "pop";
	default:
		snprintf(text, room, "push c%u.%u", x + 1, serial);
	}
	return text;
}

static const char *log_entry(struct world *w, u32 x, char *text, size_t room)
{
	u32 serial = w->order->client[x].asked;

	if (number(w))
		snprintf(text, room, "append c%u.%u", x + 1, serial);
	else
		snprintf(text, room, "read %u 4", number(w));
	return text;
}

static const char *draw(struct world *w, u32 x, char *text, size_t room)
{
	switch (w->plan->order.type % 5) {
	case 0:
		return counter(w, text, room);
	case 1:
		return reg(w, x, text, room);
	case 2:
		return map(w, x, text, room);
	case 3:
		return queue(w, x, text, room);
	default:
		return log_entry(w, x, text, room);
	}
}

/* Some values are longer than a datagram. */
static void add(struct world *w, struct bftm_bytes *op, const char *request)
{
	static const char filler[1500] = { [0 ... 1499] = 'x' };
	size_t len = strlen(request), room = len;
	char text[4096];

	memcpy(text, request, len);
	if (w->plan->order.huge && number(w) < 2 && memchr(request, ' ', len) &&
	    w->plan->order.type % 5) {
		room = rng_between(&w->rng[RNG_APP], 1, sizeof(filler));
		memcpy(text + len, filler, room);
		room += len;
	}
	if (bftm_batch_add(op, text, (u32)room) && !op->len)
		abort();
}

static void tell_op(struct world *w, u32 x, const u8 *op, u32 op_len)
{
	char text[160] = "";
	const u8 *request;
	size_t used = 0;
	u32 at = 0, len;

	while (used < sizeof(text) && bftm_batch_next(op, op_len, &at, &request, &len))
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					 used ? ", " : "", story_text(request, len));
	tell(w, 0, "c%u submits %s as %s", x + 1, text,
	     story_attempt(w, w->order->client[x].last_op + 1));
}

/* The bytes last as long as the scenario does. */
static void submit(struct world *w, u32 x, struct bftm_bytes *op)
{
	u8 *data = arena_take(&w->arena, op->len);

	memcpy(data, op->data, op->len);
	if (w->story)
		tell_op(w, x, data, op->len);
	order_client_submit(w, x, data, op->len);
	bftm_bytes_free(op);
}

static void ask(struct world *w, u32 x)
{
	struct order_client *o = &w->order->client[x];
	u32 requests = rng_next(&w->rng[RNG_APP]) & 3 ? 1 : 1 + number(w) % ORDER_REQUESTS;
	struct bftm_bytes op = {};
	char text[64];

	if (!o->asked) {
		snprintf(text, sizeof(text), "create %s", types[w->plan->order.type % 5]);
		add(w, &op, text);
	}
	for (; requests; requests--) {
		o->asked++;
		add(w, &op, draw(w, x, text, sizeof(text)));
	}
	submit(w, x, &op);
}

static void act_at(struct world *w, u32 x, u64 at)
{
	queue_push(&w->queue, at, EVENT_ORDER_APP, x)->stamp = w->client[x].stamp;
}

static u64 think(struct world *w)
{
	return rng_below(&w->rng[RNG_APP], w->healed ? w->plan->delta : w->plan->think_max + 1);
}

void order_app_start(struct world *w, u32 x)
{
	if (w->order->client[x].todo && !w->script)
		act_at(w, x, w->now + think(w));
}

void order_app_act(struct world *w, u32 x)
{
	struct order_client *o = &w->order->client[x];

	if (o->op || !o->todo)
		return;
	o->todo--;
	ask(w, x);
}

static bool is_idle(const struct world *w)
{
	u32 x;

	for (x = 0; x < w->plan->clients; x++)
		if (w->order->client[x].todo || w->order->client[x].op)
			return false;
	return true;
}

/* Where ranks have a past, the last to ask has just been started and knows of none. */
static bool newcomer_asks(struct world *w, u32 x)
{
	if (!w->plan->order.past || w->order->newcomer)
		return false;
	w->order->newcomer = true;
	w->order->client[x].todo++;
	client_down(w, x, true, 0);
	return true;
}

void order_app_answered(struct world *w, u32 x)
{
	struct order_client *o = &w->order->client[x];

	if (o->todo)
		act_at(w, x, w->now + (o->held_until != NEVER ? 0 : think(w)));
	else if (w->healed && is_idle(w) && !newcomer_asks(w, (x + 1) % w->plan->clients))
		order_finish(w);
}

/* A client that wants more asks at once, and one reads what became of it all. */
void order_app_heal(struct world *w)
{
	u32 x = (u32)rng_below(&w->rng[RNG_APP], w->plan->clients);

	if (!w->script && !w->order->client[x].todo)
		w->order->client[x].todo++;
	for (x = 0; x < w->plan->clients; x++)
		order_app_start(w, x);
	if (is_idle(w) && !newcomer_asks(w, 0))
		order_finish(w);
}

void order_app_script(struct world *w, u32 x, const char *request)
{
	struct order_client *o = &w->order->client[x];
	struct bftm_bytes op = {};

	if (!o->asked++)
		add(w, &op, "create counter");
	add(w, &op, request);
	submit(w, x, &op);
}

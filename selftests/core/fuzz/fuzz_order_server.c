// SPDX-License-Identifier: GPL-2.0
/*
 * The ordering server's core under any sequence of requests, in a shell that
 * frees each body as soon as the contract says that nobody has it. The oracle: a
 * rank below one that was taken changes nothing; what is committed or proposed is
 * what the last such request named; what waits is ordered, and newer than what is
 * applied; no answer takes more room than its request; who lost its memory takes nothing but an
 * INSTALL it asked for.
 */
#include "core/ordering/server.h"
#include "fuzz.h"

#define CLIENTS	5
#define QUIET	40

static struct bftm_server_cfg cfg;
static struct bftm_object obj;

/* No digest of the real kind: those of different bytes differ, too. */
static void digest(const u8 *data, u32 len, u8 ret[BFTM_DIGEST_LEN])
{
	u64 hash = 0xcbf29ce484222325;
	u32 i;

	for (i = 0; i < len; i++)
		hash = (hash ^ data[i]) * 0x100000001b3;
	memset(ret, 0, BFTM_DIGEST_LEN);
	memcpy(ret, &hash, sizeof(hash));
}

static struct bftm_body *body_new(u64 version, const u8 *data, u32 len)
{
	struct bftm_body *body = malloc(sizeof(*body) + len);

	if (!body)
		abort();
	body->id = (struct bftm_body_id){ .version = version, .len = len };
	digest(data, len, body->id.digest);
	body->data = (u8 *)(body + 1);
	memcpy(body + 1, data, len);
	return body;
}

/* Does the object still have it? */
static bool is_kept(const struct bftm_body *body)
{
	u32 i;

	for (i = 0; obj.pend && i < obj.pend->count; i++)
		if (obj.pend->entry[i].body == body)
			return true;
	return obj.sc == body || obj.sp == body;
}

/* A state as clients make them: these were applied last. */
static struct bftm_body *read_state(struct fuzz_bytes *in, u64 version)
{
	struct bftm_applied applied[CLIENTS];
	u8 body[1024], app[4] = { (u8)fuzz_take(in, 1) };
	u32 i, len, count = 0, mask = (u32)fuzz_take(in, 1);

	for (i = 0; i < CLIENTS; i++)
		if (mask >> i & 1)
			applied[count++] = (struct bftm_applied){
				.client = i, .op = fuzz_take(in, 1) % 16,
				.len = app[0] % 100, .response = (const u8 *)
				"a hundred bytes of a response to an operation are more than it "
				"takes to fill a datagram's least room",
			};
	len = bftm_state_make(NULL, version, applied, count, app, sizeof(app), body, sizeof(body));
	must(len && bftm_state_ok(body, len, version));
	return body_new(version, body, len);
}

static struct bftm_body *read_body(struct fuzz_bytes *in)
{
	u64 bits = fuzz_take(in, 1), version = bits & 7;
	u32 len = (u32)(bits >> 3);

	if (bits >> 7)
		return read_state(in, version + 1);
	if (len > in->left)
		len = (u32)in->left;
	in->at += len;
	in->left -= len;
	return body_new(version, in->at - len, len);
}

static void read_request(struct fuzz_bytes *in, struct bftm_order_msg *req)
{
	static const u8 types[] = {
		BFTM_ORDER_SUBMIT, BFTM_ORDER_GET, BFTM_ORDER_PROPOSE, BFTM_ORDER_COMMIT,
		BFTM_ORDER_INSTALL, BFTM_ORDER_FETCH, BFTM_ORDER_SUBMIT, BFTM_ORDER_COMMIT_GET,
	};
	static const u8 signature[BFTM_SIGNATURE_LEN] = { 1 };
	u64 bits = fuzz_take(in, 2);

	*req = (struct bftm_order_msg){
		.type = types[bits & 7],
		.client = (u32)(bits >> 3 & 7) % CLIENTS,
		.op = bits >> 6 & 15,
		.rank = { fuzz_take(in, 1) % 32, (u32)(bits >> 3 & 7) % CLIENTS, bits >> 10 & 1 },
		.offset = bits >> 11 & 1 ? (u32)fuzz_take(in, 1) : 0,
		.from = (u32)(bits >> 12 & 7),
		.room = (u16)(fuzz_take(in, 2) % (BFTM_ORDER_ROOM_MAX - 8 + 1)),
		.signature = bits >> 8 & 1 ? signature : NULL,
	};
	req->then = req->rank;
	req->then.count += 1 + (bits >> 6 & 3);
	if (bits >> 15)
		req->rank.client = (u32)fuzz_take(in, 1);
}

/* The body that it names: a known one, or the one it may bring. */
static void read_id(struct fuzz_bytes *in, struct bftm_order_msg *req,
		    const struct bftm_body *brought)
{
	u64 which = fuzz_take(in, 1) % 8;

	if (which == 0 && obj.sc)
		req->id = obj.sc->id;
	else if (which == 1 && obj.sp)
		req->id = obj.sp->id;
	else if (which == 2 && obj.pend && obj.pend->count)
		req->id = obj.pend->entry[0].body->id;
	else if (which != 3)
		req->id = brought->id;
}

/* As the shells do it; memory may be short. */
static void make_room(const struct bftm_order_msg *req)
{
	u32 room = obj.pend ? obj.pend->room + 1 : 1;
	struct bftm_pendings *pend;

	if (!bftm_object_lacks_room(&obj, req) || req->from == 7)
		return;
	pend = malloc(sizeof(*pend) + room * sizeof(pend->entry[0]));
	if (!pend)
		abort();
	pend->count = obj.pend ? obj.pend->count : 0;
	pend->room = room;
	if (obj.pend)
		memcpy(pend->entry, obj.pend->entry, pend->count * sizeof(pend->entry[0]));
	free(obj.pend);
	obj.pend = pend;
}

static void check_pending(void)
{
	struct bftm_applied a;
	u32 i;

	for (i = 0; obj.pend && i < obj.pend->count; i++) {
		const struct bftm_pending *p = &obj.pend->entry[i];

		must(!i || p[-1].client < p->client);
		must(!p->body->id.version && p->body->id.len <= BFTM_OP_MAX);
		must(!obj.sc || !bftm_state_find(obj.sc->data, p->client, &a) || a.op < p->op);
	}
	must(!obj.pend || obj.pend->count <= obj.pend->room);
}

static void check_states(void)
{
	must(!obj.sc || bftm_state_ok(obj.sc->data, obj.sc->id.len, obj.sc->id.version));
	must(!obj.sp || bftm_state_ok(obj.sp->data, obj.sp->id.len, obj.sp->id.version));
	must(bftm_rank_cmp(&obj.prop, &obj.max) <= 0);
	must(!obj.recovering || (!obj.sc && !obj.sp && !obj.max.count));
	check_pending();
}

static bool names(const struct bftm_body *state, const struct bftm_body_id *id)
{
	static const struct bftm_body_id initial;

	return bftm_body_same(state ? &state->id : &initial, id);
}

static void check_got(const struct bftm_order_msg *req, const struct bftm_order_msg *reply)
{
	must(names(obj.sp, &reply->sp) && !bftm_rank_cmp(&reply->prop, &obj.prop));
	must(names(obj.sc, &reply->id) && !bftm_rank_cmp(&req->rank, &obj.max));
}

static void check_waiting(const struct bftm_order_msg *reply)
{
	must(reply->pending == (obj.pend ? obj.pend->count : 0));
	must(reply->data_len % sizeof(struct bftm_order_waiting) == 0);
}

/* Done now, or before. */
static void check_committed_got(const struct bftm_order_msg *req, const struct bftm_object *was,
				bool same)
{
	must(!was->recovering && names(obj.sc, &req->id) && obj.sp == obj.sc);
	must(!bftm_rank_cmp(&obj.prop, &req->rank) && !bftm_rank_cmp(&obj.max, &req->then));
	must(bftm_rank_cmp(&req->rank, &was->max) >= 0 ||
	     (same && !bftm_rank_cmp(&was->max, &req->then)));
}

/* @was: before the step */
static void check(const struct bftm_order_msg *req, const struct bftm_order_msg *reply,
		  const struct bftm_object *was)
{
	int cmp = bftm_rank_cmp(&req->rank, &was->max);
	bool same = obj.sc == was->sc && obj.sp == was->sp &&
		    !bftm_rank_cmp(&obj.prop, &was->prop);

	must(bftm_rank_cmp(&obj.max, &was->max) >= 0 || was->recovering);
	must(was->recovering || !obj.recovering);
	must(reply->type == BFTM_MSG_NONE || reply->client == req->client);
	switch (reply->type) {
	case BFTM_ORDER_PROPOSED:
		must(cmp >= 0 && names(obj.sp, &req->id) && obj.sc == was->sc);
		must(!bftm_rank_cmp(&obj.prop, &req->rank) && !was->recovering);
		return;
	case BFTM_ORDER_COMMITTED:
		must(cmp >= 0 && !was->recovering);
		must(names(obj.sc, &req->id) && obj.sp == obj.sc);
		return;
	case BFTM_ORDER_INSTALLED:
		must(names(obj.sc, &req->id) && !obj.recovering);
		must(same || (was->recovering && !bftm_rank_cmp(&req->rank, &was->told)));
		return;
	case BFTM_ORDER_EXCEPTION:
		must(cmp < 0 && !bftm_rank_cmp(&reply->max, &obj.max));
		break;
	case BFTM_ORDER_COMMITTED_GOT:
		check_committed_got(req, was, same);
		check_waiting(reply);
		return;
	case BFTM_ORDER_GOT:
		must(cmp >= 0);
		check_got(req, reply);
		check_waiting(reply);
		break;
	case BFTM_ORDER_RECOVERING:
		must(was->recovering && (req->type == BFTM_ORDER_GET ||
					 req->type == BFTM_ORDER_COMMIT_GET));
		break;
	case BFTM_ORDER_RESPONSE:
		must(req->type == BFTM_ORDER_SUBMIT && obj.sc);
	}
	must(same && obj.recovering == was->recovering);
	must(req->type == BFTM_ORDER_GET || !bftm_rank_cmp(&obj.max, &was->max));
}

/* The operations that a commit reflects; each is told, if it was its very operation. */
static void drop(u32 before)
{
	u32 i;

	for (i = obj.pend ? obj.pend->count : 0; i < before; i++) {
		struct bftm_pending *p = &obj.pend->entry[i];
		u8 *out = malloc(p->room);
		struct bftm_order_msg said;
		struct bftm_applied a;

		bftm_order_response(&obj, p, out, &said);
		must(bftm_state_find(obj.sc->data, p->client, &a) && a.op >= p->op);
		must((said.type == BFTM_ORDER_RESPONSE) == (a.op == p->op));
		must(said.type != BFTM_ORDER_RESPONSE || bftm_order_size(&said) <= p->room);
		free(out);
		must(!is_kept(p->body));
		free(p->body);
	}
}

static void act(struct fuzz_bytes *in, u64 now)
{
	struct bftm_body *body = read_body(in);
	struct bftm_object was;
	struct bftm_order_msg req, reply;
	u32 before;
	bool wanted;
	u8 *out;

	read_request(in, &req);
	read_id(in, &req, body);
	req.room = (u16)bftm_order_size(&req);
	wanted = bftm_object_wants(&obj, &req) && bftm_body_same(&req.id, &body->id);
	make_room(&req);
	was = obj;
	before = obj.pend ? obj.pend->count : 0;
	out = malloc(req.room);
	bftm_order_step(&cfg, &obj, &req, wanted ? body : NULL, now, out, &reply);
	/* As the shells write it; REFUSED has one word. */
	must(!bftm_order_form(reply.type) || bftm_order_size(&reply) <= req.room);
	must(!wanted || reply.type != BFTM_ORDER_NEEDBODY);
	must(reply.type != BFTM_ORDER_NEEDBODY || bftm_object_wants(&was, &req));
	check(&req, &reply, &was);
	check_states();
	free(out);
	drop(before);
	if (obj.replaced)
		free(obj.replaced);
	obj.replaced = NULL;
	if (!is_kept(body))
		free(body);
	if (was.sc && was.sc != body && !is_kept(was.sc))
		free(was.sc);
	if (was.sp && was.sp != was.sc && was.sp != body && !is_kept(was.sp))
		free(was.sp);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_bytes in = { data, len };
	u64 now = 0;

	cfg = (struct bftm_server_cfg){ .quarantine_until_ns = QUIET };
	bftm_object_init(&obj, fuzz_take(&in, 1) & 1);
	while (in.left)
		act(&in, now += 8);
	while (obj.pend && obj.pend->count)
		free(obj.pend->entry[--obj.pend->count].body);
	free(obj.pend);
	if (obj.sp != obj.sc)
		free(obj.sp);
	free(obj.sc);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The world of the ordering protocol: the hosts, clocks, faults and network of
 * world.h, and around the core kmod/core/ordering what helper/order/order.c and
 * kmod/objects/objects.c are elsewhere. There is one object.
 */
#ifndef BFTM_SIM_ORDER_H
#define BFTM_SIM_ORDER_H

#include "types/object.h"
#include "core/ordering/client.h"
#include "core/ordering/server.h"
#include "core/ordering/upload.h"
#include "core/quorum.h"
#include "core/servers.h"
#include "core/ordering/transfer.h"
#include "world.h"

struct order_known;

/**
 * struct packet - a datagram of the ordering protocol
 * @next:  of those that are not in use
 * @refs:  times that it is under way
 * @class: of its size, see order_packet.c
 * @msg:   @msg.data is @data, or a body that lasts
 */
struct packet {
	struct packet *next;
	u32 refs;
	u32 class;
	struct bftm_order_msg msg;
	u8 data[];
};

/** struct order_body - a body that exists somewhere; equal ones are one */
struct order_body {
	struct bftm_body body;
	struct order_body *next;
};

#define ORDER_BUCKETS	256
#define ORDER_OPS	16	/* applied in one step, at most */
#define ORDER_REQUESTS	4	/* packed into one operation, at most */
#define ORDER_OLD	8	/* datagrams that come again after a restart */
#define PACKET_CLASSES	3

/** struct order_server - what a server keeps of the object */
struct order_server {
	struct bftm_object object;
	struct bftm_upload **upload;	/* by client */
	struct packet *old[ORDER_OLD];	/* what came before it went down */
	u32 olds;
};

/** struct order_put - a body on its way to one server, in pieces */
struct order_put {
	const struct bftm_body *body;	/* NULL: none */
	struct bftm_transfer t;
};

/**
 * struct order_fetch - a body on its way from one server
 * @from:    the server, @left have said that they have it as well
 * @data:    what has come
 */
struct order_fetch {
	bool on;
	u32 from;
	u32 left;
	struct bftm_body_id id;
	struct bftm_transfer t;
	u8 *data;
};

/** struct order_make - lines 2.14–24: what is needed for the next state */
struct order_make {
	struct bftm_body *base;
	struct bftm_body *own;
	struct bftm_op op[ORDER_OPS + 1];
	u32 holders[ORDER_OPS + 1];
	struct bftm_body *body[ORDER_OPS + 1];
	u32 ops;
	u32 at;			/* the one that is fetched */
	bool based;		/* @base is there */
};

/** struct order_client - the ordering thread of a helper */
struct order_client {
	struct bftm_order core;
	struct bftm_vote vote;
	struct order_make make;
	struct order_fetch fetch;
	struct order_put *put;		/* of each server two: a state, an operation */
	bool putting;			/* some were begun */
	u64 held_until;			/* past its get, for what is still to be asked; NEVER */
	u32 reached;			/* servers, in this phase */
	u8 dooms;			/* how it ends early, see order_fault.c */
	bool dying;			/* its host has gone down, in the middle of a step */
	bool follows;			/* what is said comes after its body */
	bool uploads;			/* @next, before it is proposed */
	u32 stored;			/* servers that have it */
	struct bftm_body *next;		/* @core.next, NULL for σ0 */
	struct bftm_body *last;		/* that it has seen, or NULL */
	struct bftm_body *body;		/* of the operation */
	u64 op;				/* its number, 0: none is under way */
	u64 last_op;
	u64 submit_at;
	u64 retry_at;			/* when to begin an iteration, NEVER */
	u64 wake_at;			/* true time of the WAKE event */
	u32 submits;
	u32 tries;
	bool refresh;
	bool applied;			/* committed, with the operation in it */
	u8 *response;			/* of which @response_len bytes are voted */
	u32 response_len;
	u32 todo;			/* operations that the application wants yet */
	u32 asked;			/* … of its host, ever */
};

/**
 * struct order - the world
 * @holder:     client that has the modelled mutex, until @held_until; or NEVER
 * @promised:   client, from 1, that has a promise which @forgetful forgets; or 0
 * @lonely:     servers that one proposed to who told nobody else
 * @newcomer:   has come, see newcomer_asks()
 */
struct order {
	struct bftm_order_cfg cfg;
	struct order_server *server;
	struct order_client *client;
	struct order_body *bucket[ORDER_BUCKETS];
	struct packet *spare[PACKET_CLASSES];
	struct order_known *known;
	u32 holder;
	u64 held_until;
	u32 promised;
	u32 forgetful;
	u32 lonely;
	bool newcomer;
};

/* order.c: the seams to the rest of the simulator */
void order_start(struct world *w);
void order_event(struct world *w, const struct event *e);
void order_heal(struct world *w);
/** order_finish() - nothing is left to be done: soon the world ends. */
void order_finish(struct world *w);

/* order_packet.c */
/** packet_new() - with room for data; goes back by packet_drop(). */
struct packet *packet_new(struct world *w, u32 room);
void packet_drop(struct world *w, struct packet *p);
/**
 * packet_read() - make @p what is read of a datagram that says @msg
 * @p: with room for BFTM_DATAGRAM_MAX bytes
 * Return: false when it is none that anybody would take.
 */
bool packet_read(struct packet *p, const struct bftm_order_msg *msg);
/** packet_carried() - this one, or in some worlds what is read of it; with a reference */
struct packet *packet_carried(struct world *w, struct packet *p);
/** packet_send() - and drop: as network_send(). @to: TO_SERVER or TO_CLIENT */
void packet_send(struct world *w, int to, u32 server, struct packet *p, u64 at);

/* order_body.c */
/** order_digest() - 256 bits in place of BLAKE2s */
void order_digest(const u8 *data, size_t len, u8 ret[BFTM_DIGEST_LEN]);
/** order_body_of() - the body of these bytes, which must last. */
struct bftm_body *order_body_of(struct world *w, u64 version, const u8 *data, u32 len);
/** order_past() - a rank of the one who is gone */
static inline struct bftm_rank order_past(const struct world *w, u64 count)
{
	return (struct bftm_rank){ .count = count, .client = w->plan->clients - 1 };
}

/** order_sign() - of a rank, by its client */
void order_sign(const struct world *w, const struct bftm_rank *rank,
		u8 ret[BFTM_SIGNATURE_LEN]);

/** order_room() - bytes that the type's part and new responses of @ops may have */
u32 order_room(const struct world *w, const struct bftm_body *base, u32 ops);

/* order_server.c */
void order_server_setup(struct world *w, u32 u);
void order_server_up(struct world *w, u32 u);
void order_server_receive(struct world *w, u32 u, const struct packet *p);
/** order_may_crash() - is no other correct server without its memory? */
bool order_may_crash(const struct world *w, u32 u);

/* order_client.c: its ordering thread; order_receive.c: what it hears */
void order_client_setup(struct world *w, u32 x);
void order_client_up(struct world *w, u32 x);
void order_client_down(struct world *w, u32 x, u64 down);
void order_client_wake(struct world *w, u32 x);
void order_client_receive(struct world *w, u32 x, u32 server, const struct packet *p);
/** order_client_submit() - the application asks. */
void order_client_submit(struct world *w, u32 x, const u8 *op, u32 len);
/** order_client_obey() - do what the core says. */
void order_client_obey(struct world *w, u32 x, const struct bftm_order_out *out);
/** order_client_arm() - the timer; order_client_retry() - begin again, soon. */
void order_client_arm(struct world *w, u32 x);
void order_client_retry(struct world *w, u32 x, enum bftm_order_verdict verdict);
/** order_client_answered() - the whole response is there. */
void order_client_answered(struct world *w, u32 x);
/**
 * order_client_reads() - the response is in the state that was committed just now
 * Return: false when it is not, and where clients do not think that they are alone: they wait
 * for b + 1 servers all the same.
 */
bool order_client_reads(struct world *w, u32 x);
/** order_client_let_go() - of the modelled mutex */
void order_client_let_go(struct world *w, u32 x);
/** order_client_submit_all() - send the operation, and when to repeat that. */
void order_client_submit_all(struct world *w, u32 x);
/** order_client_again() - repeat to a server what it has not taken. */
void order_client_again(struct world *w, u32 x, u32 u);

/* order_send.c */
/** order_fetch() - ask for a piece of a body. */
void order_fetch(struct world *w, u32 x, u32 u, const struct bftm_body_id *id, u32 at);
/** order_say() - SUBMIT, GET, PROPOSE, COMMIT or INSTALL, with what belongs to it. */
void order_say(struct world *w, u32 x, u8 type, u32 to);
/** order_put() - a body in pieces; what needs it follows. */
void order_put(struct world *w, u32 x, u32 u, const struct bftm_body *body);
/** order_put_stored(), order_put_wake() - pieces on their way to servers */
void order_put_stored(struct world *w, u32 x, u32 u, const struct bftm_order_msg *msg);
void order_put_wake(struct world *w, u32 x);
u64 order_put_due(const struct world *w, u32 x);

/* order_fault.c */
/** order_fault_promise() - perhaps what is promised to this iteration is forgotten. */
void order_fault_promise(struct world *w, u32 x);
/** order_fault_forgets() - server @u has answered: it goes down if this was it. */
bool order_fault_forgets(struct world *w, u32 u, u32 x, u8 type);
/** order_fault_recovered() - it has been told what others know. */
void order_fault_recovered(struct world *w, u32 u);
/** order_fault_reached() - the servers that this phase of an iteration gets to */
u32 order_fault_reached(struct world *w, u32 x, u8 type);
/** order_fault_keep() - this may come again; order_fault_old() - it does. */
void order_fault_keep(struct world *w, u32 u, struct packet *p);
void order_fault_old(struct world *w, u32 u);

/* order_make.c */
/** order_make() - begin to make the next state. */
void order_make(struct world *w, u32 x);
/** order_made() - propose @next. */
void order_made(struct world *w, u32 x);
void order_make_heard(struct world *w, u32 x, u32 u, const struct bftm_order_msg *msg);
void order_make_wake(struct world *w, u32 x);

/* order_app.c */
void order_app_start(struct world *w, u32 x);
void order_app_act(struct world *w, u32 x);
void order_app_answered(struct world *w, u32 x);
void order_app_heal(struct world *w);
/** order_app_script() - this request, to a counter. */
void order_app_script(struct world *w, u32 x, const char *request);

/* order_liar.c */
void order_liar_setup(struct world *w, u32 u);
void order_liar_answer(struct world *w, u32 u, const struct bftm_order_msg *req,
		       const struct bftm_order_msg *honest, u64 now);
void order_liar_pushes(struct world *w, u32 u, const struct bftm_order_msg *push, u64 now);

/* order_story.c */
/** story_body() - "σ0", "σ3:1f2e"; story_rank() - "5.c2" */
const char *story_body(const struct bftm_body_id *id);
const char *story_rank(const struct bftm_rank *rank);
/** story_text() - bytes that are mostly text */
const char *story_text(const u8 *data, u32 len);
/** story_iteration() - "COMMIT 5.c2 of σ3:1f2e", a request of an iteration */
const char *story_iteration(const struct bftm_order_msg *req);
/** tell_order_answer() - what a server says; @tells is the verb */
void tell_order_answer(struct world *w, u32 u, const char *tells,
		       const struct bftm_order_msg *req, const struct bftm_order_msg *reply);
/** tell_response() - to the operation under way */
void tell_response(struct world *w, u32 x, const u8 *response, u32 len);

#endif /* BFTM_SIM_ORDER_H */

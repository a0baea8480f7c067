// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_serve_version: what is genuine and new, for this server, is told the version that it speaks
// prove: wp bftm_serve_head: a protocol may see what is for this server, genuine, new, permitted and of this start, asked in this order
// prove: wp serve_sync: what is dropped is of earlier incarnations; only that member is awaited no more, and hears so
// prove: wp bftm_serve: it sees nothing else; what was dropped is not answered
// frama-c: -wp-model Typed+caveat
#define PROOF_ANY_GUARD
#include "admit_contracts.h"
#include "core/serve.h"

/*
 * Answers of the surroundings about this one request, whatever it is. Each may be asked when all
 * before it have said yes: that is what their contracts require.
 */
/*@ axiomatic Request {
  @   logic integer is_genuine;
  @   logic integer is_new;
  @   logic integer is_permitted;
  @   logic integer is_known; // the protocol that it names
  @   logic integer is_evicted; // the incarnation of the member that it is of
  @ }
  @*/

/*@ assigns \nothing;
  @ ensures \result == BFTM_SENDER_GENUINE <==> is_genuine != 0;
  @ ensures \result == BFTM_SENDER_GENUINE || \result == BFTM_SENDER_FORGED ||
  @   \result == BFTM_SENDER_CROWDED;
  @*/
enum bftm_sender shell_sender(const struct bftm_msg *req);

/*@ requires is_genuine != 0;
  @ assigns \nothing;
  @ ensures \result <==> is_new != 0;
  @*/
bool shell_take(const struct bftm_msg *req);

/*@ requires is_genuine != 0 && is_new == 0;
  @ assigns *reply;
  @*/
bool shell_behind(const struct bftm_msg *req, struct bftm_msg *reply);

/*@ requires is_genuine != 0 && is_new != 0 && is_evicted == 0;
  @ assigns cfg->lease_max_ns, cfg->waiters_max, cfg->leaseless, cfg->recovering, *reply;
  @ ensures \result <==> is_permitted != 0;
  @ ensures recovering: cfg->recovering != 0 ==> \old(cfg->recovering) != 0;
  @ ensures untouched: \result ==> reply->type == \old(reply->type);
  @*/
bool shell_permit(const struct bftm_msg *req, struct bftm_server_cfg *cfg,
		  struct bftm_msg *reply);

/*@ requires is_genuine != 0 && is_new != 0 && is_permitted != 0;
  @ assigns *reply;
  @*/
void shell_tokens(const struct bftm_msg *req, struct bftm_msg *reply);

/*@ assigns \nothing;
  @ ensures \result != \null <==> is_known != 0;
  @*/
static const struct bftm_protocol *protocol_of(const struct bftm_shell *shell, void *arg,
					       u8 number);

/* The members, where there are any, and the one that the request is of, if it is of a member. */
static struct bftm_members the_members;
static struct bftm_member its_member;

/*@ assigns \nothing;
  @ ensures \result == \null ==> is_evicted == 0;
  @ ensures \result == \null || \result == &the_members;
  @*/
static const struct bftm_members *members_of(const struct bftm_shell *shell, void *arg);

/*@ requires \valid_read(m) && is_genuine != 0 && is_new != 0;
  @ assigns \nothing;
  @ ensures \result <==> is_evicted != 0;
  @*/
bool bftm_members_refuse(const struct bftm_members *m, const struct bftm_msg *req);

/*@ requires \valid_read(m);
  @ assigns \nothing;
  @ ensures \result == \null || (\result == &its_member && its_member.client == client);
  @*/
struct bftm_member *bftm_members_find(const struct bftm_members *m, u32 client);

#define HEARD the_members.awaited, its_member.awaited

/* The shell drops, and calls bftm_members_heard() when that is done. */
/*@ requires member == &its_member && client == req->client == its_member.client;
  @ requires earlier: incarnation < req->incarnation || incarnation <= its_member.evicted;
  @ assigns HEARD;
  @ ensures heard: \result ==> its_member.awaited == 0;
  @ ensures not_yet: !\result ==> its_member.awaited == \old(its_member.awaited);
  @*/
bool shell_synced(const struct bftm_msg *req, const struct bftm_member *member, u32 client,
		  u32 incarnation);

/* In the kernel all are there. */
#define SHELL								\
	\valid_read(shell) && shell->sender != \null && shell->take != \null && \
	shell->permit != \null

#define SERVED(req)							\
	(is_genuine != 0 && is_new != 0 && is_evicted == 0 && is_permitted != 0 && \
	 (req)->cluster == cfg->cluster && (req)->server == cfg->id &&	\
	 ((req)->type & BFTM_MSG_REPLY) == 0 &&				\
	 ((req)->proto == BFTM_PROTO_ORDER || is_known != 0) &&		\
	 (req)->server_epoch == cfg->epoch &&				\
	 (req)->type != BFTM_MSG_HELLO && (req)->type != BFTM_MSG_RECOVER)

/*@ requires SHELL && \valid_read(cfg) && \valid_read(head) && \valid(reply);
  @ requires \separated(shell, cfg, head, reply);
  @ assigns *reply;
  @ ensures each: \result == BFTM_SERVED <==> is_genuine != 0 && is_new != 0 &&
  @   head->cluster == cfg->cluster && head->server == cfg->id &&
  @   (head->type & BFTM_MSG_REPLY) == 0 && head->seq != 0;
  @ ensures version: \result == BFTM_SERVED ==> reply->type == BFTM_MSG_VERSION &&
  @   reply->arg == BFTM_WIRE_VERSION && reply->seq == head->seq;
  @*/
enum bftm_served bftm_serve_version(const struct bftm_shell *shell, void *arg,
				    const struct bftm_server_cfg *cfg,
				    const struct bftm_msg *head, struct bftm_msg *reply);

/*@ requires SHELL && \valid_read(cfg) && \valid_read(head) && \valid(limits);
  @ requires \valid(admit) && \valid(reply) && time_ok(now);
  @ requires time_ok(cfg->quarantine_until_ns);
  @ requires \separated(shell, cfg, head, limits, admit, reply);
  @ assigns *limits, *admit, *reply;
  @ ensures admitted: *admit ==> \result == BFTM_SERVED && SERVED(head) &&
  @   limits->cluster == cfg->cluster && limits->id == cfg->id &&
  @   limits->epoch == cfg->epoch && limits->rho_ppm == cfg->rho_ppm &&
  @   limits->quarantine_until_ns == cfg->quarantine_until_ns;
  @ ensures each: SERVED(head) ==> *admit;
  @ ensures untouched: *admit ==> reply->type == \old(reply->type);
  @ ensures silent: \result == BFTM_NOT_NEW ==> reply->type == BFTM_MSG_NONE;
  @*/
enum bftm_served bftm_serve_head(const struct bftm_shell *shell, void *arg,
				 const struct bftm_server_cfg *cfg, const struct bftm_msg *head,
				 u64 now, struct bftm_server_cfg *limits, bool *admit,
				 struct bftm_msg *reply);

/* A protocol is behind it: what it decides is in the contracts of the protocol. */
/*@ requires SERVED(req) && \valid(ret) && \valid(cfg);
  @ assigns *ret, *cfg;
  @*/
static void serve_step(const struct bftm_shell *shell, void *arg, struct bftm_server_cfg *cfg,
		       const struct bftm_msg *req, u64 now, struct bftm_sends *ret);

/* The answer to ASK tells what lists of locks tell about one of them. */
/*@ requires is_genuine != 0 && is_new != 0 && is_evicted == 0 && is_permitted != 0;
  @ requires req->type == BFTM_MSG_ASK && \valid_read(req) && \valid(ret);
  @ assigns *ret;
  @*/
static void serve_ask(const struct bftm_shell *shell, void *arg, const struct bftm_msg *req,
		      u64 now, struct bftm_sends *ret);

/*@ requires is_genuine != 0 && is_new != 0 && is_evicted == 0 && is_permitted != 0;
  @ requires req->type == BFTM_MSG_SYNC && \valid_read(req) && \valid(reply);
  @ requires reply->type != BFTM_MSG_SYNCED;
  @ assigns *reply, HEARD;
  @ ensures heard: reply->type == BFTM_MSG_SYNCED ==> its_member.client == req->client &&
  @   its_member.awaited == 0;
  @ ensures else_same: reply->type != BFTM_MSG_SYNCED ==>
  @   its_member.awaited == \old(its_member.awaited);
  @*/
static void serve_sync(const struct bftm_shell *shell, void *arg, const struct bftm_msg *req,
		       struct bftm_msg *reply);

/*@ requires SHELL && \valid_read(cfg) && \valid_read(req) && \valid(ret) && time_ok(now);
  @ requires time_ok(cfg->quarantine_until_ns);
  @ requires \separated(shell, cfg, req, ret);
  @ assigns *ret, HEARD;
  @ ensures epoch: ret->reply.server_epoch == cfg->epoch;
  @ ensures nothing: !SERVED(req) ==> ret->push.type == BFTM_MSG_NONE && !ret->granted;
  @*/
enum bftm_served bftm_serve(const struct bftm_shell *shell, void *arg,
			    const struct bftm_server_cfg *cfg, const struct bftm_msg *req,
			    u64 now, struct bftm_sends *ret);

#include "core/serve.c"

/* SPDX-License-Identifier: GPL-2.0 */
/* The promises of access.h: the first rule that fits decides. */
#ifndef PROOF_ACCESS_CONTRACTS_H
#define PROOF_ACCESS_CONTRACTS_H

#include "admit_contracts.h"
#include "core/access.h"
#include "core/ordering/wire.h"

/*@ predicate rule_ok(struct bftm_rule *rule) = rule->prefix_len <= 64 &&
  @   (rule->lease_max_ns == 0 || lease_ok(rule->lease_max_ns));
  @ predicate about(struct bftm_rule *rule, struct bftm_msg *req) =
  @   req->name_len >= rule->prefix_len &&
  @   \forall integer i; 0 <= i < rule->prefix_len ==> req->name[i] == rule->prefix[i];
  @ predicate fits(struct bftm_rule *rule, struct bftm_msg *req) =
  @   rule->client_first <= req->client <= rule->client_last &&
  @   (req->type == BFTM_MSG_RECOVER ? rule->deny != 0 || rule->prefix_len == 0 :
  @    about(rule, req));
  @ // Rule number i decides: it fits, and none before it does.
  @ predicate decides(struct bftm_rule *rule, integer i, struct bftm_msg *req) =
  @   fits(&rule[i], req) && \forall integer j; 0 <= j < i ==> !fits(&rule[j], req);
  @ predicate free_for_all(integer count, struct bftm_msg *req, integer epoch) =
  @   count == 0 || req->type == BFTM_MSG_RELEASE || req->type == BFTM_MSG_HELLO ||
  @   req->type == BFTM_MSG_SYNC || req->type == BFTM_ORDER_LIST || req->server_epoch != epoch;
  @ predicate rules_ok(struct bftm_rule *rule, integer count) =
  @   \valid_read(rule + (0 .. count - 1)) &&
  @   \forall integer i; 0 <= i < count ==> rule_ok(&rule[i]);
  @*/

/*@ requires \valid_read(rule);
  @ assigns \nothing;
  @ ensures \result <==> rule->client_first <= client <= rule->client_last;
  @*/
static bool is_for(const struct bftm_rule *rule, u32 client);

/*@ requires \valid_read(req);
  @ assigns \nothing;
  @ ensures \result <==> req->type != BFTM_MSG_RELEASE && req->type != BFTM_MSG_HELLO &&
  @   req->type != BFTM_MSG_SYNC && req->type != BFTM_ORDER_LIST;
  @*/
static bool needs_right(const struct bftm_msg *req);

/*@ requires \valid_read(rule) && rule_ok(rule) && \valid_read(req) && req->name_len <= 64;
  @ assigns \nothing;
  @ ensures about: \result <==> about(rule, req);
  @*/
static bool is_about(const struct bftm_rule *rule, const struct bftm_msg *req);

/*@ requires rules_ok(rule, count) && \valid_read(req) && req->name_len <= 64;
  @ assigns \nothing;
  @ ensures some: \result <==> \exists integer i; 0 <= i < count && rule[i].leaseless != 0 &&
  @   rule[i].deny == 0 && about(&rule[i], req);
  @*/
bool bftm_access_leaseless(const struct bftm_rule *rule, u32 count, const struct bftm_msg *req);

/*@ requires \valid_read(rule) && rule_ok(rule) && \valid_read(req) && req->name_len <= 64;
  @ assigns \nothing;
  @ ensures fits: \result <==> fits(rule, req);
  @*/
static bool rule_fits(const struct bftm_rule *rule, const struct bftm_msg *req);

/*@ requires rules_ok(rule, count) && \valid_read(req) && req->name_len <= 64;
  @ assigns \result \from rule, count, *req, rule[0 .. count - 1];
  @ ensures none: \result == \null ==> \forall integer i; 0 <= i < count ==> !fits(&rule[i], req);
  @ ensures first: \result != \null ==> \exists integer i; 0 <= i < count &&
  @   \result == &rule[i] && decides(rule, i, req);
  @*/
const struct bftm_rule *bftm_access_find(const struct bftm_rule *rule, u32 count,
					 const struct bftm_msg *req);

/*@ requires rules_ok(rule, count) && \valid_read(req) && req->name_len <= 64;
  @ requires \valid(cfg) && \valid(reply) && lease_ok(cfg->lease_max_ns);
  @ requires \separated(req, reply, cfg, rule + (0 .. count - 1));
  @ assigns cfg->lease_max_ns, cfg->waiters_max, cfg->leaseless, cfg->recovering, *reply;
  @ ensures allowed: \result ==> free_for_all(count, req, cfg->epoch) ||
  @   \exists integer i; 0 <= i < count && decides(rule, i, req) && rule[i].deny == 0;
  @ ensures denied: !\result ==> !free_for_all(count, req, cfg->epoch);
  @ ensures refused: !\result ==> reply->type == BFTM_MSG_REFUSED &&
  @   reply->arg == BFTM_REFUSED_ACCESS;
  @ ensures limits: cfg->lease_max_ns <= \old(cfg->lease_max_ns) &&
  @   cfg->waiters_max <= \old(cfg->waiters_max) && lease_ok(cfg->lease_max_ns);
  @ ensures recovering: cfg->recovering != 0 ==> \old(cfg->recovering) != 0;
  @ ensures leaseless: \result && !free_for_all(count, req, cfg->epoch) ==>
  @   \forall integer i; 0 <= i < count && decides(rule, i, req) ==>
  @   (cfg->leaseless != 0 <==> rule[i].leaseless != 0);
  @ ensures lease: \result && !free_for_all(count, req, cfg->epoch) ==>
  @   \forall integer i; 0 <= i < count && decides(rule, i, req) ==>
  @   rule[i].lease_max_ns == 0 || cfg->lease_max_ns <= rule[i].lease_max_ns;
  @ ensures waiters: \result && !free_for_all(count, req, cfg->epoch) ==>
  @   \forall integer i; 0 <= i < count && decides(rule, i, req) ==>
  @   rule[i].waiters_max == 0 || cfg->waiters_max <= rule[i].waiters_max;
  @*/
bool bftm_access_admit(const struct bftm_rule *rule, u32 count, const struct bftm_msg *req,
		       struct bftm_server_cfg *cfg, struct bftm_msg *reply);

#endif

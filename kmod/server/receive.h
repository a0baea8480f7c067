/* SPDX-License-Identifier: GPL-2.0 */
/* A datagram on its way through the server: what bftm_serve() asks for. */
#ifndef BFTM_RECEIVE_H
#define BFTM_RECEIVE_H

#include "core/serve.h"
#include "server/server.h"

/**
 * struct bftm_received - a datagram
 * @server: the server
 * @from:   where it came from
 * @buf:    the datagram, of @len bytes; nobody else writes to it
 * @len:    bytes of @buf
 * @now:    bftm_clock_ns() when it was received
 * @client: once it is found genuine: whose it is; NULL when there is no room for one more
 * @pair:   the keys of that client
 */
struct bftm_received {
	struct bftm_server *server;
	const struct bftm_address *from;
	const void *buf;
	size_t len;
	u64 now;
	struct bftm_client *client;
	struct bftm_client_keys pair;
};

/* Of a struct bftm_shell whose argument is a struct bftm_received. Context: softirq, RCU. */
enum bftm_sender bftm_received_sender(void *arg, const struct bftm_msg *req);
bool bftm_received_take(void *arg, const struct bftm_msg *req);
bool bftm_received_behind(void *arg, const struct bftm_msg *req, struct bftm_msg *reply);
bool bftm_received_permit(void *arg, const struct bftm_msg *req, struct bftm_server_cfg *cfg,
			  struct bftm_msg *reply);
void bftm_received_tokens(void *arg, const struct bftm_msg *req, u64 now,
			  struct bftm_msg *reply);
bool bftm_received_may_be_stamped(void *arg, const struct bftm_msg *req, u64 now);

/** bftm_server_dropped() - count a request that was. Return: whether it was dropped. */
bool bftm_server_dropped(struct bftm_server *server, enum bftm_served how);

#endif /* BFTM_RECEIVE_H */

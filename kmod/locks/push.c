// SPDX-License-Identifier: GPL-2.0
/* Pushes FREE or INQUIRE to a client that did not ask just now; receive.c bounds how many. */
#include "locks/locks.h"
#include "server/socket.h"
#include "server/trace.h"

void bftm_locks_push(struct bftm_server *server, const struct bftm_msg *push)
{
	struct bftm_address to;
	struct bftm_client *c;
	struct bftm_wire wire;

	trace_bftm_push(server, push);
	if (push->type == BFTM_MSG_FREE) {
		bftm_count(server, PUSHED);
		trace_bftm_grant(server, push);
	} else {
		bftm_count(server, INQUIRED);
	}
	rcu_read_lock();
	c = bftm_client_find(&server->clients, push->client);
	/* It asked in this incarnation, so it has an address. */
	if (!c)
		goto out;
	to = bftm_client_address(c);
	bftm_wire_put(push, &wire);
	bftm_sign(c->pair.reply, wire.data, wire.len);
	bftm_socket_send(server, &to, &wire);
out:
	rcu_read_unlock();
}

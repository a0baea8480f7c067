/* SPDX-License-Identifier: GPL-2.0 */
/* UDP: datagrams are answered in the softirq that received them. */
#ifndef BFTM_SOCKET_H
#define BFTM_SOCKET_H

struct bftm_server;
struct netlink_ext_ack;

/** bftm_sockets_open() - the server must be ready: packets come at once. */
int bftm_sockets_open(struct bftm_server *server,
		      struct netlink_ext_ack *extack);

/** bftm_sockets_close() - when it returns, nothing is received any more. */
void bftm_sockets_close(struct bftm_server *server);

#endif /* BFTM_SOCKET_H */

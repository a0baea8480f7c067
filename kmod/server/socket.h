/* SPDX-License-Identifier: GPL-2.0 */
/* UDP: datagrams are answered in the softirq that received them. */
#ifndef BFTM_SOCKET_H
#define BFTM_SOCKET_H

struct bftm_address;
struct bftm_msg;
struct bftm_server;
struct bftm_wire;
struct netlink_ext_ack;
struct sk_buff;

/**
 * bftm_sockets_open() - the server must be ready: packets come at once
 * @server: the server
 * @extack: gets the reason of a failure; may be NULL
 * Return: 0 or an error; then some may be open, and are to be closed.
 */
int bftm_sockets_open(struct bftm_server *server,
		      struct netlink_ext_ack *extack);

/**
 * bftm_sockets_deafen() - when it returns, nothing is received any more
 * @server: the server
 *
 * The receive path has left; sending is possible until bftm_sockets_close().
 */
void bftm_sockets_deafen(struct bftm_server *server);

/** bftm_sockets_close() - after bftm_sockets_deafen(); nobody may send now. */
void bftm_sockets_close(struct bftm_server *server);

/**
 * bftm_socket_room() - a datagram to be written where it is sent from
 * @server: the server
 * @len:    bytes of it, at most; its payload is skb->data, and empty yet
 * Context: softirq. Return: NULL when memory is short; it was counted.
 */
struct sk_buff *bftm_socket_room(struct bftm_server *server, size_t len);

/**
 * bftm_socket_send_skb() - likewise, of bftm_socket_room(); takes it in any case
 * @server: the server
 * @to:     address of the client
 * @skb:    the datagram, signed
 * Context: as of bftm_socket_send().
 */
void bftm_socket_send_skb(struct bftm_server *server, const struct bftm_address *to,
			  struct sk_buff *skb);

/**
 * bftm_socket_answer() - answer a request where it came from
 * @server: the server
 * @skb:    the request, which may become the answer; then it is NULL
 * @from:   address of the client
 * @key:    of the answer's tag
 * @msg:    no longer than the request
 * Context: as of bftm_socket_send().
 */
void bftm_socket_answer(struct bftm_server *server, struct sk_buff **skb,
			const struct bftm_address *from, const u64 key[2],
			const struct bftm_msg *msg);

/**
 * bftm_socket_send() - send a signed datagram, or count that it failed
 * @server: the server
 * @to:     address of the client
 * @wire:   the datagram
 * Context: softirq, RCU read side, the sockets are open and stay so.
 */
void bftm_socket_send(struct bftm_server *server, const struct bftm_address *to,
		      const struct bftm_wire *wire);

#endif /* BFTM_SOCKET_H */

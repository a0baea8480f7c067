/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Authentication of datagrams: one 128-bit key for each client, server and
 * direction, derived from the server's master key.
 */
#ifndef BFTM_AUTH_H
#define BFTM_AUTH_H

#include "core/wire.h"

/** struct bftm_client_keys - SipHash keys of a client at this server */
struct bftm_client_keys {
	u64 request[2];
	u64 reply[2];
};

/**
 * bftm_derive() - the keys that this server shares with a client
 * @master:  of this server
 * @cluster: number of the cluster
 * @server:  number of this server
 * @client:  number of the client
 * @ret:     the keys
 *
 * Context: any; does not allocate.
 */
void bftm_derive(const u8 master[BFTM_KEY_LEN], u32 cluster, u16 server,
		 u32 client, struct bftm_client_keys *ret);

/**
 * bftm_sign() - fill in the tag of a datagram, over all that stands before
 * @key: of the sender and the receiver, 128 bits for SipHash
 * @buf: any alignment
 * @len: of it all, tag included: a multiple of 8, at least BFTM_TAG_LEN
 */
void bftm_sign(const u64 key[2], void *buf, size_t len);

/** bftm_tag_ok() - constant time. Return: true when the tag is right. */
bool __must_check bftm_tag_ok(const u64 key[2], const void *buf, size_t len);

#endif /* BFTM_AUTH_H */

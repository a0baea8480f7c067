/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is a datagram an answer of one of the cluster's servers, to a request of this daemon? Any other
 * datagram is counted for the server with that address, and dropped.
 */
#ifndef BFTM_VERIFY_H
#define BFTM_VERIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/types.h"

struct bftm_cluster;
struct bftm_msg;
struct bftm_order_msg;
struct sockaddr_in6;

/**
 * bftm_verify() - is it well formed, for this client, and signed by the server that it names?
 * @cl:   the cluster
 * @data: the datagram
 * @len:  bytes of @data
 * @from: its address, to count a bad one
 * @ret:  the message; only if it is authentic
 * Return: the server's number in the configuration, or -1.
 */
int bftm_verify(struct bftm_cluster *cl, const void *data, size_t len,
		const struct sockaddr_in6 *from, struct bftm_msg *ret);

/** bftm_verify_order() - the same of a message about objects; @ret points into @data. */
int bftm_verify_order(struct bftm_cluster *cl, const void *data, size_t len,
		      const struct sockaddr_in6 *from, struct bftm_order_msg *ret);

/**
 * bftm_verify_fresh() - is it the first answer of server @u to a request of this socket?
 * @cl:  the cluster
 * @u:   its number, less than n
 * @seq: of the request that it answers
 *
 * An answer kept from before would name attempts that are not known here but may hold.
 */
bool bftm_verify_fresh(struct bftm_cluster *cl, u32 u, u64 seq);

#endif /* BFTM_VERIFY_H */

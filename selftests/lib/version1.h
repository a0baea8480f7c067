/* SPDX-License-Identifier: GPL-2.0 */
/* Datagrams of version 1 of the wire format about locks, which no program speaks any more. */
#ifndef BFTM_TEST_VERSION1_H
#define BFTM_TEST_VERSION1_H

#include "crypto/keys.h"

/** struct version1 - a datagram; the fields are those of struct bftm_msg, of every type */
struct version1 {
	__u8 version;
	__u8 type;
	__u8 proto;
	__u8 name_len;
	__le32 cluster;
	__le32 client;
	__le16 server;
	__le16 flags;
	__le64 epoch;
	__le64 seq;
	__le64 attempt;
	__le32 k;
	__le32 position;
	__le64 lease_ns;
	__le64 prio;
	__le64 gno;
	__le64 token;
	__u8 name[BFTM_NAME_LEN_MAX];
	__u8 tag[BFTM_TAG_LEN];
};

static_assert(sizeof(struct version1) == 160);

/** version1_put() - write and sign */
void version1_put(const struct bftm_msg *m, struct bftm_mac *mac, struct version1 *ret);

#endif /* BFTM_TEST_VERSION1_H */

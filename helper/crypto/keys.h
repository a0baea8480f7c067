/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys. Each server has one 32-byte master key; the two keys that a client shares with a server are
 * derived from its master key, so a server stores nothing per client and a captured server reveals
 * nothing about another. Key files are refused when anybody but their owner can read them.
 */
#ifndef BFTM_KEYS_H
#define BFTM_KEYS_H

#include <stdio.h>

#include "core/limits.h"
#include "core/types.h"
#include "core/wire.h"

/**
 * struct bftm_pair - the keys that a client and a server share
 * @request: SipHash key of datagrams to the server
 * @reply:   SipHash key of datagrams from the server
 *
 * pair = BLAKE2s-256(key = master,
 *		      "bftmutex client\0" · le32 cluster · le16 server ·
 *		      le16 0 · le32 client)
 */
struct bftm_pair {
	u8 request[16];
	u8 reply[16];
};

/** struct bftm_master - a server's key file */
struct bftm_master {
	u32 cluster;
	u16 server;
	u8 key[BFTM_KEY_LEN];
};

/** struct bftm_credentials - a client's key file: one pair a server */
struct bftm_credentials {
	u32 cluster;
	u32 client;
	u32 count;
	struct {
		u16 server;
		struct bftm_pair pair;
	} key[BFTM_SERVERS_MAX];
};

/** bftm_derive() - a client's pair from a server's master. 0 or -EIO. */
int bftm_derive(const struct bftm_master *master, u32 client,
		struct bftm_pair *ret);

/**
 * bftm_master_load() - read a server's key file
 * @path: file, refused with -EPERM when group or others can read it
 * @ret:  untouched on failure
 *
 * Mistakes are reported by bftm_log() with the file, the line and the expected value; key material
 * is never shown.
 *
 * Return: 0, -EPERM, -EINVAL or the -errno of opening the file.
 */
int bftm_master_load(const char *path, struct bftm_master *ret);

/** bftm_credentials_load() - the same of a client's key file */
int bftm_credentials_load(const char *path, struct bftm_credentials *ret);

/** bftm_master_save(), bftm_credentials_save() - mode 0600, never over a file. */
int bftm_master_save(const char *path, const struct bftm_master *master);
int bftm_credentials_save(const char *path,
			  const struct bftm_credentials *cred);

/**
 * bftm_open_private() - open a file that only its owner can read
 * @path:      of the file
 * @ret_errno: 0; -EPERM when others can; -errno: then the result is NULL. Reported.
 */
FILE *bftm_open_private(const char *path, int *ret_errno);

/** bftm_save_private() - a new file with this text or, on failure, no file. 0, -errno. */
int bftm_save_private(const char *path, const char *text);

/** bftm_keys_no_dump() - no core dumps, no debugger without CAP_SYS_PTRACE */
void bftm_keys_no_dump(void);

/** struct bftm_mac - a prepared key; one per key and thread */
struct bftm_mac;

struct bftm_mac *bftm_mac_new(const u8 key[16]);
void bftm_mac_free(struct bftm_mac *mac);

/** bftm_mac_sign_bytes() - fill in the tag at the end of @len bytes. 0 or -EIO. */
int bftm_mac_sign_bytes(struct bftm_mac *mac, void *buf, size_t len);

/** bftm_mac_verify_bytes() - is the tag right? In constant time. */
bool bftm_mac_verify_bytes(struct bftm_mac *mac, const void *buf, size_t len);

/** bftm_mac_sign() - fill in the tag of a datagram. 0 or -EIO. */
int bftm_mac_sign(struct bftm_mac *mac, struct bftm_wire *wire);

/** bftm_mac_verify() - constant time. True when the tag is right. */
bool bftm_mac_verify(struct bftm_mac *mac, const struct bftm_wire *wire);

#endif /* BFTM_KEYS_H */

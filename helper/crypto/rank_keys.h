/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signed ranks (Section 6.2): each client signs the ranks that it uses, by Ed25519, so that the
 * word of one server about a higher rank is enough. A client has a private key beside its
 * credentials; one file holds the public keys of all clients.
 */
#ifndef BFTM_RANK_KEYS_H
#define BFTM_RANK_KEYS_H

#include <limits.h>

#include "core/ordering/order.h"
#include "crypto/keys.h"

#define BFTM_RANK_KEY_LEN	32	/* bytes, private or public */

/**
 * bftm_rank_private_path() - path of a client's own rank key, DIR/NAME.rank
 * @credentials: path of its credentials, DIR/NAME.client
 * @ret:         the path
 *
 * Return: @ret.
 */
char *bftm_rank_private_path(const char *credentials, char ret[PATH_MAX]);

/** bftm_rank_public_path() - the same for the public keys of all clients, DIR/ranks */
char *bftm_rank_public_path(const char *credentials, char ret[PATH_MAX]);

/** struct bftm_rank_client - public key of a client */
struct bftm_rank_client {
	u32 client;
	u8 key[BFTM_RANK_KEY_LEN];
};

/** bftm_rank_create() - a fresh pair of keys. 0 or -EIO. */
int bftm_rank_create(u8 private_key[BFTM_RANK_KEY_LEN], u8 public_key[BFTM_RANK_KEY_LEN]);

/** bftm_rank_private_save() - mode 0600, never over a file. 0 or -errno. */
int bftm_rank_private_save(const char *path, u32 cluster, u32 client,
			   const u8 key[BFTM_RANK_KEY_LEN]);

/** bftm_rank_public_save() - of @count clients; over an old file at once. 0 or -errno. */
int bftm_rank_public_save(const char *path, u32 cluster,
			  const struct bftm_rank_client *client, u32 count);

/**
 * bftm_rank_public_load() - read such a file
 * @path:      of the file
 * @cluster:   number of the cluster, which the file must name
 * @ret:       an entry for each client, to be freed; untouched on failure
 * @ret_count: entries of @ret; untouched on failure
 * Return: 0; -errno. Mistakes are reported on stderr with file and line.
 */
int bftm_rank_public_load(const char *path, u32 cluster, struct bftm_rank_client **ret,
			  u32 *ret_count);

/** struct bftm_rank_keys - a client's private key, and the public keys of all clients */
struct bftm_rank_keys;

/**
 * bftm_rank_keys_load() - read both files of a client
 * @credentials: path of the client's credentials, beside which both files are
 * @cluster:     number of the cluster, which the file must name
 * @client:      number of the client
 * @ret:         untouched on failure
 * Return: 0; -EPERM when others can read the private key; -EINVAL; -errno.
 */
int bftm_rank_keys_load(const char *credentials, u32 cluster, u32 client,
			struct bftm_rank_keys **ret);
void bftm_rank_keys_free(struct bftm_rank_keys *keys);

/**
 * bftm_rank_keys_sign() - sign a rank of this client for the object @name
 * @keys: of this client
 * @name: of the object
 * @len:  bytes of @name, 1 to BFTM_OBJECT_NAME_MAX
 * @rank: the rank; its client is this one
 * @ret:  gets the signature; untouched on failure
 *
 * The signed text is "bftmutex rank\0" · le32 cluster · byte len · name · le64 count · le32 client
 * · le32 incarnation. Return: 0 or -EIO.
 */
int bftm_rank_keys_sign(struct bftm_rank_keys *keys, const u8 *name, u8 len,
			const struct bftm_rank *rank, u8 ret[BFTM_SIGNATURE_LEN]);

/** bftm_rank_keys_verify() - is the rank signed by the client that it names? */
bool bftm_rank_keys_verify(struct bftm_rank_keys *keys, const u8 *name, u8 len,
			   const struct bftm_rank *rank,
			   const u8 signature[BFTM_SIGNATURE_LEN]);

/** bftm_rank_keys_know() - does the file have a public key of this client? */
bool bftm_rank_keys_know(const struct bftm_rank_keys *keys, u32 client);

#endif /* BFTM_RANK_KEYS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bftmutexctl dev: a whole cluster on one machine, in network namespaces.
 *
 *   bftm-s1  bftm-s2 … bftm-sN    servers, 10.73.0.1 to 10.73.0.N
 *      │        │         │
 *   ───┴────────┴────┬────┴───    bridge br0 in namespace bftm-net
 *               │    │
 *           bftm-c1 … bftm-cM     clients, 10.73.0.101 to 10.73.0.(100 + M),
 *                                 each with its own bftmutexd
 */
#ifndef BFTM_CTL_DEV_H
#define BFTM_CTL_DEV_H

#include <limits.h>

#include "core/limits.h"
#include "core/types.h"

#define DEV_DIR		"/run/bftmutex/dev"
#define DEV_CLUSTER	"demo"
#define DEV_CLUSTER_ID	73u
#define DEV_CLIENTS_MAX	64
#define DEV_NETNS_DIR	"/run/netns"

/** struct dev - the user's choices, and the running cluster */
struct dev {
	u32 servers;
	u32 b;
	u32 clients;
	u64 delay_ns;
	u64 lease_max_ns;
	char dir[PATH_MAX / 4];
	const char *module;
};

/** dev_path() - a path inside the cluster's folder, into @ret */
__attribute__((format(printf, 3, 4)))
const char *dev_path(const struct dev *dev, char ret[PATH_MAX], const char *format, ...);

/* dev_net.c */

/** dev_network() - bridge, namespaces, addresses, delays; 0 or an exit code */
int dev_network(const struct dev *dev);

/* dev_start.c */

/** dev_start_servers(), dev_start_helpers() - 0 or an exit code */
int dev_start_servers(const struct dev *dev);
int dev_start_helpers(const struct dev *dev);

/* dev_made.c: the list of everything that was made, in file DIR/made */

/**
 * enum dev_kind - kinds of entries in the list
 * @DEV_DIRECTORY: a folder that is removed when it is empty
 * @DEV_TREE:      a folder that is removed with its content
 * @DEV_NETNS:     a network namespace, and so the lock server in it
 * @DEV_HELPER:    a bftmutexd, "PID NAMESPACE"
 * @DEV_MODULE:    a kernel module that was loaded
 */
enum dev_kind {
	DEV_DIRECTORY,
	DEV_TREE,
	DEV_NETNS,
	DEV_HELPER,
	DEV_MODULE,
};

/** dev_made() - note a thing, just before it is made; 0 or an exit code */
int dev_made(const struct dev *dev, enum dev_kind kind, const char *name);

/** dev_check_dir() - check that only root can write the list; 0 or an exit code */
int dev_check_dir(const struct dev *dev);

/** dev_is_up() - is there a list? */
bool dev_is_up(const struct dev *dev);

/** dev_remove() - remove all that is in the list; 0 or an exit code */
int dev_remove(const struct dev *dev);

/** dev_self() - path of this program */
const char *dev_self(void);

#endif /* BFTM_CTL_DEV_H */

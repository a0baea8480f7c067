// SPDX-License-Identifier: GPL-2.0
/*
 *	insmod bftmutex.ko server=/etc/bftmutex/keys/server-3.key
 *
 * The parameter is the path of a key file, never a key: parameters can be read
 * in /sys. The file says which server of which cluster it is for.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "life.h"
#include "netns.h"
#include "param.h"
#include "server/server.h"

#define KEY_FILE_MAX 4096

static char *server = "";
module_param(server, charp, 0444);
MODULE_PARM_DESC(server, "key file of the server to start in the initial network namespace (made by bftmutexctl keygen)");

static uint port = BFTM_PORT_DEFAULT;
module_param(port, uint, 0444);
MODULE_PARM_DESC(port, "UDP port of the server, 1 to 65535 (default 7373)");

static uint lease_max_ms = BFTM_LEASE_MAX_DEFAULT_NS / BFTM_NS_PER_MS;
module_param(lease_max_ms, uint, 0444);
MODULE_PARM_DESC(lease_max_ms, "longest lease that it grants in ms, 1 to 3600000 (default 30000)");

static uint rho_ppm = BFTM_RHO_DEFAULT_PPM;
module_param(rho_ppm, uint, 0444);
MODULE_PARM_DESC(rho_ppm, "bound on the rate error of clocks in ppm, 1 to 100000 (default 2000)");

static uint max_locks = BFTM_LOCKS_DEFAULT;
module_param(max_locks, uint, 0444);
MODULE_PARM_DESC(max_locks, "limit on locks, 64 to 16777216 (default 1048576)");

static uint max_clients = BFTM_CLIENTS_DEFAULT;
module_param(max_clients, uint, 0444);
MODULE_PARM_DESC(max_clients, "limit on clients, 1 to 1048576 (default 65536)");

static uint max_holders = BFTM_HOLDERS_DEFAULT;
module_param(max_holders, uint, 0444);
MODULE_PARM_DESC(max_holders, "limit on clients that hold one lock at once, 1 to 4096 (default 64)");

static uint max_waiters = BFTM_WAITERS_DEFAULT;
module_param(max_waiters, uint, 0444);
MODULE_PARM_DESC(max_waiters, "limit on clients that wait for one lock, 1 to 65536 (default 1024)");

static uint max_objects = BFTM_OBJECTS_DEFAULT;
module_param(max_objects, uint, 0444);
MODULE_PARM_DESC(max_objects, "limit on objects, 1 to 65536 (default 4096)");

static uint max_state = BFTM_STATE_DEFAULT;
module_param(max_state, uint, 0444);
MODULE_PARM_DESC(max_state, "limit on the bytes of an object's state, 1024 to 1048576 (default 65536)");

static unsigned long long object_memory = BFTM_OBJECT_MEMORY_DEFAULT;
module_param(object_memory, ullong, 0444);
MODULE_PARM_DESC(object_memory, "limit on the bytes of all objects, 16777216 to 1099511627776 (default 268435456)");

static uint no_quarantine;
module_param(no_quarantine, uint, 0444);
MODULE_PARM_DESC(no_quarantine, "keep no quarantine: how many servers of the cluster may restart like this within one quarantine time, 0 to 30 (default 0: keep the quarantine)");

static char *token_floor = "";
module_param(token_floor, charp, 0444);
MODULE_PARM_DESC(token_floor, "no higher fencing token was ever stamped by this server: 0 at the very first start, else leave it out (default unknown)");

static int check_range(const char *name, u64 value, u64 least, u64 most)
{
	if (value >= least && value <= most)
		return 0;
	pr_err("bftmutex: %s=%llu: must be %llu to %llu\n", name, value, least,
	       most);
	return -ERANGE;
}

/* Without the parameter the floor is unknown. */
static int read_floor(struct bftm_server_param *p)
{
	if (!*token_floor)
		return 0;
	if (kstrtou64(token_floor, 10, &p->token_floor) ||
	    p->token_floor > BFTM_TOKEN_FLOOR_MAX) {
		pr_err("bftmutex: token_floor=%s: must be 0 to %llu\n", token_floor,
		       BFTM_TOKEN_FLOOR_MAX);
		return -ERANGE;
	}
	p->floor_known = true;
	return 0;
}

/* The value behind "word =" in the file, or NULL. */
static const char *value_of(const char *text, const char *word)
{
	const char *p = text;

	while ((p = strstr(p, word))) {
		bool begins = p == text || !isalnum(p[-1]);

		p += strlen(word);
		if (!begins)
			continue;
		p = skip_spaces(p);
		if (*p == '=')
			return skip_spaces(p + 1);
	}
	return NULL;
}

static int number_of(const char *text, const char *word, u64 *ret)
{
	const char *p = value_of(text, word);
	char digits[12] = {};
	size_t i;

	for (i = 0; p && i < sizeof(digits) - 1 && isdigit(p[i]); i++)
		digits[i] = p[i];
	return kstrtou64(digits, 10, ret);
}

static int parse_key_file(const char *path, const char *text,
			  struct bftm_server_param *p)
{
	const char *key = value_of(text, "key");
	u64 cluster, id;

	if (number_of(text, "cluster", &cluster) ||
	    number_of(text, "server", &id) || !key) {
		pr_err("bftmutex: %s: needs cluster =, server = and key =\n",
		       path);
		return -EINVAL;
	}
	if (check_range("cluster in the key file", cluster, 1, U32_MAX) ||
	    check_range("server in the key file", id, 1, BFTM_SERVER_ID_MAX))
		return -ERANGE;
	if (*key == '"')
		key++;
	if (strlen(key) < 2 * BFTM_KEY_LEN || isxdigit(key[2 * BFTM_KEY_LEN]) ||
	    hex2bin(p->key, key, BFTM_KEY_LEN)) {
		pr_err("bftmutex: %s: the key must be %d hexadecimal digits\n",
		       path, 2 * BFTM_KEY_LEN);
		return -EINVAL;
	}
	p->cluster = cluster;
	p->id = id;
	return 0;
}

/*
 * Not by kernel_read_file(): a security module may have no rule for a file that is neither firmware
 * nor a module nor a policy, and IPE warns about such a file.
 */
static ssize_t read_whole(struct file *file, char *text)
{
	loff_t size = i_size_read(file_inode(file)), pos = 0;
	ssize_t len;

	if (!S_ISREG(file_inode(file)->i_mode) || !size)
		return -EINVAL;
	if (size > KEY_FILE_MAX)
		return -EFBIG;
	len = kernel_read(file, text, size, &pos);
	return len < 0 || len == size ? len : -EIO;
}

static int read_key_file(const char *path, struct bftm_server_param *p)
{
	/* O_NONBLOCK: the open of a FIFO returns at once, and the FIFO is refused then. */
	struct file *file = filp_open(path, O_RDONLY | O_NONBLOCK, 0);
	char *text = NULL;
	ssize_t len;
	int err;

	if (IS_ERR(file)) {
		pr_err("bftmutex: server=%s: cannot open: error %ld\n", path,
		       PTR_ERR(file));
		return PTR_ERR(file);
	}
	if (file_inode(file)->i_mode & 0077) {
		pr_err("bftmutex: server=%s: others than its owner can use this key; chmod 600 %s\n",
		       path, path);
		err = -EPERM;
		goto out;
	}
	text = kzalloc(KEY_FILE_MAX + 1, GFP_KERNEL);
	err = -ENOMEM;
	if (!text)
		goto out;
	len = read_whole(file, text);
	if (len < 0) {
		/* Empty, longer than KEY_FILE_MAX, or not a regular file. */
		pr_err("bftmutex: server=%s: is no key file: error %zd\n", path,
		       len);
		err = len;
	} else {
		err = parse_key_file(path, text, p);
	}
	kfree_sensitive(text);
out:
	fput(file);
	return err;
}

int bftm_param_start(void)
{
	struct bftm_server_param p;
	int err;

	if (!*server)
		return 0;
	bftm_server_param_default(&p);
	err = check_range("port", port, 1, 65535) ?:
	      check_range("lease_max_ms", lease_max_ms, 1,
			  BFTM_LEASE_MAX_NS / BFTM_NS_PER_MS) ?:
	      check_range("rho_ppm", rho_ppm, BFTM_RHO_MIN_PPM, BFTM_RHO_MAX_PPM) ?:
	      check_range("max_locks", max_locks, BFTM_LOCKS_MIN, BFTM_LOCKS_MAX) ?:
	      check_range("max_clients", max_clients, BFTM_CLIENTS_MIN,
			  BFTM_CLIENTS_MAX) ?:
	      check_range("max_holders", max_holders, BFTM_HOLDERS_MIN,
			  BFTM_HOLDERS_MAX) ?:
	      check_range("max_waiters", max_waiters, BFTM_WAITERS_MIN,
			  BFTM_WAITERS_MAX) ?:
	      check_range("max_objects", max_objects, BFTM_OBJECTS_MIN,
			  BFTM_OBJECTS_MAX) ?:
	      check_range("max_state", max_state, BFTM_STATE_MIN, BFTM_STATE_MAX) ?:
	      check_range("object_memory", object_memory, BFTM_OBJECT_MEMORY_MIN,
			  BFTM_OBJECT_MEMORY_MAX) ?:
	      check_range("no_quarantine", no_quarantine, 0, BFTM_SPARED_MAX) ?:
	      read_floor(&p) ?:
	      read_key_file(server, &p);
	if (err)
		goto out;
	p.port = port;
	p.lease_max_ns = lease_max_ms * BFTM_NS_PER_MS;
	p.rho_ppm = rho_ppm;
	p.max_locks = max_locks;
	p.max_clients = max_clients;
	p.max_waiters = max_waiters;
	p.max_holders = max_holders;
	p.max_objects = max_objects;
	p.max_state = max_state;
	p.object_memory = object_memory;
	p.no_quarantine = no_quarantine;
	err = bftm_netns_start(bftm_net(&init_net), &p, NULL);
	if (err)
		pr_err("bftmutex: server %u on UDP port %u: cannot start: error %d\n",
		       p.id, p.port, err);
out:
	memzero_explicit(&p, sizeof(p));
	return err;
}

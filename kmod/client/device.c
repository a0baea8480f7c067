// SPDX-License-Identifier: GPL-2.0
/* The system calls of /dev/bftmutex: ACQUIRE enters here, and handle.c goes on with it. */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#include "client/device.h"
#include "client/handle.h"
#include "client/submit.h"
#include "netns.h"
#include "time/clock.h"

/* Size of each structure in its first version; a shorter one is refused. */
#define ACQUIRE_V1	152
#define STATUS_V1	48
#define SIGNAL_V1	24
#define RENEW_V1	32
#define SUBMIT_V1	168
#define WHY_V1		256
#define CONVERT_V1	40
#define VALUE_V1	80

static int device_open(struct inode *inode, struct file *file)
{
	struct net *net = get_net(current->nsproxy->net_ns);
	struct bftm_handle *h = bftm_handle_new(bftm_net(net));

	if (IS_ERR(h)) {
		put_net(net);
		return PTR_ERR(h);
	}
	file->private_data = h;
	return stream_open(inode, file);
}

static int device_release(struct inode *inode, struct file *file)
{
	struct bftm_handle *h = file->private_data;
	struct net *net = h->bn->net;

	bftm_handle_free(h);
	put_net(net);
	return 0;
}

/* Has poll_wait() no effect with this table? poll_does_not_wait() is not in 7.2 any more. */
static bool polls_only(const struct poll_table_struct *wait)
{
	return !wait || !wait->_qproc;
}

static __poll_t device_poll(struct file *file, struct poll_table_struct *wait)
{
	struct bftm_handle *h = file->private_data;

	if (!polls_only(wait))
		poll_wait(file, bftm_handle_place(h), wait);
	return bftm_handle_poll(h);
}

/* A structure that begins with its size, from user space of any version. */
static int get_struct(void *dst, size_t ksize, size_t first,
		      const void __user *src, u32 *ret_size)
{
	u32 size;

	if (get_user(size, (const u32 __user *)src))
		return -EFAULT;
	if (size < first)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	*ret_size = size;
	return copy_struct_from_user(dst, ksize, src, size);
}

static int put_struct(void __user *dst, const void *src, size_t ksize, u32 size)
{
	return copy_to_user(dst, src, min_t(size_t, size, ksize)) ? -EFAULT : 0;
}

/* Names of a lock or object and of its cluster. */
static int check_names(const char *name, u32 len, u32 max, const char *cluster)
{
	size_t cluster_len = strnlen(cluster, BFTM_CLUSTER_MAX);

	if (len > max)
		return -ENAMETOOLONG;
	if (!len || memchr_inv(name + len, 0, BFTM_NAME_MAX - len))
		return -EINVAL;
	if (memchr_inv(cluster + cluster_len, 0, BFTM_CLUSTER_MAX - cluster_len))
		return -EINVAL;
	return 0;
}

static int check_acquire(const struct bftm_acquire *arg)
{
	const u32 flags = BFTM_TRY | BFTM_RENEW | BFTM_FENCE | BFTM_VALUE | BFTM_NO_LEASE;
	int err;

	if (arg->flags & ~flags || arg->deadline_ns || arg->token || arg->attempts)
		return -EINVAL;
	/* A lock without an end is not renewed. */
	if (arg->flags & BFTM_NO_LEASE && (arg->lease_ns || arg->flags & BFTM_RENEW))
		return -EINVAL;
	/* NL is for what converts a lock that is held. */
	if (arg->way > BFTM_WAY_QUEUE || arg->mode >= BFTM_LOCK_NL)
		return -EINVAL;
	err = check_names(arg->name, arg->name_len, BFTM_NAME_MAX, arg->cluster);
	if (err)
		return err;
	if (arg->lease_ns && (arg->lease_ns < BFTM_LEASE_MIN_NS ||
			      arg->lease_ns > BFTM_LEASE_MAX_NS))
		return -ERANGE;
	return 0;
}

/*
 * If the lease is over before this task runs, the caller gets another attempt, as long as it waits.
 * With BFTM_TRY it gets the error of the first attempt.
 */
static int device_acquire(struct bftm_handle *h, struct bftm_acquire *arg, u64 *ret_id)
{
	u64 limit_ns = bftm_handle_limit(arg->flags, arg->timeout_ns);
	int err;

	for (;;) {
		err = bftm_handle_acquire(h, arg, limit_ns, true, ret_id) ?:
		      bftm_handle_wait(h, *ret_id, arg);
		if (err != -EKEYEXPIRED || arg->flags & BFTM_TRY)
			return err;
		if (signal_pending(current))
			return -EINTR;
		if (limit_ns && ktime_get_boottime_ns() >= limit_ns)
			return -ETIMEDOUT;
	}
}

static int ioctl_acquire(struct file *file, void __user *user)
{
	struct bftm_handle *h = file->private_data;
	struct bftm_acquire arg;
	u32 size;
	u64 id;
	int err;

	static_assert(sizeof(arg) == ACQUIRE_V1);
	static_assert(BFTM_NAME_MAX == BFTM_NAME_LEN_MAX);
	err = get_struct(&arg, sizeof(arg), ACQUIRE_V1, user, &size);
	if (err)
		return err;
	err = check_acquire(&arg);
	if (err)
		return err;
	if (file->f_flags & O_NONBLOCK)
		return bftm_handle_acquire(h, &arg, bftm_handle_limit(arg.flags, arg.timeout_ns),
					   false, &id) ?:
		       -EINPROGRESS;
	err = device_acquire(h, &arg, &id);
	if (err)
		return err;
	arg.deadline_ns = bftm_clock_of_user(arg.deadline_ns);
	err = put_struct(user, &arg, sizeof(arg), size);
	if (err)
		bftm_handle_release(h, id);	/* no program would know that it holds the lock */
	return err;
}

static int ioctl_renew(struct file *file, void __user *user)
{
	struct bftm_handle *h = file->private_data;
	struct bftm_renewal renewal;
	struct bftm_renew arg;
	u32 size;
	int err;

	static_assert(sizeof(arg) == RENEW_V1);
	err = get_struct(&arg, sizeof(arg), RENEW_V1, user, &size);
	if (err)
		return err;
	if (arg.flags || arg.deadline_ns)
		return -EINVAL;
	err = bftm_handle_renew(h, arg.lease_ns, &renewal);
	if (err)
		return err;
	if (file->f_flags & O_NONBLOCK)
		return -EINPROGRESS;
	err = bftm_handle_renew_wait(h, &renewal, arg.timeout_ns,
				     &arg.deadline_ns);
	if (err)
		return err;
	arg.deadline_ns = bftm_clock_of_user(arg.deadline_ns);
	return put_struct(user, &arg, sizeof(arg), size);
}

static int ioctl_convert(struct file *file, void __user *user)
{
	struct bftm_handle *h = file->private_data;
	bool waits = !(file->f_flags & O_NONBLOCK);
	struct bftm_convert arg;
	u32 size;
	u64 id;
	int err;

	static_assert(sizeof(arg) == CONVERT_V1);
	err = get_struct(&arg, sizeof(arg), CONVERT_V1, user, &size);
	if (err)
		return err;
	if (arg.flags & ~(BFTM_TRY | BFTM_FENCE | BFTM_VALUE) || arg.mode >= BFTM_LOCK_NL ||
	    arg.reserved || arg.deadline_ns || arg.token)
		return -EINVAL;
	err = bftm_handle_convert(h, &arg, waits, &id);
	if (!err && id)
		err = waits ? bftm_handle_convert_wait(h, id, &arg) : -EINPROGRESS;
	if (err)
		return err;
	arg.deadline_ns = bftm_clock_of_user(arg.deadline_ns);
	return put_struct(user, &arg, sizeof(arg), size);
}

static int check_value(const struct bftm_lock_value *arg)
{
	u32 len = arg->op == BFTM_VALUE_SET ? arg->len : 0;

	if (arg->op > BFTM_VALUE_SET || arg->valid || arg->len != len || len > BFTM_VALUE_MAX)
		return -EINVAL;
	return memchr_inv(arg->bytes + len, 0, BFTM_VALUE_MAX - len) ? -EINVAL : 0;
}

static int ioctl_value(struct bftm_handle *h, void __user *user)
{
	struct bftm_lock_value arg;
	u32 size;
	int err;

	static_assert(sizeof(arg) == VALUE_V1);
	static_assert(BFTM_VALUE_MAX == BFTM_VALUE_LEN_MAX);
	static_assert(BFTMUTEX_VALUE_MAX == BFTM_VALUE_LEN_MAX);
	err = get_struct(&arg, sizeof(arg), VALUE_V1, user, &size) ?: check_value(&arg) ?:
	      bftm_handle_value(h, &arg);
	if (err || arg.op == BFTM_VALUE_SET)
		return err;
	return put_struct(user, &arg, sizeof(arg), size);
}

static int check_submit(const struct bftm_submit *arg)
{
	if (arg->flags || arg->id)
		return -EINVAL;
	if (arg->op_len > BFTM_OP_MAX)
		return -EMSGSIZE;
	if (!arg->op_len)
		return -EINVAL;
	return check_names(arg->name, arg->name_len, BFTM_OBJECT_NAME_MAX, arg->cluster);
}

static int check_fetch(const struct bftm_submit *arg)
{
	if (arg->flags != BFTM_FETCH || arg->name_len || arg->op_len || arg->op ||
	    arg->timeout_ns || memchr_inv(arg->name, 0, BFTM_NAME_MAX) ||
	    memchr_inv(arg->cluster, 0, BFTM_CLUSTER_MAX))
		return -EINVAL;
	return 0;
}

static int ioctl_submit(struct bftm_handle *h, void __user *user)
{
	struct bftm_submit arg;
	bool fetch;
	u32 size;
	int err;

	static_assert(sizeof(arg) == SUBMIT_V1);
	static_assert(BFTM_SUBMIT_NAME_MAX == BFTM_OBJECT_NAME_MAX);
	static_assert(BFTM_SUBMIT_MAX == BFTM_OP_MAX);
	static_assert(BFTMUTEX_OP_MAX == BFTM_OP_MAX);
	err = get_struct(&arg, sizeof(arg), SUBMIT_V1, user, &size);
	if (err)
		return err;
	if (arg.response_len || arg.number || arg.status || arg.reserved)
		return -EINVAL;
	fetch = arg.flags & BFTM_FETCH;
	err = fetch ? check_fetch(&arg) : check_submit(&arg);
	if (err)
		return err;
	err = fetch ? bftm_submit_fetch(h, &arg) : bftm_submit(h, &arg);
	if (err && err != -EOVERFLOW)
		return err;
	return put_struct(user, &arg, sizeof(arg), size) ?: err;
}

static int ioctl_status(struct bftm_handle *h, void __user *user)
{
	struct bftm_status arg;
	u32 size;
	int err;

	static_assert(sizeof(arg) == STATUS_V1);
	err = get_struct(&arg, sizeof(arg), STATUS_V1, user, &size);
	if (err)
		return err;
	memset(&arg, 0, sizeof(arg));
	arg.size = size;
	bftm_handle_status(h, &arg);
	arg.deadline_ns = bftm_clock_of_user(arg.deadline_ns);
	return put_struct(user, &arg, sizeof(arg), size);
}

static int ioctl_why(struct bftm_handle *h, void __user *user)
{
	struct bftm_why arg;
	u32 size;
	int err;

	static_assert(sizeof(arg) == WHY_V1);
	static_assert(BFTMUTEX_WHY_MAX + 1 == BFTM_WHY_MAX);
	err = get_struct(&arg, sizeof(arg), WHY_V1, user, &size);
	if (err)
		return err;
	memset(&arg, 0, sizeof(arg));
	arg.size = size;
	bftm_handle_why(h, arg.text);
	return put_struct(user, &arg, sizeof(arg), size);
}

static int ioctl_set_signal(struct bftm_handle *h, void __user *user)
{
	struct bftm_signal arg;
	u32 size;
	int err;

	static_assert(sizeof(arg) == SIGNAL_V1);
	err = get_struct(&arg, sizeof(arg), SIGNAL_V1, user, &size);
	if (err)
		return err;
	if (arg.reserved || !valid_signal(arg.signo))
		return -EINVAL;
	if (arg.margin_ns > BFTM_LEASE_MAX_NS)
		return -ERANGE;
	bftm_handle_set_signal(h, arg.signo, arg.margin_ns);
	return 0;
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct bftm_handle *h = file->private_data;
	void __user *user = (void __user *)arg;

	/* Compare numbers only: the size in the command grows with the structures. */
	if (_IOC_TYPE(cmd) != BFTM_IOC_MAGIC)
		return -ENOTTY;
	switch (_IOC_NR(cmd)) {
	case _IOC_NR(BFTM_IOC_ACQUIRE):
		return ioctl_acquire(file, user);
	case _IOC_NR(BFTM_IOC_RENEW):
		return ioctl_renew(file, user);
	case _IOC_NR(BFTM_IOC_RELEASE):
		return cmd == BFTM_IOC_RELEASE ? bftm_handle_release(h, 0) : -ENOTTY;
	case _IOC_NR(BFTM_IOC_STATUS):
		return ioctl_status(h, user);
	case _IOC_NR(BFTM_IOC_SUBMIT):
		return ioctl_submit(h, user);
	case _IOC_NR(BFTM_IOC_SET_SIGNAL):
		return ioctl_set_signal(h, user);
	case _IOC_NR(BFTM_IOC_CONVERT):
		return ioctl_convert(file, user);
	case _IOC_NR(BFTM_IOC_VALUE):
		return ioctl_value(h, user);
	case _IOC_NR(BFTM_IOC_WHY):
		return ioctl_why(h, user);
	}
	return -ENOTTY;
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.poll = device_poll,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "bftmutex",
	.fops = &device_fops,
	.mode = 0660,
};

int bftm_device_init(void)
{
	return misc_register(&device);
}

void bftm_device_exit(void)
{
	misc_deregister(&device);
}

// SPDX-License-Identifier: GPL-2.0
/* The loan to the kernel, and what happens when it cannot be taken back. */
#include <errno.h>

#include <netlink/msg.h>

#include "cluster/cluster.h"
#include "cluster/lend.h"
#include "loop/log.h"
#include "kernel/nl.h"
#include "kernel/upcall.h"
#include "unit.h"

#define N 4

struct bftm_clusters bftm_clusters = TAILQ_HEAD_INITIALIZER(bftm_clusters);

/* A kernel that answers each message as told, and has what it was lent. */
static int answer[4];		/* to this one and the next, negative errno; 1: no memory for it */
static int blamed;		/* the attribute that it names after a failure */
static int failed;		/* what it has answered last */
static bool remarks;		/* it has something to say when it agrees, too */
static char logged[256];
static u32 messages, lent_peers, lent_epochs, hellos, again;
static struct bftm_cluster cl;
static struct bftm_identity identity;
static struct bftm_counters counters;
static const struct bftm_pair pair;
static int lent_ask;	/* enum bftmutex_ask; -1: it was not lent */
static char lent_device[16];	/* empty: it was not lent */

/* The rest of the daemon. */

void bftm_log(int level, const char *format, ...)
{
	va_list args;

	(void)level;
	va_start(args, format);
	vsnprintf(logged, sizeof(logged), format, args);
	va_end(args);
}

const char *bftm_ask_name(u8 ask)
{
	return ask == BFTMUTEX_ASK_AUTO ? "auto" : "all";
}

void bftm_hello(struct bftm_cluster *cluster, u32 to)
{
	assert_ptr_equal(cluster, &cl);
	assert_int_equal(to, (1u << N) - 1);
	/* Servers take no number below that of HELLO any more. */
	assert_true(messages > 0);
	hellos++;
}

bool bftm_upcall_is_open(void) { return true; }
void bftm_identity_lends(struct bftm_identity *id) { id->lends = true; }
bool bftm_due(u64 *last_ns, u64 every_ns) { return !*last_ns && (*last_ns = every_ns); }

struct bftm_cluster *bftm_cluster_find(const char *name)
{
	(void)name;
	return &cl;
}

struct nl_msg *bftm_upcall_msg(u8 cmd, size_t room)
{
	struct nl_msg *msg;

	assert_int_equal(cmd, BFTMUTEX_CMD_HELPER_LEND);
	if (answer[messages] == 1) {
		messages++;
		return NULL;
	}
	msg = nlmsg_alloc_size(room);
	assert_non_null(msg);
	assert_non_null(genlmsg_put(msg, 0, 0, 0, 0, 0, cmd, 0));
	return msg;
}

int bftm_upcall_call(struct nl_msg *msg)
{
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	struct nlattr *attr, *named = NULL;
	u32 peers = 0, names = 0, epochs = 0;
	int left, err, ask = -1;

	nla_for_each_attr(attr, genlmsg_attrdata(genlmsg_hdr(hdr), 0),
			  genlmsg_attrlen(genlmsg_hdr(hdr), 0), left) {
		if (nla_type(attr) == BFTMUTEX_A_SESSION_PEER) {
			peers++;
			epochs += !!nla_find(nla_data(attr), nla_len(attr), BFTMUTEX_A_PEER_EPOCH);
		}
		names += nla_type(attr) == BFTMUTEX_A_SESSION_CLUSTER;
		if (nla_type(attr) == BFTMUTEX_A_SESSION_ASK)
			ask = (int)nla_get_u32(attr);
		if (nla_type(attr) == BFTMUTEX_A_SESSION_INGRESS)
			named = attr;
	}
	assert_int_equal(names, 1);
	*lent_device = '\0';
	if (named)
		snprintf(lent_device, sizeof(lent_device), "%s", nla_get_string(named));
	nlmsg_free(msg);
	assert_true(messages < ARRAY_SIZE(answer));
	err = answer[messages++];
	failed = err;
	if (!err)
		lent_peers = peers;
	lent_epochs = epochs;
	lent_ask = ask;
	return err;
}

int bftm_upcall_blames(const char **ret_words)
{
	*ret_words = failed || remarks ? "so says the kernel" : "";
	return blamed;
}

void bftm_upcall_again(void)
{
	again++;
}

static int begin(void **state)
{
	static struct bftm_conf_server server[N];
	u32 u;

	(void)state;
	memset(&cl, 0, sizeof(cl));
	memset(answer, 0, sizeof(answer));
	blamed = 0;
	remarks = false;
	*logged = '\0';
	messages = again = lent_peers = lent_epochs = hellos = 0;
	TAILQ_INIT(&bftm_clusters);
	TAILQ_INSERT_TAIL(&bftm_clusters, &cl, list);
	identity = (struct bftm_identity){ .counters = &counters, .lends = true };
	cl.identity = &identity;
	cl.conf.n = cl.cfg.n = N;
	cl.conf.b = cl.cfg.b = 1;
	cl.conf.fast_path = true;
	snprintf(cl.conf.name, sizeof(cl.conf.name), "test");
	for (u = 0; u < N; u++) {
		server[u].id = u + 1;
		cl.peer[u].conf = &server[u];
		cl.peer[u].pair = &pair;
		cl.peer[u].known.epoch = u + 1;
	}
	return 0;
}

static void lend_it(void)
{
	bftm_lend(&cl);
	assert_true(cl.lent);
	assert_int_equal(lent_peers, N);
	messages = 0;
}

static void lent_and_taken_back(void **state)
{
	(void)state;
	lend_it();
	bftm_lend_end(&cl);
	assert_false(cl.lent);
	assert_int_equal(messages, 1);
	assert_int_equal(lent_peers, 0);
	bftm_lend_end(&cl);
	assert_int_equal(messages, 1);
	assert_int_equal(again, 0);
}

/* The end of the registration is the end of all that was lent. */
static void what_cannot_be_taken_back(void **state)
{
	static const int why[] = { 1, -ENOBUFS, -ENOMEM, -ETIMEDOUT };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(why); i++) {
		begin(state);
		lend_it();
		answer[0] = why[i];
		bftm_lend_end(&cl);
		assert_int_equal(messages, 1);
		assert_false(cl.lent);
		assert_int_equal(again, 1);
	}
}

/* The earlier loan is not true any more. */
static void what_cannot_be_lent_anew(void **state)
{
	(void)state;
	lend_it();
	answer[0] = -ENOMEM;
	bftm_lend(&cl);
	assert_int_equal(messages, 2);
	assert_false(cl.lent);
	assert_int_equal(lent_peers, 0);
	assert_int_equal(again, 0);

	begin(state);
	lend_it();
	answer[0] = answer[1] = -ENOMEM;
	bftm_lend(&cl);
	assert_int_equal(messages, 2);
	assert_int_equal(again, 1);
}

/* The kernel hears of epochs by itself, and needs no server to have answered. */
static void before_servers_are_heard(void **state)
{
	u32 u;

	(void)state;
	lend_it();
	assert_int_equal(lent_epochs, N);
	for (u = 0; u < N; u++)
		cl.peer[u].known.epoch = 0;
	bftm_lend_all();
	assert_int_equal(messages, 1);
	assert_int_equal(hellos, 1);
	assert_int_equal(lent_peers, N);
	assert_int_equal(lent_epochs, 0);
}

/* An earlier daemon may have lent it; that is taken back, and servers are asked all the same. */
static void what_is_not_to_be_lent(void **state)
{
	(void)state;
	cl.conf.fast_path = false;
	bftm_lend_all();
	assert_int_equal(messages, 1);
	assert_int_equal(lent_peers, 0);
	assert_int_equal(hellos, 1);
	assert_false(cl.lent);
	cl.draining = true;
	bftm_lend_all();
	assert_int_equal(messages, 2);
	assert_int_equal(lent_peers, 0);
	assert_int_equal(hellos, 1);
}

/* A module that is older does not know the word, and needs none to ask all. */
static void whom_to_ask(void **state)
{
	(void)state;
	lend_it();
	assert_int_equal(lent_ask, -1);
	cl.conf.ask = BFTMUTEX_ASK_AUTO;
	lend_it();
	assert_int_equal(lent_ask, BFTMUTEX_ASK_AUTO);
	assert_string_equal(logged, "");
	/* One that does not know the word is asked without it. */
	answer[0] = -EINVAL;
	blamed = BFTMUTEX_A_SESSION_ASK;
	lend_it();
	assert_int_equal(lent_ask, -1);
	assert_non_null(strstr(logged, "does not know \"ask = auto\""));
}

/* A device that cannot be used, or a module that knows no devices, leaves the rest as it is. */
static void device(void **state)
{
	(void)state;
	lend_it();
	assert_string_equal(lent_device, "");
	assert_false(cl.ingress);
	snprintf(cl.conf.ingress, sizeof(cl.conf.ingress), "eth7");
	lend_it();
	assert_string_equal(lent_device, "eth7");
	assert_true(cl.ingress);
	assert_string_equal(logged, "");
	remarks = true;
	lend_it();
	assert_true(cl.ingress);
	assert_string_equal(logged, "cluster test: key 'ingress' = 'eth7': so says the kernel; "
			    "answers of servers come through IP until it has one");
	remarks = false;

	answer[0] = -ENODEV;
	blamed = BFTMUTEX_A_SESSION_INGRESS;
	lend_it();
	assert_string_equal(lent_device, "");
	assert_false(cl.ingress);
	assert_string_equal(logged, "cluster test: key 'ingress' = 'eth7': so says the kernel; "
			    "answers of servers come through IP");
	answer[0] = -EINVAL;
	lend_it();
	assert_non_null(strstr(logged, "'eth7': the loaded module does not know it;"));

	/* With it again when that works; and after the end it is not in use. */
	answer[0] = 0;
	lend_it();
	assert_true(cl.ingress);
	bftm_lend_end(&cl);
	assert_false(cl.ingress);
}

/* A module that knows the word has another reason, which the log names. */
static void another_reason(void **state)
{
	static const struct {
		int error, attr;
	} row[] = {
		{ -EINVAL, BFTMUTEX_A_SESSION_COUNTERS },
		{ -EINVAL, BFTMUTEX_A_SESSION_PEER },
		{ -EINVAL, 0 },
		{ -ERANGE, BFTMUTEX_A_SESSION_ASK },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		begin(state);
		cl.conf.ask = BFTMUTEX_ASK_AUTO;
		answer[0] = row[i].error;
		blamed = row[i].attr;
		bftm_lend(&cl);
		assert_false(cl.lent);
		/* It is taken back, and not lent without the word. */
		assert_int_equal(messages, 2);
		assert_int_equal(lent_peers, 0);
		assert_non_null(strstr(logged, ": so says the kernel"));
		assert_null(strstr(logged, "does not know"));
	}
	/* Without a request the kernel has said nothing. */
	begin(state);
	answer[0] = 1;
	bftm_lend(&cl);
	assert_null(strstr(logged, "so says the kernel"));
	assert_non_null(strstr(logged, "takes no locks by itself"));
}

/* A loan for which the kernel had no memory is tried again a second later, and then each minute. */
static void lent_later(void **state)
{
	(void)state;
	answer[0] = -ENOSPC;
	bftm_lend(&cl);
	messages = answer[0] = 0;
	bftm_lend_again(&cl);
	assert_false(cl.lent);
	answer[0] = -ENOMEM;
	bftm_lend(&cl);
	messages = answer[0] = 0;
	bftm_lend_again(&cl);
	assert_true(cl.lent);
	cl.lent = false;
	bftm_lend_again(&cl);
	assert_false(cl.lent);
	cl.lend_ns = 0;
	cl.draining = true;
	bftm_lend_again(&cl);
	assert_false(cl.lent);
}

/*
 * By the state file this is the first incarnation of the boot: SYNC would end locks that the kernel
 * holds by another one. So the loan is taken back first. Later loans change no numbers.
 */
static void the_first_of_a_boot(void **state)
{
	(void)state;
	identity.lends = false;
	/* That cannot be taken back, so nothing is lent, and the next registration tries again. */
	answer[0] = -ENOBUFS;
	bftm_lend_all();
	assert_int_equal(messages, 1);
	assert_int_equal(again, 1);
	assert_int_equal(hellos, 0);
	assert_false(identity.lends);
	messages = answer[0] = 0;
	bftm_lend_all();
	assert_int_equal(messages, 2);
	assert_true(identity.lends);
	assert_int_equal(lent_peers, N);
	bftm_lend_all();
	assert_int_equal(messages, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(lent_and_taken_back, begin),
		cmocka_unit_test_setup(what_cannot_be_taken_back, begin),
		cmocka_unit_test_setup(what_cannot_be_lent_anew, begin),
		cmocka_unit_test_setup(before_servers_are_heard, begin),
		cmocka_unit_test_setup(what_is_not_to_be_lent, begin),
		cmocka_unit_test_setup(whom_to_ask, begin),
		cmocka_unit_test_setup(device, begin),
		cmocka_unit_test_setup(another_reason, begin),
		cmocka_unit_test_setup(lent_later, begin),
		cmocka_unit_test_setup(the_first_of_a_boot, begin),
	};

	return cmocka_run_group_tests_name("lend", tests, NULL, NULL);
}

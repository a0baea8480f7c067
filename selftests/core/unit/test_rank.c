// SPDX-License-Identifier: GPL-2.0
/* Signed ranks: key files, and what a signature holds good for. */
#include "unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/cluster.h"
#include "order/ordering.h"
#include "crypto/rank_keys.h"

#define CLUSTER 5
static const u8 name[] = "jobs";
static const u8 some_key[BFTM_RANK_KEY_LEN];

static char dir[] = "/tmp/test_rank.XXXXXX";
static char credentials[2][64];

/* Two clients with keys, in one folder. */
static int set_up(void **state)
{
	struct bftm_rank_client list[2] = { { .client = 9 }, { .client = 3 } };
	u8 key[BFTM_RANK_KEY_LEN];
	char path[PATH_MAX];
	int i;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	for (i = 0; i < 2; i++) {
		snprintf(credentials[i], sizeof(credentials[i]), "%s/c%d.client", dir, i);
		bftm_rank_private_path(credentials[i], path);
		if (bftm_rank_create(key, list[i].key) < 0 ||
		    bftm_rank_private_save(path, CLUSTER, list[i].client, key) < 0)
			return -1;
	}
	bftm_rank_public_path(credentials[0], path);
	return bftm_rank_public_save(path, CLUSTER, list, 2);
}

static int tear_down(void **state)
{
	char path[PATH_MAX];
	int i;

	(void)state;
	for (i = 0; i < 2; i++)
		unlink(bftm_rank_private_path(credentials[i], path));
	unlink(bftm_rank_public_path(credentials[0], path));
	return rmdir(dir);
}

static struct bftm_rank_keys *load(int i, u32 client)
{
	struct bftm_rank_keys *keys = NULL;

	assert_int_equal(bftm_rank_keys_load(credentials[i], CLUSTER, client, &keys), 0);
	return keys;
}

static void test_paths(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_string_equal(bftm_rank_private_path("/k/client-1.client", path),
			    "/k/client-1.rank");
	assert_string_equal(bftm_rank_private_path("/k/other", path), "/k/other.rank");
	assert_string_equal(bftm_rank_public_path("/k/client-1.client", path), "/k/ranks");
}

static void test_signature(void **state)
{
	struct bftm_rank rank = { .count = 7, .client = 9, .incarnation = 2 }, other;
	struct bftm_rank_keys *nine = load(0, 9), *three = load(1, 3);
	u8 signature[BFTM_SIGNATURE_LEN];

	(void)state;
	assert_int_equal(bftm_rank_keys_sign(nine, name, 4, &rank, signature), 0);
	assert_true(bftm_rank_keys_verify(three, name, 4, &rank, signature));

	/* Of this rank, by this client, for this object, and nothing else. */
	other = rank;
	other.count++;
	assert_false(bftm_rank_keys_verify(three, name, 4, &other, signature));
	other = rank;
	other.incarnation++;
	assert_false(bftm_rank_keys_verify(three, name, 4, &other, signature));
	other = rank;
	other.client = 3;
	assert_false(bftm_rank_keys_verify(three, name, 4, &other, signature));
	assert_false(bftm_rank_keys_verify(three, name, 3, &rank, signature));
	signature[10] ^= 1;
	assert_false(bftm_rank_keys_verify(three, name, 4, &rank, signature));

	/* Nobody signs for another. */
	assert_int_equal(bftm_rank_keys_sign(three, name, 4, &rank, signature), 0);
	assert_false(bftm_rank_keys_verify(nine, name, 4, &rank, signature));
	assert_true(bftm_rank_keys_know(nine, 3));
	assert_false(bftm_rank_keys_know(nine, 4));
	bftm_rank_keys_free(nine);
	bftm_rank_keys_free(three);
}

/* The rank that server 0 shows of @rank to an iteration of client 3. Return: it counts. */
static bool shows(struct bftm_order_work *w, const struct bftm_rank *ours,
		  const struct bftm_rank *rank, const u8 *signature)
{
	struct bftm_order_msg msg = {
		.type = BFTM_ORDER_EXCEPTION, .rank = *ours, .max = *rank,
		.signature = signature,
	};

	return bftm_rank_genuine(w, 0, &msg);
}

static void test_shown(void **state)
{
	const struct bftm_rank rank = { .count = 7, .client = 9, .incarnation = 2 };
	const struct bftm_rank stranger = { .count = 7, .client = 4, .incarnation = 2 };
	struct bftm_rank ours = { .count = 5, .client = 3, .incarnation = 1 }, other = ours;
	struct bftm_ordering o = { .len = 4 };
	struct bftm_cluster *cl = calloc(1, sizeof(*cl));
	struct bftm_order_work *w = calloc(1, sizeof(*w));
	struct bftm_rank_keys *nine = load(0, 9);
	u8 signature[BFTM_SIGNATURE_LEN];
	u64 *lies;

	(void)state;
	assert_true(cl && w);
	lies = &cl->peer[0].record.false_signatures;
	memcpy(o.name, name, 4);
	w->ordering = &o;
	w->cluster = cl;
	w->order.rank = ours;
	assert_int_equal(bftm_rank_keys_sign(nine, name, 4, &rank, signature), 0);
	/* Where ranks are not signed nothing is shown. */
	assert_false(shows(w, &ours, &rank, signature));
	cl->rank_keys = load(1, 3);
	assert_true(shows(w, &ours, &rank, signature));
	/* It was asked in an iteration that is over. */
	w->order.rank.count = 6;
	assert_true(shows(w, &ours, &rank, signature));
	/* It was not, or not by us, or by an earlier daemon. */
	other.client = 9;
	assert_false(shows(w, &other, &rank, signature));
	other = ours;
	other.incarnation++;
	assert_false(shows(w, &other, &rank, signature));
	/* It knows of a rank, but of no signature, and that is no lie. */
	assert_false(shows(w, &ours, &rank, NULL));
	/* Nor that of a client who came later than our keys. */
	assert_false(shows(w, &ours, &stranger, signature));
	assert_int_equal(*lies, 0);
	/* Another rank, or another object. */
	other = rank;
	other.count++;
	assert_false(shows(w, &ours, &other, signature));
	assert_int_equal(*lies, 1);
	o.name[0]++;
	assert_false(shows(w, &ours, &rank, signature));
	assert_int_equal(*lies, 2);
	bftm_rank_keys_free(cl->rank_keys);
	bftm_rank_keys_free(nine);
	free(cl);
	free(w);
}

static void test_files(void **state)
{
	struct bftm_rank_keys *keys = NULL;
	char path[PATH_MAX];

	(void)state;
	/* Another client's, another cluster's, one that others can read, none. */
	assert_int_equal(bftm_rank_keys_load(credentials[0], CLUSTER, 3, &keys), -EINVAL);
	assert_int_equal(bftm_rank_keys_load(credentials[0], CLUSTER + 1, 9, &keys), -EINVAL);
	bftm_rank_private_path(credentials[0], path);
	assert_int_equal(bftm_rank_private_save(path, CLUSTER, 9, some_key), -EEXIST);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(bftm_rank_keys_load(credentials[0], CLUSTER, 9, &keys), -EPERM);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(bftm_rank_keys_load("/nowhere/x.client", CLUSTER, 9, &keys), -ENOENT);
	assert_null(keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_signature),
		cmocka_unit_test(test_shown),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

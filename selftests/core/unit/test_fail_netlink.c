// SPDX-License-Identifier: GPL-2.0
/* The daemon's side of the kernel's requests: what fails, and what the kernel says then. */
#include <errno.h>
#include <string.h>

#include "uapi/linux/bftmutex_netlink.h"
#include "kernel/nl.h"
#include "kernel/upcall.h"
#include "daemon.h"
#include "fail.h"
#include "kernel.h"

#define NO_REQUESTS(why) \
	"no requests from the kernel: " why ""

static struct bftm_timer *look;
static u64 look_at;
static u32 forgotten, submits;
static struct bftm_ask asked;

/* The rest of the daemon. */

static int unit_restored(void)
{
	return 0;
}

static void unit_opened(void)
{
}

static void unit_request(const struct bftm_pulled *pulled)
{
	asked = pulled->ask;
	if (pulled->kind != BFTMUTEX_REQUEST_KIND_SUBMIT)
		return;
	assert_true(pulled->submit.op_len <= BFTM_OP_MAX);
	submits++;
}

static void unit_closed(void)
{
	forgotten++;
}

const struct bftm_upcall_ops bftm_upcall_ops = {
	.restored = unit_restored, .opened = unit_opened,
	.request = unit_request, .closed = unit_closed,
};

void bftm_timer_arm(struct bftm_timer *timer, u64 at_ns)
{
	look = timer;
	look_at = at_ns;
}

bool bftm_due(u64 *last_ns, u64 every_ns)
{
	bool never = !*last_ns;

	assert_int_equal(every_ns, BFTM_SAID_AGAIN_NS);
	*last_ns = bftm_now();
	return never;
}

/* Registers, and is asked for nothing. */
static void serve(void)
{
	SAYS(ONE, 4, 0, 0);
	assert_int_equal(bftm_upcall_open(), 0);
	assert_non_null(watched);
	*said = '\0';
}

static void every_call_of_a_start_fails(void **state)
{
	struct fail failed;
	char words[256];
	u32 nth;
	int r;

	(void)state;
	for (nth = 1;; nth++) {
		SAYS(ONE, 4, 0, 0);
		look_at = 0;
		forgotten = 0;
		*said = '\0';
		fail_begin(nth, NULL);
		r = bftm_upcall_open();
		failed = fail_end();
		if (!failed.call)
			break;
		/* It is tried again in a second, whatever became of it. */
		assert_true(look_at == 1 + BFTM_NS_PER_SEC);
		assert_null(watched);
		if (r < 0) {
			assert_int_equal(r, -failed.error);
			assert_int_equal(forgotten, 0);
		} else {	/* it was registered, and could not ask for requests */
			snprintf(words, sizeof(words), NO_REQUESTS("%s"), strerror(failed.error));
			assert_string_equal(said, words);
			assert_int_equal(forgotten, 1);
		}
	}
	assert_int_equal(r, 0);
	assert_int_equal(nth - 1, 15);
	bftm_upcall_close();
	assert_null(watched);

	/* The next look brings it back. */
	SAYS(ONE, 4, 0, 0);
	look->fire(look);
	assert_string_equal(said, "serving the kernel again");
	bftm_upcall_close();
	SAYS(ONE, 4, EBUSY, 0);
	assert_int_equal(bftm_upcall_open(), -EBUSY);
	assert_null(watched);
}

static void the_module_is_of_another_version(void **state)
{
	(void)state;
	fuzz_family_version = BFTMUTEX_FAMILY_VERSION + 1;
	*said = '\0';
	look_at = 0;
	assert_int_equal(bftm_upcall_open(), -EPROTO);
	assert_non_null(strstr(said, "install the programs that came with the module"));
	assert_null(watched);

	/* It may be loaded anew; meanwhile not each look is told. */
	assert_true(look_at == 1 + BFTM_NS_PER_SEC);
	*said = '\0';
	look->fire(look);
	assert_string_equal(said, "");
	fuzz_family_version = BFTMUTEX_FAMILY_VERSION;
	SAYS(ONE, 4, 0, 0);
	look->fire(look);
	assert_string_equal(said, "serving the kernel again");
	bftm_upcall_close();
}

static const u8 response[300];
static const struct bftm_won won = { .id = 7, .cluster = "c", .lease_ns = 1, .token = 2 };
static const struct bftm_submit_report done = { .id = 7, .response = response, .len = 300 };
static const struct bftm_submit_report done_empty = { .id = 7 };

static int report_won(void)
{
	return bftm_upcall_won(&won);
}

static int report_renewed(void)
{
	return bftm_upcall_renewed(7, 1, 1);
}

static int report_failed(void)
{
	bftm_upcall_failed(7, ETIMEDOUT, 1, "1 of 4 servers can grant");
	return 1;
}

static int report_submitted(void)
{
	bftm_upcall_submitted(&done);
	return 1;
}

static int report_submitted_empty(void)
{
	bftm_upcall_submitted(&done_empty);
	return 1;
}

static int report_submit_failed(void)
{
	bftm_upcall_submit_failed(7, ETIMEDOUT);
	return 1;
}

/* Those that return nothing (1 here) say what is wrong. */
static int (*const reports[])(void) = {
	report_won, report_renewed, report_failed, report_submitted, report_submitted_empty,
	report_submit_failed,
};

static void check_report(size_t i, int r, int error)
{
	char words[256] = "";

	assert_int_equal(r, r == 1 ? 1 : -error);
	if (r == 1 && error && error != ESTALE)
		snprintf(words, sizeof(words), "request 7: the kernel takes no report: %s", strerror(error));
	if (strcmp(said, words))
		fail_msg("report %zu says '%s', not '%s'", i, said, words);
}

static void no_report_without_a_kernel(void **state)
{
	size_t i;

	(void)state;
	assert_null(watched);
	for (i = 0; i < ARRAY_SIZE(reports); i++) {
		*said = '\0';
		check_report(i, reports[i](), ENOTCONN);
	}
	assert_null(bftm_upcall_msg(BFTMUTEX_CMD_HELPER_DONE, 64));
	bftm_upcall_suspect("c", 1, "words", 1);
	bftm_upcall_close();
}

static void every_call_of_a_report_fails(void **state)
{
	struct fail failed;
	size_t i;
	u32 nth;
	int r;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(reports); i++) {
		for (nth = 1;; nth++) {
			serve();
			SAYS(ONE, 4, 0, 0);
			look_at = 99;
			fail_begin(nth, NULL);
			r = reports[i]();
			failed = fail_end();
			/* A grant that the kernel cannot have heard of is to be released. */
			if (r == -ECANCELED)
				assert_true(reports[i] == report_won && nth <= 2);
			else
				check_report(i, r, failed.error);
			if (!failed.call)
				break;
			/* One that may have arrived, or was not even made: it is to ask again. */
			assert_int_equal(look_at, 1);
			forgotten = 0;
			SAYS(ONE, 4, 0, 0);
			look->fire(look);
			assert_int_equal(forgotten, 1);
			assert_non_null(watched);
			bftm_upcall_close();
		}
		assert_int_equal(nth - 1, 4);
		assert_int_equal(look_at, 99);
		bftm_upcall_close();
	}
}

static void the_kernel_answers_a_report(void **state)
{
	static const struct {
		u8 error;
		bool again;
	} answers[] = { { ESTALE, false }, { EALREADY, false }, { EINVAL, true } };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(answers); i++) {
		serve();
		look_at = 99;
		SAYS(ONE, 4, answers[i].error, 0);
		assert_int_equal(report_won(), -(int)answers[i].error);
		assert_int_equal(look_at, answers[i].again ? 1 : 99);
		/* And whatever becomes of the next one. */
		look_at = 99;
		SAYS(ONE, 4, 0, 0);
		assert_int_equal(report_won(), 0);
		assert_int_equal(look_at, answers[i].again ? 1 : 99);
		look->fire(look);
		bftm_upcall_close();
	}
}

/* It is not lost that there is something to pull. */
static void a_hint_between_answers(void **state)
{
	(void)state;
	serve();
	look_at = 99;
	SAYS(ONE, 4, 0, 0);
	assert_int_equal(bftm_upcall_call(bftm_upcall_msg(BFTMUTEX_CMD_HELPER_DONE, 64)), 0);
	assert_int_equal(look_at, 99);
	SAYS(TWO, 0xc0, 0, 0, 4, 0, 0);
	assert_int_equal(report_won(), 0);
	assert_int_equal(look_at, 1);
	look_at = 99;
	SAYS(TWO, 0xc0, 0, 0, 4, 0, 0);
	bftm_upcall_suspect("c", 1, "words", 1);
	assert_int_equal(look_at, 1);
	bftm_upcall_close();
}

static void requests_that_are_pulled(void **state)
{
	/* An attribute: its type, its length, its bytes. */
	static const u8 operation[] = {
		TWO, 0, 0, 3, BFTMUTEX_A_HANDLE_NAME, 1, 'x',
		BFTMUTEX_A_HANDLE_KIND, 4, HOST32(BFTMUTEX_REQUEST_KIND_SUBMIT),
		/* Two in one, of 16,383 bytes and of five. */
		BFTMUTEX_A_HANDLE_OP | 0x80, 2, 1, 251, 0x3f, 0xff,
	};
	static const u8 rest[] = { 1, 5, 0, 0, 0, 0, 0, 4, 0, 0 };
	static u8 large[sizeof(operation) + 16383 + sizeof(rest)];

	(void)state;
	/* Nothing but a name, which is all that must be there. */
	serve();
	asked.id = 5;
	asked.name_len = 0;
	SAYS(ONE, 0xc0, 0, 0, TWO, 0, 0, 2, BFTMUTEX_A_HANDLE_NAME, 1, 'x',
	     BFTMUTEX_A_HANDLE_KIND, 4, HOST32(BFTMUTEX_REQUEST_KIND_ACQUIRE), 4, 0, 0);
	watched->ready(watched);
	assert_int_equal(asked.id, 0);
	assert_int_equal(asked.name_len, 1);
	assert_string_equal(asked.cluster, "");
	assert_non_null(watched);

	/* An operation too long to be one ends it until the next look. */
	memcpy(large, operation, sizeof(operation));
	memcpy(large + sizeof(large) - sizeof(rest), rest, sizeof(rest));
	kernel_says(large, sizeof(large));
	submits = 0;
	look->fire(look);
	assert_int_equal(submits, 0);
	assert_string_equal(said, NO_REQUESTS("Bad message"));
	assert_null(watched);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_report_without_a_kernel),
		cmocka_unit_test(every_call_of_a_start_fails),
		cmocka_unit_test(the_module_is_of_another_version),
		cmocka_unit_test(every_call_of_a_report_fails),
		cmocka_unit_test(the_kernel_answers_a_report),
		cmocka_unit_test(a_hint_between_answers),
		cmocka_unit_test(requests_that_are_pulled),
	};

	return cmocka_run_group_tests_name("fail_netlink", tests, NULL, NULL);
}

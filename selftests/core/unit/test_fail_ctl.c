// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl and the kernel: what cannot be opened, and the kernel's words on a refusal. */
#include <errno.h>
#include <string.h>

#include <netlink/errno.h>

#include "ctl/ctl.h"
#include "fail.h"
#include "files.h"
#include "kernel.h"

/* An error and what is said about it: capped, and behind the request. */
#define CAPPED	(2 << 3 | 4)
#define BEHIND	(3 << 3 | 4)

static void numbers_of_libnl(void **state)
{
	static const struct {
		int nle, error;
	} cases[] = {
		{ NLE_SUCCESS, 0 }, { NLE_OBJ_NOTFOUND, ENOENT }, { NLE_NOMEM, ENOBUFS },
		{ NLE_PERM, EPERM }, { NLE_NOACCESS, EPERM }, { NLE_AGAIN, EAGAIN },
		{ NLE_INTR, EINTR }, { NLE_AF_NOSUPPORT, EPROTONOSUPPORT },
		{ NLE_PROTO_MISMATCH, EPROTONOSUPPORT }, { NLE_BAD_SOCK, EIO },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(bftm_nl_errno(-cases[i].nle), -cases[i].error);
}

static void the_module_cannot_be_reached(void **state)
{
	static const struct {
		const char *call, *words;
		int code;
	} cases[] = {
		{ "nl_socket_alloc", "netlink: Cannot allocate memory\n", EX_OSERR },
		{ "genl_connect", "the kernel module is not loaded; load it by 'modprobe bftmutex' or "
		  "'insmod bftmutex.ko'\n", EX_UNAVAILABLE },
		{ "nl_socket_set_buffer_size", "netlink: Operation not permitted\n", EX_OSERR },
		{ "nlmsg_alloc", "netlink: Cannot allocate memory\n", EX_OSERR },
		{ "nl_send_auto", "netlink: No buffer space available\n", EX_OSERR },
	};
	struct bftm_nl nl = {};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		unit_listen();
		fail_begin(1, cases[i].call);
		assert_int_equal(ctl_open(&nl), cases[i].code);
		assert_non_null(fail_end().call);
		assert_string_equal(unit_heard() + strlen(CTL_NAME ": "), cases[i].words);
		assert_null(nl.sock);
	}
}

/* The message says what is to be changed, the module or the programs. */
static void the_module_is_of_another_version(void **state)
{
	static const struct {
		u32 version;
		const char *words;
	} cases[] = {
		{ 0, "the loaded module speaks version 0 of the netlink family 'bftmutex', this "
		  "program version 1: end what uses the module, then load the new one by "
		  "'rmmod bftmutex && modprobe bftmutex'\n" },
		{ 2, "the loaded module speaks version 2 of the netlink family 'bftmutex', this "
		  "program version 1: install the programs that came with the module, and "
		  "restart bftmutexd\n" },
	};
	struct bftm_nl nl = {};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		unit_listen();
		fuzz_family_version = cases[i].version;
		assert_int_equal(ctl_open(&nl), EX_UNAVAILABLE);
		assert_string_equal(unit_heard() + strlen(CTL_NAME ": "), cases[i].words);
		assert_null(nl.sock);
	}
	fuzz_family_version = BFTMUTEX_FAMILY_VERSION;
	assert_int_equal(ctl_open(&nl), 0);
	bftm_nl_close(&nl);
}

/* Refusals of the kernel, the attribute that it names, and what the user reads. */
static const struct {
	u8 says[25];
	u8 len;
	int error, attr;
	const char *text, *words;
	int code;
} refusals[] = {
	{ { ONE, 4, EINVAL, 0 }, 4, -EINVAL, 0, "",
	  "the kernel refused: Invalid argument\n", EX_DATAERR },
	{ { ONE, CAPPED, ERANGE, 1, NLMSGERR_ATTR_MSG, 4, 'l', 'o', 'w', 0 }, 10, -ERANGE, 0, "low",
	  "the kernel refused: Numerical result out of range: low\n", EX_DATAERR },
	{ { ONE, BEHIND, EINVAL, 1, NLMSGERR_ATTR_OFFS, 4, HOST32(20) }, 10, -EINVAL,
	  BFTMUTEX_A_SERVER_CLUSTER, "",
	  "the kernel refused cluster: Invalid argument\n", EX_DATAERR },
	{ { ONE, CAPPED, EBUSY, 1, NLMSGERR_ATTR_OFFS, 4, HOST32(30) }, 10, -EBUSY,
	  BFTMUTEX_A_SERVER_MAX_LOCKS, "",
	  "the kernel refused max_locks: Device or resource busy\n", EX_OSERR },
	/* Before the attributes, behind them, in no four bytes, nothing at all. */
	{ { ONE, CAPPED, EBUSY, 1, NLMSGERR_ATTR_OFFS, 4, HOST32(19) }, 10, -EBUSY, 0, "",
	  "the kernel refused: Device or resource busy\n", EX_OSERR },
	{ { ONE, CAPPED, EBUSY, 1, NLMSGERR_ATTR_OFFS, 4, HOST32(99) }, 10, -EBUSY, 0, "",
	  "the kernel refused: Device or resource busy\n", EX_OSERR },
	{ { ONE, CAPPED, EBUSY, 1, NLMSGERR_ATTR_OFFS, 2, 20, 0 }, 8, -EBUSY, 0, "",
	  "the kernel refused: Device or resource busy\n", EX_OSERR },
	{ { ONE, CAPPED, EBUSY, 0 }, 4, -EBUSY, 0, "",
	  "the kernel refused: Device or resource busy\n", EX_OSERR },
	{ { ONE, 4, EPERM, 0 }, 4, -EPERM, 0, "",
	  "not permitted: only root (CAP_NET_ADMIN) may do this\n", EX_NOPERM },
	{ { ONE, 4, ENOENT, 0 }, 4, -ENOENT, 0, "",
	  "no server runs in this network namespace\n", EX_UNAVAILABLE },
	/* Byte by byte: error -5000, which is none. */
	{ { ONE, 6, 0, 2, 20, HOST32(-5000) }, 25, -EBADMSG, 0, "",
	  "the kernel refused: Bad message\n", EX_OSERR },
};

static void the_kernel_refuses(void **state)
{
	struct bftm_nl nl;
	struct nl_msg *msg;
	size_t i;
	int r;

	(void)state;
	assert_int_equal(bftm_nl_open(&nl), 0);
	for (i = 0; i < ARRAY_SIZE(refusals); i++) {
		kernel_says(refusals[i].says, refusals[i].len);
		msg = bftm_nl_msg(&nl, BFTMUTEX_CMD_SERVER_START, 0);
		nla_put_u32(msg, BFTMUTEX_A_SERVER_CLUSTER, 1);
		nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_LOCKS, 2);
		r = bftm_nl_call(&nl, msg, NULL, 0, NULL);
		assert_int_equal(r, refusals[i].error);
		assert_int_equal(nl.attr, refusals[i].attr);
		assert_string_equal(nl.error, refusals[i].text);
		unit_listen();
		assert_int_equal(ctl_refused(&nl, r, CTL_SERVER), refusals[i].code);
		assert_string_equal(unit_heard() + strlen(CTL_NAME ": "), refusals[i].words);
	}
	bftm_nl_close(&nl);
}

/* Attributes of a newer kernel than these tools. */
static void an_attribute_without_a_name(void **state)
{
	struct bftm_nl nl = { .attr = 1000 };

	(void)state;
	unit_listen();
	assert_int_equal(ctl_refused(&nl, -EINVAL, CTL_SERVER), EX_DATAERR);
	assert_string_equal(unit_heard() + strlen(CTL_NAME ": "),
			    "the kernel refused: Invalid argument\n");
}

/* The longest type that fits a request, and one byte more. */
static void a_type_that_is_too_long(void **state)
{
	char type[122] = "", command[] = "object create", name[] = "visits";
	char *argv[] = { command, name, type, NULL };
	char words[300];

	(void)state;
	memset(type, 't', 121);
	snprintf(words, sizeof(words), CTL_NAME ": TYPE '%s': must be at most 120 bytes\n", type);
	unit_listen();
	assert_int_equal(ctl_object_create(3, argv), EX_USAGE);
	assert_string_equal(unit_heard(), words);
	type[120] = '\0';
	unit_listen();
	assert_int_not_equal(ctl_object_create(3, argv), EX_USAGE);
	assert_null(strstr(unit_heard(), "TYPE"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_libnl),
		cmocka_unit_test(the_module_cannot_be_reached),
		cmocka_unit_test(the_module_is_of_another_version),
		cmocka_unit_test(the_kernel_refuses),
		cmocka_unit_test(an_attribute_without_a_name),
		cmocka_unit_test(a_type_that_is_too_long),
	};

	return cmocka_run_group_tests_name("fail_ctl", tests, unit_make_dir, unit_remove_dir);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Messages to the family: attributes of the type that the command wants, with values
 * of the input, unless the input wants them otherwise.
 */
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "crypto/keys.h"
#include "uapi/linux/bftmutex_netlink.h"
#include "selftests/core/fuzz/packet.h"
#include "kfuzz.h"

static u8 packet_bytes[1 << 16] __attribute__((aligned(8)));
static struct packet out = { .bytes = packet_bytes, .room = sizeof(packet_bytes) };

/*
 * Kinds of attributes, in the order of their numbers: 2, 4, 8 bytes of a value; flag, string, name
 * (b), much (o), key, pair's (p)art and the other (q), digest, siGnature, address; Rule, Peer,
 * ranK, sTate: nested.
 */
#define SERVER	"422k84448844b-484R4484844848"
#define HANDLE	"84sb448848488444s8-4oo4888s4444"
#define JOURNAL	"8b8KgKTT44offf"

static const char *const attributes[BFTMUTEX_CMD_MAX + 1] = {
	[BFTMUTEX_CMD_SERVER_START] = SERVER,
	[BFTMUTEX_CMD_SERVER_STOP] = SERVER,
	[BFTMUTEX_CMD_ACCESS_SET] = SERVER,
	[BFTMUTEX_CMD_HELPER_DONE] = HANDLE,
	[BFTMUTEX_CMD_HELPER_RENEWED] = HANDLE,
	[BFTMUTEX_CMD_HELPER_CONVERTED] = HANDLE,
	[BFTMUTEX_CMD_HELPER_WANTED] = HANDLE,
	[BFTMUTEX_CMD_HELPER_SUBMITTED] = HANDLE,
	[BFTMUTEX_CMD_HELPER_SUSPECT] = "s2s8",
	[BFTMUTEX_CMD_JOURNAL_OPEN] = JOURNAL,
	[BFTMUTEX_CMD_JOURNAL_DONE] = JOURNAL,
	[BFTMUTEX_CMD_JOURNAL_LOAD] = JOURNAL,
	[BFTMUTEX_CMD_JOURNAL_LOADED] = JOURNAL,
	[BFTMUTEX_CMD_HELPER_LEND] = "sf444488884P",
};

/* A number's bytes are in the host's order, as netlink has them. */
static size_t put_number(size_t bytes)
{
	u64 value = kfuzz_value();

	packet_add_bytes(&out, &value, bytes);
	return bytes;
}

static size_t put_pair(bool request)
{
	struct bftm_pair pair;

	kfuzz_pair(KFUZZ_LENDER, &pair);
	packet_add_bytes(&out, request ? pair.request : pair.reply, sizeof(pair.request));
	return sizeof(pair.request);
}

/* A body whole, a piece of it, or some bytes over and over. */
static size_t put_much(void)
{
	u8 which = kfuzz_byte();
	const struct kfuzz_body *b = kfuzz_body(which);
	size_t len;
	void *at;

	if (which < KFUZZ_BODIES) {
		packet_add_bytes(&out, b->data, b->len);
		return b->len;
	}
	if (which < 2 * KFUZZ_BODIES) {
		packet_add_bytes(&out, b->data, b->len / 2);
		return b->len / 2;
	}
	len = which < 240 ? which : (size_t)kfuzz_value() % 30000;
	at = packet_add(&out, len);
	if (at)
		memset(at, kfuzz_byte(), len);
	return len;
}

static size_t put_address(void)
{
	static const u8 addresses[][16] = {
		{ [15] = 1 },
		{ [10] = 0xff, 0xff, 127, 0, 0, 1 },
		{ 0xfe, 0x80, [15] = 1 },
		{ 0xff, 2, [15] = 1 },
	};

	packet_add_bytes(&out, addresses[kfuzz_byte() % 4], 16);
	return 16;
}

static void put_attributes(const char *types, int depth);

/* Return: bytes of the content. */
static size_t put_content(char type, int depth)
{
	static const u8 key[BFTM_KEY_LEN] = "the key of the one server, kept.";
	static const char *const words[] = { "main", "", "other", "a name of thirty-two bytes, this." };
	static const char *const nested[] = { "44bf84", "28a24pq", "844", "84d" };
	static const char nests[] = "RPKT";
	size_t before = out.len;
	u8 name[BFTM_NAME_LEN_MAX];
	const char *word;

	switch (type) {
	case '2':
	case '4':
	case '8':
		return put_number((size_t)type - '0');
	case 's':
		word = words[kfuzz_byte() % 4];
		packet_add_bytes(&out, word, strlen(word) + 1);
		return strlen(word) + 1;
	case 'b':
		before = kfuzz_name(name);
		packet_add_bytes(&out, name, before);
		return before;
	case 'k':
		packet_add_bytes(&out, key, sizeof(key));
		return sizeof(key);
	case 'p':
	case 'q':
		return put_pair(type == 'p');
	case 'd':
		packet_add_bytes(&out, kfuzz_body(kfuzz_byte())->digest, 32);
		return 32;
	case 'g':
		packet_add(&out, BFTMUTEX_SIGNATURE_LEN);
		return BFTMUTEX_SIGNATURE_LEN;
	case 'a':
		return put_address();
	case 'o':
		return put_much();
	case 'R':
	case 'P':
	case 'K':
	case 'T':
		if (depth < 3)
			put_attributes(nested[strchr(nests, type) - nests], depth + 1);
		return out.len - before;
	}
	return 0;
}

/* Number; with the highest bit a content of another type, or a length that is none. */
static void put_attribute(const char *types, int depth)
{
	struct nlattr *attr = packet_add(&out, sizeof(*attr));
	u8 byte = kfuzz_byte();
	u16 number = byte & 0x3f;
	char type = number && number <= strlen(types) ? types[number - 1] : '4';
	size_t len;

	if (!attr)
		return;
	if (byte & 0x80)
		type = "248sbkodRPKTf"[kfuzz_byte() % 13];
	attr->nla_type = number | (strchr("RPKT", type) ? NLA_F_NESTED : 0);
	len = put_content(type, depth);
	if (byte & 0x40)
		len += kfuzz_byte();
	attr->nla_len = (u16)(sizeof(*attr) + len);
}

static void put_attributes(const char *types, int depth)
{
	u8 n;

	for (n = kfuzz_byte() % 32; n; n--)
		put_attribute(types, depth);
}

struct nlmsghdr *kfuzz_message(const struct genlmsghdr *genl)
{
	struct nlmsghdr *head;

	out.len = 0;
	head = packet_add(&out, sizeof(*head));
	packet_add_bytes(&out, genl, sizeof(*genl));
	put_attributes(genl->cmd <= BFTMUTEX_CMD_MAX && attributes[genl->cmd] ?
		       attributes[genl->cmd] : "", 0);
	head->nlmsg_len = (u32)out.len;
	return head;
}

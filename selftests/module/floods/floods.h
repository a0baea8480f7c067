/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Floods of datagrams for a server, put on its link as frames by an attacker who has seen the
 * datagrams of its clients, but has none of their keys.
 */
#ifndef BFTM_FLOODS_H
#define BFTM_FLOODS_H

#include <net/if.h>

#include "selftests/module/objects/order_raw.h"

#define SAMPLES_MAX	1024
#define SAMPLE_LEN_MAX	BFTM_DATAGRAM_MAX
#define PAYLOAD_MAX	1472

enum sample_kind {
	SAMPLE_NEW,		/* the server is the first to hear of it by a flood */
	SAMPLE_SENT,		/* the server has had it */
	SAMPLE_WRONG,		/* of a wrong form, or version 1; signed by the client's key */
};

/** struct sample - a datagram of a client; @kind: enum sample_kind */
struct sample {
	u16 len;
	u8 kind;
	u8 data[SAMPLE_LEN_MAX];
};

/** struct samples - of one server, as "record" leaves them in a file */
struct samples {
	u32 count;
	struct sample sample[SAMPLES_MAX];
};

/** enum flood_kind - contents of the frames */
enum flood_kind {
	FLOOD_RANDOM,		/* of any length */
	FLOOD_TRUNCATED,	/* right ones, cut somewhere */
	FLOOD_BIT,		/* right ones but for a bit */
	FLOOD_KEY,		/* right ones, but for the key */
	FLOOD_REPLAY,		/* those that the server has had */
	FLOOD_FORM,		/* wrong forms */
	FLOOD_KINDS,
	FLOOD_CLIENT = FLOOD_KINDS,	/* a client's own: valid, and new */
};

extern const char *const flood_names[FLOOD_KINDS + 1];

/** flood_read() - the file of "record"; ends on an error */
void flood_read(const char *path, struct samples *ret);

/**
 * flood_payload() - the next datagram of a kind
 * @data: room for PAYLOAD_MAX
 * Return: its length
 */
size_t flood_payload(enum flood_kind kind, const struct samples *from, u8 *data);

/** struct link - the interface by which frames are sent */
struct link {
	int fd;
	int ifindex;
	u8 mac[6];
	u32 from, to;		/* IPv4 addresses, network byte order */
	u16 port;		/* that they come from, host byte order */
};

/** link_open() - @mac: "52:54:…" of the receiver; ends on an error */
void link_open(struct link *ret, const char *device, const char *mac, const char *to);

/** link_send() - send @count frames of a kind; ends on an error */
void link_send(struct link *l, enum flood_kind kind, const struct samples *from, u64 count);

/** flood_new() - a valid new datagram of client @p; its length */
size_t flood_new(struct peer *p, u8 *data);

/** flood_number() - text as a number from @min to @max; ends when it is none */
u64 flood_number(const char *what, const char *text, u64 min, u64 max);

/* Commands; each gets the arguments behind its name. They return exit statuses. */
int flood_record(int argc, char **argv);
int flood_send(int argc, char **argv);
int flood_pace(int argc, char **argv);
int flood_amplify(int argc, char **argv);
int flood_goodput(int argc, char **argv);

#endif /* BFTM_FLOODS_H */

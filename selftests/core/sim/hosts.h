/* SPDX-License-Identifier: GPL-2.0 */
/* Servers and clients as the simulator has them, around the cores. */
#ifndef BFTM_SIM_HOSTS_H
#define BFTM_SIM_HOSTS_H

#include "core/backoff/host.h"
#include "core/members.h"
#include "core/peer.h"
#include "core/replay.h"
#include "clock.h"
#include "protocol.h"

struct liar;

/** struct room - the block that the waiters of a lock were in last */
struct room {
	void *block;
	u32 waiters;
};

/** struct server - as kmod/server/server.c and kmod/life.c */
struct server {
	struct clock clock;
	struct bftm_server_cfg cfg;
	bool up;
	bool lies;
	u32 stamp;		/* of its restarts */
	u64 down_at;		/* true time of its last end */
	u64 forgot_at;		/* true time: it restarted without a quarantine, and went down then */
	u64 over_ns;		/* see bn->over_ns in kmod/life.c */
	u64 first_gno;
	u64 hi;			/* highest token of a lock that was reclaimed */
	struct bftm_tokens tokens;
	struct bftm_members members;	/* all clients, if there are locks without a lease */
	u8 *locks;			/* states, see server_state() */
	struct room *room;		/* by number of the lock */
	u64 *touched_ns;		/* 0: nobody asked for it yet */
	u64 *expire_at;			/* an EXPIRE event is queued for this, or NEVER */
	struct bftm_window *window;	/* by client */
	struct liar *liar;
};

/** struct peer - a server as a helper knows it; as in helper/cluster/cluster.h */
struct peer {
	struct bftm_peer_epochs known;
	u64 hello_at;
	struct bftm_window answers;
};

/** enum app - where an application stands */
enum app {
	APP_IDLE,
	APP_ASKING,
	APP_HOLDING,
};

/** struct leaving - a lock whose end the helper has heard, perhaps ahead of time, see struct client */
struct leaving {
	u64 attempt;
	u64 hold;
	u64 at;			/* true time at which the application is out; the kernel has it so long */
	u32 lock;
};

/** struct handle - an application with one lock at a time; helper/lock/acquire.h */
struct handle {
	struct bftm_contender *client;	/* one of these two */
	struct bftm_contender *helpers;
	struct bftm_contender *kernels;
	bool kernel;		/* its kernel asks for the lock, or holds it, by itself */
	bool left_over;		/* … and has lost it, so the request waits for the next helper */
	struct bftm_host host;	/* … so */
	struct bftm_want want;
	enum app app;
	u32 lock;
	u32 stamp;		/* of its APP and ASK events */
	u64 wake_at;		/* a WAKE event is queued for this, NEVER for none */
	u64 hold;		/* number of the holding, 0 for none */
	u64 end_ns;		/* of it, as the application was told */
	u64 known_end_ns;	/* … as the core has it */
	enum bftm_mode mode;	/* of it, as the application was told */
	u64 token;		/* likewise, 0 for none */
	struct bftm_conversion goal;	/* to which it converts, by another mode perhaps */
	bool reads;		/* … and is told the value then */
	struct leaving leaving;
	struct bftm_written left;	/* value that it left last; none if not @any */
	u64 leaves;		/* number of the value that it is to leave next, 0 for any */
	u32 turns;		/* so often it asks again in the healed world */
	u32 sends;		/* … and the number of the last send, as the kernel was told */
};

/** struct orphan - who holds goes on holding when the helper is killed */
struct orphan {
	bool alive;
	u32 lock;
	u32 sends;
	u64 attempt;
	u64 hold;
	u64 token;
	u64 end_ns;
	u64 give_at;		/* true time at which the application gives back */
	struct bftm_want want;
	bool left;		/* a value, with a mode that it gave up */
	bool stopped;		/* it is to be given back as soon as there is a helper */
};

/** struct recovery - of the tokens that a server forgot */
struct recovery {
	bool on;
	u32 server;
	u32 known;
	u64 epoch;		/* of the server */
	u64 from_seq;		/* answers to what was asked after this count */
	u64 top[BFTM_SERVERS_MAX];
};

/** struct release - as struct bftm_release_op in helper/lock/acquire.h */
struct release {
	struct release *next;
	struct bftm_release core;
	bool kernel;
	struct bftm_host host;	/* of the kernel, in place of @core */
	u32 lock;
	u32 number;
};

/** struct client - a host with a helper */
struct client {
	struct clock clock;
	bool up;		/* the helper runs */
	bool host_up;
	u32 stamp;		/* of the starts of its helper */
	u64 busy_until;		/* it sees nothing before this */
	u64 lag;		/* how long it was held up within this step */
	u64 incarnation;	/* as in helper/cluster/identity.c */
	u64 boot;		/* the first one since the host came up */
	u32 evicted;		/* servers that say that it is evicted, a bit mask */
	u64 seq;
	u64 attempt;
	u64 prio;		/* the highest that attempts of its kernel have met */
	struct bftm_client_cfg cfg;
	struct peer *peer;
	struct peer *kernels;	/* the same as its kernel knows it, which takes no answer twice for one */
	struct handle *handle;
	struct release *releases;
	struct orphan orphan;
	struct recovery recovery;
	struct bftm_ask_state ask;	/* what its helper has learned of servers, if it asks some first */
};

#endif /* BFTM_SIM_HOSTS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A server's objects outlive it by a journal: a process pulls each durable change and stores it in
 * a file. Durable are maxRank and its signature, σc, σpc and its proposer of each object. Waiting
 * operations are not; clients submit them again.
 */
#ifndef BFTM_JOURNAL_H
#define BFTM_JOURNAL_H

#include <linux/list.h>
#include <linux/spinlock.h>

#include "objects/bodies.h"

struct bftm_address;
struct bftm_objects;
struct bftm_order_msg;
struct bftm_outcome;
struct bftm_server;
struct bftm_thing;
struct netlink_ext_ack;
struct sk_buff;

/**
 * struct bftm_saved - how far the journal has an object's changes
 * @changes: durable changes so far; written under both the shard's and the
 *           journal's lock
 * @done:    changes that the journal has stored
 * @taken:   changes that it has pulled and not yet confirmed; 0 for none
 * @queue:   in the journal's @waiting or @given; empty when it has all changes
 * @held:    answers that reveal changes after @done
 * @sc:      body of σc that was pulled with @taken, a reference; NULL for none
 * @sp:      the same of σpc
 *
 * All but @changes is guarded by the journal's lock.
 */
struct bftm_saved {
	u64 changes;
	u64 done;
	u64 taken;
	struct list_head queue;
	struct list_head held;
	struct bftm_stored *sc;
	struct bftm_stored *sp;
};

/** struct bftm_image - the durable part of an object */
struct bftm_image {
	u8 name_len;
	u8 name[BFTM_OBJECT_NAME_MAX];
	struct bftm_rank max;
	struct bftm_rank prop;
	u8 signature[BFTM_SIGNATURE_LEN];
	struct bftm_body_id sc;
	struct bftm_body_id sp;
};

/** enum bftm_image_body - which of its bodies */
enum bftm_image_body {
	BFTM_IMAGE_SC,
	BFTM_IMAGE_SP,
	BFTM_IMAGE_BODIES,
};

/**
 * struct bftm_journal_transfer - an object on its way to the journal or from it
 * @thing:      the object on its way to the journal; NULL for none
 * @busy:       an object is on its way from the journal
 * @recovering: clients have to bring the loaded object's memory back nevertheless
 * @taken:      number of the change that @image shows
 * @image:      the object's durable part
 * @body:       each is NULL when it is not to be sent, or not to come
 * @at:         bytes of each that have passed
 */
struct bftm_journal_transfer {
	struct bftm_thing *thing;
	bool busy;
	bool recovering;
	u64 taken;
	struct bftm_image image;
	struct bftm_stored *body[BFTM_IMAGE_BODIES];
	u32 at[BFTM_IMAGE_BODIES];
};

/**
 * struct bftm_journal - the journal of a server
 * @server:   the server
 * @lock:     innermost except for the tokens' lock, taken with bottom halves off
 * @id:       number of the file
 * @sync:     answers wait until the changes that they reveal are stored
 * @portid:   netlink port of the process, 0 for none
 * @hinted:   the process was told that @waiting is not empty
 * @waiting:  objects with changes to be pulled, the longest waiting first
 * @given:    objects that were pulled and are not done
 * @unsaved:  number of objects in both lists
 * @held_bytes: of all answers that are held
 * @transfer: object that is pulled or loaded in pieces; guarded by the namespace's mutex
 */
struct bftm_journal {
	struct bftm_server *server;
	spinlock_t lock;
	u64 id;
	bool sync;
	u32 portid;
	bool hinted;
	struct list_head waiting;
	struct list_head given;
	u32 unsaved;
	size_t held_bytes;
	struct bftm_journal_transfer transfer;
};

/**
 * bftm_journal_new() - for a server whose parameters and objects exist
 * @server: the server, which gets the journal
 *
 * Its objects are silent until bftm_journal_loaded().
 *
 * Return: 0 or -ENOMEM.
 */
int bftm_journal_new(struct bftm_server *server);

/** bftm_journal_destroy() - before the objects; no step may run any more. */
void bftm_journal_destroy(struct bftm_server *server);

/** bftm_saved_init() - for a new object */
void bftm_saved_init(struct bftm_saved *s);

/**
 * bftm_journal_note() - a step has run
 * @j:       NULL is fine
 * @e:       the object that it changed
 * @changed: enum bftm_changed
 * Context: the shard of @e is locked. Return: number of the change that must be stored before the
 * step is answered; 0 when the answer may be sent at once.
 */
u64 bftm_journal_note(struct bftm_journal *j, struct bftm_thing *e, u32 changed);

/**
 * bftm_journal_hint() - tell the process, if objects wait for it
 * @j: NULL is fine
 * Context: softirq, no lock is held.
 */
void bftm_journal_hint(struct bftm_journal *j);

/*
 * Functions for the process. They are called with the namespace's mutex held, which keeps the
 * server; -EPERM: @portid is not the journal's.
 */

/** bftm_journal_open() - Return: 0, -EBUSY, or -ESTALE when @id is that of another file. */
int bftm_journal_open(struct bftm_journal *j, u32 portid, u64 id);

/** bftm_journal_close() - the socket @portid was closed, of the journal or of another process. */
void bftm_journal_close(struct bftm_journal *j, u32 portid);

/**
 * bftm_journal_pull() - give the next object, or the next piece of it
 * @j:      the journal
 * @portid: netlink port of the calling process
 * @give:   sends the next part of @transfer, and moves @transfer->at on by it; must not sleep
 * @arg:    for @give
 * Return: 0, -ENODATA when nothing waits, or what @give returned.
 */
int bftm_journal_pull(struct bftm_journal *j, u32 portid,
		      int (*give)(struct bftm_journal_transfer *transfer, void *arg), void *arg);

/**
 * bftm_journal_done() - the file has an object as it was pulled
 * @j:        the journal
 * @portid:   netlink port of the calling process
 * @name:     of the object
 * @name_len: bytes of @name
 * @taken:    number of that change
 * Return: 0, -ESTALE when no such change was pulled.
 */
int bftm_journal_done(struct bftm_journal *j, u32 portid, const u8 *name, u8 name_len,
		      u64 taken);

/* journal_held.c: answers that wait for the journal */

/**
 * bftm_journal_send() - send the answer of a step, as soon as the journal has its changes
 * @server:  the server
 * @outcome: of the step
 * @client:  the addressee
 * @to:      address of the client
 * @type:    enum bftm_order_type of the datagram
 * @skb:     the datagram, as for bftm_socket_send_skb(); taken in any case
 * Context: softirq, as of bftm_socket_send().
 */
void bftm_journal_send(struct bftm_server *server, const struct bftm_outcome *outcome,
		       u32 client, const struct bftm_address *to, u8 type,
		       struct sk_buff *skb);

/** bftm_held_drop() - drop the held answers of an object. Context: the lock is held. */
void bftm_held_drop(struct bftm_journal *j, struct bftm_saved *s);

/** bftm_held_release() - move answers that may be sent to @ret. Context: the lock is held. */
void bftm_held_release(struct bftm_journal *j, struct bftm_saved *s, struct list_head *ret);

/** bftm_held_send() - send released answers. Context: process, the sockets stay open. */
void bftm_held_send(struct bftm_journal *j, struct list_head *released);

/* journal_load.c: objects from the file */

/**
 * bftm_journal_load() - load an object from the file; its bodies follow in pieces
 * @j:          the journal
 * @portid:     netlink port of the calling process
 * @image:      its durable part
 * @recovering: clients have to bring its memory back nevertheless
 * @extack:     gets the reason of a failure; may be NULL
 * Return: 0; -EBUSY: everything is loaded; -EINVAL: the object is not valid, or the previous one is
 * not complete; -ENOSPC, -EDQUOT: there is no room; -ENOMEM.
 */
int bftm_journal_load(struct bftm_journal *j, u32 portid, const struct bftm_image *image,
		      bool recovering, struct netlink_ext_ack *extack);

/**
 * bftm_journal_load_piece() - the next bytes of one of its bodies
 * @j:      the journal
 * @portid: netlink port of the calling process
 * @body:   enum bftm_image_body
 * @offset: of the bytes in that body; they begin where the last piece ended
 * @data:   the bytes
 * @len:    bytes of @data
 * @extack: gets the reason of a failure; may be NULL
 * Return: 0; -EINVAL: these are not the next bytes; -EBADMSG: the body has another digest; as
 * above.
 */
int bftm_journal_load_piece(struct bftm_journal *j, u32 portid, u32 body, u32 offset,
			    const void *data, u32 len, struct netlink_ext_ack *extack);

/**
 * bftm_journal_loaded() - the server may answer now
 * @j:        the journal
 * @portid:   netlink port of the calling process
 * @complete: the file had every object of the server
 * @extack:   gets the reason of a failure; may be NULL
 * Return: 0; -EBUSY: the server already answers; -EINVAL: an object is not complete.
 */
int bftm_journal_loaded(struct bftm_journal *j, u32 portid, bool complete,
			struct netlink_ext_ack *extack);

/** bftm_transfer_whole() - have all bytes passed? */
bool bftm_transfer_whole(const struct bftm_journal_transfer *t);

/** bftm_transfer_end() - end the transfer, and forget its object. */
void bftm_transfer_end(struct bftm_journal_transfer *t);

#endif /* BFTM_JOURNAL_H */

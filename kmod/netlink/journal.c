// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink, the journal's side: changes that it pulls and stores, and objects that it loads at a
 * start. Bodies pass in pieces; the first message about an object has everything else.
 */
#include <net/genetlink.h>

#include "netlink/gen.h"
#include "netlink/journal.h"
#include "netlink/netlink.h"
#include "netns.h"
#include "objects/objects.h"
#include "server/server.h"

/* Values that the policies accept fit. */
static_assert(BFTMUTEX_OBJECT_NAME_MAX == BFTM_OBJECT_NAME_MAX);
static_assert(BFTMUTEX_DIGEST_LEN == BFTM_DIGEST_LEN);
static_assert(BFTMUTEX_SIGNATURE_LEN == BFTM_SIGNATURE_LEN);

static int put_rank(struct sk_buff *msg, int attr, const struct bftm_rank *rank)
{
	struct nlattr *nest = nla_nest_start(msg, attr);

	if (!nest || nla_put_u64_64bit(msg, BFTMUTEX_A_RANK_COUNT, rank->count,
				       BFTMUTEX_A_RANK_PAD) ||
	    nla_put_u32(msg, BFTMUTEX_A_RANK_CLIENT, rank->client) ||
	    nla_put_u32(msg, BFTMUTEX_A_RANK_INCARNATION, rank->incarnation))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int put_state(struct sk_buff *msg, int attr, const struct bftm_body_id *id)
{
	struct nlattr *nest = nla_nest_start(msg, attr);

	if (!nest || nla_put_u64_64bit(msg, BFTMUTEX_A_STATE_VERSION, id->version,
				       BFTMUTEX_A_STATE_PAD) ||
	    nla_put_u32(msg, BFTMUTEX_A_STATE_LENGTH, id->len) ||
	    nla_put(msg, BFTMUTEX_A_STATE_DIGEST, sizeof(id->digest), id->digest))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int put_image(struct sk_buff *msg, const struct bftm_image *image)
{
	return put_rank(msg, BFTMUTEX_A_JOURNAL_RANK, &image->max) ?:
	       nla_put(msg, BFTMUTEX_A_JOURNAL_SIGNATURE, sizeof(image->signature),
		       image->signature) ?:
	       put_rank(msg, BFTMUTEX_A_JOURNAL_PROPOSER, &image->prop) ?:
	       put_state(msg, BFTMUTEX_A_JOURNAL_COMMITTED, &image->sc) ?:
	       put_state(msg, BFTMUTEX_A_JOURNAL_PROPOSED, &image->sp);
}

/* The next bytes of the body that is being sent. Return: their number, or -EMSGSIZE. */
static int put_piece(struct sk_buff *msg, const struct bftm_stored *s, u32 which, u32 at)
{
	u32 len = min_t(u32, s->body.id.len - at, BFTMUTEX_PIECE_MAX);

	if (nla_put_u32(msg, BFTMUTEX_A_JOURNAL_BODY, which) ||
	    nla_put_u32(msg, BFTMUTEX_A_JOURNAL_OFFSET, at) ||
	    nla_put(msg, BFTMUTEX_A_JOURNAL_PIECE, len, s->data + at))
		return -EMSGSIZE;
	return len;
}

static u32 body_on_its_way(const struct bftm_journal_transfer *t)
{
	u32 i;

	for (i = 0; i < BFTM_IMAGE_BODIES; i++)
		if (t->body[i] && t->at[i] < t->body[i]->body.id.len)
			break;
	return i;
}

/* The next message about an object; @t moves on once it was sent. */
static int netlink_give(struct bftm_journal_transfer *t, void *arg)
{
	struct genl_info *info = arg;
	bool first = !t->at[BFTM_IMAGE_SC] && !t->at[BFTM_IMAGE_SP];
	u32 which = body_on_its_way(t);
	struct bftm_journal_transfer after = *t;
	int err = -EMSGSIZE, len = 0;
	struct sk_buff *msg;
	void *hdr;

	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE + BFTMUTEX_PIECE_MAX, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &bftm_family, 0, info->genlhdr->cmd);
	if (!hdr || nla_put(msg, BFTMUTEX_A_JOURNAL_NAME, t->image.name_len, t->image.name) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_JOURNAL_CHANGE, t->taken,
			      BFTMUTEX_A_JOURNAL_PAD) ||
	    (first && put_image(msg, &t->image)))
		goto err;
	if (which < BFTM_IMAGE_BODIES) {
		len = put_piece(msg, t->body[which], which, t->at[which]);
		if (len < 0)
			goto err;
		after.at[which] += len;
	}
	if (!bftm_transfer_whole(&after) && nla_put_flag(msg, BFTMUTEX_A_JOURNAL_MORE))
		goto err;
	genlmsg_end(msg, hdr);
	err = genlmsg_reply(msg, info);
	if (!err)
		memcpy(t->at, after.at, sizeof(t->at));
	return err;
err:
	nlmsg_free(msg);
	return err;
}

/* The journal of the server that runs here; its namespace's mutex is held. */
static int lock_journal(struct genl_info *info, struct bftm_net **ret_net,
			struct bftm_journal **ret)
{
	struct bftm_net *bn = bftm_net(genl_info_net(info));
	int err = 0;

	mutex_lock(&bn->mutex);
	if (!bn->server)
		err = -ENOENT;
	else if (!bn->server->objects->journal)
		err = -EOPNOTSUPP;
	if (err == -EOPNOTSUPP)
		GENL_SET_ERR_MSG(info, "the server was started without durability");
	if (err) {
		mutex_unlock(&bn->mutex);
		return err;
	}
	*ret = bn->server->objects->journal;
	*ret_net = bn;
	return 0;
}

int bftmutex_nl_journal_open_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *id = info->attrs[BFTMUTEX_A_JOURNAL_ID];
	struct bftm_journal *j;
	struct bftm_net *bn;
	int err;

	if (!id) {
		GENL_SET_ERR_MSG(info, "id is needed");
		return -EINVAL;
	}
	err = lock_journal(info, &bn, &j);
	if (err)
		return err;
	err = bftm_journal_open(j, info->snd_portid, nla_get_u64(id));
	if (!err)
		WRITE_ONCE(bn->journal_portid, info->snd_portid);
	mutex_unlock(&bn->mutex);
	if (err == -EBUSY)
		GENL_SET_ERR_MSG(info, "another process writes the journal of the server");
	else if (err == -ESTALE)
		GENL_SET_ERR_MSG(info, "the server was started with another journal");
	return err;
}

int bftmutex_nl_journal_pull_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct bftm_journal *j;
	struct bftm_net *bn;
	int err;

	err = lock_journal(info, &bn, &j);
	if (err)
		return err;
	err = bftm_journal_pull(j, info->snd_portid, netlink_give, info);
	mutex_unlock(&bn->mutex);
	return err;
}

int bftmutex_nl_journal_done_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *name = info->attrs[BFTMUTEX_A_JOURNAL_NAME];
	struct nlattr *change = info->attrs[BFTMUTEX_A_JOURNAL_CHANGE];
	struct bftm_journal *j;
	struct bftm_net *bn;
	int err;

	if (!name || !change || nla_len(name) > BFTM_OBJECT_NAME_MAX) {
		GENL_SET_ERR_MSG(info, "name, of at most 63 bytes, and change are needed");
		return -EINVAL;
	}
	err = lock_journal(info, &bn, &j);
	if (err)
		return err;
	err = bftm_journal_done(j, info->snd_portid, nla_data(name), nla_len(name),
				nla_get_u64(change));
	mutex_unlock(&bn->mutex);
	return err;
}

static int get_rank(struct genl_info *info, int attr, struct bftm_rank *ret)
{
	struct nlattr *a[BFTMUTEX_A_RANK_MAX + 1];
	int err;

	if (!info->attrs[attr])
		return -EINVAL;
	err = nla_parse_nested(a, BFTMUTEX_A_RANK_MAX, info->attrs[attr],
			       bftmutex_rank_nl_policy, info->extack);
	if (err)
		return err;
	if (!a[BFTMUTEX_A_RANK_COUNT] || !a[BFTMUTEX_A_RANK_CLIENT] ||
	    !a[BFTMUTEX_A_RANK_INCARNATION])
		return -EINVAL;
	ret->count = nla_get_u64(a[BFTMUTEX_A_RANK_COUNT]);
	ret->client = nla_get_u32(a[BFTMUTEX_A_RANK_CLIENT]);
	ret->incarnation = nla_get_u32(a[BFTMUTEX_A_RANK_INCARNATION]);
	return 0;
}

static int get_state(struct genl_info *info, int attr, struct bftm_body_id *ret)
{
	struct nlattr *a[BFTMUTEX_A_STATE_MAX + 1];
	int err;

	if (!info->attrs[attr])
		return -EINVAL;
	err = nla_parse_nested(a, BFTMUTEX_A_STATE_MAX, info->attrs[attr],
			       bftmutex_state_nl_policy, info->extack);
	if (err)
		return err;
	if (!a[BFTMUTEX_A_STATE_VERSION] || !a[BFTMUTEX_A_STATE_LENGTH] ||
	    !a[BFTMUTEX_A_STATE_DIGEST])
		return -EINVAL;
	ret->version = nla_get_u64(a[BFTMUTEX_A_STATE_VERSION]);
	ret->len = nla_get_u32(a[BFTMUTEX_A_STATE_LENGTH]);
	memcpy(ret->digest, nla_data(a[BFTMUTEX_A_STATE_DIGEST]), sizeof(ret->digest));
	return 0;
}

static int get_image(struct genl_info *info, struct bftm_image *ret)
{
	struct nlattr *name = info->attrs[BFTMUTEX_A_JOURNAL_NAME];
	struct nlattr *signature = info->attrs[BFTMUTEX_A_JOURNAL_SIGNATURE];
	int err = -EINVAL;

	memset(ret, 0, sizeof(*ret));
	if (name && signature && nla_len(name) <= BFTM_OBJECT_NAME_MAX)
		err = get_rank(info, BFTMUTEX_A_JOURNAL_RANK, &ret->max) ?:
		      get_rank(info, BFTMUTEX_A_JOURNAL_PROPOSER, &ret->prop) ?:
		      get_state(info, BFTMUTEX_A_JOURNAL_COMMITTED, &ret->sc) ?:
		      get_state(info, BFTMUTEX_A_JOURNAL_PROPOSED, &ret->sp);
	if (err) {
		GENL_SET_ERR_MSG(info, "name, ranks, signature and both states are needed");
		return err;
	}
	ret->name_len = nla_len(name);
	memcpy(ret->name, nla_data(name), ret->name_len);
	memcpy(ret->signature, nla_data(signature), sizeof(ret->signature));
	return 0;
}

static int netlink_load(struct bftm_journal *j, struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	struct bftm_image image;
	int err = 0;

	/* After the first message about an object only pieces may come. */
	if (a[BFTMUTEX_A_JOURNAL_RANK]) {
		err = get_image(info, &image) ?:
		      bftm_journal_load(j, info->snd_portid, &image,
					nla_get_flag(a[BFTMUTEX_A_JOURNAL_RECOVERING]),
					info->extack);
	} else if (!a[BFTMUTEX_A_JOURNAL_PIECE] || !a[BFTMUTEX_A_JOURNAL_BODY] ||
		   !a[BFTMUTEX_A_JOURNAL_OFFSET]) {
		GENL_SET_ERR_MSG(info, "either rank is needed, or all of body, offset and piece");
		err = -EINVAL;
	} else {
		err = bftm_journal_load_piece(j, info->snd_portid,
					      nla_get_u32(a[BFTMUTEX_A_JOURNAL_BODY]),
					      nla_get_u32(a[BFTMUTEX_A_JOURNAL_OFFSET]),
					      nla_data(a[BFTMUTEX_A_JOURNAL_PIECE]),
					      nla_len(a[BFTMUTEX_A_JOURNAL_PIECE]),
					      info->extack);
	}
	return err;
}

int bftmutex_nl_journal_load_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct bftm_journal *j;
	struct bftm_net *bn;
	int err;

	err = lock_journal(info, &bn, &j);
	if (err)
		return err;
	err = netlink_load(j, info);
	mutex_unlock(&bn->mutex);
	return err;
}

int bftmutex_nl_journal_loaded_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct bftm_journal *j;
	struct bftm_net *bn;
	int err;

	err = lock_journal(info, &bn, &j);
	if (err)
		return err;
	err = bftm_journal_loaded(j, info->snd_portid,
				  nla_get_flag(info->attrs[BFTMUTEX_A_JOURNAL_COMPLETE]),
				  info->extack);
	mutex_unlock(&bn->mutex);
	return err;
}

int bftm_netlink_read_journal(struct genl_info *info, struct bftm_server_param *p)
{
	struct nlattr *durability = info->attrs[BFTMUTEX_A_SERVER_DURABILITY];
	struct nlattr *id = info->attrs[BFTMUTEX_A_SERVER_JOURNAL_ID];

	p->durability = durability ? nla_get_u32(durability) : BFTMUTEX_DURABILITY_NONE;
	p->journal_id = id ? nla_get_u64(id) : 0;
	if (!p->durability == !p->journal_id)
		return 0;
	GENL_SET_ERR_MSG(info,
			 "journal-id is required for durability async or sync, and not allowed for none");
	return -EINVAL;
}

int bftm_netlink_put_journal(struct sk_buff *msg, const struct bftm_server *server)
{
	struct bftm_journal *j = server->objects->journal;
	u32 state = BFTMUTEX_JOURNAL_STATE_DETACHED, unsaved;

	if (nla_put_u32(msg, BFTMUTEX_A_SERVER_DURABILITY, server->param.durability))
		return -EMSGSIZE;
	if (!j)
		return 0;
	spin_lock_bh(&j->lock);
	if (READ_ONCE(server->objects->loading))
		state = BFTMUTEX_JOURNAL_STATE_LOADING;
	else if (j->portid)
		state = BFTMUTEX_JOURNAL_STATE_ATTACHED;
	unsaved = j->unsaved;
	spin_unlock_bh(&j->lock);
	if (nla_put_u64_64bit(msg, BFTMUTEX_A_SERVER_JOURNAL_ID, j->id,
			      BFTMUTEX_A_SERVER_PAD) ||
	    nla_put_u32(msg, BFTMUTEX_A_SERVER_JOURNAL_STATE, state) ||
	    nla_put_u32(msg, BFTMUTEX_A_SERVER_UNSAVED, unsaved))
		return -EMSGSIZE;
	return 0;
}

void bftm_netlink_journal_closed(struct bftm_net *bn, u32 portid)
{
	/* The close of any other socket need not wait for the mutex. */
	if (READ_ONCE(bn->journal_portid) != portid)
		return;
	mutex_lock(&bn->mutex);
	if (bn->server && bn->server->objects->journal)
		bftm_journal_close(bn->server->objects->journal, portid);
	mutex_unlock(&bn->mutex);
}

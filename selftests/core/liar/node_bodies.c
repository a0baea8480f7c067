// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "core/ordering/upload.h"
#include "crypto/digest.h"
#include "node_order.h"

/* Bodies that arrive; the one that was touched least lately goes for a new one. */
#define UPLOADS_MAX BFTM_UPLOADS_MAX

/** struct liar_upload - a body that arrives in pieces */
struct liar_upload {
	TAILQ_ENTRY(liar_upload) list;
	const struct liar_object *of;
	struct bftm_upload upload;
	struct bftm_body *body;
	bool right;
};

/* Without its bytes, which are behind it. */
static struct bftm_body *body_new(const struct bftm_body_id *id)
{
	struct bftm_body *body = malloc(sizeof(*body) + id->len);

	if (!body)
		return NULL;
	body->id = *id;
	body->data = (u8 *)(body + 1);
	return body;
}

static bool digest_ok(const struct bftm_body_id *id, const u8 *data)
{
	u8 digest[BFTM_DIGEST_LEN];

	return bftm_digest(data, id->len, digest) == 0 &&
	       !memcmp(digest, id->digest, sizeof(digest));
}

static struct liar_upload *find(struct node *node, const struct liar_object *of,
				const struct bftm_order_msg *req)
{
	struct liar_upload *up;

	TAILQ_FOREACH(up, &node->uploads, list)
		if (up->of == of && up->upload.client == req->client &&
		    bftm_body_same(&up->upload.id, &req->id))
			return up;
	return NULL;
}

/* Return: what has arrived of the body. */
static struct bftm_body *upload_remove(struct node *node, struct liar_upload *up)
{
	struct bftm_body *body = up->body;

	TAILQ_REMOVE(&node->uploads, up, list);
	node->upload_count--;
	free(up);
	return body;
}

static struct liar_upload *upload_new(struct node *node, const struct liar_object *of,
				      const struct bftm_order_msg *req)
{
	struct liar_upload *up = calloc(1, sizeof(*up));

	if (up)
		up->body = body_new(&req->id);
	if (!up || !up->body) {
		free(up);
		return NULL;
	}
	up->of = of;
	up->upload.id = req->id;
	up->upload.client = req->client;
	up->upload.data = (u8 *)up->body->data;
	if (node->upload_count == UPLOADS_MAX)
		free(upload_remove(node, TAILQ_LAST(&node->uploads, liar_uploads)));
	node->upload_count++;
	TAILQ_INSERT_HEAD(&node->uploads, up, list);
	return up;
}

static bool too_long(const struct bftm_body_id *id)
{
	return id->len > (id->version ? BFTM_STATE_MAX : BFTM_OP_MAX);
}

void node_upload(struct node *node, const struct liar_object *of,
		 const struct bftm_order_msg *req, struct bftm_order_msg *reply)
{
	struct liar_upload *up = find(node, of, req);

	if (!bftm_piece_ok(req))
		return;
	if (too_long(&req->id)) {
		reply->type = BFTM_MSG_REFUSED;
		reply->offset = BFTM_REFUSED_STATE;
		return;
	}
	if (!up)
		up = upload_new(node, of, req);
	if (!up || !bftm_upload_take(&up->upload, req))
		return;
	TAILQ_REMOVE(&node->uploads, up, list);
	TAILQ_INSERT_HEAD(&node->uploads, up, list);
	reply->type = BFTM_ORDER_STORED;
	if (up->right || !bftm_upload_complete(&up->upload))
		return;
	up->right = digest_ok(&up->upload.id, up->upload.data);
	if (!up->right) {
		free(upload_remove(node, up));
		reply->type = BFTM_MSG_REFUSED;
		reply->offset = BFTM_REFUSED_STATE;
	}
}

struct bftm_body *node_body_for(struct node *node, const struct liar_object *of,
				const struct bftm_order_msg *req, bool *ret_bad)
{
	struct liar_upload *up;
	struct bftm_body *body;

	*ret_bad = false;
	if (!bftm_object_wants(&of->object, req))
		return NULL;
	if (!req->data) {
		up = find(node, of, req);
		return up && up->right ? upload_remove(node, up) : NULL;
	}
	*ret_bad = !digest_ok(&req->id, req->data);
	body = *ret_bad ? NULL : body_new(&req->id);
	if (body && req->id.len)
		memcpy((u8 *)body->data, req->data, req->id.len);
	return body;
}

void node_uploads_destroy(struct node *node)
{
	struct liar_upload *up;

	while ((up = TAILQ_FIRST(&node->uploads)))
		free(upload_remove(node, up));
}

// SPDX-License-Identifier: GPL-2.0
/* Words for what the ordering protocol does. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "order.h"
#include "story.h"

static char *next_text(size_t *room)
{
	static __thread char text[8][160];
	static __thread unsigned int next;

	*room = sizeof(text[0]);
	return text[next++ % 8];
}

const char *story_body(const struct bftm_body_id *id)
{
	size_t room;
	char *text = next_text(&room);

	if (id->len)
		snprintf(text, room, "σ%" PRIu64 ":%02x%02x", id->version, id->digest[0],
			 id->digest[1]);
	else
		snprintf(text, room, "σ%" PRIu64, id->version);
	return text;
}

const char *story_rank(const struct bftm_rank *rank)
{
	size_t room;
	char *text = next_text(&room);

	if (!rank->count)
		return "0";
	snprintf(text, room, "%" PRIu64 ".c%u", rank->count, rank->client + 1);
	if (rank->incarnation > 1)
		snprintf(text, room, "%" PRIu64 ".c%u#%u", rank->count, rank->client + 1,
			 rank->incarnation);
	return text;
}

const char *story_text(const u8 *data, u32 len)
{
	size_t room, i;
	char *text = next_text(&room);

	for (i = 0; i < len && i < room - 1 && i < 48; i++)
		text[i] = isprint(data[i]) ? (char)data[i] : '.';
	text[i] = 0;
	return text;
}

void tell_response(struct world *w, u32 x, const u8 *response, u32 len)
{
	struct bftm_object_answer a;
	u64 op = w->order->client[x].op, version;
	char text[160] = "";
	size_t used = 0;
	int i, count;

	count = bftm_answers(response, len, &version);
	for (i = 0; i < count && used < sizeof(text); i++) {
		bftm_answer_get(response, (u32)i, &a);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s%s",
					 i ? ", " : "", a.len ? story_text(a.data, a.len) : "",
					 a.len && a.status ? " " : "",
					 a.status ? strerrorname_np((int)a.status) :
					 a.len ? "" : "done");
	}
	tell(w, 0, "c%u has the answer to %s, of version %s: %s", x + 1, story_attempt(w, op),
	     story_number(version), text);
}

const char *story_iteration(const struct bftm_order_msg *req)
{
	bool gets = req->type == BFTM_ORDER_GET, goes_on = req->type == BFTM_ORDER_COMMIT_GET;
	size_t room;
	char *text = next_text(&room);

	snprintf(text, room, "%s %s%s%s%s%s", bftm_order_name(req->type), story_rank(&req->rank),
		 gets ? "" : " of ", gets ? "" : story_body(&req->id), goes_on ? ", then " : "",
		 goes_on ? story_rank(&req->then) : "");
	return text;
}

static const char *type_name(u8 type)
{
	if (type == BFTM_MSG_NONE)
		return "nothing";
	return type == BFTM_MSG_REFUSED || type == BFTM_MSG_STALE ? bftm_msg_name(type) :
	       bftm_order_name(type);
}

void tell_order_answer(struct world *w, u32 u, const char *tells,
		       const struct bftm_order_msg *req, const struct bftm_order_msg *reply)
{
	if (reply->type == BFTM_ORDER_GOT) {
		tell_more(w, 0, "s%u %s c%u: GOT %s: %s is committed, %s proposed with %s, %u wait",
			  u + 1, tells, req->client + 1, story_rank(&req->rank),
			  story_body(&reply->id), story_body(&reply->sp), story_rank(&reply->prop),
			  reply->pending);
	} else if (reply->type == BFTM_ORDER_COMMITTED_GOT) {
		tell_more(w, 0, "s%u %s c%u: COMMITTED_GOT to %s, %u wait", u + 1, tells,
			  req->client + 1, story_iteration(req), reply->pending);
	} else if (reply->type == BFTM_ORDER_EXCEPTION) {
		tell_more(w, 0, "s%u %s c%u: EXCEPTION to %s %s, it has seen %s", u + 1, tells,
			  req->client + 1, bftm_order_name(req->type), story_rank(&req->rank),
			  story_rank(&reply->max));
	} else if (req->type == BFTM_ORDER_SUBMIT) {
		tell_more(w, 0, "s%u %s c%u: %s to operation %s", u + 1, tells, req->client + 1,
			  type_name(reply->type), story_attempt(w, req->op));
	} else if (req->type == BFTM_ORDER_FETCH || req->type == BFTM_ORDER_PUT) {
		tell_more(w, 0, "s%u %s c%u: %s of %s at %u", u + 1, tells, req->client + 1,
			  type_name(reply->type), story_body(&req->id), req->offset);
	} else {
		tell_more(w, 0, "s%u %s c%u: %s to %s", u + 1, tells, req->client + 1,
			  type_name(reply->type), story_iteration(req));
	}
}

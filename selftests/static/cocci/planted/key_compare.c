// SPDX-License-Identifier: GPL-2.0
static bool same(const struct bftm_wire *wire, const u8 *tag, const u8 *name)
{
	if (memcmp(name, wire->data + BFTM_HEAD_LEN, wire->head.name_len))
		return false;
	return !memcmp(tag, wire->data + wire->len - BFTM_TAG_LEN, BFTM_TAG_LEN);	/* found */
}

static bool same_keys(const struct bftm_cluster *cl, const struct bftm_credentials *cred)
{
	return !memcmp(&cl->cred, cred, sizeof(*cred));	/* found */
}

static bool right(const struct bftm_wire *wire, const u8 *tag)
{
	return !crypto_memneq(tag, wire->data + wire->len - BFTM_TAG_LEN, BFTM_TAG_LEN);
}

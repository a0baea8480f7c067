// SPDX-License-Identifier: GPL-2.0
static void wipe(struct bftm_mac *mac, struct bftm_msg *msg)
{
	u8 own[32];

	memset(msg, 0, sizeof(*msg));
	memset(mac->key, 0, sizeof(mac->key));	/* found */
	memset(own, 0, sizeof(own));	/* found */
	OPENSSL_cleanse(own, sizeof(own));
}

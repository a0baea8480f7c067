// SPDX-License-Identifier: GPL-2.0
static bool left(struct bftm_server *server, u32 client, const void *buf, size_t len)
{
	struct bftm_pair pair;	/* found */

	bftm_derive(server->param.key, 1, 2, client, &pair);
	return bftm_tag_ok(pair.request, buf, len);
}

static bool wiped(struct bftm_server *server, u32 client, const void *buf, size_t len)
{
	struct bftm_pair pair;
	bool good;

	bftm_derive(server->param.key, 1, 2, client, &pair);
	good = bftm_tag_ok(pair.request, buf, len);
	memzero_explicit(&pair, sizeof(pair));
	return good;
}

static int read_it(const char *path)
{
	struct bftm_master master = {};	/* found */

	return bftm_master_load(path, &master);
}

// SPDX-License-Identifier: GPL-2.0
/* Files with the keys that sign ranks. */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "config/conf.h"
#include "loop/log.h"
#include "loop/reason.h"
#include "crypto/rank_file.h"
#include "config/syntax.h"

#define PRIVATE "bftmutex-rank"
#define PUBLIC "bftmutex-ranks"
#define SUFFIX ".client"

#define HEX_LEN (2 * BFTM_RANK_KEY_LEN)

char *bftm_rank_private_path(const char *credentials, char ret[PATH_MAX])
{
	size_t len = strlen(credentials), suffix = strlen(SUFFIX);

	if (len > suffix && !strcmp(credentials + len - suffix, SUFFIX))
		len -= suffix;
	snprintf(ret, PATH_MAX, "%.*s.rank", (int)len, credentials);
	return ret;
}

char *bftm_rank_public_path(const char *credentials, char ret[PATH_MAX])
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", credentials);
	snprintf(ret, PATH_MAX, "%s/ranks", dirname(copy));
	return ret;
}

static void read_key(struct bftm_syntax *syntax, cfg_t *section, u8 ret[BFTM_RANK_KEY_LEN])
{
	const struct bftm_value *value = bftm_value(section, "key");
	size_t len = 0;

	if (!value)
		bftm_mistake(syntax, section->line, "key 'key' is missing");
	else if (strlen(value->text) != HEX_LEN ||
		 OPENSSL_hexstr2buf_ex(ret, BFTM_RANK_KEY_LEN, &len, value->text, '\0') != 1)
		bftm_mistake(syntax, value->line, "key 'key' must be %u hexadecimal digits",
			     HEX_LEN);
}

static void check_number(struct bftm_syntax *syntax, cfg_t *section, const char *name, u32 want)
{
	const struct bftm_value *value = bftm_value(section, name);
	u64 number = 0;

	if (!value)
		bftm_mistake(syntax, section->line, "key '%s' is missing", name);
	else if (bftm_value_range(syntax, value, false, 1, UINT32_MAX, &number) &&
		 number != want)
		bftm_mistake(syntax, value->line, "key '%s' = '%s': must be %u here", name,
			     value->text, want);
}

static int rank_file_finish(struct bftm_syntax *syntax, FILE *file, int r)
{
	if (r < 0 && r != -EINVAL)
		bftm_log(LOG_ERR, "%s: %s", syntax->path, strerror(-r));
	if (syntax->mistakes)
		r = -EINVAL;
	bftm_syntax_free(syntax);
	fclose(file);
	return r;
}

int bftm_rank_private_load(const char *path, u32 cluster, u32 client,
			   u8 ret[BFTM_RANK_KEY_LEN])
{
	cfg_opt_t keys[] = {
		BFTM_KEY("cluster"), BFTM_KEY("client"), BFTM_KEY("key"), CFG_END(),
	};
	cfg_opt_t table[] = { CFG_SEC(PRIVATE, keys, CFGF_MULTI), CFG_END() };
	struct bftm_syntax syntax = { .path = path, .secret = true };
	FILE *file;
	int r;

	file = bftm_open_private(path, &r);
	if (!file)
		return r;
	r = bftm_syntax_read(&syntax, file, table);
	if (r == 0 && cfg_size(syntax.root, PRIVATE) != 1) {
		bftm_mistake(&syntax, 1, "must hold one section '%s'", PRIVATE);
	} else if (r == 0) {
		cfg_t *section = cfg_getnsec(syntax.root, PRIVATE, 0);

		check_number(&syntax, section, "cluster", cluster);
		check_number(&syntax, section, "client", client);
		read_key(&syntax, section, ret);
	}
	return rank_file_finish(&syntax, file, r);
}

static int rank_file_compare(const void *a, const void *b)
{
	const struct bftm_rank_client *x = a, *y = b;

	return x->client < y->client ? -1 : x->client > y->client;
}

static int read_clients(struct bftm_syntax *syntax, cfg_t *section,
			struct bftm_rank_client **ret, u32 *ret_count)
{
	u32 i, count = cfg_size(section, "client");
	struct bftm_rank_client *list = calloc(count ?: 1, sizeof(*list));
	u64 number;

	if (!list)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		cfg_t *client = cfg_getnsec(section, "client", i);

		number = 0;
		if (bftm_parse_number(client->title, &number) < 0 || number < 1 ||
		    number > BFTM_CLIENT_ID_MAX)
			bftm_mistake(syntax, client->line, "client '%s': its number must be 1 to %u",
				     client->title, BFTM_CLIENT_ID_MAX);
		list[i].client = (u32)number;
		read_key(syntax, client, list[i].key);
	}
	qsort(list, count, sizeof(*list), rank_file_compare);
	*ret = list;
	*ret_count = count;
	return 0;
}

int bftm_rank_public_load(const char *path, u32 cluster, struct bftm_rank_client **ret,
			  u32 *ret_count)
{
	cfg_opt_t client[] = { BFTM_KEY("key"), CFG_END() };
	cfg_opt_t keys[] = {
		BFTM_KEY("cluster"),
		CFG_SEC("client", client, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
		CFG_END(),
	};
	cfg_opt_t table[] = { CFG_SEC(PUBLIC, keys, CFGF_MULTI), CFG_END() };
	struct bftm_syntax syntax = { .path = path };
	struct bftm_rank_client *list = NULL;
	FILE *file = fopen(path, "re");
	char why[BFTM_REASON_MAX];
	u32 count = 0;
	int r;

	if (!file) {
		r = -errno;
		bftm_log(LOG_ERR, "%s: %s", path, bftm_file_reason(path, r, why));
		return r;
	}
	r = bftm_syntax_read(&syntax, file, table);
	if (r == 0 && cfg_size(syntax.root, PUBLIC) != 1) {
		bftm_mistake(&syntax, 1, "must hold one section '%s'", PUBLIC);
	} else if (r == 0) {
		cfg_t *section = cfg_getnsec(syntax.root, PUBLIC, 0);

		check_number(&syntax, section, "cluster", cluster);
		r = read_clients(&syntax, section, &list, &count);
	}
	r = rank_file_finish(&syntax, file, r);
	if (r < 0) {
		free(list);
		return r;
	}
	*ret = list;
	*ret_count = count;
	return 0;
}

static int format_hex(const u8 *key, char ret[HEX_LEN + 1])
{
	return OPENSSL_buf2hexstr_ex(ret, HEX_LEN + 1, NULL, key, BFTM_RANK_KEY_LEN,
				     '\0') == 1 ? 0 : -EIO;
}

int bftm_rank_private_save(const char *path, u32 cluster, u32 client,
			   const u8 key[BFTM_RANK_KEY_LEN])
{
	char hex[HEX_LEN + 1], text[256];
	int r = format_hex(key, hex);

	if (r < 0)
		return r;
	snprintf(text, sizeof(text),
		 PRIVATE " {\n\tcluster = %u\n\tclient = %u\n\tkey = \"%s\"\n}\n", cluster, client,
		 hex);
	r = bftm_save_private(path, text);
	OPENSSL_cleanse(hex, sizeof(hex));
	OPENSSL_cleanse(text, sizeof(text));
	return r;
}

int bftm_rank_public_save(const char *path, u32 cluster,
			  const struct bftm_rank_client *client, u32 count)
{
	char fresh[PATH_MAX], public[HEX_LEN + 1];
	FILE *file;
	int bad;
	u32 i;

	if (snprintf(fresh, sizeof(fresh), "%s.new", path) >= (int)sizeof(fresh))
		return -ENAMETOOLONG;
	file = fopen(fresh, "we");
	if (!file)
		return -errno;
	fprintf(file, PUBLIC " {\n\tcluster = %u\n", cluster);
	for (i = 0; i < count && format_hex(client[i].key, public) == 0; i++)
		fprintf(file, "\tclient %u { key = \"%s\" }\n", client[i].client, public);
	fprintf(file, "}\n");
	bad = i < count || fflush(file) || fsync(fileno(file)) < 0;
	bad |= fclose(file);
	if (bad || rename(fresh, path) < 0) {
		int err = errno ? -errno : -EIO;

		unlink(fresh);
		return err;
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/* Key files: a server's master key, a client's credentials. */
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "config/conf.h"
#include "crypto/keys.h"
#include "loop/log.h"
#include "loop/reason.h"
#include "config/syntax.h"

#define MASTER "bftmutex-master"
#define CLIENT "bftmutex-client"

/* A line for each server and a little more. */
#define TEXT_MAX (256 + BFTM_SERVERS_MAX * 128)

void bftm_keys_no_dump(void)
{
	static const struct rlimit none;

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

FILE *bftm_open_private(const char *path, int *ret_errno)
{
	char why[BFTM_REASON_MAX];
	struct stat st;
	FILE *file;

	*ret_errno = 0;
	file = fopen(path, "re");
	if (!file || fstat(fileno(file), &st) < 0) {
		*ret_errno = -errno;
		bftm_log(LOG_ERR, "%s: %s", path, bftm_file_reason(path, *ret_errno, why));
	} else if (S_ISDIR(st.st_mode)) {
		*ret_errno = -EISDIR;
		bftm_log(LOG_ERR, "%s: %s: the file of a key is wanted", path, strerror(EISDIR));
	} else if (st.st_mode & 077) {
		*ret_errno = -EPERM;
		bftm_log(LOG_ERR, "%s: mode %04o lets others use the key; if the file is a key, correct it by: "
			 "chmod 600 %s", path, st.st_mode & 07777, path);
	} else if (st.st_uid && st.st_uid != geteuid()) {
		*ret_errno = -EPERM;
		bftm_log(LOG_ERR, "%s: the file belongs to user %u, who could use the key; if it is a key, correct it by: "
			 "chown root %s", path, st.st_uid, path);
	}
	if (*ret_errno && file) {
		fclose(file);
		file = NULL;
	}
	/* A buffer of stdio would be freed with the key in it. */
	if (file)
		setvbuf(file, NULL, _IONBF, 0);
	return file;
}

static u32 read_number(struct bftm_syntax *syntax, cfg_t *section, const char *name, u64 max)
{
	const struct bftm_value *value = bftm_value(section, name);
	u64 number = 0;

	if (!value)
		bftm_mistake(syntax, section->line, "key '%s' is missing", name);
	else
		bftm_value_range(syntax, value, false, 1, max, &number);
	return number;
}

static void read_secret(struct bftm_syntax *syntax, cfg_t *section, u8 ret[BFTM_KEY_LEN])
{
	const struct bftm_value *value = bftm_value(section, "key");
	size_t len = 0;

	if (!value)
		bftm_mistake(syntax, section->line, "key 'key' is missing");
	else if (strlen(value->text) != 2 * BFTM_KEY_LEN ||
		 OPENSSL_hexstr2buf_ex(ret, BFTM_KEY_LEN, &len, value->text, '\0') != 1)
		bftm_mistake(syntax, value->line, "key 'key' must be %u hexadecimal digits",
			     2 * BFTM_KEY_LEN);
}

static void read_master(struct bftm_syntax *syntax, cfg_t *section, struct bftm_master *ret)
{
	ret->cluster = read_number(syntax, section, "cluster", UINT32_MAX);
	ret->server = read_number(syntax, section, "server", BFTM_SERVER_ID_MAX);
	read_secret(syntax, section, ret->key);
}

static void read_pair(struct bftm_syntax *syntax, cfg_t *section, struct bftm_credentials *ret)
{
	u64 server = 0;
	u32 i;

	if (bftm_parse_number(section->title, &server) < 0 || server < 1 ||
	    server > BFTM_SERVER_ID_MAX)
		bftm_mistake(syntax, section->line, "a server's number must be 1 to %u",
			     BFTM_SERVER_ID_MAX);
	for (i = 0; i < ret->count; i++)
		if (ret->key[i].server == server)
			bftm_mistake(syntax, section->line, "server %u is there twice",
				     (unsigned int)server);
	ret->key[ret->count].server = server;
	read_secret(syntax, section, (u8 *)&ret->key[ret->count].pair);
	ret->count++;
}

static void read_client(struct bftm_syntax *syntax, cfg_t *section, struct bftm_credentials *ret)
{
	u32 i, n = cfg_size(section, "server");

	static_assert(sizeof(ret->key[0].pair) == BFTM_KEY_LEN);

	/* cppcheck-suppress ctunullpointer; NULL only where a master is wanted */
	ret->cluster = read_number(syntax, section, "cluster", UINT32_MAX);
	ret->client = read_number(syntax, section, "client", BFTM_CLIENT_ID_MAX);
	if (n < 1 || n > BFTM_SERVERS_MAX)
		bftm_mistake(syntax, section->line, "keys for %u servers: must be 1 to %u", n,
			     BFTM_SERVERS_MAX);
	for (i = 0; i < n && i < BFTM_SERVERS_MAX; i++)
		read_pair(syntax, cfg_getnsec(section, "server", i), ret);
}

/* Reads a file that must have one section @kind; fills in @master or @credentials. */
static int read_keys(const char *path, const char *kind, struct bftm_master *master,
		     struct bftm_credentials *cred)
{
	cfg_opt_t master_keys[] = {
		BFTM_KEY("cluster"), BFTM_KEY("server"), BFTM_KEY("key"), CFG_END(),
	};
	cfg_opt_t server_keys[] = { BFTM_KEY("key"), CFG_END() };
	cfg_opt_t client_keys[] = {
		BFTM_KEY("cluster"), BFTM_KEY("client"),
		CFG_SEC("server", server_keys, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
		CFG_END(),
	};
	cfg_opt_t table[] = {
		CFG_SEC(MASTER, master_keys, CFGF_MULTI),
		CFG_SEC(CLIENT, client_keys, CFGF_MULTI),
		CFG_END(),
	};
	struct bftm_syntax syntax = { .path = path, .secret = true };
	cfg_t *section;
	FILE *file;
	int r;

	file = bftm_open_private(path, &r);
	if (!file)
		return r;
	r = bftm_syntax_read(&syntax, file, table);
	if (r == 0 && (cfg_size(syntax.root, kind) != 1 ||
		       cfg_size(syntax.root, MASTER) + cfg_size(syntax.root, CLIENT) != 1)) {
		bftm_mistake(&syntax, 1, "must hold one section '%s' and nothing else", kind);
	} else if (r == 0) {
		section = cfg_getnsec(syntax.root, kind, 0);
		if (master)
			read_master(&syntax, section, master);
		else
			read_client(&syntax, section, cred);
	}
	if (r < 0 && r != -EINVAL)
		bftm_log(LOG_ERR, "%s: %s", path, strerror(-r));
	if (syntax.mistakes)
		r = -EINVAL;
	bftm_syntax_free(&syntax);
	fclose(file);
	return r;
}

int bftm_master_load(const char *path, struct bftm_master *ret)
{
	struct bftm_master master = {};
	int r;

	r = read_keys(path, MASTER, &master, NULL);
	if (r == 0)
		*ret = master;
	OPENSSL_cleanse(&master, sizeof(master));
	return r;
}

int bftm_credentials_load(const char *path, struct bftm_credentials *ret)
{
	struct bftm_credentials cred = {};
	int r;

	r = read_keys(path, CLIENT, NULL, &cred);
	if (r == 0)
		*ret = cred;
	OPENSSL_cleanse(&cred, sizeof(cred));
	return r;
}

int bftm_save_private(const char *path, const char *text)
{
	size_t len = strlen(text);
	ssize_t done;
	int fd, r = 0;

	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	done = write(fd, text, len);
	if (done < 0 || fsync(fd) < 0)
		r = -errno;
	else if ((size_t)done < len)
		r = -ENOSPC;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r < 0)
		unlink(path);
	return r;
}

static int format_hex(const u8 *key, char ret[2 * BFTM_KEY_LEN + 1])
{
	return OPENSSL_buf2hexstr_ex(ret, 2 * BFTM_KEY_LEN + 1, NULL, key, BFTM_KEY_LEN,
				     '\0') == 1 ? 0 : -EIO;
}

int bftm_master_save(const char *path, const struct bftm_master *master)
{
	char hex[2 * BFTM_KEY_LEN + 1], text[TEXT_MAX];
	int r;

	r = format_hex(master->key, hex);
	if (r == 0) {
		snprintf(text, sizeof(text),
			 MASTER " {\n\tcluster = %u\n\tserver = %u\n\tkey = \"%s\"\n}\n",
			 master->cluster, master->server, hex);
		r = bftm_save_private(path, text);
	}
	OPENSSL_cleanse(hex, sizeof(hex));
	OPENSSL_cleanse(text, sizeof(text));
	return r;
}

int bftm_credentials_save(const char *path, const struct bftm_credentials *cred)
{
	char hex[2 * BFTM_KEY_LEN + 1], text[TEXT_MAX];
	size_t len;
	int r = 0;
	u32 i;

	len = snprintf(text, sizeof(text), CLIENT " {\n\tcluster = %u\n\tclient = %u\n",
		       cred->cluster, cred->client);
	for (i = 0; i < cred->count && r == 0; i++) {
		r = format_hex((const u8 *)&cred->key[i].pair, hex);
		len += snprintf(text + len, sizeof(text) - len,
				"\tserver %u { key = \"%s\" }\n", cred->key[i].server, hex);
	}
	snprintf(text + len, sizeof(text) - len, "}\n");
	if (r == 0)
		r = bftm_save_private(path, text);
	OPENSSL_cleanse(hex, sizeof(hex));
	OPENSSL_cleanse(text, sizeof(text));
	return r;
}

// SPDX-License-Identifier: GPL-2.0
/* The servers of a cluster, as the configuration names them. */
#include <arpa/inet.h>
#include <net/if.h>

#include "uapi/linux/bftmutex_netlink.h"
#include "config/conf.h"
#include "config/conf_server.h"

static void format_address(struct bftm_conf_server *server)
{
	const struct in6_addr *ip = &server->addr.sin6_addr;
	unsigned int port = ntohs(server->addr.sin6_port);
	char text[INET6_ADDRSTRLEN + sizeof(server->zone)];
	size_t len;

	if (IN6_IS_ADDR_V4MAPPED(ip)) {
		inet_ntop(AF_INET, &ip->s6_addr[12], text, sizeof(text));
		snprintf(server->text, sizeof(server->text), "%s:%u", text, port);
	} else {
		inet_ntop(AF_INET6, ip, text, sizeof(text));
		len = strlen(text);
		if (*server->zone)
			snprintf(text + len, sizeof(text) - len, "%%%s", server->zone);
		snprintf(server->text, sizeof(server->text), "[%s]:%u", text, port);
	}
}

/* An address that one host can have; IPv4 comes back mapped. */
static bool parse_address(const char *text, struct in6_addr *ret)
{
	struct in6_addr ip = {};
	struct in_addr ip4;

	if (inet_pton(AF_INET, text, &ip4) == 1) {
		ip.s6_addr[10] = 0xff;
		ip.s6_addr[11] = 0xff;
		memcpy(&ip.s6_addr[12], &ip4, sizeof(ip4));
	} else if (inet_pton(AF_INET6, text, &ip) != 1) {
		return false;
	}
	if (IN6_IS_ADDR_V4MAPPED(&ip)) {
		memcpy(&ip4, &ip.s6_addr[12], sizeof(ip4));
		if (ip4.s_addr == INADDR_ANY || ip4.s_addr == INADDR_BROADCAST ||
		    IN_MULTICAST(ntohl(ip4.s_addr)))
			return false;
	}
	if (IN6_IS_ADDR_UNSPECIFIED(&ip) || IN6_IS_ADDR_MULTICAST(&ip))
		return false;
	*ret = ip;
	return true;
}

/*
 * The interface is given by name or number. The number of a name is known only on a host with that
 * interface; the server's own host, which may read this file too, does not need it.
 */
static u32 zone_index(const char *zone)
{
	u32 index = if_nametoindex(zone);
	u64 number;

	if (!index && !bftm_parse_number(zone, &number) && number <= INT32_MAX)
		index = (u32)number;
	return index;
}

/* Returns a fault of the address, or NULL. A link-local one is useless without its interface. */
static const char *read_address(const char *text, struct bftm_conf_server *ret)
{
	size_t len = strcspn(text, "%");
	const char *zone = text[len] ? text + len + 1 : NULL;
	char address[INET6_ADDRSTRLEN];
	struct in6_addr ip;

	snprintf(address, sizeof(address), "%.*s", (int)len, text);
	if (len >= sizeof(address) || !parse_address(address, &ip))
		return "must be the numeric IPv4 or IPv6 address of one host; a port is a key of its own, 'port'";
	if (IN6_IS_ADDR_LINKLOCAL(&ip) && !zone)
		return "a link-local address needs the interface of this host behind it, as in fe80::1%eth0";
	if (zone && !IN6_IS_ADDR_LINKLOCAL(&ip))
		return "only a link-local address has an interface behind it";
	if (zone && (!*zone || strlen(zone) >= sizeof(ret->zone)))
		return "the name of an interface is 1 to 15 characters";
	ret->addr.sin6_addr = ip;
	if (zone) {
		strcpy(ret->zone, zone);
		ret->addr.sin6_scope_id = zone_index(zone);
	}
	return NULL;
}

/* For "bftmutexctl server start" on the server's own host. */
static bool read_journal(struct bftm_syntax *syntax, cfg_t *section, struct bftm_conf_server *ret)
{
	static const char *const words[] = {
		[BFTMUTEX_DURABILITY_NONE] = "none",
		[BFTMUTEX_DURABILITY_ASYNC] = "async",
		[BFTMUTEX_DURABILITY_SYNC] = "sync",
		NULL
	};
	const struct bftm_value *durability = bftm_value(section, "durability");
	const struct bftm_value *journal = bftm_value(section, "journal");
	u64 word = BFTMUTEX_DURABILITY_NONE;
	int len = 1;

	if (durability && !bftm_value_word(syntax, durability, words, &word))
		return false;
	ret->durability = (u32)word;
	if (journal)
		len = snprintf(ret->journal, sizeof(ret->journal), "%s", journal->text);
	if (len > 0 && len < (int)sizeof(ret->journal))
		return true;
	bftm_mistake(syntax, journal->line, "key 'journal': a path is 1 to %zu characters",
		     sizeof(ret->journal) - 1);
	return false;
}

static bool read_roll(struct bftm_syntax *syntax, cfg_t *section, struct bftm_conf_server *ret)
{
	static const char *const answers[] = { "no", "yes", NULL };
	const struct bftm_value *roll = bftm_value(section, "roll");
	u64 answer = 0;

	if (roll && !bftm_value_word(syntax, roll, answers, &answer))
		return false;
	ret->roll = answer;
	return true;
}

/* A number within limits; 0 when the file has none. */
static bool read_limit(struct bftm_syntax *syntax, cfg_t *section, const char *key, u64 min,
		       u64 max, u64 *ret)
{
	const struct bftm_value *value = bftm_value(section, key);

	*ret = 0;
	return !value || bftm_value_range(syntax, value, false, min, max, ret);
}

/* The limits of a server; 0 for those that the file does not have. */
static bool read_limits(struct bftm_syntax *syntax, cfg_t *section, struct bftm_conf_server *ret)
{
	u64 holders, objects, state;
	bool good;

	good = read_limit(syntax, section, "max-holders", BFTM_HOLDERS_MIN, BFTM_HOLDERS_MAX,
			  &holders);
	good &= read_limit(syntax, section, "max-objects", BFTM_OBJECTS_MIN, BFTM_OBJECTS_MAX,
			   &objects);
	good &= read_limit(syntax, section, "max-state", BFTM_STATE_MIN, BFTM_STATE_MAX, &state);
	good &= read_limit(syntax, section, "object-memory", BFTM_OBJECT_MEMORY_MIN,
			   BFTM_OBJECT_MEMORY_MAX, &ret->object_memory);
	ret->max_holders = (u32)holders;
	ret->max_objects = (u32)objects;
	ret->max_state = (u32)state;
	return good;
}

static bool read_server(struct bftm_syntax *syntax, cfg_t *section, struct bftm_conf_server *ret)
{
	const struct bftm_value *address = bftm_value(section, "address");
	const struct bftm_value *port_value = bftm_value(section, "port");
	u64 id = 0, port = BFTM_PORT_DEFAULT;
	const char *wrong;
	bool good = true;

	if (bftm_parse_number(section->title, &id) < 0 || id < 1 || id > BFTM_SERVER_ID_MAX) {
		bftm_mistake(syntax, section->line, "server '%s': its number must be 1 to %u",
			     section->title, BFTM_SERVER_ID_MAX);
		good = false;
	}
	if (!address) {
		if (!syntax->partial)
			bftm_mistake(syntax, section->line, "server '%s': key 'address' is missing",
				     section->title);
		good = false;
	} else {
		wrong = read_address(address->text, ret);
		if (wrong)
			bftm_mistake(syntax, address->line, "key 'address' = '%s': %s",
				     address->text, wrong);
		good &= !wrong;
	}
	if (port_value && !bftm_value_range(syntax, port_value, false, 1, UINT16_MAX, &port))
		good = false;
	if (!read_journal(syntax, section, ret) || !read_roll(syntax, section, ret) ||
	    !read_limits(syntax, section, ret) ||
	    !bftm_value_device(syntax, bftm_value(section, "ingress"), ret->ingress))
		good = false;

	ret->id = id;
	ret->addr.sin6_family = AF_INET6;
	ret->addr.sin6_port = htons(port);
	format_address(ret);
	return good;
}

/* Compares the server with the earlier ones, which are valid. */
static bool is_new_server(struct bftm_syntax *syntax, cfg_t *section,
			  const struct bftm_conf_cluster *cluster, u32 count,
			  const struct bftm_conf_server *server)
{
	const struct bftm_conf_server *other;

	for (other = cluster->server; other < cluster->server + count; other++) {
		if (other->id == server->id) {
			bftm_mistake(syntax, section->line, "server '%s' is there twice",
				     section->title);
			return false;
		}
		if (!strcmp(other->text, server->text)) {
			bftm_mistake(syntax, section->line,
				     "servers %u and %u have the same address %s", other->id,
				     server->id, server->text);
			return false;
		}
	}
	return true;
}

void bftm_conf_read_servers(struct bftm_syntax *syntax, cfg_t *section,
			    struct bftm_conf_cluster *ret)
{
	u32 i, good = 0;

	ret->n = cfg_size(section, "server");
	if (!ret->n && !syntax->partial)
		bftm_mistake(syntax, section->line, "cluster '%s': no servers", ret->name);
	if (ret->n > BFTM_SERVERS_MAX)
		bftm_mistake(syntax, section->line, "cluster '%s': %u servers, but %u are the most",
			     ret->name, ret->n, BFTM_SERVERS_MAX);
	for (i = 0; i < ret->n && good < BFTM_SERVERS_MAX; i++) {
		cfg_t *server = cfg_getnsec(section, "server", i);

		if (read_server(syntax, server, &ret->server[good]) &&
		    is_new_server(syntax, server, ret, good, &ret->server[good]))
			good++;
	}
}

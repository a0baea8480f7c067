// SPDX-License-Identifier: GPL-2.0
static void tell(const struct bftm_server *server, const struct bftm_master *master)
{
	pr_err("server %u\n", server->param.id);
	pr_debug("%32ph\n", server->param.key);	/* found */
	bftm_log(LOG_DEBUG, "key %s", master->key);	/* found */
	print_hex_dump_bytes("", 0, server->param.key, 32);	/* found */
}

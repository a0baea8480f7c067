// SPDX-License-Identifier: GPL-2.0
// Functions whose failure must not be passed over.
// Files: kmod
@unchecked@
position p;
identifier f =~ "^(nla_put.*|copy_to_user|copy_from_user|put_user|get_user|bftm_wire_get|bftm_order_wire_get|bftm_tag_ok|bftm_client_take|bftm_admit|bftm_admit_address|pskb_may_pull|skb_ensure_writable|dst_cache_init|bftm_netns_start|bftm_session_lend|nla_parse.*)$";
@@
f@p(...);

@script:python@
p << unchecked.p;
f << unchecked.f;
@@
print("%s:%s: the result of %s() is not looked at" % (p[0].file, p[0].line, f))

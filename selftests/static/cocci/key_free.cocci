// SPDX-License-Identifier: GPL-2.0
// What has keys in it is freed by kfree_sensitive() or kvfree_sensitive().
// Files: kmod
@key_free@
{struct bftm_server, struct bftm_server_param, struct bftm_client, struct bftm_client_keys,
 struct bftm_session, struct bftm_session_peer} *x;
position p;
@@
\(kfree\|kvfree\|vfree\)(x)@p

@script:python@
p << key_free.p;
@@
print("%s:%s: freed with keys in it: kfree_sensitive()" % (p[0].file, p[0].line))

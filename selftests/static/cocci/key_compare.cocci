// SPDX-License-Identifier: GPL-2.0
// How long a comparison of keys or tags takes says nothing: crypto_memneq(), CRYPTO_memcmp().
// Files: kmod helper
@key_compare@
identifier x =~ "^(tag|pair|cred|master|secret|mac|request_key|reply_key|out)$";
identifier compare =~ "^(memcmp|bcmp|strcmp|strncmp|strcasecmp)$";
expression e, other;
position p;
@@
(
compare@p(<+... \(x\|e.x\|e->x\) ...+>, other, ...)
|
compare@p(other, <+... \(x\|e.x\|e->x\) ...+>, ...)
)

@script:python@
p << key_compare.p;
x << key_compare.x;
@@
print("%s:%s: '%s' is compared in a time that tells: crypto_memneq(), CRYPTO_memcmp()" %
      (p[0].file, p[0].line, x))

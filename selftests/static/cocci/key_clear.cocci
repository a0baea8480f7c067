// SPDX-License-Identifier: GPL-2.0
// A compiler leaves out memset() of what is not read again.
// Files: kmod helper
@key_clear@
identifier x =~ "^(key|own|hex|pair|cred|master|masters|secret|raw)$";
expression e, len;
position p;
@@
\(memset@p(\(x\|&x\|e.x\|e->x\|&e.x\|&e->x\), 0, len)\|
  bzero@p(\(x\|&x\|e.x\|e->x\|&e.x\|&e->x\), len)\)

@script:python@
p << key_clear.p;
@@
print("%s:%s: a compiler may leave this out: memzero_explicit(), OPENSSL_cleanse()" %
      (p[0].file, p[0].line))

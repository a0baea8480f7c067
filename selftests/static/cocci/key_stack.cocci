// SPDX-License-Identifier: GPL-2.0
// Keys on the stack are wiped before the function returns.
// Files: kmod helper
@key_stack@
identifier f, x;
position p;
@@
f(...)
{
...
\(struct bftm_pair x@p;\|struct bftm_client_keys x@p;\|struct bftm_server_param x@p;\|
  struct bftm_master x@p;\|
  struct bftm_master x@p = { ... };\|struct bftm_credentials x@p;\|
  struct bftm_credentials x@p = { ... };\|struct masters x@p;\)
...
}

@key_stack_wiped@
identifier key_stack.f, key_stack.x;
@@
f(...)
{
<+...
\(memzero_explicit\|explicit_bzero\|OPENSSL_cleanse\)(&x, sizeof(x))
...+>
}

@script:python depends on !key_stack_wiped@
p << key_stack.p;
x << key_stack.x;
@@
print("%s:%s: keys in '%s' stay on the stack: memzero_explicit(), OPENSSL_cleanse()" %
      (p[0].file, p[0].line, x))

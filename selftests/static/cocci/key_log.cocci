// SPDX-License-Identifier: GPL-2.0
// No byte of a key is logged or printed.
// Files: kmod helper
@key_log@
identifier x =~ "^(pair|secret|hex|request_key|reply_key|master|own)$";
identifier log =~ "^(pr_[a-z_]*|printk|dev_[a-z]*|trace_[a-z_]*|bftm_log|bftm_mistake|ctl_fail|printf|fprintf|puts|fputs|fwrite|print_hex_dump[a-z_]*|NL_SET_ERR_MSG_FMT)$";
expression e;
position p;
@@
log@p(..., \(x\|e.x\|e->x\|x.key\|x->key\), ...)

@key_log_k@
identifier log =~ "^(pr_[a-z_]*|printk|bftm_log|print_hex_dump[a-z_]*)$";
expression e;
position p;
@@
log@p(..., \(e.key\|e->key\|e.pair\|e->pair\), ...)

@script:python@
p << key_log.p;
@@
print("%s:%s: a key is logged" % (p[0].file, p[0].line))

@script:python@
p << key_log_k.p;
@@
print("%s:%s: a key is logged" % (p[0].file, p[0].line))

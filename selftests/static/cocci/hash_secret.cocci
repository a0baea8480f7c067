// SPDX-License-Identifier: GPL-2.0
// What others choose is hashed with a secret, siphash(): or they choose what goes to one place.
// Files: kmod
@hash_secret@
identifier hash =~ "^(jhash.*|full_name_hash|hashlen_string|xxh32|xxh64|crc32.*)$";
position p;
@@
hash@p(...)

@script:python@
p << hash_secret.p;
hash << hash_secret.hash;
@@
print("%s:%s: '%s' has no secret: siphash()" % (p[0].file, p[0].line, hash))

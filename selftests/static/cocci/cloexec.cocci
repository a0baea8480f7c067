// SPDX-License-Identifier: GPL-2.0
// No descriptor is there for programs that are started: O_CLOEXEC and the like.
// Files: helper
@cloexec@
position p;
expression folder, path, flags;
@@
(
open(path, <+... O_CLOEXEC ...+>, ...)
|
open@p(path, flags, ...)
|
openat(folder, path, <+... O_CLOEXEC ...+>, ...)
|
openat@p(folder, path, flags, ...)
)

@cloexec_s@
position p;
expression domain, type, protocol;
@@
(
socket(domain, <+... SOCK_CLOEXEC ...+>, protocol)
|
socket@p(domain, type, protocol)
)

@cloexec_o@
position p;
identifier f =~ "^(pipe|dup|accept|epoll_create|inotify_init|creat|mkstemp|popen|tmpfile)$";
@@
f@p(...)

@cloexec_m@
position p;
constant char[] mode !~ "e";
expression path;
@@
fopen@p(path, mode)

@script:python@
p << cloexec.p;
@@
print("%s:%s: without O_CLOEXEC" % (p[0].file, p[0].line))

@script:python@
p << cloexec_s.p;
@@
print("%s:%s: without SOCK_CLOEXEC" % (p[0].file, p[0].line))

@script:python@
p << cloexec_o.p;
@@
print("%s:%s: there is one that takes O_CLOEXEC" % (p[0].file, p[0].line))

@script:python@
p << cloexec_m.p;
@@
print("%s:%s: fopen() without \"e\"" % (p[0].file, p[0].line))

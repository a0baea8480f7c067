// SPDX-License-Identifier: GPL-2.0
// Who reads a list under RCU must find its way on from an entry that was removed.
// Files: kmod
@rcu_list_walk@
iterator name hlist_for_each_entry_rcu, list_for_each_entry_rcu;
type T;
T *x;
identifier m;
statement S;
expression head;
@@
(
hlist_for_each_entry_rcu(x, head, m, ...) S
|
list_for_each_entry_rcu(x, head, m, ...) S
)

@rcu_list@
rcu_list_walk.T *y;
identifier rcu_list_walk.m;
position p;
@@
\(list_del_init@p(&y->m)\|hlist_del_init@p(&y->m)\|list_del@p(&y->m)\|hlist_del@p(&y->m)\|
  list_add@p(&y->m, ...)\|hlist_add_head@p(&y->m, ...)\)

@script:python@
p << rcu_list.p;
@@
print("%s:%s: readers under RCU: the function's name ends with _rcu" % (p[0].file, p[0].line))

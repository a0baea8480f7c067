// SPDX-License-Identifier: GPL-2.0
/* The files of this room, compiled as one. */
#include "locks/entries.c"
#include "locks/locks.c"
#include "locks/members.c"
#include "locks/push.c"
#include "locks/receive.c"
#include "locks/waiters.c"

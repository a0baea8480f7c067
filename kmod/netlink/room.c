// SPDX-License-Identifier: GPL-2.0
/* The files of this room, compiled as one. */
#include "netlink/access.c"
#include "netlink/dump.c"
#include "netlink/family.c"
#include "netlink/gen.c"
#include "netlink/handle.c"
#include "netlink/helper.c"
#include "netlink/journal.c"
#include "netlink/lend.c"
#include "netlink/object.c"
#include "netlink/pull.c"
#include "netlink/server.c"

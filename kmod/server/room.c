// SPDX-License-Identifier: GPL-2.0
/* The files of this room, compiled as one. */
#include "server/trace.c"
#undef CREATE_TRACE_POINTS

#include "server/access.c"
#include "server/clients.c"
#include "server/ingress.c"
#include "server/other_version.c"
#include "server/receive.c"
#include "server/route.c"
#include "server/server.c"
#include "server/socket.c"
#include "server/stats.c"

// SPDX-License-Identifier: GPL-2.0
/* The files of this room, compiled as one. */
#include "client/trace.c"
#undef CREATE_TRACE_POINTS

#include "client/burst.c"
#include "client/choice.c"
#include "client/convert.c"
#include "client/device.c"
#include "client/fast.c"
#include "client/handle.c"
#include "client/helper.c"
#include "client/line.c"
#include "client/local_queue.c"
#include "client/memory.c"
#include "client/renew.c"
#include "client/request.c"
#include "client/session.c"
#include "client/submit.c"
#include "client/timer.c"
#include "client/value.c"
#include "client/watch.c"

// SPDX-License-Identifier: GPL-2.0
/* The files of this room, compiled as one. */
#include "udp/auth.c"
#include "udp/frame.c"
#include "udp/hook.c"
#include "udp/udp.c"

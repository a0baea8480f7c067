// SPDX-License-Identifier: GPL-2.0
/* The files of this room, compiled as one. */
#include "time/alarms.c"
#include "time/sleep.c"

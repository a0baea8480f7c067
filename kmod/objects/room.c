// SPDX-License-Identifier: GPL-2.0
/* The files of this room, compiled as one. */
#include "objects/trace.c"
#undef CREATE_TRACE_POINTS

#include "objects/bodies.c"
#include "objects/journal.c"
#include "objects/journal_held.c"
#include "objects/journal_load.c"
#include "objects/objects.c"
#include "objects/receive.c"
#include "objects/step.c"
#include "objects/uploads.c"

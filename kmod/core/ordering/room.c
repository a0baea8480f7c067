// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The files of this room that the module needs, compiled as one. */
#include "core/ordering/body.c"
#include "core/ordering/page.c"
#include "core/ordering/pending.c"
#include "core/ordering/server.c"
#include "core/ordering/state.c"
#include "core/ordering/upload.c"
#include "core/ordering/wire.c"

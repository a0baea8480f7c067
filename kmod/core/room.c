// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The files of this room that the module needs, compiled as one. */
#include "core/access.c"
#include "core/admit.c"
#include "core/ask.c"
#include "core/form.c"
#include "core/members.c"
#include "core/peer.c"
#include "core/quorum.c"
#include "core/release.c"
#include "core/serve.c"
#include "core/wire.c"

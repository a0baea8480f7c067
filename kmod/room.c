// SPDX-License-Identifier: GPL-2.0
/* The files of this folder, compiled as one; but protocols.c, which tests replace. */
#include "life.c"
#include "main.c"
#include "netns.c"
#include "param.c"
#include "power.c"
#include "vmfork.c"

// SPDX-License-Identifier: GPL-2.0
/* The code of these tracepoints: in this file and in no other. */
#define CREATE_TRACE_POINTS
#include "client/trace.h"

/* SPDX-License-Identifier: GPL-2.0 */
/* The command line of bftmutex(1). */
#ifndef BFTM_CMDLINE_H
#define BFTM_CMDLINE_H

#include "run/options.h"

/**
 * cmdline_parse() - exits with EX_USAGE and a message for a mistake
 * @argc: of main()
 * @argv: of main()
 * @ret:  must be all zero
 */
void cmdline_parse(int argc, char **argv, struct options *ret);

#endif /* BFTM_CMDLINE_H */

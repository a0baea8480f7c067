/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The other side of a program's sockets: the kernel's netlink family, and processes that
 * listen on or connects to a socket of the daemon. Both say what the fuzzer
 * wants; libnl reads it as ever. When the fuzzer has nothing more to say, requests
 * are answered by ENODATA for a while, and then the sockets are broken.
 */
#ifndef BFTM_FUZZ_KERNEL_H
#define BFTM_FUZZ_KERNEL_H

#include "fuzz.h"

/** fuzz_kernel_begin() - say what @in has, from now on */
void fuzz_kernel_begin(struct fuzz_bytes *in);

/** fuzz_kernel_calm() - @in was said; answer by ENODATA again, for a while */
void fuzz_kernel_calm(void);

/** fuzz_family_version - of the netlink family that the kernel has */
extern u32 fuzz_family_version;

/** fuzz_said() - what was sent last to a socket of the daemon, and how much */
extern char fuzz_said[1 << 20];
extern size_t fuzz_said_len;

#endif /* BFTM_FUZZ_KERNEL_H */

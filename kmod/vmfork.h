/* SPDX-License-Identifier: GPL-2.0 */
/* A virtual machine that was cloned, or set back to an earlier state. */
#ifndef BFTM_VMFORK_H
#define BFTM_VMFORK_H

/**
 * bftm_vmfork_init() - begin to listen for new generation numbers, where the kernel has them.
 * Return: 0 or an error.
 */
int bftm_vmfork_init(void);
void bftm_vmfork_exit(void);

#endif /* BFTM_VMFORK_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* /dev/bftmutex, as uapi/linux/bftmutex.h describes it. */
#ifndef BFTM_DEVICE_H
#define BFTM_DEVICE_H

int bftm_device_init(void);
void bftm_device_exit(void);

#endif /* BFTM_DEVICE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* The version of the module, the programs and the packages stands here and nowhere else. */
#ifndef BFTM_VERSION_H
#define BFTM_VERSION_H

#define BFTM_VERSION "0.1.0"

#endif /* BFTM_VERSION_H */

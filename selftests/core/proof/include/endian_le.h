/* SPDX-License-Identifier: GPL-2.0 */
/* Byte order of a little-endian processor: endian.h of Frama-C has no functions. */
#ifndef PROOF_ENDIAN_H
#define PROOF_ENDIAN_H

#define htole16(x) (x)
#define htole32(x) (x)
#define htole64(x) (x)
#define le16toh(x) (x)
#define le32toh(x) (x)
#define le64toh(x) (x)

#endif

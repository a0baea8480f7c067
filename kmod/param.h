/* SPDX-License-Identifier: GPL-2.0 */
/* Module parameters: a server for the initial namespace in one line. */
#ifndef BFTM_PARAM_H
#define BFTM_PARAM_H

/** bftm_param_start() - start the server that the parameters ask for, if any. */
int bftm_param_start(void);

#endif /* BFTM_PARAM_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Links from the namespace of the traffic to servers in others.
 *
 *	traffic 10.99.0.2 ---- veth ---- 10.99.0.1 server
 */
#ifndef BFTM_RACES_LINKS_H
#define BFTM_RACES_LINKS_H

#define RACES_AT_SERVER	"10.99.0.1"
#define RACES_AT_TRAFFIC "10.99.0.2"

/** races_links_begin() - the namespace is that of the traffic. Its file, or -1. */
int races_links_begin(void);
void races_links_end(int outer);

/* Each returns 0, or less for an error. */

/** races_link_to() - a link from @name here to eth0 in the namespace of @fd */
int races_link_to(const char *name, int fd);

/** races_link_del() - of races_link_to(); both ends go */
int races_link_del(const char *name);

/** races_set_up() - a device's address and its flag, in the namespace where we are */
int races_set_up(const char *name, const char *address, const char *mask);
int races_set_down(const char *name);

/** races_send_by() - from now on traffic goes by this link; the one before is as good but for that */
int races_send_by(char *name);

#endif /* BFTM_RACES_LINKS_H */

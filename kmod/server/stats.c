// SPDX-License-Identifier: GPL-2.0
/* The counters of a server. */
#include "server/server.h"

u64 bftm_server_stat(const struct bftm_server *server, int which)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(server->stats, cpu)->counter[which]);
	return sum;
}

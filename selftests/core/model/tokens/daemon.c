// SPDX-License-Identifier: GPL-2.0
/* Stand-ins for the logs, reports and services that the daemon's files call. */
#include "cluster/cluster.h"
#include "cluster/evidence.h"
#include "cluster/health.h"
#include "cluster/lend.h"
#include "cluster/service.h"
#include "loop/log.h"
#include "loop/loop.h"
#include "world.h"

static void nothing(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg)
{
	(void)cl;
	(void)u;
	(void)msg;
}

static void restarted(struct bftm_cluster *cl, u32 u)
{
	(void)cl;
	(void)u;
}

static const struct bftm_cluster_service service = { .epoch = nothing, .restarted = restarted };
const struct bftm_cluster_service *const bftm_services[BFTM_SERVICES] = { &service, &service };

void bftm_log(int level, const char *format, ...)
{
	(void)level;
	(void)format;
}

u64 bftm_now(void)
{
	return NOW;
}

bool bftm_due(u64 *last_ns, u64 every_ns)
{
	(void)last_ns;
	(void)every_ns;
	return false;
}

void bftm_evidence_report(struct bftm_cluster *cl)
{
	(void)cl;
}

void bftm_health_report(struct bftm_cluster *cl)
{
	(void)cl;
}

void bftm_lend_again(struct bftm_cluster *cl)
{
	(void)cl;
}

void bftm_identity_keep(struct bftm_identity *id)
{
	(void)id;
}

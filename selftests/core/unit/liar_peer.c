// SPDX-License-Identifier: GPL-2.0
#include "liar_peer.h"

#define STATS "\"requests\":%u,\"lies\":%u,\"replies\":%u,\"pushes\":%u}\n"

const struct bftm_master master = {
	.cluster = 3, .server = 5, .key = "0123456789abcdef0123456789abcde",
};

struct peer peers[3];
static char dir[] = "/tmp/bftmutex-liar-XXXXXX";
char key_path[64], stats_path[64];
pid_t liar;
u16 port;
u64 epoch;
u64 lease = BFTM_LEASE_MAX_DEFAULT_NS;
unsigned int requests, lies, replies, pushes;

u64 liar_peer_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (u64)now.tv_sec * BFTM_NS_PER_SEC + (u64)now.tv_nsec;
}

const char *liar_path(void)
{
	static char self[4096], path[4096 + 32];
	const char *env = getenv("BFTMUTEX_LIAR");
	char *slash;

	if (env)
		return env;
	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	slash = strrchr(self, '/');
	snprintf(path, sizeof(path), "%.*s/../../bftmutex-liar", (int)(slash - self), self);
	return path;
}

/* A port that was free a moment ago, in both families. */
static u16 free_port(void)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6 };
	socklen_t len = sizeof(any);
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&any, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&any, &len), 0);
	close(fd);
	return ntohs(any.sin6_port);
}

pid_t spawn(char *const argv[], int out)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	dup2(out, STDOUT_FILENO);
	if (!getenv("VERBOSE") && !freopen("/dev/null", "w", stderr))
		_exit(127);
	execv(argv[0], argv);
	_exit(127);
}

int exit_status(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

void peer_connect(struct peer *p, bool v6)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(port),
				    .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	if (p->fd > 0)
		close(p->fd);
	p->fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(p->fd, v6 ? (struct sockaddr *)&six : (struct sockaddr *)&four,
				 v6 ? sizeof(six) : sizeof(four)), 0);
}

void liar_start_with(const char *strategy, const char *const *more)
{
	char text[8], line[16] = "";
	const char *argv[20] = { liar_path(), "--key", key_path, "--stats", stats_path,
				 "--strategy", strategy, "--port", text };
	int out[2], i;

	for (i = 0; more[i]; i++) {
		assert_true(i < 10);
		argv[9 + i] = more[i];
	}
	for (i = 0; !liar; i++) {
		assert_true(i < 10);	/* somebody else may be faster at a port */
		port = free_port();
		snprintf(text, sizeof(text), "%u", port);
		assert_int_equal(pipe2(out, O_CLOEXEC), 0);
		liar = spawn((char *const *)argv, out[1]);
		close(out[1]);
		if (read(out[0], line, sizeof(line) - 1) <= 0) {
			exit_status(liar);
			liar = 0;
		}
		close(out[0]);
	}
	assert_string_equal(line, "ready\n");
	epoch = 0;
	peer_connect(&peers[1], false);
	peer_connect(&peers[2], false);
}

void liar_start(const char *strategy, const char *option, const char *value)
{
	const char *const more[] = { option, value, NULL };

	liar_start_with(strategy, more);
}

void read_stats(const char *strategy)
{
	char line[256] = "", want[256];
	FILE *f = fopen(stats_path, "r");

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	assert_int_equal(sscanf(line, "{\"strategy\":\"%*[^\"]\"," STATS, &requests, &lies,
				&replies, &pushes), 4);
	snprintf(want, sizeof(want), "{\"strategy\":\"%s\"," STATS, strategy, requests, lies,
		 replies, pushes);
	assert_string_equal(line, want);
}

void liar_stop(const char *strategy)
{
	kill(liar, SIGTERM);
	assert_int_equal(exit_status(liar), 0);
	liar = 0;
	read_stats(strategy);
}

void peer_send(u32 c, struct bftm_msg msg)
{
	struct bftm_wire wire;

	msg.proto = BFTM_PROTO_BACKOFF;
	msg.cluster = master.cluster;
	msg.server = master.server;
	msg.client = c;
	msg.seq = ++peers[c].seq;
	if (!msg.server_epoch)
		msg.server_epoch = epoch;
	if (!msg.mode)
		msg.mode = BFTM_MODE_EX;
	bftm_wire_put(&msg, &wire);
	assert_int_equal(bftm_mac_sign(peers[c].request, &wire), 0);
	assert_int_equal(send(peers[c].fd, wire.data, wire.len, 0), wire.len);
}

void peer_say(u32 c, u8 type, u64 attempt, struct bftm_msg msg)
{
	msg.type = type;
	msg.attempt = attempt;
	msg.lease_ns = lease;
	msg.name_len = 1;
	msg.name[0] = 'x';
	peer_send(c, msg);
}

void peer_queue(u32 c, u64 attempt, u32 k)
{
	peer_say(c, BFTM_MSG_TRY, attempt, (struct bftm_msg){ .k = k });
}

void peer_try(u32 c, const char *name, u64 attempt, u32 k)
{
	struct bftm_msg msg = {
		.type = BFTM_MSG_TRY, .flags = BFTM_FLAG_NOQUEUE, .attempt = attempt, .k = k,
		.lease_ns = lease, .name_len = (u8)strlen(name),
	};

	memcpy(msg.name, name, msg.name_len);
	peer_send(c, msg);
}

ssize_t peer_hear(u32 c, void *data, size_t size, int wait_ms)
{
	struct pollfd fd = { .fd = peers[c].fd, .events = POLLIN };

	if (poll(&fd, 1, wait_ms) <= 0)
		return -1;
	return recv(peers[c].fd, data, size, MSG_DONTWAIT);
}

bool peer_next(u32 c, struct bftm_msg *ret, int wait_ms)
{
	u8 raw[BFTM_WIRE_LEN_MAX + 64];
	ssize_t len;

	while ((len = peer_hear(c, raw, sizeof(raw), wait_ms)) >= 0)
		if (!bftm_wire_get(raw, (size_t)len, ret) &&
		    bftm_mac_verify_bytes(peers[c].reply, raw, (size_t)len))
			return true;
	return false;
}

struct bftm_msg peer_answer(u32 c)
{
	struct bftm_msg msg = {};
	u8 raw[BFTM_WIRE_LEN_MAX];
	ssize_t len = peer_hear(c, raw, sizeof(raw), PATIENCE_MS);

	assert_true(len > 0);
	assert_int_equal(bftm_wire_get(raw, (size_t)len, &msg), BFTM_WIRE_OK);
	assert_true(bftm_mac_verify_bytes(peers[c].reply, raw, (size_t)len));
	assert_int_equal(msg.client, c);
	return msg;
}

void assert_silence(u32 c)
{
	u8 raw[BFTM_WIRE_LEN_MAX];

	assert_int_equal(peer_hear(c, raw, sizeof(raw), 0), -1);
}

void peer_hello(u32 c)
{
	struct bftm_msg msg;

	peer_send(c, (struct bftm_msg){ .type = BFTM_MSG_HELLO });
	msg = peer_answer(c);
	assert_int_equal(msg.type, BFTM_MSG_CHALLENGE);
	assert_int_not_equal(msg.server_epoch, 0);
	epoch = msg.server_epoch;
}

int peers_make(void **state)
{
	struct bftm_pair pair;
	u32 c;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(key_path, sizeof(key_path), "%s/key", dir);
	snprintf(stats_path, sizeof(stats_path), "%s/stats", dir);
	if (bftm_master_save(key_path, &master) < 0)
		return -1;
	for (c = 1; c <= 2; c++) {
		if (bftm_derive(&master, c, &pair) < 0)
			return -1;
		peers[c].request = bftm_mac_new(pair.request);
		peers[c].reply = bftm_mac_new(pair.reply);
	}
	return 0;
}

int peers_destroy(void **state)
{
	u32 c;

	(void)state;
	for (c = 1; c <= 2; c++) {
		bftm_mac_free(peers[c].request);
		bftm_mac_free(peers[c].reply);
		close(peers[c].fd);
	}
	unlink(key_path);
	unlink(stats_path);
	return rmdir(dir);
}

int liar_reap(void **state)
{
	(void)state;
	if (liar) {
		kill(liar, SIGKILL);
		waitpid(liar, NULL, 0);
		liar = 0;
	}
	return 0;
}

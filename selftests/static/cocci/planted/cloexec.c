// SPDX-License-Identifier: GPL-2.0
static int files(const char *path, int ends[2])
{
	FILE *file = fopen(path, "r");	/* found */
	FILE *right = fopen(path, "re");
	int a = open(path, O_RDONLY);	/* found */
	int b = open(path, O_RDONLY | O_CLOEXEC);
	int e = openat(a, path, O_RDONLY);	/* found */
	int f = openat(a, path, O_RDONLY | O_CLOEXEC);
	int c = socket(AF_INET6, SOCK_DGRAM, 0);	/* found */
	int d = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return file && right && a && b && c && d && e && f && !pipe(ends);	/* found */
}

// SPDX-License-Identifier: GPL-2.0
/*
 * In the place of libFuzzer: gives a target each file of the command line, once and whole, with
 * libFuzzer's words. So "make check" replays what fuzzers have found with the objects that the
 * unit tests have, and needs neither clang nor the time to compile everything once more.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "fuzz.h"

static u8 *read_whole(const char *path, size_t *ret_len)
{
	FILE *file = fopen(path, "rb");
	long len = -1;
	u8 *data;

	if (file && !fseek(file, 0, SEEK_END))
		len = ftell(file);
	if (len < 0 || fseek(file, 0, SEEK_SET))
		err(EX_NOINPUT, "%s", path);
	/* Of exactly that size, so that the sanitizer sees a read beyond it. */
	data = malloc((size_t)len);
	if (len && (!data || fread(data, 1, (size_t)len, file) != (size_t)len))
		err(EX_NOINPUT, "%s", path);
	fclose(file);
	*ret_len = (size_t)len;
	return data;
}

int main(int argc, char *argv[])
{
	/* Targets put what is under test aside: its standard streams. */
	int said = dup(STDERR_FILENO);
	size_t len;
	u8 *data;
	int i;

	for (i = 1; i < argc; i++) {
		dprintf(said, "Running: %s\n", argv[i]);
		data = read_whole(argv[i], &len);
		LLVMFuzzerTestOneInput(data, len);
		free(data);
		dprintf(said, "Executed %s\n", argv[i]);
	}
	return 0;
}

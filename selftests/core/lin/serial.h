/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Are transactions that ran at once as if they had run one after the other, and can each of them be
 * undone? By the conflict graph, with the rules of Coulouris et al., Distributed Systems, Sections
 * 16.2.1 (serial equivalence) and 16.2.2 (recoverability, cascading aborts, strict executions).
 */
#ifndef BFTM_LIN_SERIAL_H
#define BFTM_LIN_SERIAL_H

#include <stdio.h>

#include "core/types.h"

enum serial_does {
	SERIAL_READ,
	SERIAL_WRITE,
	SERIAL_UPDATE,	/* reads and then writes, and nothing comes between */
	SERIAL_COMMIT,
	SERIAL_ABORT,
	SERIAL_DOES
};

extern const char *const serial_words[SERIAL_DOES];

/**
 * enum serial_level - properties of a schedule; from the second one on, each has all before it but
 * the first
 */
enum serial_level {
	SERIAL_SERIALIZABLE,	/* two conflicting operations never have the other order elsewhere */
	SERIAL_RECOVERABLE,	/* who read from a transaction commits after it */
	SERIAL_CASCADELESS,	/* only what is committed is read */
	SERIAL_STRICT,		/* nor is anything else overwritten */
	SERIAL_LEVELS
};

extern const char *const serial_levels[SERIAL_LEVELS];

struct serial;

/** serial_new() - an empty schedule */
struct serial *serial_new(void);
void serial_free(struct serial *s);

/**
 * serial_add() - the next operation
 * @transaction: its name, copied
 * @does:        what it does
 * @object:      to which object, copied; NULL for SERIAL_COMMIT and SERIAL_ABORT
 * @line:        where it stands, for people
 * Return: false when the transaction has ended before; then nothing has changed.
 */
bool serial_add(struct serial *s, const char *transaction, enum serial_does does,
		const char *object, u32 line);

/**
 * serial_check() - which properties has the schedule?
 * @to: gets an order, or the contradiction to a property; NULL: nothing is printed
 *
 * An aborted transaction has no place in the order: it is undone. One without an end may still
 * commit, and has one.
 *
 * Return: a bit for each property, 1 << enum serial_level.
 */
u32 serial_check(const struct serial *s, FILE *to);

/* serial_read.c */

/**
 * serial_read() - add the lines of a file
 * @s:    the schedule
 * @name: of the file, for messages
 * @file: lines of JSON: {"transaction":"T","does":"read","object":"b"}
 * Return: false after a message on standard error.
 */
bool serial_read(struct serial *s, const char *name, FILE *file);

#endif /* BFTM_LIN_SERIAL_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Histories of objects whose verdict is known. */
#ifndef BFTM_UNIT_LIN_STORIES_H
#define BFTM_UNIT_LIN_STORIES_H

#include "core/types.h"

#define NEVER 0

/** struct row - a request: when asked, when answered (NEVER), and what was said */
struct row {
	u32 invoke, answer;
	const char *request;
	u32 status;
	const char *response;
};

struct story {
	const char *what;
	struct row row[8];
};

#define C(type) { 1, 2, "create " type, 0, "" }

static const struct story good[] = {
	{ "nothing", { { } } },
	{ "one after the other", { C("counter"), { 3, 4, "add 2", 0, "2" }, { 5, 6, "get", 0, "2" } } },
	{ "the later one first", { C("counter"), { 3, 8, "add 2", 0, "3" }, { 4, 7, "add 1", 0, "1" } } },
	{ "sees what is under way", { C("register"), { 3, 9, "write a", 0, "" }, { 4, 5, "read", 0, "a" } } },
	{ "does not see it yet", { C("register"), { 3, 9, "write a", 0, "" }, { 4, 5, "read", 0, "" } } },
	{ "no answer, and done", { C("counter"), { 3, NEVER, "add 5", 0, "" }, { 4, 5, "get", 0, "5" } } },
	{ "no answer, not done", { C("counter"), { 3, NEVER, "add 5", 0, "" }, { 4, 5, "get", 0, "0" } } },
	{ "no answer, done late", { C("counter"), { 3, NEVER, "add 5", 0, "" }, { 4, 5, "get", 0, "0" },
				    { 6, 7, "get", 0, "5" } } },
	{ "created without an answer", { { 1, NEVER, "create queue", 0, "" }, { 2, 3, "len", 0, "0" } } },
	{ "not there, then there", { { 1, 2, "get", ENOENT, "" }, { 3, 4, "create counter", 0, "" },
				     { 5, 6, "create counter", EEXIST, "counter" } } },
	{ "two create at once", { { 1, 5, "create map", EEXIST, "counter" }, { 2, 6, "create counter", 0, "" },
				  { 7, 8, "type", 0, "counter" } } },
	{ "one of two types", { { 1, NEVER, "create map", 0, "" }, { 1, NEVER, "create queue", 0, "" },
				{ 2, 3, "pop", ENODATA, "" }, { 4, 5, "type", 0, "queue" } } },
	{ "what was refused is not done", { C("log"), { 3, 4, "append a", EMSGSIZE, "" },
					    { 5, 6, "append b", 0, "0" }, { 7, 8, "read 0", 0, "b\n" } } },
	{ "queue, both orders", { C("queue"), { 3, 6, "push a", 0, "" }, { 4, 5, "push b", 0, "" },
				  { 7, 8, "pop", 0, "b" }, { 9, 10, "pop", 0, "a" }, { 11, 12, "pop", ENODATA, "" } } },
	{ "a push that was refused", { { 1, 39, "push a", ENOENT, "" }, { 32, 53, "create queue", 0, "" },
		{ 36, 51, "push b", 0, "" }, { 39, 83, "pop", 0, "b" } } },
	{ "a lost pop", { C("queue"), { 3, 4, "push a", 0, "" }, { 5, NEVER, "pop", 0, "" },
			  { 6, 7, "push b", 0, "" }, { 8, 9, "pop", 0, "b" } } },
	{ "cas fails and succeeds", { C("register"), { 3, 8, "cas  a", 0, "" }, { 3, 8, "cas  b", ESTALE, "a" } } },
	{ "one is decided", { C("register"), { 3, 8, "decide a", 0, "b" }, { 3, 8, "decide b", 0, "b" },
			      { 9, 10, "decide c", 0, "b" }, { 9, 10, "read", 0, "b" } } },
	{ "decided without an answer", { C("register"), { 3, NEVER, "decide a", 0, "" },
					 { 4, 5, "decide b", 0, "a" } } },
	{ "what was written is decided", { C("register"), { 3, 4, "write a", 0, "" },
					   { 5, 6, "decide b", 0, "a" }, { 7, 8, "write ", 0, "" },
					   { 9, 10, "decide c", 0, "c" } } },
	{ "decided once more, after nothing was written", { C("register"),
		{ 17, 23, "decide b", 0, "b" }, { 20, 46, "read", 0, "" }, { 25, 46, "write ", 0, "" },
		{ 25, 69, "decide b", 0, "b" }, { 47, 82, "write ", 0, "" }, { 53, 61, "cas a b", ESTALE, "b" } } },
	{ "keys by themselves", { C("map"), { 3, 9, "set a 1", 0, "" }, { 4, 8, "set b 2", 0, "" },
				  { 5, 6, "get b", 0, "2" }, { 5, 6, "get a", ENODATA, "" } } },
	{ "list of several", { C("map"), { 3, 4, "set b 2", 0, "" }, { 5, 6, "set a 1", 0, "" },
			       { 7, 8, "list", 0, "a 1\nb 2\n" }, { 9, 10, "cas a 1 ", 0, "" },
			       { 11, 12, "list a", 0, "a\x20\n" } } },
	{ "bad requests", { C("counter"), { 3, 4, "jump", EINVAL, "some words" }, { 5, 6, "get", 0, "0" } } },
	{ "the end of numbers", { C("counter"), { 3, 4, "add 9223372036854775807", 0, "9223372036854775807" },
				  { 5, 6, "add 1", ERANGE, "" } } },
};

static const struct story violations[] = {
	{ "an add is lost", { C("counter"), { 3, 4, "add 1", 0, "1" }, { 5, 6, "add 1", 0, "1" } } },
	{ "an add is done twice", { C("counter"), { 3, 4, "add 1", 0, "1" }, { 5, 6, "get", 0, "2" } } },
	{ "two get the same number", { C("counter"), { 3, 8, "add 1", 0, "1" }, { 4, 7, "add 1", 0, "1" } } },
	{ "a stale read", { C("register"), { 3, 4, "write a", 0, "" }, { 5, 6, "write b", 0, "" },
			    { 7, 8, "read", 0, "a" } } },
	{ "a read of what comes later", { C("register"), { 3, 4, "read", 0, "a" }, { 5, 6, "write a", 0, "" } } },
	{ "a read of what nobody wrote", { C("register"), { 3, 4, "write a", 0, "" }, { 3, 6, "read", 0, "b" } } },
	{ "new, then old", { C("register"), { 3, 20, "write a", 0, "" }, { 4, 5, "read", 0, "a" },
			     { 6, 7, "read", 0, "" } } },
	{ "two win a cas", { C("register"), { 3, 8, "cas  a", 0, "" }, { 3, 8, "cas  b", 0, "" } } },
	{ "two are decided at once", { C("register"), { 3, 8, "decide a", 0, "a" }, { 3, 8, "decide b", 0, "b" } } },
	{ "two are decided", { C("register"), { 3, 4, "decide a", 0, "a" }, { 5, 6, "decide b", 0, "b" } } },
	{ "what nobody proposed is decided", { C("register"), { 3, 8, "decide a", 0, "c" }, { 3, 8, "decide b", 0, "c" } } },
	{ "decided is not what is read", { C("register"), { 3, 4, "decide a", 0, "a" }, { 5, 6, "read", 0, "" } } },
	{ "a cas fails for nothing", { C("register"), { 3, 4, "cas  a", ESTALE, "" } } },
	{ "a cas tells what is not there", { C("register"), { 3, 4, "write a", 0, "" },
					     { 5, 6, "cas b c", ESTALE, "b" } } },
	{ "unanswered, done, undone", { C("counter"), { 3, NEVER, "add 5", 0, "" }, { 4, 5, "get", 0, "5" },
					{ 6, 7, "get", 0, "0" } } },
	{ "unanswered, before it was asked", { C("counter"), { 3, 4, "get", 0, "5" },
					       { 5, NEVER, "add 5", 0, "" } } },
	{ "unanswered, done twice", { C("queue"), { 3, NEVER, "push a", 0, "" }, { 4, 5, "pop", 0, "a" },
				      { 6, 7, "pop", 0, "a" } } },
	{ "pops in the wrong order", { C("queue"), { 3, 4, "push a", 0, "" }, { 5, 6, "push b", 0, "" },
				       { 7, 8, "pop", 0, "b" } } },
	{ "popped twice", { C("queue"), { 3, 4, "push a", 0, "" }, { 5, 9, "pop", 0, "a" },
			    { 6, 8, "pop", 0, "a" } } },
	{ "empty, and is not", { C("queue"), { 3, 4, "push a", 0, "" }, { 5, 6, "pop", ENODATA, "" } } },
	{ "a wrong length", { C("queue"), { 3, 4, "push a", 0, "" }, { 5, 6, "len", 0, "2" } } },
	{ "a peek takes", { C("queue"), { 3, 4, "push a", 0, "" }, { 5, 6, "peek", 0, "a" },
			    { 7, 8, "pop", ENODATA, "" } } },
	{ "an entry is lost", { C("log"), { 3, 4, "append a", 0, "0" }, { 5, 6, "append b", 0, "0" } } },
	{ "entries change places", { C("log"), { 3, 8, "append a", 0, "0" }, { 4, 7, "append b", 0, "1" },
				     { 9, 10, "read 0", 0, "b\na\n" } } },
	{ "a log forgets", { C("log"), { 3, 4, "append a", 0, "0" }, { 5, 6, "read 0", 0, "" } } },
	{ "a log invents", { C("log"), { 3, 4, "append a", 0, "0" }, { 5, 6, "read 0", 0, "a\nb\n" } } },
	{ "refused, and done", { C("log"), { 3, 4, "append a", EMSGSIZE, "" }, { 5, 6, "len", 0, "1" } } },
	{ "a key comes back", { C("map"), { 3, 4, "set a 1", 0, "" }, { 5, 6, "delete a", 0, "" },
				{ 7, 8, "get a", 0, "1" } } },
	{ "a key has another's value", { C("map"), { 3, 4, "set a 1", 0, "" }, { 5, 6, "set b 2", 0, "" },
					 { 7, 8, "get a", 0, "2" } } },
	{ "a list of two times", { C("map"), { 3, 4, "set a 1", 0, "" }, { 5, 6, "set b 1", 0, "" },
				   { 7, 8, "set a 2", 0, "" }, { 9, 10, "set b 2", 0, "" },
				   { 5, 20, "list", 0, "a 1\nb 2\n" } } },
	{ "a list out of order", { C("map"), { 3, 4, "set a 1", 0, "" }, { 5, 6, "set b 1", 0, "" },
				   { 7, 8, "list", 0, "b 1\na 1\n" } } },
	{ "used before it is created", { { 3, 4, "add 1", 0, "1" }, { 5, 6, "create counter", 0, "" } } },
	{ "not there any more", { C("counter"), { 3, 4, "get", ENOENT, "" } } },
	{ "created twice", { C("counter"), { 3, 4, "create counter", 0, "" } } },
	{ "exists before it is created", { { 1, 2, "create counter", EEXIST, "counter" },
					   { 3, 4, "create counter", 0, "" } } },
	{ "another type", { C("counter"), { 3, 4, "type", 0, "map" } } },
	{ "a good request is bad", { C("counter"), { 3, 4, "add 1", EINVAL, "" } } },
	{ "a bad request is good", { C("counter"), { 3, 4, "add x", 0, "1" } } },
	{ "past the end of numbers", { C("counter"), { 3, 4, "add 9223372036854775807", 0, "9223372036854775807" },
				       { 5, 6, "add 1", 0, "-9223372036854775808" } } },
};

#endif /* BFTM_UNIT_LIN_STORIES_H */

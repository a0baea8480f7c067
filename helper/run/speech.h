/* SPDX-License-Identifier: GPL-2.0 */
/* Messages that do not block the writer while they are not read. */
#ifndef BFTM_SPEECH_H
#define BFTM_SPEECH_H

/** struct bftm_speech - messages for standard error that could not be written yet */
struct bftm_speech {
	char text[2048];
};

/**
 * bftm_speech_add() - print a message about a lock, at once if that does not block
 * @speech: messages that could not be written yet
 * @lock:   name of the lock
 * @format: as of printf(), with its arguments
 *
 * A message that finds no room is dropped: the first ones, which were not read yet, say enough.
 */
__attribute__((format(printf, 3, 4)))
void bftm_speech_add(struct bftm_speech *speech, const char *lock, const char *format, ...);

/** bftm_speech_flush() - write stored messages; wait @timeout_ms for a reader, -1 for ever */
void bftm_speech_flush(struct bftm_speech *speech, int timeout_ms);

#endif /* BFTM_SPEECH_H */

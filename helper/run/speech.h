/* SPDX-License-Identifier: GPL-2.0 */
/* Messages that keep nobody from work while they are not read. */
#ifndef BFTM_SPEECH_H
#define BFTM_SPEECH_H

/** struct bftm_speech - messages for standard error that could not be written yet */
struct bftm_speech {
	char text[2048];
};

/**
 * bftm_speech_add() - say something about a lock, now if that takes no time
 *
 * What finds no room is not said: who has not read the first messages is told enough by
 * them.
 */
__attribute__((format(printf, 3, 4)))
void bftm_speech_add(struct bftm_speech *speech, const char *lock, const char *format, ...);

/** bftm_speech_flush() - write what can be written; wait so long for a reader, -1 for ever */
void bftm_speech_flush(struct bftm_speech *speech, int timeout_ms);

#endif /* BFTM_SPEECH_H */

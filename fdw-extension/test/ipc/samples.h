/*
 * Every message of the protocol: an example, and decoding followed by encoding, by template id.
 */
#ifndef KAKEHASHI_SAMPLES_H
#define KAKEHASHI_SAMPLES_H

#include "generated/kh_messages.h"

typedef struct sample
{
	const char *name;
	uint16_t template_id;
	/* Decodes, visits every group entry and data byte, and encodes again; 0 when the frame was refused. */
	size_t (*round_trip)(const void *frame, size_t bytes, void *out, size_t capacity);
	/* Encodes an example that uses each field. */
	size_t (*example)(void *out, size_t capacity);
} sample;

#define SAMPLE_COUNT 35

extern const sample samples[SAMPLE_COUNT];
extern const sample *sample_of_template(uint16_t template_id);

#endif /* KAKEHASHI_SAMPLES_H */

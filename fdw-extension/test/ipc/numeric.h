/*
 * Reads PostgreSQL's short form of a numeric, for tests that have to say what it is.
 */
#ifndef KAKEHASHI_NUMERIC_H
#define KAKEHASHI_NUMERIC_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * The value times 10^scale. False: PostgreSQL would have written it in another form, or with another scale. numeric: bytes of it behind a varlena's header.
 */
static inline bool
read_numeric(const unsigned char *numeric, uint32_t bytes, uint32_t scale, int64_t *value)
{
	uint16_t header;
	uint16_t digit = 0;
	int weight;
	uint32_t count = (bytes - 2) / 2;
	__int128 sum = 0;

	memcpy(&header, numeric, sizeof(header));
	weight = (header & 0x3F) - (header & 0x40);
	if ((header & 0xC000) != 0x8000 || (header >> 7 & 0x3F) != (int) scale || (count == 0 && (header & 0x207F) != 0))
		return false;
	for (uint32_t i = 0; i < count; i++)
	{
		int places = 4 * (weight - (int) i) + (int) scale;
		__int128 part;

		memcpy(&digit, numeric + 2 + 2 * i, sizeof(digit));
		if (digit >= 10000 || (i == 0 && digit == 0))
			return false;
		part = digit;
		for (; places > 0; places--)
			part *= 10;
		for (; places < 0; places++)
		{
			if (part % 10 != 0)
				return false;
			part /= 10;
		}
		sum += part;
	}
	*value = (int64_t) ((header & 0x2000) != 0 ? -sum : sum);
	return count == 0 || digit != 0;
}

#endif /* KAKEHASHI_NUMERIC_H */

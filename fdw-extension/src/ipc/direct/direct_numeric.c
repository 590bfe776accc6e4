/*
 * From a numeric that lies in a word, as the store's CompactWord has it, to PostgreSQL's digits.
 */
#include "direct_page.h"

#include <string.h>

#define SCALE_SHIFT 3
#define SCALE_MASK 0x3F
#define NUMERIC_SHIFT 9

#define BASE 10000
/* Decimal digits of a digit. */
#define DECIMALS 4
/* 55 bits have 17 decimal digits, of which some may be in a digit of their own behind the others. */
#define MOST_DIGITS 6

/* Of PostgreSQL's NumericShort. */
#define SHORT 0x8000
#define SHORT_NEGATIVE 0x2000
#define SHORT_SCALE_SHIFT 7
#define SHORT_WEIGHT_MASK 0x7F

uint32_t
kh_direct_numeric(uint64_t word, unsigned char *to)
{
	static const uint32_t powers[] = {1, 10, 100, 1000, BASE};
	int64_t unscaled = (int64_t) word >> NUMERIC_SHIFT;
	uint64_t rest = unscaled < 0 ? 0 - (uint64_t) unscaled : (uint64_t) unscaled;
	uint32_t scale = (uint32_t) (word >> SCALE_SHIFT) & SCALE_MASK;
	uint32_t odd = scale % DECIMALS;
	int weight = -(int) ((scale + DECIMALS - 1) / DECIMALS); /* of the next digit, from the least one on */
	uint16_t digits[MOST_DIGITS];                            /* from the end of the array to its begin */
	uint32_t count = 0;
	uint16_t header;

	if (odd != 0)
	{
		digits[MOST_DIGITS - 1] = (uint16_t) (rest % powers[odd] * powers[DECIMALS - odd]);
		rest /= powers[odd];
		count = digits[MOST_DIGITS - 1] != 0 ? 1 : 0;
		weight++;
	}
	/* Zeros behind the others are left out. */
	for (; rest != 0; rest /= BASE, weight++)
	{
		uint16_t digit = (uint16_t) (rest % BASE);

		if (digit != 0 || count > 0)
			digits[MOST_DIGITS - ++count] = digit;
	}
	header = (uint16_t) (SHORT | (unscaled < 0 ? SHORT_NEGATIVE : 0) | scale << SHORT_SCALE_SHIFT |
	                     (count == 0 ? 0 : (uint32_t) (weight - 1) & SHORT_WEIGHT_MASK));
	memcpy(to, &header, sizeof(header));
	memcpy(to + sizeof(header), digits + MOST_DIGITS - count, count * sizeof(*digits));
	return (uint32_t) (sizeof(header) + count * sizeof(*digits));
}

/*
 * What plans leave to engines.
 */
#include "fdw/session/session.h"

int kakehashi_push_down = KAKEHASHI_PUSH_ALL;

static KakehashiPushed pushed_now = KAKEHASHI_PUSH_ALL;

KakehashiPushed
kakehashi_pushed(void)
{
	return Max(pushed_now, (KakehashiPushed) kakehashi_push_down);
}

KakehashiPushed
kakehashi_set_pushed(KakehashiPushed pushed)
{
	KakehashiPushed before = pushed_now;

	pushed_now = pushed;
	return before;
}

#define BIT(computation) (UINT64CONST(1) << (computation))

uint64
kakehashi_withheld(void)
{
	static const uint64 of_several = BIT(KH_COMPUTES_JOINS) | BIT(KH_COMPUTES_SEMI_JOINS) |
	                                 BIT(KH_COMPUTES_SUBQUERIES) | BIT(KH_COMPUTES_SET_OPERATIONS);
	static const uint64 of_groups = BIT(KH_COMPUTES_GROUPING) | BIT(KH_COMPUTES_SUMS) |
	                                BIT(KH_COMPUTES_ORDERED_AGGREGATES) | BIT(KH_COMPUTES_GROUPING_SETS) |
	                                BIT(KH_COMPUTES_DISTINCT) | BIT(KH_COMPUTES_WINDOWS);
	KakehashiPushed pushed = kakehashi_pushed();

	return pushed == KAKEHASHI_PUSH_ALL ? 0 : pushed == KAKEHASHI_PUSH_TABLES ? of_several : of_several | of_groups;
}

/*
 * Which query is being planned: one whose rows are changed by WHERE CURRENT OF has to say where it stands.
 */
#include "fdw/plan/plan.h"

#include "utils/portal.h"

static KakehashiPositions positions = KAKEHASHI_NOT_POSITIONED;

KakehashiPositions
kakehashi_positions(void)
{
	return positions;
}

/* DECLARE CURSOR, and cursors of PL/pgSQL, are planned for their first rows. */
KakehashiPositions
kakehashi_current_of_enter(const Query *query, int cursor_options)
{
	KakehashiPositions before = positions;

	positions = (cursor_options & CURSOR_OPT_FAST_PLAN) == 0 ? KAKEHASHI_NOT_POSITIONED
	            : query->rowMarks == NIL                     ? KAKEHASHI_MAY_BE_POSITIONED
	                                                         : KAKEHASHI_POSITIONED;
	return before;
}

void
kakehashi_current_of_leave(KakehashiPositions before)
{
	positions = before;
}

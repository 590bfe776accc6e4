/*
 * What EXPLAIN shows of any remote statement: its parameters, its cost, and the plan of the engine.
 */
#ifndef KAKEHASHI_EXPLAIN_H
#define KAKEHASHI_EXPLAIN_H

#include "fdw/session/session.h"

struct ExplainState;

/* "$1 = 42, $2 = t.id", without those before the first; nothing if there is none. */
extern void kakehashi_explain_parameters(PlanState *node, List *exprs, int first, struct ExplainState *es);

/*
 * The engine's plan of a statement, as it would be made now: exprs are its parameters, whose values do not matter to it. With values it is executed
 * once more, and the plan shows what its operators have done.
 */
extern void kakehashi_explain_on_engine(KakehashiSession *session, const char *sql, List *exprs, const Datum *values,
                                        const bool *nulls, struct ExplainState *es);
extern void kakehashi_explain_requests(const KakehashiCost *cost, bool returns_rows, struct ExplainState *es);
extern void kakehashi_explain_direct(const KakehashiCost *cost, struct ExplainState *es);
extern void kakehashi_explain_cost(const KakehashiCost *cost, bool returns_rows, struct ExplainState *es);

#endif /* KAKEHASHI_EXPLAIN_H */

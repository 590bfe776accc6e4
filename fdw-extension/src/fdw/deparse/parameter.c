/*
 * Expressions that are computed here, before a statement is sent, and whose values go over as parameters.
 */
#include "fdw/deparse/deparse.h"
#include "fdw/row/row.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

static bool
is_unfit_for_parameter(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_SubLink:
		case T_SubPlan:
		case T_AlternativeSubPlan:
		case T_Aggref:
		case T_GroupingFunc:
		case T_WindowFunc:
		case T_PlaceHolderVar:
		case T_CurrentOfExpr:
		case T_CaseTestExpr:
		case T_CoerceToDomainValue:
		case T_SetToDefault:
			return true;
		case T_FuncExpr:
			/* Rows are no value. */
			return ((FuncExpr *) node)->funcretset || expression_tree_walker(node, is_unfit_for_parameter, context);
		case T_OpExpr:
			return ((OpExpr *) node)->opretset || expression_tree_walker(node, is_unfit_for_parameter, context);
		case T_ArrayCoerceExpr:
			/* The cast of an element is of a CaseTestExpr, which is this node's own. */
			return is_unfit_for_parameter((Node *) ((ArrayCoerceExpr *) node)->arg, context);
		case T_Param:
			return ((Param *) node)->paramkind != PARAM_EXTERN && ((Param *) node)->paramkind != PARAM_EXEC;
		case T_Var:
			/* Of another relation of the query: a parameter of a nested loop. System columns and rows are not. */
			return ((Var *) node)->varattno <= 0 || ((Var *) node)->varlevelsup != 0;
		default:
			return expression_tree_walker(node, is_unfit_for_parameter, context);
	}
}

bool
kakehashi_is_parameter(PlannerInfo *root, RelOptInfo *rel, Expr *expr)
{
	if (!OidIsValid(kakehashi_bridge_type(exprType((Node *) expr), NULL)))
		return false;
	if (IsA(expr, Const))
		return true;
	return !bms_overlap(pull_varnos(root, (Node *) expr), rel->relids) &&
	       !is_unfit_for_parameter((Node *) expr, NULL) && !contain_volatile_functions((Node *) expr);
}

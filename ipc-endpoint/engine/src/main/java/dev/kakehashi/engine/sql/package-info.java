/// From SQL text to a physical plan, in stages; each has a package, which sees those before it alone.
///
/// | stage | from | to |
/// |---|---|---|
/// | [dev.kakehashi.engine.sql.lexer.Lexer] | text | tokens |
/// | [dev.kakehashi.engine.sql.parser.StatementParser], [dev.kakehashi.engine.sql.parser.DdlParser] | tokens | parsed statements, definitions |
/// | [dev.kakehashi.engine.sql.spelling.SpellingTranslator] | a piece of a statement | Calcite's spelling |
/// | [dev.kakehashi.engine.sql.spelling.CalciteParser] | Calcite's spelling | Calcite's syntax |
/// | [dev.kakehashi.engine.sql.binder.QueryBinder] | Calcite's syntax | algebra |
/// | [dev.kakehashi.engine.sql.optimizer.Optimizer] | algebra | better algebra |
/// | [dev.kakehashi.engine.sql.physical.PlanTranslator] | algebra | a physical plan |
@NullMarked
package dev.kakehashi.engine.sql;

import org.jspecify.annotations.NullMarked;

/// From SQL text to relational algebra: lexing, DDL, name and type resolution with PostgreSQL's rules, rewriting by Calcite.
///
/// A statement passes [dev.kakehashi.engine.sql.Lexer], [dev.kakehashi.engine.sql.SpellingTranslator] (PostgreSQL's spelling to
/// Calcite's), Calcite's Babel parser, [dev.kakehashi.engine.sql.Binder] and [dev.kakehashi.engine.sql.Optimizer].
@NullMarked
package dev.kakehashi.engine.sql;

import org.jspecify.annotations.NullMarked;

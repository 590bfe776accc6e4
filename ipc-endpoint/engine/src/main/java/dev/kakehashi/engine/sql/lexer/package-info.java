/// From text to tokens, and what all parsers read of them: words, names, types.
@NullMarked
package dev.kakehashi.engine.sql.lexer;

import org.jspecify.annotations.NullMarked;

/// Strings and byte strings with PostgreSQL's semantics in UTF-8 and the "C" collation.
@NullMarked
package dev.kakehashi.engine.type.text;

import org.jspecify.annotations.NullMarked;

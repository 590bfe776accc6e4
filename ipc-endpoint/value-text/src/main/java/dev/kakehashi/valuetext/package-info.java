/// Values as text, in PostgreSQL's forms: what the engine, formats of results and files share. Each form has one reader and one writer.
@NullMarked
package dev.kakehashi.valuetext;

import org.jspecify.annotations.NullMarked;

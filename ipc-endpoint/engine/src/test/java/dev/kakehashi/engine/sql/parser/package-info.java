@NullMarked
package dev.kakehashi.engine.sql.parser;

import org.jspecify.annotations.NullMarked;

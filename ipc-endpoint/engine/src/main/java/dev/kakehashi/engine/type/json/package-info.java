/// json and jsonb: their text forms, functions, operators and conversions.
@NullMarked
package dev.kakehashi.engine.type.json;

import org.jspecify.annotations.NullMarked;

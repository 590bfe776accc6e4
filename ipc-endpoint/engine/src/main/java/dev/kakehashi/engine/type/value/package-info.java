/// Operations that values of any type have: text, order, comparison, casts. Above scalar types, below arrays, json and functions.
@NullMarked
package dev.kakehashi.engine.type.value;

import org.jspecify.annotations.NullMarked;

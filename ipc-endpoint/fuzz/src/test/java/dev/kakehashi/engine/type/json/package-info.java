@NullMarked
package dev.kakehashi.engine.type.json;

import org.jspecify.annotations.NullMarked;

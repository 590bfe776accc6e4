/// JSON bodies, read strictly.
@NullMarked
package dev.kakehashi.rest.json;

import org.jspecify.annotations.NullMarked;

@NullMarked
package dev.kakehashi.bulk.value;

import org.jspecify.annotations.NullMarked;

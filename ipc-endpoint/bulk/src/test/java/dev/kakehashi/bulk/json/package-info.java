@NullMarked
package dev.kakehashi.bulk.json;

import org.jspecify.annotations.NullMarked;

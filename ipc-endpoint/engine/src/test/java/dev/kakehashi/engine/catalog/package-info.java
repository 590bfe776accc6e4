@NullMarked
package dev.kakehashi.engine.catalog;

import org.jspecify.annotations.NullMarked;

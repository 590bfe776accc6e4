@NullMarked
package dev.kakehashi.sql;

import org.jspecify.annotations.NullMarked;

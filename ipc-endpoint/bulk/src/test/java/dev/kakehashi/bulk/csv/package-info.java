@NullMarked
package dev.kakehashi.bulk.csv;

import org.jspecify.annotations.NullMarked;

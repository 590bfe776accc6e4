@NullMarked
package dev.kakehashi.bulk.csv.text;

import org.jspecify.annotations.NullMarked;

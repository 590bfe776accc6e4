/// Rows that go into one file or many.
@NullMarked
package dev.kakehashi.bulk.dump;

import org.jspecify.annotations.NullMarked;

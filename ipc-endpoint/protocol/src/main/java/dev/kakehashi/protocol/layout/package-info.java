/// Offsets of mapped memory. `schema/layouts.xml` is the source; a test compares every constant with it.
@NullMarked
package dev.kakehashi.protocol.layout;

import org.jspecify.annotations.NullMarked;

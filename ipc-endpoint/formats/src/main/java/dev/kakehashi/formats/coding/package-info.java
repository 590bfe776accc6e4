/// How bytes are compressed on their way.
@NullMarked
package dev.kakehashi.formats.coding;

import org.jspecify.annotations.NullMarked;

/// Results on a terminal or in a file, byte for byte as psql prints them.
@NullMarked
package dev.kakehashi.tools.shell.print;

import org.jspecify.annotations.NullMarked;

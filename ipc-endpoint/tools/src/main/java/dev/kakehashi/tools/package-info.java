/// Command-line tools around an endpoint. See [Tools].
@NullMarked
package dev.kakehashi.tools;

import org.jspecify.annotations.NullMarked;

/// An engine for tests that lacks what a file says.
@NullMarked
package dev.kakehashi.server.withheld;

import org.jspecify.annotations.NullMarked;

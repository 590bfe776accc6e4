/// The embedded engine under the conformance suite and the transfer test.
@NullMarked
package dev.kakehashi.tck.embedded;

import org.jspecify.annotations.NullMarked;

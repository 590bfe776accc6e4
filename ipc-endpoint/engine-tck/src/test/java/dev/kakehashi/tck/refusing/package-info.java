/// An engine that lacks nearly everything: the suite has to find that it refuses what it lacks.
@NullMarked
package dev.kakehashi.tck.refusing;

import org.jspecify.annotations.NullMarked;

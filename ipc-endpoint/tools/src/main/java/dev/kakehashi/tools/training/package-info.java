/// Work of a JVM that records its ahead-of-time cache. See [TrainingCommand].
@NullMarked
package dev.kakehashi.tools.training;

import org.jspecify.annotations.NullMarked;

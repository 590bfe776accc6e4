/// What a JVM that records its ahead-of-time cache is given to do. See [TrainingCommand].
@NullMarked
package dev.kakehashi.tools.training;

import org.jspecify.annotations.NullMarked;

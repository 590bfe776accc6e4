/// Plans of statements, kept while the catalogue and the statistics are those that they were made with.
@NullMarked
package dev.kakehashi.engine.embedded.plans;

import org.jspecify.annotations.NullMarked;

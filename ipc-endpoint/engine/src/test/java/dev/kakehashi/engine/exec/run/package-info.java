@NullMarked
package dev.kakehashi.engine.exec.run;

import org.jspecify.annotations.NullMarked;

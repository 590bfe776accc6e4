/// Results: rows as the client reads them.
@NullMarked
package dev.kakehashi.engine.exec.result;

import org.jspecify.annotations.NullMarked;

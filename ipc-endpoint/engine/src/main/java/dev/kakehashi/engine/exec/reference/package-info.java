/// Foreign keys and deferrable unique keys: what is looked up when the changes of a statement, or of a transaction, are made.
@NullMarked
package dev.kakehashi.engine.exec.reference;

import org.jspecify.annotations.NullMarked;

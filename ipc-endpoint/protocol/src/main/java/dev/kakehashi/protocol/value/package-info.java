/// Values in PostgreSQL's in-memory form, as they travel in row batches (PROTOCOL.md §6).
@NullMarked
package dev.kakehashi.protocol.value;

import org.jspecify.annotations.NullMarked;

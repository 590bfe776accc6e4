package dev.kakehashi.bulk.load;

import dev.kakehashi.bulk.file.LocationPath;
import org.jspecify.annotations.Nullable;

/// Rules for rows that cannot be loaded. Immutable.
///
/// @param tolerant otherwise the first one ends the load
/// @param limit most rejected rows
/// @param ratio most rejected of all rows, 0 … 1
/// @param file where they are written; null: nowhere
public record RejectRules(
    boolean tolerant, long limit, double ratio, @Nullable LocationPath file) {}

package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.type.SqlType;
import org.jspecify.annotations.Nullable;

/// A column of a table.
///
/// @param defaultText SQL expression of the default as written, or null
public record Column(String name, SqlType type, boolean notNull, @Nullable String defaultText) {}

package dev.kakehashi.engine.catalog;

import java.util.List;

/// A CHECK constraint of a table.
///
/// @param text SQL expression as written, with the columns' present names
/// @param columns positions of the columns that it names
public record CheckConstraint(String name, String text, List<Integer> columns) {}

package dev.kakehashi.engine.catalog;

import java.util.List;

/// A view as of one version of the catalogue.
///
/// @param text the query as written
/// @param sources what the query calls each column: columns that its tables get later are none of the view's
/// @param columns names and types, which stay whatever becomes of the tables
public record View(
    String schema,
    String name,
    long viewId,
    String text,
    List<String> sources,
    List<Column> columns) {}

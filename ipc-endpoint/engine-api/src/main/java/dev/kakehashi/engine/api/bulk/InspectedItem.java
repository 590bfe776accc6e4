package dev.kakehashi.engine.api.bulk;

/// One line of what is known of a file.
///
/// @param file as a location
/// @param kind `file`, `column`, `row group`, `statistics`, `create table`, `copy`
/// @param name of the column, number of the row group; empty otherwise
/// @param value text
public record InspectedItem(String file, String kind, String name, String value) {}

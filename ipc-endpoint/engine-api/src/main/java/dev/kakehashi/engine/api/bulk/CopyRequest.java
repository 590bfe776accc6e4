package dev.kakehashi.engine.api.bulk;

import java.util.List;

/// Where a `COPY` reads or writes, and how, as its text says it.
///
/// @param location `name:path` below a named location, `upload:id`, `stream:id`; empty: `STDOUT`
/// @param options in the order of the text, names in lower case; none is there twice
public record CopyRequest(String location, List<Option> options) {
  /// One option.
  ///
  /// @param values one for `name value`, several for `name (a, b)`, none for the name alone
  /// @param position character in the statement, from 1
  public record Option(String name, List<String> values, int position) {}
}

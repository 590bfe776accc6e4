/// Markup, frames, tables, and the files that browsers fetch.
///
/// Markup is constants of the program. Values come in by `Html.add` alone, which escapes them. An `Html` is written by one thread; the rest
/// is immutable.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.console.html;

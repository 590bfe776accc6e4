/// Files of `COPY`: what [dev.kakehashi.engine.api.bulk] asks for. `BulkFiles` is the way in, from any thread; it holds nothing open
/// between statements.
///
/// A statement's load or dump is checked first and immutable then. Its parts are drawn by tasks of the engine: each part, reader and output
/// is used by one task at a time.
/// Memory is the statement's, and is reserved before it is taken. Damage in a file is an `EngineException` that names the file.
///
/// | package | is |
/// |---|---|
/// | `format` | the interfaces of formats; knows none of them |
/// | `value` | values of files as values of columns |
/// | `csv`, `parquet`, `arrow` | a format each; they do not know each other, but that `value` reads texts by `csv.text` |
/// | `file` | the only package that opens files |
/// | `option` | options of the statement, and the formats by their names |
/// | `load`, `dump` | one statement's files, from formats and `file` |
@NullMarked
package dev.kakehashi.bulk;

import org.jspecify.annotations.NullMarked;

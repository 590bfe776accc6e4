package dev.kakehashi.bulk.file;

import java.nio.file.Path;

/// A directory that `COPY` may use by a name. Immutable.
///
/// @param directory absolute, without symbolic links
/// @param readable whether anybody may read there
/// @param writable whether anybody may write there
public record BulkLocation(String name, Path directory, boolean readable, boolean writable) {}

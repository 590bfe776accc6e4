package dev.kakehashi.engine.store.api;

import java.nio.file.Path;

/// Where a store's log is copied to.
///
/// @param directory has to be there: one that is made by whoever needs it would be on the wrong disk where another one is not mounted
/// @param intervalNanos how long a commit may be missing there
/// @param backlogBytes of the log that are kept until they are there; what is older is given up
public record ArchiveConfig(Path directory, long intervalNanos, long backlogBytes) {}

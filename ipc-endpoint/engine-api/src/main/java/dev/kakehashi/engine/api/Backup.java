package dev.kakehashi.engine.api;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The files that together are the engine's state at one moment, kept as they are until this is closed, while the engine goes on.
///
/// Thread-safe. [#close()] lets the engine change or remove them.
public interface Backup extends AutoCloseable {
  /// A file to copy.
  ///
  /// @param source where it is now
  /// @param bytes how many of its bytes count, from its beginning; it may be longer
  /// @param name where it belongs in an engine's directory, relative
  record File(Path source, long bytes, String name) {}

  /// Files that change while they are copied, which does no harm as long as they are copied before [#files()] is asked for: what they lack
  /// is there.
  default List<File> changingFiles() {
    return List.of();
  }

  /// The others; the first call says which moment the backup is of.
  List<File> files();

  /// Where the log ends in the files; after [#files()]. Null: the engine has no positions.
  default @Nullable LogPosition position() {
    return null;
  }

  @Override
  void close();
}

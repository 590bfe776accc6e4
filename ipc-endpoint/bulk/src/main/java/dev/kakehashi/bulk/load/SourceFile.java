package dev.kakehashi.bulk.load;

import dev.kakehashi.bulk.file.OpenedFile;

/// A file that a load reads. Immutable.
public interface SourceFile {
  /// As a location.
  String name();

  /// Opens it; the caller closes it.
  OpenedFile open();

  /// Whether the name leads to this file still: one that clients have sent may go when it is open.
  boolean isNamed();
}

package dev.kakehashi.protocol.file;

import java.io.IOException;
import java.nio.file.Path;

/// A file is none of the records that were looked for, or is of a newer version.
public final class RecordFileException extends IOException {
  private static final long serialVersionUID = 1L;

  private final boolean isNewer;

  private RecordFileException(String message, boolean isNewer) {
    super(message);
    this.isNewer = isNewer;
  }

  static RecordFileException foreign(Path file, RecordKind kind) {
    return new RecordFileException("\"%s\" is no %s".formatted(file, kind.title()), false);
  }

  static RecordFileException newer(Path file, RecordKind kind, int version, int known) {
    return new RecordFileException(
        "\"%s\", a %s, has version %d, and this program reads up to %d: use the program that wrote it, or a newer one"
            .formatted(file, kind.title(), version, known),
        true);
  }

  /// Whether a newer program has written the file: it must not be overwritten.
  public boolean isNewer() {
    return isNewer;
  }
}

package dev.kakehashi.bulk.file;

/// A file as it was at a moment: two of them are equal when nobody has written between both, nor put another file under the name.
/// Immutable.
public final class FileVersion {
  private final FileStatus status;

  private FileVersion(FileStatus status) {
    this.status = status;
  }

  /// As it was opened.
  public static FileVersion of(OpenedFile file) {
    return new FileVersion(file.status());
  }

  /// Whether an opened file is the same one, unchanged since, and at this moment, too.
  public boolean isOf(OpenedFile file) {
    return status.isUnchanged(file.status()) && file.isUnchanged();
  }
}

package dev.kakehashi.bulk.file;

/// Status of an open file, as the system knows it.
///
/// @param links names that it has
/// @param modifiedNanos nanoseconds of the second `modifiedSeconds`
/// @param owner user, by number
record FileStatus(
    int mode,
    long links,
    long device,
    long inode,
    long size,
    long modifiedSeconds,
    long modifiedNanos,
    int owner) {
  private static final int TYPE = 0xf000;
  private static final int DIRECTORY = 0x4000;
  private static final int REGULAR = 0x8000;
  private static final int LINK = 0xa000;
  private static final int FIELDS = 8;

  /// @throws dev.kakehashi.engine.api.error.EngineException IO_ERROR
  static FileStatus of(int descriptor, String name) {
    long[] fields = new long[FIELDS];
    int result = FileCalls.stat(descriptor, fields);
    if (result < 0) {
      throw FileFailure.of("could not look at", name, result);
    }
    return new FileStatus(
        (int) fields[0],
        fields[1],
        fields[2],
        fields[3],
        fields[4],
        fields[5],
        fields[6],
        (int) fields[7]);
  }

  boolean isRegular() {
    return (mode & TYPE) == REGULAR;
  }

  boolean isDirectory() {
    return (mode & TYPE) == DIRECTORY;
  }

  boolean isLink() {
    return (mode & TYPE) == LINK;
  }

  /// Whether both are of the same file, whatever has become of it.
  boolean isSameFile(FileStatus other) {
    return device == other.device && inode == other.inode;
  }

  /// Whether nobody has written to the file between both.
  boolean isUnchanged(FileStatus other) {
    return isSameFile(other)
        && size == other.size
        && modifiedSeconds == other.modifiedSeconds
        && modifiedNanos == other.modifiedNanos;
  }
}

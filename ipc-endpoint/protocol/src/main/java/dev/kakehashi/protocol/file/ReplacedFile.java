package dev.kakehashi.protocol.file;

import dev.kakehashi.protocol.Directories;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/// A file that is one state, and is replaced whole: written beside its place under the name with `.new` behind it, made durable, renamed.
/// So it is the state of before or the new one, after any crash. Only its owner may read it.
///
/// Thread-safe for different files. Two writers of one file exclude each other by something else.
public final class ReplacedFile {
  private static final FileAttribute<Set<PosixFilePermission>> OWNERS =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private ReplacedFile() {}

  /// Replaces a file, or makes it; returns when the new state survives power loss. If that fails, the state of before is there, or, after a
  /// failure of the directory, the new one.
  public static void write(Path file, byte[] content) throws IOException {
    Path fresh = fresh(file);
    boolean isDone = false;
    try {
      try (FileChannel channel = FileChannel.open(fresh, StandardOpenOption.WRITE)) {
        ByteBuffer left = ByteBuffer.wrap(content);
        while (left.hasRemaining()) {
          channel.write(left);
        }
        channel.force(true);
      }
      rename(fresh, file);
      isDone = true;
    } finally {
      if (!isDone) {
        Files.deleteIfExists(fresh);
      }
    }
  }

  /// The same with text, in UTF-8.
  public static void write(Path file, String content) throws IOException {
    write(file, content.getBytes(StandardCharsets.UTF_8));
  }

  /// Makes the empty file that is to take the place of another one.
  static Path fresh(Path file) throws IOException {
    Path fresh = file.resolveSibling(file.getFileName() + ".new");
    // One that a crash has left.
    Files.deleteIfExists(fresh);
    return create(fresh);
  }

  /// Makes a file that only its owner may read.
  static Path create(Path file) throws IOException {
    return Files.createFile(file, OWNERS);
  }

  /// Gives a durable file its name, durably.
  static void rename(Path fresh, Path file) throws IOException {
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
    Directories.force(file.resolveSibling("."));
  }
}

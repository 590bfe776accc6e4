package dev.kakehashi.pgtests.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;

/// A directory on disk and one on tmpfs, owned by the OS user of the servers and removed at the end.
public final class Workspace implements AutoCloseable {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  private final Path disk;
  private final Path memory;

  private Workspace(Path disk, Path memory) {
    this.disk = disk;
    this.memory = memory;
  }

  /// @param name part of the directories' names, for those who look at what a killed test left behind
  public static Workspace create(String name) {
    try {
      // Not java.io.tmpdir: a private one cannot be reached by another OS user.
      return new Workspace(
          ownedDirectory(Path.of("/var/tmp"), name), ownedDirectory(SHARED_MEMORY, name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path ownedDirectory(Path parent, String name) throws IOException {
    Path directory =
        Files.createTempDirectory(
            parent,
            "kakehashi-test-" + name + "-",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.setOwner(
        directory,
        directory
            .getFileSystem()
            .getUserPrincipalLookupService()
            .lookupPrincipalByName(Installation.serverUser()));
    return directory;
  }

  /// Durable files: PostgreSQL's cluster, the engine's data directory, logs.
  public Path disk() {
    return disk;
  }

  /// Files in memory: runtime directories of endpoints.
  public Path memory() {
    return memory;
  }

  @Override
  public void close() {
    try {
      delete(memory);
      delete(disk);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path directory) throws IOException {
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            // A server that is just ending removes its own files, too.
            if (e instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }

          @Override
          public FileVisitResult postVisitDirectory(
              Path visited, @org.jspecify.annotations.Nullable IOException e) throws IOException {
            Files.deleteIfExists(visited);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}

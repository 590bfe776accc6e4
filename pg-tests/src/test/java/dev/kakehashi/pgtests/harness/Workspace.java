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
import org.jspecify.annotations.Nullable;

/// A directory on disk and one on tmpfs, owned by the OS user of the servers and removed at the end.
public final class Workspace implements AutoCloseable {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  private final Path disk;
  private final Path memory;
  private final @Nullable TmpfsMount mount;

  private Workspace(Path disk, Path memory, @Nullable TmpfsMount mount) {
    this.disk = disk;
    this.memory = memory;
    this.mount = mount;
  }

  /// @param name part of the directories' names, for those who look at what a killed test left behind
  public static Workspace create(String name) {
    return create(name, false, 0);
  }

  /// The same, with a small tmpfs of its own over the directory in memory; see [TmpfsMount#permitted()].
  public static Workspace createWithSmallMemory(String name, int megabytes) {
    return create(name, true, megabytes);
  }

  private static Workspace create(String name, boolean mounted, int megabytes) {
    try {
      // Not java.io.tmpdir: a private one cannot be reached by another OS user.
      Path disk = ownedDirectory(Path.of("/var/tmp"), name);
      Path memory = ownedDirectory(SHARED_MEMORY, name);
      return new Workspace(disk, memory, mounted ? TmpfsMount.at(memory, megabytes) : null);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// The small tmpfs.
  public TmpfsMount mount() {
    if (mount == null) {
      throw new IllegalStateException("the workspace was made without a tmpfs of its own");
    }
    return mount;
  }

  private static Path ownedDirectory(Path parent, String name) throws IOException {
    Path directory =
        Files.createTempDirectory(
            parent,
            "kakehashi-test-" + name + "-",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    giveToServerUser(directory);
    return directory;
  }

  private static void giveToServerUser(Path directory) throws IOException {
    Files.setOwner(
        directory,
        directory
            .getFileSystem()
            .getUserPrincipalLookupService()
            .lookupPrincipalByName(Installation.serverUser()));
  }

  /// Durable files: PostgreSQL's cluster, the engine's data directory, logs.
  public Path disk() {
    return disk;
  }

  /// Files in memory: runtime directories of endpoints.
  public Path memory() {
    return memory;
  }

  /// A new directory in [#disk()].
  public Path newDiskDirectory(String name) {
    return newDirectory(disk, name);
  }

  /// A new directory of the servers' OS user.
  static Path newDirectory(Path parent, String name) {
    try {
      Path directory = Files.createDirectory(parent.resolve(name));
      giveToServerUser(directory);
      return directory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      if (mount != null) {
        mount.close();
      }
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
          public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException e)
              throws IOException {
            Files.deleteIfExists(visited);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}

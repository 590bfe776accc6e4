package dev.kakehashi.pgtests.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;

/// A small file system in memory, mounted over a directory.
public final class TmpfsMount implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final Path directory;

  private TmpfsMount(Path directory) {
    this.directory = directory;
  }

  /// Whether this process may mount: root outside of a container that forbids it.
  public static boolean permitted() {
    if (!"root".equals(System.getProperty("user.name"))) {
      return false;
    }
    try {
      Path probe = Files.createTempDirectory("kakehashi-mount-");
      try (var mount = at(probe, 1)) {
        return Files.exists(mount.directory);
      } finally {
        Files.delete(probe);
      }
    } catch (IllegalStateException e) {
      return false; // mount said no
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Mounts a tmpfs that belongs to the servers' user.
  public static TmpfsMount at(Path directory, int megabytes) {
    String user = Installation.serverUser();
    OsProcess.runOkAsSelf(
        List.of(
            "mount",
            "-t",
            "tmpfs",
            "-o",
            "mode=0700,size=" + megabytes + "m",
            "tmpfs",
            directory.toString()),
        LIMIT);
    OsProcess.runOkAsSelf(List.of("chown", user + ":", directory.toString()), LIMIT);
    return new TmpfsMount(directory);
  }

  /// Takes all the space that is left.
  ///
  /// @return the file that holds it
  public Path fill() {
    Path ballast = directory.resolve("ballast");
    var page = ByteBuffer.allocate(4096);
    try (var channel =
        FileChannel.open(ballast, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      while (true) {
        page.clear();
        channel.write(page);
      }
    } catch (IOException e) {
      if (!String.valueOf(e.getMessage()).contains("No space left")) {
        throw new UncheckedIOException(e);
      }
    }
    return ballast;
  }

  /// Gives the space back.
  public void release(Path ballast) {
    try {
      Files.delete(ballast);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    OsProcess.runOkAsSelf(List.of("umount", "--lazy", directory.toString()), LIMIT);
  }
}

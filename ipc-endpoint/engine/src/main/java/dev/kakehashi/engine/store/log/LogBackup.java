package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.protocol.Directories;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/// The files of a backup: the base image by other names in a workspace, and the segments of the log from the image's position to an end that is durable.
///
/// What lies before the end never changes while the segments are held, so it can be copied while the log grows.
final class LogBackup implements Backup {
  private final Path workspace;
  private final Runnable release;
  private final List<File> files = new ArrayList<>();
  private final AtomicBoolean closed = new AtomicBoolean();

  LogBackup(Path workspace, Runnable release) {
    this.workspace = workspace;
    this.release = release;
  }

  /// Adds all files of a directory in the workspace.
  void addDirectory(Path directory) throws IOException {
    try (Stream<Path> found = Files.list(directory)) {
      for (Path file : found.sorted().toList()) {
        files.add(new File(file, Files.size(file), workspace.relativize(file).toString()));
      }
    }
  }

  /// Adds what a log has from a position on.
  void addLog(SegmentedLog.Position from, long end, LogSegments segments) {
    LogFormat format = from.format();
    long last = format.segment(end);
    for (long number = format.segment(from.end()); number <= last; number++) {
      int bytes = number < last ? format.segmentBytes() : format.offset(end);
      if (bytes > 0 && segments.has(number)) {
        Path path = segments.path(number);
        files.add(new File(path, bytes, "log/" + path.getFileName()));
      }
    }
  }

  @Override
  public List<File> files() {
    return List.copyOf(files);
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      release.run();
      try {
        Directories.delete(workspace);
      } catch (IOException e) {
        throw new UncheckedIOException("could not remove \"" + workspace + "\"", e);
      }
    }
  }
}

package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.protocol.Directories;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
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
  ///
  /// @throws NoSuchFileException if a segment is missing
  void addLog(SegmentedLog.Position from, long end, LogSegments segments) throws IOException {
    LogFormat format = from.format();
    // Where one that is full is the last with changes, the next belongs to it.
    long next = format.frameStart(end);
    long last = format.segment(next);
    for (long number = format.segment(from.end()); number <= last; number++) {
      int bytes = number < last ? format.segmentBytes() : format.offset(next);
      Path path = segments.path(number);
      if (segments.has(number)) {
        // An older version made some in a hurry, that are as long as what is in them.
        files.add(new File(path, Math.min(bytes, Files.size(path)), "log/" + path.getFileName()));
      } else if (number < last || next != format.firstPosition(number)) {
        throw new NoSuchFileException(path.toString());
      }
    }
  }

  /// Adds files that records name.
  void addSideFiles(List<Path> named) throws IOException {
    for (Path file : named) {
      files.add(new File(file, Files.size(file), "log/" + file.getFileName()));
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

package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.engine.api.LogPosition;
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
import org.jspecify.annotations.Nullable;

/// The files of a backup: the base image by other names in a workspace, those of the queues, and the segments of the log from the image's
/// position to an end that is durable.
///
/// Bytes before the end never change while the segments are held, so they can be copied while the log grows. The files of the queues do
/// change, so they are copied before there is an end: what they lack, or have in part, is in the log.
///
/// `files`, `rest` and `position` are guarded by `this`.
final class LogBackup implements Backup {
  private final Path workspace;
  private final Runnable release;
  private final List<File> files = new ArrayList<>();
  private final List<File> changing = new ArrayList<>();

  /// Adds what the log has up to an end; null: it has done so, or there is nothing to add.
  private @Nullable Rest rest;

  private @Nullable LogPosition position;

  private final AtomicBoolean closed = new AtomicBoolean();

  interface Rest {
    void add() throws IOException;
  }

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

  /// Adds files of the queues.
  ///
  /// @param directory theirs, in the store's
  /// @param names relative to it
  void addQueues(Path directory, List<Path> names) throws IOException {
    for (Path name : names) {
      Path file = directory.resolve(name);
      changing.add(
          new File(file, Files.size(file), directory.getFileName().resolve(name).toString()));
    }
  }

  /// Says how the log is added, when the files of the queues are copied.
  synchronized void atEnd(Rest added) {
    rest = added;
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

  /// Says where the log ends in it.
  synchronized void endsAt(LogPosition end) {
    position = end;
  }

  @Override
  public synchronized @Nullable LogPosition position() {
    return position;
  }

  @Override
  public List<File> changingFiles() {
    return List.copyOf(changing);
  }

  /// The log has its end now.
  synchronized void addRest() throws IOException {
    Rest missing = rest;
    if (missing != null) {
      missing.add();
      rest = null;
    }
  }

  @Override
  public synchronized List<File> files() {
    try {
      addRest();
    } catch (IOException e) {
      throw SegmentedLog.failure("could not find the log's files for a backup", e);
    }
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

package dev.kakehashi.rest.job;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.Directories;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The directory of results: files `NUMBER` that are published, and `NUMBER.part` that are written. Their names come from a counter alone.
/// Thread-safe.
final class ResultFiles {
  private static final Logger LOG = LoggerFactory.getLogger(ResultFiles.class);
  private static final String UNFINISHED = ".part";

  private final Path directory;
  private final SpaceBudget budget;
  private final AtomicLong lastId = new AtomicLong();

  /// @param directory made if it is not there
  ResultFiles(Path directory, SpaceBudget budget) throws IOException {
    this.directory = directory;
    this.budget = budget;
    Files.createDirectories(directory);
    Directories.forceNames(directory);
  }

  private Path path(long id) {
    return directory.resolve(Long.toString(id));
  }

  private Path temporary(long id) {
    return directory.resolve(id + UNFINISHED);
  }

  /// Removes what belongs to no job, as it is left by a crash.
  ///
  /// @param known files of jobs
  void sweep(Set<Long> known) throws IOException {
    int swept = 0;
    try (Stream<Path> found = Files.list(directory)) {
      for (Path path : found.toList()) {
        String name = path.getFileName().toString();
        long id =
            id(
                name.endsWith(UNFINISHED)
                    ? name.substring(0, name.length() - UNFINISHED.length())
                    : name);
        lastId.accumulateAndGet(id, Math::max);
        if (!known.contains(id) || name.endsWith(UNFINISHED)) {
          Directories.delete(path);
          swept++;
        }
      }
    }
    for (long id : known) {
      lastId.accumulateAndGet(id, Math::max);
    }
    if (swept > 0) {
      LOG.info("{} files of results that belong to no finished job were removed", swept);
    }
  }

  /// -1: a name that is none of ours
  private static long id(String name) {
    try {
      return Long.parseLong(name);
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  /// Whether a file is there, whole as far as its size tells.
  boolean isThere(JobFile file) {
    try {
      return Files.size(path(file.id())) == file.bytes();
    } catch (IOException e) {
      LOG.debug("a file of a result cannot be read", e);
      return false;
    }
  }

  /// @throws EngineException DISK_FULL, IO_ERROR
  ResultFile create(
      String owner, String name, String mediaType, String coding, LongConsumer progress) {
    long id = lastId.incrementAndGet();
    try {
      return new ResultFile(
          new ResultFile.Origin(
              id, owner, name, mediaType, coding, temporary(id), budget, progress));
    } catch (IOException e) {
      throw DiskFailure.of("could not make a file of a result", e);
    }
  }

  /// Gives files their names, durably.
  ///
  /// @throws EngineException DISK_FULL, IO_ERROR; the caller removes them
  void publish(List<JobFile> files) {
    if (files.isEmpty()) {
      return;
    }
    try {
      for (JobFile file : files) {
        Files.move(temporary(file.id()), path(file.id()), StandardCopyOption.ATOMIC_MOVE);
      }
      Directories.force(directory);
    } catch (IOException e) {
      throw DiskFailure.of("could not publish a result", e);
    }
  }

  /// Removes files, whether they have their names or not.
  void remove(String owner, List<JobFile> files) {
    for (JobFile file : files) {
      try {
        Files.deleteIfExists(path(file.id()));
        Files.deleteIfExists(temporary(file.id()));
        budget.release(owner, file.bytes());
      } catch (IOException e) {
        // It counts on: its bytes are there until the next start.
        LOG.warn("a file of a result could not be removed", e);
      }
    }
  }

  FileChannel open(JobFile file) throws IOException {
    return FileChannel.open(path(file.id()), StandardOpenOption.READ);
  }

  /// Numbers of the files of a job.
  static List<Long> ids(List<JobFile> files) {
    List<Long> ids = new ArrayList<>();
    for (JobFile file : files) {
      ids.add(file.id());
    }
    return ids;
  }
}

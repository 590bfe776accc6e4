package dev.kakehashi.applications.remote;

import dev.kakehashi.engine.api.application.ApplicationDefinition;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A group of cgroup v2 of one process, with limits of memory and of threads; or none. Confined to the owner of its process.
final class ProcessGroup {
  /// Memory of a JVM beside its heap, in bytes.
  private static final long BESIDE_HEAP = 512L << 20;

  private static final int THREADS = 1_024;
  private static final Logger LOG = LoggerFactory.getLogger(ProcessGroup.class);

  private final @Nullable Path directory;

  private ProcessGroup(@Nullable Path directory) {
    this.directory = directory;
  }

  /// @param parent a directory of cgroup v2; empty: none
  /// @throws IOException it is not writable
  static ProcessGroup open(String parent, ApplicationDefinition definition) throws IOException {
    if (parent.isEmpty()) {
      return new ProcessGroup(null);
    }
    Path directory = Path.of(parent, "application-" + UUID.randomUUID());
    Files.createDirectory(directory);
    ProcessGroup group = new ProcessGroup(directory);
    try {
      Files.writeString(
          directory.resolve("memory.max"),
          Long.toString(memoryBytes(definition.options().memoryBytes())));
      Files.writeString(directory.resolve("pids.max"), Integer.toString(THREADS));
    } catch (IOException e) {
      group.close();
      throw e;
    }
    return group;
  }

  /// Limit of a process with a heap of this size.
  static long memoryBytes(long heapBytes) {
    return heapBytes + BESIDE_HEAP;
  }

  void add(long pid) throws IOException {
    if (directory != null) {
      Files.writeString(directory.resolve("cgroup.procs"), Long.toString(pid));
    }
  }

  /// Whether the system has killed a process of it for want of memory.
  boolean hasRunOutOfMemory() {
    if (directory == null) {
      return false;
    }
    try {
      return Files.readAllLines(directory.resolve("memory.events")).stream()
          .anyMatch(line -> line.startsWith("oom_kill ") && !line.equals("oom_kill 0"));
    } catch (IOException e) {
      LOG.warn("could not read what happened in {}", directory, e);
      return false;
    }
  }

  /// Removes the group, whose process has ended.
  void close() {
    if (directory != null) {
      try {
        Files.deleteIfExists(directory);
      } catch (IOException e) {
        LOG.warn("could not remove {}", directory, e);
      }
    }
  }
}

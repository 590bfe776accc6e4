package dev.kakehashi.transport.endpoint;

import dev.kakehashi.transport.TransportConfig;
import dev.kakehashi.transport.os.MappedFile;
import dev.kakehashi.transport.os.SparseFile;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.RollCycle;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.queue.rollcycles.LegacyRollCycles;
import net.openhft.chronicle.wire.DocumentContext;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One Chronicle Queue that clients of one kind, one OS user and one PID namespace append to, and that the poller tails read-only.
///
/// Retention: memory of consumed requests is punched out of the current file as the tailer goes, and files of earlier cycles are deleted
/// when it has left them. The parts that appenders and the library still need stay. They are the file's header, index documents (they lie
/// between messages) and the neighbourhood of the tail, from which a writer repairs after another one's death.
///
/// Poller only, except [#name()] and the count of sessions.
final class RequestQueue implements AutoCloseable {
  /// Takes one request.
  interface FrameConsumer {
    /// @param frame the whole request in memory of ours; valid during the call
    void frame(RequestQueue queue, UnsafeBuffer frame);
  }

  /// Key of a queue: who may append to it.
  record Writers(int uid, long pidNamespace, int kind, int number) {
    String describe() {
      return "%d-%d-%s%d".formatted(uid, pidNamespace, kind == 1 ? "pg" : "java", number);
    }
  }

  /// Roll cycle of all request queues: short, so that files are small and go soon.
  static final RollCycle ROLL_CYCLE = LegacyRollCycles.MINUTELY;

  private static final Logger LOG = LoggerFactory.getLogger(RequestQueue.class);
  private static final String TABLE_FILE = "metadata.cq4t";

  /// Numbers of queues. The clock is ahead of all that an earlier process has given, however many queues it has made.
  private static final AtomicLong NUMBERS = new AtomicLong(System.currentTimeMillis() << 12);

  private static final int PUNCH_BYTES = 2 << 20;
  private static final int PAGE_BYTES = 4096;
  private static final int TABLE_FILE_BYTES = 64 << 10; // as long as the library makes it

  private final Writers writers;
  private final long number;
  private final Path directory;
  private final ChronicleQueue queue;
  private final ExcerptTailer tailer;
  private final QueueTable table;
  private final int maxFrameBytes;
  private final byte[] frameBytes;
  private final LogThrottle warnings = new LogThrottle();
  private final UnsafeBuffer frame = new UnsafeBuffer(0, 0);
  private volatile int
      sessions; // written by the attach thread and the poller, under the owner's lock

  private final Path tableFile;

  /// Identities of files, to notice that others have taken their names; see [#damage()].
  private final @Nullable Object tableKey;

  private @Nullable Object fileKey;
  private long fileBytes;
  private @Nullable SparseFile file;
  private @Nullable Path filePath;
  private int cycle = Integer.MIN_VALUE;
  private long runStart; // consumed messages without a gap lie in [runStart, runEnd)
  private long runEnd;

  private RequestQueue(
      Writers writers, long number, Path directory, ChronicleQueue queue, TransportConfig config)
      throws IOException {
    this.writers = writers;
    this.number = number;
    this.tableFile = directory.resolve(TABLE_FILE);
    this.tableKey = attributes(tableFile).fileKey();
    this.directory = directory;
    this.queue = queue;
    this.tailer = queue.createTailer();
    tailer.singleThreadedCheckDisabled(true); // the poller's threads hand it over
    this.table = QueueTable.open(directory);
    this.maxFrameBytes = config.queue().maxFrameBytes();
    this.frameBytes = new byte[maxFrameBytes];
  }

  /// Makes the queue's directory and table, then opens it for reading.
  ///
  /// @throws dev.kakehashi.transport.TransportException DISK_FULL when the table's memory cannot be reserved; nothing is left then
  static RequestQueue create(RuntimeDirectory runtime, Writers writers, TransportConfig config)
      throws IOException {
    long number = NUMBERS.getAndIncrement();
    String name = writers.describe() + "-" + Long.toString(number, Character.MAX_RADIX);
    Path directory = Files.createDirectory(runtime.queues().resolve(name));
    try {
      return create(runtime, writers, number, directory, config);
    } catch (IOException | RuntimeException | InternalError e) {
      remove(directory, name);
      throw e;
    }
  }

  private static RequestQueue create(
      RuntimeDirectory runtime,
      Writers writers,
      long number,
      Path directory,
      TransportConfig config)
      throws IOException {
    runtime.shareDirectoryWith(writers.uid(), directory);
    Path tableFile = directory.resolve(TABLE_FILE);
    // The library does not reserve what it writes: on a full file system that is a SIGBUS, in Java
    // an InternalError.
    try (MappedFile reserved = MappedFile.create(tableFile, TABLE_FILE_BYTES, 0600)) {
      reserved.reserve(0, TABLE_FILE_BYTES);
    }
    try (ChronicleQueue table = builder(directory, config).build()) {
      table.createTailer().close(); // the table store is complete once somebody has used it
    }
    runtime.shareWith(writers.uid(), tableFile);
    ChronicleQueue queue = builder(directory, config).readOnly(true).build();
    return new RequestQueue(writers, number, directory, queue, config);
  }

  private static SingleChronicleQueueBuilder builder(Path directory, TransportConfig config) {
    return SingleChronicleQueueBuilder.single(directory.toFile())
        .rollCycle(ROLL_CYCLE)
        .blockSize(config.queue().blockBytes());
  }

  /// Directory below `queues/`.
  String name() {
    return directory.getFileName().toString();
  }

  /// Another name of it, which no queue has had before, of earlier endpoints neither.
  long number() {
    return number;
  }

  Writers writers() {
    return writers;
  }

  /// Logs what a client of this queue does wrong, where its session is not known.
  void warn(String what) {
    String suppressed = warnings.admit();
    if (suppressed != null) {
      LOG.warn("queue {}: {}{}", name(), what, suppressed);
    }
  }

  int sessions() {
    return sessions;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // the owner's lock serialises writers
  void addSessions(int difference) {
    sessions += difference;
  }

  /// Hands over up to `limit` requests; returns how many there were.
  int poll(FrameConsumer consumer, int limit) {
    int count = 0;
    while (count < limit) {
      int bytes;
      try (DocumentContext document = tailer.readingDocument()) {
        if (!document.isPresent()) {
          return count;
        }
        bytes = copy(document);
      }
      count++;
      if (bytes > 0) {
        frame.wrap(frameBytes, 0, bytes);
        consumer.frame(this, frame);
      }
    }
    return count;
  }

  /// Copies the content out of shared memory and notes what has been consumed; 0 when it is longer than any request.
  private int copy(DocumentContext document) {
    Bytes<?> content = Objects.requireNonNull(document.wire()).bytes();
    long start = content.readPosition();
    long length = content.readRemaining();
    consumed(start - Integer.BYTES, start + length);
    if (length > maxFrameBytes) {
      warn("dropping a request of " + length + " bytes");
      return 0;
    }
    content.read(frameBytes, 0, (int) length);
    return (int) length;
  }

  /// Notes that the message in [start, end) of the current file has been consumed, header included.
  private void consumed(long start, long end) {
    if (tailer.cycle() != cycle) {
      roll();
      runStart = start;
    } else if (start > runEnd) {
      // Something else lies in between: an index document, which appenders still use.
      punch(runEnd);
      runStart = start;
    }
    runEnd = (end + 3) & ~3L;
    if (runEnd - runStart >= PUNCH_BYTES + tailBytes()) {
      punch(runEnd - tailBytes());
    }
  }

  /// Bytes before the tail that a writer may look at again: the last messages.
  private long tailBytes() {
    return 2L * maxFrameBytes + PAGE_BYTES;
  }

  /// Gives back the whole pages of [runStart, end).
  private void punch(long end) {
    long first = (runStart + PAGE_BYTES - 1) & -PAGE_BYTES;
    long last = end & -PAGE_BYTES;
    if (last <= first || file == null) {
      return;
    }
    try {
      file.punch(first, last - first);
    } catch (IOException e) {
      LOG.warn("queue {} keeps memory of consumed requests: {}", name(), e.getMessage());
    }
    runStart = last;
  }

  /// The tailer has entered another cycle: nobody needs the files before.
  private void roll() {
    closeFile();
    cycle = tailer.cycle();
    Path current = Objects.requireNonNull(tailer.currentFile()).toPath();
    filePath = current;
    fileKey = null;
    runStart = 0;
    runEnd = 0;
    try {
      file = SparseFile.open(current);
      BasicFileAttributes attributes = attributes(current);
      fileKey = attributes.fileKey();
      fileBytes = attributes.size();
      deleteBefore(current);
      table.lowestCycle(cycle);
    } catch (IOException e) {
      LOG.warn("queue {} keeps files of consumed requests: {}", name(), e.getMessage());
    }
  }

  private void deleteBefore(Path current) throws IOException {
    String currentName = current.getFileName().toString();
    List<Path> old = new ArrayList<>();
    try (var files = Files.newDirectoryStream(directory, "*.cq4")) {
      for (Path candidate : files) {
        if (candidate.getFileName().toString().compareTo(currentName) < 0) {
          old.add(candidate);
        }
      }
    }
    for (Path path : old) {
      // Unlinked first, so that no name leads to an emptied file; then emptied, since idle
      // appenders keep it mapped.
      try (SparseFile sparse = SparseFile.open(path)) {
        long length = Files.size(path);
        Files.delete(path);
        sparse.punch(0, length);
      }
    }
  }

  private void closeFile() {
    if (file != null) {
      file.close();
      file = null;
    }
  }

  /// Damage of its files, by which requests that clients append from now on may never be read; null: none that can be seen from here.
  /// Clients that append find files with damaged content, and report them when they attach again.
  @Nullable String damage() {
    try {
      BasicFileAttributes found = attributes(tableFile);
      if (!Objects.equals(found.fileKey(), tableKey) || found.size() < TABLE_FILE_BYTES) {
        return "its table was replaced or truncated";
      }
      if (filePath != null && fileKey != null) {
        found = attributes(filePath);
        if (!Objects.equals(found.fileKey(), fileKey) || found.size() < fileBytes) {
          return "the file that is being read was replaced or truncated";
        }
        fileBytes = found.size();
      }
      return null;
    } catch (IOException missing) {
      return "a file of it is missing: " + missing.getMessage();
    }
  }

  private static BasicFileAttributes attributes(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  /// File of the cycle that is being read, if any.
  @Nullable Path currentFile() {
    return filePath;
  }

  /// Ends the tailer and removes the directory. Appenders that are left write into files without a name.
  @Override
  public void close() {
    closeFile();
    closeQuietly(tailer);
    closeQuietly(queue);
    closeQuietly(table);
    remove(directory, name());
  }

  private static void remove(Path directory, String name) {
    try (var files = Files.newDirectoryStream(directory)) {
      for (Path path : files) {
        Files.delete(path);
      }
      Files.delete(directory);
    } catch (IOException | DirectoryIteratorException e) {
      LOG.warn("could not remove queue {}: {}", name, e.getMessage());
    }
  }

  /// Files that clients have damaged may fail once more here; the rest has to go all the same.
  private void closeQuietly(AutoCloseable part) {
    try {
      part.close();
    } catch (Exception | InternalError e) {
      LOG.warn("could not close queue {} in order: {}", name(), e.getMessage());
    }
  }
}

package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.api.LogStatus;
import dev.kakehashi.engine.store.api.ArchiveConfig;
import dev.kakehashi.engine.store.log.file.LogFile;
import dev.kakehashi.protocol.Threads;
import dev.kakehashi.protocol.file.ReplacedFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The thread that copies the log to an archive: whole segments when the log has left them, and the beginning of the one that is written
/// when the interval has passed. Nobody who commits waits for it.
///
/// The log keeps segments until they are there. Beyond a limit the oldest are given up, which is a gap: a restore over it is refused.
/// Which segment comes next is noted beside the log, so a start knows it without the archive.
///
/// The reason of a failure is logged once, and shown until it is over; the archive is tried again each interval.
final class LogArchiver implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LogArchiver.class);
  private static final String STATE_SUFFIX = ".archived";
  private static final long LEAST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int COPY_BYTES = 1 << 20;

  private final ArchiveConfig config;
  private final ArchiveDirectory archive;
  private final Path stateFile;
  private final LogFormat format;
  private final LogSegments segments;
  private final SideFiles sideFiles;
  private final KeptFiles kept;
  private final Timelines timelines;
  private final Thread thread;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  /// Everything before is durable in the log. Written by who writes the log.
  private volatile long durable;

  // Guarded by the lock.
  private long next;
  private boolean segmentDue;
  private boolean stopping;
  private @Nullable LogPosition archived;
  private long archivedMillis;
  private long files;
  private long failures;
  private long gaps;
  private String problem = "";

  // Owned by the thread.
  private boolean opened;
  private long archivedEnd;
  private long partNanos;

  /// @param logDirectory where the note of the next segment is beside
  /// @param next first segment that the archive may lack
  /// @param durable end of the log
  LogArchiver(
      ArchiveConfig config,
      Path logDirectory,
      LogSegments segments,
      SideFiles sideFiles,
      Timelines timelines,
      long next,
      long durable) {
    this.config = config;
    this.archive = new ArchiveDirectory(config.directory());
    this.stateFile = stateFile(logDirectory);
    this.format = timelines.current().format();
    this.segments = segments;
    this.sideFiles = sideFiles;
    this.kept = sideFiles.kept();
    this.timelines = timelines;
    this.next = next;
    this.durable = durable;
    this.partNanos = System.nanoTime() - config.intervalNanos();
    this.thread = new Thread(this::run, "kakehashi-archive");
    thread.setDaemon(true);
    thread.start();
  }

  static Path stateFile(Path logDirectory) {
    return logDirectory.resolveSibling(logDirectory.getFileName() + STATE_SUFFIX);
  }

  /// The first segment that the archive may lack, of a log that is being opened.
  ///
  /// @param present segments that are there, in their order
  /// @param first that the log itself needs
  static long firstMissing(Path logDirectory, LogFormat format, List<Long> present, long first)
      throws IOException {
    long noted = noted(stateFile(logDirectory), format);
    if (noted >= first) {
      return noted;
    }
    long number = first;
    while (number > noted && present.contains(number - 1)) {
      number--;
    }
    if (noted >= 0 && number > noted) {
      LOG.error(
          "the archive will have a gap: segments {} to {} of the log are not there any more; make a backup",
          noted,
          number - 1);
    }
    if (noted < 0) {
      // A log that was not archived before may lack any segment before the first.
      note(stateFile(logDirectory), format, first);
      return first;
    }
    return number;
  }

  private static void note(Path file, LogFormat format, long next) throws IOException {
    ReplacedFile.write(file, "%016x %x\n".formatted(format.logId(), next));
  }

  private static long noted(Path file, LogFormat format) throws IOException {
    if (Files.notExists(file)) {
      return -1;
    }
    String[] words = Files.readString(file, StandardCharsets.UTF_8).strip().split(" ", -1);
    try {
      boolean isOurs = words.length == 2 && Long.parseUnsignedLong(words[0], 16) == format.logId();
      return isOurs ? Long.parseLong(words[1], 16) : -1;
    } catch (NumberFormatException e) {
      LOG.warn("\"{}\", which says what the archive has, cannot be read", file, e);
      return -1;
    }
  }

  /// Everything before a position is durable in the log. Any thread.
  void reached(long end) {
    long before = durable;
    durable = end;
    if (format.segment(end) != format.segment(before)) {
      lock.lock();
      try {
        segmentDue = true;
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  /// The first segment that the log has to keep. It gives up those that are too many.
  long firstKept() {
    lock.lock();
    try {
      long present = format.segment(durable);
      long most = Math.max(1, config.backlogBytes() / format.segmentBytes());
      if (present - next > most) {
        long first = present - most;
        gaps++;
        LOG.error(
            "the archive \"{}\" has a gap: segments {} to {} of the log are given up, because more than {} bytes wait ({}); make a backup",
            config.directory(),
            next,
            first - 1,
            config.backlogBytes(),
            problem.isEmpty() ? "it is too slow" : problem);
        next = first;
      }
      return next;
    } finally {
      lock.unlock();
    }
  }

  LogStatus.Archive status() {
    lock.lock();
    try {
      LogPosition last = archived;
      long begin = next * format.segmentBytes() + LogFormat.HEADER_BYTES;
      long have =
          last == null
              ? begin
              : Math.max(begin, last.segment() * format.segmentBytes() + last.offset());
      return new LogStatus.Archive(
          config.directory().toString(),
          last,
          archivedMillis,
          Math.max(0, durable - have),
          files,
          failures,
          gaps,
          problem);
    } finally {
      lock.unlock();
    }
  }

  private void run() {
    boolean last = false;
    while (!last) {
      last = awaitWork();
      try {
        archive(last);
        succeeded();
      } catch (IOException | RuntimeException | OutOfMemoryError e) {
        opened = false;
        failed(e);
      }
    }
  }

  /// Waits until there may be something to do; true: for the last time.
  private boolean awaitWork() {
    lock.lock();
    try {
      boolean isTroubled = !problem.isEmpty();
      long left = Math.max(LEAST_PAUSE_NANOS, config.intervalNanos());
      while (left > 0 && !stopping && (isTroubled || !segmentDue)) {
        try {
          left = changed.awaitNanos(left);
        } catch (InterruptedException e) {
          // Nobody may stop this thread but close().
          left = 0;
        }
      }
      segmentDue = false;
      return stopping;
    } finally {
      lock.unlock();
    }
  }

  private void succeeded() {
    lock.lock();
    try {
      if (!problem.isEmpty()) {
        LOG.info("the archive \"{}\" follows again", config.directory());
      }
      problem = "";
    } finally {
      lock.unlock();
    }
  }

  private void failed(Throwable e) {
    String reason = SegmentedLog.failure("could not archive the log", e).getMessage();
    lock.lock();
    try {
      failures++;
      if (!problem.equals(reason)) {
        LOG.warn("could not archive the log to \"{}\"; trying again", config.directory(), e);
      }
      problem = String.valueOf(reason);
    } finally {
      lock.unlock();
    }
  }

  /// Brings the archive after the log.
  ///
  /// @param isEnd the log ends: its last part is due
  private void archive(boolean isEnd) throws IOException {
    if (!opened) {
      open();
      opened = true;
    }
    sideFiles.keepRest();
    long end = durable;
    for (long number = nextSegment(); number < format.segment(end); number = nextSegment()) {
      write(number, true, format.segmentBytes(), (number + 1) * format.segmentBytes());
      moveOn(number);
    }
    boolean isDue = isEnd || System.nanoTime() - partNanos >= config.intervalNanos();
    if (isDue && end > archivedEnd && format.offset(end) > LogFormat.HEADER_BYTES) {
      write(format.segment(end), false, format.offset(end), end);
      partNanos = System.nanoTime();
    }
  }

  private void open() throws IOException {
    archive.require();
    archive.sweep();
    Timelines.Timeline current = timelines.current();
    Timelines there = archive.read(current.number());
    if (there == null) {
      archive.publish(
          archive.timeline(current.number()), timelines.text().getBytes(StandardCharsets.UTF_8));
    } else if (!there.equals(timelines)) {
      throw new IOException(
          "archive \"%s\" has another timeline %x: it belongs to another endpoint"
              .formatted(config.directory(), current.number()));
    }
  }

  private long nextSegment() {
    lock.lock();
    try {
      return next;
    } finally {
      lock.unlock();
    }
  }

  private void moveOn(long number) throws IOException {
    int timeline = timelines.current().number();
    Files.deleteIfExists(archive.part(timeline, number));
    long following;
    lock.lock();
    try {
      if (next == number) {
        next = number + 1;
      }
      following = next;
    } finally {
      lock.unlock();
    }
    note(stateFile, format, following);
  }

  private void write(long number, boolean isWhole, int bytes, long end) throws IOException {
    int timeline = timelines.current().number();
    List<ArchiveFile.Side> sides = new ArrayList<>();
    for (KeptFiles.Kept each : kept.between(number * format.segmentBytes(), end)) {
      sides.add(copy(each, archive.side(timeline, number, each.number())));
    }
    ByteBuffer content = read(number, bytes);
    ArchiveFile file =
        new ArchiveFile(
            timeline,
            format,
            number,
            isWhole,
            System.currentTimeMillis(),
            before(timeline, number),
            sides,
            bytes,
            new byte[0]);
    Path target = isWhole ? archive.whole(timeline, number) : archive.part(timeline, number);
    archive.publish(target, file.encode(content));
    archivedEnd = end;
    lock.lock();
    try {
      files++;
      archived = timelines.position(end);
      archivedMillis = file.writtenMillis();
    } finally {
      lock.unlock();
    }
  }

  private ByteBuffer read(long number, int bytes) throws IOException {
    ByteBuffer content = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    try (LogFile segment = LogFile.openReadOnly(segments.path(number))) {
      segment.read(content, 0);
    }
    // One that was given up meanwhile may be another segment now.
    if (content.hasRemaining() || !format.isHeader(content.flip(), number)) {
      throw new IOException(
          "segment \"%s\" of the log is not whole".formatted(segments.path(number)));
    }
    if (number < firstKept()) {
      throw new IOException(
          "segment \"%s\" of the log was given up".formatted(segments.path(number)));
    }
    return content;
  }

  /// Checksum of the archived segment before; zeros if there is none.
  private byte[] before(int timeline, long number) throws IOException {
    Path file = archive.whole(timeline, number - 1);
    byte[] digest = new byte[ArchiveFile.DIGEST_BYTES];
    if (number > 0 && Files.exists(file)) {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        ByteBuffer into = ByteBuffer.wrap(digest);
        long from = channel.size() - digest.length;
        while (into.hasRemaining() && channel.read(into, from + into.position()) > 0) {
          // Until it is full.
        }
        if (into.hasRemaining()) {
          throw new IOException("\"%s\" ends early".formatted(file));
        }
      }
    }
    return digest;
  }

  private ArchiveFile.Side copy(KeptFiles.Kept side, Path target) throws IOException {
    MessageDigest digest = ArchiveFile.sha256();
    long[] bytes = new long[1];
    archive.publish(
        target,
        to -> {
          ByteBuffer buffer = ByteBuffer.allocate(COPY_BYTES);
          try (FileChannel from = FileChannel.open(side.path(), StandardOpenOption.READ)) {
            while (from.read(buffer.clear()) >= 0) {
              digest.update(buffer.flip().duplicate());
              bytes[0] += buffer.remaining();
              while (buffer.hasRemaining()) {
                to.write(buffer);
              }
            }
          }
        });
    return new ArchiveFile.Side(side.number(), bytes[0], digest.digest());
  }

  /// Archives what is durable, once, and ends the thread.
  @Override
  public void close() {
    lock.lock();
    try {
      stopping = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    Threads.joinUninterruptibly(thread);
  }
}

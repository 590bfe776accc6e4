package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.engine.api.LogFeed;
import dev.kakehashi.engine.api.LogFrame;
import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.api.LogRequest;
import dev.kakehashi.engine.api.LogStatus;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.store.api.ArchiveConfig;
import dev.kakehashi.engine.store.api.SynchronousConfig;
import dev.kakehashi.engine.store.log.file.DiskErrors;
import dev.kakehashi.engine.store.log.file.LogFile;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A log of our own in front of a base image in RocksDB.
///
/// A write is one pwrite and one fdatasync into a segment whose blocks are there already; the image follows in the background
/// ([Checkpointer]). Measured before (2 processors, ext4 on a virtual disk): 120 bytes in RocksDB's log, whose file grows, 130 to 150 µs;
/// here 90 µs, what the disk takes.
///
/// Changes of queues are in the log, and never in the image: queues have files of their own that follow it.
///
/// Opening applies what the image lacks, then removes the rest of a write that a crash has cut off, so that nothing of it can be taken for
/// a part of a later one.
public final class SegmentedLog implements DurableLog {
  private static final int SEGMENT_BYTES = 4 << 20;
  private static final long APPLY_BYTES = 1 << 20;
  private static final long CHECKPOINT_BYTES = 64 << 20;
  private static final long REPLAY_BYTES = 4 << 20;

  /// Divisor of the heap: a record may take this part of it, within the bounds below.
  private static final int LONG_RECORD_DIVISOR = 16;

  private static final long LEAST_LONG_RECORD_BYTES = 1 << 20;
  private static final long MOST_LONG_RECORD_BYTES = 64 << 20;

  /// Entry of the image that says which log it belongs to, and up to where it has been applied. Below all keys of the store.
  private static final byte[] POSITION_KEY = {0};

  private static final Logger LOG = LoggerFactory.getLogger(SegmentedLog.class);

  private final RocksImage image;
  private final LogSegments segments;
  private final SideFiles sideFiles;
  private final LogWriter writer;
  private final LogEnd durableEnd;

  private final LogRoom room;
  private final Checkpointer checkpointer;
  private final @Nullable QueueSystem queues;
  private final @Nullable LogQueues logQueues;
  private final Timelines timelines;
  private final GroupTime times;
  private final @Nullable LogArchiver archiver;
  private final LogFeeds feeds;

  /// Held while queues are told of a group, until [Checkpointer#queuedEnd()] is behind it.
  private final Object tellLock = new Object();

  private final long longRecordBytes;
  private volatile boolean isFollower;

  private final LongAdder groups = new LongAdder();
  private final LongAdder recordsWritten = new LongAdder();
  private final LongAdder nanosWriting = new LongAdder();

  /// Sizes, and how files are opened: tests use others.
  ///
  /// @param segmentBytes multiple of 4096; of a new log, an old one keeps its own
  /// @param applyBytes records that are worth waking up the image's thread for
  /// @param checkpointBytes length of the log at which the image is flushed
  /// @param longRecordBytes changes of a record from which on they go into a file of their own
  /// @param limit where it ends
  /// @param archive null: there is none
  record Options(
      int segmentBytes,
      long applyBytes,
      long checkpointBytes,
      long longRecordBytes,
      LogFile.Opener opener,
      LogReader.Limit limit,
      @Nullable ArchiveConfig archive) {
    static final Options DEFAULT =
        new Options(
            SEGMENT_BYTES, APPLY_BYTES, CHECKPOINT_BYTES, defaultLongRecordBytes(), LogFile::open);

    Options(
        int segmentBytes,
        long applyBytes,
        long checkpointBytes,
        long longRecordBytes,
        LogFile.Opener opener) {
      this(
          segmentBytes,
          applyBytes,
          checkpointBytes,
          longRecordBytes,
          opener,
          LogReader.NO_LIMIT,
          null);
    }

    /// The same, of a log that ends before a limit: what is behind is removed.
    Options upTo(LogReader.Limit end) {
      return new Options(
          segmentBytes, applyBytes, checkpointBytes, longRecordBytes, opener, end, archive);
    }

    /// The same with an archive; null: none.
    Options archivedTo(@Nullable ArchiveConfig to) {
      return new Options(
          segmentBytes, applyBytes, checkpointBytes, longRecordBytes, opener, limit, to);
    }

    Options(int segmentBytes, long applyBytes, long checkpointBytes, LogFile.Opener opener) {
      this(segmentBytes, applyBytes, checkpointBytes, defaultLongRecordBytes(), opener);
    }

    /// A record is in the heap until the image has it.
    private static long defaultLongRecordBytes() {
      return Math.clamp(
          Runtime.getRuntime().maxMemory() / LONG_RECORD_DIVISOR,
          LEAST_LONG_RECORD_BYTES,
          MOST_LONG_RECORD_BYTES);
    }
  }

  /// Opens log and image, or makes them.
  ///
  /// @param imageDirectory RocksDB's; one that was written with RocksDB's own log, before there was this one, is taken over
  /// @throws EngineException DATA_CORRUPTED if a checksum does not hold or a file is missing, CANNOT_CONNECT if another process has it open
  public static SegmentedLog open(Path logDirectory, Path imageDirectory) {
    return open(logDirectory, imageDirectory, Options.DEFAULT);
  }

  /// With queues, which get what they may lack and are closed with the log.
  ///
  /// @param queues null: there are none
  /// @throws EngineException also NOT_IN_PREREQUISITE_STATE: there are none, and the log has changes of some
  public static SegmentedLog open(
      Path logDirectory, Path imageDirectory, @Nullable LogQueues queues) {
    return open(logDirectory, imageDirectory, Options.DEFAULT, queues);
  }

  /// With an archive that gets a copy of it.
  ///
  /// @param archive null: there is none
  public static SegmentedLog open(
      Path logDirectory,
      Path imageDirectory,
      @Nullable LogQueues queues,
      @Nullable ArchiveConfig archive) {
    return open(logDirectory, imageDirectory, Options.DEFAULT.archivedTo(archive), queues);
  }

  static SegmentedLog open(Path logDirectory, Path imageDirectory, Options options) {
    return open(logDirectory, imageDirectory, options, null);
  }

  static SegmentedLog open(
      Path logDirectory, Path imageDirectory, Options options, @Nullable LogQueues logQueues) {
    // Before a new image is made in the place of one that is lost.
    if (!RocksImage.isThere(imageDirectory)) {
      refuseLostImage(logDirectory, imageDirectory);
    }
    RocksImage image = RocksImage.open(imageDirectory);
    QueueSystem queues = null;
    boolean opened = false;
    try {
      queues = logQueues == null ? null : logQueues.open();
      SegmentedLog log = new SegmentedLog(image, logDirectory, options, queues, logQueues);
      opened = true;
      return log;
    } catch (IOException e) {
      throw failure("could not open the store's log in \"" + logDirectory + "\"", e);
    } finally {
      if (!opened) {
        try (image) {
          if (queues != null) {
            queues.close();
          }
        }
      }
    }
  }

  private SegmentedLog(
      RocksImage image,
      Path directory,
      Options options,
      @Nullable QueueSystem queues,
      @Nullable LogQueues logQueues)
      throws IOException {
    this.image = image;
    this.queues = queues;
    this.logQueues = logQueues;
    this.longRecordBytes = options.longRecordBytes();
    Files.createDirectories(directory);
    Optional<Position> known = position(image);
    LogFormat format;
    long start;
    if (known.isPresent()) {
      format = known.get().format();
      start = known.get().end();
      TimelineStart.complete(directory, Timelines.of(image, format), start);
    } else {
      format = new LogFormat(new SecureRandom().nextLong(), options.segmentBytes());
      start = format.firstPosition(0);
      refuseLostImage(directory, image.directory());
      begin(directory, format, options.opener(), start);
    }
    ArchiveConfig archive = options.archive();
    sideFiles = new SideFiles(directory, format.logId(), options.opener());
    List<Long> present = LogSegments.list(directory);
    segments = new LogSegments(directory, format, options.opener(), present);
    LogReader reader = new LogReader(format, segments, options.opener());
    if (known.isPresent()) {
      reader.requireReached(start);
    }
    Replay replay = new Replay(format, start);
    long end = replay.run(reader, options.limit());
    LogEnd.require(LogEnd.read(directory), segments, format, end);
    cut(format, segments, options.opener(), end);
    sideFiles.sweep();
    sideFiles.beginAt(end);
    timelines = Timelines.of(image, format);
    times = new GroupTime(GroupTime.of(image));
    archiver =
        archive == null ? null : archiver(archive, directory, present, format.segment(start), end);
    feeds =
        LogFeeds.open(
            directory,
            timelines,
            segments,
            sideFiles,
            archive == null ? null : new ArchiveDirectory(archive.directory()),
            end);
    long needed = Math.min(start, feeds.least());
    if (archiver != null) {
      needed = Math.min(needed, archiver.firstKept() * format.segmentBytes());
    }
    segments.retireBelow(format.segment(needed));
    sideFiles.kept().release(needed);
    writer = new LogWriter(format, segments, end);
    durableEnd = LogEnd.open(directory, format, end);
    room = new LogRoom(format, segments, end);
    checkpointer =
        new Checkpointer(
            image,
            format,
            segments,
            sideFiles,
            options,
            start,
            end,
            queues,
            replay.queuesChanged,
            archiver,
            feeds);
  }

  private LogArchiver archiver(
      ArchiveConfig archive, Path directory, List<Long> present, long first, long end)
      throws IOException {
    LogFormat format = timelines.current().format();
    long next = LogArchiver.firstMissing(directory, format, present, first);
    return new LogArchiver(
        archive,
        directory,
        segments,
        sideFiles,
        timelines,
        Math.min(next, format.segment(end)),
        end);
  }

  /// The image does not know of a log: a file there is of one that never came to be. From the position on the first segment is there, so
  /// that a log that is lost later is missed.
  private void begin(Path directory, LogFormat format, LogFile.Opener opener, long start)
      throws IOException {
    for (long number : LogSegments.list(directory)) {
      Files.delete(LogSegments.path(directory, number));
    }
    Directories.force(directory.resolve(".."));
    new LogSegments(directory, format, opener, List.of()).prepare(format.segment(start));
    LogEnd.begin(directory, format, start);
    image.apply(
        List.of(), position(format, start), new SideFiles(directory, format.logId(), opener));
    image.flush();
  }

  /// Refuses a log that was written to and whose image is not there, or knows of no log.
  ///
  /// @throws EngineException DATA_CORRUPTED
  static void refuseLostImage(Path logDirectory, Path imageDirectory) {
    try {
      for (long number : LogSegments.list(logDirectory)) {
        if (number > 0 || !LogSegments.isUnused(LogSegments.path(logDirectory, number))) {
          throw LogReader.corrupted(
              "base image \"%s\" is missing or incomplete, and log \"%s\" belongs to it"
                  .formatted(imageDirectory, logDirectory));
        }
      }
      LogEnd.Mark mark = LogEnd.read(logDirectory);
      if (mark != null && mark.position() > LogFormat.HEADER_BYTES) {
        throw LogReader.corrupted(
            "base image \"%s\" and log \"%s\" are missing or incomplete, and \"%s\" belongs to them"
                .formatted(imageDirectory, logDirectory, LogEnd.path(logDirectory)));
      }
    } catch (IOException e) {
      throw failure("could not read the store's log in \"" + logDirectory + "\"", e);
    }
  }

  /// Brings image and queues after the log.
  private final class Replay {
    private final LogFormat format;
    private final long start;
    private final List<LogRecord> groups = new ArrayList<>();
    private long bytes;
    private long applied;

    /// Whether queues got changes: the image keeps its position until they have been forced.
    private boolean queuesChanged;

    Replay(LogFormat format, long start) {
      this.format = format;
      this.start = start;
      this.applied = start;
    }

    /// Returns where the log ends.
    long run(LogReader reader, LogReader.Limit limit) throws IOException {
      long end = reader.replay(start, limit, this::add);
      if (reader.isCutOff()) {
        LOG.info("removing {}", segments.describeCutOff(end));
      }
      if (!groups.isEmpty()) {
        apply();
      }
      return end;
    }

    private void add(LogRecord group, long groupEnd) {
      groups.add(group);
      bytes += group.length();
      applied = groupEnd;
      group.sideFiles().forEach(file -> sideFiles.name(file, groupEnd));
      if (group.hasQueueChanges()) {
        queuesChanged = true;
        group.forEachQueueChange(requireQueues(queues)::replay);
      }
      if (bytes >= REPLAY_BYTES) {
        apply();
        groups.clear();
        bytes = 0;
      }
    }

    private void apply() {
      image.apply(groups, queuesChanged ? new LogRecord(0) : position(format, applied), sideFiles);
    }
  }

  /// @throws EngineException NOT_IN_PREREQUISITE_STATE
  static QueueSystem requireQueues(@Nullable QueueSystem queues) {
    if (queues == null) {
      throw new EngineException(
          ErrorCode.NOT_IN_PREREQUISITE_STATE,
          "the store's log has changes of queues, and it is opened without queues");
    }
    return queues;
  }

  /// The log ends durably at `end`.
  private static void cut(LogFormat format, LogSegments segments, LogFile.Opener opener, long end)
      throws IOException {
    long number = format.segment(end);
    long last = format.segment(end - 1);
    if (last < number && segments.has(last)) {
      // The last group fills this one. A killed process may have written it and not forced it.
      try (LogFile file = opener.open(segments.path(last))) {
        file.force();
      }
    }
    // First, for what a write has begun here may reach into those that are deleted.
    if (segments.has(number)) {
      try (LogFile file = opener.open(segments.path(number))) {
        segments.zero(file, format.offset(end));
        file.force();
      }
    }
    segments.deleteAbove(number);
  }

  /// Up to where which log has been applied to an image.
  record Position(LogFormat format, long end) {}

  /// Log and position that an image names; empty if it has never had a log.
  static Optional<Position> position(RocksImage image) {
    return image
        .get(POSITION_KEY)
        .map(ByteBuffer::wrap)
        .map(entry ->
            new Position(new LogFormat(entry.getLong(8), entry.getInt(16)), entry.getLong(0)));
  }

  /// The entry that goes into the image with what has been applied up to `end`.
  static LogRecord position(LogFormat format, long end) {
    LogRecord record = new LogRecord(32);
    record.put(
        POSITION_KEY,
        ByteBuffer.allocate(20)
            .putLong(end)
            .putLong(format.logId())
            .putInt(format.segmentBytes())
            .array());
    return record;
  }

  @Override
  public Activity activity() {
    Checkpointer.Progress progress = checkpointer.progress();
    return new Activity(
        groups.sum(),
        recordsWritten.sum(),
        nanosWriting.sum(),
        progress.bytes(),
        progress.segments(),
        progress.unappliedBytes(),
        progress.checkpoints(),
        progress.lastMillis());
  }

  @Override
  public void write(List<LogRecord> records) {
    long bytes = 0;
    long promised = 0;
    long queueNumber = 0;
    for (LogRecord record : records) {
      bytes += record.length();
      queueNumber = Math.max(queueNumber, record.queueNumber());
      promised += LogRoom.cost(record.length());
    }
    if (bytes == 0) {
      return;
    }
    if (isFollower) {
      // A group of its own would part it from the primary's for ever.
      throw new EngineException(
          ErrorCode.READ_ONLY_TRANSACTION, "the log of a standby has its primary's groups alone");
    }
    List<LogRecord> group = new ArrayList<>(records);
    group.add(times.next());
    bytes += group.getLast().length();
    checkpointer.awaitRoom();
    long begin = System.nanoTime();
    try {
      writer.append(group);
    } catch (IOException e) {
      throw failure("could not write to the store's log at " + timelines.position(writer.end()), e);
    }
    durableEnd.set(writer.end());
    if (archiver != null) {
      archiver.reached(writer.end());
    }
    feeds.reached(writer.end());
    feeds.awaitStandby(writer.end());
    groups.increment();
    recordsWritten.add(records.size());
    nanosWriting.add(System.nanoTime() - begin);
    room.written(writer.end(), promised);
    for (LogRecord record : records) {
      SideFile file = record.sideFile();
      if (file != null) {
        sideFiles.name(file, writer.end());
      }
    }
    if (queueNumber == 0) {
      checkpointer.add(group, bytes, writer.end());
      return;
    }
    synchronized (tellLock) {
      // Before the image may come after it: what is forced then is what they know to be durable.
      tellQueues(queueNumber);
      checkpointer.add(group, bytes, writer.end());
    }
  }

  /// Identifier of the log.
  long logId() {
    return timelines.current().format().logId();
  }

  /// A side file that a group names which comes next; one that was begun before is begun again.
  LogFile newSideFile(long number) throws IOException {
    Path path = sideFiles.path(number);
    Files.deleteIfExists(path);
    return LogFile.open(path);
  }

  /// Takes groups of a primary from now on, and no others.
  ReceivedGroups follow() {
    isFollower = true;
    durableEnd.follow();
    return new ReceivedGroups(writer, checkpointer, sideFiles, queues, this::forced);
  }

  private void forced(long end, int count) {
    durableEnd.set(end);
    groups.add(count);
    room.written(end, 0);
  }

  /// Its last frame; null: none is before its end. Called by the thread that writes.
  @Nullable LogFrame last() {
    try {
      // One of its own: it is asked for at the beginning of a stream alone.
      LogReader.Tail tail =
          new LogReader(timelines.current().format(), segments, LogFile::openReadOnly)
              .tail(writer.end());
      return tail == null ? null : new LogFrame(timelines.position(tail.at()), tail.crc());
    } catch (IOException e) {
      throw failure("could not read the store's log", e);
    }
  }

  /// Reads what is durable, for one thread.
  LogReader reader() {
    return new LogReader(timelines.current().format(), segments, LogFile::openReadOnly);
  }

  /// Keeps the log from a position on, for who reads it here.
  void keepFrom(long position) {
    feeds.ownReader(position);
  }

  /// Visits the changes in a side file.
  ///
  /// @param end of the group that names it
  void readSideFile(SideFile file, long end, LogRecord.Changes changes) {
    try {
      sideFiles.readKept(file, end, (at, piece) -> piece.forEach(changes));
    } catch (IOException e) {
      throw failure("could not read a file of the store's log", e);
    }
  }

  LogPosition position(long position) {
    return timelines.position(position);
  }

  /// See [LogFeeds#open].
  @Override
  public LogFeed feed(LogRequest request) throws IOException {
    return feeds.open(request);
  }

  /// See [LogFeeds#keepFor].
  @Override
  public void keepFor(String standby) throws IOException {
    feeds.keepFor(standby);
  }

  /// Everything before is durable.
  long end() {
    return checkpointer.queuedEnd();
  }

  @Override
  public LogStatus status() {
    return new LogStatus(
        timelines.position(checkpointer.queuedEnd()),
        archiver == null ? null : archiver.status(),
        feeds.status(),
        feeds.synchronousStatus());
  }

  @Override
  public void synchronous(@Nullable SynchronousConfig config) {
    feeds.synchronous(config);
  }

  @Override
  public void standbyBacklog(long bytes) {
    feeds.backlog(bytes);
  }

  @Override
  public String timelines() {
    return timelines.text();
  }

  @Override
  public void closing() {
    feeds.close();
  }

  private void tellQueues(long queueNumber) {
    try {
      requireQueues(queues).durable(queueNumber);
    } catch (RuntimeException e) {
      // The group is in the log: it must not be written again.
      LOG.error("queues did not take that record {} is durable", queueNumber, e);
    }
  }

  @Override
  public @Nullable QueueSystem queues() {
    return queues;
  }

  @Override
  public void reserve(int length, int instead) {
    if (length > instead) {
      checkpointer.refuseIfStuck(room.promised() + length);
    }
    try {
      room.reserve(length, instead);
    } catch (IOException e) {
      throw failure("could not extend the store's log", e);
    }
  }

  @Override
  public long longRecordBytes() {
    return longRecordBytes;
  }

  @Override
  public SideFileWriter newSideFile() {
    try {
      return sideFiles.begin();
    } catch (IOException e) {
      throw failure("could not begin a file of the store's log", e);
    }
  }

  @Override
  public void forget(LogRecord record) {
    SideFile file = record.sideFile();
    if (file != null) {
      sideFiles.forget(file);
    }
  }

  @Override
  public boolean hasRoom(Runnable whenReady) {
    return checkpointer.hasRoom(whenReady);
  }

  @Override
  public void read(byte[] from, byte[] to, EntryVisitor visitor) {
    image.read(from, to, visitor);
  }

  @Override
  public Optional<byte[]> lastKey(byte[] from, byte[] to) {
    return image.lastKey(from, to);
  }

  @Override
  public Backup backup(Path workspace) {
    checkpointer.hold();
    LogBackup backup = new LogBackup(workspace, this::releaseBackup);
    boolean complete = false;
    try {
      Path rows = workspace.resolve("rows");
      Files.createDirectories(workspace);
      image.checkpoint(rows);
      Position position;
      try (RocksImage copy = RocksImage.openReadOnly(rows)) {
        position = position(copy).orElseThrow();
      }
      backup.addDirectory(rows);
      if (queues != null && logQueues != null) {
        checkpointer.forceQueues();
        backup.addQueues(logQueues.directory(), queues.holdFiles());
      }
      backup.atEnd(() -> {
        // Read after image and queues were copied: what the copies lack ends here or before.
        long end;
        synchronized (tellLock) {
          end = checkpointer.queuedEnd();
        }
        backup.addLog(position, end, segments);
        backup.endsAt(timelines.position(end));
        backup.addSideFiles(sideFiles.between(position.end(), end));
      });
      if (queues == null) {
        backup.addRest();
      }
      complete = true;
      return backup;
    } catch (IOException e) {
      throw failure("could not begin a backup of the store", e);
    } finally {
      if (!complete) {
        backup.close();
      }
    }
  }

  private void releaseBackup() {
    try {
      if (queues != null) {
        queues.releaseFiles();
      }
    } finally {
      checkpointer.release();
    }
  }

  static EngineException failure(String what, Throwable e) {
    if (e instanceof EngineException known) {
      return known;
    }
    // Whose message is no more than the name of the file.
    String reason =
        e instanceof AccessDeniedException denied
            ? "permission denied for \"" + denied.getFile() + "\""
            : String.valueOf(e.getMessage());
    ErrorCode code = DiskErrors.code(reason);
    boolean io = code == ErrorCode.INTERNAL_ERROR && e instanceof IOException;
    return new EngineException(io ? ErrorCode.IO_ERROR : code, what + ": " + reason, e);
  }

  @Override
  public void close() {
    checkpointer.close();
    if (archiver != null) {
      archiver.close();
    }
    try {
      writer.close();
    } catch (IOException e) {
      throw failure("could not close the store's log", e);
    } finally {
      try (image;
          durableEnd) {
        if (queues != null) {
          queues.close();
        }
      }
    }
  }
}

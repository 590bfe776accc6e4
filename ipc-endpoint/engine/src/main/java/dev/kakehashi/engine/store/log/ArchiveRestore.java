package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.log.file.LogFile;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Brings the log and the base image of a restored backup on by what an archive has, and begins a new timeline there.
///
/// The archive's segments are put in the place of those of the backup, which are their beginning, and the log is opened with a limit: so
/// everything is applied as a start after a crash does it. Used once, by one thread; after a failure the directory is of no use.
public final class ArchiveRestore {
  private final Path logDirectory;
  private final Path imageDirectory;
  private final @Nullable LogQueues queues;
  private final ArchiveDirectory archive;
  private final Target target;

  /// Where the log of the backup ends: it cannot be taken back further.
  private long backupEnd;

  private int backupTimeline;

  /// The position that the image has to have when the log was closed.
  private long appliedEnd;

  private long groups;
  private long lastMicros;
  private boolean reached;

  /// The moment to which a log is brought.
  ///
  /// @param micros all groups up to this time are applied, in microseconds since 1970; the greatest number: all
  /// @param position all groups that end up to there are applied; null: it does not matter
  public record Target(long micros, @Nullable LogPosition position) {
    /// All that the archive has.
    public static final Target END = new Target(Long.MAX_VALUE, null);

    boolean isEnd() {
      return equals(END);
    }
  }

  /// Report of a restore.
  ///
  /// @param groups that were applied to the backup
  /// @param end where the old timeline was left
  /// @param micros time of the last group in it, since 1970; 0: not known
  /// @param begin where the new timeline begins
  public record Result(long groups, LogPosition end, long micros, LogPosition begin) {}

  /// @param queues null: there are none
  public ArchiveRestore(
      Path logDirectory,
      Path imageDirectory,
      @Nullable LogQueues queues,
      Path archive,
      Target target) {
    this.logDirectory = logDirectory;
    this.imageDirectory = imageDirectory;
    this.queues = queues;
    this.archive = new ArchiveDirectory(archive);
    this.target = target;
  }

  /// @throws EngineException DATA_CORRUPTED naming the file of the archive that is missing or damaged, INVALID_PARAMETER_VALUE if the
  ///     target is not between backup and archive
  public Result run() {
    try {
      return restore();
    } catch (IOException e) {
      throw SegmentedLog.failure(
          "could not restore from archive \"" + archive.directory() + "\"", e);
    }
  }

  private Result restore() throws IOException {
    archive.require();
    Timelines backup = lookAtBackup();
    Timelines way = way(backup);
    int from = backup.all().size() - 1;
    for (int leg = from; leg < way.all().size() && !reached; leg++) {
      if (leg > from) {
        // As it was begun then.
        TimelineStart.begin(
            logDirectory, imageDirectory, new Timelines(way.all().subList(0, leg + 1)), appliedEnd);
      }
      follow(way, leg);
    }
    if (!reached && lastMicros < target.micros() && !target.isEnd()) {
      throw new EngineException(
              ErrorCode.INVALID_PARAMETER_VALUE,
              "archive \"%s\" ends before the moment that is asked for, at %s"
                  .formatted(archive.directory(), moment(lastMicros)))
          .withHint("Leave the moment out to restore all of the archive.");
    }
    Timelines old;
    long end;
    try (RocksImage image = RocksImage.open(imageDirectory)) {
      SegmentedLog.Position position = SegmentedLog.position(image).orElseThrow();
      old = Timelines.of(image, position.format());
      end = position.end();
      lastMicros = Math.max(lastMicros, GroupTime.of(image));
    }
    int number = Math.max(old.current().number(), highest()) + 1;
    Timelines fresh = old.and(number, new SecureRandom().nextLong(), end);
    TimelineStart.begin(logDirectory, imageDirectory, fresh, appliedEnd);
    return new Result(
        groups, old.position(end), lastMicros, fresh.position(fresh.current().begin()));
  }

  private int highest() throws IOException {
    var numbers = archive.timelines();
    return numbers.isEmpty() ? 0 : numbers.last();
  }

  /// Finds where the backup's log ends, and refuses a target before.
  private Timelines lookAtBackup() throws IOException {
    try (RocksImage image = RocksImage.openReadOnly(imageDirectory)) {
      SegmentedLog.Position position =
          SegmentedLog.position(image)
              .orElseThrow(() ->
                  new EngineException(
                      ErrorCode.NOT_IN_PREREQUISITE_STATE,
                      "the backup is of a version without a log"));
      LogFormat format = position.format();
      Timelines timelines = Timelines.of(image, format);
      lastMicros = GroupTime.of(image);
      LogSegments segments =
          new LogSegments(
              logDirectory, format, LogFile::openReadOnly, LogSegments.list(logDirectory));
      backupEnd =
          new LogReader(format, segments, LogFile::openReadOnly)
              .replay(
                  position.end(),
                  (group, end) -> lastMicros = Math.max(lastMicros, GroupTime.of(group)));
      backupTimeline = timelines.current().number();
      LogPosition wanted = target.position();
      boolean isBefore =
          wanted != null
              && timelines.all().stream()
                  .anyMatch(each ->
                      each.number() == wanted.timeline()
                          && (each.number() < backupTimeline || raw(format, wanted) < backupEnd));
      if (isBefore || target.micros() < lastMicros) {
        throw new EngineException(
                ErrorCode.INVALID_PARAMETER_VALUE,
                "the backup is of %s (%s), which is later than the moment that is asked for"
                    .formatted(timelines.position(backupEnd), moment(lastMicros)))
            .withHint("Use an earlier backup.");
      }
      return timelines;
    }
  }

  private static long raw(LogFormat format, LogPosition position) {
    return position.segment() * format.segmentBytes() + position.offset();
  }

  /// The timelines from the first to the one that is followed: that of the target, or the newest that has begun behind the backup.
  private Timelines way(Timelines backup) throws IOException {
    LogPosition wanted = target.position();
    if (wanted != null) {
      Timelines found =
          wanted.timeline() == backupTimeline ? backup : archive.read(wanted.timeline());
      if (found == null || !continues(found, backup)) {
        throw new EngineException(
            ErrorCode.INVALID_PARAMETER_VALUE,
            "timeline %x of position %s does not go on from the backup, or archive \"%s\" does not have it"
                .formatted(wanted.timeline(), wanted, archive.directory()));
      }
      return found;
    }
    for (int number : archive.timelines().descendingSet()) {
      Timelines found = Objects.requireNonNull(archive.read(number));
      if (continues(found, backup)) {
        return found;
      }
    }
    return backup;
  }

  private boolean continues(Timelines later, Timelines backup) {
    int known = backup.all().size();
    return later.all().size() >= known
        && later.all().subList(0, known).equals(backup.all())
        && (later.all().size() == known || later.all().get(known).forked() >= backupEnd);
  }

  /// Applies what the archive has of one timeline.
  private void follow(Timelines way, int leg) throws IOException {
    Timelines.Timeline timeline = way.all().get(leg);
    LogFormat format = timeline.format();
    boolean isLast = leg + 1 == way.all().size();
    long forked = isLast ? Long.MAX_VALUE : way.all().get(leg + 1).forked();
    long first = timeline.number() == backupTimeline ? backupEnd : timeline.begin();
    copy(timeline, format.segment(first), isLast ? Long.MAX_VALUE : forked);
    SegmentedLog.Options options =
        SegmentedLog.Options.DEFAULT.upTo((group, end) -> isBeyond(timeline, group, end, forked));
    long end;
    try (SegmentedLog log = SegmentedLog.open(logDirectory, imageDirectory, options, queues)) {
      end = log.end();
    }
    appliedEnd = end;
    LogPosition wanted = target.position();
    if (wanted != null && wanted.timeline() == timeline.number()) {
      reached |= end >= raw(format, wanted);
    }
    if (!isLast && !reached && end < forked) {
      throw LogReader.corrupted(
          "archive \"%s\" has timeline %x up to %s, and the next one has left it at %s"
              .formatted(
                  archive.directory(),
                  timeline.number(),
                  Timelines.position(timeline, end),
                  Timelines.position(timeline, forked)));
    }
  }

  private boolean isBeyond(Timelines.Timeline timeline, LogRecord group, long end, long forked) {
    LogPosition wanted = target.position();
    long micros = GroupTime.of(group);
    boolean isBackups = timeline.number() == backupTimeline && end <= backupEnd;
    boolean isBehind =
        micros > target.micros()
            || (wanted != null
                && wanted.timeline() == timeline.number()
                && end > raw(timeline.format(), wanted));
    if (isBehind && !isBackups) {
      reached = true;
      return true;
    }
    if (end > forked) {
      return true;
    }
    groups += isBackups ? 0 : 1;
    lastMicros = Math.max(lastMicros, micros);
    return false;
  }

  /// Puts the segments that the archive has in their places, and the files that they name.
  ///
  /// @param first segment
  /// @param end position up to which they are needed
  private void copy(Timelines.Timeline timeline, long first, long end) throws IOException {
    LogFormat format = timeline.format();
    Map<Long, ArchiveDirectory.Name> present = new TreeMap<>();
    for (ArchiveDirectory.Name each : archive.list()) {
      if (each.timeline() == timeline.number()
          && !each.isSide()
          && (each.isWhole() || !present.containsKey(each.segment()))) {
        present.put(each.segment(), each);
      }
    }
    long last = present.keySet().stream().mapToLong(number -> number).max().orElse(-1);
    if (end != Long.MAX_VALUE) {
      last = Math.min(last, format.segment(end - 1));
    }
    ArchiveFile before = null;
    for (long number = first; number <= last; number++) {
      ArchiveDirectory.Name name = present.get(number);
      if (name == null) {
        throw missing(archive.whole(timeline.number(), number));
      }
      ArchiveFile.Content content = ArchiveFile.read(name.path());
      ArchiveCheck.require(content.file(), name, format, before);
      if (!content.file().isWhole() && number < last) {
        throw missing(archive.whole(timeline.number(), number));
      }
      put(timeline, content);
      for (ArchiveFile.Side side : content.file().sideFiles()) {
        Path from = archive.side(timeline.number(), number, side.number());
        ArchiveCheck.require(from, side);
        Files.copy(
            from,
            SideFile.path(logDirectory, side.number()),
            java.nio.file.StandardCopyOption.REPLACE_EXISTING);
      }
      before = content.file();
    }
    List<Long> numbers = LogSegments.list(logDirectory);
    long number = numbers.getLast();
    long next = number * format.segmentBytes() + Files.size(LogSegments.path(logDirectory, number));
    if (format.segment(format.frameStart(next)) > number) {
      // Where the log goes on, or a group that is not whole reaches into.
      new LogSegments(logDirectory, format, LogFile::open, numbers).prepare(number + 1);
    }
  }

  private void put(Timelines.Timeline timeline, ArchiveFile.Content content) throws IOException {
    LogFormat format = timeline.format();
    Path place = LogSegments.path(logDirectory, content.file().segment());
    boolean isBackups = timeline.number() == backupTimeline;
    if (isBackups && Files.exists(place) && Files.size(place) > content.bytes().length) {
      // The backup is newer than the archive.
      return;
    }
    Files.deleteIfExists(place);
    try (LogFile file = LogFile.open(place)) {
      file.write(ByteBuffer.wrap(content.bytes()), 0);
      file.force();
    }
    if (!format.isHeader(
        ByteBuffer.wrap(content.bytes()).order(java.nio.ByteOrder.LITTLE_ENDIAN),
        content.file().segment())) {
      throw LogReader.corrupted(
          "segment %x in the archive has no valid header".formatted(content.file().segment()));
    }
  }

  static EngineException missing(Path file) {
    return LogReader.corrupted(
        "file \"%s\" of the archive is missing, and later ones are there".formatted(file),
        "Restore to a moment before it, or from a later backup.");
  }

  private static String moment(long micros) {
    return micros == 0
        ? "an unknown time"
        : Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString();
  }
}

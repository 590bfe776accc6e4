package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.log.file.LogFile;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Takes the log of an endpoint back to where another one has left its timeline, so that it can follow that one: what is behind the fork is
/// thrown away.
///
/// That can be done as long as nothing of it is in the base image, which follows the log from checkpoint to checkpoint, nor in the files of
/// queues, which follow it at once. The directory is of nobody else meanwhile; a crash leaves one that this takes up again.
public final class LogRejoin {
  private static final String ANEW =
      "Make the standby anew: \"kakehashi standby init\" into another directory.";

  private final Path logDirectory;
  private final Path imageDirectory;
  private final Timelines own;

  /// The timelines that it goes on with.
  private final Timelines next;

  private final long fork;
  private final long end;
  private final Discarded discarded = new Discarded();

  /// The records behind the fork.
  private static final class Discarded {
    long groups;
    long commits;
    long bytes;
    boolean hasQueueChanges;
    final List<SideFile> files = new ArrayList<>();

    void add(LogRecord group) {
      groups++;
      bytes += group.length();
      files.addAll(group.sideFiles());
      hasQueueChanges |= group.hasQueueChanges();
      long[] named = new long[1];
      group.forEach(
          new LogRecord.Changes() {
            @Override
            public void put(byte[] key, byte[] value) {
              named[0] += key[0] == StoreKeys.OUTCOME ? 1 : 0;
            }

            @Override
            public void delete(byte[] key) {
              // Each commit puts its name.
            }

            @Override
            public void deleteRange(byte[] from, byte[] to) {
              // As above.
            }
          });
      commits += Math.max(1, named[0]);
    }
  }

  /// The steps that are to be done.
  ///
  /// @param fork where the other endpoint has left the own timeline
  /// @param end up to where the own log goes
  /// @param groups flushes behind the fork
  /// @param commits in them
  /// @param bytes of their changes
  /// @param logId identifier of the log that it goes on with
  /// @param begin where that begins
  public record Plan(
      LogPosition fork,
      LogPosition end,
      long groups,
      long commits,
      long bytes,
      long logId,
      LogPosition begin) {}

  private LogRejoin(
      Path logDirectory, Path imageDirectory, Timelines own, Timelines theirs, long imageEnd)
      throws IOException {
    this.logDirectory = logDirectory;
    this.imageDirectory = imageDirectory;
    this.own = own;
    this.next = theirs;
    this.fork = fork(own, theirs);
    LogFormat format = own.current().format();
    if (imageEnd > fork) {
      throw refused(
          "the base image has commits up to %s, and the new primary has left the log at %s: they cannot be taken out of it"
              .formatted(own.position(imageEnd), own.position(fork)));
    }
    LogSegments segments =
        new LogSegments(
            logDirectory, format, LogFile::openReadOnly, LogSegments.list(logDirectory));
    LogReader reader = new LogReader(format, segments, LogFile::openReadOnly);
    reader.requireReached(imageEnd);
    end =
        reader.replay(
            imageEnd,
            (group, groupEnd) -> {
              if (groupEnd > fork) {
                discarded.add(group);
              }
            });
    LogEnd.require(LogEnd.read(logDirectory), segments, format, end);
    if (format.frameStart(end) < format.frameStart(fork)) {
      throw refused(
          "the new primary has left the log at %s, and the log here ends at %s already"
              .formatted(own.position(fork), own.position(end)));
    }
    if (discarded.hasQueueChanges) {
      throw refused(
          "%d groups behind %s have changes of queues among them, which are in their files already"
              .formatted(discarded.groups, own.position(fork)));
    }
  }

  /// @return where the other one has left the own timeline
  private static long fork(Timelines own, Timelines theirs) {
    List<Timelines.Timeline> others = theirs.all();
    int at = others.indexOf(own.current());
    if (at < 0) {
      throw refused(
          "the other endpoint has another history: it never was in timeline %x of this log"
              .formatted(own.current().number()));
    }
    // Its log has the last timeline alone.
    for (int i = at + 2; i < others.size(); i++) {
      if (others.get(i).forked() != others.get(i - 1).begin()) {
        throw refused(
            "the other endpoint is in timeline %x, and does not have the log of timeline %x any more"
                .formatted(theirs.current().number(), others.get(i - 1).number()));
      }
    }
    return others.get(at + 1).forked();
  }

  /// Looks at a directory that nobody has open, and changes nothing.
  ///
  /// @param theirs the timelines of the other endpoint, as [SegmentedLog#timelines] says them
  /// @return null: the directory is in the other one's timeline already
  /// @throws EngineException NOT_IN_PREREQUISITE_STATE if it cannot be taken back, with the reason; DATA_CORRUPTED
  public static @Nullable LogRejoin look(Path logDirectory, Path imageDirectory, String theirs) {
    Timelines others = Timelines.parse(theirs);
    try (RocksImage image = RocksImage.openReadOnly(imageDirectory)) {
      SegmentedLog.Position position =
          SegmentedLog.position(image)
              .orElseThrow(() -> refused("the directory is of a version without a log"));
      Timelines own = Timelines.of(image, position.format());
      return own.current().equals(others.current())
          ? null
          : new LogRejoin(logDirectory, imageDirectory, own, others, position.end());
    } catch (IOException e) {
      throw SegmentedLog.failure("could not read the log in \"" + logDirectory + "\"", e);
    }
  }

  private static EngineException refused(String what) {
    return new EngineException(ErrorCode.NOT_IN_PREREQUISITE_STATE, what).withHint(ANEW);
  }

  public Plan plan() {
    Timelines.Timeline current = next.current();
    return new Plan(
        own.position(fork),
        own.position(end),
        discarded.groups,
        discarded.commits,
        discarded.bytes,
        current.format().logId(),
        Timelines.position(current, current.begin()));
  }

  /// Copies the segments that have what is thrown away, and the files that it names, durably.
  ///
  /// @param to a new directory
  public void keep(Path to) {
    try {
      Files.createDirectories(to);
      LogFormat format = own.current().format();
      for (long number : LogSegments.list(logDirectory)) {
        if (number >= format.segment(fork) && number <= format.segment(end)) {
          copy(LogSegments.path(logDirectory, number), to);
        }
      }
      for (SideFile file : discarded.files) {
        copy(SideFile.path(logDirectory, file.number()), to);
      }
      Directories.force(to);
      Directories.forceNames(to);
    } catch (IOException e) {
      throw SegmentedLog.failure("could not keep a copy of the log in \"" + to + "\"", e);
    }
  }

  private static void copy(Path file, Path to) throws IOException {
    Path target = to.resolve(file.getFileName());
    Files.copy(file, target, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    try (LogFile copied = LogFile.open(target)) {
      copied.force();
    }
  }

  /// Throws away what is behind the fork, and goes on with the other endpoint's timeline.
  ///
  /// @param queues null: there are none
  /// @throws EngineException DISK_FULL, IO_ERROR, DATA_CORRUPTED
  public void run(@Nullable LogQueues queues) {
    try {
      // Records behind it are not missed from now on.
      LogEnd.begin(logDirectory, own.current().format(), fork);
      SegmentedLog.Options options =
          SegmentedLog.Options.DEFAULT.upTo((group, groupEnd) -> groupEnd > fork);
      long applied;
      try (SegmentedLog log = SegmentedLog.open(logDirectory, imageDirectory, options, queues)) {
        applied = log.end();
      }
      TimelineStart.begin(logDirectory, imageDirectory, next, applied);
    } catch (IOException e) {
      throw SegmentedLog.failure("could not take back the log in \"" + logDirectory + "\"", e);
    }
  }
}

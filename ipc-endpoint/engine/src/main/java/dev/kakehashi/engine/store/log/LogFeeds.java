package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.LogFrame;
import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.api.LogRequest;
import dev.kakehashi.engine.api.LogStatus;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.SynchronousConfig;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.file.ReplacedFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Gives the log to standbys: each gets what is behind its position as it comes, over a [StandbyFeed], and says what it has.
///
/// The log keeps what a standby that has asked lacks, up to a limit. A file beside it has the standbys and about where they are, so that a
/// start keeps that, too. [LogBatches] say what is sent. Thread-safe.
final class LogFeeds {
  private static final Logger LOG = LoggerFactory.getLogger(LogFeeds.class);

  /// A standby that is there says something more often.
  private static final long SILENCE_MILLIS = 10_000;

  /// After so long a batch without groups is sent, so that either side notices when the other is gone.
  private static final long BEAT_NANOS = TimeUnit.SECONDS.toNanos(3);

  /// How long a standby may take for a batch, until its connection is given up.
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private static final String FILE_SUFFIX = ".standbys";

  private final Path file;
  private final Object noteLock = new Object();
  private final Timelines timelines;
  private final LogFormat format;
  private final LogBatches batches;

  /// Whether an archive may have what the log has given up.
  private final boolean hasArchive;

  /// Nobody is given up before it is said what is kept.
  private volatile long backlogBytes = Long.MAX_VALUE;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition grown = lock.newCondition();
  private volatile long durable;

  /// Streams that wait for the log to grow.
  private final AtomicInteger waiting = new AtomicInteger();

  /// Position up to which this store's own reader does not need the log; the greatest number: it has none.
  private volatile long ownReader = Long.MAX_VALUE;

  /// Positions of standbys, by name. Guarded by the lock.
  private final Map<String, Slot> slots = new TreeMap<>();

  /// @param position that it has
  /// @param applied up to which its readers see it
  /// @param askedMillis when it has said something last, since 1970; 0: not since the start, and nothing is known to be there
  /// @param machine which one of its name it is; empty: not known
  /// @param feed its stream; null: it has none
  /// @param state of the stream
  private record Slot(
      long position,
      long applied,
      long askedMillis,
      String machine,
      @Nullable StandbyFeed feed,
      FeedState state) {
    /// One that nobody is known to be behind.
    static Slot at(long position) {
      return new Slot(position, 0, 0, "", null, FeedState.READY);
    }

    boolean isLive() {
      return state == FeedState.SENDING
          || System.currentTimeMillis() - askedMillis < SILENCE_MILLIS;
    }

    Slot in(FeedState next) {
      return new Slot(position, applied, askedMillis, machine, feed, next);
    }
  }

  /// State of a stream.
  private enum FeedState {
    /// All that was sent is acknowledged.
    READY,
    /// A batch is being sent, which may take long.
    SENDING,
    /// A batch has been sent.
    SENT
  }

  /// A standby has asked.
  private final Condition asked = lock.newCondition();

  /// Null: commits wait for none.
  private volatile @Nullable SynchronousConfig synchronous;

  /// Commits go on without the synchronous standby, which is away. Guarded by the lock.
  private boolean alone;

  /// A commit waits for the standby longer than it should take. Guarded by the lock.
  private boolean isLate;

  private boolean closing;

  /// Whether the file is too old, for a stream that runs. A hint.
  private volatile boolean isNoteDue;

  private LogFeeds(
      Path file, Timelines timelines, LogBatches batches, boolean hasArchive, long durable) {
    this.file = file;
    this.timelines = timelines;
    this.format = timelines.current().format();
    this.batches = batches;
    this.hasArchive = hasArchive;
    this.durable = durable;
  }

  /// @param logDirectory beside which the standbys are noted
  /// @param archive to which the log is copied; null: there is none
  /// @param durable end of the log
  static LogFeeds open(
      Path logDirectory,
      Timelines timelines,
      LogSegments segments,
      SideFiles sideFiles,
      @Nullable ArchiveDirectory archive,
      long durable)
      throws IOException {
    Path file = logDirectory.resolveSibling(logDirectory.getFileName() + FILE_SUFFIX);
    LogBatches batches = new LogBatches(timelines, segments, sideFiles, archive);
    LogFeeds feeds = new LogFeeds(file, timelines, batches, archive != null, durable);
    if (Files.exists(file)) {
      feeds.read(Files.readAllLines(file));
    }
    return feeds;
  }

  /// Lines have the identifier of the log, position and name.
  private void read(List<String> lines) {
    for (String line : lines) {
      String[] words = line.split(" ", 3);
      try {
        if (words.length == 3 && Long.parseUnsignedLong(words[0], 16) == format.logId()) {
          slots.put(words[2], Slot.at(Long.parseLong(words[1], 16)));
        }
      } catch (NumberFormatException e) {
        LOG.warn("\"{}\" has a line that cannot be read: {}", file, line);
      }
    }
  }

  /// Notes the standbys, when one has come or gone on by a segment.
  private void note() throws IOException {
    synchronized (noteLock) {
      StringBuilder text = new StringBuilder();
      lock.lock();
      try {
        slots.forEach((name, slot) ->
            text.append("%016x %x %s\n".formatted(format.logId(), slot.position(), name)));
      } finally {
        lock.unlock();
      }
      ReplacedFile.write(file, text.toString());
    }
  }

  /// Everything before a position is durable in the log.
  void reached(long end) {
    durable = end;
    if (waiting.get() > 0) {
      lock.lock();
      try {
        grown.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  // ---- synchronous commits ----

  /// Lets commits wait for a standby from now on; null: for none.
  void synchronous(@Nullable SynchronousConfig config) {
    lock.lock();
    try {
      synchronous = config;
      alone = false;
      asked.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /// Nobody is told of a commit any more, so none waits.
  void close() {
    lock.lock();
    try {
      closing = true;
      asked.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /// Waits until the synchronous standby has everything before a position, if there is one, and commits do not go on without it.
  void awaitStandby(long end) {
    if (synchronous == null) {
      return;
    }
    long begin = System.nanoTime();
    boolean interrupted = false;
    lock.lock();
    try {
      SynchronousConfig config = synchronous;
      while (config != null && !alone && !closing && !hasAll(config, end)) {
        long left = config.patienceNanos() - (System.nanoTime() - begin);
        if (left <= 0 && !isLate) {
          away(config, end);
          continue;
        }
        try {
          left = asked.awaitNanos(isLate ? config.patienceNanos() : left);
        } catch (InterruptedException e) {
          // Nobody may stop a flush.
          LOG.debug("a wait for standby \"{}\" goes on", config.standby(), e);
          interrupted = true;
        }
        config = synchronous;
      }
      if (isLate && config != null && !alone && !closing) {
        LOG.warn("standby \"{}\" is there again: commits go on", config.standby());
      }
      isLate = false;
    } finally {
      lock.unlock();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private boolean hasAll(SynchronousConfig config, long end) {
    Slot slot = slots.get(config.standby());
    return slot != null
        && slot.askedMillis() > 0
        && (config.level() == SynchronousConfig.Level.APPLIED ? slot.applied() : slot.position())
            >= end;
  }

  private void away(SynchronousConfig config, long end) {
    isLate = true;
    if (config.goesOnAlone()) {
      alone = true;
      LOG.error(
          "commits go on without standby \"{}\", which does not have {} yet: they are on this machine alone until it has all",
          config.standby(),
          timelines.position(end));
    } else {
      LOG.error(
          "commits wait for standby \"{}\", which does not have {} yet",
          config.standby(),
          timelines.position(end));
    }
  }

  /// How commits stand to the synchronous standby; null: they wait for none.
  LogStatus.@Nullable Synchronous synchronousStatus() {
    lock.lock();
    try {
      SynchronousConfig config = synchronous;
      return config == null
          ? null
          : new LogStatus.Synchronous(
              config.standby(),
              config.level().name().toLowerCase(Locale.ROOT),
              isLate && !alone,
              alone);
    } finally {
      lock.unlock();
    }
  }

  /// Says how many bytes of the log are kept for a standby.
  void backlog(long bytes) {
    backlogBytes = bytes;
  }

  /// The store's own reader needs the log from a position on.
  void ownReader(long from) {
    ownReader = from;
  }

  /// Position up to which no standby needs the log; the greatest number: there is no standby. One that is too far behind is given up. While
  /// it is brought up from the archive it stays known, and nothing is kept for it.
  long least() {
    lock.lock();
    try {
      slots
          .entrySet()
          .removeIf(each -> {
            boolean isGivenUp =
                isLost(each.getValue()) && (!hasArchive || !each.getValue().isLive());
            if (isGivenUp) {
              LOG.error(
                  "standby \"{}\" is given up: it lacks more than {} bytes of the log; {}",
                  each.getKey(),
                  backlogBytes,
                  hasArchive
                      ? "it needs the archive when it comes back"
                      : "make it anew by \"kakehashi standby init\"");
            }
            return isGivenUp;
          });
      long least =
          slots.values().stream()
              .filter(each -> !isLost(each))
              .mapToLong(Slot::position)
              .min()
              .orElse(Long.MAX_VALUE);
      return Math.min(least, ownReader);
    } finally {
      lock.unlock();
    }
  }

  private boolean isLost(Slot slot) {
    return durable - slot.position() > backlogBytes;
  }

  List<LogStatus.Standby> status() {
    lock.lock();
    try {
      List<LogStatus.Standby> all = new ArrayList<>();
      slots.forEach((name, slot) ->
          all.add(
              new LogStatus.Standby(
                  name,
                  timelines.position(slot.position()),
                  Math.max(0, durable - slot.position()),
                  slot.askedMillis())));
      return all;
    } finally {
      lock.unlock();
    }
  }

  /// Keeps what comes from now on for a standby that is being made. It has nothing yet: no commit is told because of it.
  ///
  /// @throws EngineException OBJECT_IN_USE if one of that name asks
  void keepFor(String name) throws IOException {
    lock.lock();
    try {
      Slot before = slots.get(name);
      if (before != null && before.isLive()) {
        throw new EngineException(
                ErrorCode.OBJECT_IN_USE,
                "standby \"%s\" is there, and follows this log".formatted(name))
            .withHint("Give the new one another \"standby_name\", or stop that one.");
      }
      slots.put(name, Slot.at(durable));
    } finally {
      lock.unlock();
    }
    note();
  }

  /// Begins a stream to a standby. One that it has over another connection ends.
  ///
  /// @throws EngineException NOT_IN_PREREQUISITE_STATE if it has another log, or one that is not the beginning of this, or lacks more than
  ///     there is; OBJECT_IN_USE if another one of its name follows the log
  StandbyFeed open(LogRequest request) throws IOException {
    String name = request.standby();
    LogFrame last = request.last();
    long at = checked(name, request.logId(), request.from());
    long older = batches.requireSegments(name, at, durable, last != null);
    if (last != null) {
      batches.requireSame(name, last, position(last.at()), at);
    }
    batches.requireNext(name, at, durable);
    StandbyFeed feed = new StandbyFeed(this, batches, request, at);
    begin(feed, at, position(request.applied()));
    note();
    if (last != null && older > 0) {
      LOG.info(
          "standby \"{}\" is brought up from {} on: {} segments come from the archive",
          name,
          request.from(),
          older);
    }
    return feed;
  }

  /// Waits until there is something to send to a standby that has acknowledged everything before, or until it should hear something.
  ///
  /// @param sent up to where it was sent
  /// @return false: the stream has ended
  /// @throws IOException if the standby says nothing any more
  boolean awaitTurn(StandbyFeed feed, long sent) throws IOException, InterruptedException {
    if (isNoteDue) {
      isNoteDue = false;
      note();
    }
    lock.lock();
    try {
      waiting.incrementAndGet();
      try {
        long begin = System.nanoTime();
        while (true) {
          Slot slot = slots.get(feed.standby());
          if (slot == null || slot.feed() != feed) {
            return false;
          }
          boolean isReady = slot.state() == FeedState.READY;
          long left = (isReady ? BEAT_NANOS : PATIENCE_NANOS) - (System.nanoTime() - begin);
          if (isReady && (durable > sent || left <= 0)) {
            slots.put(feed.standby(), slot.in(FeedState.SENDING));
            return true;
          }
          if (left <= 0) {
            throw new IOException("standby \"%s\" says nothing".formatted(feed.standby()));
          }
          if (grown.awaitNanos(left) <= 0) {
            LOG.debug("standby \"{}\": nothing new", feed.standby());
          }
        }
      } finally {
        waiting.decrementAndGet();
      }
    } finally {
      lock.unlock();
    }
  }

  /// A batch has been sent.
  void sent(StandbyFeed feed) {
    lock.lock();
    try {
      Slot slot = slots.get(feed.standby());
      // It may be acknowledged already.
      if (slot != null && slot.feed() == feed && slot.state() == FeedState.SENDING) {
        slots.put(
            feed.standby(),
            new Slot(
                slot.position(),
                slot.applied(),
                System.currentTimeMillis(),
                slot.machine(),
                feed,
                FeedState.SENT));
      }
    } finally {
      lock.unlock();
    }
  }

  /// Up to where the log is durable.
  long durable() {
    return durable;
  }

  /// Whether commits wait until the readers of a standby see them.
  boolean afterApplied(String standby) {
    SynchronousConfig now = synchronous;
    return now != null
        && now.standby().equals(standby)
        && now.level() == SynchronousConfig.Level.APPLIED;
  }

  /// A stream begins: notes in memory where the standby is.
  ///
  /// @throws EngineException OBJECT_IN_USE if another one of its name follows the log: each would take the place of the other, and what one
  ///     lacks would be given up
  private void begin(StandbyFeed feed, long at, long applied) {
    String name = feed.standby();
    lock.lock();
    try {
      Slot before = slots.get(name);
      if (before != null
          && !before.machine().isEmpty()
          && !before.machine().equals(feed.machine())) {
        if (before.isLive()) {
          throw new EngineException(
                  ErrorCode.OBJECT_IN_USE,
                  "standby \"%s\" of another machine or directory follows this log".formatted(name))
              .withHint("Give this one another \"standby_name\", or stop that one.");
        }
        LOG.warn(
            "standby \"{}\" is of another machine or directory now: the one before has not asked for {} ms",
            name,
            System.currentTimeMillis() - before.askedMillis());
      }
      moved(feed, at, applied);
    } finally {
      lock.unlock();
    }
  }

  /// A standby says what it has, on any thread. One that has another stream by now is not listened to.
  ///
  /// @throws IOException if it cannot have that
  void acknowledged(StandbyFeed feed, long at, long applied) throws IOException {
    lock.lock();
    try {
      Slot before = slots.get(feed.standby());
      if (before == null || before.feed() != feed) {
        return;
      }
      if (at < before.position() || at > durable || applied > at) {
        throw new IOException(
            "standby \"%s\" says that it has %s, which cannot be"
                .formatted(feed.standby(), timelines.position(at)));
      }
      if (format.segment(before.position()) != format.segment(at)) {
        isNoteDue = true;
      }
      moved(feed, at, applied);
    } finally {
      lock.unlock();
    }
  }

  /// Notes where a standby is; under the lock.
  private void moved(StandbyFeed feed, long at, long applied) {
    String name = feed.standby();
    slots.put(
        name,
        new Slot(at, applied, System.currentTimeMillis(), feed.machine(), feed, FeedState.READY));
    SynchronousConfig now = synchronous;
    if (alone && now != null && now.standby().equals(name) && at >= durable) {
      alone = false;
      LOG.warn("commits wait for standby \"{}\" again: it has all", name);
    }
    asked.signalAll();
    grown.signalAll();
  }

  /// A stream has ended, however.
  void closed(StandbyFeed feed) {
    lock.lock();
    try {
      slots.computeIfPresent(
          feed.standby(),
          (name, slot) ->
              slot.feed() == feed
                  ? new Slot(
                      slot.position(),
                      slot.applied(),
                      slot.askedMillis(),
                      slot.machine(),
                      null,
                      FeedState.READY)
                  : slot);
      grown.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private long position(LogPosition position) {
    return position.segment() * format.segmentBytes() + position.offset();
  }

  private long checked(String name, long logId, LogPosition from) {
    long at = position(from);
    if (from.timeline() != timelines.current().number() || logId != format.logId()) {
      throw LogBatches.refused(
          "standby \"%s\" is at %s, and the log here is of timeline %x of another history"
              .formatted(name, from, timelines.current().number()),
          "Stop the standby, and run \"kakehashi rejoin\" there, or make it anew by \"kakehashi standby init\".");
    }
    if (at > durable) {
      throw LogBatches.refused(
          "standby \"%s\" is at %s, which is ahead of %s"
              .formatted(name, from, timelines.position(durable)));
    }
    return at;
  }
}

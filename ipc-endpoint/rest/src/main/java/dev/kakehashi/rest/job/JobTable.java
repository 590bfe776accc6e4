package dev.kakehashi.rest.job;

import dev.kakehashi.engine.api.error.EngineException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Jobs and keys in memory, and their journal: each change is in both, or will be with the next write. One lock guards all of it; nothing
/// under it waits for the disk.
final class JobTable {
  private static final Logger LOG = LoggerFactory.getLogger(JobTable.class);

  /// Reads are written when they are newer than the last one by a part of the retention.
  private static final int READS_PER_RETENTION = 16;

  /// Most bytes of answers that are kept in memory.
  private static final long ANSWER_BYTES = 32L << 20;

  /// Most bytes of works that wait or run.
  private static final long HELD_BYTES = 128L << 20;

  final ReentrantLock lock = new ReentrantLock();
  final JobSettings settings;
  final LongSupplier clock;

  // All guarded by lock.
  private final Map<String, LiveJob> jobs = new HashMap<>();
  private final TreeSet<LiveJob> newestFirst = new TreeSet<>();
  private final Map<String, JobOwner> owners = new HashMap<>();

  /// Oldest first: a key that is used again keeps its place and time.
  private final LinkedHashMap<Hash, KeyRecord> keys = new LinkedHashMap<>();

  /// Answered jobs of all users, see [JobOwner#answered].
  private final LinkedHashSet<LiveJob> answered = new LinkedHashSet<>();

  private final EnumMap<JobState, Integer> states = new EnumMap<>(JobState.class);
  private int counted; // jobs that count for their owners
  private long answerBytes;
  private long heldBytes;

  final Waiters waiters = new Waiters();

  private final Journal journal;
  private final Executor background;

  /// @param clock milliseconds since 1970
  /// @param background runs what may wait for the disk
  JobTable(Path journalFile, JobSettings settings, LongSupplier clock, Executor background) {
    this.settings = settings;
    this.clock = clock;
    this.background = background;
    this.journal = new Journal(journalFile, this::live);
  }

  Journal journal() {
    return journal;
  }

  private Journal.Live live() {
    lock.lock();
    try {
      List<byte[]> records = new ArrayList<>(jobs.size() + keys.size());
      for (LiveJob job : jobs.values()) {
        records.add(RecordCodec.encode(new RecordCodec.Entry.JobKept(job.kept)));
      }
      for (KeyRecord key : keys.values()) {
        records.add(RecordCodec.encode(new RecordCodec.Entry.KeyKept(key)));
      }
      return new Journal.Live(records, journal.forget());
    } finally {
      lock.unlock();
    }
  }

  /// Waits until a record is on disk. Not under the lock.
  ///
  /// @throws EngineException DISK_FULL, IO_ERROR
  void force(long position) {
    try {
      journal.force(position);
    } catch (IOException e) {
      throw DiskFailure.of("could not write the journal of jobs", e);
    }
  }

  /// Hands the journal to the operating system. Not under the lock.
  void write() {
    try {
      journal.write();
    } catch (IOException e) {
      // Its records are in memory, and are written with the next one.
      LOG.warn("the journal of jobs could not be written", e);
    }
  }

  boolean isThere(LiveJob job) {
    lock.lock();
    try {
      return job.equals(jobs.get(job.record().token()));
    } finally {
      lock.unlock();
    }
  }

  /// Its owner has asked for a job: its time begins anew. Does not wait for the disk. Not under the lock.
  JobRecord use(LiveJob job) {
    long now = clock.getAsLong();
    boolean isNews;
    lock.lock();
    try {
      job.show(job.record().read(now));
      long step = settings.retention().toMillis() / READS_PER_RETENTION;
      isNews = now - job.kept.readMillis() > step;
      if (isNews) {
        read(job, now);
      }
    } finally {
      lock.unlock();
    }
    if (isNews) {
      background.execute(this::write);
    }
    return job.snapshot();
  }

  // The rest is under the lock.

  JobOwner owner(String user) {
    return owners.computeIfAbsent(user, u -> new JobOwner());
  }

  @Nullable LiveJob job(String token) {
    return jobs.get(token);
  }

  Iterable<LiveJob> jobs() {
    return new ArrayList<>(jobs.values());
  }

  /// Newest first, from behind a job that need not be there any more.
  Iterator<LiveJob> from(@Nullable LiveJob after) {
    return (after == null ? newestFirst : newestFirst.tailSet(after, false)).iterator();
  }

  /// Enters a job.
  ///
  /// @return position of the journal
  long enter(LiveJob job) {
    jobs.put(job.record().token(), job);
    newestFirst.add(job);
    count(job.record(), 1);
    return keep(job, job.record());
  }

  /// Writes what a job is from now on, and does not show it yet.
  long keep(LiveJob job, JobRecord record) {
    job.kept = record;
    return journal.append(RecordCodec.encode(new RecordCodec.Entry.JobKept(record)));
  }

  /// Shows what a job is, and wakes who waits for its end.
  void show(LiveJob job, JobRecord record) {
    count(job.record(), -1);
    job.show(record);
    count(record, 1);
    if (record.files().isEmpty()) {
      unanswered(job);
    }
    if (record.state().isEnded()) {
      waiters.tellAll(job);
    }
  }

  void reset(LiveJob job, JobRecord record) {
    count(job.record(), -1);
    job.reset(record);
    count(record, 1);
  }

  long remove(LiveJob job) {
    JobRecord record = job.record();
    if (jobs.remove(record.token()) == null) {
      return 0;
    }
    newestFirst.remove(job);
    unanswered(job);
    count(record, -1);
    return journal.append(RecordCodec.encode(new RecordCodec.Entry.JobRemoved(record.token())));
  }

  private void read(LiveJob job, long nowMillis) {
    job.kept = job.kept.read(nowMillis);
    journal.append(
        RecordCodec.encode(new RecordCodec.Entry.JobRead(job.record().token(), nowMillis)));
  }

  private void count(JobRecord record, int by) {
    boolean counts = !record.state().isEnded() || !record.keyed() || !record.files().isEmpty();
    states.merge(record.state(), by, Integer::sum);
    JobOwner owner = owner(record.owner());
    if (counts) {
      counted += by;
      owner.jobs += by;
    }
    if (record.answer() != null) {
      countAnswer(owner, by * (long) record.answer().size());
    }
    forgetUnused(record.owner(), owner);
  }

  private void countAnswer(JobOwner owner, long bytes) {
    owner.answerBytes += bytes;
    answerBytes += bytes;
  }

  void forgetUnused(String user, JobOwner owner) {
    if (owner.isUnused()) {
      owners.remove(user);
    }
  }

  /// A user who has less than what is free may have more. So one user gets half of all at most, two get a third each, and there is always
  /// room for another.
  private static boolean hasShare(long own, long used, long all) {
    return own < all - used;
  }

  /// @throws JobRefusal TOO_MANY_JOBS
  void admitWork(String user, JobWork work) {
    JobOwner owner = owner(user);
    long own = owner.heldBytes + work.heldBytes();
    forgetUnused(user, owner);
    // As with jobs and keys: there is room for another user.
    if (work.heldBytes() > 0 && own > HELD_BYTES - heldBytes) {
      throw new JobRefusal(
          JobRefusal.Reason.TOO_MANY_JOBS,
          "requests of jobs that wait or run have %d bytes, those of all users %d of %d"
              .formatted(own, heldBytes, HELD_BYTES),
          1);
    }
  }

  /// A work of a job is kept until it has ended.
  void hold(LiveJob job, JobWork work) {
    job.work = work;
    job.heldBytes = work.heldBytes();
    owner(job.record().owner()).heldBytes += job.heldBytes;
    heldBytes += job.heldBytes;
  }

  /// The work of a job is not needed any more. Does nothing if it has been released.
  void release(LiveJob job) {
    String user = job.record().owner();
    JobOwner owner = owner(user);
    job.work = null;
    owner.heldBytes -= job.heldBytes;
    heldBytes -= job.heldBytes;
    job.heldBytes = 0;
    forgetUnused(user, owner);
  }

  /// The result of a job under a key was sent whole with the answer of its request: it keeps no room that somebody else needs.
  void answered(LiveJob job) {
    JobRecord record = job.record();
    if (record.keyed() && job.equals(jobs.get(record.token())) && !record.files().isEmpty()) {
      owner(record.owner()).answered.add(job);
      answered.add(job);
    }
  }

  /// A job whose result may go so that a user may have one more; null: there is room, or nothing may go. It is not given again.
  @Nullable LiveJob toMakeRoom(String user) {
    JobOwner owner = owner(user);
    LiveJob found = null;
    if (owner.jobs >= settings.jobsPerUser()) {
      found = first(owner.answered);
    } else if (!hasShare(owner.jobs, counted, settings.jobs())) {
      found = first(answered);
    }
    if (found != null) {
      unanswered(found);
    }
    forgetUnused(user, owner);
    return found;
  }

  private static @Nullable LiveJob first(SequencedSet<LiveJob> of) {
    return of.isEmpty() ? null : of.getFirst();
  }

  private void unanswered(LiveJob job) {
    if (answered.remove(job)) {
      String user = job.record().owner();
      JobOwner owner = owner(user);
      owner.answered.remove(job);
      forgetUnused(user, owner);
    }
  }

  /// @throws JobRefusal TOO_MANY_JOBS
  void admitJob(String user) {
    JobOwner owner = owner(user);
    int own = owner.jobs;
    forgetUnused(user, owner);
    if (own >= settings.jobsPerUser()) {
      throw new JobRefusal(
          JobRefusal.Reason.TOO_MANY_JOBS,
          "a user may have %d jobs that wait, run or have a result; delete some, or wait until they expire"
              .formatted(settings.jobsPerUser()),
          1);
    }
    if (!hasShare(own, counted, settings.jobs())) {
      throw new JobRefusal(
          JobRefusal.Reason.TOO_MANY_JOBS,
          "all users have %d of %d jobs; delete some, or wait until they expire"
              .formatted(counted, settings.jobs()),
          1);
    }
  }

  boolean hasRoomForAnswer(String user) {
    JobOwner owner = owners.get(user);
    return hasShare(owner == null ? 0 : owner.answerBytes, answerBytes, ANSWER_BYTES);
  }

  @Nullable KeyRecord key(Hash id) {
    return keys.get(id);
  }

  /// @throws JobRefusal TOO_MANY_KEYS
  void admitKey(String user, boolean needsAnswer) {
    JobOwner owner = owner(user);
    int own = owner.keys;
    forgetUnused(user, owner);
    if (own >= settings.keysPerUser()
        || !hasShare(own, keys.size(), settings.keys())
        || (needsAnswer && !hasRoomForAnswer(user))) {
      throw new JobRefusal(
          JobRefusal.Reason.TOO_MANY_KEYS,
          "the user has %d keys, all users have %d of %d; they are kept for %d s each"
              .formatted(own, keys.size(), settings.keys(), settings.keyRetention().toSeconds()),
          untilOldestKeyExpires());
    }
  }

  private long untilOldestKeyExpires() {
    for (KeyRecord oldest : keys.values()) {
      long millis = oldest.createdMillis() + settings.keyRetention().toMillis() - clock.getAsLong();
      return Math.max(1, millis / 1000);
    }
    return 1;
  }

  /// Enters a key, or changes it.
  ///
  /// @return position of the journal
  long keep(KeyRecord key) {
    KeyRecord before = keys.put(key.id(), key);
    JobOwner owner = owner(key.owner());
    if (before == null) {
      owner.keys++;
    } else if (before.answer() != null) {
      countAnswer(owner, -before.answer().size());
    }
    if (key.answer() != null) {
      countAnswer(owner, key.answer().size());
    }
    return journal.append(RecordCodec.encode(new RecordCodec.Entry.KeyKept(key)));
  }

  long remove(KeyRecord key) {
    KeyRecord before = keys.remove(key.id());
    if (before == null) {
      return 0;
    }
    JobOwner owner = owner(key.owner());
    owner.keys--;
    if (before.answer() != null) {
      countAnswer(owner, -before.answer().size());
    }
    forgetUnused(key.owner(), owner);
    return journal.append(RecordCodec.encode(new RecordCodec.Entry.KeyRemoved(key.id())));
  }

  Iterable<KeyRecord> keys() {
    return new ArrayList<>(keys.values());
  }

  int keyCount() {
    return keys.size();
  }

  int jobCount(JobState state) {
    return states.getOrDefault(state, 0);
  }
}

package dev.kakehashi.rest.job;

import dev.kakehashi.engine.api.error.EngineException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Jobs of all users: sent, waited for, listed, canceled, deleted, and their results read. Thread-safe.
///
/// They are kept in a directory of its own: `journal`, and `results` with the files. After a restart ended jobs are there with their
/// results; others are INTERRUPTED, or SUCCEEDED if their transaction has committed. Each use of a job by its owner lets its time begin
/// anew.
///
/// A call that names another user's job finds nothing. Waiting holds no thread.
public final class Jobs implements AutoCloseable {
  private static final String JOURNAL = "journal";

  /// Job that [#submit] has found or made.
  ///
  /// @param isNew whether this request has begun it, and not one before under the same key
  public record Submission(JobRecord job, boolean isNew) {}

  /// Some jobs, newest first.
  ///
  /// @param next to go on with; null: there are no more
  public record Page(List<JobRecord> jobs, @Nullable String next) {
    public Page {
      jobs = List.copyOf(jobs);
    }
  }

  /// @param jobs of each state
  public record Counts(Map<JobState, Integer> jobs, int keys) {
    public Counts {
      jobs = Map.copyOf(jobs);
    }
  }

  /// Most jobs of a page.
  public static final int PAGE_JOBS = 1_000;

  private static final Logger LOG = LoggerFactory.getLogger(Jobs.class);

  /// For jobs that run when the endpoint ends.
  private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final JobTable table;
  private final ResultFiles files;
  private final SpaceBudget budget;
  private final Keys keys;
  private final Sweeper sweeper;
  private final JobStarter starter;
  private boolean nobodyWaits; // guarded by the lock of the table

  private Jobs(
      JobTable table,
      ResultFiles files,
      SpaceBudget budget,
      OutcomeLookup outcomes,
      ScheduledThreadPoolExecutor background) {
    this.table = table;
    this.files = files;
    this.budget = budget;
    this.sweeper = new Sweeper(table, files, background);
    this.keys = new Keys(table, sweeper);
    this.starter = new JobStarter(table, files, sweeper, outcomes);
  }

  /// Opens the jobs of a data directory.
  ///
  /// @param directory made if it is not there
  /// @param outcomes asked here and later
  /// @throws IOException if it cannot be read or written
  public static Jobs open(Path directory, JobSettings settings, OutcomeLookup outcomes)
      throws IOException {
    return open(directory, settings, outcomes, System::currentTimeMillis);
  }

  /// Problem of the journal of a directory that nobody has open. The next start keeps a copy of it and uses the records that are whole.
  /// Changes nothing.
  ///
  /// @return null: nothing
  /// @throws IOException if it cannot be read
  public static @Nullable String problem(Path directory) throws IOException {
    return JobRecovery.problem(directory.resolve(JOURNAL));
  }

  /// @param clock milliseconds since 1970
  static Jobs open(Path directory, JobSettings settings, OutcomeLookup outcomes, LongSupplier clock)
      throws IOException {
    SpaceBudget budget = new SpaceBudget(settings.bytes(), settings.bytesPerUser());
    ResultFiles files = new ResultFiles(directory.resolve("results"), budget);
    Path journal = directory.resolve(JOURNAL);
    ScheduledThreadPoolExecutor background = Sweeper.thread();
    JobTable table = new JobTable(journal, settings, clock, background);
    new JobRecovery(table, files, budget, outcomes).run(journal);
    Jobs jobs = new Jobs(table, files, budget, outcomes, background);
    jobs.sweeper.schedule();
    return jobs;
  }

  /// Begins a job, which is durable when this returns.
  ///
  /// @param text of the statement, for those who look
  /// @throws JobRefusal TOO_MANY_JOBS
  /// @throws EngineException DISK_FULL, IO_ERROR: nothing has begun
  public JobRecord submit(String owner, String text, JobWork work) {
    return starter.submit(owner, text, work);
  }

  /// Begins a job under a key, or finds the one that the key stands for. The key is durable before the work runs. A job that was
  /// interrupted without effect runs again, under its name.
  ///
  /// @throws JobRefusal TOO_MANY_JOBS, TOO_MANY_KEYS, OTHER_REQUEST, JOB_GONE, OUTCOME_UNKNOWN
  /// @throws EngineException DISK_FULL, IO_ERROR: nothing has begun, and the key is free
  public Submission submit(String owner, String text, JobWork work, KeyedRequest request) {
    return starter.submit(owner, text, work, request);
  }

  /// How a job stands.
  public Optional<JobRecord> find(JobViewer viewer, String token) {
    LiveJob job = visible(viewer, token);
    if (job == null) {
      return Optional.empty();
    }
    return Optional.of(isOwner(viewer, job) ? table.use(job) : job.snapshot());
  }

  private @Nullable LiveJob visible(JobViewer viewer, String token) {
    if (!JobToken.isOne(token)) {
      return null;
    }
    table.lock.lock();
    try {
      LiveJob job = table.job(token);
      return job != null && !job.record().deleted() && maySee(viewer, job) ? job : null;
    } finally {
      table.lock.unlock();
    }
  }

  private static boolean isOwner(JobViewer viewer, LiveJob job) {
    return viewer.user().equals(job.record().owner());
  }

  private static boolean maySee(JobViewer viewer, LiveJob job) {
    return viewer.seesAll() || viewer.signalsAll() || isOwner(viewer, job);
  }

  /// Calls somebody when a job has ended, when some time is over, or when the endpoint ends.
  ///
  /// @param told called at most once, perhaps before this returns, on any thread; must not block
  /// @return to wait no longer; without effect after the call
  public Runnable whenEnded(JobViewer viewer, String token, Duration longest, Runnable told) {
    LiveJob job = visible(viewer, token);
    Waiters.Waiter waiter = null;
    if (job != null && longest.isPositive()) {
      table.lock.lock();
      try {
        if (!job.record().state().isEnded() && !nobodyWaits) {
          waiter = table.waiters.add(table, job, longest.toNanos(), told);
        }
      } finally {
        table.lock.unlock();
      }
    }
    if (waiter == null) {
      told.run();
      return () -> {};
    }
    Waiters.Waiter added = waiter;
    return () -> Waiters.remove(table, added);
  }

  /// Waits until a job has ended, or for some time.
  ///
  /// @return how it stands then; empty: there is no such job
  public Optional<JobRecord> await(JobViewer viewer, String token, Duration longest) {
    CompletableFuture<Boolean> told = new CompletableFuture<>();
    Runnable stop = whenEnded(viewer, token, longest, () -> told.complete(true));
    try {
      told.join();
    } finally {
      stop.run();
    }
    return find(viewer, token);
  }

  /// Asks a job to end. It may succeed all the same, if it is about to.
  ///
  /// @return how it stands; empty: there is no such job
  public Optional<JobRecord> cancel(JobViewer viewer, String token) {
    LiveJob job = visible(viewer, token);
    if (job == null || !(isOwner(viewer, job) || viewer.signalsAll())) {
      return Optional.empty();
    }
    starter.cancel(job);
    return Optional.of(job.snapshot());
  }

  /// Deletes a job and its result; one that runs is canceled. Downloads of its files go on to their end.
  ///
  /// @return whether there was such a job
  /// @throws EngineException DISK_FULL, IO_ERROR: it is gone, but may be back after a crash
  public boolean delete(JobViewer viewer, String token) {
    LiveJob job = visible(viewer, token);
    if (job == null || !(isOwner(viewer, job) || viewer.signalsAll())) {
      return false;
    }
    long position;
    table.lock.lock();
    try {
      if (job.record().deleted()) {
        return false;
      }
      JobRecord deleted = job.record().asDeleted();
      position = table.keep(job, deleted);
      table.show(job, deleted);
    } finally {
      table.lock.unlock();
    }
    starter.cancel(job);
    table.force(position);
    sweeper.clear(job);
    return true;
  }

  /// Jobs that somebody may see, newest first.
  ///
  /// @param after where the page before has ended; null: from the newest
  /// @param limit 1 to [#PAGE_JOBS]
  /// @throws IllegalArgumentException if `after` is none of a page
  public Page list(JobViewer viewer, @Nullable String after, int limit) {
    LiveJob from = after == null ? null : new LiveJob(cursor(after));
    List<JobRecord> found = new ArrayList<>();
    table.lock.lock();
    try {
      Iterator<LiveJob> jobs = table.from(from);
      while (jobs.hasNext()) {
        LiveJob job = jobs.next();
        if (job.record().deleted() || !(viewer.seesAll() || isOwner(viewer, job))) {
          continue;
        }
        if (found.size() == limit) {
          JobRecord last = found.getLast();
          return new Page(found, last.createdMillis() + "." + last.token());
        }
        found.add(job.snapshot());
      }
      return new Page(found, null);
    } finally {
      table.lock.unlock();
    }
  }

  private static JobRecord cursor(String after) {
    int dot = after.indexOf('.');
    String token = after.substring(dot + 1);
    if (dot < 1 || dot > 18 || !JobToken.isOne(token)) {
      throw new IllegalArgumentException("not the end of a page");
    }
    return JobRecord.queued(token, "", "", null, Long.parseLong(after, 0, dot, 10), false);
  }

  /// Opens a file of a result for its owner.
  ///
  /// @param number from 1
  /// @return empty: there is no such file, or no longer
  /// @throws EngineException IO_ERROR
  public Optional<FileHold> openFile(JobViewer viewer, String token, int number) {
    LiveJob job = visible(viewer, token);
    if (job == null || !isOwner(viewer, job)) {
      return Optional.empty();
    }
    JobFile file;
    table.lock.lock();
    try {
      List<JobFile> all = job.record().files();
      if (job.record().deleted() || number < 1 || number > all.size()) {
        return Optional.empty();
      }
      file = all.get(number - 1);
      job.holds++;
    } finally {
      table.lock.unlock();
    }
    try {
      FileChannel channel = files.open(file);
      table.use(job);
      return Optional.of(
          new HeldFile(file, channel, job.record().endedMillis(), () -> release(job)));
    } catch (IOException e) {
      release(job);
      throw DiskFailure.of("could not open a file of a result", e);
    }
  }

  /// The one file of a job was sent whole with the answer of its request. If the job has a key, its result goes as soon as others need the
  /// room; the key stays.
  public void answered(JobViewer viewer, String token) {
    LiveJob job = visible(viewer, token);
    if (job != null) {
      table.lock.lock();
      try {
        table.answered(job);
      } finally {
        table.lock.unlock();
      }
    }
  }

  private void release(LiveJob job) {
    boolean isDeleted;
    table.lock.lock();
    try {
      job.holds--;
      isDeleted = job.record().deleted();
    } finally {
      table.lock.unlock();
    }
    if (isDeleted) {
      sweeper.clear(job);
    } else {
      table.use(job);
    }
  }

  /// Meets a request under a key whose effect is no job. Its answer is small.
  ///
  /// @param repeatable whether it may run again if it is not known whether it did
  /// @throws JobRefusal TOO_MANY_KEYS, OTHER_REQUEST, IN_PROGRESS, OUTCOME_UNKNOWN
  /// @throws EngineException DISK_FULL, IO_ERROR: nothing has begun, and the key is free
  public KeyClaim claim(String owner, KeyedRequest request, boolean repeatable) {
    return keys.claim(owner, request, repeatable);
  }

  public JobSettings settings() {
    return table.settings;
  }

  /// Bytes of results of all users.
  public long usedBytes() {
    return budget.usedBytes();
  }

  /// How many jobs there are in each state, and how many keys.
  public Counts counts() {
    EnumMap<JobState, Integer> states = new EnumMap<>(JobState.class);
    table.lock.lock();
    try {
      for (JobState state : JobState.values()) {
        states.put(state, table.jobCount(state));
      }
      return new Counts(states, table.keyCount());
    } finally {
      table.lock.unlock();
    }
  }

  /// How many wait for the end of jobs.
  public int waiting() {
    return table.waiters.count();
  }

  Sweeper sweeper() {
    return sweeper;
  }

  /// Cancels what runs, waits for it for some seconds, and writes what is in memory. Jobs that have not ended are there after the next
  /// start as INTERRUPTED.
  @Override
  public void close() throws IOException {
    starter.close();
    sweeper.close();
    List<LiveJob> running = new ArrayList<>();
    table.lock.lock();
    try {
      for (LiveJob job : table.jobs()) {
        if (!job.record().state().isEnded()) {
          running.add(job);
        }
      }
    } finally {
      table.lock.unlock();
    }
    for (LiveJob job : running) {
      JobWork work = job.work;
      job.isCancelAsked = true;
      if (work != null) {
        work.cancel();
      }
    }
    awaitAll(running);
    stopWaiting();
    table.waiters.close();
    table.journal().close();
  }

  /// Nobody waits for the end of jobs any more: who does is told how they stand. For an end of the endpoint that does not wait for long
  /// polls.
  public void stopWaiting() {
    table.lock.lock();
    try {
      nobodyWaits = true;
      for (LiveJob job : table.jobs()) {
        table.waiters.tellAll(job);
      }
    } finally {
      table.lock.unlock();
    }
  }

  private void awaitAll(List<LiveJob> running) {
    CountDownLatch ended = new CountDownLatch(running.size());
    table.lock.lock();
    try {
      for (LiveJob job : running) {
        if (job.record().state() == JobState.RUNNING) {
          table.waiters.add(table, job, CLOSE_NANOS, ended::countDown);
        } else {
          ended.countDown();
        }
      }
    } finally {
      table.lock.unlock();
    }
    try {
      ended.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    long left = running.stream().filter(job -> job.record().state() == JobState.RUNNING).count();
    if (left > 0) {
      LOG.warn("{} jobs do not end: they are left to the next start", left);
    }
  }
}

package dev.kakehashi.rest.job;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import org.jspecify.annotations.Nullable;

/// Begins jobs, runs so many of a user at a time, and cancels them. Thread-safe.
final class JobStarter {
  private final JobTable table;
  private final ResultFiles files;
  private final Sweeper sweeper;
  private final OutcomeLookup outcomes;
  private volatile boolean isClosing;

  JobStarter(JobTable table, ResultFiles files, Sweeper sweeper, OutcomeLookup outcomes) {
    this.table = table;
    this.files = files;
    this.sweeper = sweeper;
    this.outcomes = outcomes;
  }

  /// Nothing that waits begins any more, and what fails is left to the next start.
  void close() {
    isClosing = true;
  }

  /// Takes results away that were sent with their answers, until the user may have one more job or there are none.
  private void makeRoom(String owner) {
    for (LiveJob job = toMakeRoom(owner); job != null; job = toMakeRoom(owner)) {
      sweeper.clear(job);
    }
  }

  private @Nullable LiveJob toMakeRoom(String owner) {
    table.lock.lock();
    try {
      return table.toMakeRoom(owner);
    } finally {
      table.lock.unlock();
    }
  }

  JobRecord submit(String owner, String text, JobWork work) {
    makeRoom(owner);
    LiveJob job;
    long position;
    table.lock.lock();
    try {
      table.admitJob(owner);
      table.admitWork(owner, work);
      job = new LiveJob(newRecord(owner, text, work, false));
      position = table.enter(job);
      table.hold(job, work);
    } finally {
      table.lock.unlock();
    }
    start(job, work, position, () -> table.remove(job));
    return job.snapshot();
  }

  Jobs.Submission submit(String owner, String text, JobWork work, KeyedRequest request) {
    LiveJob known = knownJob(request);
    if (known != null) {
      resolve(known);
    } else {
      makeRoom(owner);
    }
    Start start;
    table.lock.lock();
    try {
      KeyRecord before = Keys.check(table.key(request.id()), request);
      start = before == null ? first(owner, text, work, request) : again(jobOf(before), work);
    } finally {
      table.lock.unlock();
    }
    if (start.undo() != null) {
      start(start.job(), work, start.position(), start.undo());
      return new Jobs.Submission(start.job().snapshot(), true);
    }
    // The answer to the first request holds for this one: it waits for the disk, too.
    table.force(start.position());
    if (!table.isThere(start.job())) {
      throw new JobRefusal(
          JobRefusal.Reason.IN_PROGRESS, "the first request under this key is being given up", 1);
    }
    return new Jobs.Submission(table.use(start.job()), false);
  }

  /// @param undo takes it back, under the lock; null: it is there already
  private record Start(LiveJob job, long position, @Nullable Runnable undo) {}

  /// Under the lock.
  private Start first(String owner, String text, JobWork work, KeyedRequest request) {
    table.admitKey(owner, false);
    table.admitJob(owner);
    table.admitWork(owner, work);
    LiveJob job = new LiveJob(newRecord(owner, text, work, true));
    KeyRecord key = Keys.of(request, owner, job.record());
    // Both or none: recovery drops a key without its job.
    table.enter(job);
    job.enteredAt = table.keep(key);
    table.hold(job, work);
    return new Start(
        job,
        job.enteredAt,
        () -> {
          table.remove(job);
          table.remove(key);
        });
  }

  /// Under the lock.
  private Start again(LiveJob job, JobWork work) {
    JobRecord record = job.record();
    if (record.deleted()) {
      throw new JobRefusal(
          JobRefusal.Reason.JOB_GONE,
          "the job under this key (%s) was deleted".formatted(record.state().text()),
          0);
    }
    if (record.state() != JobState.INTERRUPTED) {
      return new Start(job, job.enteredAt, null);
    }
    refuseUnknown(record);
    table.admitWork(record.owner(), work);
    JobRecord again =
        JobRecord.queued(
            record.token(),
            record.owner(),
            record.text(),
            work.load(),
            record.createdMillis(),
            true);
    table.reset(job, again);
    job.enteredAt = table.keep(job, again);
    table.hold(job, work);
    return new Start(
        job,
        job.enteredAt,
        () -> {
          table.reset(job, record);
          table.keep(job, record);
        });
  }

  private @Nullable LiveJob knownJob(KeyedRequest request) {
    table.lock.lock();
    try {
      KeyRecord key = table.key(request.id());
      return key == null || key.jobToken().isEmpty() ? null : table.job(key.jobToken());
    } finally {
      table.lock.unlock();
    }
  }

  private LiveJob jobOf(KeyRecord key) {
    LiveJob job = key.jobToken().isEmpty() ? null : table.job(key.jobToken());
    if (job == null) {
      // It was used for a request that is no job, whose fingerprint is another.
      throw Keys.otherRequest();
    }
    return job;
  }

  private static void refuseUnknown(JobRecord record) {
    JobFailure failure = record.failure();
    if (failure != null && isUnknown(failure)) {
      throw new JobRefusal(JobRefusal.Reason.OUTCOME_UNKNOWN, failure.message(), 1);
    }
  }

  private static boolean isUnknown(JobFailure failure) {
    return failure.code() == ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN
        || failure.code() == ErrorCode.COMMIT_TIMEOUT;
  }

  /// Asks again for an outcome that was not known.
  private void resolve(LiveJob job) {
    JobRecord record = job.record();
    JobFailure failure = record.failure();
    if (record.state() != JobState.INTERRUPTED || failure == null || !isUnknown(failure)) {
      return;
    }
    JobRecord next = JobRecovery.interrupted(record, outcomes, table.clock.getAsLong());
    table.lock.lock();
    try {
      if (job.record().equals(record)) {
        table.keep(job, next);
        table.show(job, next);
      }
    } finally {
      table.lock.unlock();
    }
  }

  private JobRecord newRecord(String owner, String text, JobWork work, boolean keyed) {
    return JobRecord.queued(
        JobToken.make(), owner, text, work.load(), table.clock.getAsLong(), keyed);
  }

  /// Runs a job as soon as its user may have one more running.
  private void start(LiveJob job, JobWork work, long position, Runnable undo) {
    try {
      if (isClosing) {
        throw new EngineException(ErrorCode.SHUTTING_DOWN, "the endpoint is shutting down");
      }
      table.force(position);
    } catch (EngineException e) {
      table.lock.lock();
      try {
        table.release(job);
        undo.run();
      } finally {
        table.lock.unlock();
      }
      throw e;
    }
    boolean mayRun;
    table.lock.lock();
    try {
      JobOwner owner = table.owner(job.record().owner());
      mayRun = owner.running < table.settings.runningPerUser();
      if (mayRun) {
        begin(job, owner);
      } else {
        owner.queued.add(job);
      }
    } finally {
      table.lock.unlock();
    }
    sweeper.schedule();
    if (mayRun) {
      run(job, work);
    }
  }

  /// Under the lock.
  private void begin(LiveJob job, JobOwner owner) {
    owner.running++;
    JobRecord running = job.record().running(table.clock.getAsLong());
    table.keep(job, running);
    table.show(job, running);
  }

  private void run(LiveJob job, JobWork work) {
    Thread.ofVirtual()
        .name("job")
        .start(() -> {
          try {
            new JobRun(table, files, outcomes, job, work).run(() -> isClosing);
          } finally {
            ended(job);
          }
        });
  }

  private void ended(LiveJob job) {
    String user = job.record().owner();
    LiveJob next;
    JobWork work = null;
    table.lock.lock();
    try {
      table.release(job);
      if (!job.record().state().isEnded()) {
        // An error of the virtual machine has ended the run itself; its log has it.
        JobFailure failure = JobFailure.of(ErrorCode.INTERNAL_ERROR, "internal error");
        JobRecord failed = job.record().failed(JobState.FAILED, failure, table.clock.getAsLong());
        table.keep(job, failed);
        table.show(job, failed);
      }
      JobOwner owner = table.owner(user);
      owner.running--;
      next = isClosing ? null : owner.queued.poll();
      if (next != null) {
        work = next.work;
        begin(next, owner);
      }
      table.forgetUnused(user, owner);
    } finally {
      table.lock.unlock();
    }
    if (job.record().deleted()) {
      sweeper.clear(job);
    }
    if (next != null && work != null) {
      run(next, work);
    }
  }

  void cancel(LiveJob job) {
    JobWork work;
    boolean hasEnded;
    table.lock.lock();
    try {
      if (job.record().state().isEnded()) {
        return;
      }
      job.isCancelAsked = true;
      work = job.work;
      JobOwner owner = table.owner(job.record().owner());
      hasEnded = owner.queued.remove(job);
      if (hasEnded) {
        table.release(job);
        JobRecord next =
            job.record()
                .failed(
                    JobState.CANCELED, JobFailure.of(JobRun.canceled()), table.clock.getAsLong());
        table.keep(job, next);
        table.show(job, next);
      }
      table.forgetUnused(job.record().owner(), owner);
    } finally {
      table.lock.unlock();
    }
    if (hasEnded) {
      table.write();
    }
    if (work != null) {
      work.cancel();
    }
  }
}

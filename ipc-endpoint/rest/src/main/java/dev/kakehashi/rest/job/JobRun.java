package dev.kakehashi.rest.job;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One run of a job: what its work tells, and how it ends. The run itself is of one thread; the work may use others.
final class JobRun implements JobContext {
  private static final Logger LOG = LoggerFactory.getLogger(JobRun.class);

  /// Most files of a result, so that its record in the journal is not too long.
  private static final int MAX_FILES = 1_000;

  private final JobTable table;
  private final ResultFiles files;
  private final OutcomeLookup outcomes;
  private final LiveJob job;
  private final JobWork work;
  private final String token;
  private final String owner;

  private final List<ResultFile> opened = new ArrayList<>(); // guarded by itself
  private @Nullable StoredAnswer answer; // guarded by the lock of the table

  JobRun(JobTable table, ResultFiles files, OutcomeLookup outcomes, LiveJob job, JobWork work) {
    this.table = table;
    this.files = files;
    this.outcomes = outcomes;
    this.job = job;
    this.work = work;
    this.token = job.record().token();
    this.owner = job.record().owner();
  }

  /// Runs the work and ends the job.
  ///
  /// @param isClosing whether the endpoint ends: then a job that fails is left to the next start
  void run(BooleanSupplier isClosing) {
    EngineException failure = null;
    try {
      if (job.isCancelAsked) {
        throw canceled();
      }
      work.run(this);
    } catch (EngineException e) {
      failure = e;
    } catch (IOException e) {
      failure = DiskFailure.of("could not write the result", e);
    } catch (Throwable e) {
      failure = new EngineException(ErrorCode.INTERNAL_ERROR, String.valueOf(e.getMessage()), e);
    }
    List<JobFile> published = endFiles();
    if (failure == null) {
      failure = succeed(published);
    } else {
      files.remove(owner, published);
    }
    if (failure != null && !hasCommitted(failure)) {
      fail(failure, isClosing.getAsBoolean());
    }
  }

  /// Whether it has taken effect, and its result could not be kept. An owner who is told that it has failed would repeat it.
  private boolean hasCommitted(EngineException failure) {
    String transaction = job.record().transaction();
    if (transaction.isEmpty() || !isCommitted(transaction)) {
      return false;
    }
    LOG.warn("the result of a job that has committed is lost", failure);
    end(snapshot().committedWithoutResult(table.clock.getAsLong(), -1));
    return true;
  }

  private boolean isCommitted(String transaction) {
    try {
      return outcomes.outcome(owner, transaction) == OutcomeLookup.Outcome.COMMITTED;
    } catch (RuntimeException e) {
      LOG.error("the outcome of a job's transaction is not known", e);
      return false;
    }
  }

  /// Failure as its owner is told. An internal error tells the id alone under which the log has it.
  private static EngineException told(EngineException failure) {
    if (!JobFailure.isInternal(failure.code())) {
      return failure;
    }
    String id = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    LOG.error("internal error {} in a job", id, failure);
    return new EngineException(
        failure.code(), "internal error; the endpoint's log has it under id " + id);
  }

  static EngineException canceled() {
    return new EngineException(ErrorCode.QUERY_CANCELED, "canceling statement due to user request");
  }

  /// @return those that are published, in their order
  private List<JobFile> endFiles() {
    List<JobFile> published = new ArrayList<>();
    synchronized (opened) {
      for (ResultFile file : opened) {
        JobFile whole = file.published();
        if (whole != null) {
          published.add(whole);
        } else {
          file.discard();
        }
      }
    }
    return published;
  }

  /// @return why it has failed all the same
  private @Nullable EngineException succeed(List<JobFile> published) {
    try {
      files.publish(published);
    } catch (EngineException e) {
      files.remove(owner, published);
      return e;
    }
    JobRecord next;
    long position;
    table.lock.lock();
    try {
      next = snapshot().succeeded(table.clock.getAsLong(), published, answer);
      position = table.keep(job, next);
    } finally {
      table.lock.unlock();
    }
    try {
      table.force(position);
    } catch (EngineException e) {
      files.remove(owner, published);
      return e;
    }
    show(next);
    return null;
  }

  private void fail(EngineException failure, boolean isClosing) {
    boolean isUnknown =
        failure.code() == ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN
            || failure.code() == ErrorCode.COMMIT_TIMEOUT;
    JobState state;
    if (isClosing || isUnknown) {
      state = JobState.INTERRUPTED;
    } else if (failure.code() == ErrorCode.QUERY_CANCELED && job.isCancelAsked) {
      state = JobState.CANCELED;
    } else {
      state = JobState.FAILED;
    }
    JobFailure why = JobFailure.of(told(failure));
    JobRecord next = snapshot().failed(state, why, table.clock.getAsLong());
    if (isClosing) {
      // The journal has it as running: the next start asks for the outcome of its transaction.
      show(next);
    } else {
      end(next);
    }
  }

  private JobRecord snapshot() {
    return job.record().progress(job.rowsScanned.getAsLong(), job.rows, job.bytes.get());
  }

  private void end(JobRecord next) {
    long position;
    table.lock.lock();
    try {
      position = table.keep(job, next);
    } finally {
      table.lock.unlock();
    }
    try {
      table.force(position);
    } catch (EngineException e) {
      LOG.warn("the end of a job is not on disk yet", e);
    }
    show(next);
  }

  private void show(JobRecord next) {
    table.lock.lock();
    try {
      // Its owner may have deleted it meanwhile.
      table.show(job, job.record().deleted() ? next.asDeleted() : next);
    } finally {
      table.lock.unlock();
    }
  }

  @Override
  public String token() {
    return token;
  }

  @Override
  public String owner() {
    return owner;
  }

  @Override
  public boolean isCanceled() {
    return job.isCancelAsked;
  }

  @Override
  public void recordTransaction(String transactionToken) {
    long position;
    table.lock.lock();
    try {
      JobRecord next = job.record().withTransaction(transactionToken);
      position = table.keep(job, next);
      job.show(next);
    } finally {
      table.lock.unlock();
    }
    table.force(position);
  }

  @Override
  public void scans(LongSupplier rows) {
    job.rowsScanned = rows;
  }

  @Override
  public void rowsWritten(long rows) {
    job.rows = rows;
  }

  @Override
  public ResultFile open(String mediaType, String coding, String extension) {
    synchronized (opened) {
      if (opened.size() == MAX_FILES) {
        throw new EngineException(
                ErrorCode.LIMIT_EXCEEDED, "the result has more than " + MAX_FILES + " files")
            .withHint("Select fewer rows, or let the files of results be longer.");
      }
      String name = "result-" + (opened.size() + 1) + "." + extension;
      ResultFile file = files.create(owner, name, mediaType, coding, job.bytes::addAndGet);
      opened.add(file);
      return file;
    }
  }

  @Override
  public long fileBytes() {
    return table.settings.fileBytes();
  }

  @Override
  public boolean answer(StoredAnswer kept) {
    table.lock.lock();
    try {
      if (!table.hasRoomForAnswer(owner)) {
        return false;
      }
      answer = kept;
      return true;
    } finally {
      table.lock.unlock();
    }
  }
}

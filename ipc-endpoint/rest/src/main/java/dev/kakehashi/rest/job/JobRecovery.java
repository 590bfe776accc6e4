package dev.kakehashi.rest.job;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Takes jobs and keys over from the process before. Used by one thread, once.
final class JobRecovery {
  private static final Logger LOG = LoggerFactory.getLogger(JobRecovery.class);

  private final JobTable table;
  private final ResultFiles files;
  private final SpaceBudget budget;
  private final OutcomeLookup outcomes;

  JobRecovery(JobTable table, ResultFiles files, SpaceBudget budget, OutcomeLookup outcomes) {
    this.table = table;
    this.files = files;
    this.budget = budget;
    this.outcomes = outcomes;
  }

  /// Reads the journal, enters what it has, sweeps files, and begins a new journal.
  ///
  /// @throws IOException if the directory cannot be read or written
  void run(Path journal) throws IOException {
    JournalFormat.Content content = JournalFormat.read(journal);
    Map<String, JobRecord> jobs = new LinkedHashMap<>();
    Map<Hash, KeyRecord> keys = new LinkedHashMap<>();
    boolean isDamaged = content.isDamaged();
    for (byte[] record : content.records()) {
      try {
        apply(RecordCodec.decode(record), jobs, keys);
      } catch (IOException | IllegalArgumentException e) {
        LOG.warn("a record of the journal of jobs cannot be read", e);
        isDamaged = true;
      }
    }
    if (isDamaged) {
      setAside(journal, jobs.size());
    } else if (content.isCutOff()) {
      LOG.info("the last record of the journal of jobs was cut off, and is dropped");
    }
    enter(jobs, keys);
    files.sweep(knownFiles());
    table.journal().rewrite();
  }

  /// See [Jobs#problem].
  static @Nullable String problem(Path journal) throws IOException {
    JournalFormat.Content content = JournalFormat.read(journal);
    int unreadable = 0;
    Map<String, JobRecord> jobs = new LinkedHashMap<>();
    for (byte[] record : content.records()) {
      try {
        apply(RecordCodec.decode(record), jobs, new LinkedHashMap<>());
      } catch (IOException | IllegalArgumentException e) {
        unreadable++;
      }
    }
    if (!content.isDamaged() && unreadable == 0) {
      return null;
    }
    return "\"%s\" has %d records that can be read, of %d jobs, and others that cannot"
        .formatted(journal, content.records().size() - unreadable, jobs.size());
  }

  private static void apply(
      RecordCodec.Entry entry, Map<String, JobRecord> jobs, Map<Hash, KeyRecord> keys) {
    switch (entry) {
      case RecordCodec.Entry.JobKept kept -> jobs.put(kept.job().token(), kept.job());
      case RecordCodec.Entry.JobRemoved removed -> jobs.remove(removed.token());
      case RecordCodec.Entry.KeyKept kept -> keys.put(kept.key().id(), kept.key());
      case RecordCodec.Entry.KeyRemoved removed -> keys.remove(removed.id());
      case RecordCodec.Entry.JobRead read ->
          jobs.computeIfPresent(read.token(), (token, job) -> job.read(read.millis()));
    }
  }

  /// Keeps a copy of a journal that is damaged, the last one: what follows is written to a new one.
  private void setAside(Path journal, int found) throws IOException {
    Path copy = journal.resolveSibling("journal.damaged");
    Files.copy(journal, copy, StandardCopyOption.REPLACE_EXISTING);
    LOG.warn(
        "the journal of jobs is damaged: {} jobs could be read; a copy of it is \"{}\"",
        found,
        copy);
  }

  private void enter(Map<String, JobRecord> jobs, Map<Hash, KeyRecord> keys) {
    // Before the lock: the outcome of a transaction is asked for.
    jobs.replaceAll((token, job) -> afterRestart(job));
    table.lock.lock();
    try {
      for (JobRecord job : jobs.values()) {
        table.enter(new LiveJob(job));
        for (JobFile file : job.files()) {
          budget.count(job.owner(), file.bytes());
        }
      }
      for (KeyRecord key : keys.values()) {
        if (!key.jobToken().isEmpty()) {
          // Without its job nothing of it has happened: the two were written together.
          if (jobs.containsKey(key.jobToken())) {
            table.keep(key);
          }
        } else {
          table.keep(key.answer() == null ? key.lost() : key);
        }
      }
    } finally {
      table.lock.unlock();
    }
  }

  private JobRecord afterRestart(JobRecord job) {
    if (!job.state().isEnded()) {
      return interrupted(job, outcomes, table.clock.getAsLong());
    }
    for (JobFile file : job.files()) {
      if (!files.isThere(file)) {
        LOG.warn("a result of user \"{}\" is lost: a file of it is not there", job.owner());
        return job.withoutResult(ResultState.LOST);
      }
    }
    return job;
  }

  /// Record of a job that has not come to its end, by the outcome of its transaction, or by what is kept of its load.
  static JobRecord interrupted(JobRecord job, OutcomeLookup outcomes, long nowMillis) {
    if (job.load() != null && job.transaction().isEmpty()) {
      return interruptedLoad(job, job.load(), outcomes, nowMillis);
    }
    OutcomeLookup.Outcome outcome =
        job.transaction().isEmpty()
            ? OutcomeLookup.Outcome.ROLLED_BACK
            : outcomes.outcome(job.owner(), job.transaction());
    return switch (outcome) {
      case COMMITTED -> job.committedWithoutResult(nowMillis, -1);
      case ROLLED_BACK -> job.failed(JobState.INTERRUPTED, withoutEffect(), nowMillis);
      case UNKNOWN ->
          job.failed(
              JobState.INTERRUPTED,
              JobFailure.of(
                  ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN,
                  "the job was interrupted; whether its transaction has committed is not known"),
              nowMillis);
    };
  }

  private static JobFailure withoutEffect() {
    return JobFailure.of(ErrorCode.SHUTTING_DOWN, "the job was interrupted, and has had no effect");
  }

  /// Its batches have committed one by one.
  private static JobRecord interruptedLoad(
      JobRecord job, String name, OutcomeLookup outcomes, long nowMillis) {
    OutcomeLookup.Load load = name.isEmpty() ? null : outcomes.load(job.owner(), name);
    if (load == null) {
      EngineException why =
          new EngineException(
                  ErrorCode.SHUTTING_DOWN,
                  "the job was interrupted; how much of it has committed is not known")
              .withHint("A load with a load_id tells, and goes on behind what has committed.");
      return job.progress(job.rowsScanned(), -1, job.bytes())
          .failed(JobState.INTERRUPTED, JobFailure.of(why), nowMillis);
    }
    if (load.isDone()) {
      return job.committedWithoutResult(nowMillis, load.rows());
    }
    JobRecord counted = job.progress(job.rowsScanned(), load.rows(), job.bytes());
    if (load.rows() == 0) {
      return counted.failed(JobState.INTERRUPTED, withoutEffect(), nowMillis);
    }
    EngineException why =
        new EngineException(
                ErrorCode.SHUTTING_DOWN,
                "the job was interrupted; %d rows are committed".formatted(load.rows()))
            .withHint(
                job.keyed()
                    ? "The same request under its key goes on behind them."
                    : "The same load with load_id \"%s\" goes on behind them.".formatted(name));
    return counted.failed(JobState.INTERRUPTED, JobFailure.of(why), nowMillis);
  }

  private Set<Long> knownFiles() {
    Set<Long> known = new HashSet<>();
    table.lock.lock();
    try {
      for (LiveJob job : table.jobs()) {
        known.addAll(ResultFiles.ids(job.record().files()));
      }
    } finally {
      table.lock.unlock();
    }
    return known;
  }
}

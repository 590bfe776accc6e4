package dev.kakehashi.rest.sql;

import dev.kakehashi.rest.header.Prefer;
import dev.kakehashi.rest.header.TransactionHeader;
import dev.kakehashi.rest.job.FileHold;
import dev.kakehashi.rest.job.JobFailure;
import dev.kakehashi.rest.job.JobFile;
import dev.kakehashi.rest.job.JobRecord;
import dev.kakehashi.rest.job.JobRefusal;
import dev.kakehashi.rest.job.JobState;
import dev.kakehashi.rest.job.JobViewer;
import dev.kakehashi.rest.job.Jobs;
import dev.kakehashi.rest.job.KeyedRequest;
import dev.kakehashi.rest.job.StoredAnswer;
import dev.kakehashi.rest.job.http.IdempotentPosts;
import dev.kakehashi.rest.job.http.JobJson;
import dev.kakehashi.rest.job.http.JobRoutes;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.ExchangeOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// How routes run statements: as jobs, or answered while they run; in the transaction that the request names. Thread-safe.
public final class StatementDoor {
  private static final int COPY_BYTES = 256 << 10;

  private final SqlService service;
  private final Jobs jobs;
  private final JobRoutes jobRoutes;

  public StatementDoor(SqlService service, Jobs jobs, JobRoutes jobRoutes) {
    this.service = service;
    this.jobs = jobs;
    this.jobRoutes = jobRoutes;
  }

  /// Begins to answer with a statement's rows as they come. Does not block, and answers later.
  ///
  /// @throws Problem 400, 413: it cannot be run so
  public void stream(Exchange exchange, StatementOrder order) {
    exchange.onEnd(order.ended());
    SqlCall.start(
        service,
        exchange,
        order.request().checked(service.limits()),
        order.format(),
        exchange.request().transaction());
  }

  /// Makes a job of a statement, or finds the one that the request's key stands for, and answers with it, or with its result if the request
  /// waits. Blocks.
  ///
  /// @throws Problem 400, 413, 422, 429: it cannot be run so; or as the job has failed
  public void job(Exchange exchange, StatementOrder order) throws IOException {
    boolean isBegun = false;
    JobRecord job;
    try {
      TransactionHeader header = exchange.request().transaction();
      if (header.verb() == TransactionHeader.Verb.ABORT) {
        throw Problem.badRequest(
            TransactionHeader.NAME + ": abort takes no statement; send an empty body");
      }
      JobStatement work =
          new JobStatement(
              service,
              exchange.request().user(),
              order.request().checked(service.limits()),
              order,
              header);
      @Nullable KeyedRequest keyed = IdempotentPosts.request(exchange.request(), order.keyed());
      String owner = exchange.request().user().name();
      if (keyed == null) {
        job = jobs.submit(owner, order.request().sql(), work);
        isBegun = true;
      } else {
        Jobs.Submission submission = jobs.submit(owner, order.request().sql(), work, keyed);
        job = submission.job();
        isBegun = submission.isNew();
      }
    } catch (JobRefusal e) {
      throw IdempotentPosts.problem(e);
    } finally {
      if (!isBegun) {
        order.ended().run();
      }
    }
    answer(exchange, job, exchange.request().prefer(), order.longestWait());
  }

  private void answer(Exchange exchange, JobRecord submitted, Prefer prefer, Duration byDefault)
      throws IOException {
    JobRecord job = submitted;
    JobViewer viewer = JobViewer.of(exchange.request().user().name());
    Duration wait = wait(prefer, byDefault);
    if (wait.isPositive()) {
      exchange.waits();
      Optional<JobRecord> now = jobs.await(viewer, job.token(), wait);
      job = now.orElse(job);
    }
    applied(exchange, prefer);
    if (job.state().isEnded() && wait.isPositive()) {
      answerEnded(exchange, viewer, job);
    } else {
      accepted(exchange, job);
    }
  }

  private static Duration wait(Prefer prefer, Duration byDefault) {
    if (prefer.waitSeconds() >= 0) {
      return Duration.ofSeconds(Math.min(prefer.waitSeconds(), JobRoutes.MAX_WAIT_SECONDS));
    }
    return prefer.respondAsync() ? Duration.ZERO : byDefault;
  }

  private static void applied(Exchange exchange, Prefer prefer) {
    if (prefer.respondAsync()) {
      exchange.answer().header("Preference-Applied", "respond-async");
    }
    if (prefer.waitSeconds() >= 0) {
      exchange.answer().header("Preference-Applied", "wait=" + prefer.waitSeconds());
    }
  }

  private void accepted(Exchange exchange, JobRecord job) {
    exchange
        .answer()
        .header("Location", JobJson.path(job.token()))
        .header("Cache-Control", "no-store");
    exchange.answer().send(202, ContentType.JSON, jobRoutes.describe(job));
  }

  private void answerEnded(Exchange exchange, JobViewer viewer, JobRecord job) throws IOException {
    exchange.answer().header("Content-Location", JobJson.path(job.token()));
    JobFailure failure = job.failure();
    if (failure != null) {
      throw JobJson.problem(failure).withJob(job.token());
    }
    StoredAnswer answer = job.answer();
    if (answer != null) {
      IdempotentPosts.send(exchange, answer);
      return;
    }
    Problem gone = JobJson.gone(job);
    if (gone != null) {
      // The outcome is final: a client that waits for an answer need not ask again.
      gone.withHeader(TransactionHeader.NAME, TransactionFields.COMMITTED);
      throw job.rows() < 0 ? gone : gone.withHeader(SqlCall.ROWS, Long.toString(job.rows()));
    }
    JobFile only = job.files().size() == 1 ? job.files().getFirst() : null;
    if (job.state() != JobState.SUCCEEDED
        || only == null
        || only.bytes() > service.limits().inlineBytes()) {
      accepted(exchange, job);
      return;
    }
    Optional<FileHold> file = jobs.openFile(viewer, job.token(), 1);
    if (file.isEmpty()) {
      accepted(exchange, job);
      return;
    }
    try (FileHold hold = file.get()) {
      send(exchange, hold, job);
    }
    jobs.answered(viewer, job.token());
  }

  private static void send(Exchange exchange, FileHold hold, JobRecord job) throws IOException {
    JobFile file = hold.file();
    if (!file.coding().isEmpty()) {
      exchange.answer().header("Content-Encoding", file.coding());
    }
    if (job.rows() >= 0) {
      exchange.answer().header(SqlCall.ROWS, Long.toString(job.rows()));
    }
    ExchangeOutput out =
        exchange.answer().stream(200, ContentType.of(file.mediaType()), file.bytes());
    ByteBuffer buffer = ByteBuffer.allocate(COPY_BYTES);
    while (hold.channel().read(buffer) >= 0) {
      out.write(buffer.flip());
      buffer.clear();
    }
    out.finish();
  }
}

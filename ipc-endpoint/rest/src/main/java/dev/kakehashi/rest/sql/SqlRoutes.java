package dev.kakehashi.rest.sql;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.requests.RequestAnswer;
import dev.kakehashi.requests.RequestUser;
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
import dev.kakehashi.rest.route.Route;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// `POST /v1/sql`: statements, answered while they run, or as jobs. Thread-safe.
///
/// | request has | answer |
/// |---|---|
/// | nothing of the below | rows as they come, however long it takes |
/// | `Prefer: respond-async` | 202 and the job |
/// | `Prefer: wait=N` | 200, or 202 when the time is over or the result is long |
/// | `Idempotency-Key` | the same as with `wait`, without it for [#KEYED_WAIT]; the same job each time |
public final class SqlRoutes {
  private static final Duration KEYED_WAIT = Duration.ofSeconds(60);
  private static final int COPY_BYTES = 256 << 10;

  private final SqlService service;
  private final Jobs jobs;
  private final JobRoutes jobRoutes;
  private final IdempotentPosts posts;
  private final TransactionActs control;

  public SqlRoutes(SqlService service, Jobs jobs, JobRoutes jobRoutes) {
    this.service = service;
    this.jobs = jobs;
    this.jobRoutes = jobRoutes;
    this.posts = new IdempotentPosts(jobs);
    this.control = new TransactionActs(service);
  }

  public List<Route> routes() {
    return List.of(
        Route.post("/v1/sql")
            .accepts("application/json", "application/sql")
            .parameters(SqlRequest.QUERY)
            .handleDirectly(this::post));
  }

  private void post(Exchange exchange, byte[] body) {
    TransactionHeader header = TransactionHeader.parse(exchange.header(TransactionHeader.NAME));
    SqlRequest request = SqlRequest.parse(exchange, body, service.limits());
    @Nullable TransactionStatement text = TransactionStatement.of(request.sql());
    if (header.verb() == TransactionHeader.Verb.AUTO) {
      request.requireStatement();
    }
    if (text != null || !request.hasStatement()) {
      exchange.block(blocking ->
          posts.answer(blocking, body, true, () -> control(blocking.user(), header, text)));
      return;
    }
    Prefer prefer = Prefer.parse(exchange.header("Prefer"));
    if (prefer.respondAsync()
        || prefer.waitSeconds() >= 0
        || exchange.header(IdempotentPosts.FIELD) != null) {
      exchange.block(blocking -> job(blocking, body, request, header, prefer));
    } else {
      SqlCall.start(service, exchange, request, header);
    }
  }

  private StoredAnswer control(
      RequestUser user, TransactionHeader header, @Nullable TransactionStatement text)
      throws InterruptedException {
    RequestAnswer answer = control.perform(user, header, text);
    String field = TransactionFields.of(service.requests(), user, answer, true);
    EngineException failure = answer.failure();
    if (failure != null) {
      throw Problem.of(failure).withHeader(TransactionHeader.NAME, field);
    }
    return new StoredAnswer(
        204, List.of(new StoredAnswer.Header(TransactionHeader.NAME, field)), "", new byte[0]);
  }

  private void job(
      Exchange exchange, byte[] body, SqlRequest request, TransactionHeader header, Prefer prefer)
      throws IOException {
    AnswerFormat format = AnswerFormat.of(exchange);
    JobStatement work = new JobStatement(service, exchange.user(), request, format, header);
    @Nullable KeyedRequest keyed = IdempotentPosts.request(exchange, body);
    String owner = exchange.user().name();
    JobRecord job;
    try {
      job =
          keyed == null
              ? jobs.submit(owner, request.sql(), work)
              : jobs.submit(owner, request.sql(), work, keyed).job();
    } catch (JobRefusal e) {
      throw IdempotentPosts.problem(e);
    }
    JobViewer viewer = JobViewer.of(owner);
    Duration wait = wait(prefer);
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

  private static Duration wait(Prefer prefer) {
    if (prefer.waitSeconds() >= 0) {
      return Duration.ofSeconds(Math.min(prefer.waitSeconds(), JobRoutes.MAX_WAIT_SECONDS));
    }
    return prefer.respondAsync() ? Duration.ZERO : KEYED_WAIT;
  }

  private static void applied(Exchange exchange, Prefer prefer) {
    if (prefer.respondAsync()) {
      exchange.answerHeader("Preference-Applied", "respond-async");
    }
    if (prefer.waitSeconds() >= 0) {
      exchange.answerHeader("Preference-Applied", "wait=" + prefer.waitSeconds());
    }
  }

  private void accepted(Exchange exchange, JobRecord job) {
    exchange
        .answerHeader("Location", JobJson.path(job.token()))
        .answerHeader("Cache-Control", "no-store");
    exchange.send(202, ContentType.JSON, jobRoutes.describe(job));
  }

  private void answerEnded(Exchange exchange, JobViewer viewer, JobRecord job) throws IOException {
    exchange.answerHeader("Content-Location", JobJson.path(job.token()));
    JobFailure failure = job.failure();
    if (failure != null) {
      throw JobJson.problem(failure).withJob(job.token());
    }
    StoredAnswer answer = job.answer();
    if (answer != null) {
      IdempotentPosts.send(exchange, answer);
      return;
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
  }

  private static void send(Exchange exchange, FileHold hold, JobRecord job) throws IOException {
    JobFile file = hold.file();
    if (!file.coding().isEmpty()) {
      exchange.answerHeader("Content-Encoding", file.coding());
    }
    exchange.answerHeader(SqlCall.ROWS, Long.toString(job.rows()));
    ExchangeOutput out = exchange.stream(200, ContentType.of(file.mediaType()), file.bytes());
    ByteBuffer buffer = ByteBuffer.allocate(COPY_BYTES);
    while (hold.channel().read(buffer) >= 0) {
      out.write(buffer.flip());
      buffer.clear();
    }
    out.finish();
  }
}

package dev.kakehashi.rest.job.http;

import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.rest.job.FileHold;
import dev.kakehashi.rest.job.JobFile;
import dev.kakehashi.rest.job.JobRecord;
import dev.kakehashi.rest.job.JobViewer;
import dev.kakehashi.rest.job.Jobs;
import dev.kakehashi.rest.job.StoredAnswer;
import dev.kakehashi.rest.login.Users;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.Route;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The routes of jobs: `/v1/jobs` and below. Thread-safe.
public final class JobRoutes {
  /// Longest long poll, in seconds.
  public static final int MAX_WAIT_SECONDS = 120;

  private static final int DEFAULT_PAGE = 100;
  private static final String MONITOR = "pg_monitor";
  private static final String SIGNAL = "pg_signal_backend";
  private static final String ONE = "/v1/jobs/{token:token}";

  private final Jobs jobs;
  private final Users users;
  private final IdempotentPosts posts;
  private final JobJson json;

  public JobRoutes(Jobs jobs, Users users) {
    this.jobs = jobs;
    this.users = users;
    this.posts = new IdempotentPosts(jobs);
    this.json = new JobJson(jobs.settings());
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/jobs").parameters("after", "limit").handle(this::list),
        Route.get(ONE).parameters("wait").handleDirectly((exchange, body) -> poll(exchange)),
        Route.post(ONE + "/cancel").handle(this::cancel),
        Route.delete(ONE).handle(this::delete),
        Route.get(ONE + "/files/{n:int}").handle(this::file));
  }

  /// A job as its owner sees it, in JSON.
  public byte[] describe(JobRecord job) {
    return json.one(job, true);
  }

  /// As whom a user looks at jobs.
  public JobViewer viewer(RequestUser user) {
    return new JobViewer(
        user.name(),
        user.isOperator() || users.isMemberOf(user, MONITOR),
        user.isOperator() || users.isMemberOf(user, SIGNAL));
  }

  private JobViewer viewer(Exchange exchange) {
    return viewer(exchange.request().user());
  }

  private void list(Exchange exchange) {
    JobViewer viewer = viewer(exchange);
    int limit = (int) exchange.request().parameter("limit", DEFAULT_PAGE, 1, Jobs.PAGE_JOBS);
    @Nullable String after = exchange.request().parameter("after");
    Jobs.Page page;
    try {
      page = jobs.list(viewer, after, limit);
    } catch (IllegalArgumentException e) {
      throw Problem.badRequest("query parameter \"after\" must be the \"next\" of a page");
    }
    if (page.next() != null) {
      exchange
          .answer()
          .header("Link", "</v1/jobs?limit=" + limit + "&after=" + page.next() + ">; rel=\"next\"");
    }
    exchange.answer().header("Cache-Control", "no-store");
    exchange.answer().send(200, ContentType.JSON, json.page(page, viewer));
  }

  /// Answers at once, or when the job has ended or the time is over; meanwhile no thread waits.
  private void poll(Exchange exchange) {
    JobViewer viewer = viewer(exchange);
    String token = exchange.request().variable("token");
    long wait = exchange.request().parameter("wait", 0, 0, MAX_WAIT_SECONDS);
    Optional<JobRecord> now = jobs.find(viewer, token);
    if (wait == 0 || now.isEmpty() || now.get().state().isEnded()) {
      answer(exchange, viewer, now);
      return;
    }
    exchange.waits();
    Runnable stop =
        jobs.whenEnded(
            viewer, token, Duration.ofSeconds(wait), () -> answerLater(exchange, viewer, token));
    exchange.onEnd(stop);
  }

  private void answerLater(Exchange exchange, JobViewer viewer, String token) {
    try {
      answer(exchange, viewer, jobs.find(viewer, token));
    } catch (RuntimeException e) {
      exchange.fail(e);
    }
  }

  private void answer(Exchange exchange, JobViewer viewer, Optional<JobRecord> job) {
    JobRecord found = job.orElseThrow(JobRoutes::noJob);
    if (!found.state().isEnded()) {
      exchange.answer().header("Retry-After", "1");
    }
    exchange.answer().header("Cache-Control", "no-store");
    boolean isOwner = found.owner().equals(viewer.user());
    exchange.answer().send(200, ContentType.JSON, json.one(found, isOwner));
  }

  private static Problem noJob() {
    return Problem.notFound("there is no such job, or no longer");
  }

  private void cancel(Exchange exchange) throws Exception {
    JobViewer viewer = viewer(exchange);
    posts.answer(
        exchange,
        new byte[0],
        true,
        () -> {
          JobRecord job =
              jobs.cancel(viewer, exchange.request().variable("token"))
                  .orElseThrow(JobRoutes::noJob);
          // Without its files: the answer is to be kept with the key.
          byte[] body = json.one(job, false);
          int status = job.state().isEnded() ? 200 : 202;
          return new StoredAnswer(
              status,
              List.of(new StoredAnswer.Header("Location", JobJson.path(job.token()))),
              ContentType.JSON.value(),
              body);
        });
  }

  private void delete(Exchange exchange) {
    if (!jobs.delete(viewer(exchange), exchange.request().variable("token"))) {
      throw noJob();
    }
    exchange.answer().send(204);
  }

  private void file(Exchange exchange) throws IOException {
    JobViewer viewer = viewer(exchange);
    String token = exchange.request().variable("token");
    int number = exchange.request().intVariable("n");
    JobRecord job = jobs.find(viewer, token).orElseThrow(JobRoutes::noJob);
    if (!job.owner().equals(viewer.user())) {
      throw noJob();
    }
    StoredAnswer answer = job.answer();
    JobFile answerFile = job.answerFile();
    if (answer != null && answerFile != null && number == 1) {
      sendAnswer(exchange, answer, answerFile);
      return;
    }
    Optional<FileHold> file = jobs.openFile(viewer, token, number);
    if (file.isEmpty()) {
      throw noFile(job);
    }
    try (FileHold hold = file.get()) {
      new FileAnswer(exchange, hold).send();
    }
  }

  private static Problem noFile(JobRecord job) {
    Problem gone = JobJson.gone(job);
    return gone == null ? Problem.notFound("the job has no such file").withJob(job.token()) : gone;
  }

  private static void sendAnswer(Exchange exchange, StoredAnswer answer, JobFile file) {
    exchange
        .answer()
        .header("ETag", FileAnswer.tag(file))
        .header("Cache-Control", "private, no-cache")
        .header("Repr-Digest", FileAnswer.digest(file.digest()));
    @Nullable String noneMatch = exchange.request().header("If-None-Match");
    if (noneMatch != null && EntityTags.contains(noneMatch, FileAnswer.tag(file), true)) {
      exchange.answer().send(304);
      return;
    }
    exchange.answer().send(200, ContentType.of(answer.mediaType()), answer.body());
  }
}

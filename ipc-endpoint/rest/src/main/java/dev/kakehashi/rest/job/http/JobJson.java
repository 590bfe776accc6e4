package dev.kakehashi.rest.job.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.kakehashi.rest.job.JobFailure;
import dev.kakehashi.rest.job.JobFile;
import dev.kakehashi.rest.job.JobRecord;
import dev.kakehashi.rest.job.JobRefusal;
import dev.kakehashi.rest.job.JobSettings;
import dev.kakehashi.rest.job.JobState;
import dev.kakehashi.rest.job.JobViewer;
import dev.kakehashi.rest.job.Jobs;
import dev.kakehashi.rest.problem.Problem;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Jobs as JSON. Thread-safe.
public final class JobJson {
  private static final JsonFactory JSON = new JsonFactory();

  private final long retentionMillis;

  JobJson(JobSettings settings) {
    this.retentionMillis = settings.retention().toMillis();
  }

  /// The address of a job.
  public static String path(String token) {
    return "/v1/jobs/" + token;
  }

  byte[] one(JobRecord job, boolean isOwner) {
    return bytes(json -> write(json, job, isOwner));
  }

  byte[] page(Jobs.Page page, JobViewer viewer) {
    return bytes(json -> {
      json.writeStartObject();
      json.writeArrayFieldStart("jobs");
      for (JobRecord job : page.jobs()) {
        write(json, job, job.owner().equals(viewer.user()));
      }
      json.writeEndArray();
      if (page.next() != null) {
        json.writeStringField("next", page.next());
      }
      json.writeEndObject();
    });
  }

  private void write(JsonGenerator json, JobRecord job, boolean isOwner) throws IOException {
    json.writeStartObject();
    json.writeStringField("token", job.token());
    json.writeStringField("user", job.owner());
    json.writeStringField("state", job.state().text());
    json.writeStringField("statement", job.text());
    time(json, "created", job.createdMillis());
    time(json, "started", job.startedMillis());
    time(json, "ended", job.endedMillis());
    if (job.state().isEnded()) {
      time(json, "expires", job.readMillis() + retentionMillis);
    }
    json.writeObjectFieldStart("progress");
    json.writeNumberField("rowsScanned", job.rowsScanned());
    rows(json, job.rows());
    json.writeNumberField("bytes", job.bytes());
    json.writeEndObject();
    if (job.state() == JobState.SUCCEEDED) {
      rows(json, job.rows());
      json.writeStringField("result", job.result().text());
    }
    if (isOwner) {
      writeOwn(json, job);
    }
    json.writeEndObject();
  }

  /// Members that its owner alone sees.
  private static void writeOwn(JsonGenerator json, JobRecord job) throws IOException {
    if (!job.transaction().isEmpty()) {
      json.writeStringField("transaction", job.transaction());
    }
    json.writeArrayFieldStart("files");
    int number = 1;
    for (JobFile file : job.files()) {
      write(json, job, number++, file);
    }
    JobFile answer = job.answerFile();
    if (answer != null) {
      write(json, job, 1, answer);
    }
    json.writeEndArray();
    JobFailure failure = job.failure();
    if (failure != null) {
      json.writeFieldName("problem");
      problem(failure).write(json);
    }
  }

  private static void write(JsonGenerator json, JobRecord job, int number, JobFile file)
      throws IOException {
    json.writeStartObject();
    json.writeStringField("href", path(job.token()) + "/files/" + number);
    json.writeStringField("name", file.name());
    json.writeStringField("mediaType", file.mediaType());
    if (!file.coding().isEmpty()) {
      json.writeStringField("contentCoding", file.coding());
    }
    rows(json, file.rows());
    json.writeNumberField("bytes", file.bytes());
    json.writeStringField("sha256", file.sha256());
    json.writeEndObject();
  }

  /// @param rows less than 0: they are not known, or it is something else
  private static void rows(JsonGenerator json, long rows) throws IOException {
    if (rows < 0) {
      json.writeNullField("rows");
    } else {
      json.writeNumberField("rows", rows);
    }
  }

  private static void time(JsonGenerator json, String name, long millis) throws IOException {
    if (millis != 0) {
      json.writeStringField(
          name, Instant.ofEpochMilli(millis).truncatedTo(ChronoUnit.MILLIS).toString());
    }
  }

  private interface Content {
    void write(JsonGenerator json) throws IOException;
  }

  private static byte[] bytes(Content content) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(1024);
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      content.write(json);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a byte array does not fail
    }
    return bytes.toByteArray();
  }

  /// The problem of a job that has failed.
  public static Problem problem(JobFailure failure) {
    if (failure.isInternal()) {
      // It is in the log once, from when it happened.
      return Problem.of(500, "internal-error", "Internal error", failure.message())
          .withSqlstate(failure.code());
    }
    return Problem.of(failure.toException());
  }

  /// The problem of who wants a result that is there no longer; null: it is there, or there was none.
  public static @Nullable Problem gone(JobRecord job) {
    return switch (job.result()) {
      case EXPIRED ->
          Problem.of(
                  410,
                  "result-expired",
                  "Result expired",
                  "the job has taken effect, and its result is kept no longer")
              .withJob(job.token());
      case LOST ->
          Problem.of(
                  410,
                  "result-lost",
                  "Result lost",
                  "the job has taken effect, but its result could not be kept")
              .withJob(job.token());
      case NONE, AVAILABLE -> null;
    };
  }

  /// The problem of a request that is refused by the rules of jobs.
  static Problem problem(JobRefusal refusal, @Nullable String job) {
    int status =
        switch (refusal.reason()) {
          case TOO_MANY_JOBS, TOO_MANY_KEYS -> 429;
          case OTHER_REQUEST -> 422;
          case IN_PROGRESS, OUTCOME_UNKNOWN -> 409;
          case JOB_GONE -> 410;
        };
    String name = refusal.reason().name().toLowerCase(Locale.ROOT).replace('_', '-');
    String title = Character.toUpperCase(name.charAt(0)) + name.substring(1).replace('-', ' ');
    Problem problem =
        Problem.of(status, name, title, String.valueOf(refusal.getMessage()))
            .withRetryable(refusal.retryAfterSeconds() > 0);
    if (refusal.retryAfterSeconds() > 0) {
      problem.withHeader("Retry-After", Long.toString(refusal.retryAfterSeconds()));
    }
    if (job != null) {
      problem.withJob(job);
    }
    return problem;
  }
}

package dev.kakehashi.rest.problem;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Locale;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// A failure as the client sees it: the problem of RFC 9457 with PostgreSQL's fields. Thrown by what handles a request, and kept by jobs.
///
/// Carries no stack trace: it is a result, and no stack leaves the process. Not thread-safe while it is being filled.
public final class Problem extends RuntimeException {
  /// As which it is sent.
  public static final String CONTENT_TYPE = "application/problem+json";

  private static final long serialVersionUID = 1L;

  /// Prefix of the types of this API: a name that stays, and that nobody has to fetch.
  private static final String TYPE_PREFIX = "tag:kakehashi.dev,2026:";

  private static final String NO_TYPE = "about:blank";
  private static final JsonFactory JSON = new JsonFactory();

  private final int status;
  private final String type;
  private final String title;
  private final ArrayList<Header> headers = new ArrayList<>(0);
  private String sqlstate = "";
  private String sqlDetail = "";
  private String hint = "";
  private String schema = "";
  private String table = "";
  private String column = "";
  private String constraint = "";
  private String transaction = "";
  private String job = "";
  private String pointer = "";
  private String id = "";
  private int position;
  private boolean retryable;

  /// A field that the answer carries besides its body.
  private record Header(String name, String value) implements Serializable {}

  private Problem(int status, String type, String title, String detail) {
    super(detail, null, false, false);
    this.status = status;
    this.type = type;
    this.title = title;
  }

  /// A failure of HTTP's side.
  ///
  /// @param name of the kind, as `unknown-parameter`: stays the same, for programs; empty: the status says it all
  /// @param title of the kind, for people
  /// @param detail of this one case
  public static Problem of(int status, String name, String title, String detail) {
    return new Problem(status, name.isEmpty() ? NO_TYPE : TYPE_PREFIX + name, title, detail);
  }

  /// 400: the request is not one.
  public static Problem badRequest(String detail) {
    return of(400, "bad-request", "Bad request", detail);
  }

  /// 404: the same for what does not exist and what belongs to others.
  public static Problem notFound(String detail) {
    return of(404, "not-found", "Not found", detail);
  }

  /// 400: a name that nobody knows, with the nearest that is known.
  ///
  /// @param what it names, as `query parameter`
  public static Problem unknownName(String what, String name, Iterable<String> known) {
    Problem problem =
        of(400, "unknown-name", "Unknown name", "unknown " + what + " \"" + clipped(name) + "\"");
    @Nullable String nearest = NearestName.of(name, known);
    if (nearest != null) {
      problem.withHint("Perhaps you meant \"" + nearest + "\".");
    }
    return problem;
  }

  /// A failure of the engine. One of INTERNAL_ERROR tells only its id, see [Problems#internal].
  public static Problem of(EngineException failure) {
    ErrorCode code = failure.code();
    if (code.category() == ErrorCode.Category.INTERNAL && code != ErrorCode.IO_ERROR) {
      return Problems.internal(failure).withSqlstate(code);
    }
    Problem problem =
        new Problem(
            ErrorStatus.of(failure), TYPE_PREFIX + kebab(code), words(code), message(failure));
    problem.withSqlstate(code);
    problem.sqlstate = failure.sqlstate();
    problem.sqlDetail = failure.detail();
    problem.hint = failure.hint();
    problem.schema = failure.schemaName();
    problem.table = failure.tableName();
    problem.column = failure.columnName();
    problem.constraint = failure.constraintName();
    problem.position = failure.position();
    if (problem.status == 503) {
      problem.withHeader("Retry-After", "1");
    }
    return problem;
  }

  /// A statement that was canceled because its time was over: 504, where a cancel by somebody is 409.
  public static Problem timeout(EngineException failure) {
    Problem source = of(failure);
    Problem problem = new Problem(504, source.type, source.title, message(failure));
    problem.withSqlstate(failure.code());
    problem.sqlstate = failure.sqlstate();
    problem.hint = failure.hint();
    return problem;
  }

  /// An exception of an application that has no SQLSTATE of its own: 500, because the request is not to blame.
  public static Problem unhandled(EngineException failure) {
    Problem source = of(failure);
    Problem problem = new Problem(500, source.type, source.title, message(failure));
    problem.withSqlstate(failure.code());
    problem.sqlstate = failure.sqlstate();
    return problem;
  }

  public Problem withSqlstate(ErrorCode code) {
    sqlstate = code.sqlstate();
    retryable = code.retryable();
    return this;
  }

  public Problem withHint(String hint) {
    this.hint = hint;
    return this;
  }

  /// The transaction's external handle.
  public Problem withTransaction(String transaction) {
    this.transaction = transaction;
    return this;
  }

  /// The job's token.
  public Problem withJob(String job) {
    this.job = job;
    return this;
  }

  /// Where in the JSON body (RFC 6901).
  public Problem withPointer(String pointer) {
    this.pointer = pointer;
    return this;
  }

  /// Whether the same request may succeed when it is repeated.
  public Problem withRetryable(boolean retryable) {
    this.retryable = retryable;
    return this;
  }

  Problem withId(String id) {
    this.id = id;
    return this;
  }

  /// A field of the answer, as `Retry-After` or `Allow`.
  public Problem withHeader(String name, String value) {
    headers.add(new Header(name, value));
    return this;
  }

  public int status() {
    return status;
  }

  public String title() {
    return title;
  }

  /// Detail of this case, for people.
  public String detail() {
    return String.valueOf(getMessage());
  }

  /// Five characters; empty: it is not the engine's.
  public String sqlstate() {
    return sqlstate;
  }

  public boolean retryable() {
    return retryable;
  }

  /// The fields that the answer carries besides its body, in the order they were given.
  public void forEachHeader(BiConsumer<String, String> consumer) {
    for (Header header : headers) {
      consumer.accept(header.name(), header.value());
    }
  }

  /// The body: UTF-8 JSON, some hundred bytes.
  public byte[] toJson() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      write(json);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /// Writes it as one object, as into the description of a job. Members without a value are left out.
  public void write(JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("type", type);
    json.writeStringField("title", title);
    json.writeNumberField("status", status);
    json.writeStringField("detail", detail());
    text(json, "id", id);
    text(json, "sqlstate", sqlstate);
    text(json, "sqlDetail", sqlDetail);
    text(json, "hint", hint);
    text(json, "schema", schema);
    text(json, "table", table);
    text(json, "column", column);
    text(json, "constraint", constraint);
    text(json, "pointer", pointer);
    text(json, "transaction", transaction);
    text(json, "job", job);
    if (position > 0) {
      json.writeNumberField("position", position);
    }
    json.writeBooleanField("retryable", retryable);
    json.writeEndObject();
  }

  private static void text(JsonGenerator json, String name, String value) throws IOException {
    if (!value.isEmpty()) {
      json.writeStringField(name, value);
    }
  }

  private static String message(EngineException failure) {
    return String.valueOf(failure.getMessage());
  }

  private static String kebab(ErrorCode code) {
    return code.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static String words(ErrorCode code) {
    String lower = code.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    return Character.toUpperCase(lower.charAt(0)) + lower.substring(1);
  }

  /// Text that a client has sent, short enough to be sent back.
  private static String clipped(String text) {
    return text.length() <= 100 ? text : text.substring(0, 100) + "…";
  }
}

package dev.kakehashi.rest.sql;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.JsonParameters;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.rest.json.StrictJson;
import dev.kakehashi.rest.json.Utf8Text;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.ExchangeRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A statement as it was sent: as text, with options in the query; or as a JSON object.
///
/// | member, or query parameter | |
/// |---|---|
/// | `sql` | the statement, in the body |
/// | `parameters` | JSON alone: array of the values of $1, $2, … |
/// | `parameterRows` | JSON alone: array of such arrays; the statement runs once for each, atomically |
/// | `timeout`, `lockTimeout` | milliseconds; 0: none, and the endpoint's |
public final class SqlRequest {
  /// Query parameters of routes that take a statement.
  static final String[] QUERY = {"timeout", "lockTimeout"};

  private static final List<String> MEMBERS =
      List.of("sql", "parameters", "parameterRows", "timeout", "lockTimeout");
  private static final long MAX_MILLIS = TimeUnit.DAYS.toMillis(31);
  private static final JsonFactory JSON = new JsonFactory();

  private final byte[] body;
  private String sql = "";
  private @Nullable String keptAs;
  private long timeoutNanos;
  private long lockTimeoutNanos;

  // Where the parameters are in the body; both 0: there are none. They are read when their types
  // are known.
  private int parametersFrom;
  private int parametersTo;
  private boolean isMany;
  private String member = ""; // of the client's body that has them, as a JSON pointer
  private String badParameter = "";
  private @Nullable Problem withoutRows;
  private @Nullable String givenBackBy;
  private boolean objects;
  private boolean isOfCode;
  private int status = 200;
  private int statusWithoutRows = 200;

  private SqlRequest(byte[] body) {
    this.body = body;
  }

  /// A statement of our own with text parameters.
  static SqlRequest of(String sql, String... parameters) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(128);
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      json.writeArray(parameters, 0, parameters.length);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a byte array does not fail
    }
    SqlRequest request = new SqlRequest(bytes.toByteArray());
    request.sql = sql;
    request.parametersTo = bytes.size();
    return request;
  }

  /// Refuses a text that is too long, or no text of the engine.
  ///
  /// @throws Problem 413, 422
  SqlRequest checked(SqlLimits limits) {
    check(limits);
    return this;
  }

  /// A statement of another module's with parameters.
  ///
  /// @param parameters JSON: an array of values; of `many` rows an array of such arrays
  public static SqlRequest of(String sql, byte[] parameters, boolean many) {
    SqlRequest request = new SqlRequest(parameters);
    request.sql = sql;
    request.parametersTo = parameters.length;
    request.isMany = many;
    return request;
  }

  /// Rows are JSON objects unless the client asks for something else.
  public SqlRequest asObjects() {
    objects = true;
    return this;
  }

  /// Statuses of answers with rows and without; 204 has no body.
  public SqlRequest withStatus(int withRows, int withoutThem) {
    status = withRows;
    statusWithoutRows = withoutThem;
    return this;
  }

  /// It runs code of an application: an exception without an SQLSTATE of its own is the application's fault, not the client's.
  public SqlRequest ofCode() {
    isOfCode = true;
    return this;
  }

  boolean isOfCode() {
    return isOfCode;
  }

  /// The prepared statement is kept for the next request that says the same, though its text alone may come to mean something else.
  ///
  /// @param name of all that it depends on
  public SqlRequest keptAs(String name) {
    keptAs = name;
    return this;
  }

  /// By what its prepared statement is found; null: by its text.
  @Nullable String keptAs() {
    return keptAs;
  }

  /// Each row is the client's as soon as the statement has ended: if the answer does not reach him, it is given back.
  ///
  /// @param sql a statement that gives one back; $1 is the text of the row's first column
  public SqlRequest givenBackBy(String sql) {
    givenBackBy = sql;
    return this;
  }

  /// Statement that gives back a row that has not reached the client; null: none does.
  @Nullable String givenBackBy() {
    return givenBackBy;
  }

  boolean isObjects() {
    return objects;
  }

  int status(boolean hasRows) {
    return hasRows ? status : statusWithoutRows;
  }

  /// An answer without rows is this problem.
  public SqlRequest requireRows(Problem otherwise) {
    withoutRows = otherwise;
    return this;
  }

  /// Problem that an answer without rows is; null: it is an answer.
  @Nullable Problem withoutRows() {
    return withoutRows;
  }

  /// Memory that it takes, in bytes.
  long heldBytes() {
    return body.length + 2L * sql.length();
  }

  /// Reads a request.
  ///
  /// @param body empty: there is no statement
  /// @throws Problem 400, 413, 422
  static SqlRequest parse(ExchangeRequest asked, byte[] body, SqlLimits limits) {
    SqlRequest request = new SqlRequest(body);
    request.timeoutNanos = millis(asked.parameter("timeout", 0, 0, MAX_MILLIS));
    request.lockTimeoutNanos = millis(asked.parameter("lockTimeout", 0, 0, MAX_MILLIS));
    if (body.length > 0) {
      if (asked.contentType().equals("application/json")) {
        StrictJson.read(
            body,
            json -> {
              request.read(json);
              return request;
            });
      } else {
        Utf8Text.check(body);
        request.sql = new String(body, StandardCharsets.UTF_8);
      }
    }
    request.check(limits);
    return request;
  }

  private static long millis(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private void read(StrictJson json) throws IOException {
    json.object(
        MEMBERS,
        name -> {
          switch (name) {
            case "sql" -> sql = json.text();
            case "parameters" -> parameters(json, false);
            case "parameterRows" -> parameters(json, true);
            case "timeout" -> timeoutNanos = millis(json.number(0, MAX_MILLIS));
            default -> lockTimeoutNanos = millis(json.number(0, MAX_MILLIS));
          }
        });
  }

  private void parameters(StrictJson json, boolean many) throws IOException {
    if (parametersTo > 0) {
      throw Problem.badRequest("there are both \"parameters\" and \"parameterRows\"")
          .withPointer(json.pointer());
    }
    JsonParser parser = json.parser();
    if (!parser.isExpectedStartArrayToken()) {
      throw json.wrong("an array");
    }
    isMany = many;
    parametersFrom = (int) parser.currentTokenLocation().getByteOffset();
    member = json.pointer();
    if (many && parser.nextToken() == JsonToken.END_ARRAY) {
      throw Problem.badRequest("\"parameterRows\" has no row: the statement would not run")
          .withPointer(member);
    }
    while (many && parser.currentToken() != JsonToken.END_ARRAY) {
      parser.skipChildren();
      parser.nextToken();
    }
    parser.skipChildren();
    parametersTo = (int) parser.currentLocation().getByteOffset();
  }

  private void check(SqlLimits limits) {
    // As long as its bytes, or a half or third of them.
    if (sql.length() > limits.statementBytes()
        || (sql.length() > limits.statementBytes() / 3
            && sql.getBytes(StandardCharsets.UTF_8).length > limits.statementBytes())) {
      throw Problem.of(
          413,
          "statement-too-long",
          "Statement too long",
          "a statement has at most " + limits.statementBytes() + " bytes");
    }
    if (sql.indexOf('\0') >= 0) {
      throw new EngineException(
          ErrorCode.CHARACTER_NOT_IN_REPERTOIRE,
          "invalid byte sequence for encoding \"UTF8\": 0x00");
    }
  }

  String sql() {
    return sql;
  }

  /// Where in the client's body the parameter is that [#parameters] has refused, as a JSON pointer; empty: it has refused none, or none of
  /// the client's.
  String badParameter() {
    return badParameter;
  }

  boolean hasStatement() {
    return !sql.isBlank();
  }

  long timeoutNanos() {
    return timeoutNanos;
  }

  /// @throws Problem 400: there is no statement
  void requireStatement() {
    if (!hasStatement()) {
      throw Problem.badRequest("the request has no statement (\"sql\")");
    }
  }

  ExecuteOptions options() {
    return ExecuteOptions.of(true, timeoutNanos, 0, lockTimeoutNanos);
  }

  /// The parameters, checked for the types of the statement.
  ///
  /// @throws EngineException as [JsonParameters]
  ParameterBatch parameters(int[] typeOids, SqlLimits limits) {
    if (parametersTo == 0) {
      if (typeOids.length > 0) {
        throw new EngineException(
            ErrorCode.UNDEFINED_PARAMETER,
            "statement has " + typeOids.length + " parameters, none were given");
      }
      return ParameterBatch.NONE;
    }
    var bounds = new JsonParameters.Limits(limits.parameterRows(), limits.parameterBytes());
    try (JsonParser parser =
        JSON.createParser(body, parametersFrom, parametersTo - parametersFrom)) {
      parser.nextToken();
      try {
        return isMany
            ? JsonParameters.rows(parser, typeOids, bounds)
            : JsonParameters.row(parser, typeOids, bounds);
      } catch (EngineException e) {
        badParameter = member.isEmpty() ? "" : member + parser.getParsingContext().pathAsPointer();
        throw e;
      }
    } catch (IOException e) {
      // It is in memory, and was read once already.
      throw new UncheckedIOException(e);
    }
  }
}

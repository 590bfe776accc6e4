package dev.kakehashi.rest.application;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.rest.header.TransactionHeader;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.ExchangeRequest;
import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.sql.SqlRequest;
import dev.kakehashi.rest.sql.SqlRoutes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// `/v1/applications`: native applications are deployed and looked at. Thread-safe.
///
/// Each request is a statement, in the transaction that it names; the engine looks whether the user may.
public final class DeployRoutes {
  /// As long as a jar and its form in a statement fit into the limits of statements.
  private static final long MAX_JAR = 24L << 20;

  private static final JsonFactory JSON = new JsonFactory();
  private static final String ALL = "/v1/applications";
  private static final String ONE = ALL + "/{application}";
  private static final Pattern FILE = Pattern.compile("[\\w .+@-]{1,128}");
  private static final String[] OPTIONS = {
    "time_limit",
    "max_rows",
    "max_bytes",
    "max_calls",
    "max_waiting",
    "max_stack",
    "memory",
    "function_time_limit",
    "isolation"
  };

  private final Supplier<List<ApplicationDefinition>> applications;
  private final SqlRoutes statements;

  /// @param applications those that are committed; must not block
  public DeployRoutes(Supplier<List<ApplicationDefinition>> applications, SqlRoutes statements) {
    this.applications = applications;
    this.statements = statements;
  }

  public List<Route> routes() {
    return List.of(
        Route.get(ALL).handleDirectly((exchange, body) -> list(exchange)),
        Route.get(ONE).handleDirectly((exchange, body) -> describe(exchange)),
        Route.of("PUT", ONE)
            .accepts("application/java-archive", "application/octet-stream")
            .maxBody(MAX_JAR)
            .parameters("file")
            .parameters(OPTIONS)
            .handleDirectly(this::deploy),
        Route.delete(ONE).parameters("cascade").handleDirectly(this::drop),
        Route.get(ONE + "/versions").handleDirectly((exchange, body) -> versions(exchange)),
        Route.post(ONE + "/versions/{version:int}/use").handleDirectly(this::use),
        Route.get(ONE + "/log")
            .handleDirectly((exchange, body) -> done(exchange, "application_log")),
        Route.get(ONE + "/errors")
            .handleDirectly((exchange, body) -> done(exchange, "application_errors")));
  }

  /// An application as a path names it: `name`, or `schema.name`, as the catalogue spells them.
  private record Name(String schema, String name) {
    static Name of(ExchangeRequest request) {
      String text = request.variable("application");
      int dot = text.indexOf('.');
      String schema = dot < 0 ? "public" : text.substring(0, dot);
      String name = text.substring(dot + 1);
      if (schema.isEmpty() || name.isEmpty()) {
        throw Problem.badRequest(
            "\"" + text + "\" is no application: write application or schema.application");
      }
      return new Name(schema, name);
    }

    String sql() {
      return quoted(schema) + "." + quoted(name);
    }

    private static String quoted(String part) {
      return "\"" + part.replace("\"", "\"\"") + "\"";
    }

    Problem missing() {
      return Problem.notFound("application \"" + schema + "." + name + "\" does not exist");
    }
  }

  private void list(Exchange exchange) {
    query(exchange, "SELECT * FROM kakehashi_catalog.applications ORDER BY 1, 2", null);
  }

  private void describe(Exchange exchange) {
    Name name = Name.of(exchange.request());
    query(
        exchange,
        "SELECT * FROM kakehashi_catalog.applications"
            + " WHERE application_schema = $1::text AND application_name = $2::text",
        name);
  }

  private void versions(Exchange exchange) {
    Name name = Name.of(exchange.request());
    query(
        exchange,
        "SELECT * FROM kakehashi_catalog.application_versions"
            + " WHERE application_schema = $1::text AND application_name = $2::text ORDER BY version",
        name);
  }

  /// Log of an application, or its failed calls; the newest last. Nothing of others' applications.
  private void done(Exchange exchange, String table) {
    Name name = Name.of(exchange.request());
    statements.answerAlone(
        exchange,
        SqlRequest.of(
                "SELECT * FROM kakehashi_catalog."
                    + table
                    + " WHERE application_name = $1::text ORDER BY 1",
                row(name.schema + "." + name.name),
                false)
            .asObjects());
  }

  private void query(Exchange exchange, String sql, @Nullable Name name) {
    SqlRequest request =
        SqlRequest.of(sql, name == null ? row() : row(name.schema, name.name), false).asObjects();
    statements.answerAlone(exchange, name == null ? request : request.requireRows(name.missing()));
  }

  private void deploy(Exchange exchange, byte[] body) {
    Name name = Name.of(exchange.request());
    if (body.length == 0) {
      throw Problem.badRequest("the body is the application's jar");
    }
    boolean exists = exists(name);
    String file = exchange.request().parameter("file");
    if (file != null && !FILE.matcher(file).matches()) {
      throw Problem.badRequest("\"file\" is the name of a file, without a directory");
    }
    StringBuilder sql =
        new StringBuilder(exists ? "ALTER APPLICATION " : "CREATE APPLICATION ")
            .append(name.sql())
            .append(" FROM $1 AS ")
            .append(text(file == null ? name.name + ".jar" : file));
    String separator = " WITH (";
    for (String option : OPTIONS) {
      String value = exchange.request().parameter(option);
      if (value != null) {
        sql.append(separator).append(option).append(" = ").append(text(value));
        separator = ", ";
      }
    }
    if (!separator.equals(" WITH (")) {
      sql.append(')');
    }
    int status = exists ? 200 : 201;
    SqlRequest request =
        SqlRequest.of(sql.toString(), row("\\x" + HexFormat.of().formatHex(body)), false)
            .withStatus(status, status);
    if (!exists) {
      exchange.answer().header("Location", exchange.request().path());
    }
    statements.answer(exchange, body, request, exchange.request().transaction());
  }

  private void drop(Exchange exchange, byte[] body) {
    change(
        exchange,
        body,
        "DROP APPLICATION "
            + Name.of(exchange.request()).sql()
            + (exchange.request().parameter("cascade", false) ? " CASCADE" : ""));
  }

  private void use(Exchange exchange, byte[] body) {
    change(
        exchange,
        body,
        "ALTER APPLICATION "
            + Name.of(exchange.request()).sql()
            + " VERSION "
            + exchange.request().intVariable("version"));
  }

  private boolean exists(Name name) {
    return applications.get().stream()
        .anyMatch(each -> each.schema().equals(name.schema) && each.name().equals(name.name));
  }

  private void change(Exchange exchange, byte[] body, String sql) {
    if (exchange.request().transaction().verb() == TransactionHeader.Verb.AUTO
        && !exists(Name.of(exchange.request()))) {
      throw Name.of(exchange.request()).missing();
    }
    statements.answer(
        exchange,
        body,
        SqlRequest.of(sql, row(), false).withStatus(204, 204),
        exchange.request().transaction());
  }

  private static String text(String value) {
    return "'" + value.replace("'", "''") + "'";
  }

  /// One row of parameters.
  private static byte[] row(String... values) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(128);
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      json.writeStartArray();
      for (String value : values) {
        json.writeString(value);
      }
      json.writeEndArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a byte array does not fail
    }
    return bytes.toByteArray();
  }
}

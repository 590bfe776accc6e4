package dev.kakehashi.benchmarks.rest;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.jspecify.annotations.Nullable;

/// Service that a team would write to have SQL over HTTP: Jetty with virtual threads, HikariCP, PgJDBC. It answers in the JSON of the HTTP
/// door.
///
/// `POST /v1/sql` and, for results that do not fit into memory, `POST /v1/export`, with `{"sql":…,"parameters":[…]}`; placeholders are
/// JDBC's. A bearer token is asked for, as the door does.
final class PeerService extends Handler.Abstract {
  private static final int POOL_SIZE = 8;
  private static final int FETCHED_ROWS = 10_000;
  private static final int BUFFER_BYTES = 1 << 16;

  /// Statement of a request, and its parameters.
  private record Query(String sql, List<@Nullable Object> parameters) {}

  private final JsonFactory json = new JsonFactory();
  private final HikariDataSource pool;
  private final String authorization;

  private PeerService(HikariDataSource pool, String token) {
    this.pool = pool;
    this.authorization = "Bearer " + token;
  }

  /// Arguments: JDBC URL, user, token, file that gets the port. The password is in PGPASSWORD.
  public static void main(String[] arguments) throws Exception {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(arguments[0]);
    config.setUsername(arguments[1]);
    config.setPassword(System.getenv("PGPASSWORD"));
    config.setMaximumPoolSize(POOL_SIZE);
    config.setMinimumIdle(POOL_SIZE);
    QueuedThreadPool threads = new QueuedThreadPool();
    threads.setVirtualThreadsExecutor(VirtualThreads.getDefaultVirtualThreadsExecutor());
    Server server = new Server(threads);
    HttpConfiguration http = new HttpConfiguration();
    http.setSendServerVersion(false);
    ServerConnector connector = new ServerConnector(server, new HttpConnectionFactory(http));
    connector.setHost("127.0.0.1");
    server.addConnector(connector);
    server.setHandler(new PeerService(new HikariDataSource(config), arguments[2]));
    server.start();
    Path port = Path.of(arguments[3]);
    Path written = Path.of(arguments[3] + ".new");
    Files.writeString(written, Integer.toString(connector.getLocalPort()));
    Files.move(written, port);
    server.join();
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) throws Exception {
    if (!authorization.equals(request.getHeaders().get(HttpHeader.AUTHORIZATION))) {
      response.setStatus(401);
      callback.succeeded();
      return true;
    }
    Query query;
    try (InputStream body = Content.Source.asInputStream(request)) {
      query = read(body);
    }
    response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
    try {
      if (Request.getPathInContext(request).equals("/v1/export")) {
        try (OutputStream out = Content.Sink.asOutputStream(response)) {
          export(query, out);
        }
        callback.succeeded();
      } else {
        ByteArrayOutputStream out = new ByteArrayOutputStream(1 << 10);
        answer(query, out);
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, out.size());
        response.write(true, ByteBuffer.wrap(out.toByteArray()), callback);
      }
    } catch (SQLException e) {
      Response.writeError(request, response, callback, 500, e.getMessage());
    }
    return true;
  }

  private Query read(InputStream body) throws IOException {
    String sql = "";
    List<@Nullable Object> parameters = new ArrayList<>();
    try (JsonParser parser = json.createParser(body)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        if (parser.currentName().equals("sql")) {
          sql = parser.nextTextValue();
          continue;
        }
        parser.nextToken();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          parameters.add(
              switch (parser.currentToken()) {
                case VALUE_NUMBER_INT -> parser.getLongValue();
                case VALUE_NULL -> null;
                default -> parser.getText();
              });
        }
      }
    }
    return new Query(sql, parameters);
  }

  private void answer(Query query, OutputStream out) throws SQLException, IOException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = prepare(connection, query)) {
      run(statement, out);
    }
  }

  private void export(Query query, OutputStream out) throws SQLException, IOException {
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      try (PreparedStatement statement = prepare(connection, query)) {
        statement.setFetchSize(FETCHED_ROWS);
        run(statement, new java.io.BufferedOutputStream(out, BUFFER_BYTES));
        connection.commit();
      } finally {
        connection.rollback();
      }
    }
  }

  private static PreparedStatement prepare(Connection connection, Query query) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(query.sql);
    for (int i = 0; i < query.parameters.size(); i++) {
      statement.setObject(i + 1, query.parameters.get(i));
    }
    return statement;
  }

  private void run(PreparedStatement statement, OutputStream out) throws SQLException, IOException {
    boolean hasRows = statement.execute();
    try (JsonGenerator generator = json.createGenerator(out)) {
      generator.writeStartObject();
      long count = statement.getUpdateCount();
      generator.writeArrayFieldStart("columns");
      if (hasRows) {
        try (ResultSet rows = statement.getResultSet()) {
          count = rows(rows, generator);
        }
      } else {
        generator.writeEndArray();
        generator.writeArrayFieldStart("rows");
      }
      generator.writeEndArray();
      generator.writeNumberField("rowCount", count);
      generator.writeEndObject();
    }
  }

  private static long rows(ResultSet rows, JsonGenerator generator)
      throws SQLException, IOException {
    ResultSetMetaData description = rows.getMetaData();
    int columns = description.getColumnCount();
    int[] types = new int[columns];
    for (int i = 0; i < columns; i++) {
      types[i] = description.getColumnType(i + 1);
      generator.writeStartObject();
      generator.writeStringField("name", description.getColumnLabel(i + 1));
      generator.writeStringField("type", description.getColumnTypeName(i + 1));
      generator.writeEndObject();
    }
    generator.writeEndArray();
    generator.writeArrayFieldStart("rows");
    long count = 0;
    while (rows.next()) {
      generator.writeStartArray();
      for (int i = 0; i < columns; i++) {
        if (types[i] == Types.INTEGER) {
          int value = rows.getInt(i + 1);
          if (rows.wasNull()) {
            generator.writeNull();
          } else {
            generator.writeNumber(value);
          }
        } else {
          generator.writeString(rows.getString(i + 1));
        }
      }
      generator.writeEndArray();
      count++;
    }
    return count;
  }
}

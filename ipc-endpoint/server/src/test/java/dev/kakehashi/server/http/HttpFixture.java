package dev.kakehashi.server.http;

import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.server.HttpEndpoint;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;

/// An endpoint with the users alice and bob, and connections that end with it. One thread.
final class HttpFixture implements AutoCloseable {
  /// A statement that runs until it is told to end.
  static final String ENDLESS =
      "with recursive n(i) as (values (1::int8) union all select i + 1 from n) select max(i) from n";

  static final String BOB = HttpConnection.basic("bob", "builder");

  private final HttpEndpoint endpoint;
  private final ArrayDeque<Closeable> opened = new ArrayDeque<>();

  private HttpFixture(HttpEndpoint endpoint) throws IOException {
    this.endpoint = endpoint;
    endpoint.user("alice", "wonder");
    endpoint.user("bob", "builder");
  }

  /// @param settings pairs of key and value
  static HttpFixture start(String... settings) throws IOException {
    return new HttpFixture(HttpEndpoint.start(settings));
  }

  HttpEndpoint endpoint() {
    return endpoint;
  }

  /// A connection of alice.
  HttpConnection alice() throws IOException {
    return connect(HttpConnection.ALICE);
  }

  HttpConnection bob() throws IOException {
    return connect(BOB);
  }

  HttpConnection connect(String authorization) throws IOException {
    HttpConnection connection = HttpConnection.open(endpoint.uri(), authorization);
    opened.push(connection::close);
    return connection;
  }

  /// A client of shared memory with the name of a user.
  Session attach(String user) {
    Session session = endpoint.attach(user);
    opened.push(session::close);
    return session;
  }

  /// Makes a table `t (id, v)` with rows from 1 on.
  void table(int rows) throws IOException {
    try (HttpConnection connection = HttpConnection.open(endpoint.uri(), HttpConnection.ALICE)) {
      connection.sql("create table t (id int8 primary key, v text)").expect(200);
      connection
          .sql("insert into t select i, 'v' || i from generate_series(1, " + rows + ") i")
          .expect(200);
    }
  }

  /// Statements with a mark in their text that run now.
  static long running(Session watcher, String mark) {
    try (PreparedStatement query =
            watcher.prepare(
                "select count(*) from kakehashi_catalog.sessions where state <> 'idle' and statement like '%"
                    + mark
                    + "%' and statement not like '%kakehashi_catalog%'");
        Rows rows = watcher.query(query)) {
      return rows.next() ? rows.getLong(0) : 0;
    }
  }

  @Override
  public void close() throws IOException {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
    endpoint.close();
  }
}

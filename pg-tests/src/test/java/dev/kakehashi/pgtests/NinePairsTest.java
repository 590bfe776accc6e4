package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.HttpClientCommand;
import dev.kakehashi.pgtests.harness.JavaSession;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.Workspace;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// A transaction that PostgreSQL, a Java program or HTTP has begun is continued by each of the three, of the same user, and ended by either
/// side.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class NinePairsTest {
  private static final String IDS = "SELECT id FROM item ORDER BY id";

  private Cluster cluster;
  private HttpClientCommand http;
  private JavaSession firstJava;
  private JavaSession secondJava;
  private Connection stranger;

  /// A way to the engine.
  enum Door {
    POSTGRES,
    JAVA,
    HTTP
  }

  /// Somebody with one transaction.
  private interface Participant extends AutoCloseable {
    /// @return the token of the transaction
    String begin() throws SQLException;

    void join(String token) throws SQLException;

    void insert(int id) throws SQLException;

    long count() throws SQLException;

    void commit() throws SQLException;

    void rollback() throws SQLException;

    @Override
    void close() throws SQLException;
  }

  private static final class ByPostgres implements Participant {
    private final Connection connection;

    ByPostgres(Connection connection) {
      this.connection = connection;
    }

    @Override
    public String begin() throws SQLException {
      Sql.execute(connection, "BEGIN", "INSERT INTO item VALUES (1, 1)");
      return Sql.value(connection, "SELECT kakehashi_transaction_token()");
    }

    @Override
    public void join(String token) throws SQLException {
      Sql.execute(connection, "BEGIN");
      Sql.value(
          connection, "SELECT kakehashi_continue_transaction('kakehashi', '" + token + "')::text");
    }

    @Override
    public void insert(int id) throws SQLException {
      Sql.execute(connection, "INSERT INTO item VALUES (" + id + ", " + id + ")");
    }

    @Override
    public long count() throws SQLException {
      return Long.parseLong(Sql.value(connection, "SELECT count(*) FROM item"));
    }

    @Override
    public void commit() throws SQLException {
      Sql.execute(connection, "COMMIT");
    }

    @Override
    public void rollback() throws SQLException {
      Sql.execute(connection, "ROLLBACK");
    }

    @Override
    public void close() throws SQLException {
      connection.close();
    }
  }

  private record ByJava(JavaSession session) implements Participant {
    @Override
    public String begin() {
      assertEquals("", session.run("begin"));
      insert(1);
      return session.run("token");
    }

    @Override
    public void join(String token) {
      assertEquals("", session.run("continue " + token));
    }

    @Override
    public void insert(int id) {
      assertEquals("1", session.run("change insert into item values (" + id + ", " + id + ")"));
    }

    @Override
    public long count() {
      return Long.parseLong(session.run("count select count(*)::int8 from item"));
    }

    @Override
    public void commit() {
      assertEquals("", session.run("commit"));
    }

    @Override
    public void rollback() {
      assertEquals("", session.run("rollback"));
    }

    @Override
    public void close() {
      assertEquals("", session.run("leave"));
    }
  }

  private static final class ByHttp implements Participant {
    private final HttpClientCommand http;
    private String handle = "";

    ByHttp(HttpClientCommand http) {
      this.http = http;
    }

    private HttpClientCommand.Answer sql(String sql, String verb) {
      HttpClientCommand.Answer answer = http.sql(sql, verb + ";handle=\"" + handle + "\"");
      assertTrue(answer.status() == 200 || answer.status() == 204, answer::toString);
      return answer;
    }

    @Override
    public String begin() {
      HttpClientCommand.Answer answer = http.sql("insert into item values (1, 1)", "begin");
      assertEquals(200, answer.status(), answer::toString);
      handle = answer.handle();
      return handle;
    }

    @Override
    public void join(String token) {
      handle = token;
      assertTrue(sql("", "continue").transaction().startsWith("active;"));
    }

    @Override
    public void insert(int id) {
      sql("insert into item values (" + id + ", " + id + ")", "continue");
    }

    @Override
    public long count() {
      return Long.parseLong(sql("select count(*) from item", "continue").body());
    }

    @Override
    public void commit() {
      assertTrue(sql("", "end").transaction().startsWith("committed"));
    }

    @Override
    public void rollback() {
      assertTrue(sql("", "abort").transaction().startsWith("aborted"));
    }

    @Override
    public void close() {
      // A transaction that it has left open ends with its lease, as for every client of HTTP.
    }
  }

  @BeforeAll
  void start() throws SQLException {
    Workspace workspace = Workspace.create("nine-pairs");
    Path socket = workspace.memory().resolve("http");
    cluster = Cluster.start(workspace, "http_socket=" + socket);
    http = new HttpClientCommand(socket);
    cluster.createTable("item", "id int4, v int4", "id");
    firstJava = JavaSession.open(cluster);
    secondJava = JavaSession.open(cluster);
    stranger = cluster.connect();
  }

  @AfterAll
  void end() throws SQLException {
    try (Cluster _ = cluster;
        JavaSession _ = firstJava;
        JavaSession _ = secondJava) {
      stranger.close();
    }
  }

  @BeforeEach
  void empty() throws SQLException {
    Sql.execute(stranger, "DELETE FROM item");
  }

  private Participant participant(Door door, JavaSession java) throws SQLException {
    return switch (door) {
      case POSTGRES -> new ByPostgres(cluster.connect());
      case JAVA -> new ByJava(java);
      case HTTP -> new ByHttp(http);
    };
  }

  static Stream<Arguments> pairs() {
    return Stream.of(Door.values())
        .flatMap(first -> Stream.of(Door.values()).map(second -> Arguments.of(first, second)));
  }

  @ParameterizedTest
  @MethodSource("pairs")
  void shouldContinueWhatTheOtherHasBegun(Door first, Door second) throws SQLException {
    try (Participant begins = participant(first, firstJava);
        Participant continues = participant(second, secondJava)) {
      continues.join(begins.begin());
      assertEquals(1, continues.count());
      continues.insert(2);
      assertEquals(2, begins.count());
      begins.insert(3);
      assertEquals(3, continues.count());
      assertEquals(List.of(), Sql.rows(stranger, IDS));
      continues.commit();
      assertEquals(List.of("1", "2", "3"), Sql.rows(stranger, IDS));
    }
  }

  @ParameterizedTest
  @MethodSource("pairs")
  void shouldLetTheOneWhoHasBegunItEndIt(Door first, Door second) throws SQLException {
    try (Participant begins = participant(first, firstJava);
        Participant continues = participant(second, secondJava)) {
      continues.join(begins.begin());
      continues.insert(2);
      begins.commit();
      assertEquals(List.of("1", "2"), Sql.rows(stranger, IDS));
    }
  }

  @ParameterizedTest
  @MethodSource("pairs")
  void shouldKeepNothingThatTheOtherHasRolledBack(Door first, Door second) throws SQLException {
    try (Participant begins = participant(first, firstJava);
        Participant continues = participant(second, secondJava)) {
      continues.join(begins.begin());
      continues.insert(2);
      continues.rollback();
      assertEquals(List.of(), Sql.rows(stranger, IDS));
    }
  }
}

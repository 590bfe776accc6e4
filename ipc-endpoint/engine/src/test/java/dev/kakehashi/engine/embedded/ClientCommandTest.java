package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Statements that are part of a client's command: what PostgreSQL does for one command by several requests.
@SuppressWarnings("NullAway.Init")
final class ClientCommandTest {
  @TempDir Path directory;
  private TestEngine engine;
  private EngineTransaction transaction;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory, 2);
    engine.run("CREATE TABLE t (id int PRIMARY KEY, v int)");
    engine.run("INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)");
    transaction = engine.begin(Isolation.READ_COMMITTED);
  }

  @AfterEach
  void close() {
    engine.rollback(transaction);
    engine.close();
  }

  private long change(int command, String sql) {
    return engine.runAs(transaction, command, sql).count();
  }

  private List<String> rows(int command, String sql) {
    return engine.runAs(transaction, command, sql).rows();
  }

  @Test
  void shouldHideChangesOfTheSameCommandFromEveryKindOfRead() {
    change(4, "INSERT INTO t VALUES (4, 40)");
    change(4, "UPDATE t SET v = 21, id = 20 WHERE id = 2");
    change(4, "DELETE FROM t WHERE id = 3");
    assertEquals(List.of("3|60"), rows(4, "SELECT count(*), sum(v) FROM t"));
    assertEquals(List.of("20"), rows(4, "SELECT v FROM t WHERE id = 2"));
    assertEquals(List.of(), rows(4, "SELECT v FROM t WHERE id IN (4, 20)"));
    assertEquals(List.of("3", "2", "1"), rows(4, "SELECT id FROM t ORDER BY id DESC"));
    assertEquals(List.of("3|71"), rows(5, "SELECT count(*), sum(v) FROM t"));
    assertEquals(List.of("3|71"), rows(0, "SELECT count(*), sum(v) FROM t"));
    assertEquals(List.of("1", "4", "20"), rows(5, "SELECT id FROM t ORDER BY id"));
  }

  @Test
  void shouldSelectFromTheTableItInsertsInto() {
    assertEquals(3, change(1, "INSERT INTO t SELECT id + 10, v FROM t"));
    assertEquals(3, change(1, "INSERT INTO t SELECT id + 20, v FROM t"));
    assertEquals(9, change(2, "INSERT INTO t SELECT id + 100, v FROM t"));
    // A statement without a command is one of its own.
    assertEquals(18, change(0, "INSERT INTO t SELECT id + 1000, v FROM t"));
  }

  @Test
  void shouldChangeARowOncePerCommand() {
    assertEquals(1, change(2, "UPDATE t SET v = v + 1 WHERE id = 1"));
    assertEquals(0, change(2, "UPDATE t SET v = v + 1 WHERE id = 1"));
    assertEquals(0, change(2, "DELETE FROM t WHERE id = 1"));
    assertEquals(2, change(2, "DELETE FROM t"));
    assertEquals(0, change(2, "DELETE FROM t"));
    assertEquals(List.of("1|11"), rows(3, "SELECT * FROM t"));
    assertEquals(1, change(3, "UPDATE t SET v = v + 1"));
    assertEquals(List.of("1|12"), rows(0, "SELECT * FROM t"));
  }

  @Test
  void shouldChangeARowOncePerCommandByRowsOfParameters() {
    String sql = "UPDATE t SET v = v + 1 WHERE id = $1";
    @Nullable Object[][] twice = {{1}, {2}, {1}};
    assertEquals(2, engine.runAs(transaction, 7, sql, twice).count());
    assertEquals(3, engine.runAs(transaction, 0, sql, twice).count());
    assertEquals(List.of("13", "22", "30"), rows(0, "SELECT v FROM t ORDER BY id"));
  }

  @Test
  void shouldRefuseToChangeWhatALaterCommandHasChanged() {
    change(3, "UPDATE t SET v = 11 WHERE id = 1");
    change(3, "DELETE FROM t WHERE id = 2");
    TestEngine.assertState("27000", () -> change(2, "UPDATE t SET v = 12 WHERE id = 1"));
    TestEngine.assertState("27000", () -> change(2, "DELETE FROM t WHERE id = 2"));
    assertEquals(1, change(2, "UPDATE t SET v = 31 WHERE id = 3"));
    assertEquals(List.of("1|11", "3|31"), rows(4, "SELECT * FROM t ORDER BY id"));
  }

  @Test
  void shouldGiveWhatALaterCommandHasChangedToWhoWillChangeIt() {
    change(3, "UPDATE t SET v = 11 WHERE id = 1");
    change(2, "UPDATE t SET v = 21 WHERE id = 2");
    String all = "SELECT id, v FROM t ORDER BY id FOR UPDATE";
    assertEquals(List.of("3|30"), rows(2, all));
    assertEquals(List.of("1|10", "3|30"), rows(2, all + " TO CHANGE"));
    TestEngine.assertState("27000", () -> change(2, "UPDATE t SET v = 12 WHERE id = 1"));
  }

  @Test
  void shouldChangeWhatTheSameCommandHasLocked() {
    assertEquals(List.of("10"), rows(2, "SELECT v FROM t WHERE id = 1 FOR UPDATE"));
    assertEquals(List.of("10"), rows(2, "SELECT v FROM t WHERE id = 1 FOR UPDATE"));
    assertEquals(1, change(2, "UPDATE t SET v = v + 1 WHERE id = 1"));
    // Changed by the command: there is nothing of it left to lock.
    assertEquals(List.of(), rows(2, "SELECT v FROM t WHERE id = 1 FOR UPDATE"));
    assertEquals(List.of("10"), rows(2, "SELECT v FROM t WHERE id = 1"));
    assertEquals(List.of("11"), rows(3, "SELECT v FROM t WHERE id = 1 FOR UPDATE"));
  }

  @Test
  void shouldNotUpdateTwiceOnConflict() {
    String upsert = " ON CONFLICT (id) DO UPDATE SET v = excluded.v";
    assertEquals(2, change(2, "INSERT INTO t VALUES (1, 11), (5, 50)" + upsert));
    TestEngine.assertState("21000", () -> change(2, "INSERT INTO t VALUES (5, 51)" + upsert));
    TestEngine.assertState("21000", () -> change(2, "INSERT INTO t VALUES (1, 12)" + upsert));
    assertEquals(0, change(2, "INSERT INTO t VALUES (5, 51), (1, 12) ON CONFLICT DO NOTHING"));
    // A row that stays as it is may come again.
    String never = upsert + " WHERE t.v > 100";
    assertEquals(0, change(2, "INSERT INTO t VALUES (2, 21), (2, 22)" + never));
    assertEquals(0, change(2, "INSERT INTO t VALUES (2, 21)" + never));
    assertEquals(1, change(2, "INSERT INTO t VALUES (2, 20)" + upsert));
    TestEngine.assertState("21000", () -> change(2, "INSERT INTO t VALUES (2, 20)" + never));
    assertEquals(2, change(3, "INSERT INTO t VALUES (5, 52), (1, 13)" + upsert));
    assertEquals(List.of("1|13", "2|20", "3|30", "5|52"), rows(4, "SELECT * FROM t ORDER BY id"));
  }

  @Test
  void shouldInsertTheKeyOfARowThatTheCommandHasDeleted() {
    change(2, "DELETE FROM t WHERE id = 1");
    assertEquals(1, change(2, "INSERT INTO t VALUES (1, 100)"));
    TestEngine.assertState("23505", () -> change(2, "INSERT INTO t VALUES (1, 101)"));
    assertEquals(List.of("10"), rows(2, "SELECT v FROM t WHERE id = 1"));
    assertEquals(List.of("100"), rows(3, "SELECT v FROM t WHERE id = 1"));
  }

  @Test
  void shouldFollowReferencesWhateverTheCommand() {
    engine.run("CREATE TABLE c (id int PRIMARY KEY, t int REFERENCES t ON DELETE CASCADE)");
    change(2, "INSERT INTO c VALUES (1, 1), (2, 2)");
    change(2, "INSERT INTO t VALUES (9, 90)");
    // The row that is referenced is of the same command, and so is the one that goes with it.
    assertEquals(1, change(2, "INSERT INTO c VALUES (3, 9)"));
    assertEquals(1, change(2, "DELETE FROM t WHERE id = 1"));
    assertEquals(List.of("2", "3"), rows(3, "SELECT id FROM c ORDER BY id"));
  }

  @Test
  void shouldSeeWhatAnotherClientOfTheTransactionDid() {
    change(5, "INSERT INTO t VALUES (4, 40)");
    change(0, "INSERT INTO t VALUES (5, 50)");
    assertEquals(List.of("1", "2", "3", "5"), rows(5, "SELECT id FROM t ORDER BY id"));
    assertEquals(List.of("5"), rows(6, "SELECT count(*) FROM t"));
    assertEquals(5, change(0, "UPDATE t SET v = 0"));
    assertEquals(List.of("5"), rows(5, "SELECT count(*) FROM t WHERE v = 0"));
  }

  @Test
  void shouldGoBackToSavepoints() {
    change(2, "UPDATE t SET v = 11 WHERE id = 1");
    TestEngine.awaitEnd(done -> transaction.savepoint(1, done));
    change(3, "DELETE FROM t");
    TestEngine.awaitEnd(done -> transaction.rollbackToSavepoint(1, done));
    assertEquals(List.of("10", "20", "30"), rows(2, "SELECT v FROM t ORDER BY id"));
    assertEquals(List.of("11", "20", "30"), rows(3, "SELECT v FROM t ORDER BY id"));
    assertEquals(3, change(3, "DELETE FROM t"));
  }
}

package dev.kakehashi.tck.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.transfers.TransferTrial;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Money is moved in JVMs that are killed. `-Dkakehashi.kills` makes it as long as one likes.
class TransferTrialTest {
  private static final int KILLS = Integer.getInteger("kakehashi.kills", 1);
  private static final int MILLIS = Integer.getInteger("kakehashi.tck.millis", 300);

  @TempDir Path directory;

  private String run(int expected, String... arguments) throws Exception {
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    int code;
    try (PrintStream out = new PrintStream(written, true, StandardCharsets.UTF_8)) {
      code = TransferTrial.run(out, arguments);
    }
    String text = written.toString(StandardCharsets.UTF_8);
    System.out.println(text);
    assertEquals(expected, code, text);
    return text;
  }

  @BeforeEach
  void place() {
    System.setProperty("kakehashi.tck.directory", directory.resolve("store").toString());
  }

  @AfterEach
  void noPlace() {
    System.clearProperty("kakehashi.tck.directory");
  }

  private String[] trial(String... more) {
    List<String> arguments = new ArrayList<>();
    arguments.add("--engine=" + EmbeddedUnderTest.class.getName());
    arguments.add("--ledger=" + directory.resolve("ledger"));
    arguments.add("--accounts=100");
    arguments.addAll(List.of(more));
    return arguments.toArray(String[]::new);
  }

  @Test
  void shouldLoseNothingWhenTheEngineIsKilledAndNoticeWhatIsLost() throws Exception {
    String table = run(0, trial("--kills=" + KILLS, "--millis=" + MILLIS));
    assertTrue(table.contains(", 0 lost, 0 wrong accounts, sum right"), table);
    assertFalse(table.contains("before kill 1: load: 0 commits"), table);
    change("delete from transfer_journal where id = (select min(id) from transfer_journal)");
    change("insert into transfer_journal values (7, 1, 2, 0)");
    change("update transfer_account set balance = balance + 1 where id = 0");
    String wrong = run(1, trial("--role=check"));
    assertTrue(wrong.contains("WRONG 1 acknowledged transfers are lost: "), wrong);
    assertTrue(
        wrong.contains("WRONG 1 transfers are there that were refused or never made: [7]"), wrong);
    assertTrue(wrong.contains(" accounts are wrong: "), wrong);
    assertTrue(wrong.contains("WRONG the accounts have 100|100001, not 100|100000"), wrong);
  }

  /// Does what an engine must not do.
  private void change(String sql) throws Exception {
    EmbeddedUnderTest engine = new EmbeddedUnderTest();
    try {
      engine.open();
      try (DrivenEngine client = new DrivenEngine(engine.engine(), "fault", "")) {
        assertEquals(1, client.run(sql), sql);
      }
    } finally {
      engine.close();
    }
  }

  @Test
  void shouldSayHowItIsUsed() throws Exception {
    assertTrue(run(2, "--unknown=1").contains("unknown option --unknown=1"));
    assertTrue(run(2).contains("--engine is missing"));
  }
}

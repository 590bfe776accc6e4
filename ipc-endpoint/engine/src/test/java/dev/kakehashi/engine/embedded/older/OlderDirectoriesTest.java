package dev.kakehashi.engine.embedded.older;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.embedded.EngineCheck;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.check.CheckListener;
import dev.kakehashi.queue.DurableQueues;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Data directories that builds of each format have written, see [DirectoryMaker]: the engine of now finds what theirs found.
///
/// `format-N.zip` is a directory whose process ended without closing it, with a prepared transaction; `rows.txt` beside it has the queries,
/// each after `>`, and the rows that they found then.
final class OlderDirectoriesTest implements CheckListener {
  /// Format that the engine writes: what is in `script.sql` belongs to it.
  private static final int PRESENT = 6;

  private static final String PREPARED = "decided later";
  private static final List<String> DECIDED = List.of("1|prepared", "2000|prepared");
  private static final String DECISION =
      "select id, v from rows where v = 'prepared' or id in (1, 2) order by id";

  private final List<String> problems = new ArrayList<>();
  private final List<String> checked = new ArrayList<>();

  @TempDir Path directory;

  @Override
  public void checked(String what) {
    checked.add(what);
  }

  @Override
  public void problem(String what) {
    problems.add(what);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, PRESENT})
  void shouldFindWhatAnOlderVersionHasWritten(int format) throws IOException {
    Path data = directory.resolve("data");
    Map<String, List<String>> expected = extract(format);
    assertEquals("kakehashi store " + format, format(data));
    check(data);
    // Only who opens it to write takes it over.
    assertEquals("kakehashi store " + format, format(data));
    try (TestEngine engine = open(data)) {
      assertRows(expected, engine);
      assertEquals(
          List.of(PREPARED),
          engine.query("select gid from kakehashi_catalog.prepared_transactions"));
    }
    assertEquals("kakehashi store " + PRESENT, format(data));
    try (TestEngine engine = open(data)) {
      assertRows(expected, engine);
      TestEngine.awaitEnd(done ->
          engine.session.commitPrepared(PREPARED, EngineTransaction.CommitResponse.STORED, done));
      assertEquals(DECIDED, engine.query(DECISION));
    }
    check(data);
  }

  /// Rows are written in other widths then, and keys are dropped and made: nothing of what was there is lost.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, PRESENT})
  void shouldChangeWhatAnOlderVersionHasWritten(int format) throws IOException {
    Path data = directory.resolve("data");
    List<String> rows =
        Objects.requireNonNull(
            extract(format).get("select id, parent, v, w from rows order by id"));
    try (TestEngine engine = open(data)) {
      TestEngine.awaitEnd(done -> engine.session.rollbackPrepared(PREPARED, done));
      engine.run("alter table rows add column more int default 3, add column text_of text");
      engine.run("update rows set more = id, text_of = v where id % 2 = 0");
      engine.run("drop index rows_v");
      engine.run("create index rows_more on rows (more, v)");
      engine.run("insert into rows (id, v) values (5000, 'now')");
      engine.run("delete from rows where id = 5000");
      engine.run("alter table rows drop column text_of");
    }
    check(data);
    try (TestEngine engine = open(data)) {
      assertEquals(rows, engine.query("select id, parent, v, w from rows order by id"));
      assertEquals(
          List.of("0"),
          engine.query(
              "select count(*) from rows where more is distinct from case id % 2 when 0 then id else 3 end"));
      assertEquals(
          engine.query("select id from rows where more + 0 > 290 order by id"),
          engine.query("select id from rows where more > 290 order by id"));
    }
  }

  @Test
  void shouldHaveADirectoryOfThePresentFormat() throws IOException {
    Path data = directory.resolve("data");
    try (TestEngine engine = open(data)) {
      engine.run("create table t (id int)");
    }
    assertEquals(
        "kakehashi store " + PRESENT,
        format(data),
        "keep a directory of each format: .make/older-directory.sh makes one of the last commit before");
  }

  private static TestEngine open(Path data) {
    return TestEngine.withQueues(data, DurableQueues.opener());
  }

  private static String format(Path data) throws IOException {
    return Files.readString(data.resolve("FORMAT")).strip();
  }

  private void check(Path data) {
    checked.clear();
    EngineCheck.run(new StoreConfig(data, 256L << 20, DurableQueues.opener()), this);
    assertEquals(List.of(), problems);
    assertTrue(checked.stream().anyMatch(each -> each.contains("rows")), checked.toString());
  }

  private static void assertRows(Map<String, List<String>> expected, TestEngine engine) {
    expected.forEach((query, rows) -> assertEquals(rows, engine.query(query), query));
  }

  /// Copies the directory of a format.
  ///
  /// @return queries, and the rows that they have to find
  private Map<String, List<String>> extract(int format) throws IOException {
    String name = "format-" + format + ".zip";
    String rows = "";
    try (InputStream resource =
            Objects.requireNonNull(OlderDirectoriesTest.class.getResourceAsStream(name), name);
        ZipInputStream zip = new ZipInputStream(resource)) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        Path target = directory.resolve(entry.getName());
        if (entry.isDirectory()) {
          Files.createDirectories(target);
        } else if (entry.getName().equals("rows.txt")) {
          rows = new String(zip.readAllBytes(), StandardCharsets.UTF_8);
        } else {
          Files.createDirectories(Objects.requireNonNull(target.getParent()));
          Files.copy(zip, target);
        }
      }
    }
    Map<String, List<String>> expected = new LinkedHashMap<>();
    List<String> found = new ArrayList<>();
    for (String line : rows.lines().toList()) {
      if (line.startsWith("> ")) {
        found = new ArrayList<>();
        expected.put(line.substring(2), found);
      } else {
        found.add(line);
      }
    }
    assertTrue(expected.size() >= 7, "queries of " + name);
    return expected;
  }
}

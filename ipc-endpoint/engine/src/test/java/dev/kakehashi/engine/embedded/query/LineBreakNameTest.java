package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.embedded.TestEngine;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Names may contain line breaks, as any other character.
final class LineBreakNameTest {
  @TempDir Path directory;

  @Test
  void shouldFindNamesWithLineBreaksEverywhere() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table \"t\nt\" (id int primary key, \"a\nb\" int, \"c\\\"\"\r\n\" text)");
      engine.run("insert into \"t\nt\" (id, \"a\nb\", \"c\\\"\"\r\n\") values (1, 2, 'x')");
      engine.run("update \"t\nt\" set \"a\nb\" = \"a\nb\" + 1 where \"c\\\"\"\r\n\" = 'x'");
      assertEquals(
          List.of("3|x"),
          engine.query(
              "select q.\"a\nb\", \"c\\\"\"\r\n\" from \"t\nt\" as \"q\" order by \"a\nb\""));
      assertEquals(
          List.of("6"),
          engine.query(
              "with \"w\n\" as (select sum(\"a\nb\") as \"s\r\" from \"t\nt\" group by \"a\nb\")"
                  + " select \"s\r\" * 2 from \"w\n\""));
      engine.run("delete from \"t\nt\" where \"t\nt\".\"a\nb\" = 3");
      assertEquals(List.of(), engine.query("select \"a\nb\" from \"t\nt\""));
    }
  }
}

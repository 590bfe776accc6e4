package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Parts of values that are made count for their statement's memory.
final class MadeValuesTest {
  private static final long MEMORY = 8L << 20;

  @TempDir Path directory;

  @Test
  void shouldRefuseAValueOfMorePartsThanTheStatementHasMemoryFor() throws IOException {
    try (TestEngine engine = new TestEngine(directory, 2, 256L << 20, MEMORY, 1L << 30)) {
      for (String aggregate :
          List.of(
              "array_agg(i)",
              "array_agg(i order by i desc)",
              "json_agg(i)",
              "jsonb_agg(i)",
              "json_object_agg(i, i)")) {
        // Eight bytes for each row; the texts are many times that.
        String all = "select length(" + aggregate + "::text) from generate_series(1, 200000) s(i)";
        EngineException refused = assertThrows(EngineException.class, () -> engine.query(all), all);
        assertEquals("53200", refused.code().sqlstate(), all);
        String groups =
            "select count(a) from (select "
                + aggregate
                + "::text a from generate_series(1, 200000) s(i) group by i % 1000) g";
        assertEquals(List.of("1000"), engine.query(groups), groups);
      }
    }
  }

  @Test
  void shouldCountWhatValuesOverWindowsAreMadeOf() throws IOException {
    try (TestEngine engine = new TestEngine(directory, 2, 256L << 20, MEMORY, 1L << 30)) {
      for (String aggregate :
          List.of(
              "array_agg(i)",
              "string_agg(repeat('x', 100), ',')",
              "json_agg(i)",
              "jsonb_agg(i)",
              "json_object_agg(i, i)")) {
        for (String window :
            List.of("()", "(order by i rows between unbounded preceding and 199999 following)")) {
          String all =
              "select length(("
                  + aggregate
                  + " over "
                  + window
                  + ")::text) from generate_series(1, 200000) s(i) limit 1";
          EngineException refused =
              assertThrows(EngineException.class, () -> engine.query(all), all);
          assertEquals("53200", refused.code().sqlstate(), all);
        }
        String parts =
            "select count(a) from (select ("
                + aggregate
                + " over (partition by i / 50))::text a from generate_series(1, 20000) s(i)) g";
        assertEquals(List.of("20000"), engine.query(parts), parts);
      }
    }
  }
}

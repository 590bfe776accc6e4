package dev.kakehashi.tools.shell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jline.reader.Candidate;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.Parser;
import org.jline.reader.impl.DefaultParser;
import org.jline.terminal.impl.DumbTerminal;
import org.junit.jupiter.api.Test;

class SqlCompleterTest {
  private static final int COLUMNS = 100_000;
  private static final int KEYS = Integer.getInteger("kakehashi.completions", 400);

  private final String[] names = new String[COLUMNS];
  private final SqlCompleter completer =
      new SqlCompleter((text, most) -> CatalogNamesCache.beginning(names, text, most));

  private final DefaultParser parser = new DefaultParser();
  private final LineReader reader;

  SqlCompleterTest() throws IOException {
    parser.setEscapeChars(null); // as the prompt has it
    parser.setQuoteChars(new char[0]);
    reader =
        LineReaderBuilder.builder()
            .terminal(
                new DumbTerminal(InputStream.nullInputStream(), OutputStream.nullOutputStream()))
            .build();
    for (int i = 0; i < COLUMNS; i++) {
      names[i] = "column_%05d_of_a_table".formatted(i);
    }
    Arrays.sort(names);
  }

  private List<Candidate> candidates(String line) {
    List<Candidate> candidates = new ArrayList<>();
    completer.complete(
        reader, parser.parse(line, line.length(), Parser.ParseContext.COMPLETE), candidates);
    return candidates;
  }

  private List<String> complete(String line) {
    return candidates(line).stream().map(Candidate::value).toList();
  }

  @Test
  void shouldCompleteKeywordsCommandsAndNames() {
    assertTrue(complete("sel").contains("select"));
    assertTrue(complete("SEL").contains("SELECT"));
    assertEquals(List.of("\\timing"), complete("\\tim"));
    assertEquals(List.of("column_00017_of_a_table"), complete("select column_00017"));
    assertEquals(List.of("sum(column_00017_of_a_table"), complete("select sum(column_00017"));
  }

  /// The goal is 10 ms a key at 100,000 columns.
  @Test
  void shouldAnswerAKeyAtOnceAmongManyColumns() {
    long[] nanos = new long[KEYS];
    for (int i = 0; i < KEYS; i++) {
      String line = "select column_0".substring(0, 8 + i % 8);
      long begin = System.nanoTime();
      List<Candidate> candidates = candidates(line);
      nanos[i] = System.nanoTime() - begin;
      assertTrue(!candidates.isEmpty() && candidates.size() <= 250, line);
    }
    Arrays.sort(nanos);
    System.out.printf(
        "completion among %,d columns: p50 %d us, p99 %d us%n",
        COLUMNS, nanos[KEYS / 2] / 1000, nanos[KEYS * 99 / 100] / 1000);
    assertTrue(nanos[KEYS / 2] < TimeUnit.MILLISECONDS.toNanos(10), Arrays.toString(nanos));
  }
}

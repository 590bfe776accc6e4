package dev.kakehashi.valuetext.array;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.valuetext.array.ArrayReader.Token;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Texts of arrays. StatementDifferenceTest of the engine compares such texts with PostgreSQL.
class ArrayReaderTest {
  private final ArrayReader reader = new ArrayReader();

  /// The parts in one line: braces, elements in brackets, null as `-`, and behind it the bounds of each dimension.
  private String parts() {
    StringBuilder parts = new StringBuilder();
    for (Token token = reader.next(); token != Token.END; token = reader.next()) {
      parts.append(
          switch (token) {
            case OPEN -> "{";
            case CLOSE -> "}";
            case NULL -> "-";
            default ->
                "<"
                    + new String(
                        reader.bytes(), reader.from(), reader.length(), StandardCharsets.UTF_8)
                    + ">";
          });
    }
    for (int i = 0; i < reader.dimensions() && reader.elementCount() > 0; i++) {
      parts.append(' ').append(reader.lowerBound(i)).append('+').append(reader.length(i));
    }
    return parts.toString();
  }

  private String read(byte[] utf8) {
    // Bytes around the text must not matter.
    byte[] around = new byte[utf8.length + 20];
    Arrays.fill(around, (byte) '"');
    System.arraycopy(utf8, 0, around, 10, utf8.length);
    reader.open(around, 10, 10 + utf8.length);
    return parts();
  }

  private String readSegment(byte[] utf8) {
    reader.open(MemorySegment.ofArray(utf8), 0, utf8.length);
    return parts();
  }

  /// Reads a text from an array and from a segment.
  private String read(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    String parts = read(utf8);
    assertEquals(parts, readSegment(utf8), text);
    return parts;
  }

  private static String failure(Runnable reading) {
    EngineException e = assertThrows(EngineException.class, reading::run);
    return e.code().sqlstate()
        + " "
        + e.getMessage()
        + (e.detail().isEmpty() ? "" : "|" + e.detail());
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = " => ",
      quoteCharacter = '`',
      value = {
        "{} => {}",
        "{1,NULL,-3} => {<1>-<-3>} 1+3",
        "` { 1 , null,\ta b , \" c \" } ` => `{<1>-<a b>< c >} 1+4`",
        "{\"\",\"NULL\",nul\\l,\\NULL} => {<><NULL><null><NULL>} 1+4",
        "`{a\\ ,\\,\\{\\}\\\"\\\\}` => `{<a ><,{}\"\\>} 1+2`",
        "{\"a\\\"b\",\"{,}\"} => {<a\"b><{,}>} 1+2",
        "{{1,2},{3,4}} => {{<1><2>}{<3><4>}} 1+2 1+2",
        "`{ { 1 } , { 2 } }` => {{<1>}{<2>}} 1+2 1+1",
        "{{},{}} => {{}{}}",
        "[0:1]={1,2} => {<1><2>} 0+2",
        "` [2] [-1:0] = {{1,2},{3,4}}` => {{<1><2>}{<3><4>}} 1+2 -1+2",
        "{{{{{{1}}}}}} => {{{{{{<1>}}}}}} 1+1 1+1 1+1 1+1 1+1 1+1",
        "{ä,€,\"😀\"} => {<ä><€><😀>} 1+3"
      })
  void shouldReadWhatPostgresReads(String text, String parts) {
    assertEquals(parts, read(text));
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = " => ",
      quoteCharacter = '`',
      value = {
        "`` => Array value must start with \"{\" or dimension information.",
        "1 => Array value must start with \"{\" or dimension information.",
        "{ => Unexpected end of input.",
        "{1 => Unexpected end of input.",
        "{1, => Unexpected end of input.",
        "{1\\ => Unexpected end of input.",
        "{\"a => Unexpected end of input.",
        "{\"a\" => Unexpected end of input.",
        "{1}} => Junk after closing right brace.",
        "{1}{2} => Junk after closing right brace.",
        "{,} => Unexpected \",\" character.",
        "{1,} => Unexpected \"}\" character.",
        "{1,,2} => Unexpected \",\" character.",
        "{{1}{2}} => Unexpected \"{\" character.",
        "{1{2}} => Unexpected \"{\" character.",
        "{{1}2} => Unexpected array element.",
        "{a\"b\"} => Incorrectly quoted array element.",
        "{\"a\"b} => Incorrectly quoted array element.",
        "{{1},2} => Multidimensional arrays must have sub-arrays with matching dimensions.",
        "{1,{2}} => Multidimensional arrays must have sub-arrays with matching dimensions.",
        "{{},1} => Multidimensional arrays must have sub-arrays with matching dimensions.",
        "{{1,2},{3}} => Multidimensional arrays must have sub-arrays with matching dimensions.",
        "{{1},{}} => Multidimensional arrays must have sub-arrays with matching dimensions.",
        "[1:3]={1,2} => Specified array dimensions do not match array contents.",
        "[1][1]={1} => Specified array dimensions do not match array contents.",
        "[1]={{1}} => Specified array dimensions do not match array contents.",
        "[1]={} => Specified array dimensions do not match array contents.",
        "[1:200000000]={1} => Specified array dimensions do not match array contents.",
        "[]={1} => \"[\" must introduce explicitly-specified array dimensions.",
        "[a]={1} => \"[\" must introduce explicitly-specified array dimensions.",
        "[1:]={1} => Missing array dimension value.",
        "[1={1} => Missing \"]\" after array dimensions.",
        "[1]{1} => Missing \"=\" after array dimensions.",
        "[1]=1 => Array contents must start with \"{\"."
      })
  void shouldRefuseWhatIsNoArray(String text, String detail) {
    String wanted = "22P02 malformed array literal: \"" + text + "\"|" + detail;
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    assertEquals(wanted, failure(() -> read(utf8)));
    assertEquals(wanted, failure(() -> readSegment(utf8)));
    assertEquals("{<1>} 1+1", read("{1}"), "after " + text);
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = " => ",
      value = {
        "[2:1]={} => 2202E upper bound cannot be less than lower bound",
        "[1:2147483647]={1} => 54000 array upper bound is too large: 2147483647",
        "[-2147483648:0]={1} => 54000 array size exceeds the maximum allowed (134217727)",
        "[2147483648]={1} => 22003 array bound is out of range",
        "[99999999999999999999]={1} => 22003 array bound is out of range",
        "{{{{{{{1}}}}}}} => 54000 number of array dimensions (7) exceeds the maximum allowed (6)",
        "[1][1][1][1][1][1][1]={1} => 54000 number of array dimensions (7) exceeds the maximum allowed (6)"
      })
  void shouldRefuseBoundsThatThereCannotBe(String text, String error) {
    assertEquals(error, failure(() -> read(text)));
  }

  @Test
  void shouldShowTheBeginningOfALongText() {
    byte[] text = ("{" + "ab,".repeat(100_000)).getBytes(StandardCharsets.UTF_8);
    String shown = "{" + "ab,".repeat(16) + "a…";
    String error = "22P02 malformed array literal: \"" + shown + "\"|Unexpected end of input.";
    assertEquals(error, failure(() -> read(text)));
    assertEquals(error, failure(() -> readSegment(text)));
  }

  @Test
  void shouldLeaveAnElementWithoutEscapesWhereItIs() {
    byte[] text = "{12,\"a b\"}".getBytes(StandardCharsets.UTF_8);
    reader.open(text, 0, text.length);
    assertEquals(Token.OPEN, reader.next());
    assertEquals(Token.VALUE, reader.next());
    assertSame(text, reader.bytes());
    assertEquals(1, reader.from());
    assertEquals(2, reader.length());
    assertEquals(Token.VALUE, reader.next());
    assertSame(text, reader.bytes());
    assertEquals(5, reader.from());
    assertEquals(3, reader.length());
  }

  private static String blanks(Random random) {
    return random.nextInt(4) == 0 ? " \t\n".substring(random.nextInt(3)) : "";
  }

  /// An element as somebody might write it: in quotes or not, with backslashes where there need be none.
  private static String written(@Nullable String element, Random random) {
    if (element == null) {
      return random.nextBoolean() ? "NULL" : "nUll";
    }
    StringBuilder out = new StringBuilder();
    if (random.nextInt(3) == 0) {
      boolean quoted = random.nextBoolean() || element.isEmpty();
      for (int i = 0; i < element.length(); i++) {
        char c = element.charAt(i);
        boolean special = !Character.isLetterOrDigit(c) && !Character.isSurrogate(c);
        if (!quoted || special) {
          out.append(Character.isLowSurrogate(c) ? "" : "\\");
        }
        out.append(c);
      }
      return quoted ? "\"" + out + "\"" : out.toString();
    }
    ArrayElements.append(out, element);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    ArrayElements.put(bytes, element.getBytes(StandardCharsets.UTF_8));
    assertEquals(out.toString(), bytes.toString(StandardCharsets.UTF_8));
    return out.toString();
  }

  private static @Nullable String element(Random random) {
    if (random.nextInt(8) == 0) {
      return null;
    }
    String letters = "ab1 ,{}\"\\\n\u000bnulNULäß€";
    StringBuilder element = new StringBuilder(random.nextInt(6) == 0 ? "null" : "");
    int length = random.nextInt(200) == 0 ? random.nextInt(40_000) : random.nextInt(6);
    for (int i = 0; i < length; i++) {
      element.append(
          random.nextInt(30) == 0
              ? "😀"
              : String.valueOf(letters.charAt(random.nextInt(letters.length()))));
    }
    return element.toString();
  }

  private static void write(
      StringBuilder out, StringBuilder wanted, List<Integer> lengths, int depth, Random random) {
    out.append(blanks(random)).append('{');
    wanted.append('{');
    for (int i = 0; i < lengths.get(depth); i++) {
      out.append(i == 0 ? "" : ",").append(blanks(random));
      if (depth + 1 < lengths.size()) {
        write(out, wanted, lengths, depth + 1, random);
      } else {
        String element = element(random);
        out.append(written(element, random));
        wanted.append(element == null ? "-" : "<" + element + ">");
      }
      out.append(blanks(random));
    }
    out.append('}').append(blanks(random));
    wanted.append('}');
  }

  /// Also texts that are longer than what is read of a segment at once.
  @Test
  void shouldReadRandomArrays() {
    long seed = Long.getLong("valuetext.seed", 42);
    int rounds = Integer.getInteger("valuetext.rounds", 2_000);
    Random random = new Random(seed);
    for (int i = 0; i < rounds; i++) {
      List<Integer> lengths = new ArrayList<>();
      StringBuilder bounds = new StringBuilder();
      StringBuilder written = new StringBuilder();
      do {
        int length = 1 + random.nextInt(random.nextInt(100) == 0 ? 400 : 4);
        int lower = random.nextInt(5) - 2;
        lengths.add(length);
        bounds.append(' ').append(lower).append('+').append(length);
        written.append(blanks(random));
        written.append('[').append(lower).append(':').append(lower + length - 1).append(']');
      } while (lengths.size() < 3 && random.nextInt(3) == 0);
      boolean hasBounds = random.nextBoolean();
      StringBuilder text = new StringBuilder(hasBounds ? written + blanks(random) + "=" : "");
      StringBuilder wanted = new StringBuilder();
      write(text, wanted, lengths, 0, random);
      wanted.append(hasBounds ? bounds : bounds.toString().replaceAll(" -?\\d\\+", " 1+"));
      byte[] utf8 = text.toString().getBytes(StandardCharsets.UTF_8);
      String where = "seed " + seed + ", round " + i;
      assertEquals(wanted.toString(), read(utf8), where);
      assertEquals(wanted.toString(), readSegment(utf8), where);
    }
  }

  private String outcome(boolean ofSegment, byte[] utf8) {
    try {
      return ofSegment ? readSegment(utf8) : read(utf8);
    } catch (EngineException e) {
      return e.getMessage() + "|" + e.detail();
    }
  }

  /// Texts of an array's characters in any order: a segment's are read as an array's, and nothing but errors of values comes of them.
  @Test
  void shouldReadOrRefuseAnyText() {
    long seed = Long.getLong("valuetext.seed", 43);
    int rounds = Integer.getInteger("valuetext.rounds", 20_000);
    Random random = new Random(seed);
    String characters = "{}{},,[]:=1-\" \\anul";
    int read = 0;
    for (int i = 0; i < rounds; i++) {
      byte[] text = new byte[random.nextInt(14)];
      for (int k = 0; k < text.length; k++) {
        text[k] = (byte) characters.charAt(random.nextInt(characters.length()));
      }
      if (text.length > 1 && random.nextBoolean()) {
        text[0] = '{';
        text[text.length - 1] = '}';
      }
      String outcome = outcome(false, text);
      assertEquals(outcome, outcome(true, text), "seed " + seed + ", round " + i);
      read += outcome.startsWith("{") ? 1 : 0;
    }
    assertTrue(read > rounds / 1000, "too few arrays: " + read);
  }
}

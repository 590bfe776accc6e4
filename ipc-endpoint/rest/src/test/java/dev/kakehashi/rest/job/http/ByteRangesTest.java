package dev.kakehashi.rest.job.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteRangesTest {
  private static final long SIZE = 1000;

  @ParameterizedTest
  @CsvSource({
    "bytes=0-0, 0, 1",
    "bytes=0-999, 0, 1000",
    "bytes=0-, 0, 1000",
    "bytes=999-, 999, 1",
    "bytes=990-2000, 990, 10",
    "bytes=0-99999999999999999999999, 0, 1000",
    "bytes=-1, 999, 1",
    "bytes=-5000, 0, 1000",
    "bytes=000-001, 0, 2",
    "BYTES=5-6, 5, 2",
    "'bytes= 5-6 ', 5, 2",
    "'bytes=,5-6,', 5, 2",
    "'bytes=5-6,1000-', 5, 2"
  })
  void shouldTakeARange(String field, long from, long length) {
    assertEquals(
        new ByteRanges.Wanted.Parts(List.of(new ByteRanges.Range(from, length))),
        ByteRanges.parse(field, SIZE));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "bytes",
        "rows=0-1",
        "bytes=-",
        "bytes=a-b",
        "bytes=5",
        "bytes=5-4",
        "bytes=1-2-3",
        "bytes=+1-2",
        "bytes=1 -2",
        "bytes=--1"
      })
  void shouldIgnoreWhatIsNoRange(String field) {
    assertInstanceOf(ByteRanges.Wanted.Whole.class, ByteRanges.parse(field, SIZE));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "bytes=1000-",
        "bytes=-0",
        "bytes=1000-1001,2000-",
        "bytes=99999999999999999999-",
        "bytes=,",
        "bytes=0-5,5-9",
        "bytes=0-,-1",
        "bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16,18-18,20-20,22-22,24-24,26-26,28-28,30-30,32-32"
      })
  void shouldRefuseWhatCannotBeGiven(String field) {
    assertInstanceOf(ByteRanges.Wanted.Refused.class, ByteRanges.parse(field, SIZE));
    assertInstanceOf(
        ByteRanges.Wanted.Refused.class, ByteRanges.parse("bytes=" + "0-0,".repeat(1000), SIZE));
  }

  @Test
  void shouldTakeSeveralRangesInTheirOrder() {
    assertEquals(
        new ByteRanges.Wanted.Parts(
            List.of(new ByteRanges.Range(500, 100), new ByteRanges.Range(0, 1))),
        ByteRanges.parse("bytes=500-599, 0-0", SIZE));
  }

  @Test
  void shouldStayWithinTheFile() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    String alphabet = "0123456789-,- ";
    for (int round = 0; round < 20_000; round++) {
      StringBuilder field = new StringBuilder("bytes=");
      for (int i = random.nextInt(24); i > 0; i--) {
        field.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      long size = random.nextInt(3) == 0 ? 0 : random.nextLong(1L << random.nextInt(1, 62));
      if (ByteRanges.parse(field.toString(), size) instanceof ByteRanges.Wanted.Parts parts) {
        String where = field + " of " + size + ", seed " + seed;
        assertFalse(parts.ranges().isEmpty(), where);
        for (ByteRanges.Range range : parts.ranges()) {
          assertTrue(
              range.from() >= 0 && range.length() > 0 && range.from() + range.length() <= size,
              where);
        }
      }
    }
  }

  @Test
  void shouldCompareEntityTags() {
    assertTrue(EntityTags.contains("\"a\"", "\"a\"", false));
    assertTrue(EntityTags.contains("\"b\", W/\"a\"", "\"a\"", true));
    assertFalse(EntityTags.contains("\"b\", W/\"a\"", "\"a\"", false));
    assertTrue(EntityTags.contains("*", "\"a\"", false));
    assertFalse(EntityTags.contains("a", "\"a\"", true));
    assertFalse(EntityTags.contains("\"a", "\"a\"", true));
    assertFalse(EntityTags.contains("", "\"a\"", true));
  }
}

package dev.kakehashi.rest.job.http;

import dev.kakehashi.fuzz.FuzzTarget;
import dev.kakehashi.fuzz.Verdict;
import dev.kakehashi.rest.header.Accept;
import dev.kakehashi.rest.header.AcceptEncoding;
import dev.kakehashi.rest.header.FieldException;
import dev.kakehashi.rest.header.Prefer;
import dev.kakehashi.rest.header.StructuredField;
import dev.kakehashi.rest.header.TransactionHeader;
import dev.kakehashi.rest.problem.Problem;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Fields of an HTTP request, each parser over the same text. Ranges that are granted are within the file and do not overlap.
public final class HttpTarget implements FuzzTarget {
  private static final long SIZE = 1000;

  /// A parser of a field.
  private interface Parser {
    void parse(String field) throws FieldException;
  }

  private static final List<Parser> PARSERS =
      List.of(
          StructuredField::item,
          StructuredField::itemWithLists,
          StructuredField::list,
          StructuredField::dictionary,
          TransactionHeader::parse,
          Prefer::parse,
          field -> Accept.parse(field).choose(List.of("application/json", "text/csv")),
          field -> AcceptEncoding.choose(field, List.of("gzip", "zstd", AcceptEncoding.IDENTITY)),
          HttpTarget::ranges);

  @Override
  public void run(byte[] input) throws FieldException {
    // A field's bytes are characters of their own.
    String field = new String(input, StandardCharsets.ISO_8859_1);
    for (Parser parser : PARSERS) {
      try {
        parser.parse(field);
      } catch (Problem e) {
        if (!Verdict.isRefusal(e)) {
          throw e;
        }
      } catch (FieldException e) {
        if (e.getMessage() == null) {
          throw e;
        }
      }
    }
  }

  private static void ranges(String field) {
    if (ByteRanges.parse(field, SIZE) instanceof ByteRanges.Wanted.Parts parts) {
      boolean[] taken = new boolean[(int) SIZE];
      for (ByteRanges.Range range : parts.ranges()) {
        for (long at = range.from(); at < range.from() + range.length(); at++) {
          if (taken[(int) at]) {
            throw new AssertionError("byte " + at + " is twice in " + parts);
          }
          taken[(int) at] = true;
        }
      }
    }
  }
}

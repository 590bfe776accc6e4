package dev.kakehashi.rest.header;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.rest.header.TransactionHeader.Verb;
import dev.kakehashi.rest.problem.Problem;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TransactionHeaderTest {
  private static final String HANDLE = "00112233445566778899aabbccddeeff";

  @Test
  void shouldBeAutoCommitWithoutTheField() {
    assertSame(TransactionHeader.NONE, TransactionHeader.parse(null));
    assertEquals(Verb.AUTO, TransactionHeader.NONE.verb());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "begin;kind=ltx;isolation=repeatable-read;lease=60;label=\"night, ly\";priority=-3;timeout=5;write=(\"orders\" \"s.lines\");read=(\"a\")",
        "begin, kind=ltx, isolation=repeatable-read, lease=60, label=\"night, ly\", priority=-3, timeout=5, write=(\"orders\" \"s.lines\"), read=(\"a\")"
      })
  void shouldReadHowATransactionBegins(String field) {
    TransactionHeader header = TransactionHeader.parse(field);

    assertEquals(Verb.BEGIN, header.verb());
    assertEquals(TimeUnit.SECONDS.toNanos(60), header.leaseNanos());
    assertEquals(
        new BeginOptions(
            BeginOptions.Kind.LTX,
            BeginOptions.Isolation.REPEATABLE_READ,
            "night, ly",
            -3,
            TimeUnit.SECONDS.toNanos(5),
            new BeginOptions.Areas("orders, s.lines", "a", "")),
        header.options());
  }

  @Test
  void shouldReadHowATransactionGoesOnAndEnds() {
    TransactionHeader goesOn = TransactionHeader.parse("continue;handle=\"" + HANDLE + "\"");
    TransactionHeader ends =
        TransactionHeader.parse("end;handle=\"" + HANDLE + "\";commit=available");
    TransactionHeader aborts = TransactionHeader.parse("abort;handle=\"" + HANDLE + "\"");

    assertEquals(Verb.CONTINUE, goesOn.verb());
    assertEquals(HANDLE, goesOn.handle());
    assertEquals(Verb.END, ends.verb());
    assertEquals(CommitResponse.AVAILABLE, ends.commit());
    assertEquals(Verb.ABORT, aborts.verb());
    assertEquals(CommitResponse.STORED, aborts.commit());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          begn                          | begin
          begin;knd=occ                 | kind
          begin;kind=lts                | ltx
          begin;isolation=serialisable  | serializable
          continue;handel="x"           | handle
          end;handle="x";comit=stored   | commit
          begin, laese=5                | lease
          """)
  void shouldNameTheNearestWord(String field, String nearest) {
    Problem problem = assertThrows(Problem.class, () -> TransactionHeader.parse(field));

    assertEquals(400, problem.status());
    String json = new String(problem.toJson(), StandardCharsets.UTF_8);
    assertTrue(json.contains("Perhaps you meant \\\"" + nearest + "\\\"."), json);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "begin;",
        "\"begin\"",
        "BEGIN",
        "continue",
        "continue;handle=\"\"",
        "continue;handle=abc",
        "begin;handle=\"x\"",
        "begin;lease=-1",
        "begin;lease=1.5",
        "begin;lease=999999999999",
        "begin;write=\"orders\"",
        "begin;write=(1)",
        "begin;write=(\" \")",
        "begin;deferrable=1",
        "continue;handle=\"a\", continue;handle=\"b\"",
        "begin begin"
      })
  void shouldRefuseWhatItIsNot(String field) {
    assertEquals(400, assertThrows(Problem.class, () -> TransactionHeader.parse(field)).status());
  }

  @Test
  void shouldSayHowATransactionStands() {
    assertEquals(
        "active;handle=\"" + HANDLE + "\";expires=1764031200",
        new TransactionAnswer(TransactionState.ACTIVE, HANDLE, 1_764_031_200, "").field());
    assertEquals("committed", new TransactionAnswer(TransactionState.COMMITTED, "", 0, "").field());
    assertEquals(
        "aborted;sqlstate=\"40001\"",
        new TransactionAnswer(TransactionState.ABORTED, "", 0, "40001").field());
  }
}

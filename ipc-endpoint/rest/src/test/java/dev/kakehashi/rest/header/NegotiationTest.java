package dev.kakehashi.rest.header;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.rest.problem.Problem;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class NegotiationTest {
  private static final List<String> TYPES =
      List.of("application/json", "application/x-ndjson", "text/csv");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          */*                                        | application/json
          text/csv                                   | text/csv
          TEXT/CSV; charset=utf-8                    | text/csv
          text/*                                     | text/csv
          text/csv;q=0.5, application/json;q=0.4     | text/csv
          text/csv;q=0.4, application/*;q=0.5        | application/json
          application/json;q=0, */*                  | application/x-ndjson
          application/json;q=0.1, */*;q=0.001        | application/json
          image/png, text/csv;q=0.001                | text/csv
          """)
  void shouldChooseWhatTheClientLikesBest(String field, String chosen) {
    assertEquals(chosen, Accept.parse(field).choose(TYPES).mediaType());
  }

  @Test
  void shouldKeepTheParametersOfWhatWasChosen() {
    assertEquals(
        new Accept.Choice("application/json", Map.of("numbers", "json")),
        Accept.parse("text/html, application/json; Numbers=\"json\";q=0.9").choose(TYPES));
    assertEquals("application/json", Accept.parse(null).choose(TYPES).mediaType());
  }

  @ParameterizedTest
  @ValueSource(strings = {"image/png", "application/json;q=0", "*/*;q=0"})
  void shouldSayThatNothingFits(String field) {
    assertEquals(
        406, assertThrows(Problem.class, () -> Accept.parse(field).choose(TYPES)).status());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "json",
        "/json",
        "json/",
        "*/json",
        "a/b;q=2",
        "a/b;q=1.5",
        "a/b;q=x",
        "a/b;q=0.1234",
        "a/b;q"
      })
  void shouldRefuseWhatIsNoAccept(String field) {
    assertEquals(400, assertThrows(Problem.class, () -> Accept.parse(field)).status());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          gzip                         | gzip
          gzip, zstd                   | zstd
          gzip;q=1, zstd;q=0.5         | gzip
          br                           | identity
          *                            | zstd
          identity, gzip;q=0.5         | identity
          *;q=0, gzip                  | gzip
          gzip;q=0                     | identity
          GZIP                         | gzip
          """)
  void shouldChooseACoding(String field, String chosen) {
    assertEquals(chosen, AcceptEncoding.choose(field, List.of("zstd", "gzip")));
  }

  @Test
  void shouldSayThatNoCodingFits() {
    assertEquals("identity", AcceptEncoding.choose(null, List.of("gzip")));
    assertEquals(
        406,
        assertThrows(Problem.class, () -> AcceptEncoding.choose("*;q=0", List.of("gzip")))
            .status());
    assertEquals(
        406,
        assertThrows(
                Problem.class, () -> AcceptEncoding.choose("identity;q=0, br", List.of("gzip")))
            .status());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          respond-async                  | true  | -1
          respond-async, wait=10         | true  | 10
          Wait=5;x=y                     | false | 5
          wait="7"                       | false | 7
          wait=5, wait=6                 | false | 5
          wait=x, return=minimal         | false | -1
          wait=-1                        | false | -1
          wait = 3                       | false | 3
          foo;respond-async              | false | -1
          wait=99999999999               | false | -1
          """)
  void shouldReadPreferences(String field, boolean respondAsync, int waitSeconds) {
    assertEquals(new Prefer(respondAsync, waitSeconds), Prefer.parse(field));
  }
}

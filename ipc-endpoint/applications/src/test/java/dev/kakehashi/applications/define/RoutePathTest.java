package dev.kakehashi.applications.define;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RoutePathTest {
  private static List<Field> fields(String... names) {
    return Stream.of(names).map(name -> new Field(name, TypeOid.TEXT, true)).toList();
  }

  private static String refusal(String path, String... names) {
    EngineException e =
        assertThrows(
            EngineException.class, () -> RoutePath.check("GET x", path, fields(names)), path);
    assertEquals(ErrorCode.INVALID_PARAMETER_VALUE, e.code());
    return String.valueOf(e.getMessage());
  }

  @Test
  void shouldTakePathsWithTheParametersOfTheirRoute() {
    RoutePath.check("GET /", "/", fields());
    RoutePath.check("GET x", "/orders/v1.2_3~a-b", fields("id"));
    RoutePath.check("GET x", "/orders/{id}/lines/{line_no}", fields("id", "line_no"));
    // As Java writes it.
    RoutePath.check("GET x", "/orders/{lineNo}", fields("line_no"));
    // A class that is no record is one parameter, of any name.
    RoutePath.check("GET x", "/orders/{anything}", fields(""));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "orders",
        "/orders/",
        "//",
        "/a//b",
        "/a b",
        "/a?b",
        "/a#b",
        "/%41",
        "/{}",
        "/{1a}",
        "/{a",
        "/a}",
        "/{a}b",
        "/x{a}",
        "/{a-b}",
        "/ä",
        "/a\n"
      })
  void shouldRefuseWhatIsNoPath(String path) {
    assertTrue(refusal(path, "a").startsWith("GET x: a path is / or parts"), path);
  }

  @Test
  void shouldRefuseParametersThatDoNotFit() {
    assertEquals("GET x: {id} stands there twice", refusal("/{id}/{id}", "id"));
    assertEquals("GET x: its argument has no component id", refusal("/{id}", "other"));
    assertEquals("GET x: its argument has no component id", refusal("/{id}", "", ""));
    assertTrue(refusal("/" + "a".repeat(1_000)).contains("a path is"));
  }

  @Test
  void shouldTellWhichPathsTakeTheSameRequests() {
    assertTrue(RoutePath.sameRequests("/orders/{id}", "/orders/{number}"));
    assertTrue(RoutePath.sameRequests("/a/{x}/b/{y}", "/a/{y}/b/{x}"));
    assertFalse(RoutePath.sameRequests("/orders/{id}", "/orders/new"));
    assertFalse(RoutePath.sameRequests("/orders/{id}", "/orders/{id}/lines"));
  }
}

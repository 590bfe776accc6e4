package dev.kakehashi.rest.route;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.rest.problem.Problem;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RoutesTest {
  private static final Handler NONE = exchange -> exchange.answer().send(204);

  private final Routes routes =
      Routes.builder()
          .add(Route.get("/v1/jobs").handle(NONE))
          .add(Route.get("/v1/jobs/{token:token}").handle(NONE))
          .add(Route.get("/v1/jobs/{token:token}/files/{n:int}").handle(NONE))
          .add(Route.get("/v1/tables/{table}").handle(NONE))
          .add(Route.get("/v1/tables/special").handle(NONE))
          .add(Route.post("/v1/tables/{table}/rows").handle(NONE))
          .build();

  private String[] found(String method, String path) {
    return assertInstanceOf(Routes.Found.class, routes.match(method, path)).variables();
  }

  private void assertNotFound(String path) {
    assertInstanceOf(Routes.NoPath.class, routes.match("GET", path), path);
  }

  @Test
  void shouldFindVariablesByTheirKinds() {
    assertArrayEquals(new String[] {}, found("GET", "/v1/jobs"));
    assertArrayEquals(new String[] {"a-B_9"}, found("HEAD", "/v1/jobs/a-B_9"));
    assertArrayEquals(new String[] {"x", "12"}, found("GET", "/v1/jobs/x/files/12"));
    assertArrayEquals(new String[] {"s.ü t"}, found("GET", "/v1/tables/s.%C3%BC%20t"));
    assertNotFound("/v1/jobs/a.b");
    assertNotFound("/v1/jobs/" + "x".repeat(65));
    assertNotFound("/v1/jobs/x/files/-1");
    assertNotFound("/v1/jobs/x/files/1234567890");
    assertNotFound("/v1/jobs/");
    assertNotFound("/v1/jobs/x/files");
    assertNotFound("/v1/tables/a%00b");
    assertNotFound("");
    assertNotFound("*");
  }

  @Test
  void shouldPreferTextsToVariablesWithoutLosingThese() {
    assertArrayEquals(new String[] {}, found("GET", "/v1/tables/special"));
    assertArrayEquals(new String[] {"special"}, found("POST", "/v1/tables/special/rows"));
  }

  @Test
  void shouldTellVariablesWithTextBehindThemApart() {
    Routes leases =
        Routes.builder()
            .add(Route.post("/v1/leases/{lease:token}:complete").handle(NONE))
            .add(Route.post("/v1/leases/{lease:token}:fail").handle(NONE))
            .add(Route.post("/v1/leases:complete").handle(NONE))
            .add(Route.get("/v1/leases/{lease}").handle(NONE))
            .build();
    Routes.Found found =
        assertInstanceOf(Routes.Found.class, leases.match("POST", "/v1/leases/a-b:complete"));
    assertEquals("/v1/leases/{lease:token}:complete", found.route().path().toString());
    assertEquals("/v1/leases/{lease}:complete", found.route().path().plain());
    assertArrayEquals(new String[] {"a-b"}, found.variables());
    found = assertInstanceOf(Routes.Found.class, leases.match("POST", "/v1/leases/x%3Afail"));
    assertArrayEquals(new String[] {"x"}, found.variables());
    assertInstanceOf(Routes.Found.class, leases.match("POST", "/v1/leases:complete"));
    found = assertInstanceOf(Routes.Found.class, leases.match("GET", "/v1/leases/a.b:complete"));
    assertArrayEquals(new String[] {"a.b:complete"}, found.variables());
    assertInstanceOf(Routes.NoPath.class, leases.match("POST", "/v1/leases:fail"));
    assertThrows(IllegalArgumentException.class, () -> Route.get("/v1/{a}:b{c}").handle(NONE));
  }

  @Test
  void shouldRefuseBrokenEscapes() {
    assertThrows(Problem.class, () -> routes.match("GET", "/v1/tables/%ff"));
    assertThrows(Problem.class, () -> routes.match("GET", "/v1/tables/%4"));
    assertThrows(Problem.class, () -> routes.match("GET", "/v1/tables/%c0%ae"));
  }

  @Test
  void shouldRefuseTwoRoutesForOneMethod() {
    Routes.Builder builder = Routes.builder().add(Route.get("/v1/{a}").handle(NONE));

    assertThrows(
        IllegalArgumentException.class, () -> builder.add(Route.get("/v1/{b}").handle(NONE)));
    assertThrows(IllegalArgumentException.class, () -> Route.get("v1").handle(NONE));
    assertThrows(IllegalArgumentException.class, () -> Route.get("/v1/{a}/{a}").handle(NONE));
    assertThrows(IllegalArgumentException.class, () -> Route.get("/v1/{a:float}").handle(NONE));
  }

  @Test
  void shouldPutApplicationsBelowTheirNames() {
    Routes apps = Routes.builder().add(new App("orders")).build();

    assertEquals("/v1/apps/orders/place/{n:int}", apps.all().getFirst().path().toString());
    assertThrows(
        IllegalArgumentException.class,
        () -> Routes.builder().add(new App("orders")).add(new App("orders")));
    assertThrows(IllegalArgumentException.class, () -> Routes.builder().add(new App("a/b")));
  }

  private record App(String name) implements RestApplication {
    @Override
    public List<Route> routes() {
      return List.of(Route.post("/place/{n:int}").handle(NONE));
    }
  }
}

package dev.kakehashi.rest.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.kakehashi.rest.contract.ContractDocument.Operation;
import dev.kakehashi.rest.monitor.OpenApiDocument;
import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.server.RawClient.Answer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/// Document and routes say the same: each route is described, each description is a route, each documented status happens, and each body is
/// as its schema says.
final class OpenApiContractTest {
  /// Described routes of statements, which need an engine.
  private static final Set<String> LATER =
      Set.of(
          "POST /v1/sql",
          "GET /v1/log",
          "GET /v1/log/backup",
          "GET /v1/log/timelines",
          "GET /v1/transactions",
          "POST /v1/transactions",
          "GET /v1/transactions/{handle}",
          "DELETE /v1/transactions/{handle}",
          "POST /v1/transactions/{handle}/commit",
          "POST /v1/transactions/{handle}/rollback",
          "POST /v1/transactions/{handle}/renew",
          "POST /v1/transactions/{handle}/cancel",
          "GET /v1/tables",
          "GET /v1/tables/{table}",
          "POST /v1/load",
          "POST /v1/dump",
          "GET /v1/inspect",
          "POST /v1/tables/{table}/rows",
          "GET /v1/tables/{table}/rows",
          "GET /v1/queues",
          "GET /v1/queues/{queue}",
          "POST /v1/queues/{queue}/tasks",
          "DELETE /v1/queues/{queue}/tasks/{task}",
          "POST /v1/queues/{queue}/lease",
          "POST /v1/leases/{lease}:complete",
          "POST /v1/leases/{lease}:extend",
          "POST /v1/leases/{lease}:fail",
          "POST /v1/leases/{lease}:release",
          "POST /v1/leases:complete",
          "GET /v1/applications",
          "GET /v1/applications/{application}",
          "PUT /v1/applications/{application}",
          "DELETE /v1/applications/{application}",
          "GET /v1/applications/{application}/versions",
          "POST /v1/applications/{application}/versions/{version}/use",
          "GET /v1/applications/{application}/log",
          "GET /v1/applications/{application}/errors");

  private static final byte[] BYTES = OpenApiDocument.of(List.of()).bytes();
  private static final ContractDocument DOCUMENT = new ContractDocument(BYTES);
  private static ContractDoors doors;
  private static ContractRows rows;

  @BeforeAll
  static void open() throws IOException {
    doors = new ContractDoors();
    rows = new ContractRows(doors.jobs(), doors.uploads());
  }

  @AfterAll
  static void close() {
    doors.close();
  }

  private static Map<String, Route> routes() {
    Map<String, Route> routes = new TreeMap<>();
    for (Route route : doors.usual().routes().all()) {
      routes.put(route.method() + " " + route.path().plain(), route);
    }
    return routes;
  }

  private static List<Operation> registered() {
    return DOCUMENT.operations().stream()
        .filter(operation -> !LATER.contains(operation.name()))
        .toList();
  }

  @Test
  void shouldDescribeEachRouteAndNothingElse() {
    Set<String> described = new TreeSet<>();
    DOCUMENT.operations().forEach(operation -> described.add(operation.name()));
    assertTrue(described.containsAll(LATER), "described later: " + LATER);
    described.removeAll(LATER);

    assertEquals(routes().keySet(), described);
  }

  @Test
  void shouldBeADocumentOfOpenApi() {
    // The schema of OpenAPI 3.1 itself is not at hand without a network: what tools trip over is
    // looked at here.
    JsonNode root = new ObjectMapper().readTree(BYTES);
    assertEquals("3.1.0", root.get("openapi").asString());
    Set<String> ids = new TreeSet<>();
    for (Operation operation : DOCUMENT.operations()) {
      assertTrue(ids.add(operation.node().get("operationId").asString()), operation.name());
      assertFalse(operation.node().get("summary").asString().isEmpty(), operation.name());
      for (int status : ContractDocument.statuses(operation)) {
        JsonNode response = DOCUMENT.response(operation, status);
        assertTrue(response.has("description"), operation.name() + " " + status);
      }
      Set<String> variables = new TreeSet<>();
      Stream.of(operation.path().split("/"))
          .filter(segment -> segment.startsWith("{"))
          .forEach(segment -> variables.add(segment.substring(1, segment.indexOf('}'))));
      assertEquals(variables, DOCUMENT.parameters(operation, "path"), operation.name());
    }
    root.get("components")
        .get("schemas")
        .propertyNames()
        .forEach(name ->
            SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                .getSchema(
                    root.get("components").get("schemas").get(name).toString(), InputFormat.JSON));
  }

  @Test
  void shouldDescribeWhatARouteTakes() {
    Map<String, Route> routes = routes();
    for (Operation operation : registered()) {
      Route route = assertNotNullRoute(routes, operation);
      assertEquals(
          new TreeSet<>(route.parameters()),
          DOCUMENT.parameters(operation, "query"),
          operation.name());
      assertEquals(
          new TreeSet<>(route.accepts()), ContractDocument.accepts(operation), operation.name());
      assertEquals(route.isAnonymous(), ContractDocument.isAnonymous(operation), operation.name());
    }
  }

  private static Route assertNotNullRoute(Map<String, Route> routes, Operation operation) {
    Route route = routes.get(operation.name());
    assertNotNull(route, operation.name());
    return route;
  }

  @TestFactory
  Stream<DynamicTest> shouldAnswerAsDocumented() {
    List<DynamicTest> tests = new ArrayList<>();
    List<String> documented = new ArrayList<>();
    for (Operation operation : registered()) {
      for (int status : ContractDocument.statuses(operation)) {
        String name = operation.name() + " " + status;
        documented.add(name);
        tests.add(dynamicTest(name, () -> provoke(operation, status)));
      }
    }
    tests.add(
        dynamicTest("no row is idle", () -> assertEquals(List.of(), rows.unknown(documented))));
    return tests.stream();
  }

  private static void provoke(Operation operation, int status) throws IOException {
    ContractRows.Provocation provocation = rows.find(operation.method(), operation.path(), status);
    assertNotNull(provocation, "no row provokes it");
    Answer answer = provocation.provoke(doors);

    assertEquals(status, answer.status(), answer.text());
    JsonNode response = DOCUMENT.response(operation, status);
    assertHeaders(response, answer);
    if (response.has("content")) {
      assertBody(operation, status, response, answer);
    } else {
      assertEquals(0, answer.body().length, answer.text());
    }
  }

  @Test
  void shouldNoticeBodiesThatAreNotAsDocumented() {
    Operation about =
        registered().stream()
            .filter(operation -> operation.name().equals("GET /v1"))
            .findFirst()
            .orElseThrow();

    assertFalse(DOCUMENT.validate(about, 200, "application/json", "{}").isEmpty());
    assertFalse(
        DOCUMENT
            .validate(about, 401, "application/problem+json", "{\"type\":\"about:blank\"}")
            .isEmpty());
  }

  private static void assertHeaders(JsonNode response, Answer answer) {
    if (response.has("headers")) {
      for (Map.Entry<String, JsonNode> header : response.get("headers").properties()) {
        boolean isRequired =
            header.getValue().has("required") && header.getValue().get("required").asBoolean();
        assertTrue(
            !isRequired || !answer.header(header.getKey()).isEmpty(),
            header.getKey() + " is missing in " + answer.headers());
      }
    }
  }

  private static void assertBody(
      Operation operation, int status, JsonNode response, Answer answer) {
    String type = answer.header("Content-Type").split(";", 2)[0];
    Set<String> types = new TreeSet<>(response.get("content").propertyNames());
    assertTrue(types.contains(type) || types.contains("*/*"), type + " is none of " + types);
    if (type.endsWith("json")) {
      assertEquals(
          List.of(), DOCUMENT.validate(operation, status, type, answer.text()), answer.text());
    }
  }
}

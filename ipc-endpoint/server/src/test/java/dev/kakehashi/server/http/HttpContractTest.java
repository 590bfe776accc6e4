package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kakehashi.bulk.option.CopyOption;
import dev.kakehashi.rest.bulk.CopyOptionList;
import dev.kakehashi.rest.route.Route;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Routes of files that need an engine are as the OpenAPI document says: what they take, and the statuses and bodies of their answers.
@Timeout(60)
@SuppressWarnings("NullAway.Init") // set before the tests
class HttpContractTest {
  private static final String LOAD = "POST /v1/load";
  private static final String DUMP = "POST /v1/dump";
  private static final String INSPECT = "GET /v1/inspect";
  private static final String ROWS_IN = "POST /v1/tables/{table}/rows";
  private static final String ROWS_OUT = "GET /v1/tables/{table}/rows";
  private static final List<String> OPERATIONS = List.of(LOAD, DUMP, INSPECT, ROWS_IN, ROWS_OUT);
  private static final String ROWS = "/v1/tables/t/rows";
  private static final String JSON = "Content-Type: application/json";
  private static final String CSV = "Content-Type: text/csv";
  private static final String WAIT = "Prefer: wait=50";

  @TempDir private static Path files;
  private static HttpFixture door;
  private static JsonNode document;

  @BeforeAll
  static void start() throws IOException {
    door =
        HttpFixture.start(
            "bulk_locations", "files:" + files + ":readwrite", "bulk_user_upload_space", "1MB");
    door.table(3);
    Files.writeString(files.resolve("a.csv"), "11,a\n12,b\n");
    document = door.alice().get("/v1/openapi.json").expect(200).json();
    door.alice().sql("create role readers").expect(200);
  }

  @AfterAll
  static void stop() throws Exception {
    door.close();
  }

  private static JsonNode operation(String name) {
    String[] parts = name.split(" ", 2);
    return document.path("paths").path(parts[1]).path(parts[0].toLowerCase(Locale.ROOT));
  }

  private static JsonNode resolved(JsonNode node) {
    return node.has("$ref") ? document.at(node.path("$ref").asText().substring(1)) : node;
  }

  @Test
  void shouldDescribeWhatRoutesTake() {
    int seen = 0;
    for (Route route : door.endpoint().routes()) {
      String name = route.method() + " " + route.path().plain();
      if (OPERATIONS.contains(name)) {
        seen++;
        Set<String> parameters = new TreeSet<>();
        for (JsonNode each : operation(name).path("parameters")) {
          JsonNode parameter = resolved(each);
          if (parameter.path("in").asText().equals("query")) {
            parameters.add(parameter.path("name").asText());
          }
        }
        assertEquals(new TreeSet<>(route.parameters()), parameters, name);
        Set<String> types = new TreeSet<>();
        if (operation(name).has("requestBody")) {
          operation(name)
              .path("requestBody")
              .path("content")
              .fieldNames()
              .forEachRemaining(types::add);
        }
        assertEquals(new TreeSet<>(route.accepts()), types, name);
      }
    }
    assertEquals(OPERATIONS.size(), seen);
  }

  @Test
  void shouldDescribeEachRouteAndItsParameters() {
    Set<String> routes = new TreeSet<>();
    for (Route route : door.endpoint().routes()) {
      String name = route.method() + " " + route.path().plain();
      if (route.path().plain().startsWith("/v1")) {
        routes.add(name);
        Set<String> parameters = new TreeSet<>();
        for (JsonNode each : operation(name).path("parameters")) {
          JsonNode parameter = resolved(each);
          if (parameter.path("in").asText().equals("query")) {
            parameters.add(parameter.path("name").asText());
          }
        }
        assertEquals(new TreeSet<>(route.parameters()), parameters, name);
      }
    }
    Set<String> described = new TreeSet<>();
    document
        .path("paths")
        .properties()
        .forEach(path ->
            path.getValue()
                .fieldNames()
                .forEachRemaining(method -> {
                  if (!method.equals("parameters") && path.getKey().startsWith("/v1")) {
                    described.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey());
                  }
                }));
    assertEquals(described, routes);
  }

  @Test
  void shouldLetAnswersGrowAndRequestsNot() {
    document
        .path("paths")
        .forEach(path -> path.forEach(operation -> forbidsNothing(operation.path("responses"))));
    for (String name : List.of("Statement", "NewTask", "Load", "Dump")) {
      JsonNode others = document.at("/components/schemas/" + name + "/additionalProperties");
      assertEquals("false", others.toString(), name);
    }
  }

  private static void forbidsNothing(JsonNode node) {
    JsonNode schema = resolved(node);
    JsonNode others = schema.path("additionalProperties");
    assertTrue(!others.isBoolean() || others.asBoolean(), () -> "forbids more: " + schema);
    schema.forEach(HttpContractTest::forbidsNothing);
  }

  /// A client that goes by the document can send what the README says.
  @Test
  void shouldDescribeTheMembersOfAStatement() throws IOException {
    JsonNode members = document.at("/components/schemas/Statement/properties");
    Set<String> names = new TreeSet<>();
    members.fieldNames().forEachRemaining(names::add);
    assertEquals(
        new TreeSet<>(List.of("sql", "parameters", "parameterRows", "timeout", "lockTimeout")),
        names);
    door.alice().json("{\"sql\":\"select 1\",\"timeout\":5000,\"lockTimeout\":5000}").expect(200);
    HttpAnswer refused =
        door.alice()
            .json("{\"sql\":\"create table never (i int)\",\"parameterRows\":[]}")
            .expect(400);
    assertEquals("/parameterRows", refused.json().path("pointer").asText());
    door.alice().get("/v1/tables/never").expect(404);
    HttpAnswer bad =
        door.alice()
            .json("{\"sql\":\"select $1::int4, $2::int4\",\"parameters\":[1,\"x\"]}")
            .expect(422);
    assertEquals("/parameters/1", bad.json().path("pointer").asText());
  }

  /// The module of HTTP does not see that of files.
  @Test
  void shouldKnowTheOptionsOfCopy() {
    Set<String> load = new TreeSet<>();
    Set<String> dump = new TreeSet<>();
    for (CopyOption option : CopyOption.values()) {
      if (option.isFor(true)) {
        load.add(option.key());
      }
      if (option.isFor(false)) {
        dump.add(option.key());
      }
    }
    assertEquals(load, new TreeSet<>(CopyOptionList.LOAD));
    assertEquals(dump, new TreeSet<>(CopyOptionList.DUMP));
  }

  private static HttpAnswer send(HttpConnection client, String line, String body, String... fields)
      throws IOException {
    return client
        .send(line, body.replace('\'', '"').getBytes(StandardCharsets.UTF_8), fields)
        .answer();
  }

  /// Whether an answer has the status, and is documented as it is.
  private static void check(String name, int status, HttpAnswer answer) {
    String what = name + " " + status;
    assertEquals(status, answer.status(), () -> what + ": " + answer);
    JsonNode responses = operation(name).path("responses");
    assertTrue(responses.has(String.valueOf(status)), what + " is not documented");
    JsonNode response = resolved(responses.path(String.valueOf(status)));
    String type = answer.header("Content-Type").split(";", 2)[0];
    JsonNode content = response.path("content");
    assertTrue(content.has(type), () -> what + ": " + type + " is not documented");
    if (type.endsWith("json")) {
      List<String> errors =
          BodySchema.errors(document, content.path(type).path("schema"), answer.json());
      assertEquals(List.of(), errors, () -> what + ": " + answer);
    }
  }

  /// Requests that every route refuses in the same way.
  @Test
  void shouldRefuseAsDocumented() throws IOException {
    List<String> checked = new ArrayList<>();
    for (String name : OPERATIONS) {
      String line = name.replace("{table}", "t");
      boolean isPost = name.startsWith("POST");
      String[] typed = isPost ? new String[] {name.equals(ROWS_IN) ? CSV : JSON} : new String[0];
      try (HttpConnection nobody = HttpConnection.open(door.endpoint().uri(), "")) {
        check(name, 401, send(nobody, line, ""));
      }
      check(name, 400, send(door.alice(), line + "?unknwn=1", "", typed));
      check(name, 403, send(door.alice(), line, "", "Origin: http://evil.example"));
      if (isPost) {
        check(name, 415, send(door.alice(), line, "x", "Content-Type: image/png"));
      }
      checked.add(name);
    }
    assertEquals(OPERATIONS, checked);
  }

  @Test
  void shouldAnswerAsDocumented() throws IOException {
    HttpConnection alice = door.alice();
    String load = "{'table':'t','from':'files:a.csv','format':'csv','options':{'workers':1}}";
    String dump = "{'table':'t','to':'files:b.csv','format':'csv'}";
    check(LOAD, 202, send(alice, LOAD, load.replace("a.csv", "none.csv"), JSON));
    check(LOAD, 200, send(alice, LOAD, load, JSON, WAIT));
    check(LOAD, 404, send(alice, LOAD, load.replace("a.csv", "none.csv"), JSON, WAIT));
    check(LOAD, 406, send(alice, LOAD, load, JSON, "Accept: image/png"));
    check(LOAD, 422, send(alice, LOAD, load, JSON, WAIT)); // the keys are there
    check(
        LOAD,
        409,
        send(
            alice,
            LOAD,
            load.replace("workers", "batch_rows"),
            JSON,
            WAIT,
            HttpConnection.within("begin")));
    check(
        LOAD,
        501,
        send(alice, LOAD, load.replace("'workers':1", "'encoding':'latin1'"), JSON, WAIT));
    check(DUMP, 202, send(alice, DUMP, dump.replace("b.csv", "c.csv"), JSON));
    check(DUMP, 200, send(alice, DUMP, dump, JSON, WAIT));
    check(DUMP, 200, send(alice, DUMP, "{'table':'t'}", JSON, WAIT));
    check(DUMP, 409, send(alice, DUMP, dump, JSON, WAIT));
    check(DUMP, 404, send(alice, DUMP, dump.replace("b.csv", "no/b.csv"), JSON, WAIT));
    check(DUMP, 406, send(alice, DUMP, dump, JSON, "Accept: image/png"));
    check(DUMP, 422, send(alice, DUMP, "{'query':'select 1/0'}", JSON, WAIT));
    check(INSPECT, 200, alice.get("/v1/inspect?location=files:a.csv&format=csv"));
    check(INSPECT, 404, alice.get("/v1/inspect?location=files:none.csv"));
    check(INSPECT, 406, alice.get("/v1/inspect?location=files:a.csv", "Accept: image/png"));

    check(ROWS_IN, 200, send(alice, "POST " + ROWS, "21,a\n", CSV));
    check(ROWS_IN, 202, send(alice, "POST " + ROWS, "22,a\n", CSV, "Prefer: respond-async"));
    check(ROWS_IN, 422, send(alice, "POST " + ROWS, "x,a\n", CSV));
    check(ROWS_IN, 404, send(alice, "POST " + ROWS, "x", CSV, HttpConnection.in("0".repeat(32))));
    check(ROWS_IN, 413, send(door.alice(), "POST " + ROWS, "x".repeat((1 << 20) + 1), CSV));
    check(ROWS_IN, 507, bomb());
    for (String type :
        List.of(
            "text/csv",
            "application/vnd.apache.parquet",
            "application/vnd.apache.arrow.stream",
            "application/vnd.apache.arrow.file")) {
      check(ROWS_OUT, 200, alice.get(ROWS, "Accept: " + type));
    }
    check(ROWS_OUT, 200, alice.get(ROWS + "?compression=gzip", "Accept: text/csv"));
    check(ROWS_OUT, 406, alice.get(ROWS, "Accept: image/png"));
    check(ROWS_OUT, 404, alice.get(ROWS, HttpConnection.in("0".repeat(32))));
    check(ROWS_OUT, 403, door.bob().get(ROWS, "Accept: text/csv"));
  }

  /// A body that is short while it is packed.
  private static HttpAnswer bomb() throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      gzip.write(new byte[2 << 20]);
    }
    return door.alice()
        .send("POST " + ROWS, packed.toByteArray(), CSV, "Content-Encoding: gzip")
        .answer();
  }
}

package dev.kakehashi.rest.contract;

import com.networknt.schema.Error;
import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.node.ObjectNode;

/// The OpenAPI document as the contract test reads it.
final class ContractDocument {
  private static final String ID = "https://kakehashi.dev/openapi.json";
  private static final Set<String> METHODS =
      Set.of("get", "head", "post", "put", "patch", "delete");

  private final JsonNode root;
  private final SchemaRegistry schemas;

  ContractDocument(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    this.root = new ObjectMapper().readTree(text);
    String strict = closed(new ObjectMapper().readTree(text)).toString();
    this.schemas =
        SchemaRegistry.withDefaultDialect(
            SpecificationVersion.DRAFT_2020_12, builder -> builder.schemas(Map.of(ID, strict)));
  }

  /// Clients have to take members of later versions. This version has none that it does not describe.
  private static JsonNode closed(JsonNode node) {
    if (node instanceof ObjectNode object
        && object.get("properties") instanceof ObjectNode
        && !object.has("additionalProperties")) {
      object.put("additionalProperties", false);
    }
    node.forEach(ContractDocument::closed);
    return node;
  }

  /// @param method in capital letters
  record Operation(String method, String path, JsonNode node, JsonNode pathNode) {
    /// As `GET /v1`.
    String name() {
      return method + " " + path;
    }
  }

  List<Operation> operations() {
    List<Operation> operations = new ArrayList<>();
    for (Map.Entry<String, JsonNode> path : root.get("paths").properties()) {
      for (Map.Entry<String, JsonNode> member : path.getValue().properties()) {
        if (METHODS.contains(member.getKey())) {
          operations.add(
              new Operation(
                  member.getKey().toUpperCase(Locale.ROOT),
                  path.getKey(),
                  member.getValue(),
                  path.getValue()));
        }
      }
    }
    return operations;
  }

  /// Documented statuses.
  static List<Integer> statuses(Operation operation) {
    List<Integer> statuses = new ArrayList<>();
    operation
        .node()
        .get("responses")
        .propertyNames()
        .forEach(name -> statuses.add(Integer.valueOf(name)));
    return statuses;
  }

  /// Names of the parameters of a place, as `query`.
  Set<String> parameters(Operation operation, String in) {
    Set<String> names = new TreeSet<>();
    for (JsonNode node : List.of(operation.node(), operation.pathNode())) {
      if (node.has("parameters")) {
        for (JsonNode parameter : node.get("parameters")) {
          JsonNode resolved = resolve(parameter);
          if (resolved.get("in").asString().equals(in)) {
            names.add(resolved.get("name").asString());
          }
        }
      }
    }
    return names;
  }

  /// Media types of the request's body.
  static Set<String> accepts(Operation operation) {
    Set<String> types = new TreeSet<>();
    if (operation.node().has("requestBody")) {
      types.addAll(operation.node().get("requestBody").get("content").propertyNames());
    }
    return types;
  }

  /// Whether everybody may ask.
  static boolean isAnonymous(Operation operation) {
    return operation.node().has("security") && operation.node().get("security").isEmpty();
  }

  JsonNode response(Operation operation, int status) {
    return resolve(operation.node().get("responses").get(String.valueOf(status)));
  }

  private JsonNode resolve(JsonNode node) {
    return node.has("$ref") ? root.at(node.get("$ref").asString().substring(1)) : node;
  }

  /// Errors of a JSON body by the documented schema: what it lacks, or has too much.
  List<Error> validate(Operation operation, int status, String mediaType, String body) {
    JsonNode response = operation.node().get("responses").get(String.valueOf(status));
    String pointer =
        response.has("$ref")
            ? response.get("$ref").asString()
            : "#/paths/"
                + escaped(operation.path())
                + "/"
                + operation.method().toLowerCase(Locale.ROOT)
                + "/responses/"
                + status;
    String location = ID + pointer + "/content/" + escaped(mediaType) + "/schema";
    return schemas.getSchema(SchemaLocation.of(location)).validate(body, InputFormat.JSON);
  }

  private static String escaped(String name) {
    return name.replace("~", "~0").replace("/", "~1");
  }
}

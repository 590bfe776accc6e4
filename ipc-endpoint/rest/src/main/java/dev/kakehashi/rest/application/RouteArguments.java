package dev.kakehashi.rest.application;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.RouteSignature;
import dev.kakehashi.rest.json.StrictJson;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.ExchangeRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Arguments of a route, out of the path, the query and the JSON object of the body; one place for each.
final class RouteArguments {
  private static final JsonFactory JSON = new JsonFactory();

  private final List<Field> fields;

  /// JSON texts by field; null: not given.
  private final byte[] @Nullable [] values;

  private RouteArguments(List<Field> fields) {
    this.fields = fields;
    this.values = new byte[fields.size()][];
  }

  /// How clients may write a name: as SQL does, and as components of records are written.
  static Set<String> spellings(String name) {
    return Set.copyOf(Arrays.asList(name, camel(name)));
  }

  /// `unit_price` as `unitPrice`.
  private static String camel(String name) {
    StringBuilder text = new StringBuilder(name.length());
    boolean raise = false;
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (c == '_' && i > 0 && i + 1 < name.length()) {
        raise = true;
      } else {
        text.append(raise ? Character.toUpperCase(c) : c);
        raise = false;
      }
    }
    return text.toString();
  }

  /// @return a JSON array with a value for each parameter
  /// @throws Problem 400: one is unknown, comes twice, or is missing
  static byte[] read(ExchangeRequest request, byte[] body, RouteSignature route) {
    RouteArguments arguments = new RouteArguments(route.procedure().parameters());
    for (String variable : request.route().path().variables()) {
      arguments.put(variable, text(request.variable(variable)));
    }
    for (String parameter : request.route().parameters()) {
      String value = request.parameter(parameter);
      if (value != null) {
        arguments.put(parameter, text(value));
      }
    }
    if (body.length > 0) {
      arguments.readBody(body);
    }
    return arguments.json();
  }

  private static byte[] text(String value) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(value.length() + 8);
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      json.writeString(value);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a byte array does not fail
    }
    return bytes.toByteArray();
  }

  private int indexOf(String name) {
    if (fields.size() == 1 && fields.getFirst().name().isEmpty()) {
      return 0;
    }
    for (int i = 0; i < fields.size(); i++) {
      if (spellings(fields.get(i).name()).contains(name)) {
        return i;
      }
    }
    return -1;
  }

  private void put(String name, byte[] json) {
    int index = indexOf(name);
    if (index < 0) {
      List<String> known = new ArrayList<>();
      fields.forEach(field -> known.add(field.name()));
      throw Problem.unknownName("member", name, known);
    }
    if (values[index] != null) {
      throw Problem.badRequest("\"" + name + "\" is given twice");
    }
    values[index] = json;
  }

  private void readBody(byte[] body) {
    StrictJson.read(
        body,
        json -> {
          if (fields.size() == 1 && fields.getFirst().name().isEmpty()) {
            put("", copy(json));
          } else {
            json.members(fields.size(), name -> put(name, copy(json)));
          }
          return body;
        });
  }

  /// The value that comes, as it is.
  private static byte[] copy(StrictJson json) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(64);
    try (JsonGenerator out = JSON.createGenerator(bytes)) {
      out.copyCurrentStructure(json.parser());
    }
    return bytes.toByteArray();
  }

  private byte[] json() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(128);
    bytes.write('[');
    for (int i = 0; i < values.length; i++) {
      byte[] value = values[i];
      Field field = fields.get(i);
      if (value == null && !field.nullable()) {
        throw Problem.of(
            400,
            "missing-argument",
            "Missing argument",
            field.name().isEmpty()
                ? "the request has no value"
                : String.format(Locale.ROOT, "\"%s\" is not given", field.name()));
      }
      if (i > 0) {
        bytes.write(',');
      }
      bytes.writeBytes(value == null ? NULL : value);
    }
    bytes.write(']');
    return bytes.toByteArray();
  }

  private static final byte[] NULL = {'n', 'u', 'l', 'l'};
}

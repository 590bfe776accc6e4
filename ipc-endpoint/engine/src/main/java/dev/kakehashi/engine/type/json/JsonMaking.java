package dev.kakehashi.engine.type.json;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.JSON;
import static dev.kakehashi.protocol.TypeOid.JSONB;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.array.ArrayTypes;
import dev.kakehashi.engine.type.registry.PolymorphicFunctions;
import dev.kakehashi.engine.type.value.Casts;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Functions that make json and jsonb of values of any types.
public final class JsonMaking {
  private JsonMaking() {}

  public static void register(PolymorphicFunctions set) {
    for (int oid : new int[] {JSON, JSONB}) {
      String prefix = Types.name(oid);
      String convert = "to_" + prefix;
      set.add(convert, convert + "(anyelement) → " + prefix, oids -> converted(convert, oid, oids));
      String array = prefix + "_build_array";
      set.add(array, array + "(VARIADIC any) → " + prefix, oids -> built(array, oid, oids, false));
      String object = prefix + "_build_object";
      set.add(
          object, object + "(VARIADIC any) → " + prefix, oids -> built(object, oid, oids, true));
      for (boolean text : new boolean[] {false, true}) {
        String path = prefix + "_extract_path" + (text ? "_text" : "");
        String result = text ? "text" : prefix;
        set.add(
            path,
            path + "(" + prefix + ", VARIADIC text[]) → " + result,
            oids -> extracted(path, oid, oids, text));
      }
    }
    set.add(
        "array_to_json",
        "array_to_json(anyarray) → json",
        oids ->
            oids.length == 1 && ArrayTypes.isArray(oids[0])
                ? converted("array_to_json", JSON, oids)
                : null);
    set.add("array_to_json", "array_to_json(anyarray, boolean) → json", JsonMaking::pretty);
  }

  private static boolean dependsOnZone(int... oids) {
    return Arrays.stream(oids)
        .anyMatch(
            oid -> ArrayTypes.dependsOnZone(oid) || ArrayTypes.dependsOnZone(TypeOid.element(oid)));
  }

  private static @Nullable ScalarFunction converted(String name, int oid, int[] oids) {
    if (oids.length != 1) {
      return null;
    }
    if (oids[0] == Types.UNKNOWN) {
      throw SqlErrors.undeterminedPolymorphicType();
    }
    return new ScalarFunction(
        name,
        oids.clone(),
        oid,
        true,
        !dependsOnZone(oids),
        (a, _, c) -> {
          StringBuilder json = new StringBuilder();
          JsonOutput.append(json, oids[0], a[0], false, c);
          return JsonWords.made(oid, json.toString(), c);
        });
  }

  private static @Nullable ScalarFunction pretty(int[] oids) {
    if (oids.length != 2 || !ArrayTypes.isArray(oids[0]) || !Casts.isImplicit(oids[1], BOOL)) {
      return null;
    }
    int[] declared = {oids[0], BOOL};
    return new ScalarFunction(
        "array_to_json",
        declared,
        JSON,
        true,
        !dependsOnZone(oids),
        (a, _, c) -> {
          StringBuilder json = new StringBuilder();
          JsonOutput.append(json, oids[0], a[0], a[1] != 0, c);
          return JsonWords.made(JSON, json.toString(), c);
        });
  }

  private static ScalarFunction built(String name, int oid, int[] oids, boolean object) {
    if (oids.length > ScalarFunction.MAX_ARGUMENTS) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED,
          "cannot pass more than " + ScalarFunction.MAX_ARGUMENTS + " arguments to a function");
    }
    int[] declared = Types.unknownAsText(oids);
    return new ScalarFunction(
        name,
        declared,
        oid,
        false,
        !dependsOnZone(declared),
        (a, nulls, c) -> {
          String json = object ? object(oid, declared, a, nulls, c) : array(declared, a, nulls, c);
          return JsonWords.made(oid, json, c);
        });
  }

  private static String array(int[] oids, long[] a, long nulls, FunctionContext context) {
    StringBuilder json = new StringBuilder("[");
    for (int i = 0; i < oids.length; i++) {
      json.append(i == 0 ? "" : ", ");
      value(json, oids, a, nulls, i, context);
    }
    return json.append(']').toString();
  }

  private static void value(
      StringBuilder json, int[] oids, long[] a, long nulls, int i, FunctionContext context) {
    if ((nulls >>> i & 1) != 0) {
      json.append("null");
    } else {
      JsonOutput.append(json, oids[i], a[i], false, context);
    }
  }

  private static String object(int oid, int[] oids, long[] a, long nulls, FunctionContext context) {
    if (oids.length % 2 != 0) {
      throw unevenArguments();
    }
    StringBuilder json = new StringBuilder("{");
    for (int i = 0; i < oids.length; i += 2) {
      if ((nulls >>> i & 1) != 0) {
        throw nullKey(oid, i);
      }
      json.append(i == 0 ? "" : ", ");
      JsonOutput.appendKey(json, oids[i], a[i], context);
      json.append(" : ");
      value(json, oids, a, nulls, i + 1, context);
    }
    return json.append('}').toString();
  }

  /// `json_build_array(VARIADIC array)` and its like.
  public static ScalarFunction builtOfArray(String name, int array) {
    int oid = name.startsWith("jsonb") ? JSONB : JSON;
    int element = TypeOid.element(array);
    boolean object = name.endsWith("object");
    return new ScalarFunction(
        name,
        new int[] {array},
        oid,
        true,
        true,
        (a, _, c) -> {
          List<@Nullable String> elements = ArrayTypes.array(a[0]).elements();
          return JsonWords.made(
              oid, object ? object(oid, element, elements) : array(element, elements), c);
        });
  }

  private static String array(int element, List<@Nullable String> elements) {
    StringBuilder json = new StringBuilder("[");
    for (String each : elements) {
      Interrupts.check();
      json.append(json.length() == 1 ? "" : ", ");
      JsonOutput.append(json, element, each);
    }
    return json.append(']').toString();
  }

  private static String object(int oid, int element, List<@Nullable String> elements) {
    if (elements.size() % 2 != 0) {
      throw unevenArguments();
    }
    StringBuilder json = new StringBuilder("{");
    for (int i = 0; i < elements.size(); i += 2) {
      Interrupts.check();
      String key = elements.get(i);
      if (key == null) {
        throw nullKey(oid, i);
      }
      json.append(i == 0 ? "" : ", ");
      JsonOutput.appendKey(json, element, key);
      json.append(" : ");
      JsonOutput.append(json, element, elements.get(i + 1));
    }
    return json.append('}').toString();
  }

  private static EngineException unevenArguments() {
    return JsonWords.refused("argument list must have even number of elements");
  }

  private static EngineException nullKey(int oid, int argument) {
    return JsonWords.refused(
        "argument "
            + (argument + 1)
            + (oid == JSONB ? ": key must not be null" : " cannot be null"));
  }

  /// `json_extract_path(json, VARIADIC text[])` and its like; null for other names and arguments.
  public static @Nullable ScalarFunction extractedByArray(String name, int[] oids) {
    int oid = name.startsWith("jsonb") ? JSONB : JSON;
    String path = Types.name(oid) + "_extract_path";
    boolean text = name.equals(path + "_text");
    int[] declared = {oid, TypeOid.arrayOf(TEXT)};
    if ((!text && !name.equals(path)) || oids.length != declared.length) {
      return null;
    }
    for (int i = 0; i < oids.length; i++) {
      if (oids[i] != Types.UNKNOWN && !Casts.isImplicit(oids[i], declared[i])) {
        return null;
      }
    }
    return new ScalarFunction(
        name,
        declared,
        text ? TEXT : oid,
        true,
        true,
        (a, _, c) -> {
          List<@Nullable String> steps = ArrayTypes.array(a[1]).elements();
          return steps.stream().anyMatch(Objects::isNull)
              ? c.nullResult()
              : JsonWords.text(
                  JsonAccess.text(JsonAccess.find(JsonWords.value(a[0]), steps), text), c);
        });
  }

  private static @Nullable ScalarFunction extracted(
      String name, int oid, int[] oids, boolean text) {
    if (oids.length < 2 || oids.length > ScalarFunction.MAX_ARGUMENTS) {
      return null;
    }
    int[] declared = new int[oids.length];
    Arrays.fill(declared, TEXT);
    declared[0] = oid;
    for (int i = 0; i < oids.length; i++) {
      if (oids[i] != Types.UNKNOWN && !Casts.isImplicit(oids[i], declared[i])) {
        return null;
      }
    }
    return new ScalarFunction(
        name,
        declared,
        text ? TEXT : oid,
        false,
        true,
        (a, nulls, c) -> {
          if (nulls != 0) {
            return c.nullResult();
          }
          List<@Nullable String> path = new ArrayList<>();
          for (int i = 1; i < a.length; i++) {
            path.add(Varlena.string(a[i]));
          }
          JsonValue found = JsonAccess.find(JsonWords.value(a[0]), path);
          return JsonWords.text(JsonAccess.text(found, text), c);
        });
  }
}

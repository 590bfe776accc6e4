package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import dev.kakehashi.server.SourceFiles.SourceFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// The rooms within a module: sub-packages see those below them alone, and none of them is too full to find something in it.
class RoomsTest {
  private static final String ROOT = SourceFiles.ROOT;

  /// Files of main code that a package may have.
  private static final int MOST_FILES = 40;

  /// Files of tests that a package may have.
  private static final int MOST_TEST_FILES = 60;

  /// Packages that may have more, and how many.
  private static final Map<String, Integer> MORE_FILES =
      Map.of(
          // Generated.
          "protocol.messages", 200,
          "scheduler", 48);

  /// Components that a record may have: it is made by position, and more of them nobody can check. Groups of them are records of their own.
  private static final int MOST_COMPONENTS = 12;

  /// Arrows upwards that are left, as class and class, each with the reason for it. Their number falls.
  private static final Set<String> UPWARDS =
      Set.of(
          // The context that functions get has the session's queues and applications in it.
          "FunctionContext ApplicationScalar",
          "FunctionContext ApplicationUses",
          "FunctionContext ScalarCalls",
          "FunctionContext QueueAccess",
          "FunctionSession ApplicationUses",
          "FunctionSession QueueAccess",
          // A sealed family, or a kind of function that others look for.
          "AggregateFunction ApplicationAggregate",
          "ScalarFunction VolatileFunctions",
          // Composites have casts, orders and text of their own, which those of all values look up.
          "Casts ArrayCasts",
          "Casts JsonCasts",
          "Ordering ArrayOrder",
          "Ordering JsonbOrder",
          "Values JsonWords",
          "SearchOrder ArrayValue",
          "SearchOrder Records",
          // Single ones.
          "TextFunctions Ordering",
          "TextFunctions IdentifierParser",
          "TextFunctions TextArrays",
          "NumericIntegers WidthBucket",
          "ArrayOperators PolymorphicFunctions",
          "ArrayFunctions PolymorphicFunctions",
          "ArrayBuckets PolymorphicFunctions",
          "JsonMaking PolymorphicFunctions");

  /// Package to its sub-packages, ground floor first: each sees those before it, and none behind it. An empty name is the package itself.
  private static final Map<String, List<String>> FLOORS = new LinkedHashMap<>();

  static {
    FLOORS.put("scheduler", List.of("metrics", "platform", "", "process"));
    FLOORS.put(
        "engine",
        List.of(
            "api",
            "rights",
            "vector",
            "store",
            "type",
            "expr",
            "catalog",
            "statistics",
            "plan",
            "exec",
            "sql",
            "txn",
            "bulk",
            "ddl",
            "embedded"));
    FLOORS.put(
        "engine.exec",
        List.of(
            "rows",
            "operator",
            "scan",
            "sort",
            "join",
            "aggregate",
            "window",
            "reference",
            "dml",
            "result",
            "run"));
    FLOORS.put(
        "engine.store",
        List.of(
            "api",
            "memory",
            "log",
            "index",
            "row",
            "durable",
            "version",
            "garbage",
            "table",
            "transaction",
            "recovery",
            "check",
            ""));
    FLOORS.put("engine.store.log", List.of("file", ""));
    FLOORS.put(
        "engine.sql",
        List.of(
            "algebra",
            "cardinality",
            "lexer",
            "spelling",
            "parser",
            "typing",
            "binder",
            "table",
            "cost",
            "optimizer",
            "physical",
            "statement",
            "call",
            "dml",
            "explain",
            ""));
    FLOORS.put("engine.api", List.of("error", "thread", "bulk", "queue", "application", ""));
    FLOORS.put("engine.catalog", List.of("", "listing"));
    FLOORS.put("engine.embedded", List.of("activity", "plans", ""));
    FLOORS.put(
        "engine.type",
        List.of(
            "",
            "text",
            "numeric",
            "number",
            "time",
            "value",
            "array",
            "json",
            "queue",
            "application",
            "aggregate",
            "access",
            "registry"));
    FLOORS.put(
        "applications",
        List.of(
            "",
            "jar",
            "link",
            "type",
            "table",
            "watch",
            "function",
            "define",
            "call",
            "handler",
            "process",
            "version",
            "host",
            "child",
            "remote"));
    FLOORS.put(
        "bulk",
        List.of(
            "format", "csv", "json", "file", "value", "arrow", "parquet", "option", "dump", "load",
            ""));
    FLOORS.put("bulk.csv", List.of("text", ""));
    FLOORS.put("bulk.parquet", List.of("page", "thrift", "read", "write", ""));
    FLOORS.put("client", List.of("direct", ""));
    FLOORS.put("console", List.of("html", "access", "page", ""));
    FLOORS.put("formats", List.of("", "coding"));
    FLOORS.put("pgwire", List.of("wire", "catalog", "pool", ""));
    FLOORS.put(
        "protocol",
        List.of(
            "value", "layout", "capability", "", "file", "archive", "authentication", "generator"));
    FLOORS.put(
        "queue",
        List.of("time", "system", "record", "file", "order", "change", "deliver", "", "push"));
    FLOORS.put(
        "rest",
        List.of(
            "problem",
            "header",
            "json",
            "login",
            "route",
            "monitor",
            "job",
            "server",
            "sql",
            "application",
            "bulk",
            "queue"));
    FLOORS.put("rest.job", List.of("", "http"));
    FLOORS.put("server", List.of("doctor", "report", "socket", "start", "standby", ""));
    FLOORS.put("tck", List.of("drive", "cases", "", "transfers"));
    FLOORS.put(
        "tools",
        List.of("bulk", "queue", "application", "replay", "shell", "tpch", "training", ""));
    FLOORS.put("tools.shell", List.of("print", "", "command", "http"));
    FLOORS.put("transport", List.of("", "os", "endpoint"));
    FLOORS.put("valuetext", List.of("", "array", "number", "time"));
    FLOORS.put(
        "benchmarks",
        List.of("", "engine", "rest", "applications", "bulk", "pgwire", "queue", "standby"));
    FLOORS.put("benchmarks.applications", List.of("code", ""));
    FLOORS.put("examples", List.of("batch", "functions", "orders"));
  }

  private final JavaClasses classes = ProjectClasses.main();

  /// Looks at the compiled classes, and at the sources: a constant of another class is not seen in the compiled one.
  @Test
  void shouldSeeLowerFloorsAlone() throws IOException {
    Map<String, String> upwards = new TreeMap<>();
    List<SourceFile> sources = SourceFiles.main();
    FLOORS.forEach((top, floors) -> {
      for (JavaClass type : classes) {
        int from = floor(inside(type.getPackageName()), top, floors);
        for (Dependency each : type.getDirectDependenciesFromSelf()) {
          JavaClass target = each.getTargetClass().getBaseComponentType();
          if (from >= 0 && floor(inside(target.getPackageName()), top, floors) > from) {
            upwards.put(outermost(type) + " " + outermost(target), each.getDescription());
          }
        }
      }
      for (SourceFile file : sources) {
        int from = floor(file.packageName(), top, floors);
        for (SourceFiles.Use use : file.uses()) {
          if (from >= 0 && floor(use.packageName(), top, floors) > from) {
            upwards.putIfAbsent(
                file.name() + " " + use.className(),
                file.path() + " names " + use.packageName() + "." + use.className());
          }
        }
      }
    });
    Set<String> gone = new TreeSet<>(UPWARDS);
    gone.removeAll(upwards.keySet());
    upwards.keySet().removeAll(UPWARDS);
    assertEquals(Map.of(), upwards);
    assertEquals(Set.of(), gone, "arrows that are listed and not there any more");
  }

  @Test
  void shouldHaveAFloorForEachPackage() throws IOException {
    Map<String, TreeSet<String>> found = new TreeMap<>();
    for (SourceFile file : SourceFiles.main()) {
      String name = file.packageName();
      for (int dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
        found
            .computeIfAbsent(name.substring(0, dot), top -> new TreeSet<>())
            .add(first(name.substring(dot + 1)));
      }
    }
    for (SourceFile file : SourceFiles.main()) {
      TreeSet<String> rooms = found.get(file.packageName());
      if (rooms != null) {
        rooms.add("");
      }
    }
    assertTrue(found.size() > 10, "no packages to look at");
    Map<String, TreeSet<String>> named = new TreeMap<>();
    FLOORS.forEach((top, floors) -> {
      named.put(top, new TreeSet<>(floors));
      assertEquals(floors.size(), new TreeSet<>(floors).size(), top + " names a floor twice");
    });
    assertEquals(named, found);
  }

  @Test
  void shouldHaveFewFilesInEachPackage() throws IOException {
    assertEquals(Map.of(), full(SourceFiles.main(), MOST_FILES));
    assertEquals(Map.of(), full(SourceFiles.test(), MOST_TEST_FILES));
  }

  private static Map<String, Integer> full(List<SourceFile> files, int most) {
    Map<String, Integer> counts = new TreeMap<>();
    files.forEach(file -> counts.merge(file.packageName(), 1, Integer::sum));
    assertTrue(counts.size() > 10, "no packages to look at");
    counts
        .entrySet()
        .removeIf(
            each -> each.getValue() <= Math.max(most, MORE_FILES.getOrDefault(each.getKey(), 0)));
    return counts;
  }

  @Test
  void shouldHaveFewComponentsInEachRecord() {
    Map<String, Long> wide = new TreeMap<>();
    for (JavaClass type : classes) {
      if (type.isRecord()) {
        long components =
            type.getFields().stream()
                .filter(field -> !field.getModifiers().contains(JavaModifier.STATIC))
                .count();
        wide.put(inside(type.getName()), components);
      }
    }
    assertTrue(wide.size() > 100, "no records to look at");
    wide.values().removeIf(components -> components <= MOST_COMPONENTS);
    assertEquals(Map.of(), wide);
  }

  /// Looks at all modules, also at those that this one does not see: a reader meets the name in a text, without its package.
  @Test
  void shouldGiveEachClassANameOfItsOwn() throws IOException {
    Map<String, List<Path>> files = new TreeMap<>();
    for (SourceFile file : SourceFiles.main()) {
      files.computeIfAbsent(file.name(), name -> new ArrayList<>()).add(file.path());
    }
    assertTrue(files.containsKey("Main") && files.size() > 500, "no classes");
    files.values().removeIf(of -> of.size() == 1);
    assertEquals(Map.of(), files, "classes of one name");
  }

  private static String outermost(JavaClass type) {
    String name = type.getName().substring(type.getPackageName().length() + 1);
    int dollar = name.indexOf('$');
    return dollar < 0 ? name : name.substring(0, dollar);
  }

  /// The name of a package of ours without what all have in common; others as they are.
  private static String inside(String packageName) {
    return packageName.startsWith(ROOT) ? packageName.substring(ROOT.length()) : packageName;
  }

  /// Number of the floor of a package; -1: it is on none of these.
  private static int floor(String name, String top, List<String> floors) {
    if (name.equals(top)) {
      return floors.indexOf("");
    }
    return name.startsWith(top + ".")
        ? floors.indexOf(first(name.substring(top.length() + 1)))
        : -1;
  }

  private static String first(String name) {
    int dot = name.indexOf('.');
    return dot < 0 ? name : name.substring(0, dot);
  }
}

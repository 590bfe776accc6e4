package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// The rooms within a module: sub-packages see those below them alone, and none of them is too full to find something in it.
class RoomsTest {
  private static final String ROOT = "dev.kakehashi.";

  /// Files of main code that a package may have.
  private static final int MOST_FILES = 40;

  /// Packages that may have more, and how many.
  private static final Map<String, Integer> MORE_FILES =
      Map.of(
          // Generated.
          "protocol.messages", 200,
          "scheduler", 48);

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
            "call",
            "explain",
            ""));
  }

  private final JavaClasses classes = ProjectClasses.main();

  @Test
  void shouldSeeLowerFloorsAlone() {
    List<String> backwards = new ArrayList<>();
    FLOORS.forEach((top, floors) -> {
      for (JavaClass type : classes) {
        int from = floor(type, top, floors);
        for (Dependency each : type.getDirectDependenciesFromSelf()) {
          int to = floor(each.getTargetClass().getBaseComponentType(), top, floors);
          if (from >= 0 && to > from) {
            backwards.add(each.getDescription());
          }
        }
      }
    });
    assertEquals(List.of(), backwards);
  }

  @Test
  void shouldHaveAFloorForEachPackage() {
    FLOORS.forEach((top, floors) -> {
      TreeSet<String> found =
          classes.stream()
              .map(JavaClass::getPackageName)
              .filter(name -> name.equals(ROOT + top) || name.startsWith(ROOT + top + "."))
              .map(name ->
                  name.equals(ROOT + top) ? "" : first(name.substring((ROOT + top).length() + 1)))
              .collect(Collectors.toCollection(TreeSet::new));
      // Of a package whose classes are all in sub-packages only the annotations are left.
      if (!floors.contains("")) {
        found.remove("");
      }
      assertEquals(new TreeSet<>(floors), found, top);
    });
  }

  @Test
  void shouldHaveFewFilesInEachPackage() {
    TreeMap<String, TreeSet<String>> files = new TreeMap<>();
    for (JavaClass type : classes) {
      type.getSource()
          .flatMap(source -> source.getFileName())
          .filter(file -> !file.equals("package-info.java"))
          .ifPresent(file ->
              files.computeIfAbsent(type.getPackageName(), name -> new TreeSet<>()).add(file));
    }
    assertTrue(files.size() > FLOORS.size(), "no packages to look at");
    TreeMap<String, Integer> full = new TreeMap<>();
    files.forEach((name, of) -> {
      if (of.size() > MORE_FILES.getOrDefault(name.substring(ROOT.length()), MOST_FILES)) {
        full.put(name, of.size());
      }
    });
    assertEquals(Map.of(), full);
  }

  /// Of all modules, also of those that this one does not see: a reader meets the name in a text, without its package.
  @Test
  void shouldGiveEachClassANameOfItsOwn() throws IOException {
    Map<String, List<Path>> files = new TreeMap<>();
    Path checkout = checkout();
    Files.walkFileTree(
        checkout,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            String name = directory.getFileName().toString();
            boolean hidden = name.startsWith(".") && !directory.equals(checkout);
            return hidden || name.equals("target") || name.equals("test")
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            String name = file.getFileName().toString();
            Path relative = checkout.relativize(file);
            if (name.endsWith(".java")
                && !name.equals("package-info.java")
                && relative.toString().contains("src/main/java/")) {
              String simple = name.substring(0, name.length() - ".java".length());
              files.computeIfAbsent(simple, key -> new ArrayList<>()).add(relative);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    assertTrue(files.containsKey("Main") && files.size() > 500, "no classes of " + checkout);
    files.values().removeIf(of -> of.size() == 1);
    assertEquals(Map.of(), files, "classes of one name");
  }

  private static Path checkout() {
    Path directory = Path.of("").toAbsolutePath();
    while (directory != null && Files.notExists(directory.resolve("fdw-extension"))) {
      directory = directory.getParent();
    }
    return Objects.requireNonNull(directory, "the tests run outside of the checkout");
  }

  /// Number of the floor of a class; -1: it is on none of these.
  private static int floor(JavaClass type, String top, List<String> floors) {
    String name = type.getPackageName();
    if (name.equals(ROOT + top)) {
      return floors.indexOf("");
    }
    return name.startsWith(ROOT + top + ".")
        ? floors.indexOf(first(name.substring((ROOT + top).length() + 1)))
        : -1;
  }

  private static String first(String name) {
    int dot = name.indexOf('.');
    return dot < 0 ? name : name.substring(0, dot);
  }
}

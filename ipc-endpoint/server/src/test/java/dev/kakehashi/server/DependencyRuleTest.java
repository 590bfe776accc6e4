package dev.kakehashi.server;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Which part may see which: protocol ← transport ← client, server; protocol ← engine-api ← engine, requests, engine-tck; engine-api ←
/// value-text ← engine, formats, bulk; scheduler ← engine, requests, server; engine-api ← test-support, which tests alone see; os ← who
/// calls the C library; requests ← interfaces, which do not see each other, but for the console, which is pages of rest.
class DependencyRuleTest {
  private static final String ROOT = "dev.kakehashi.";

  /// Part to the parts that it sees. A package of another part within (engine.api in engine) is listed as a part of its own.
  private static final Map<String, String[]> SEES = new LinkedHashMap<>();

  static {
    SEES.put("scheduler", new String[0]);
    SEES.put("os", new String[0]);
    SEES.put("protocol", new String[0]);
    SEES.put("transport", new String[] {"protocol", "os"});
    SEES.put("client", new String[] {"protocol", "transport"});
    SEES.put("engine.api", new String[] {"protocol"});
    SEES.put("testsupport", new String[] {"protocol", "engine.api"});
    SEES.put("valuetext", new String[] {"protocol", "engine.api"});
    SEES.put("engine", new String[] {"protocol", "engine.api", "valuetext", "scheduler", "os"});
    SEES.put("tck", new String[] {"protocol", "engine.api"});
    SEES.put("pgwire", new String[] {"protocol", "engine.api"});
    SEES.put("requests", new String[] {"protocol", "engine.api", "scheduler"});
    SEES.put(
        "sharedmemory",
        new String[] {"protocol", "transport", "engine.api", "scheduler", "requests"});
    SEES.put("formats", new String[] {"protocol", "engine.api", "valuetext"});
    SEES.put("bulk", new String[] {"protocol", "engine.api", "valuetext", "formats", "os"});
    SEES.put("queue", new String[] {"protocol", "engine.api", "scheduler"});
    SEES.put("application", new String[0]);
    SEES.put(
        "applications", new String[] {"protocol", "engine.api", "scheduler", "application", "os"});
    SEES.put("rest", new String[] {"protocol", "engine.api", "requests", "formats", "os"});
    SEES.put("console", new String[] {"protocol", "engine.api", "requests", "rest"});
    SEES.put(
        "server",
        new String[] {
          "protocol",
          "transport",
          "engine.api",
          "engine",
          "valuetext",
          "pgwire",
          "requests",
          "sharedmemory",
          "rest",
          "console",
          "bulk",
          "queue",
          "application",
          "applications",
          "scheduler"
        });
  }

  @Test
  void shouldKeepDependencyRule() {
    JavaClasses classes = ProjectClasses.main();
    SEES.forEach((part, seen) -> {
      assertTrue(
          classes.stream().anyMatch(type -> partOf(type.getPackageName()).equals(part)),
          "no classes of " + part + " to look at");
      Set<String> allowed = new HashSet<>(Arrays.asList(seen));
      allowed.add(part);
      noClasses()
          .that(in(Set.of(part), true))
          .should()
          .dependOnClassesThat(in(allowed, false))
          .because(part + " sees " + allowed + " alone")
          .check(classes);
    });
  }

  /// Classes of ours whose part is one of `parts`, or is none of them.
  private static DescribedPredicate<JavaClass> in(Set<String> parts, boolean expected) {
    return DescribedPredicate.describe(
        "are " + (expected ? "" : "not ") + "in " + parts,
        type -> {
          String part = partOf(type.getBaseComponentType().getPackageName());
          return !part.isEmpty() && parts.contains(part) == expected;
        });
  }

  /// The longest part that a package belongs to; empty when it is not ours.
  private static String partOf(String packageName) {
    if (!packageName.startsWith(ROOT)) {
      return "";
    }
    String name = packageName.substring(ROOT.length());
    if (name.equals("engine.api") || name.startsWith("engine.api.")) {
      return "engine.api";
    }
    int dot = name.indexOf('.');
    return dot < 0 ? name : name.substring(0, dot);
  }
}

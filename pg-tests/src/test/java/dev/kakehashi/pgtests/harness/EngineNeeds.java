package dev.kakehashi.pgtests.harness;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/// Leaves out the tests that need what the engine `pgwire` has not, when the system property `kakehashi.engine` names it. JUnit finds it by
/// its service file.
///
/// `engine-pgwire.txt` lists them. With `-Dkakehashi.listed=true` these run alone, to see that each still fails.
public final class EngineNeeds implements ExecutionCondition {
  /// A line of the list.
  ///
  /// @param test simple name of a class, or with `#` and a method, or with `[…]` and a part of the display name after that
  /// @param need a capability, or a word that the list explains
  public record Need(String test, String need) {
    boolean covers(String className, String method, String displayName) {
      if (!test.contains("#")) {
        return test.equals(className);
      }
      String of = className + "#" + method;
      int bracket = test.indexOf('[');
      return bracket < 0
          ? test.equals(of)
          : test.substring(0, bracket).equals(of)
              && displayName.contains(test.substring(bracket + 1, test.length() - 1));
    }
  }

  private static final String LIST = "/engine-pgwire.txt";
  private static final List<Need> NEEDS = read();

  /// The list, in its order.
  public static List<Need> all() {
    return NEEDS;
  }

  private static List<Need> read() {
    try (InputStream in =
        Objects.requireNonNull(EngineNeeds.class.getResourceAsStream(LIST), LIST)) {
      List<Need> needs = new ArrayList<>();
      for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
        if (!line.isBlank() && !line.startsWith("#")) {
          String[] words = line.strip().split("\\s{2,}", 2);
          needs.add(new Need(words[0], words[1]));
        }
      }
      return List.copyOf(needs);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    if (!EngineServer.isOfThisRun() || context.getTestClass().isEmpty()) {
      return ConditionEvaluationResult.enabled("the engine has everything");
    }
    String className = context.getRequiredTestClass().getSimpleName();
    String method = context.getTestMethod().map(each -> each.getName()).orElse("");
    String displayName = context.getDisplayName();
    boolean listed = Boolean.getBoolean("kakehashi.listed");
    for (Need each : NEEDS) {
      if (each.covers(className, method, displayName)) {
        return listed
            ? ConditionEvaluationResult.enabled("needs " + each.need())
            : ConditionEvaluationResult.disabled("needs " + each.need());
      }
    }
    return !listed || mayHoldListed(className, method, context.getUniqueId())
        ? ConditionEvaluationResult.enabled("has what it needs")
        : ConditionEvaluationResult.disabled("is not listed");
  }

  /// Whether a part of it may be listed: a method of the class, a form of the method.
  private static boolean mayHoldListed(String className, String method, String uniqueId) {
    if (uniqueId.contains("test-template-invocation")) {
      return false;
    }
    String part = method.isEmpty() ? className + "#" : className + "#" + method + "[";
    return NEEDS.stream().anyMatch(each -> each.test().startsWith(part));
  }
}

package dev.kakehashi.tck;

import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.tck.cases.CapabilityRefusals;
import dev.kakehashi.tck.cases.NeedsCapability;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.jupiter.api.extension.TestWatcher;

/// Runs a case, or the check of the refusal of what the engine lacks for it, and notes the result.
final class ConformanceRun implements InvocationInterceptor, TestWatcher {
  private static Optional<Capability> lackingOf(ExtensionContext context) {
    return lacking(
        (EngineConformance) context.getRequiredTestInstance(), context.getRequiredTestMethod());
  }

  @Override
  public void interceptTestMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> method,
      ExtensionContext context)
      throws Throwable {
    EngineConformance suite = (EngineConformance) context.getRequiredTestInstance();
    Optional<Capability> lacking = lacking(suite, method.getExecutable());
    if (lacking.isEmpty()) {
      invocation.proceed();
      return;
    }
    invocation.skip();
    new CapabilityRefusals(suite).check(lacking.get());
  }

  /// The first capability that a case needs and the engine has not.
  private static Optional<Capability> lacking(EngineConformance suite, Method method) {
    NeedsCapability needs = method.getAnnotation(NeedsCapability.class);
    return needs == null
        ? Optional.empty()
        : Arrays.stream(needs.value()).filter(each -> !suite.capabilities().has(each)).findFirst();
  }

  @Override
  public void testSuccessful(ExtensionContext context) {
    note(context, lackingOf(context).map(each -> "refused " + each).orElse("passed"));
  }

  @Override
  public void testFailed(ExtensionContext context, Throwable cause) {
    note(context, "FAILED " + String.valueOf(cause.getMessage()).lines().findFirst().orElse(""));
  }

  private static void note(ExtensionContext context, String result) {
    EngineConformance suite = (EngineConformance) context.getRequiredTestInstance();
    Method method = context.getRequiredTestMethod();
    suite.note(method.getDeclaringClass().getSimpleName(), method.getName(), result);
  }
}

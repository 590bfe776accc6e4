package dev.kakehashi.pgtests.container;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.support.ReflectionSupport;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/// Result of `make test` on a machine without Docker: the container tests are skipped by name, and none of them is begun.
class NeedsDockerTest {
  @Test
  void shouldSkipEachContainerTestWhereNoDaemonAnswers() {
    List<Class<?>> classes =
        ReflectionSupport.findAllClassesInPackage(
            getClass().getPackageName(),
            type ->
                ContainerContract.class.isAssignableFrom(type)
                    && !Modifier.isAbstract(type.getModifiers()),
            name -> true);
    Map<String, String> skipped = new HashMap<>();
    Set<String> ended = new TreeSet<>();

    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(classes.stream().map(DiscoverySelectors::selectClass).toList())
                .configurationParameter(Docker.PARAMETER, "off")
                .build(),
            new TestExecutionListener() {
              @Override
              public void executionSkipped(TestIdentifier test, String reason) {
                skipped.put(test.getLegacyReportingName(), reason);
              }

              @Override
              public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                // The engine itself is the only one without a parent.
                test.getParentId().ifPresent(_ -> ended.add(test.getLegacyReportingName()));
              }
            });

    assertEquals(Set.of(), ended);
    assertEquals(
        classes.stream().map(Class::getName).collect(Collectors.toSet()), skipped.keySet());
    skipped.forEach((name, reason) ->
        assertTrue(reason.contains("no Docker daemon answers"), name + ": " + reason));
    assertTrue(classes.contains(Debian12WithPostgresql15Test.class), classes.toString());
  }
}

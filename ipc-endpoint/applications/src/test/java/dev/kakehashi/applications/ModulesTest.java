package dev.kakehashi.applications;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.File;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway") // what is null fails the test
class ModulesTest {
  private static final String API =
      Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
          .filter(entry -> entry.contains("application-api"))
          .collect(Collectors.joining(File.pathSeparator));
  private static final String ONE =
      "it.procedure(\"one\", Void.class, String.class, (call, none) -> %s);";

  private final PlatformRig rig = new PlatformRig();

  @AfterAll
  void close() {
    rig.close();
  }

  private String refusal(JarContent... jars) {
    EngineException e =
        assertThrows(
            EngineException.class,
            () -> rig.system.inspect("shop", List.of(jars), CodeIsolation.NONE));
    assertEquals(ErrorCode.INVALID_PARAMETER_VALUE, e.code(), e.getMessage());
    return e.getMessage();
  }

  private Object one(JarContent... jars) {
    LoadedApplication loaded = rig.system.load(rig.deploy(jars));
    return rig.call(loaded, "one").succeeded().get(0)[0];
  }

  private static JarContent module(String info, String expression) {
    return UserJar.named("shop.jar")
        .source("module-info", info)
        .source("shop.Shop", UserJar.shopSource(ONE.formatted(expression), ""))
        .content("--module-path", API);
  }

  private static UserJar library(String jar, String text) {
    return UserJar.named(jar)
        .source(
            "lib.Library",
            "package lib; public class Library { public static String text() { return \"%s\"; } }"
                .formatted(text));
  }

  @Test
  void shouldRunAModule() {
    assertEquals(
        "com.example.shop",
        one(
            module(
                """
                module com.example.shop {
                  requires dev.kakehashi.application;
                  provides dev.kakehashi.application.Application with shop.Shop;
                }
                """,
                "Shop.class.getModule().getName()")));
  }

  @Test
  void shouldFindLibrariesInOtherJars() {
    String call = "(String) Class.forName(\"lib.Library\").getMethod(\"text\").invoke(null)";
    assertEquals(
        "hello",
        one(
            UserJar.shop(ONE.formatted(call), "").content(),
            library("lib-1.2.jar", "hello").content()));
  }

  @Test
  void shouldReadFilesOfJars() {
    String read =
        "new String(Shop.class.getResourceAsStream(\"/texts/a.txt\").readAllBytes())"
            + " + Thread.currentThread().getContextClassLoader().getResource(\"texts/a.txt\")";
    assertEquals(
        "contentapplication:/shop.jar!/texts/a.txt",
        one(UserJar.shop(ONE.formatted(read), "").file("texts/a.txt", "content").content()));
  }

  @Test
  void shouldNotShowThePlatform() {
    String look =
        "it.procedure(\"look\", String.class, String.class, (call, name) -> String.valueOf(Class.forName(name)));";
    LoadedApplication loaded = rig.system.load(rig.deploy(UserJar.shop(look, "").content()));
    for (String name :
        List.of(
            "dev.kakehashi.applications.host.NativeApplications",
            "dev.kakehashi.engine.api.Engine",
            "org.slf4j.Logger",
            "javax.management.MBeanServer")) {
      EngineException e = rig.call(loaded, "look", name).failed();
      assertTrue(e.getMessage().startsWith("java.lang.ClassNotFoundException"), e.getMessage());
    }
    assertEquals(
        "class java.net.http.HttpClient",
        rig.call(loaded, "look", "java.net.http.HttpClient").succeeded().get(0)[0]);
  }

  @Test
  void shouldRefuseJarsThatDoNotFitTogether() {
    JarContent shop = UserJar.shop(ONE.formatted("\"\""), "").content();
    assertTrue(
        refusal(shop, library("a/lib-1.jar", "x").content(), library("b/lib-2.jar", "x").content())
            .contains("\"a/lib-1.jar\" and \"b/lib-2.jar\" are both module lib"));
    assertTrue(
        refusal(shop, library("one.jar", "x").content(), library("two.jar", "x").content())
            .contains("package lib is in jars"));
    assertTrue(
        refusal(shop, UserJar.shop(ONE.formatted("\"\""), "").content()).contains("both module"));
    assertTrue(
        refusal(
                module(
                    """
                    module com.example.shop {
                      requires dev.kakehashi.application;
                      requires java.desktop;
                      provides dev.kakehashi.application.Application with shop.Shop;
                    }
                    """,
                    "\"\""))
            .contains("requires module java.desktop"));
  }

  @Test
  void shouldRefuseWhatHasNoCounterpart() {
    assertTrue(
        refusal(
                UserJar.shop(
                        "it.procedure(\"p\", Bad.class, Void.class, (c, a) -> null);",
                        "record Bad(long id, Thread worker) {}")
                    .content())
            .contains(
                "procedure p: component worker of record shop.Shop$Bad is a java.lang.Thread"));
    assertTrue(
        refusal(UserJar.shop("it.longFunction(\"Twice\", (long v) -> v);", "").content())
            .contains("\"Twice\" is no name of a function"));
    assertTrue(
        refusal(
                UserJar.shop(
                        "it.longFunction(\"f\", (long v) -> v); it.procedure(\"f\", Void.class, Void.class, (c, a) -> null);",
                        "")
                    .content())
            .contains("defined twice"));
    assertTrue(
        refusal(
                UserJar.shop(
                        "it.route(HttpMethod.GET, \"/a/{what}\", Arg.class, Void.class, (c, a) -> null);",
                        "record Arg(long id) {}")
                    .content())
            .contains("no component what"));
  }

  @Test
  void shouldRefuseCodeThatFailsWhenItIsDeployed() {
    assertTrue(
        refusal(UserJar.shop("throw new IllegalStateException(\"not today\");", "").content())
            .contains("java.lang.IllegalStateException: not today"));
    assertTrue(
        refusal(UserJar.shop("", "static { Object o = null; o.hashCode(); }").content())
            .contains("cannot be linked"));
    assertTrue(
        refusal(
                UserJar.named("a.jar")
                    .source("a.A", "package a; public class A {}")
                    .file("META-INF/services/dev.kakehashi.application.Application", "a.A")
                    .content())
            .contains("does not implement"));
    assertTrue(
        refusal(
                UserJar.named("a.jar")
                    .file("META-INF/services/dev.kakehashi.application.Application", "a.A")
                    .content())
            .contains("no class a.A"));
  }

  @Test
  void shouldRefuseJarsThatAreDamaged() {
    byte[] good = UserJar.shop(ONE.formatted("\"\""), "").content().bytes();
    for (int cut = good.length - 30; cut > 0; cut -= 997) {
      assertTrue(!refusal(new JarContent("cut.jar", Arrays.copyOf(good, cut))).isEmpty());
    }
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    java.util.Random random = new java.util.Random(seed);
    for (int i = 0; i < Integer.getInteger("kakehashi.damagedJars", 30); i++) {
      byte[] bad = good.clone();
      bad[random.nextInt(bad.length)] ^= (byte) (1 + random.nextInt(255));
      try {
        rig.system.inspect("shop", List.of(new JarContent("bad.jar", bad)), CodeIsolation.NONE);
      } catch (EngineException e) {
        assertEquals(ErrorCode.INVALID_PARAMETER_VALUE, e.code(), e.getMessage());
      }
    }
  }
}

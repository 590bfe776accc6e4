package dev.kakehashi.applications;

import dev.kakehashi.application.Application;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/// Makes jars of users' code from sources.
final class UserJar {
  private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

  /// One for all, because it reads the class path.
  private static final JavaFileManager FILES = COMPILER.getStandardFileManager(null, null, null);

  private final String name;
  private final List<JavaFileObject> sources = new ArrayList<>();
  private final Map<String, byte[]> files = new LinkedHashMap<>();

  private UserJar(String name) {
    this.name = name;
  }

  static UserJar named(String name) {
    return new UserJar(name);
  }

  /// An application `shop.Shop` with members that stand within its class.
  static UserJar shop(String define, String members) {
    return named("shop.jar")
        .source("shop.Shop", shopSource(define, members))
        .file("META-INF/services/" + Application.class.getName(), "shop.Shop\n");
  }

  static String shopSource(String define, String members) {
    return """
    package shop;
    import dev.kakehashi.application.*;
    import java.math.BigDecimal;
    import java.time.*;
    import java.util.*;
    import java.util.stream.*;
    public final class Shop implements Application {
      %s
      @Override public void define(Definitions it) {
        %s
      }
    }
    """
        .formatted(members, define);
  }

  UserJar source(String className, String text) {
    URI uri = URI.create("string:///" + className.replace('.', '/') + ".java");
    sources.add(
        new SimpleJavaFileObject(uri, JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
          }
        });
    return this;
  }

  UserJar file(String path, String text) {
    files.put(path, text.getBytes(StandardCharsets.UTF_8));
    return this;
  }

  JarContent content(String... options) {
    Map<String, byte[]> all = new LinkedHashMap<>(files);
    if (!sources.isEmpty()) {
      all.putAll(compile(options));
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JarOutputStream jar = new JarOutputStream(bytes)) {
      for (Map.Entry<String, byte[]> each : all.entrySet()) {
        jar.putNextEntry(new ZipEntry(each.getKey()));
        jar.write(each.getValue());
        jar.closeEntry();
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return new JarContent(name, bytes.toByteArray());
  }

  private synchronized Map<String, byte[]> compile(String... options) {
    Map<String, ByteArrayOutputStream> classes = new LinkedHashMap<>();
    JavaFileManager manager =
        new ForwardingJavaFileManager<>(FILES) {
          @Override
          public JavaFileObject getJavaFileForOutput(
              Location location,
              String className,
              JavaFileObject.Kind kind,
              javax.tools.FileObject sibling) {
            return new SimpleJavaFileObject(
                URI.create("memory:///" + className.replace('.', '/') + ".class"), kind) {
              @Override
              public OutputStream openOutputStream() {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                classes.put(className.replace('.', '/') + ".class", out);
                return out;
              }
            };
          }
        };
    StringWriter messages = new StringWriter();
    List<String> all = new ArrayList<>(List.of(options));
    all.addAll(
        List.of("-proc:none", "-nowarn", "-classpath", System.getProperty("java.class.path")));
    if (!COMPILER.getTask(messages, manager, null, all, null, sources).call()) {
      throw new AssertionError(messages.toString());
    }
    Map<String, byte[]> compiled = new LinkedHashMap<>();
    classes.forEach((path, out) -> compiled.put(path, out.toByteArray()));
    return compiled;
  }
}

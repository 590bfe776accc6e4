package dev.kakehashi.server.http;

import dev.kakehashi.application.Application;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/// Makes the jar of an application of one class, from its source.
final class ShopJar {
  private ShopJar() {}

  private static JavaFileObject source(String text) {
    return new SimpleJavaFileObject(
        URI.create("string:///shop/Shop.java"), JavaFileObject.Kind.SOURCE) {
      @Override
      public CharSequence getCharContent(boolean ignoreEncodingErrors) {
        return text;
      }
    };
  }

  /// @param source of the class `shop.Shop`, which implements Application
  static byte[] of(String source) {
    var compiler = ToolProvider.getSystemJavaCompiler();
    Map<String, ByteArrayOutputStream> classes = new LinkedHashMap<>();
    var manager =
        new ForwardingJavaFileManager<>(compiler.getStandardFileManager(null, null, null)) {
          @Override
          public JavaFileObject getJavaFileForOutput(
              Location location,
              String className,
              JavaFileObject.Kind kind,
              javax.tools.FileObject sibling) {
            String path = className.replace('.', '/') + ".class";
            return new SimpleJavaFileObject(URI.create("memory:///" + path), kind) {
              @Override
              public OutputStream openOutputStream() {
                return classes.computeIfAbsent(path, _ -> new ByteArrayOutputStream());
              }
            };
          }
        };
    StringWriter messages = new StringWriter();
    boolean compiled =
        compiler
            .getTask(
                messages,
                manager,
                null,
                List.of("-classpath", System.getProperty("java.class.path")),
                null,
                List.of(source(source)))
            .call();
    if (!compiled) {
      throw new AssertionError("the application cannot be compiled: " + messages);
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JarOutputStream jar = new JarOutputStream(bytes)) {
      jar.putNextEntry(new ZipEntry("META-INF/services/" + Application.class.getName()));
      jar.write("shop.Shop\n".getBytes(StandardCharsets.UTF_8));
      for (Map.Entry<String, ByteArrayOutputStream> each : classes.entrySet()) {
        jar.putNextEntry(new ZipEntry(each.getKey()));
        jar.write(each.getValue().toByteArray());
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return bytes.toByteArray();
  }
}

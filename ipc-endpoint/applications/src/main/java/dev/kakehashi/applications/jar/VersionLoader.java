package dev.kakehashi.applications.jar;

import dev.kakehashi.application.Application;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.constant.ClassDesc;
import java.net.URI;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLEncoder;
import java.net.URLStreamHandler;
import java.nio.charset.StandardCharsets;
import java.security.SecureClassLoader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Classes of one version: its own from jars in memory, those of `dev.kakehashi.application` from the platform, and those of a few modules
/// of the JVM. It sees nothing else.
///
/// Thread-safe. The version goes away after its owner has let go of the loader and all that came from it.
final class VersionLoader extends SecureClassLoader {
  static {
    registerAsParallelCapable();
  }

  private static final Logger LOG = LoggerFactory.getLogger(VersionLoader.class);

  private final List<JarImage> jars;
  private final Map<String, JarImage> jarOfPackage;
  private final CodeInstrumentation instrumentation;

  /// @param jarOfPackage where classes of a package are
  VersionLoader(String name, List<JarImage> jars, Map<String, JarImage> jarOfPackage) {
    super(name, ClassLoader.getPlatformClassLoader());
    this.jars = List.copyOf(jars);
    this.jarOfPackage = new HashMap<>(jarOfPackage);
    instrumentation =
        new CodeInstrumentation(ClassHierarchyResolver.ofResourceParsing(this::classFile));
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    int dot = name.lastIndexOf('.');
    String packageName = dot < 0 ? "" : name.substring(0, dot);
    if (packageName.equals(PlatformPackages.API)) {
      return Class.forName(name, false, Application.class.getClassLoader());
    }
    JarImage jar = jarOfPackage.get(packageName);
    if (jar == null) {
      if (PlatformPackages.isVisible(packageName)) {
        return getParent().loadClass(name);
      }
      throw new ClassNotFoundException(
          name
              + ": no jar of the application has its package, and applications see none of the platform's by this name");
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded != null ? loaded : define(jar, name);
    }
  }

  @Override
  @SuppressWarnings("NullAway") // null: as the method has it
  protected Class<?> findClass(@Nullable String moduleName, String name) {
    try {
      return loadClass(name, false);
    } catch (ClassNotFoundException e) {
      return null; // as the method has it
    }
  }

  /// The class file of one of its own classes; null: it is none.
  private @Nullable InputStream classFile(ClassDesc name) {
    String descriptor = name.descriptorString();
    String path = descriptor.substring(1, descriptor.length() - 1);
    int slash = path.lastIndexOf('/');
    JarImage jar = slash < 0 ? null : jarOfPackage.get(path.substring(0, slash).replace('/', '.'));
    byte[] bytes = jar == null ? null : jar.file(path + ".class");
    return bytes == null ? null : new ByteArrayInputStream(bytes);
  }

  private Class<?> define(JarImage jar, String name) throws ClassNotFoundException {
    byte[] bytes = jar.file(name.replace('.', '/') + ".class");
    if (bytes == null) {
      throw new ClassNotFoundException(name + ": not in jar \"" + jar.name() + "\"");
    }
    byte[] changed = bytes;
    try {
      changed = instrumentation.changed(bytes);
    } catch (IllegalArgumentException e) {
      // It is linked as it is, or refused by the JVM with a better reason.
      LOG.debug("class {} cannot be stopped", name, e);
    }
    return defineClass(name, changed, 0, changed.length);
  }

  // ---- files ----

  @Override
  public @Nullable URL getResource(String path) {
    return findResource(path);
  }

  @Override
  public Enumeration<URL> getResources(String path) {
    return findResources(path);
  }

  @Override
  protected @Nullable URL findResource(@Nullable String moduleName, String path) {
    return findResource(path);
  }

  @Override
  protected @Nullable URL findResource(String path) {
    for (JarImage jar : jars) {
      byte[] bytes = jar.file(path);
      if (bytes != null) {
        return url(jar, path, bytes);
      }
    }
    return null;
  }

  @Override
  protected Enumeration<URL> findResources(String path) {
    List<URL> found = new ArrayList<>();
    for (JarImage jar : jars) {
      byte[] bytes = jar.file(path);
      if (bytes != null) {
        found.add(url(jar, path, bytes));
      }
    }
    return Collections.enumeration(found);
  }

  private static URL url(JarImage jar, String path, byte[] bytes) {
    try {
      URI uri = URI.create("application:/" + encoded(jar.name()) + "!/" + encoded(path));
      return URL.of(uri, new Handler(bytes));
    } catch (IOException e) {
      throw new IllegalStateException(path, e);
    }
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("%2F", "/").replace("+", "%20");
  }

  private static final class Handler extends URLStreamHandler {
    private final byte[] bytes;

    Handler(byte[] bytes) {
      this.bytes = bytes;
    }

    @Override
    protected URLConnection openConnection(URL url) {
      return new URLConnection(url) {
        @Override
        public void connect() {
          connected = true;
        }

        @Override
        public long getContentLengthLong() {
          return bytes.length;
        }

        @Override
        public InputStream getInputStream() {
          return new ByteArrayInputStream(bytes);
        }
      };
    }
  }
}

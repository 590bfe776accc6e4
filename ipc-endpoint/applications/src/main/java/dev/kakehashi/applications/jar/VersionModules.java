package dev.kakehashi.applications.jar;

import dev.kakehashi.application.Application;
import dev.kakehashi.applications.Refusals;
import dev.kakehashi.engine.api.error.EngineException;
import java.lang.module.Configuration;
import java.lang.module.FindException;
import java.lang.module.InvalidModuleDescriptorException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.lang.module.ResolutionException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/// Makes the layer of modules of a version, and finds its application.
///
/// A jar with `module-info.class` is the module that it says; any other one is an automatic module. Modules read each other, the allowed
/// ones of the JVM, and `dev.kakehashi.application`, which is wherever the platform has it: on the module path or on the class path.
/// Packages are open to the platform, which makes records and calls their methods.
public final class VersionModules {
  private static final String SERVICE = PlatformPackages.API + ".Application";
  private static final String SERVICE_FILE = "META-INF/services/" + SERVICE;

  private final List<JarImage> jars;
  private final Map<String, JarImage> jarOfModule = new LinkedHashMap<>();
  private final Map<String, ModuleDescriptor> descriptors = new LinkedHashMap<>();
  private final Map<String, JarImage> jarOfPackage = new HashMap<>();

  /// Classes that jars name as their application. The platform looks at them itself, because the module of the interface need not be one at
  /// run time.
  private final List<String> applications = new ArrayList<>();

  private VersionModules(List<JarImage> jars) {
    this.jars = jars;
  }

  /// Makes the class of an application known. No code of it has run when this returns.
  ///
  /// @param loaderName for stacks and displays
  /// @throws EngineException INVALID_PARAMETER_VALUE, naming jar or class: two modules of one name, a package in two jars, a module that is
  ///     not there, no application or several
  public static Class<? extends Application> load(String loaderName, List<JarImage> jars) {
    VersionModules modules = new VersionModules(jars);
    modules.describe();
    String provider = modules.provider();
    ClassLoader loader = modules.layer(loaderName);
    try {
      return Class.forName(provider, false, loader).asSubclass(Application.class);
    } catch (ClassNotFoundException e) {
      throw Refusals.of("there is no class %s, which a jar names as its application", provider);
    } catch (ClassCastException e) {
      throw Refusals.of("class %s does not implement %s", provider, SERVICE);
    } catch (LinkageError e) {
      throw Refusals.of("class %s cannot be linked: %s", provider, e);
    }
  }

  private void describe() {
    for (JarImage jar : jars) {
      if (jar.files().stream()
          .anyMatch(file ->
              file.endsWith(".class")
                  && file.indexOf('/') < 0
                  && !file.equals("module-info.class"))) {
        throw Refusals.of("jar \"%s\" has classes without a package", jar.name());
      }
      ModuleDescriptor descriptor = descriptor(jar);
      JarImage other = jarOfModule.putIfAbsent(descriptor.name(), jar);
      if (other != null) {
        throw Refusals.of(
            "jars \"%s\" and \"%s\" are both module %s",
            other.name(), jar.name(), descriptor.name());
      }
      descriptors.put(descriptor.name(), descriptor);
      for (String packageName : descriptor.packages()) {
        JarImage holder = jarOfPackage.putIfAbsent(packageName, jar);
        if (holder != null) {
          throw Refusals.of(
              "package %s is in jars \"%s\" and \"%s\"", packageName, holder.name(), jar.name());
        }
        if (PlatformPackages.isVisible(packageName) || packageName.startsWith("java.")) {
          throw Refusals.of("package %s of jar \"%s\" is one of the JVM", packageName, jar.name());
        }
      }
    }
    for (ModuleDescriptor descriptor : descriptors.values()) {
      for (ModuleDescriptor.Requires requires : descriptor.requires()) {
        boolean optional = requires.modifiers().contains(ModuleDescriptor.Requires.Modifier.STATIC);
        if (!optional
            && !descriptors.containsKey(requires.name())
            && !PlatformPackages.MODULES.contains(requires.name())) {
          throw Refusals.of(
              "module %s requires module %s, which is not among the jars and none that applications see",
              descriptor.name(), requires.name());
        }
      }
    }
  }

  private ModuleDescriptor descriptor(JarImage jar) {
    Set<String> packages = jar.packages();
    packages.remove(PlatformPackages.API); // the platform's copy serves
    byte[] info = jar.file("module-info.class");
    try {
      return info == null
          ? automatic(jar, packages)
          : withoutApi(ModuleDescriptor.read(ByteBuffer.wrap(info), () -> packages));
    } catch (InvalidModuleDescriptorException | IllegalArgumentException e) {
      throw Refusals.of("jar \"%s\" is no module: %s", jar.name(), String.valueOf(e.getMessage()));
    }
  }

  private ModuleDescriptor automatic(JarImage jar, Set<String> packages) {
    String named = jar.mainAttribute("Automatic-Module-Name");
    ModuleDescriptor.Builder builder =
        ModuleDescriptor.newAutomaticModule(
            named.isEmpty() ? jar.derivedName(jars.indexOf(jar) + 1) : named);
    List<String> providers = new ArrayList<>();
    byte[] file = jar.file(SERVICE_FILE);
    if (file != null) {
      for (String line : new String(file, StandardCharsets.UTF_8).lines().toList()) {
        String className = line.replaceFirst("#.*", "").strip();
        if (!className.isEmpty() && !providers.contains(className)) {
          providers.add(className);
        }
      }
    }
    applications.addAll(providers);
    return builder.packages(packages).build();
  }

  private ModuleDescriptor withoutApi(ModuleDescriptor read) {
    ModuleDescriptor.Builder builder =
        read.isOpen()
            ? ModuleDescriptor.newOpenModule(read.name())
            : ModuleDescriptor.newModule(read.name());
    read.requires().stream()
        .filter(requires -> !requires.name().equals(PlatformPackages.API))
        .forEach(builder::requires);
    read.exports().forEach(builder::exports);
    read.opens().forEach(builder::opens);
    read.uses().forEach(builder::uses);
    for (ModuleDescriptor.Provides provides : read.provides()) {
      if (provides.service().equals(SERVICE)) {
        applications.addAll(provides.providers());
      } else {
        builder.provides(provides);
      }
    }
    return builder.packages(read.packages()).build();
  }

  private String provider() {
    if (applications.size() == 1) {
      return applications.getFirst();
    }
    String names = jars.stream().map(JarImage::name).collect(Collectors.joining("\", \""));
    throw applications.isEmpty()
        ? Refusals.of(
            "\"%s\" has no application: neither a module that provides %s nor a file %s",
            names, SERVICE, SERVICE_FILE)
        : Refusals.of(
            "\"%s\" has several applications: %s", names, String.join(", ", applications));
  }

  private ClassLoader layer(String loaderName) {
    VersionLoader loader = new VersionLoader(loaderName, jars, jarOfPackage);
    try {
      Configuration configuration =
          Configuration.resolve(
              new Finder(descriptors),
              List.of(ModuleLayer.boot().configuration()),
              ModuleFinder.of(),
              descriptors.keySet());
      ModuleLayer.Controller controller =
          ModuleLayer.defineModules(configuration, List.of(ModuleLayer.boot()), module -> loader);
      Module api = Application.class.getModule();
      Module platform = VersionModules.class.getModule();
      for (Module module : controller.layer().modules()) {
        controller.addReads(module, api);
        for (String packageName : module.getPackages()) {
          controller.addOpens(module, packageName, platform);
        }
        platform.addReads(module);
      }
      return loader;
    } catch (FindException | ResolutionException | LayerInstantiationException e) {
      throw Refusals.of("the jars do not fit together: %s", String.valueOf(e.getMessage()));
    }
  }

  /// The jars as modules.
  private record Finder(Map<String, ModuleDescriptor> descriptors) implements ModuleFinder {
    @Override
    public Optional<ModuleReference> find(String name) {
      ModuleDescriptor descriptor = descriptors.get(name);
      return descriptor == null ? Optional.empty() : Optional.of(reference(descriptor));
    }

    @Override
    public Set<ModuleReference> findAll() {
      Set<ModuleReference> all = new LinkedHashSet<>();
      descriptors.values().forEach(descriptor -> all.add(reference(descriptor)));
      return all;
    }

    private static ModuleReference reference(ModuleDescriptor descriptor) {
      return new ModuleReference(descriptor, null) {
        @Override
        public ModuleReader open() {
          throw new UnsupportedOperationException("classes come from the loader of the version");
        }
      };
    }
  }
}

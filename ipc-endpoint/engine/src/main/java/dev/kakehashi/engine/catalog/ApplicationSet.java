package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import dev.kakehashi.engine.catalog.DeployedApplication.OfFunction;
import dev.kakehashi.engine.catalog.DeployedApplication.OfProcedure;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.pcollections.PSortedMap;
import org.pcollections.TreePMap;

/// The native applications of one version of the catalogue, what they offer by name, and the jars that they are made of. Immutable;
/// versions share what they have in common.
public final class ApplicationSet {
  static final ApplicationSet EMPTY =
      new ApplicationSet(
          TreePMap.empty(), TreePMap.empty(), TreePMap.empty(), TreePMap.empty(), TreePMap.empty());

  /// No name of a schema has this character.
  private static final char SEPARATOR = '\0';

  private final PSortedMap<Long, DeployedApplication> byId;
  private final PSortedMap<String, Long> byName;
  private final PSortedMap<String, List<OfFunction>> functions;
  private final PSortedMap<String, List<OfProcedure>> procedures;

  /// By SHA-256.
  private final PSortedMap<String, byte[]> jars;

  private ApplicationSet(
      PSortedMap<Long, DeployedApplication> byId,
      PSortedMap<String, Long> byName,
      PSortedMap<String, List<OfFunction>> functions,
      PSortedMap<String, List<OfProcedure>> procedures,
      PSortedMap<String, byte[]> jars) {
    this.byId = byId;
    this.byName = byName;
    this.functions = functions;
    this.procedures = procedures;
    this.jars = jars;
  }

  // ---- questions ----

  public boolean isEmpty() {
    return byId.isEmpty();
  }

  /// In the order of their numbers.
  public Collection<DeployedApplication> all() {
    return byId.values();
  }

  public @Nullable DeployedApplication get(long applicationId) {
    return byId.get(applicationId);
  }

  public @Nullable DeployedApplication find(String schema, String name) {
    Long id = byName.isEmpty() ? null : byName.get(key(schema, name));
    return id == null ? null : byId.get(id);
  }

  /// Functions of a name, of all kinds; several differ in their parameters. All are of one application.
  public List<OfFunction> functions(String schema, String name) {
    return functions.isEmpty() ? List.of() : functions.getOrDefault(key(schema, name), List.of());
  }

  /// Procedures of a name; several differ in their parameters. All are of one application.
  public List<OfProcedure> procedures(String schema, String name) {
    return procedures.isEmpty() ? List.of() : procedures.getOrDefault(key(schema, name), List.of());
  }

  /// Bytes of a jar, which nobody changes; null: there is no such one.
  public byte @Nullable [] jar(String sha256) {
    return jars.get(sha256);
  }

  /// SHA-256 of all jars.
  public Collection<String> jars() {
    return jars.keySet();
  }

  // ---- changes ----

  /// An application of its number goes.
  ApplicationSet plus(DeployedApplication application) {
    ApplicationSet without = minus(application.applicationId());
    PSortedMap<String, List<OfFunction>> ofFunctions = without.functions;
    PSortedMap<String, List<OfProcedure>> ofProcedures = without.procedures;
    ApplicationContents contents = application.contents();
    for (int i = 0; i < contents.functions().size(); i++) {
      String key = key(application.schema(), contents.functions().get(i).name());
      ofFunctions =
          ofFunctions.plus(key, and(ofFunctions.get(key), new OfFunction(application, i)));
    }
    for (int i = 0; i < contents.procedures().size(); i++) {
      String key = key(application.schema(), contents.procedures().get(i).name());
      ofProcedures =
          ofProcedures.plus(key, and(ofProcedures.get(key), new OfProcedure(application, i)));
    }
    return new ApplicationSet(
        without.byId.plus(application.applicationId(), application),
        without.byName.plus(
            key(application.schema(), application.name()), application.applicationId()),
        ofFunctions,
        ofProcedures,
        jars);
  }

  private static <T> List<T> and(@Nullable List<T> before, T added) {
    List<T> all = before == null ? new ArrayList<>() : new ArrayList<>(before);
    all.add(added);
    return List.copyOf(all);
  }

  ApplicationSet minus(long applicationId) {
    DeployedApplication gone = byId.get(applicationId);
    if (gone == null) {
      return this;
    }
    Set<String> names = new HashSet<>();
    ApplicationContents contents = gone.contents();
    contents.functions().stream().map(FunctionSignature::name).forEach(names::add);
    contents.procedures().stream().map(ProcedureSignature::name).forEach(names::add);
    PSortedMap<String, List<OfFunction>> ofFunctions = functions;
    PSortedMap<String, List<OfProcedure>> ofProcedures = procedures;
    for (String name : names) {
      ofFunctions = ofFunctions.minus(key(gone.schema(), name));
      ofProcedures = ofProcedures.minus(key(gone.schema(), name));
    }
    return new ApplicationSet(
        byId.minus(applicationId),
        byName.minus(key(gone.schema(), gone.name())),
        ofFunctions,
        ofProcedures,
        jars);
  }

  ApplicationSet plusJar(String sha256, byte[] bytes) {
    return new ApplicationSet(byId, byName, functions, procedures, jars.plus(sha256, bytes));
  }

  ApplicationSet minusJar(String sha256) {
    return new ApplicationSet(byId, byName, functions, procedures, jars.minus(sha256));
  }

  private static String key(String schema, String name) {
    return schema + SEPARATOR + name;
  }
}

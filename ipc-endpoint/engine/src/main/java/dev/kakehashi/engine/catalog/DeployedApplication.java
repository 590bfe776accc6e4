package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationDefinition.VersionDefinition;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.rights.Acl;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.rights.RoleSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A native application as of one version of the catalogue, with the versions of it that are kept. Immutable.
///
/// @param applicationId number of the object
/// @param current number of the version that the name means
/// @param versions in the order of their numbers; the current one is among them
/// @param comment what COMMENT said, or null
/// @param rights whose it is, and who may use its routes and the members about which nothing was said
/// @param granted by the name of a function or procedure: what was granted on it
public record DeployedApplication(
    long applicationId,
    String schema,
    String name,
    int current,
    List<Version> versions,
    ApplicationOptions options,
    @Nullable String comment,
    Rights rights,
    Map<String, Acl> granted) {
  /// Versions that are kept besides the current one.
  public static final int KEPT_VERSIONS = 9;

  public DeployedApplication {
    versions = List.copyOf(versions);
    granted = Map.copyOf(granted);
  }

  /// A version, and when it was deployed.
  ///
  /// @param deployedMicros since 2000-01-01 UTC
  public record Version(VersionDefinition definition, long deployedMicros) {}

  /// A function of the current version.
  ///
  /// @param index of [ApplicationContents#functions]
  public record OfFunction(DeployedApplication application, int index) {
    public FunctionSignature signature() {
      return application.contents().functions().get(index);
    }
  }

  /// A procedure of the current version.
  ///
  /// @param index of [ApplicationContents#procedures]
  public record OfProcedure(DeployedApplication application, int index) {
    public ProcedureSignature signature() {
      return application.contents().procedures().get(index);
    }
  }

  /// The version that the name means.
  public Version version() {
    for (Version version : versions) {
      if (version.definition().number() == current) {
        return version;
      }
    }
    throw new IllegalStateException("application " + name + " has no version " + current);
  }

  /// The version of a number, or null.
  public @Nullable Version version(int number) {
    for (Version version : versions) {
      if (version.definition().number() == number) {
        return version;
      }
    }
    return null;
  }

  public ApplicationContents contents() {
    return version().definition().contents();
  }

  /// Definition for the application system.
  ///
  /// @param roles of the same version of the catalogue
  public ApplicationDefinition definition(RoleSet roles) {
    return new ApplicationDefinition(
        applicationId, schema, name, roles.name(rights.owner()), version().definition(), options);
  }

  // ---- rights ----

  /// Rights on a function or procedure.
  public Rights rightsOf(String member) {
    Acl said = granted.get(member);
    return said == null ? rights : new Rights(rights.owner(), said);
  }

  /// The same with other grants on a function or procedure.
  public DeployedApplication withGranted(String member, Acl acl) {
    Map<String, Acl> next = new TreeMap<>(granted);
    if (acl.isSameAs(rights.effective(ObjectKind.APPLICATION))) {
      next.remove(member);
    } else {
      next.put(member, acl);
    }
    return with(rights, next);
  }

  /// The same of another owner, or with other grants on the whole.
  public DeployedApplication withRights(Rights newRights) {
    return with(newRights, granted);
  }

  /// The same with other rights on the whole and on its members.
  public DeployedApplication with(Rights newRights, Map<String, Acl> newGranted) {
    return new DeployedApplication(
        applicationId, schema, name, current, versions, options, comment, newRights, newGranted);
  }

  // ---- changes ----

  public DeployedApplication named(String newSchema, String newName) {
    return new DeployedApplication(
        applicationId, newSchema, newName, current, versions, options, comment, rights, granted);
  }

  public DeployedApplication withOptions(ApplicationOptions newOptions) {
    return new DeployedApplication(
        applicationId, schema, name, current, versions, newOptions, comment, rights, granted);
  }

  public DeployedApplication withComment(@Nullable String text) {
    return new DeployedApplication(
        applicationId, schema, name, current, versions, options, text, rights, granted);
  }

  /// @param number of the version that the name means from now on
  public DeployedApplication withVersions(List<Version> newVersions, int number) {
    return new DeployedApplication(
        applicationId, schema, name, number, newVersions, options, comment, rights, granted);
  }
}

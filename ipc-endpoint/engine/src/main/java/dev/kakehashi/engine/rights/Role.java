package dev.kakehashi.engine.rights;

import org.jspecify.annotations.Nullable;

/// A role. Immutable.
///
/// @param id its number: names may change
/// @param verifier of its password: SCRAM's form, [#NO_PASSWORD], or null: as the user file says
/// @param validUntil when the password ends, microseconds since 2000-01-01 UTC; null: never
/// @param comment what COMMENT said, or null
/// @param implied whether no statement has made it: its user was there before there were roles
public record Role(
    long id,
    String name,
    boolean superuser,
    boolean inherits,
    boolean createsRoles,
    boolean createsDatabases,
    boolean logsIn,
    @Nullable String verifier,
    @Nullable Long validUntil,
    @Nullable String comment,
    boolean implied) {
  /// The verifier of who cannot log in with any password.
  public static final String NO_PASSWORD = "";

  /// A role with what a new one has.
  public Role(long id, String name) {
    this(id, name, false, true, false, false, false, null, null, null, false);
  }

  public Role named(String newName) {
    return new Role(
        id,
        newName,
        superuser,
        inherits,
        createsRoles,
        createsDatabases,
        logsIn,
        verifier,
        validUntil,
        comment,
        implied);
  }

  public Role withSuperuser(boolean value) {
    return new Role(
        id,
        name,
        value,
        inherits,
        createsRoles,
        createsDatabases,
        logsIn,
        verifier,
        validUntil,
        comment,
        implied);
  }

  public Role withInherits(boolean value) {
    return new Role(
        id,
        name,
        superuser,
        value,
        createsRoles,
        createsDatabases,
        logsIn,
        verifier,
        validUntil,
        comment,
        implied);
  }

  public Role withCreatesRoles(boolean value) {
    return new Role(
        id,
        name,
        superuser,
        inherits,
        value,
        createsDatabases,
        logsIn,
        verifier,
        validUntil,
        comment,
        implied);
  }

  public Role withCreatesDatabases(boolean value) {
    return new Role(
        id,
        name,
        superuser,
        inherits,
        createsRoles,
        value,
        logsIn,
        verifier,
        validUntil,
        comment,
        implied);
  }

  public Role withLogin(boolean value) {
    return new Role(
        id,
        name,
        superuser,
        inherits,
        createsRoles,
        createsDatabases,
        value,
        verifier,
        validUntil,
        comment,
        implied);
  }

  public Role withVerifier(@Nullable String text) {
    return new Role(
        id,
        name,
        superuser,
        inherits,
        createsRoles,
        createsDatabases,
        logsIn,
        text,
        validUntil,
        comment,
        implied);
  }

  public Role withValidUntil(@Nullable Long micros) {
    return new Role(
        id,
        name,
        superuser,
        inherits,
        createsRoles,
        createsDatabases,
        logsIn,
        verifier,
        micros,
        comment,
        implied);
  }

  public Role withComment(@Nullable String text) {
    return new Role(
        id,
        name,
        superuser,
        inherits,
        createsRoles,
        createsDatabases,
        logsIn,
        verifier,
        validUntil,
        text,
        implied);
  }

  @Override
  public String toString() {
    return name; // a verifier is nobody's business
  }
}

package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.rights.Acl;
import dev.kakehashi.engine.rights.AclItem;
import dev.kakehashi.engine.rights.Membership;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.pcollections.PSortedMap;
import org.pcollections.TreePMap;

/// Rights in a version of the catalogue, besides those that are part of the form of tables, views and sequences. Immutable.
///
/// Its entries are `role/` number, `member/` number of the role `/` number of the member, `rights/schema/` name, `rights/location/` name,
/// `rights/database`, and `defaults/` number of the role `/` kind `/` schema or nothing, with the forms of [RightsFields].
public final class Access {
  /// The engine's only database.
  public static final String DATABASE = "kakehashi";

  private static final String ROLE = "role/";
  private static final String MEMBER = "member/";
  private static final String SCHEMA = "rights/schema/";
  private static final String LOCATION = "rights/location/";
  private static final String OF_DATABASE = "rights/database";
  private static final String DEFAULTS = "defaults/";

  /// The schema `public` of the beginning: everybody may use what is in it, as in PostgreSQL 15.
  private static final Rights PUBLIC_SCHEMA = usable();

  /// Where the system's tables are.
  private static final Rights SYSTEM_SCHEMA = usable();

  private final RoleSet roles;
  private final PSortedMap<String, Rights> schemas;
  private final PSortedMap<String, Rights> locations;
  private final Rights database;
  private final PSortedMap<String, Acl> defaults;

  /// Privileges that objects get when somebody makes them.
  ///
  /// @param role number of who makes them
  /// @param schema where; empty: anywhere
  /// @param granted anywhere: all that holds then; in a schema: what is added
  public record Default(long role, ObjectKind kind, String schema, Acl granted) {}

  private Access(
      RoleSet roles,
      PSortedMap<String, Rights> schemas,
      PSortedMap<String, Rights> locations,
      Rights database,
      PSortedMap<String, Acl> defaults) {
    this.roles = roles;
    this.schemas = schemas;
    this.locations = locations;
    this.database = database;
    this.defaults = defaults;
  }

  /// Rights of a catalogue without any statement about rights.
  static Access initial() {
    return new Access(
        RoleSet.initial(), TreePMap.empty(), TreePMap.empty(), Rights.INITIAL, TreePMap.empty());
  }

  private static Rights usable() {
    AclItem everybody =
        new AclItem(Acl.PUBLIC, RoleSet.SUPERUSER, Privilege.set(Privilege.USAGE), 0);
    Acl owner = Acl.initial(ObjectKind.SCHEMA, RoleSet.SUPERUSER);
    return new Rights(RoleSet.SUPERUSER, owner.and(Acl.of(List.of(everybody))));
  }

  public RoleSet roles() {
    return roles;
  }

  public Rights database() {
    return database;
  }

  /// Rights of a schema that exists.
  public Rights schema(String name) {
    Rights said = schemas.get(name);
    if (said != null) {
      return said;
    }
    return name.equals(CatalogSnapshot.DEFAULT_SCHEMA)
        ? PUBLIC_SCHEMA
        : SystemTables.isSystemSchema(name) ? SYSTEM_SCHEMA : Rights.INITIAL;
  }

  /// Rights of a location, whether the settings have it or not.
  public Rights location(String name) {
    return locations.getOrDefault(name, Rights.INITIAL);
  }

  /// Locations about whose rights something was said.
  public List<String> locations() {
    return List.copyOf(locations.keySet());
  }

  /// Whether anything was said about a schema's rights.
  public boolean says(String schema) {
    return schemas.containsKey(schema);
  }

  /// Default privileges for objects that a role makes; null: none were set.
  public @Nullable Acl defaults(long role, ObjectKind kind, String schema) {
    return defaults.get(key(role, kind, schema));
  }

  /// All that was said about objects to come.
  public List<Default> defaults() {
    return defaults.entrySet().stream().map(entry -> of(entry.getKey(), entry.getValue())).toList();
  }

  private static Default of(String key, Acl acl) {
    String[] parts = key.split("/", 3);
    return new Default(Long.parseLong(parts[0]), ObjectKind.valueOf(parts[1]), parts[2], acl);
  }

  private static String key(long role, ObjectKind kind, String schema) {
    return role + "/" + kind + "/" + schema;
  }

  /// The rights of an object that a role makes: what it has said about such ones.
  public Rights made(long role, ObjectKind kind, String schema) {
    Acl anywhere = defaults(role, kind, "");
    Acl inSchema = defaults(role, kind, schema);
    if (anywhere == null && inSchema == null) {
      return new Rights(role, null);
    }
    Acl base = anywhere == null ? Acl.initial(kind, role) : anywhere;
    return new Rights(role, null).with(inSchema == null ? base : base.and(inSchema), kind);
  }

  // ---- entries ----

  static boolean accepts(String key) {
    return key.startsWith(ROLE)
        || key.startsWith(MEMBER)
        || key.startsWith(SCHEMA)
        || key.startsWith(LOCATION)
        || key.equals(OF_DATABASE)
        || key.startsWith(DEFAULTS);
  }

  /// Whether an entry is about roles, which everything may name.
  static boolean isAboutRoles(String key) {
    return key.startsWith(ROLE) || key.startsWith(MEMBER);
  }

  Access put(String key, byte[] value) {
    if (key.startsWith(ROLE)) {
      long id = number(key, key.substring(ROLE.length()));
      Role role = RightsFields.read(key, value, in -> RightsFields.readRole(in, id));
      return with(roles.with(role));
    }
    if (key.startsWith(MEMBER)) {
      long[] pair = pair(key);
      Membership membership =
          RightsFields.read(key, value, in -> RightsFields.readMembership(in, pair[0], pair[1]));
      return with(roles.with(membership));
    }
    if (key.startsWith(SCHEMA)) {
      Rights rights = RightsFields.read(key, value, RightsFields::readRights);
      return new Access(
          roles,
          schemas.plus(key.substring(SCHEMA.length()), rights),
          locations,
          database,
          defaults);
    }
    if (key.startsWith(LOCATION)) {
      Rights rights = RightsFields.read(key, value, RightsFields::readRights);
      return new Access(
          roles,
          schemas,
          locations.plus(key.substring(LOCATION.length()), rights),
          database,
          defaults);
    }
    if (key.equals(OF_DATABASE)) {
      return new Access(
          roles,
          schemas,
          locations,
          RightsFields.read(key, value, RightsFields::readRights),
          defaults);
    }
    Acl acl = RightsFields.read(key, value, RightsFields::readAcl);
    return new Access(
        roles, schemas, locations, database, defaults.plus(key.substring(DEFAULTS.length()), acl));
  }

  Access remove(String key) {
    if (key.startsWith(ROLE)) {
      return with(roles.without(number(key, key.substring(ROLE.length()))));
    }
    if (key.startsWith(MEMBER)) {
      long[] pair = pair(key);
      return with(roles.without(pair[0], pair[1]));
    }
    if (key.startsWith(SCHEMA)) {
      return new Access(
          roles, schemas.minus(key.substring(SCHEMA.length())), locations, database, defaults);
    }
    if (key.startsWith(LOCATION)) {
      return new Access(
          roles, schemas, locations.minus(key.substring(LOCATION.length())), database, defaults);
    }
    return key.startsWith(DEFAULTS)
        ? new Access(
            roles, schemas, locations, database, defaults.minus(key.substring(DEFAULTS.length())))
        : new Access(roles, schemas, locations, Rights.INITIAL, defaults);
  }

  private Access with(RoleSet newRoles) {
    return new Access(newRoles, schemas, locations, database, defaults);
  }

  private static long[] pair(String key) {
    String[] parts = key.substring(MEMBER.length()).split("/", 2);
    return new long[] {number(key, parts[0]), number(key, parts[parts.length - 1])};
  }

  private static long number(String key, String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new EngineException(
          ErrorCode.DATA_CORRUPTED, "catalogue entry \"" + key + "\" names no role", e);
    }
  }

  // ---- changes ----

  /// Adds a role, or gives it another form.
  public static CatalogChange put(Role role) {
    return new CatalogChange.Put(
        ROLE + role.id(), RightsFields.bytes(out -> RightsFields.writeRole(out, role)));
  }

  public static CatalogChange removeRole(long id) {
    return new CatalogChange.Remove(ROLE + id);
  }

  public static CatalogChange put(Membership membership) {
    return new CatalogChange.Put(
        MEMBER + membership.role() + "/" + membership.member(),
        RightsFields.bytes(out -> RightsFields.writeMembership(out, membership)));
  }

  public static CatalogChange removeMembership(Membership membership) {
    return new CatalogChange.Remove(MEMBER + membership.role() + "/" + membership.member());
  }

  public static CatalogChange putSchema(String schema, Rights rights) {
    return new CatalogChange.Put(
        SCHEMA + schema, RightsFields.bytes(out -> RightsFields.writeRights(out, rights)));
  }

  public static CatalogChange removeSchema(String schema) {
    return new CatalogChange.Remove(SCHEMA + schema);
  }

  /// Change that sets the rights of a location; it removes the entry where nothing was granted or revoked.
  public static CatalogChange putLocation(String location, Rights rights) {
    return rights.acl() == null
        ? new CatalogChange.Remove(LOCATION + location)
        : new CatalogChange.Put(
            LOCATION + location, RightsFields.bytes(out -> RightsFields.writeRights(out, rights)));
  }

  public static CatalogChange putDatabase(Rights rights) {
    return new CatalogChange.Put(
        OF_DATABASE, RightsFields.bytes(out -> RightsFields.writeRights(out, rights)));
  }

  public static CatalogChange put(Default said) {
    return new CatalogChange.Put(
        DEFAULTS + key(said.role(), said.kind(), said.schema()),
        RightsFields.bytes(out -> RightsFields.writeAcl(out, said.granted())));
  }

  public static CatalogChange remove(Default said) {
    return new CatalogChange.Remove(DEFAULTS + key(said.role(), said.kind(), said.schema()));
  }

  /// Rights of the schemas that have an entry, by name.
  Map<String, Rights> schemas() {
    return Collections.unmodifiableMap(schemas);
  }
}

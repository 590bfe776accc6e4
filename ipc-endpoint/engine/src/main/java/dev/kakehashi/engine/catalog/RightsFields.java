package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.rights.Acl;
import dev.kakehashi.engine.rights.AclItem;
import dev.kakehashi.engine.rights.Membership;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.protocol.ErrorCode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/// Fields of entries of the store's catalogue about rights.
///
/// ```
/// acl: i4 items, each: i8 grantee · i8 grantor · i4 privileges · i4 grantable
/// rights: i8 owner · u1 hasAcl [· acl]
/// role: u1 version (1) · utf name · u1 superuser, inherits, createsRoles, createsDatabases, logsIn · text verifier
///   · u1 limited [· i8 validUntil] · text comment · u1 implied
/// membership: u1 version (1) · i8 grantor · u1 admin
/// ```
///
/// Bits of privileges are those of [dev.kakehashi.engine.rights.Privilege], which gets new ones at the end alone.
final class RightsFields {
  private static final int VERSION = 1;

  private RightsFields() {}

  /// Writes an entry.
  interface Writer {
    void write(DataOutputStream out) throws IOException;
  }

  /// Reads an entry.
  interface Reader<T> {
    T read(DataInputStream in) throws IOException;
  }

  static byte[] bytes(Writer writer) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      writer.write(out);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  /// @throws EngineException DATA_CORRUPTED if the entry cannot be read
  static <T> T read(String key, byte[] value, Reader<T> reader) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(value))) {
      if (in.readUnsignedByte() != VERSION) {
        throw new IOException("unknown version");
      }
      return reader.read(in);
    } catch (IOException unreadable) {
      throw new EngineException(
          ErrorCode.DATA_CORRUPTED,
          "catalogue entry \"" + key + "\" cannot be read: " + unreadable.getMessage(),
          unreadable);
    }
  }

  static void writeAcl(DataOutputStream out, Acl acl) throws IOException {
    out.writeInt(acl.items().size());
    for (AclItem item : acl.items()) {
      out.writeLong(item.grantee());
      out.writeLong(item.grantor());
      out.writeInt(item.privileges());
      out.writeInt(item.grantable());
    }
  }

  static Acl readAcl(DataInputStream in) throws IOException {
    List<AclItem> items = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      items.add(new AclItem(in.readLong(), in.readLong(), in.readInt(), in.readInt()));
    }
    return Acl.of(items);
  }

  static void writeRights(DataOutputStream out, Rights rights) throws IOException {
    out.writeLong(rights.owner());
    Acl acl = rights.acl();
    out.writeBoolean(acl != null);
    if (acl != null) {
      writeAcl(out, acl);
    }
  }

  static Rights readRights(DataInputStream in) throws IOException {
    return new Rights(in.readLong(), in.readBoolean() ? readAcl(in) : null);
  }

  static void writeRole(DataOutputStream out, Role role) throws IOException {
    out.writeUTF(role.name());
    out.writeBoolean(role.superuser());
    out.writeBoolean(role.inherits());
    out.writeBoolean(role.createsRoles());
    out.writeBoolean(role.createsDatabases());
    out.writeBoolean(role.logsIn());
    EntryFields.writeText(out, role.verifier());
    Long until = role.validUntil();
    out.writeBoolean(until != null);
    if (until != null) {
      out.writeLong(until);
    }
    EntryFields.writeText(out, role.comment());
    out.writeBoolean(role.implied());
  }

  static Role readRole(DataInputStream in, long id) throws IOException {
    return new Role(
        id,
        in.readUTF(),
        in.readBoolean(),
        in.readBoolean(),
        in.readBoolean(),
        in.readBoolean(),
        in.readBoolean(),
        EntryFields.readText(in),
        in.readBoolean() ? in.readLong() : null,
        EntryFields.readText(in),
        in.readBoolean());
  }

  static void writeMembership(DataOutputStream out, Membership membership) throws IOException {
    out.writeLong(membership.grantor());
    out.writeBoolean(membership.admin());
  }

  static Membership readMembership(DataInputStream in, long role, long member) throws IOException {
    return new Membership(role, member, in.readLong(), in.readBoolean());
  }
}

package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.type.SequenceDefinition;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/// The forms of sequences and views in the store's catalogue; [TableCodec] has that of tables, and the words.
final class CatalogCodec {
  private static final int VERSION = 2;

  /// The version that has had rights first.
  private static final int RIGHTS = 2;

  private CatalogCodec() {}

  private static int version(DataInputStream in) throws IOException {
    int version = in.readUnsignedByte();
    if (version < 1 || version > VERSION) {
      throw new IOException("unknown version");
    }
    return version;
  }

  /// A sequence: u1 version (2) · utf schema · utf name · i8 id · i4 type · i8 state, start, increment, min, max, cache · u1 cycles · text
  /// comment; since version 2: rights.
  static byte[] encode(Sequence sequence) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    SequenceDefinition numbers = sequence.definition();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeUTF(sequence.schema());
      out.writeUTF(sequence.name());
      out.writeLong(sequence.sequenceId());
      out.writeInt(sequence.typeOid());
      out.writeLong(numbers.stateId());
      out.writeLong(numbers.start());
      out.writeLong(numbers.increment());
      out.writeLong(numbers.min());
      out.writeLong(numbers.max());
      out.writeLong(numbers.cache());
      out.writeBoolean(numbers.cycles());
      EntryFields.writeText(out, sequence.comment());
      RightsFields.writeRights(out, sequence.rights());
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  /// A view: u1 version (2) · utf schema · utf name · i8 id · text query · i4 columns, each: utf source · utf name · i4 oid · i4 modifier ·
  /// text comment; text comment of the view; since version 2: rights · per column acl.
  static byte[] encode(View view) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeUTF(view.schema());
      out.writeUTF(view.name());
      out.writeLong(view.viewId());
      EntryFields.writeText(out, view.text());
      out.writeInt(view.columns().size());
      for (int i = 0; i < view.columns().size(); i++) {
        Column column = view.columns().get(i);
        out.writeUTF(view.sources().get(i));
        out.writeUTF(column.name());
        out.writeInt(column.type().oid());
        out.writeInt(column.type().typeModifier());
        EntryFields.writeText(out, column.comment());
      }
      EntryFields.writeText(out, view.comment());
      RightsFields.writeRights(out, view.rights());
      for (Column column : view.columns()) {
        RightsFields.writeAcl(out, column.acl());
      }
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  /// @throws EngineException DATA_CORRUPTED if the entry cannot be read
  static View decodeView(String key, byte[] value) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(value))) {
      int version = version(in);
      String schema = in.readUTF();
      String name = in.readUTF();
      long viewId = in.readLong();
      String text = String.valueOf(EntryFields.readText(in));
      List<String> sources = new ArrayList<>();
      List<Column> columns = new ArrayList<>();
      for (int count = in.readInt(); count > 0; count--) {
        sources.add(in.readUTF());
        String column = in.readUTF();
        columns.add(
            new Column(column, new SqlType(in.readInt(), in.readInt()), false, null)
                .withComment(EntryFields.readText(in)));
      }
      String comment = EntryFields.readText(in);
      Rights rights = version < RIGHTS ? Rights.INITIAL : RightsFields.readRights(in);
      for (int i = 0; version >= RIGHTS && i < columns.size(); i++) {
        columns.set(i, columns.get(i).withAcl(RightsFields.readAcl(in)));
      }
      return new View(
          schema, name, viewId, text, List.copyOf(sources), List.copyOf(columns), comment, rights);
    } catch (IOException truncated) {
      throw unreadable(key, truncated);
    }
  }

  private static EngineException unreadable(String key, IOException reason) {
    return new EngineException(
        ErrorCode.DATA_CORRUPTED,
        "catalogue entry \"" + key + "\" cannot be read: " + reason.getMessage(),
        reason);
  }

  /// @throws EngineException DATA_CORRUPTED if the entry cannot be read
  static Sequence decodeSequence(String key, byte[] value) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(value))) {
      int version = version(in);
      String schema = in.readUTF();
      String name = in.readUTF();
      return new Sequence(
          schema,
          name,
          in.readLong(),
          in.readInt(),
          new SequenceDefinition(
              in.readLong(),
              name,
              in.readLong(),
              in.readLong(),
              in.readLong(),
              in.readLong(),
              in.readLong(),
              in.readBoolean()),
          EntryFields.readText(in),
          version < RIGHTS ? Rights.INITIAL : RightsFields.readRights(in));
    } catch (IOException truncated) {
      throw unreadable(key, truncated);
    }
  }
}

package dev.kakehashi.protocol.generator;

import dev.kakehashi.protocol.generator.Schema.Block;
import dev.kakehashi.protocol.generator.Schema.Data;
import dev.kakehashi.protocol.generator.Schema.EnumType;
import dev.kakehashi.protocol.generator.Schema.Field;
import dev.kakehashi.protocol.generator.Schema.Group;
import dev.kakehashi.protocol.generator.Schema.Message;
import dev.kakehashi.protocol.generator.Schema.Primitive;
import dev.kakehashi.protocol.generator.Schema.SetType;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/// Emits `kh_messages.c`: a decoder and an encoder per message.
///
/// Every read goes through `take`, every write through `claim`; nothing else moves through a frame. Only
/// helpers that the schema needs are emitted, as unused static functions are warnings.
final class MessagesSource {
  private final Schema schema;
  private final CText c;

  private MessagesSource(Schema schema, String source) {
    this.schema = schema;
    this.c = CText.file(source, "Decoders and encoders; see kh_messages.h.");
  }

  static String emit(Schema schema, String source) {
    return new MessagesSource(schema, source).emit();
  }

  private String emit() {
    c.block(resource("codec.c.txt"));
    if (schema.messages().stream().anyMatch(message -> !message.groups().isEmpty())) {
      c.block(resource("groups.c.txt"));
    }
    c.line("");
    for (Primitive primitive : primitives()) {
      c.line("ACCESSORS(%s, %s)", primitive.accessor(), primitive.typeInC);
    }
    List<String> usedEnums = fields().map(Field::enumType).distinct().toList();
    schema.enums().stream()
        .filter(type -> usedEnums.contains(type.name()))
        .forEach(this::enumCheck);
    for (Message message : schema.messages()) {
      for (Group group : message.groups()) {
        entryReader(message, group);
        groupReader(message, group);
      }
      decoder(message);
      encoder(message);
    }
    return c.toString();
  }

  private Stream<Field> fields() {
    return schema.messages().stream()
        .flatMap(message ->
            Stream.concat(
                message.block().fields().stream(),
                message.groups().stream().flatMap(group -> group.block().fields().stream())));
  }

  private Set<Primitive> primitives() {
    Set<Primitive> used = EnumSet.noneOf(Primitive.class);
    fields().map(Field::primitive).forEach(used::add);
    return used;
  }

  private void enumCheck(EnumType type) {
    c.line("")
        .line("static bool")
        .line("is_%s(%s value)", CText.lower(type.name()), type.encoding().typeInC);
    c.open().line("switch (value)").open();
    for (Schema.Value value : type.values()) {
      c.line("case KH_%s_%s:", CText.upper(type.name()), CText.upper(value.name()));
    }
    c.line("\treturn true;").line("default:").line("\treturn false;").close().close();
  }

  /// One entry of a group; used for the check of the whole group and for each visit.
  private void entryReader(Message message, Group group) {
    String name = entryName(message, group);
    c.line("").line("static bool");
    c.line("read_%s(reader *r, uint16_t block_bytes, kh_%s *out)", name, name);
    c.open().line("const unsigned char *block = take(r, block_bytes);").line("");
    c.line("if (block == NULL)").line("\treturn false;");
    readBlock(group.block());
    readData(group.data());
    c.line("return true;").close();
  }

  private void groupReader(Message message, Group group) {
    String name = entryName(message, group);
    c.line("").line("static bool").line("read_%s_group(reader *r, kh_group *group)", name);
    c.open().line("kh_%s entry;", name).line("");
    c.line("if (!begin_read_group(r, group))").line("\treturn false;");
    c.line("for (uint16_t i = 0; i < group->count; i++)").open();
    c.line("if (!read_%s(r, group->block_bytes, &entry))", name).line("\treturn false;").close();
    c.line("group->bytes = (size_t) (r->at - group->at);").line("return true;").close();

    c.line("").line("bool").line("kh_%s_next(kh_group *group, kh_%s *out)", name, name);
    c.open().line("reader\t\tr = {group->at, group->bytes, group->version};").line("");
    c.line("if (group->count == 0 || !read_%s(&r, group->block_bytes, out))", name);
    c.line("\treturn false;").line("group->count--;");
    c.line("group->at = r.at;").line("group->bytes = r.left;").line("return true;").close();
  }

  private void decoder(Message message) {
    String name = CText.lower(message.name());
    c.line("").line("bool");
    c.line("kh_%s_decode(const void *frame, size_t bytes, kh_%s_message *out)", name, name);
    c.open()
        .line("reader\t\tcursor;")
        .line("reader\t   *r = &cursor;")
        .line("size_t\t\tblock_bytes;");
    c.line(
        "const unsigned char *block = begin_read(r, frame, bytes, KH_%s_TEMPLATE_ID, &block_bytes);",
        CText.upper(message.name()));
    c.line("").line("if (block == NULL)").line("\treturn false;");
    c.line("memset(out, 0, sizeof(*out));");
    readBlock(message.block());
    for (Group group : message.groups()) {
      String since = group.since() > 1 ? "r->version >= " + group.since() + " && " : "";
      String entries = CText.lower(group.name());
      c.line("if (%s!read_%s_group(r, &out->%s_group))", since, entryName(message, group), entries);
      c.line("\treturn false;");
      c.line("out->%s_count = out->%s_group.count;", entries, entries);
    }
    readData(message.data());
    c.line("return end_read(r);").close();
  }

  private void readBlock(Block block) {
    if (block.fields().isEmpty()) {
      return; // no block is shorter than nothing
    }
    if (block.original()) {
      c.line("if (block_bytes < %d)", block.bytesOfVersion(schema.version()))
          .line("\treturn false;");
    } else {
      block.fields().stream()
          .mapToInt(Field::since)
          .distinct()
          .sorted()
          .forEach(since -> {
            c.line("if (r->version >= %d && block_bytes < %d)", since, block.bytesOfVersion(since));
            c.line("\treturn false;");
          });
    }
    for (Field field : block.fields()) {
      String name = CText.lower(field.name());
      String read =
          "out->%s = get_%s(block + %d);"
              .formatted(name, field.primitive().accessor(), field.offset());
      if (field.since() > 1) {
        c.line("if (r->version >= %d)", field.since()).open().line(read);
      } else {
        c.line(read);
      }
      checkValue(field, name);
      if (field.since() > 1) {
        c.close();
        c.line("else").line("\tout->%s = 0;", name);
      }
    }
  }

  private void checkValue(Field field, String name) {
    if (!field.enumType().isEmpty()) {
      c.line("if (!is_%s(out->%s))", CText.lower(field.enumType()), name).line("\treturn false;");
    }
    if (!field.setType().isEmpty()) {
      SetType set =
          schema.sets().stream()
              .filter(type -> type.name().equals(field.setType()))
              .findFirst()
              .orElseThrow();
      c.line("if ((out->%s & ~0x%xu) != 0 && r->version <= KH_SCHEMA_VERSION)", name, set.mask());
      c.line("\treturn false;");
      c.line("out->%s &= 0x%xu;", name, set.mask());
    }
  }

  private void readData(List<Data> data) {
    for (Data datum : data) {
      String name = CText.lower(datum.name());
      c.open().line("const unsigned char *data = NULL;").line("uint32_t\tn = 0;").line("");
      String since = datum.since() > 1 ? "r->version >= " + datum.since() + " && " : "";
      c.line("if (%s!read_bytes(r, %d, &data, &n))", since, datum.maxBytes())
          .line("\treturn false;");
      if (datum.utf8()) {
        c.line("if (!is_utf8(data, n))").line("\treturn false;");
      }
      c.line("out->%s.data = (const %s *) data;", name, datum.utf8() ? "char" : "unsigned char");
      c.line("out->%s.bytes = n;", name).close();
    }
  }

  private void encoder(Message message) {
    String name = CText.lower(message.name());
    c.line("").line("size_t");
    c.line("kh_%s_encode(const kh_%s_message *message, void *frame, size_t capacity)", name, name);
    c.open().line("writer\t\tcursor;").line("writer\t   *w = &cursor;");
    c.line(
        "unsigned char *block = begin_write(w, frame, capacity, KH_%s_TEMPLATE_ID, %d);",
        CText.upper(message.name()), message.block().bytes());
    c.line("").line("if (block == NULL)").line("\treturn 0;");
    putBlock(message.block(), "message->");
    for (Group group : message.groups()) {
      String entries = CText.lower(group.name());
      c.line("if (!begin_write_group(w, %d, message->%s_count))", group.block().bytes(), entries);
      c.line("\treturn 0;");
      c.line("for (uint16_t i = 0; i < message->%s_count; i++)", entries).open();
      c.line("const kh_%s *entry = &message->%s[i];", entryName(message, group), entries).line("");
      c.line("if ((block = claim(w, %d)) == NULL)", group.block().bytes()).line("\treturn 0;");
      c.line("memset(block, 0, %d);", group.block().bytes());
      putBlock(group.block(), "entry->");
      putData(group.data(), "entry->");
      c.close();
    }
    putData(message.data(), "message->");
    c.line("return w->used;").close();
  }

  private void putBlock(Block block, String from) {
    for (Field field : block.fields()) {
      c.line(
          "put_%s(block + %d, %s%s);",
          field.primitive().accessor(), field.offset(), from, CText.lower(field.name()));
    }
  }

  private void putData(List<Data> data, String from) {
    for (Data datum : data) {
      String name = from + CText.lower(datum.name());
      c.line("if (!write_bytes(w, %d, %s.data, %s.bytes))", datum.maxBytes(), name, name);
      c.line("\treturn 0;");
    }
  }

  private static String entryName(Message message, Group group) {
    return CText.lower(message.name()) + "_" + CText.lower(group.name());
  }

  private static String resource(String name) {
    try (InputStream stream = MessagesSource.class.getResourceAsStream(name)) {
      if (stream == null) {
        throw new IllegalStateException("resource " + name + " is missing from the build");
      }
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}

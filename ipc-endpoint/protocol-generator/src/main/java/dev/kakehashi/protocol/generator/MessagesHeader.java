package dev.kakehashi.protocol.generator;

import dev.kakehashi.protocol.generator.Schema.Data;
import dev.kakehashi.protocol.generator.Schema.EnumType;
import dev.kakehashi.protocol.generator.Schema.Field;
import dev.kakehashi.protocol.generator.Schema.Group;
import dev.kakehashi.protocol.generator.Schema.Message;
import dev.kakehashi.protocol.generator.Schema.SetType;
import java.util.List;

/// Emits `kh_messages.h`: constants, one struct per message, the functions.
final class MessagesHeader {
  private static final String TYPES =
      """

      #include <stdbool.h>
      #include <stddef.h>
      #include <stdint.h>

      /* Bytes of a frame, not NUL-terminated; decoded ones are valid as long as the frame. Text is checked to be UTF-8. */
      typedef struct kh_text
      {
      	const char *data;
      	uint32_t	bytes;
      } kh_text;

      typedef struct kh_bytes
      {
      	const unsigned char *data;
      	uint32_t	bytes;
      } kh_bytes;

      /* Entries of a decoded group that have not been visited yet; the whole group has been checked. */
      typedef struct kh_group
      {
      	const unsigned char *at;
      	size_t		bytes;
      	uint16_t	count;
      	uint16_t	block_bytes;
      	uint16_t	version;
      } kh_group;

      typedef struct kh_message_header
      {
      	uint16_t	block_bytes;
      	uint16_t	template_id;
      	uint16_t	schema_id;
      	uint16_t	version;
      } kh_message_header;

      #define KH_MESSAGE_HEADER_BYTES 8

      /* Reads the header of any message; false when the frame is too short or of another schema. */
      extern bool kh_message_header_decode(const void *frame, size_t bytes, kh_message_header *out);

      /*
       * kh_<message>_decode: true if the frame is one whole valid message of that kind; out is undefined otherwise. Reads no
       * byte at or after bytes, and takes what newer versions have appended as absent. The frame must be private memory:
       * pointers in out lead into it.
       *
       * kh_<message>_encode: bytes written, or 0 when the message does not fit into capacity or a value exceeds its limit.
       *
       * kh_<message>_<group>_next: the next entry, or false after the last one.
       */
      """;

  private MessagesHeader() {}

  static String emit(Schema schema, String source) {
    CText c = CText.file(source, "Messages of the protocol: structs and bounds-checked codecs.");
    c.line("#ifndef KAKEHASHI_MESSAGES_H").line("#define KAKEHASHI_MESSAGES_H").block(TYPES);
    c.line("").line("#define KH_SCHEMA_ID %d", schema.id());
    c.line("#define KH_SCHEMA_VERSION %d", schema.version());
    for (EnumType type : schema.enums()) {
      c.line("").line("enum").open();
      for (Schema.Value value : type.values()) {
        c.line(
            "KH_%s_%s = %d,%s",
            CText.upper(type.name()),
            CText.upper(value.name()),
            value.number(),
            CText.comment(value.description()));
      }
      c.close(";");
    }
    for (SetType type : schema.sets()) {
      c.line("").line("enum").open();
      for (Schema.Value bit : type.bits()) {
        c.line("KH_%s_%s = 0x%x,", CText.upper(type.name()), CText.upper(bit.name()), bit.number());
      }
      c.close(";");
    }
    for (Message message : schema.messages()) {
      message(c, message);
    }
    return c.line("").line("#endif").toString();
  }

  private static void message(CText c, Message message) {
    String name = CText.lower(message.name());
    c.line("").line("#define KH_%s_TEMPLATE_ID %d", CText.upper(message.name()), message.id());
    for (Group group : message.groups()) {
      c.line("");
      struct(c, name + "_" + CText.lower(group.name()), group.block().fields(), group.data());
      c.close(" kh_" + name + "_" + CText.lower(group.name()) + ";");
    }
    c.line("");
    if (!message.description().isEmpty()) {
      c.line("/* %s */", message.description());
    }
    struct(c, name + "_message", message.block().fields(), message.data());
    for (Group group : message.groups()) {
      String entries = CText.lower(group.name());
      c.line(
          "const kh_%s_%s *%s;\t/* to encode: %s_count entries */",
          name, entries, entries, entries);
      c.line("uint16_t\t%s_count;", entries);
      c.line("kh_group\t%s_group;\t/* decoded: for kh_%s_%s_next */", entries, name, entries);
    }
    c.close(" kh_" + name + "_message;");
    c.line("")
        .line(
            "extern bool kh_%s_decode(const void *frame, size_t bytes, kh_%s_message *out);",
            name, name);
    c.line(
        "extern size_t kh_%s_encode(const kh_%s_message *message, void *frame, size_t capacity);",
        name, name);
    for (Group group : message.groups()) {
      String entry = name + "_" + CText.lower(group.name());
      c.line("extern bool kh_%s_next(kh_group *group, kh_%s *out);", entry, entry);
    }
  }

  private static void struct(CText c, String name, List<Field> fields, List<Data> data) {
    c.line("typedef struct kh_%s", name).open();
    for (Field field : fields) {
      c.line(
          "%s\t%s;%s",
          field.primitive().typeInC, CText.lower(field.name()), CText.comment(field.description()));
    }
    for (Data datum : data) {
      c.line(
          "%s\t%s;%s",
          datum.utf8() ? "kh_text" : "kh_bytes",
          CText.lower(datum.name()),
          CText.comment(datum.description()));
    }
  }
}

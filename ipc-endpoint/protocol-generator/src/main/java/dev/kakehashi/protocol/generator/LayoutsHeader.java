package dev.kakehashi.protocol.generator;

import dev.kakehashi.protocol.generator.Schema.Field;
import dev.kakehashi.protocol.generator.Schema.Message;
import java.util.Comparator;
import java.util.List;

/// Emits `kh_layouts.h`: each mapped header as offsets and as a struct whose members are pinned to them.
final class LayoutsHeader {
  private LayoutsHeader() {}

  static String emit(Schema schema, String source) {
    CText c = CText.file(source, "Layouts of mapped memory; orderings are in PROTOCOL.md.");
    c.line("#ifndef KAKEHASHI_LAYOUTS_H").line("#define KAKEHASHI_LAYOUTS_H").line("");
    c.line("#include <stddef.h>").line("#include <stdint.h>").line("");
    c.line("#define KH_LAYOUT_VERSION %d", schema.version());
    for (Message layout : schema.messages()) {
      layout(c, layout);
    }
    return c.line("").line("#endif").toString();
  }

  private static void layout(CText c, Message layout) {
    String upper = "KH_" + CText.upper(layout.name());
    String type = "kh_" + CText.lower(layout.name());
    List<Field> fields =
        layout.block().fields().stream().sorted(Comparator.comparingInt(Field::offset)).toList();
    c.line("").line("#define %s_BYTES %d", upper, layout.block().bytes());
    for (Field field : fields) {
      c.line("#define %s_%s_OFFSET %d", upper, CText.upper(field.name()), field.offset());
    }
    c.line("");
    if (!layout.description().isEmpty()) {
      c.line("/* %s */", layout.description());
    }
    c.line("typedef struct %s", type).open();
    int end = 0;
    for (Field field : fields) {
      end = pad(c, end, field.offset());
      c.line(
          "%s\t%s;%s",
          field.primitive().typeInC, CText.lower(field.name()), CText.comment(field.description()));
      end = field.end();
    }
    pad(c, end, layout.block().bytes());
    c.close(" " + type + ";").line("");
    c.line("_Static_assert(sizeof(%s) == %s_BYTES, \"schema\");", type, upper);
    for (Field field : fields) {
      c.line(
          "_Static_assert(offsetof(%s, %s) == %s_%s_OFFSET, \"schema\");",
          type, CText.lower(field.name()), upper, CText.upper(field.name()));
    }
  }

  private static int pad(CText c, int end, int offset) {
    if (offset < end) {
      throw new IllegalArgumentException("fields overlap at offset " + offset);
    }
    if (offset > end) {
      c.line("unsigned char padding_%d[%d];", end, offset - end);
    }
    return offset;
  }
}

package dev.kakehashi.engine.catalog;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Fields of entries of the store's catalogue that streams have no form for: numbers after their count, and texts of any length.
final class EntryFields {
  private EntryFields() {}

  static void writeInts(DataOutputStream out, List<Integer> values) throws IOException {
    out.writeInt(values.size());
    for (int value : values) {
      out.writeInt(value);
    }
  }

  static List<Integer> readInts(DataInputStream in) throws IOException {
    List<Integer> values = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      values.add(in.readInt());
    }
    return List.copyOf(values);
  }

  static void writeText(DataOutputStream out, @Nullable String text) throws IOException {
    if (text == null) {
      out.writeInt(-1);
      return;
    }
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  static @Nullable String readText(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length > in.available()) {
      throw new EOFException("text of " + length + " bytes");
    }
    return length < 0 ? null : new String(in.readNBytes(length), StandardCharsets.UTF_8);
  }
}

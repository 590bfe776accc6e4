package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.ValueErrors;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Labels of an enum.
final class TextToEnum extends TextColumn {
  private final String type;
  private final Map<String, byte[]> labels = new HashMap<>();
  private byte[] last = {};

  TextToEnum(String type, List<String> labels) {
    this.type = type;
    for (String label : labels) {
      this.labels.put(label, label.getBytes(StandardCharsets.UTF_8));
    }
  }

  @Override
  public void set(byte[] bytes, int from, int to, TextBatch batch, int column) {
    byte[] label = last;
    if (label.length == 0 || !Arrays.equals(bytes, from, to, label, 0, label.length)) {
      String text = FileUtf8.text(bytes, from, to);
      byte[] found = labels.get(text);
      if (found == null) {
        throw new EngineException(
            ErrorCode.INVALID_TEXT_REPRESENTATION,
            "invalid input value for enum %s: \"%s\"".formatted(type, ValueErrors.shown(text)));
      }
      label = found;
      last = found;
    }
    batch.setVarlena(column, label);
  }
}

package dev.kakehashi.engine.type.access;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.BYTEA;
import static dev.kakehashi.protocol.TypeOid.INT8;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.api.bulk.InspectedItem;
import dev.kakehashi.engine.type.FileAccess;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.type.RowFunction.Column;
import dev.kakehashi.engine.type.RowFunction.RowWriter;
import dev.kakehashi.engine.type.RowFunction.Rows;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.VarHeap;
import java.util.List;
import java.util.function.Consumer;

/// Functions about files of loads and dumps.
///
/// All of them return rows, those of uploads one. So no call is computed ahead, left out, or run on a thread that must not wait for a disk.
/// Changes of uploads are made at once, whatever becomes of the transaction.
public final class FileFunctions {
  private static final List<Column> ITEM =
      List.of(
          new Column("file", TEXT),
          new Column("kind", TEXT),
          new Column("name", TEXT),
          new Column("value", TEXT));

  private FileFunctions() {}

  public static void register(Consumer<RowFunction> set) {
    set.accept(
        new RowFunction(
            "kakehashi_inspect",
            new int[] {TEXT},
            ITEM,
            true,
            (a, c) -> items(c.files(), Varlena.string(a[0]), "")));
    set.accept(
        new RowFunction(
            "kakehashi_inspect",
            new int[] {TEXT, TEXT},
            ITEM,
            true,
            (a, c) -> items(c.files(), Varlena.string(a[0]), Varlena.string(a[1]))));
    set.accept(
        new RowFunction(
            "kakehashi_upload_begin",
            new int[0],
            TEXT,
            (_, c) -> one(text(c.files().access().uploads().begin(owner(c))))));
    set.accept(
        new RowFunction(
            "kakehashi_upload_append",
            new int[] {TEXT, INT8, BYTEA},
            INT8,
            (a, c) -> {
              long bytes =
                  c.files()
                      .access()
                      .uploads()
                      .append(
                          owner(c),
                          Varlena.string(a[0]),
                          a[1],
                          VarHeap.MEMORY.asSlice(Varlena.data(a[2]), Varlena.length(a[2])));
              return one(number(bytes));
            }));
    set.accept(
        new RowFunction(
            "kakehashi_upload_length",
            new int[] {TEXT},
            INT8,
            (a, c) ->
                one(number(c.files().access().uploads().length(owner(c), Varlena.string(a[0]))))));
    set.accept(
        new RowFunction(
            "kakehashi_upload_remove",
            new int[] {TEXT},
            BOOL,
            (a, c) -> {
              c.files().access().uploads().remove(owner(c), Varlena.string(a[0]));
              return one(number(1));
            }));
  }

  private static String owner(FunctionContext context) {
    return context.files().user().name();
  }

  private static Rows items(FileAccess files, String location, String options) {
    List<InspectedItem> items =
        files.access().inspect(files.request(location, options), files.user(), files.newContext());
    return Rows.of(
        items,
        (item, values, context) -> {
          values[0] = Varlena.of(context.heap, item.file());
          values[1] = Varlena.of(context.heap, item.kind());
          values[2] = Varlena.of(context.heap, item.name());
          values[3] = Varlena.of(context.heap, item.value());
        });
  }

  private static Rows one(RowWriter<Boolean> writer) {
    return Rows.of(List.of(true), writer);
  }

  private static RowWriter<Boolean> text(String value) {
    return (_, values, context) -> values[0] = Varlena.of(context.heap, value);
  }

  private static RowWriter<Boolean> number(long value) {
    return (_, values, _) -> values[0] = value;
  }
}

package dev.kakehashi.engine.type.application;

import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.LoadedApplication.ScalarCode;
import dev.kakehashi.engine.type.number.FloatMath;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Calls of one scalar function by one task, in batches. An instance belongs to one execution of a statement: it refers to the code.
public final class ScalarCalls {
  private static final int PIECE = 1024;

  private final int[] parameterOids;
  private final int resultOid;
  private final ScalarCode code;
  private final FunctionTime time;
  private final @Nullable Object[][] objects;
  private @Nullable Object[] results = {};
  private final long[][] longs;
  private final double[][] doubles;
  private long[] longResults = {};
  private double[] doubleResults = {};

  ScalarCalls(ApplicationScalar function, ApplicationUses uses) {
    List<Field> parameters = function.signature().parameters();
    this.parameterOids = ApplicationScalar.oids(parameters);
    this.resultOid = function.signature().result().getFirst().typeOid();
    uses.requireEnabled(function.definition(), function.signature());
    this.code = uses.of(function.definition()).scalar(function.index());
    this.time = new FunctionTime(uses.meter(function.name()));
    this.objects = new @Nullable Object[parameters.size()][0];
    this.longs = new long[parameters.size()][0];
    this.doubles = new double[parameters.size()][0];
  }

  /// The calls of a function by a statement.
  public static ScalarCalls of(ApplicationScalar function, ApplicationUses uses) {
    return new ScalarCalls(function, uses);
  }

  ScalarCode code() {
    return code;
  }

  FunctionTime time() {
    return time;
  }

  /// Calls for rows.
  ///
  /// @param rows positions in all columns; of a strict function none has a null argument
  /// @param count of them
  /// @param dense whether they are `0 .. count-1`
  /// @param out gets the results at the same positions; it has no nulls yet
  /// @param heap of by-reference results
  public void call(
      ColumnVector[] arguments,
      int[] rows,
      int count,
      boolean dense,
      ColumnVector out,
      VarHeap heap) {
    int done = 0;
    while (done < count) {
      int piece = Math.min(time.piece(), count - done);
      switch (code.form()) {
        case LONGS -> longs(arguments, rows, done, piece, dense && piece == count, out);
        case DOUBLES -> doubles(arguments, rows, done, piece, out);
        case OBJECTS -> objects(arguments, rows, done, piece, out, heap);
      }
      done += piece;
    }
  }

  private void longs(
      ColumnVector[] arguments, int[] rows, int from, int count, boolean all, ColumnVector out) {
    if (all) {
      for (int i = 0; i < arguments.length; i++) {
        longs[i] = arguments[i].words;
      }
      time.begin();
      code.callLongs(longs, out.words, count);
      time.end(count);
      // Arrays that belong to columns are not written to by the next call.
      Arrays.fill(longs, NONE);
      return;
    }
    for (int i = 0; i < arguments.length; i++) {
      if (longs[i].length == 0) {
        longs[i] = new long[PIECE];
      }
      long[] words = arguments[i].words;
      for (int k = 0; k < count; k++) {
        longs[i][k] = words[rows[from + k]];
      }
    }
    if (longResults.length == 0) {
      longResults = new long[PIECE];
    }
    time.begin();
    code.callLongs(longs, longResults, count);
    time.end(count);
    for (int k = 0; k < count; k++) {
      out.words[rows[from + k]] = longResults[k];
    }
  }

  private static final long[] NONE = {};

  private void doubles(
      ColumnVector[] arguments, int[] rows, int from, int count, ColumnVector out) {
    for (int i = 0; i < arguments.length; i++) {
      if (doubles[i].length == 0) {
        doubles[i] = new double[PIECE];
      }
      long[] words = arguments[i].words;
      for (int k = 0; k < count; k++) {
        doubles[i][k] = FloatMath.ofWord8(words[rows[from + k]]);
      }
    }
    if (doubleResults.length == 0) {
      doubleResults = new double[PIECE];
    }
    time.begin();
    code.callDoubles(doubles, doubleResults, count);
    time.end(count);
    for (int k = 0; k < count; k++) {
      out.words[rows[from + k]] = FloatMath.word(doubleResults[k]);
    }
  }

  private void objects(
      ColumnVector[] arguments, int[] rows, int from, int count, ColumnVector out, VarHeap heap) {
    if (results.length < count) {
      int size = Math.max(count, Math.min(PIECE, 2 * results.length));
      results = new @Nullable Object[size];
      for (int i = 0; i < objects.length; i++) {
        objects[i] = new @Nullable Object[size];
      }
    }
    for (int i = 0; i < arguments.length; i++) {
      read(arguments[i], parameterOids[i], rows, from, count, objects[i]);
    }
    time.begin();
    code.call(objects, results, count);
    time.end(count);
    for (int k = 0; k < count; k++) {
      Object value = results[k];
      results[k] = null;
      int row = rows[from + k];
      if (value == null) {
        out.setNull(row);
      } else {
        out.words[row] = JavaValues.ofObject(resultOid, value, heap);
      }
    }
  }

  /// Objects of rows of a column.
  static void read(
      ColumnVector column,
      int oid,
      int @Nullable [] rows,
      int from,
      int count,
      @Nullable Object[] to) {
    for (int k = 0; k < count; k++) {
      int row = rows == null ? from + k : rows[from + k];
      to[k] = column.isNull(row) ? null : JavaValues.toObject(oid, column.words[row]);
    }
  }
}

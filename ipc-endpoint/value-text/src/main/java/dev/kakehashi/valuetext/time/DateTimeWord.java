package dev.kakehashi.valuetext.time;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A word that may stand in the text of a date or a time, as PostgreSQL's `datetktbl` has them.
///
/// @param value of a month, a day of the week or a Julian label; 0 where the kind says all
record DateTimeWord(Kind kind, int value) {
  /// Meaning of a word.
  enum Kind {
    /// "at", "on".
    NOTHING,
    /// 1 to 12.
    MONTH,
    /// 0 is Sunday. Read and not compared with the date.
    DAY_OF_WEEK,
    AM,
    PM,
    AD,
    BC,
    NOW,
    TODAY,
    TOMORROW,
    YESTERDAY,
    /// Midnight in UTC.
    ALL_BALLS,
    EPOCH,
    INFINITY,
    MINUS_INFINITY,
    /// "t" between a date and a time.
    ISO_TIME,
    /// Before the number of a Julian day.
    JULIAN,
    /// Other labels before numbers, `y2001m02d04`: not read.
    LABEL
  }

  /// PostgreSQL looks at this many characters of a word.
  private static final int SIGNIFICANT_CHARACTERS = 10;

  private static final Map<String, DateTimeWord> WORDS = words();

  /// The word in small letters; null: none of these.
  static @Nullable DateTimeWord find(String word) {
    return WORDS.get(
        word.length() > SIGNIFICANT_CHARACTERS ? word.substring(0, SIGNIFICANT_CHARACTERS) : word);
  }

  private static Map<String, DateTimeWord> words() {
    Map<String, DateTimeWord> words = new HashMap<>();
    String[] months = {
      "jan january",
      "feb february",
      "mar march",
      "apr april",
      "may",
      "jun june",
      "jul july",
      "aug august",
      "sep sept september",
      "oct october",
      "nov november",
      "dec december"
    };
    for (int i = 0; i < months.length; i++) {
      add(words, Kind.MONTH, i + 1, months[i]);
    }
    String[] days = {
      "sun sunday",
      "mon monday",
      "tue tues tuesday",
      "wed weds wednesday",
      "thu thur thurs thursday",
      "fri friday",
      "sat saturday"
    };
    for (int i = 0; i < days.length; i++) {
      add(words, Kind.DAY_OF_WEEK, i, days[i]);
    }
    add(words, Kind.NOTHING, 0, "at on");
    add(words, Kind.AM, 0, "am");
    add(words, Kind.PM, 0, "pm");
    add(words, Kind.AD, 0, "ad");
    add(words, Kind.BC, 0, "bc");
    add(words, Kind.NOW, 0, "now");
    add(words, Kind.TODAY, 0, "today");
    add(words, Kind.TOMORROW, 0, "tomorrow");
    add(words, Kind.YESTERDAY, 0, "yesterday");
    add(words, Kind.ALL_BALLS, 0, "allballs");
    add(words, Kind.EPOCH, 0, "epoch");
    add(words, Kind.INFINITY, 0, "infinity");
    add(words, Kind.MINUS_INFINITY, 0, "-infinity");
    add(words, Kind.ISO_TIME, 0, "t");
    add(words, Kind.JULIAN, 0, "j jd julian");
    add(words, Kind.LABEL, 0, "d dow doy h isodow isoyear m mm s y");
    return words;
  }

  private static void add(Map<String, DateTimeWord> words, Kind kind, int value, String names) {
    for (String name : names.split(" ", -1)) {
      words.put(name, new DateTimeWord(kind, value));
    }
  }
}

package dev.kakehashi.engine.type;

import dev.kakehashi.protocol.TypeOid;
import java.util.Random;

/// Texts of intervals, dates and times in all forms that PostgreSQL reads, and in some that it refuses.
final class RandomTimeTexts {
  private static final String[] UNITS = {
    "us",
    "microseconds",
    "ms",
    "msec",
    "s",
    "sec",
    "second",
    "seconds",
    "m",
    "min",
    "minutes",
    "h",
    "hr",
    "hours",
    "d",
    "day",
    "days",
    "w",
    "weeks",
    "mon",
    "months",
    "y",
    "year",
    "years",
    "dec",
    "decades",
    "c",
    "centuries",
    "mil",
    "millennia",
    "quarter",
    "ago",
    "epoch",
    "fortnight",
    "DAY"
  };

  private final Random random;

  RandomTimeTexts(long seed) {
    random = new Random(seed);
  }

  private boolean oneIn(int n) {
    return random.nextInt(n) == 0;
  }

  private String pick(String... texts) {
    return texts[random.nextInt(texts.length)];
  }

  private String digits(int most) {
    StringBuilder digits = new StringBuilder();
    int count = 1 + random.nextInt(most);
    for (int i = 0; i < count; i++) {
      digits.append((char) ('0' + random.nextInt(10)));
    }
    return digits.toString();
  }

  private String number() {
    return switch (random.nextInt(12)) {
      case 0 -> digits(19);
      case 1, 2 -> digits(3) + "." + digits(8);
      case 3 -> "." + digits(7);
      case 4 -> digits(2) + ".";
      case 5 -> digits(10);
      default -> digits(2);
    };
  }

  private String sign() {
    return pick("", "", "", "-", "+", "- ");
  }

  private String clock() {
    return switch (random.nextInt(8)) {
      case 0 -> digits(2) + ":" + digits(2) + "." + digits(7);
      case 1 -> digits(2) + ":" + digits(2);
      case 2 -> digits(3) + ":" + digits(2) + ":" + digits(2) + ":" + digits(1);
      case 3 -> digits(2) + ":";
      case 4 -> digits(12) + ":0:0";
      default ->
          random.nextInt(25)
              + ":"
              + random.nextInt(61)
              + ":"
              + random.nextInt(62)
              + pick("", "", "." + digits(8), ".");
    };
  }

  String interval() {
    if (oneIn(4)) {
      return isoInterval();
    }
    StringBuilder text = new StringBuilder(oneIn(12) ? pick("@ ", " ", "\t", "P", "~", "é") : "");
    int parts = 1 + random.nextInt(3);
    for (int i = 0; i < parts; i++) {
      text.append(
          switch (random.nextInt(7)) {
            case 0 -> sign() + clock();
            case 1 -> sign() + digits(3) + "-" + random.nextInt(13);
            case 2 -> sign() + number();
            case 3 -> pick(UNITS);
            default -> sign() + number() + pick(" ", " ", "") + pick(UNITS);
          });
      text.append(pick(" ", " ", " ", "", ", "));
    }
    return text + (oneIn(10) ? "ago" : "");
  }

  private String isoInterval() {
    StringBuilder text = new StringBuilder("P");
    switch (random.nextInt(5)) {
      case 0 -> {
        text.append(digits(4)).append('-').append(digits(2)).append('-').append(digits(2));
        if (oneIn(2)) {
          text.append('T').append(clock());
        }
      }
      case 1 -> {
        text.append("2001").append("0203");
        if (oneIn(2)) {
          text.append('T').append(pick("040506", "040506.7", "0405", "04"));
        }
      }
      default -> {
        isoFields(text, "YMWD");
        if (oneIn(2)) {
          text.append('T');
          isoFields(text, "HMS");
        }
      }
    }
    return text.toString();
  }

  private void isoFields(StringBuilder text, String designators) {
    int count = random.nextInt(3);
    for (int i = 0; i < count; i++) {
      text.append(pick("", "", "-"))
          .append(oneIn(20) ? digits(1) + "e" + digits(1) : number())
          .append(designators.charAt(random.nextInt(designators.length())));
    }
  }

  private String month() {
    return pick(
        "Jan",
        "january",
        "FEB",
        "mar",
        "april",
        "May",
        "jun",
        "Jul",
        "aug",
        "sept",
        "sep",
        "Oct",
        "nov",
        "December",
        "octo");
  }

  private String twoDigits(int bound) {
    return "%02d".formatted(random.nextInt(bound));
  }

  private String year() {
    return oneIn(6)
        ? pick(
            "99", "01", "70", "69", "294277", "5874898", "123", "4714", "4713", "0", "00", "12345")
        : String.valueOf(1900 + random.nextInt(200));
  }

  private String date() {
    String separator = pick("-", "-", "/", ".", " ");
    return switch (random.nextInt(14)) {
      case 0 -> month() + " " + random.nextInt(33) + pick(", ", " ") + year();
      case 1 -> random.nextInt(33) + separator + month() + separator + year();
      case 2 -> month() + separator + random.nextInt(33) + separator + year();
      case 3 -> year() + separator + month() + separator + random.nextInt(33);
      case 4 -> random.nextInt(14) + separator + random.nextInt(33) + separator + year();
      case 5 -> year() + twoDigits(13) + twoDigits(32);
      case 6 -> twoDigits(100) + twoDigits(13) + twoDigits(32);
      case 7 -> year() + pick("-", ".", "") + "%03d".formatted(random.nextInt(370));
      case 8 -> pick("J", "j ", "JD", "Julian ") + pick("2451545", "0", digits(7), "2451545.25");
      case 9 -> pick("infinity", "-infinity", "+infinity", "epoch", "Infinity", "- infinity");
      case 10 ->
          pick("Mon ", "friday, ", "Tues ") + month() + " " + random.nextInt(32) + " " + year();
      default -> year() + "-" + twoDigits(13) + "-" + twoDigits(32);
    };
  }

  private String time() {
    return switch (random.nextInt(8)) {
      case 0 -> twoDigits(25) + twoDigits(61) + twoDigits(61) + pick("", "", "." + digits(7));
      case 1 -> random.nextInt(14) + ":" + twoDigits(60) + pick(" AM", " pm", "PM", "am");
      case 2 -> pick("allballs", "24:00:00", "23:59:60", "24:00:01", "040506", "0405");
      case 3 -> clock();
      default ->
          twoDigits(24) + ":" + twoDigits(60) + ":" + twoDigits(60) + pick("", "", "." + digits(8));
    };
  }

  private String zone() {
    return switch (random.nextInt(8)) {
      case 0 ->
          pick(" ", "") + pick("+", "-") + twoDigits(17) + pick("", ":", "") + pick("", "30", "45");
      case 1 -> pick("+", "-") + twoDigits(16) + ":" + twoDigits(61) + ":" + twoDigits(60);
      case 2 -> pick("Z", "z", " UTC", " GMT", " utc", "UTC", " zulu");
      case 3 ->
          " "
              + pick(
                  "America/New_York", "europe/berlin", "Asia/Kathmandu", "Mars/Base", "Etc/GMT+5");
      case 4 -> " " + pick("EST", "PDT", "CET", "cest", "JST", "nzdt", "XYZ", "MET DST");
      default -> "";
    };
  }

  private String era() {
    return oneIn(8) ? pick(" BC", " AD", " bc") : "";
  }

  /// A text of a type of dates or times.
  String dateTime(int oid) {
    String date = date();
    String time = time() + zone();
    if (time.matches(".*[A-Za-z][-+].*")) {
      // The name of a zone of POSIX, with hours that no clock has.
      time = time.replaceFirst("([-+])", " $1");
    }
    if (oid == TypeOid.TIME || oid == TypeOid.TIMETZ) {
      // The offset of a zone in a year that no timestamp has is anybody's guess.
      date = date.replaceAll("294277|5874898", "1999");
      return switch (random.nextInt(6)) {
        case 0 -> date.replaceFirst("^([A-Za-z]+)[./-]", "$1 ") + era() + " " + time;
        case 1 -> "2001-02-" + twoDigits(40);
        default -> time;
      };
    }
    return switch (random.nextInt(oid == TypeOid.DATE ? 4 : 8)) {
      case 0, 1 -> date + era();
      case 2 -> date + zone() + era();
      // Letters that another character joins with a number may be the name of a zone, once there is
      // a time.
      case 3 -> time + " " + date.replaceFirst("^([A-Za-z]+)[./-]", "$1 ") + era();
      default -> date + pick(" ", " ", "T", "t", " T", "  ", ", ") + time + era();
    };
  }
}

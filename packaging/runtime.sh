#!/usr/bin/env bash
# Makes the Java runtime of the packages with jlink: runtime.sh DIRECTORY. It has the modules that endpoint and tools use, and the rest of Java SE for applications.
. "$(dirname "$0")/../.make/lib.sh"

# Besides Java SE: Chronicle Map compiles a class when it opens a file (jdk.compiler); encodings of COPY (jdk.charsets); zip files as file systems; memory that is mapped
# (jdk.unsupported); names of users (jdk.security.auth); flight recordings and jcmd for operators.
MODULES=java.se,jdk.charsets,jdk.compiler,jdk.crypto.ec,jdk.jcmd,jdk.jfr,jdk.localedata,jdk.management,jdk.management.jfr,jdk.net,jdk.nio.mapmode,jdk.security.auth,jdk.unsupported,jdk.zipfs

target=$1
find_java
rm -rf "$target"
mkdir -p "$(dirname "$target")"
"$JAVA_HOME/bin/jlink" --add-modules "$MODULES" --output "$target" \
  --compress zip-6 --strip-debug --no-header-files --no-man-pages --include-locales en
# Archive of classes for the options that endpoint and tools run with. The usual archive is for others.
"$target/bin/java" -XX:+UseSerialGC -XX:+UseCompactObjectHeaders -Xshare:dump >/dev/null

# Libraries of windows, sound and fonts: nothing here has a screen, and they would bring those of X11 into the package's dependencies.
for name in awt_xawt fontmanager freetype javajpeg jawt jsound lcms mlib_image splashscreen; do
  rm -f "$target/lib/lib$name.so"
done
say "runtime of Java $(sed -n 's/^JAVA_VERSION="\(.*\)"/\1/p' "$target/release"): $(du -sh "$target" | cut -f1)"
